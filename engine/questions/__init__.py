"""Questions to a model, one file each; `known` names them. See question.py."""
