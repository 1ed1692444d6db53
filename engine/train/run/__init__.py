"""A run's folder: what is settled, events, checkpoints, kept weights, lock and status."""
