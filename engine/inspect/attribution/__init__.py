"""Which words an answer rests on: integrated gradients along a path to a target."""
