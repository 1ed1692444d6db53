"""The search for a word's pieces as a staircase: every try under the word, the longest first.

Of a long search only the first and last tries are drawn; the numbers have them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import CUT_MIDDLE
from app.look.direction import is_right_to_left
from app.plots.figure import Numbers
from app.plots.scrolled import ScrolledFigure
from app.plots.strokes import CENTER, write
from engine.text.trace import LONGEST, TracedWord

STEP, BAR = 25.0, 21.0  # px from try to try; a try's own height
SIDE = 100.0  # px at the right for what came of a try
FIRST, LAST = 3, 2  # tries of a long search that are drawn
WIDEST = 26.0  # px of a character, so that ## has room beside it
SIZES = (13, 12, 11, 10, 9)
CONTINUES = "##"


@dataclass(frozen=True, slots=True)
class _Try:
    """A line. kind: "miss", "hit", "fail" (the shortest try, not known either) or "more" (those left out)."""

    kind: str
    text: str
    start: int
    stop: int
    id: int = -1
    count: int = 0


class LadderPlot(ScrolledFigure):
    """One word's search; the arrow keys scroll."""

    wanted_size = (320, 260)
    least_size = (200, 80)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.word: TracedWord | None = None
        self.unknown_id = -1
        self._tries: list[_Try] = []
        self._scroll.verticalScrollBar().setSingleStep(int(STEP))

    @property
    def is_empty(self) -> bool:
        return self.word is None

    def set_word(self, word: TracedWord | None, unknown_id: int = -1) -> None:
        """Show the search for a word, or nothing."""
        self.word, self.unknown_id = word, unknown_id
        self._tries = [] if word is None else _tries(word)
        self.set_content_height(int(STEP * (len(self._tries) + 1) + 8))
        self.describe()

    def clear(self) -> None:
        """Show nothing."""
        self.set_word(None)

    def told(self) -> list[str]:
        """Return the search in words, a sentence for each piece that was looked for."""
        if self.word is None:
            return []
        said = []
        for match in self.word.matches:
            tried = words.listed(match.tried[:-1])
            if match.id is None:
                said.append(self.tr("tried {tried}: not known").format(tried=words.listed(match.tried)))
            elif tried:
                said.append(
                    self.tr("tried {tried}; found {piece}").format(tried=tried, piece=match.tried[-1])
                )
            else:
                said.append(self.tr("found {piece}").format(piece=match.tried[-1]))
        return said

    def numbers(self) -> Numbers:
        rows: Numbers = [["from", "tried", "found", "id"]]
        for match in self.word.matches if self.word else ():
            for tried in match.tried:
                hit = match.id is not None and tried == match.tried[-1]
                found = match.id if hit and match.id is not None else ""
                rows.append([match.start, tried, "yes" if hit else "no", found])
        return rows

    def summary(self) -> str:
        return words.clauses(self.told())

    def target_at(self, at: QPointF) -> None:
        """Nothing of it can be pointed at: it says itself what came of a try."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._scroll.keyPressEvent(event)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        word = self.word
        if word is None:
            return
        size, edges = self._measure(word.text)
        self._paint_word(painter, word, size, edges)
        for number, one in enumerate(self._tries):
            top = STEP * (number + 1)
            if area.top() - STEP < top < area.bottom() + STEP:
                self._paint_try(painter, one, top, size, edges)

    def _measure(self, text: str) -> tuple[int, list[float]]:
        """Return the largest size at which the word fits, and where its characters begin and end."""
        room = max(60.0, self.canvas().width() - SIDE - 10)
        for size in SIZES:
            metrics = QFontMetricsF(theme.ui_font(size))
            least = min(WIDEST, room / max(1, len(text)))
            widths = [max(least, metrics.horizontalAdvance(letter) + 3) for letter in text]
            if sum(widths) <= room:
                break
        scale = min(1.0, room / sum(widths)) if widths else 1.0
        edges = [4.0]
        for width in widths:
            edges.append(edges[-1] + width * scale)
        if is_right_to_left([text]):
            edges = [edges[-1] + edges[0] - edge for edge in edges]
        return size, edges

    def _paint_word(self, painter: QPainter, word: TracedWord, size: int, edges: list[float]) -> None:
        wide = QFontMetricsF(theme.ui_font(size, bold=True)).horizontalAdvance(word.text)
        whole = QRectF(min(edges), 0, max(edges) - min(edges), STEP)
        if wide > whole.width() + 2:
            write(painter, whole, word.text, size=size, bold=True, cut=CUT_MIDDLE)
            return
        for letter, one, other in zip(word.text, edges, edges[1:], strict=False):
            room = QRectF(min(one, other) - 3, 0, abs(other - one) + 6, STEP)
            write(painter, room, letter, size=size, bold=True, side=CENTER)

    def _paint_more(self, painter: QPainter, num_tries: int, room: QRectF) -> None:
        """Say how many tries are left out, in as many words as there is room for."""
        ways = (self.tr("… {count} more, each a character shorter"), self.tr("… {count} more"))
        metrics, count = QFontMetricsF(theme.ui_font(11)), words.number(num_tries)
        said = [way.format(count=count) for way in ways]
        shown = next((text for text in said if metrics.horizontalAdvance(text) <= room.width()), said[-1])
        write(painter, room, shown, "muted", size=11)

    def _paint_try(self, painter: QPainter, one: _Try, top: float, size: int, edges: list[float]) -> None:
        colors = theme.current()
        first, last = sorted((edges[one.start], edges[one.stop]))
        bar = QRectF(first + 1, top, last - first - 2, BAR)
        if one.kind == "more":
            beside = QRectF(first + 2, top, self.canvas().width() - first - 4, BAR)
            self._paint_more(painter, one.count, beside)
            return
        hit, fail = one.kind == "hit", one.kind == "fail"
        frame = colors.accent if hit else colors.wrong if fail else colors.line
        painter.setPen(QPen(QColor(frame), 1.2, Qt.PenStyle.DashLine if fail else Qt.PenStyle.SolidLine))
        painter.setBrush(QColor(colors.accent_soft if hit else colors.card))
        painter.drawRoundedRect(bar, 4, 4)
        metrics, room = QFontMetricsF(theme.ui_font(size)), max(bar.width() - 4, 6)
        is_whole = metrics.horizontalAdvance(one.text) <= room or not one.text.startswith(CONTINUES)
        shown = one.text if is_whole else one.text.removeprefix(CONTINUES)
        ink = "text" if hit else "wrong" if fail else "muted"
        write(painter, bar, metrics.elidedText(shown, CUT_MIDDLE, room), ink, size=size, side=CENTER)
        self._paint_side(painter, one, bar if is_whole else self._paint_hashes(painter, bar, edges))

    def _paint_hashes(self, painter: QPainter, bar: QRectF, edges: list[float]) -> QRectF:
        """Write ## before a piece that fills its bar, where earlier characters are; return both."""
        wide = QFontMetricsF(painter.font()).horizontalAdvance(CONTINUES) + 2
        is_turned = edges[-1] < edges[0]
        place = QRectF(bar.right() + 1 if is_turned else bar.left() - wide, bar.top(), wide, BAR)
        painter.drawText(place, CENTER, CONTINUES)
        return bar.united(place)

    def _paint_side(self, painter: QPainter, one: _Try, bar: QRectF) -> None:
        """Say beside a try what came of it."""
        x = bar.right() + 6
        name, ink = {"hit": ("check", "fine"), "fail": ("close", "wrong")}.get(one.kind, ("close", "muted"))
        mark = QRectF(x, bar.center().y() - 6, 12, 12)
        theme.icon(name, ink).paint(painter, mark.toRect())
        if one.kind == "miss":
            return
        unknown = self.tr("so [UNK] {id}").format(id=self.unknown_id)
        place = QRectF(mark.right() + 5, bar.top(), SIDE, BAR)
        write(painter, place, unknown if one.kind == "fail" else str(one.id), ink, size=12)


def _tries(word: TracedWord) -> list[_Try]:
    found: list[_Try] = []
    for match in word.matches:
        lines = []
        for number, text in enumerate(match.tried):
            stop = len(word.text) - number
            is_last = number == len(match.tried) - 1
            kind = ("fail" if match.id is None else "hit") if is_last else "miss"
            number_found = -1 if match.id is None or not is_last else match.id
            lines.append(_Try(kind, text, match.start, stop, number_found))
        if len(lines) > FIRST + LAST + 2:
            hidden = _Try("more", "", match.start, len(word.text), count=len(lines) - FIRST - LAST)
            lines = [*lines[:FIRST], hidden, *lines[-LAST:]]
        found += lines
    assert len(word.text) > LONGEST or found or word.kind == "added" or not word.outcome
    return found
