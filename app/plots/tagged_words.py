"""A text whose words stand in coloured stretches, with a type each: above them what is true, below what a
model says.

Colour never stands alone: each stretch carries the name of its type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app import words
from app.look import theme
from app.look.columns import LEFT
from app.plots.figure import Numbers
from app.plots.strokes import CENTER, paint_edge, write
from app.plots.word_flow import SPACE, TextWord, WordsFigure

PAD = 2.0
LANE, BETWEEN = 15, 6  # px: of the names above or below a word, between two lines
BAR = 3.0
NAME_SIZE = 10
LONGEST = 60  # characters of a word that are drawn
TRUE, PREDICTED = "true", "predicted"


@dataclass(frozen=True, slots=True)
class TaggedStretch:
    """Characters start to stop - 1 of a text, with their type. note: more to say of it."""

    start: int
    stop: int
    type: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TagMark:
    """A word's part in a stretch: whether it begins and ends there, and how many words it has."""

    type: str
    begins: bool
    ends: bool
    num_words: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class TaggedWord(TextWord):
    """A word, its part in what is true and in what was predicted."""

    true: TagMark | None = None
    predicted: TagMark | None = None


class TaggedWordsPlot(WordsFigure[TaggedWord]):
    """The words of a text. A type has one colour, by its place among all types."""

    word = 20  # px, the height of a word alone
    line, chip, most_lines = word + BETWEEN, word, 6
    pad = PAD
    types: tuple[str, ...] = ()
    _above = _below = 0  # px of the names

    def set_text(self, tagged: Sequence[TaggedWord], types: Sequence[str], lanes: Sequence[str]) -> None:
        """Show a text. Args: types: all there are. lanes: TRUE, PREDICTED or both."""
        self.types = tuple(types)
        self._above, self._below = LANE * (TRUE in lanes), LANE * (PREDICTED in lanes)
        self.chip = self.word + self._above + self._below
        self.line = self.chip + BETWEEN
        self.set_words(tagged)

    def clear(self) -> None:
        self.set_text((), (), ())

    def show_first(self) -> None:
        """Bring the first stretch into view."""
        marked = next((i for i, one in enumerate(self.words) if self._marks(one)), None)
        if marked is not None and self.rect_of(marked).isValid():
            self.reveal(marked)

    def can_choose(self, target: int) -> bool:
        return False

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "word", "true", "predicted"]]
        for place, one in enumerate(self.words):
            rows.append([place, one.text, _said(one.true), _said(one.predicted)])
        return rows

    def summary(self) -> str:
        said = []
        for template, lane in ((self.tr("True: {found}"), TRUE), (self.tr("Predicted: {found}"), PREDICTED)):
            if found := self._stretches(lane):
                said.append(template.format(found=words.listed(found)))
        return words.clauses(said) or self.tr("Nothing is marked in this text.")

    def _stretches(self, lane: str) -> list[str]:
        """Return the stretches of a lane as words: "New York LOC"."""
        found: list[str] = []
        text = ""
        for one in self.words:
            mark = one.true if lane == TRUE else one.predicted
            if mark is None or not (self._above if lane == TRUE else self._below):
                continue
            text = one.text if mark.begins else text + ("" if one.joined else " ") + one.text
            if mark.ends:
                found.append(f"{words.shorten(text, 60)} {mark.type}")
        return found[:20]

    def words_of(self, target: int) -> str:
        one = self.words[target]
        said = [words.shorten(one.text, 80)]
        if one.true is not None and self._above:
            said.append(self.tr("true {type}").format(type=one.true.type))
        if one.predicted is not None and self._below:
            said.append(self.tr("predicted {type}").format(type=one.predicted.type))
            if one.predicted.note:
                said.append(one.predicted.note)
        return " · ".join(said)

    def color_of(self, kind: str) -> str:
        """Return the colour of a type."""
        hues = theme.CATEGORIES[theme.current().name]
        return hues[self.types.index(kind) % len(hues)] if kind in self.types else theme.current().muted

    def _marks(self, one: TaggedWord) -> list[TagMark]:
        marks = (one.true if self._above else None, one.predicted if self._below else None)
        return [mark for mark in marks if mark is not None]

    def shown(self, index: int) -> str:
        return words.shorten(self.words[index].text, LONGEST)

    def word_width(self, index: int) -> float:
        advance = QFontMetricsF(theme.ui_font(NAME_SIZE, bold=True)).horizontalAdvance
        marks = self._marks(self.words[index])
        names = [advance(words.shorten(mark.type, 24)) / mark.num_words for mark in marks]
        return max([super().word_width(index), *(name + 2 * PAD for name in names)])

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        one, colors = self.words[index], theme.current()
        middle = QRectF(room.left(), room.top() + self._above, room.width(), self.word)
        marks = self._marks(one)
        if marks:
            wide = middle.adjusted(0, 0, self._gap(index, marks[-1]), 0)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.mix(colors.card, self.color_of(marks[-1].type), 0.16)))
            painter.drawRect(wide)
        side = CENTER | Qt.TextFlag.TextDontClip
        write(painter, middle, self.shown(index), size=self.letters, side=side)
        if one.true is not None and self._above:
            self._paint_mark(painter, room, index, one.true, is_above=True)
        if one.predicted is not None and self._below:
            self._paint_mark(painter, room, index, one.predicted, is_above=False)
        if is_hovered:
            paint_edge(painter, middle.adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_mark(
        self, painter: QPainter, room: QRectF, index: int, mark: TagMark, *, is_above: bool
    ) -> None:
        top = room.top() + self._above - BAR if is_above else room.top() + self._above + self.word
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.color_of(mark.type)))
        painter.drawRect(QRectF(room.left(), top, room.width() + self._gap(index, mark), BAR))
        if not mark.begins:
            return
        name = QRectF(room.left(), room.top() - 1 if is_above else top + BAR, room.width(), LANE - BAR)
        said, side = words.shorten(mark.type, 24), LEFT | Qt.TextFlag.TextDontClip
        write(painter, name, said, size=NAME_SIZE, bold=True, side=side)

    def _gap(self, index: int, mark: TagMark) -> float:
        """Return how far a stretch goes on behind a word, up to the next one of the same line."""
        if mark.ends or index + 1 >= len(self.words):
            return 0.0
        here, following = self.rect_of(index), self.rect_of(index + 1)
        is_next = abs(here.top() - following.top()) < 1 and following.left() > here.left()
        return following.left() - here.right() if is_next else min(SPACE, 3.0)


def tagged_words(
    text: str,
    true: Sequence[TaggedStretch] = (),
    predicted: Sequence[TaggedStretch] = (),
    pieces: Sequence[tuple[int, int]] | None = None,
) -> list[TaggedWord]:
    """Return a text as words to draw.

    Args: pieces: where they stand; None: it is cut at white space, Chinese characters, ends of stretches.
    """
    if pieces is None:
        pieces = _pieces(text, {end for one in (*true, *predicted) for end in (one.start, one.stop)})
    marks = [_marks_of(pieces, stretches) for stretches in (true, predicted)]
    return [
        TaggedWord(
            text[start:stop],
            joined=start > 0 and not text[start - 1].isspace(),
            true=marks[0][i],
            predicted=marks[1][i],
        )
        for i, (start, stop) in enumerate(pieces)
    ]


def _pieces(text: str, cuts: Collection[int]) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    begin = -1
    for place, letter in enumerate([*text, " "]):
        is_space = letter.isspace()
        if begin >= 0 and (is_space or place in cuts or _is_wide(letter) or _is_wide(text[begin])):
            pieces.append((begin, place))
            begin = -1
        if begin < 0 and not is_space:
            begin = place
    return pieces


def _marks_of(pieces: Sequence[tuple[int, int]], stretches: Sequence[TaggedStretch]) -> list[TagMark | None]:
    found: list[TagMark | None] = [None] * len(pieces)
    place = 0
    for one in sorted(stretches, key=lambda each: each.start):
        while place < len(pieces) and pieces[place][1] <= one.start:
            place += 1
        stop = place
        while stop < len(pieces) and pieces[stop][0] < one.stop:
            stop += 1
        for word in range(place, stop):
            begins, ends = word == place, word == stop - 1
            found[word] = TagMark(one.type, begins, ends, stop - place, one.note)
        place = stop
    return found


def _is_wide(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uf900" <= letter <= "\uffef"


def _said(mark: TagMark | None) -> str:
    return "" if mark is None else f"{'B' if mark.begins else 'I'}-{mark.type}"
