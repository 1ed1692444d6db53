"""Several labels for a text or a pair of texts, or none."""
