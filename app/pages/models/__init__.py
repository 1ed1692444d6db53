"""The Models page: the models of this computer, their weights, files and heads."""
