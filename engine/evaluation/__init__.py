"""How good answers are, how sure that is, and where they are wrong: over the rows that were scored."""
