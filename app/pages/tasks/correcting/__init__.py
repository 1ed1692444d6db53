"""Correcting texts in the window: their scores, and one text with its changes."""
