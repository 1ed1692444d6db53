"""A page to send: one HTML file of numbers, figures and where they come from, which loads nothing."""
