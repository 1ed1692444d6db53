"""A number that changes, with the small curve of how it came there; tiles choose what is drawn large."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.look import theme
from app.look.inputs import PressedByEnter
from app.look.labels import tip
from app.plots.strokes import paint_line, painter_on

HEIGHT = 74
MOST_POINTS = 120


class Tile(PressedByEnter, QAbstractButton):
    """Caption, value and curve; checkable, one of a group."""

    def __init__(self, name: str, caption: str, help_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setText(caption)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setToolTip(tip(help_text))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(caption)
        self.value = "–"
        self.curve = np.zeros(0)
        theme.on_theme_change(self, self.update)

    def show_value(self, value: str) -> None:
        """Show the newest number, in words."""
        if value != self.value:
            self.value = value
            self.setAccessibleDescription(value)
            self.update()

    def show_curve(self, values: np.ndarray) -> None:
        """Show how the number has moved; at most a few points are drawn."""
        if len(values) > MOST_POINTS:
            edges = np.linspace(0, len(values), MOST_POINTS + 1).astype(int)
            values = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
        self.curve = np.array(values, dtype=np.float64)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(96, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(72, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.current()
        edge = colors.focus if self.hasFocus() else colors.accent if self.isChecked() else colors.line
        ground = colors.hover if self.underMouse() and not self.isChecked() else colors.card
        painter.setPen(QPen(QColor(edge), 2 if self.hasFocus() else 1))
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        inner = QRectF(self.rect()).adjusted(9, 7, -8, -8)
        painter.setFont(theme.ui_font(11, bold=True))
        painter.setPen(colors.color("accent" if self.isChecked() else "muted"))
        caption = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, int(inner.width()) + 4
        )
        top = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        painter.drawText(inner.adjusted(0, 0, 6, 0), top, caption)
        painter.setFont(theme.ui_font(15, bold=True))
        painter.setPen(colors.color("text"))
        painter.drawText(inner.adjusted(0, 14, 6, 0), top, self.value)
        self._paint_curve(painter, QRectF(inner.left(), inner.bottom() - 18, inner.width(), 18))
        painter.end()

    def _paint_curve(self, painter: QPainter, room: QRectF) -> None:
        values = self.curve[np.isfinite(self.curve)]
        if len(values) < 2:
            return
        low, high = float(values.min()), float(values.max())
        x = np.linspace(room.left(), room.right(), len(values))
        y = room.bottom() - room.height() * (values - low) / ((high - low) or 1.0)
        colors = theme.current()
        color = colors.accent if self.isChecked() else theme.mix(colors.card, colors.accent, 0.7)
        paint_line(painter, [QPointF(a, b) for a, b in zip(x, y, strict=True)], QColor(color), 1.4)
