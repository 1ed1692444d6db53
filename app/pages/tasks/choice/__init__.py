"""How often the right ending is chosen, and what to say of it."""
