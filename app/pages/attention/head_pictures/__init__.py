"""The pictures of heads, one file each; `known` makes them. See head_picture.py."""
