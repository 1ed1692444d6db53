"""A number for a text or a pair of texts, such as how alike two sentences are."""
