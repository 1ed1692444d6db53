"""The Probe page: what a model puts into the gaps of a text."""
