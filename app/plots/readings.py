"""Pinned sentences while a model learns: its guesses for each gap, and how probable the right word was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import CUT_RIGHT, LEFT, RIGHT, Bar
from app.look.direction import paint_text
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure
from app.plots.strokes import level_line, paint_line, write
from engine.events import Reading

ROW = 45
CHIP = 19
FOOT = 4  # px of the bar along a guess
BRIEF_ROW = CHIP + 4
CURVE_WIDTH = 92
VALUE_WIDTH = 76
NARROW = 520  # px; below, curves are half as wide
MOST_GUESSES = 5
MOST_KEPT = 600  # readings of a sentence
MOST_POINTS = 100  # of a small curve
LEAST_TOP = 0.005  # a probability below which curves are not stretched to the full height
_GAP = re.compile(r"\[([^\[\]]+)\]")


def split_gap(sentence: str) -> tuple[str, str, str]:
    """Return what stands before the gap, in it (without brackets) and after it; no gap: all before."""
    found = _GAP.search(sentence)
    if found is None:
        return sentence, "", ""
    return sentence[: found.start()], found[1], sentence[found.end() :]


@dataclass(slots=True)
class _Line:
    """One sentence: the newest reading, and those before it, thinned out as they grow many."""

    reading: Reading
    steps: list[int] = field(default_factory=list)
    past: list[Reading] = field(default_factory=list)

    def add(self, step: int, reading: Reading) -> None:
        """Take in what a model answers at a step; the run's files keep every answer."""
        self.reading = reading
        self.steps.append(step)
        self.past.append(reading)
        if len(self.past) > MOST_KEPT:
            del self.steps[1:-1:2], self.past[1:-1:2]


class ReadingsPlot(RowsFigure):
    """A row a sentence; the newest guesses in it, the right one marked.

    is_brief: the guesses alone, in rows as high as they are.
    """

    def __init__(self, title: str = "", *, is_brief: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.is_brief = is_brief
        self.row_height = BRIEF_ROW if is_brief else ROW
        self.lines: dict[str, _Line] = {}
        self._shown: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The sentences that are watched now, in order."""
        return self._shown

    @property
    def num_rows(self) -> int:
        return len(self._shown)

    def append(self, step: int, readings: Sequence[Reading]) -> None:
        """Take in what a model answers at a step."""
        for reading in readings:
            line = self.lines.setdefault(reading.sentence, _Line(reading))
            line.add(step, reading)
        self._shown = tuple(dict.fromkeys(reading.sentence for reading in readings))
        self.rows_grown()

    def clear(self) -> None:
        """Forget all readings."""
        self.lines, self._shown = {}, ()
        self.rows_changed()

    def row_words(self, sentence: str) -> str:
        """Return a sentence with its newest guesses, to be read aloud or under the pointer."""
        reading = self.lines[sentence].reading
        guesses = words.listed(f"{word} {words.probability(value)}" for word, value in reading.guesses)
        said = f"{sentence}  {guesses}"
        if reading.right is not None and reading.probability is not None:
            template = self.tr("{said}; true: {word} {share}, guess number {rank}")
            said = template.format(
                said=said,
                word=reading.right,
                share=words.probability(reading.probability),
                rank=words.number(reading.rank or 0),
            )
        return said

    def numbers(self) -> Numbers:
        header: list[str | float | int] = ["step", "sentence", "right word", "probability", "rank"]
        for place in range(1, MOST_GUESSES + 1):
            header += [f"guess {place}", f"probability {place}"]
        rows: Numbers = [header]
        for sentence, line in self.lines.items():
            for step, reading in zip(line.steps, line.past, strict=True):
                row: list[str | float | int] = [step, sentence, reading.right or ""]
                row.append("" if reading.probability is None else reading.probability)
                row.append("" if reading.rank is None else reading.rank)
                for word, value in reading.guesses[:MOST_GUESSES]:
                    row += [word, value]
                rows.append(row + [""] * (len(header) - len(row)))
        return rows

    def words_of(self, target: int) -> str:
        return self.row_words(self._shown[target])

    def summary(self) -> str:
        return words.clauses(map(self.row_words, self._shown[:10]))

    def sizeHint(self) -> QSize:
        return QSize(400, self.row_height * max(1, self.num_rows) + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, self.row_height + 6)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        for place, room in self.rows_in(area):
            line = self.lines[self._shown[place]]
            if self.is_brief:
                self._paint_guesses(painter, room.adjusted(0, 2, 0, -2), line.reading)
            else:
                self._paint_row(painter, room, place, line)
        self.paint_mark(painter)

    def _paint_row(self, painter: QPainter, room: QRectF, place: int, line: _Line) -> None:
        y, width, left = room.top(), room.width(), 18.0
        curve = CURVE_WIDTH if width > NARROW else CURVE_WIDTH / 2
        right = width - 6.0 - curve - VALUE_WIDTH - 12
        self._paint_curve(painter, QRectF(right + 12, y + 6, curve, ROW - 14), line, place)
        self._paint_value(painter, QRectF(width - 6 - VALUE_WIDTH, y, VALUE_WIDTH, ROW), line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.category(place)))
        painter.drawEllipse(QPointF(8, y + 12), 4, 4)
        self._paint_sentence(painter, QRectF(left, y + 2, right - left, 20), line.reading)
        self._paint_guesses(painter, QRectF(left, y + 22, right - left, CHIP), line.reading)
        if place < self.num_rows - 1:
            painter.setPen(QPen(theme.current().color("line"), 1))
            level_line(painter, 4, width - 4, y + ROW - 0.5)

    def _paint_sentence(self, painter: QPainter, room: QRectF, reading: Reading) -> None:
        before, gap, after = split_gap(" ".join(reading.sentence.split()))
        x = room.left()
        gap = "[MASK]" if gap == "MASK" else gap
        painter.setPen(theme.current().color("text"))
        for text, bold in ((before, False), (gap, True), (after, False)):
            font = theme.ui_font(bold=bold)
            font.setUnderline(bold)
            painter.setFont(font)
            metrics, left = QFontMetricsF(font), max(0.0, room.right() - x)
            shown = metrics.elidedText(text, CUT_RIGHT, left)
            paint_text(painter, QRectF(x, room.top(), left + 2, room.height()), LEFT, shown)
            x += metrics.horizontalAdvance(shown)

    def _paint_guesses(self, painter: QPainter, room: QRectF, reading: Reading) -> None:
        x = room.left()
        for word, value in reading.guesses[:MOST_GUESSES]:
            width = self._chip_width(word, value)
            if x + width > room.right():
                break
            is_right = reading.right is not None and word.lower() == reading.right.lower()
            self._paint_chip(painter, QRectF(x, room.top(), width, CHIP), word, value, is_right)
            x += width + 6

    def _chip_width(self, word: str, value: float) -> float:
        plain, small = QFontMetricsF(theme.ui_font(12, bold=True)), QFontMetricsF(theme.ui_font(11))
        said = words.probability(value)
        return plain.horizontalAdvance(_short(word)) + small.horizontalAdvance(said) + 20

    def _paint_chip(self, painter: QPainter, chip: QRectF, word: str, value: float, is_right: bool) -> None:
        """Paint a guess over a bar as long as it is probable; the right one in its colour, with a tick."""
        Bar(1.0, "hover", "", CHIP, 4.0).paint(painter, chip)
        foot = QRectF(chip.left(), chip.bottom() - FOOT, chip.width(), FOOT)
        Bar(value, "fine" if is_right else "bar", "track", FOOT, 2.0).paint(painter, foot)
        font, inner = theme.ui_font(12, bold=is_right), chip.adjusted(7, 0, -6, 1 - FOOT)
        font.setUnderline(is_right)
        painter.setFont(font)
        painter.setPen(theme.current().color("text"))
        paint_text(painter, inner, LEFT, _short(word))
        ink = "text" if is_right else "muted"
        write(painter, inner, words.probability(value), ink, size=11, side=RIGHT)

    def _paint_curve(self, painter: QPainter, room: QRectF, line: _Line, place: int) -> None:
        values = np.array([np.nan if p.probability is None else p.probability for p in line.past])
        if not np.isfinite(values).any():
            return
        top = max(LEAST_TOP, float(np.nanmax(values)))
        steps = np.array(line.steps, dtype=np.float64)
        span = max(1.0, float(steps[-1] - steps[0]))
        x = room.left() + room.width() * (steps - steps[0]) / span
        y = room.bottom() - room.height() * np.clip(values / top, 0, 1)
        painter.setPen(QPen(theme.current().color("line"), 1))
        level_line(painter, room.left(), room.right(), room.bottom())
        keep = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).astype(int))
        points = [QPointF(a, b) for a, b in zip(x[keep], y[keep], strict=True) if b == b]
        paint_line(painter, points, QColor(theme.category(place)), 1.8)

    def _paint_value(self, painter: QPainter, room: QRectF, line: _Line) -> None:
        reading = line.reading
        if reading.probability is None:
            return
        above, below = room.adjusted(0, 4, 0, -ROW / 2), room.adjusted(0, ROW / 2 - 2, 0, -4)
        write(painter, above, words.probability(reading.probability), bold=True, side=RIGHT)
        ink, said = ("fine", self.tr("first guess")) if reading.rank == 1 else ("muted", "")
        if reading.rank is not None and reading.rank > 1:
            said = self.tr("guess {rank}").format(rank=words.number(reading.rank))
        write(painter, below, said, ink, size=11, side=RIGHT)


def _short(word: str) -> str:
    return words.shorten(word, 24)
