"""The Fine-tune page: settings, the run, its curves and scores."""
