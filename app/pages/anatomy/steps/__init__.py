"""The steps of all models, in four files by the part that they belong to; `known` has all. See step.py."""
