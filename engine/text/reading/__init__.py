"""How files are read: encoding, separators, quoting, headers, and files that are no tables."""
