"""How near predicted numbers are, and what to say of it."""
