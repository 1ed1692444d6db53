"""What goes on behind the window: the training job, questions in the background, models and tables."""
