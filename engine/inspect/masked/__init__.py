"""Masked words and next sentences: what a model puts into gaps, and how probable it finds a text."""
