"""Buttons and room for a picture that stands in a card."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidgetAction,
)

from app.look import theme
from app.look.inputs import ToolButton
from app.look.widgets import set_role
from app.plots.curve import CurvePlot
from app.plots.figure import Figure

WIDEST_LIST = 640  # px
COPIED_MS = 1_500


def save_icon(plot: Figure) -> QToolButton:
    """Return a picture's "Save…" menu as an icon, for the corner of a small card."""
    result = plot.save_button()
    result.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon("save", "muted")))
    return result


def controls_icon(plot: CurvePlot) -> QToolButton:
    """Return a curve's controls behind an icon, for a card that has no room for a row of them."""
    result = ToolButton()
    menu = QMenu(result)
    action = QWidgetAction(menu)
    controls = plot.controls()
    controls.setContentsMargins(8, 4, 8, 4)
    action.setDefaultWidget(controls)
    menu.addAction(action)
    words = QCoreApplication.translate("page_parts", "How the curve is drawn")
    result.setToolTip(words)
    result.setAccessibleName(words)
    result.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    result.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    result.setMenu(menu)
    set_role(result, "corner")
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon("settings", "muted")))
    return result


def yield_to_layout(plot: Figure, least_height: int) -> None:
    """Let a picture take the room there is, whatever it would like to have."""
    plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
    plot.setMinimumSize(120, least_height)
