"""The same question to eight generations of language models, side by side, and their training."""
