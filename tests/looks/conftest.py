"""Looks need no screen either, and leave nothing running."""

from tests.app.conftest import nothing_is_left, qapp_args

__all__ = ["nothing_is_left", "qapp_args"]
