"""One number worked out: its terms under each other, the smallest as "n others", and what they add up to.

What is shown adds up as it is shown: the others are the shown total less the shown terms. A term that stands
for a weight can be clicked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from app import words
from app.look import theme
from app.look.columns import LEFT, RIGHT
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure
from app.plots.strokes import ABSOLUTE, CENTER, level_line, write, write_parts

LEAST_LINE, LINE, ROOMY, MOST_LINE = 16.0, 19.0, 23.0, 27.0  # px
EDGE = 3.0
MOST_TERMS = 10
COLUMN, BETWEEN = 200.0, 20.0  # px that a column takes at least, and between two
NARROW, VALUE = 240.0, 50.0  # px below which factors stand together, and what the value takes
FEW = 3  # terms are all shown, however low it is, in their own order
MORE_DIGITS = 3
SHARES = (0.30, 0.24, 0.22, 0.24)  # of the width: name, left, right, value


@dataclass(frozen=True, eq=False, slots=True)
class WorkedTerms:
    """A sum to be shown. names, terms: (N,), in the order they are shown; left, right: (N,), their factors.

    heads: over left, right and value. starts: terms that are always shown first, such as a bias. ends: what
    is done with the total: a name, and how it is written. strong: the term that is the chosen one's own.
    """

    names: Sequence[str] = ()
    terms: Sequence[float] = ()
    left: Sequence[float] | None = None
    right: Sequence[float] | None = None
    heads: tuple[str, str, str] = ("", "", "")
    total: float = 0.0
    total_words: str = ""
    starts: tuple[tuple[str, float], ...] = ()
    ends: tuple[tuple[str, str], ...] = ()
    strong: int = -1
    can_click: bool = False
    has_total: bool = True


class WorkedSum(PointedFigure):
    """A sum as on paper."""

    nothing = -1
    term_chosen = Signal(int)  # its place in the sum
    most_columns = 1  # beside each other, where it is wide
    sum = WorkedTerms()
    _order: Sequence[int] = ()  # the terms that are shown

    @property
    def is_empty(self) -> bool:
        return not (self.sum.terms or self.sum.ends or self.sum.starts)

    def set_sum(self, shown: WorkedTerms) -> None:
        """Show a sum."""
        self.sum = shown
        self._choose_terms()
        self.forget()
        self.updateGeometry()

    def clear(self) -> None:
        """Show nothing."""
        self.set_sum(WorkedTerms())

    def _choose_terms(self) -> None:
        terms = np.abs(np.array(self.sum.terms, np.float64))
        taken = len(self.sum.starts) + int(self.sum.has_total) + len(self.sum.ends)
        room = self._num_columns() * int((self.height() - LINE - 8) // LINE)
        most = max(1, min(MOST_TERMS, room - taken))
        if len(terms) >= most > 3 or len(terms) > most:
            most = max(1, most - 1)  # a line for the others, or for what rounding makes
        most += len(terms) == most + 1  # one other is a term
        if len(terms) <= FEW:  # as the formula has them
            self._order = list(range(len(terms)))
            return
        self._order = [int(i) for i in np.argsort(-terms, kind="stable")[:most]]

    def _num_columns(self) -> int:
        """Return how many columns of terms stand beside each other."""
        if len(self.sum.terms) + len(self.sum.starts) + len(self.sum.ends) <= FEW:
            return 1
        return max(1, min(self.most_columns, int(self.width() // COLUMN)))

    @property
    def others(self) -> int:
        """How many terms are not shown one by one."""
        return len(self.sum.terms) - len(self._order)

    @property
    def digits(self) -> int:
        """How many digits the terms are written with: three that count of the largest, and so many more that
        they add up as they are written, where that takes few.
        """
        numbers = [abs(x) for x in (*self.sum.terms, self.sum.total, *(x for _name, x in self.sum.starts))]
        most = max(numbers, default=0.0)
        least = 3 if not most else max(2, min(7, 2 - math.floor(math.log10(most))))
        if self.others or not self.sum.has_total:
            return least
        return next((n for n in range(least, least + MORE_DIGITS) if not self._missed(n)), least)

    def _missed(self, digits: int) -> int:
        """Return how many units of the last digit all terms miss the total by, rounded one by one."""
        unit = 10.0**-digits
        parts = [*self.sum.terms, *(x for _name, x in self.sum.starts)]
        return round(self.sum.total / unit) - sum(round(x / unit) for x in parts)

    def lines(self) -> list[tuple[str, str, str, str]]:
        """Return what is shown line by line: name, left, right, value; the total and what follows it last."""
        digits, unit = self.digits, 10.0**-self.digits
        found = [(name, "", "", _signed(round(x / unit) * unit, digits)) for name, x in self.sum.starts]
        shown = sum(round(x / unit) for _name, x in self.sum.starts)
        for place in self._order:
            term = round(float(self.sum.terms[place]) / unit) * unit  # a tie goes where `shown` goes
            shown += round(term / unit)
            factors = [
                "" if side is None else _factor(side[place]) for side in (self.sum.left, self.sum.right)
            ]
            found.append((self.sum.names[place], *factors, _signed(term, digits)))  # type: ignore[arg-type]
        total = round(self.sum.total / unit)
        if self.others:
            said = self.tr("{count} others").format(count=words.number(self.others))
            found.append((said, "", "", _signed((total - shown) * unit, digits)))
        elif self.sum.has_total and (missed := self._missed(digits)):
            found.append((self.tr("rounding"), "", "", _signed(missed * unit, digits)))
        if self.sum.has_total:
            said = self.sum.total_words or self.tr("together")
            found.append((said, "", "", _signed(total * unit, digits)))
        return found + [(name, "", "", value) for name, value in self.sum.ends]

    def numbers(self) -> Numbers:
        left, right, value = self.sum.heads
        rows: Numbers = [["term", left or "left", right or "right", value or "value"]]
        rows += [[name, "", "", float(x)] for name, x in self.sum.starts]
        for place, name in enumerate(self.sum.names):
            factors = ["" if side is None else float(side[place]) for side in (self.sum.left, self.sum.right)]
            rows.append([name, *factors, float(self.sum.terms[place])])
        if self.sum.has_total:
            rows.append(["=", "", "", float(self.sum.total)])
        return rows + [[name, "", "", written] for name, written in self.sum.ends]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choose_terms()
        self.update()

    def sizeHint(self) -> QSize:
        ends = len(self.sum.starts) + len(self.sum.ends) + int(self.sum.has_total) + 1
        terms = min(len(self.sum.terms), MOST_TERMS + 1)
        return QSize(260, int(LINE * (terms + ends) + 8))

    def minimumSizeHint(self) -> QSize:
        ends = len(self.sum.starts) + len(self.sum.ends) + int(self.sum.has_total) + 1
        return QSize(200, int(LINE * (ends + min(len(self.sum.terms), 2)) + 4))

    # ---- pointing

    def _row_of(self, target: int) -> int:
        return len(self.sum.starts) + self._order.index(target)

    def _head(self) -> float:
        """Return how high the line over the terms is: none, where there is nothing to say."""
        return self._line() if self._has_heads() else 2.0

    def _has_heads(self) -> bool:
        """Whether the columns have heads: not where factors stand together, of which the formula tells."""
        is_joined = self._width() < NARROW and self.sum.left is not None and self.sum.right is not None
        return any(self.sum.heads) and not is_joined

    def _width(self) -> float:
        columns = self._num_columns()
        return (self.width() - BETWEEN * (columns - 1)) / columns

    def _line(self) -> float:
        """Return how high a line is: higher where there is much room, so that it is read from afar."""
        return max(LEAST_LINE, min(MOST_LINE, (self.height() - 6) / (self._num_rows() + 1)))

    def _num_rows(self) -> int:
        """Return how many lines stand under each other."""
        return math.ceil(len(self.lines()) / self._num_columns())

    def _room_of(self, row: int) -> QRectF:
        """Return where a line lies, counted through the columns from the first."""
        rows, line = max(1, self._num_rows()), self._line()
        width = self._width()
        column, place = divmod(row, rows)
        return QRectF(column * (width + BETWEEN), self._head() + place * line, width, line)

    def rect_of(self, target: int) -> QRectF:
        return self._room_of(self._row_of(target))

    def target_at(self, at: QPointF) -> int:
        return next((target for target in self._order if self.rect_of(target).contains(at)), -1)

    def after(self, event: QKeyEvent) -> int:
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if Qt.Key(event.key()) not in moves or not self._order or not self.sum.can_click:
            return -1
        if self.current not in self._order:
            return self._order[0]
        row = self._order.index(self.current) + moves[Qt.Key(event.key())]
        return self._order[min(max(row, 0), len(self._order) - 1)]

    def words_of(self, target: int) -> str:
        if target not in self._order:
            return ""
        name, left, right, value = self.lines()[self._row_of(target)]
        said = " × ".join(part for part in (left, right) if part)
        return words.captioned(name, f"{said} = {value}" if said else value)

    def tip_of(self, target: int) -> str:
        return self.tr("Click to see this weight, its row and its column") if self.sum.can_click else ""

    def summary(self) -> str:
        return words.clauses(" ".join(part for part in line if part) for line in self.lines())

    def can_choose(self, target: int) -> bool:
        return self.sum.can_click

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.term_chosen.emit(target)

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_lines(painter)
        painter.restore()

    def _paint_lines(self, painter: QPainter) -> None:
        colors, lines = theme.current(), self.lines()
        for column in range(self._num_columns() if self._has_heads() else 0):
            first = self._room_of(column * self._num_rows())
            self._paint_line(
                painter, first.translated(0, -first.height()), ("", *self.sum.heads), "muted", True
            )
        num_terms = len(self.sum.starts) + len(self._order)
        total = len(lines) - 1 - len(self.sum.ends) if self.sum.has_total else -1
        for row, line in enumerate(lines):
            place, room = row - len(self.sum.starts), self._room_of(row)
            is_term = 0 <= place < len(self._order)
            is_strong = row == total or (is_term and self._order[place] == self.sum.strong)
            is_after = row > total >= 0 or row > num_terms
            ink = "muted" if num_terms <= row < total else "text"
            is_last = is_after and row == len(lines) - 1
            if is_term and self._order[place] == self.current and not self._saving:
                painter.fillRect(room, colors.color("hover"))
            self._paint_line(painter, room, line, ink, False, is_strong or is_last, has_sign=is_term)
            if row == total:
                painter.setPen(QPen(colors.color("text"), 1.2))
                level_line(painter, room.left() + room.width() * 0.72, room.right() - EDGE, room.top())

    def _paint_line(
        self,
        painter: QPainter,
        room: QRectF,
        line: tuple[str, str, str, str],
        ink: str,
        is_head: bool,
        is_strong: bool = False,
        has_sign: bool = False,
    ) -> None:
        width, height = room.width() - 2 * EDGE, room.height()
        size = 12 if height < ROOMY else 14
        metrics = QFontMetricsF(theme.ui_font(size, bold=is_strong))
        value = min(0.5, (metrics.horizontalAdvance(line[3]) + 8) / max(1, width))
        shares = SHARES if line[1] or line[2] else (1 - value, 0.0, 0.0, value)
        if width < NARROW and line[1] and line[2] and not is_head:
            size = 11
            line = (line[0], f"{line[1]} × {line[2]}", "", line[3])
            taken = QFontMetricsF(theme.ui_font(size, bold=is_strong)).horizontalAdvance(line[1]) + 12
            shares = (1 - (VALUE + taken) / width, taken / width, 0.0, VALUE / width)
        left = room.left() + EDGE
        for column, (text, share) in enumerate(zip(line, shares, strict=True)):
            cell = QRectF(left, room.top(), width * share - (10 if column == 1 else 2), height)
            shade, side = "muted" if column in (1, 2) and not is_head else ink, RIGHT if column else LEFT
            write_parts(painter, cell, text, shade, size=size, bold=is_strong, side=side | ABSOLUTE)
            left += width * share
        if has_sign and line[1] and line[2]:
            sign = QRectF(room.left() + EDGE + width * (shares[0] + shares[1]) - 8, room.top(), 12, height)
            write(painter, sign, "×", "muted", size=size, bold=is_strong, side=CENTER)


def _signed(x: float, digits: int) -> str:
    written = words.decimal(abs(x), digits)
    return written if not float(f"{abs(x):.{digits}f}") else ("−" if x < 0 else "+") + written


def _factor(x: float) -> str:
    """Return a factor with three digits that count."""
    digits = 2 if not x else max(2, min(5, 2 - math.floor(math.log10(abs(x)))))
    return ("−" if x < 0 else "") + words.decimal(abs(x), digits)
