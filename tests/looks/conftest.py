"""Looks need no screen either, and leave nothing running."""

from tests.app.conftest import box_is_read_once, no_models_ship, nothing_is_left, qapp_args, qtbot, settings

__all__ = ["box_is_read_once", "no_models_ship", "nothing_is_left", "qapp_args", "qtbot", "settings"]
