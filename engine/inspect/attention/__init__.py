"""Attention weights: every head's, what they look at, and what happens without them."""
