"""What pretraining stands on beside the loop: its text, first weights, feed, refusals and forecast."""
