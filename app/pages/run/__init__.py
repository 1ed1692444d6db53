"""What the training pages share: the frame, the card of a run, advice on it, earlier runs, scores."""
