"""BERT without a window: text in, trained model out. Nothing in this package may import Qt or `app`."""
