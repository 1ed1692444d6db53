"""The kinds of questions to all members of a family, one file each; `known` names them. See question.py."""
