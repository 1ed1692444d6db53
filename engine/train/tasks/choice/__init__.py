"""Which of several endings goes on with a text."""
