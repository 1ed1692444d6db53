"""How good a model is on labelled texts, how sure that is, and the texts behind every number."""
