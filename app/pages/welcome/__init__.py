"""The Welcome page: ways to begin and to go on."""
