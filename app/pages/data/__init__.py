"""The Data page: a table, what its columns are for, and what is found in it."""
