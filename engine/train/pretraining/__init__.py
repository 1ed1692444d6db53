"""What pretraining adds to the loop: its text, first weights, feed, task, refusals and forecast."""
