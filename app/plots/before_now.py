"""What a change does to the end: a bar for each answer now, a line where it stood before, always 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import fitting
from app.plots.figure import Figure, Numbers

LINE, BAR = 22.0, 8.0  # px
NAME, VALUES = 0.32, 108.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer and its probability, before and now."""

    name: str
    before: float
    now: float


class BeforeNow(Figure):
    """A row an answer."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        self.outcomes: tuple[Outcome, ...] = ()
        self.is_changed = False
        super().__init__(title, parent)
        theme.on_theme_change(self, self.update)

    @property
    def is_empty(self) -> bool:
        return not self.outcomes

    def set_outcomes(self, outcomes: tuple[Outcome, ...], *, is_changed: bool) -> None:
        """Show answers. Args: is_changed: whether anything is otherwise than it was."""
        self.outcomes, self.is_changed = outcomes, is_changed
        self.setAccessibleDescription("; ".join(f"{one.name} {self.value_of(one)}" for one in outcomes))
        self.updateGeometry()
        self.update()

    def value_of(self, one: Outcome) -> str:
        """Return what stands beside a bar."""
        now = words.probability(one.now)
        return f"{words.probability(one.before)} → {now}" if self.is_changed else now

    def numbers(self) -> Numbers:
        rows: Numbers = [["answer", "before", "now"]]
        return rows + [[one.name, one.before, one.now] for one in self.outcomes]

    def sizeHint(self) -> QSize:
        return QSize(280, int(LINE * max(1, len(self.outcomes)) + 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(180, self.sizeHint().height())

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for row, one in enumerate(self.outcomes):
            self._paint_row(painter, row * LINE, one, is_first=row == 0)
        self.paint_frame(painter)
        painter.end()

    def _paint_row(self, painter: QPainter, top: float, one: Outcome, is_first: bool) -> None:
        colors, width = theme.current(), float(self.width())
        painter.setFont(theme.ui_font(12, bold=is_first))
        painter.setPen(colors.color("text"))
        metrics = QFontMetricsF(painter.font())
        name = QRectF(2, top, width * NAME - 6, LINE)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(name, side, fitting(one.name, metrics, name.width()))
        said = self.value_of(one)
        values = max(VALUES if self.is_changed else 48.0, metrics.horizontalAdvance(said) + 6)
        painter.drawText(
            QRectF(width - values - 2, top, values, LINE),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
            said,
        )
        room = QRectF(width * NAME, top + (LINE - BAR) / 2, max(20.0, width * (1 - NAME) - values - 10), BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("line"))
        painter.drawRoundedRect(room, 4, 4)
        painter.setBrush(colors.color("b" if self.is_changed else "accent"))
        painter.drawRoundedRect(QRectF(room.left(), room.top(), max(2.0, room.width() * one.now), BAR), 4, 4)
        if self.is_changed:
            x = room.left() + room.width() * one.before
            painter.fillRect(QRectF(x - 1, top + 3, 2, LINE - 6), colors.color("text"))
