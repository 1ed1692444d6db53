"""One text through a model, step by step: every number is this text's own and can be worked out by hand."""
