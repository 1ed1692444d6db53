"""A folder a page of the rail. Pages do not know each other; they meet in the session."""
