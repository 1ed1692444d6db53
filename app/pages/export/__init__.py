"""Taking a model along: a dialog that any page may open, for a model that it shows."""
