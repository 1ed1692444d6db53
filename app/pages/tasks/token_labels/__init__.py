"""Labels of words in the window: texts with coloured stretches, of a file, of an evaluation, of a model."""
