"""Labels with their counts or probabilities as bars; scrolls when there are many.

Counts are scaled to the largest; a probability's bar always runs from 0 to 1, on a track as long as 1 is.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.widgets import set_role
from app.plots.figure import Numbers
from app.plots.scrolled import ScrolledFigure

ROW = 30
BAR = 18
GAP = 8


class BarsPlot(ScrolledFigure):
    """One row a label; arrow keys move, Enter chooses."""

    bar_clicked = Signal(str)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.bars: list[tuple[str, float]] = []
        self.shares: list[float] = []
        self.as_share = False
        self.highlight: str | None = None
        self.current: int | None = None
        self._canvas = _Canvas(self)
        self.hold(self._canvas)

    def set_bars(
        self,
        bars: Sequence[tuple[str, float]],
        *,
        shares: Sequence[float] | None = None,
        as_share: bool = False,
        highlight: str | None = None,
    ) -> None:
        """Show (label, value) pairs in the given order.

        Args: shares: each bar's share, 0 to 1; of the sum of values where not given.
        as_share: the values are probabilities. highlight: the label that matters.
        """
        self.bars = [(name, float(value)) for name, value in bars]
        total = sum(value for _name, value in self.bars) or 1.0
        self.shares = list(shares) if shares is not None else [value / total for _name, value in self.bars]
        self.as_share, self.highlight = as_share, highlight
        self.current = None
        self._scroll.setVisible(bool(self.bars))
        self._canvas.setMinimumHeight(ROW * len(self.bars))
        said = "; ".join(f"{name} {self.value_words(i)}" for i, (name, _value) in enumerate(self.bars[:10]))
        self.setAccessibleDescription(said)
        self.updateGeometry()
        self._canvas.update()
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_bars([])

    @property
    def is_empty(self) -> bool:
        return not self.bars

    @property
    def full(self) -> float:
        """The value of the longest bar that there can be."""
        return 1.0 if self.as_share else max((value for _name, value in self.bars), default=0.0) or 1.0

    def value_words(self, index: int) -> str:
        """Return a bar's value as it is shown."""
        value = self.bars[index][1]
        if self.as_share:
            return words.share(value)
        return f"{words.number(value)} · {words.share(self.shares[index])}"

    def numbers(self) -> Numbers:
        rows: Numbers = [["label", "probability"] if self.as_share else ["label", "count", "share"]]
        for (name, value), share in zip(self.bars, self.shares, strict=True):
            rows.append([name, value] if self.as_share else [name, int(value), share])
        return rows

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        self._canvas.is_saving = saving

    def sizeHint(self) -> QSize:
        return QSize(300, min(10, max(3, len(self.bars))) * ROW + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 3 * ROW)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if move and self.bars:
            here = -1 if self.current is None else self.current
            self.go_to(min(max(here + move, 0), len(self.bars) - 1))
            self._scroll.ensureVisible(0, ROW * (self.current or 0) + ROW // 2, 0, ROW)
        elif (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
            and self.current is not None
        ):
            self.bar_clicked.emit(self.bars[self.current][0])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.go_to(None)

    def go_to(self, index: int | None) -> None:
        """Mark a row, or none."""
        if index != self.current:
            self.current = index
            if index is not None:
                self.setAccessibleDescription(f"{self.bars[index][0]} {self.value_words(index)}")
            self._canvas.update()


class _Canvas(QWidget):
    """The rows, as tall as they need to be."""

    def __init__(self, plot: BarsPlot) -> None:
        super().__init__()
        self._plot = plot
        self.is_saving = False
        self.setMouseTracking(True)
        set_role(self, "clear")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot, colors = self._plot, theme.current()
        metrics = QFontMetricsF(painter.font())
        names = min(self._widest(metrics, [name for name, _value in plot.bars]), self.width() * 0.4)
        values = self._widest(metrics, [plot.value_words(i) for i in range(len(plot.bars))])
        room = max(8.0, self.width() - names - values - 2 * GAP - 12)
        full = plot.full
        first, last = event.rect().top() // ROW, event.rect().bottom() // ROW
        for i, (name, value) in enumerate(plot.bars):
            if not first <= i <= last:
                continue
            y = i * ROW
            chosen = name == plot.highlight
            painter.setFont(theme.ui_font(bold=chosen))
            painter.setPen(colors.color("text"))
            cut = metrics.elidedText(" ".join(name.split()), Qt.TextElideMode.ElideRight, names)
            painter.drawText(QRectF(4, y, names, ROW), _side("right"), cut)
            painter.setPen(colors.color("text" if chosen else "muted"))
            painter.drawText(
                QRectF(self.width() - values - 6, y, values + 2, ROW), _side("right"), plot.value_words(i)
            )
            painter.setPen(Qt.PenStyle.NoPen)
            whole = QRectF(4 + names + GAP, y + (ROW - BAR) / 2, room, BAR)
            if plot.as_share:
                painter.setBrush(colors.color("rail"))
                painter.drawRoundedRect(whole, 4, 4)
            painter.setBrush(colors.color("accent" if chosen else "accent_soft"))
            whole.setWidth(max(2.0, room * min(1.0, value / full)))
            painter.drawRoundedRect(whole, 4, 4)
            if i == plot.current and not self.is_saving:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colors.color("text"), 1.5))
                painter.drawRoundedRect(QRectF(1, y + 1, self.width() - 2, ROW - 2), 4, 4)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._index_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._plot.bar_clicked.emit(self._plot.bars[index][0])

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self._index_at(event.pos().y())
            said = "" if index is None else f"{self._plot.bars[index][0]}: {self._plot.value_words(index)}"
            QToolTip.showText(event.globalPos(), tip(said), self)
            return True
        return super().event(event)

    def _index_at(self, y: float) -> int | None:
        index = int(y // ROW)
        return index if 0 <= index < len(self._plot.bars) else None

    def _widest(self, metrics: QFontMetricsF, texts: list[str]) -> float:
        return max((metrics.horizontalAdvance(text) for text in texts[:2000]), default=0.0) * 1.06 + 2


def _side(side: str) -> Qt.AlignmentFlag:
    sides = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}
    return sides[side] | Qt.AlignmentFlag.AlignVCenter
