"""The Runs page: every training so far, in one table; which is best, and whether that is sure."""
