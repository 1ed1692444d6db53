"""Looks need no screen either, and leave nothing running."""

from tests.app.conftest import no_models_ship, nothing_is_left, qapp_args, qtbot, settings

__all__ = ["no_models_ship", "nothing_is_left", "qapp_args", "qtbot", "settings"]
