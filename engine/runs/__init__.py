"""A library of runs: what each was made of and reached, which is best and is that sure, what is queued."""
