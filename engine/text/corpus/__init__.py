"""Text for pretraining: from files to a token store, and from there to masked examples."""
