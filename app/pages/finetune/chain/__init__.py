"""Adapt to your texts first: pretraining on texts of the field and of the task, fine-tuning after each."""
