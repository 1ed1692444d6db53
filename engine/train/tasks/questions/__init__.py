"""Extractive question answering: where in a passage the answer to a question stands, or that it does not."""
