"""A picture that is as tall as it needs to be, and scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app.look import theme
from app.plots.figure import Figure


class ScrolledFigure(Figure):
    """Base of the pictures that a canvas paints inside a scroll area; the canvas is what is saved."""

    def hold(self, canvas: QWidget) -> None:
        """Put the canvas in its place; called once by a child class."""
        self._held = canvas
        self._scroll = QScrollArea(self, widgetResizable=True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(canvas)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3, 3, 3, 3)
        layout.addWidget(self._scroll)
        theme.on_theme_change(self, self._repaint)

    def canvas(self) -> QWidget:
        return self._held

    def _repaint(self) -> None:
        self._held.update()
