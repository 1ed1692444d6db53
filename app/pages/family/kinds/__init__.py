"""What the members can be asked, one file a kind; `known` names them. See kind.py."""
