"""Give texts their labels by one key each, while a model learns along and chooses what comes next."""
