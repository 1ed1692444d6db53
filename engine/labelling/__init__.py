"""From texts without labels to a number: what to label next, what few labels teach, shares of a table."""
