"""What tasks share that answer once for each row of a table."""
