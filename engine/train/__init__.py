"""Training: one loop, the life of a run around it, and what is trained: classifiers, language models."""
