"""Models on their way into other tools."""
