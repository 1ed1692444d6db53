"""Published models by name: looked at first, then fetched by a child process that can be killed."""
