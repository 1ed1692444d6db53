"""The Embeddings page: texts and words as vectors, on a map and beside one another."""
