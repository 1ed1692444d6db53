"""What the pages share that look into a model: the model in their bar, the text, the frame."""
