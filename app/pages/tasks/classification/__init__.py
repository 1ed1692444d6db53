"""How good a classifier is, and what to say of it."""
