"""Choosing a model or a vocabulary: the same box on every page."""
