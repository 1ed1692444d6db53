"""The families of models that are opened, each in a file of its own, and those that are refused."""
