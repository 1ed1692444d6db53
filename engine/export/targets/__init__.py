"""What a model is exported for, one file a target; `known` names them. See target.py."""
