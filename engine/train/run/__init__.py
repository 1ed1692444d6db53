"""A run's folder: its events, checkpoints, lock and status."""
