"""What a task of fine-tuning shows of its files, its scores and its answers: a folder a task."""
