"""The Predict page: one text or a whole file answered by a trained classifier."""
