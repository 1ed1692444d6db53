"""A settings dataclass as widgets."""
