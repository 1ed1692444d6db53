"""Questions about passages in the window: a file of them, their scores, their answers."""
