"""The tasks of fine-tuning, each from the file to the answer; which there are, `known.py` says."""
