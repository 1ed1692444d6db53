"""How good each pooling's vectors are, a row each: shares as bars, mean similarities as figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, row_after

EDGE = 8.0
HEAD = 34.0
ROW = 30.0
BAR = 16.0
GAP = 12.0
FIGURE = 46.0  # px of a column without a bar
LEAST_BAR = 112.0  # px; with less room, only the last of those columns is shown


@dataclass(frozen=True, slots=True)
class PoolingRow:
    """agreement, separation: 0..1. within, between, any_two: cosines. is_followed: printed strongly."""

    name: str
    agreement: float
    separation: float
    within: float
    between: float
    any_two: float
    is_followed: bool = False

    @property
    def values(self) -> tuple[float, float, float, float, float]:
        return self.agreement, self.separation, self.within, self.between, self.any_two


class PoolingsPlot(PointedFigure):
    """The rows as they were measured, with the share that chance would reach marked in each bar.

    Where there is little room, two columns are left to the hover.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._rows: tuple[PoolingRow, ...] = ()
        self._chances = (0.0, 0.5)
        theme.on_theme_change(self, self.update)

    def set_rows(self, rows: Sequence[PoolingRow], chance: float) -> None:
        """Show some poolings. Args: chance: the agreement that chance reaches, 0..1."""
        self._rows, self._chances = tuple(rows), (chance, 0.5)
        self.updateGeometry()
        self.forget()

    def clear(self) -> None:
        """Show nothing."""
        self.set_rows((), 0.0)

    @property
    def is_empty(self) -> bool:
        return not self._rows

    @property
    def rows(self) -> tuple[PoolingRow, ...]:
        return self._rows

    def heads(self) -> tuple[tuple[str, str], ...]:
        """Return each column's name and what it means."""
        return (
            (
                self.tr("Nearest is of\nthe same class"),
                self.tr("Texts whose nearest neighbour is of their class"),
            ),
            (
                self.tr("Same class is\nmore alike"),
                self.tr("How often two texts of one class are more alike than two of different classes"),
            ),
            (self.tr("Same\nclass"), self.tr("Mean cosine similarity of two texts of one class")),
            (self.tr("Other\nclass"), self.tr("Mean cosine similarity of two texts of different classes")),
            (
                self.tr("Any\ntwo"),
                self.tr("Mean cosine similarity of any two texts: near 1, all vectors point the same way"),
            ),
        )

    def numbers(self) -> Numbers:
        heads = [head.replace("\n", " ") for head, _help in self.heads()]
        rows: Numbers = [[self.tr("pooling"), *heads]]
        rows.extend([row.name, *row.values] for row in self._rows)
        if self._rows:
            rows.append([self.tr("chance"), *self._chances, "", "", ""])
        return rows

    def words_of(self, target: int) -> str:
        """Return a row as lines of words."""
        held = self._rows[target]
        lines = [held.name]
        for (_head, said), value, is_share in zip(
            self.heads(), held.values, (True, True, False, False, False), strict=True
        ):
            lines.append(f"{said}: {words.share(value) if is_share else words.decimal(value)}")
        return "\n".join(lines)

    def sizeHint(self) -> QSize:
        return QSize(480, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(300, int(2 * EDGE + HEAD + ROW * max(3, len(self._rows))))

    def rect_of(self, target: int) -> QRectF:
        return QRectF(EDGE - 4, EDGE + HEAD + target * ROW, self.width() - 2 * EDGE + 8, ROW)

    def target_at(self, at: QPointF) -> int | None:
        row = int((at.y() - EDGE - HEAD) // ROW)
        return row if 0 <= row < len(self._rows) else None

    def tip_at(self, at: QPointF) -> str:
        if at.y() >= EDGE + HEAD:
            return super().tip_at(at)
        columns = zip(self.heads(), self._columns(), strict=True)
        return next((said for (_, said), (left, width) in columns if left <= at.x() <= left + width), "")

    def after(self, event: QKeyEvent) -> int | None:
        return row_after(event, self.current, len(self._rows))

    def _name_width(self) -> float:
        metrics = QFontMetricsF(theme.ui_font(theme.UI_SIZE, bold=True))
        widest = max((metrics.horizontalAdvance(row.name) for row in self._rows), default=60.0)
        return float(min(widest + 4, self.width() * 0.32))

    def _columns(self) -> list[tuple[float, float]]:
        """Return the left edge and width of each column: two with bars, the rest with figures."""
        left = EDGE + self._name_width() + GAP
        for shown in (3, 1):
            room = self.width() - left - EDGE - shown * (FIGURE + GAP / 2) - 2 * GAP
            if room / 2 >= LEAST_BAR:
                break
        bar = max(60.0, min(room / 2, 260.0))
        columns = [(left, bar), (left + bar + GAP, bar)]
        start = left + 2 * (bar + GAP) - (3 - shown) * (FIGURE + GAP / 2)
        for figure in range(3):
            width = FIGURE if figure >= 3 - shown else 0.0
            columns.append((start + figure * (FIGURE + GAP / 2), width))
        return columns

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._rows:
            self._paint_heads(painter)
            for place, row in enumerate(self._rows):
                self._paint_row(painter, place, row)
        self.paint_frame(painter)
        painter.end()

    def _paint_heads(self, painter: QPainter) -> None:
        painter.setFont(theme.ui_font(11))
        painter.setPen(theme.current().color("muted"))
        bottom = Qt.AlignmentFlag.AlignBottom
        for place, ((head, _help), (left, width)) in enumerate(
            zip(self.heads(), self._columns(), strict=True)
        ):
            if not width:
                continue
            side = Qt.AlignmentFlag.AlignLeft if place < 2 else Qt.AlignmentFlag.AlignRight
            painter.drawText(QRectF(left, EDGE, width, HEAD - 6), side | bottom, head)

    def _paint_row(self, painter: QPainter, place: int, row: PoolingRow) -> None:
        colors, top = theme.current(), EDGE + HEAD + place * ROW
        if place == self.current and not self._saving:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("hover"))
            painter.drawRoundedRect(self.rect_of(place), 4, 4)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.ui_font(theme.UI_SIZE, bold=row.is_followed))
        painter.setPen(colors.color("text"))
        name_width = self._name_width()
        name = painter.fontMetrics().elidedText(row.name, Qt.TextElideMode.ElideMiddle, int(name_width))
        painter.drawText(QRectF(EDGE, top, name_width + 2, ROW), middle, name)
        columns = self._columns()
        for (left, width), value, chance in zip(columns, row.values[:2], self._chances, strict=False):
            self._paint_bar(painter, QRectF(left, top + (ROW - BAR) / 2, width, BAR), value, chance, row)
        painter.setFont(theme.ui_font())
        painter.setPen(colors.color("text"))
        for (left, width), value in zip(columns[2:], row.values[2:], strict=True):
            right = middle | Qt.AlignmentFlag.AlignRight
            if width:
                painter.drawText(QRectF(left, top, width, ROW), right, words.decimal(value, 2))

    def _paint_bar(
        self, painter: QPainter, rect: QRectF, value: float, chance: float, row: PoolingRow
    ) -> None:
        """Paint a share as a bar with its figure at the right, and a line where chance would be."""
        colors = theme.current()
        figure = 54.0
        room = max(10.0, rect.width() - figure - 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.accent if row.is_followed else colors.accent_soft))
        painter.drawRoundedRect(QRectF(rect.left(), rect.top(), max(2.0, room * value), rect.height()), 3, 3)
        painter.setPen(QPen(colors.color("text"), 1, Qt.PenStyle.DotLine))
        x = rect.left() + room * chance
        painter.drawLine(QPointF(x, rect.top() - 4), QPointF(x, rect.bottom() + 4))
        painter.setPen(colors.color("text"))
        painter.setFont(theme.ui_font(theme.UI_SIZE, bold=row.is_followed))
        place = QRectF(rect.right() - figure, rect.top() - 4, figure, rect.height() + 8)
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(place, right, words.share(value))
