"""The guided tour: its steps, its card, and what leads through them."""
