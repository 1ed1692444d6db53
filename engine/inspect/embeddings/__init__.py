"""Vectors of texts and words: pooled, compared, projected, and for whole tables."""
