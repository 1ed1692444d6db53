"""How files are read: opened, decoded, cut into lines and cells; and which files are no tables."""
