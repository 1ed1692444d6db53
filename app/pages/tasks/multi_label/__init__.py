"""How good several labels a row are, and what to say of it."""
