"""What is doubtful in a table of texts and labels: each finding with its rows, its reason, and mends."""
