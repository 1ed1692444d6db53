"""Exact match and F1 of each question word: two bars a row, with how many questions there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from app import words
from app.look.columns import RIGHT, WHOLE, Bar, Cell, Column, of, row_itself
from app.plots.columns import ColumnsFigure


def word_name(word: str) -> str:
    """Return how a question word is shown."""
    return words.translate("AnswerWordsPlot", "no question word") if word == "other" else word


@dataclass(frozen=True, slots=True)
class WordScores:
    """A question word with exact match and F1 of its questions, shares of 1, and how many they are."""

    word: str
    exact: float
    f1: float
    count: int


@dataclass(frozen=True, slots=True)
class _TwoBars(Cell):
    """F1 as a bar, and in it exact match as a thinner one."""

    one: WordScores

    def paint(self, painter: QPainter, room: QRectF) -> None:
        Bar(self.one.f1, "bar", height=12.0, radius=3.0).paint(painter, room)
        Bar(self.one.exact, "text", track="", height=4.0, radius=2.0).paint(painter, room)


class AnswerWordsPlot(ColumnsFigure):
    """One row a question word, the commonest first. Where it is a door, a click on one is told."""

    word_chosen = Signal(str)
    row_height = 28
    edges = (4.0, 4.0)
    most_summed_up = 10

    def set_scores(self, scores: Mapping[str, Sequence[float]]) -> None:
        """Show question word -> exact match, F1, how many questions."""
        self.show_rows(
            WordScores(word, float(em), float(f1), int(num)) for word, (em, f1, num) in scores.items()
        )

    def words_of(self, target: int) -> str:
        one = self.rows[target]
        text = self.tr("{word}: F1 {f1}, exact match {exact}, {questions}")
        questions = words.counted(one.count, self.tr("1 question"), self.tr("{count} questions"))
        return text.format(
            word=word_name(one.word),
            f1=words.share(one.f1),
            exact=words.share(one.exact),
            questions=questions,
        )

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.word_chosen.emit(self.rows[target].word)

    def sizeHint(self) -> QSize:
        return QSize(300, min(10, max(3, self.num_rows)) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 3 * self.row_height)

    def columns(self) -> tuple[Column, ...]:
        names = min(self.widest(map(_name, self.rows)), 0.4 * self.canvas().width())
        said = {"exact match": of("exact"), "F1": of("f1"), "questions": of("count")}
        return (
            Column("", row_itself, _name, names, side=RIGHT, also={"question word": of("word"), **said}),
            Column("", row_itself, _TwoBars, gap=10.0, least=8.0),
            Column(
                "",
                row_itself,
                self.said,
                self.widest(map(self.said, self.rows)),
                ink="muted",
                side=RIGHT,
                cut=WHOLE,
                gap=14.0,
            ),
        )

    def said(self, one: WordScores) -> str:
        """Return a row's figures as they stand beside its bars."""
        return self.tr("F1 {f1} · exact {exact}").format(
            f1=words.share(one.f1, 0), exact=words.share(one.exact, 0)
        )


def _name(one: WordScores) -> str:
    return f"{word_name(one.word)} · {words.number(one.count)}"
