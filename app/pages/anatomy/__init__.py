"""One text through BERT, step by step: every number is this text's own and can be worked out by hand."""
