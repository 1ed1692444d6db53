"""BERT itself, its heads, and checkpoints in and out."""
