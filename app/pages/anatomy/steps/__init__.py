"""The twenty steps, in four files by the part of BERT they belong to; `known` has all. See step.py."""
