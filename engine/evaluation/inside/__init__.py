"""Numbers over many texts about what a model does inside: heads, hidden words, pairs, templates, words."""
