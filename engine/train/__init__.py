"""Optimizer, metrics, run folders, the one training loop, and fine-tuning on top of it."""
