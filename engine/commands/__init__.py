"""The commands of `python -m engine`: each calls the task that the window runs too."""
