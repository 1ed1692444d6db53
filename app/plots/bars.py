"""Labels with their counts or probabilities as bars; scrolls when there are many.

Counts are scaled to the largest; a probability's bar always runs from 0 to 1, on a track as long as 1 is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

BAR = 18
GAP = 8
LEAST_BAR = 40  # px that are left for the longest bar where names are long


class BarsPlot(RowsFigure):
    """One row a label; a click tells which, where somebody has said that it can be chosen."""

    chosen = Signal(int)  # the place of a bar
    row_height = 30
    chooses = False

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.bars: list[tuple[str, float]] = []
        self.shares: list[float] = []
        self.as_share = False
        self.highlight: str | Collection[str] | None = None
        self._matters: set[str] = set()

    def set_bars(
        self,
        bars: Sequence[tuple[str, float]],
        *,
        shares: Sequence[float] | None = None,
        as_share: bool = False,
        highlight: str | Collection[str] | None = None,
    ) -> None:
        """Show (label, value) pairs in the given order.

        Args: shares: each bar's share, 0 to 1; of the sum of values where not given.
        as_share: the values are probabilities. highlight: the label that matters, or several.
        """
        self.bars = [(name, float(value)) for name, value in bars]
        total = sum(value for _name, value in self.bars) or 1.0
        self.shares = list(shares) if shares is not None else [value / total for _name, value in self.bars]
        self.as_share, self.highlight = as_share, highlight
        self._matters = {highlight} if isinstance(highlight, str) else set(highlight or ())
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_bars([])

    @property
    def num_rows(self) -> int:
        return len(self.bars)

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

    def words_of(self, target: int) -> str:
        return f"{self.bars[target][0]} {self.value_words(target)}"

    def tip_of(self, target: int) -> str:
        return f"{self.bars[target][0]}: {self.value_words(target)}"

    def summary(self) -> str:
        return "; ".join(map(self.words_of, range(min(10, len(self.bars)))))

    def can_choose(self, target: int | None) -> bool:
        return self.chooses and target is not None

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def sizeHint(self) -> QSize:
        return QSize(300, min(10, max(3, len(self.bars))) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 3 * self.row_height)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        metrics, width = QFontMetricsF(painter.font()), self.canvas().width()
        bold, chosen = (
            QFontMetricsF(theme.ui_font(bold=True)),
            [one for one, _ in self.bars if one in self._matters],
        )
        names = max(_widest(metrics, [name for name, _value in self.bars]), _widest(bold, chosen))
        values = _widest(metrics, [self.value_words(i) for i in range(len(self.bars))])
        left = width - values - 2 * GAP - 12 - max(LEAST_BAR, 0.15 * width)
        names = min(names, max(width * 0.4, left))
        for row, room in self.rows_in(area):
            self._paint_row(painter, row, room, names, values)
        self.paint_mark(painter)

    def _paint_row(self, painter: QPainter, row: int, room: QRectF, names: float, values: float) -> None:
        colors, (name, value) = theme.current(), self.bars[row]
        is_chosen = name in self._matters
        font, right = theme.ui_font(bold=is_chosen), Qt.AlignmentFlag.AlignRight
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        cut = name_within(name, names, font)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, room.top(), 4 + names, room.height()), right | middle, cut)
        painter.setPen(colors.color("text" if is_chosen else "muted"))
        painter.drawText(room.adjusted(0, 0, -4, 0), right | middle, self.value_words(row))
        painter.setPen(Qt.PenStyle.NoPen)
        long = max(8.0, room.width() - names - values - 2 * GAP - 12)
        bar = QRectF(4 + names + GAP, room.top() + (room.height() - BAR) / 2, long, BAR)
        if self.as_share:
            painter.setBrush(colors.color("rail"))
            painter.drawRoundedRect(bar, 4, 4)
        painter.setBrush(colors.color("accent" if is_chosen else "accent_soft"))
        bar.setWidth(max(2.0, long * min(1.0, value / self.full)))
        painter.drawRoundedRect(bar, 4, 4)


def name_within(name: str, room: float, font: QFont) -> str:
    """Return a name on one line, cut at its end where it is wider than `room` px in its font."""
    return QFontMetricsF(font).elidedText(" ".join(name.split()), Qt.TextElideMode.ElideRight, room)


def _widest(metrics: QFontMetricsF, texts: list[str]) -> float:
    return max((metrics.horizontalAdvance(text) for text in texts[:2000]), default=0.0) * 1.08 + 2
