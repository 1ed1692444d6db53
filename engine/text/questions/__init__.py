"""Questions whose answers stand in a passage: read, cut into windows, answered with a stretch of it."""
