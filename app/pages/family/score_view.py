"""Scores as dots: one question is chosen, all members are shown on its scale, the best first."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import ElidedLabel, label
from app.look.layout import FoldingRow, column, row
from app.look.widgets import button, named
from app.pages.family.kinds.kind import FamilyAnswer
from app.pages.family.kinds.results import Report, ResultsKind, fact_heads, in_units
from app.pages.family.scores import said
from app.plots.member_scores import MemberScoresPlot
from app.words import translate
from engine.family.card import ON_BLANKS, PERCENT, RANKS, CardLine

BOX = 330  # px


class ScoreView(QWidget):
    """A box of questions over the dots."""

    all_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: FamilyAnswer[Report] | None = None
        self._lines: list[CardLine] = []
        self.box = ChoiceBox("family_score", self.tr("Question"), width=BOX)
        self.box.chosen.connect(self._show)
        self.said = ElidedLabel("", "muted")
        self.all_button = button(
            self.tr("Show all scores side by side"),
            "link",
            name="family_all_scores",
            call=self.all_wanted.emit,
        )
        self.plot = named(MemberScoresPlot(self.tr("Scores")), "family_scores")
        top = FoldingRow(gap=12, is_late=True)
        top.put(
            row(label(self.tr("Question"), "card-title"), self.box, gap=12),
            (row((self.said, 1), self.all_button, gap=12), 1),
        )
        column(top, (self.plot, 1), gap=8, parent=self)

    def show_answer(self, kind: ResultsKind, answer: FamilyAnswer[Report]) -> None:
        """Show what the training of a family told of it; the chosen question stays."""
        before = self.box.currentIndex()
        self._answer, self._kind = answer, kind
        self._lines = [line for line in kind.lines(answer) if not line.is_start]
        self.box.clear()
        for place, line in enumerate(self._lines):
            self.box.addItem(words.phrases(part for part in (_name(line), line.source) if part), place)
        self.box.setCurrentIndex(before if 0 <= before < len(self._lines) else 0)
        self._show()

    def clear(self) -> None:
        """Show nothing."""
        self._answer = None
        self.plot.clear()

    def _show(self, _place: object = None) -> None:
        place = self.box.currentIndex()
        if self._answer is None or not 0 <= place < len(self._lines):
            return
        line = self._lines[place]
        chance = None if line.chance is None else in_units(line, line.chance)
        template = translate("family", "by chance {share}")
        if line.name == ON_BLANKS[0]:
            template = translate("family", "always the most frequent word: {share}")
        chance_words = "" if chance is None else template.format(share=_in_words(line, chance))
        self.plot.unable = translate("family", "n/a")
        self.plot.show_scores(
            self._kind.reached_rows(self._answer, line),
            is_less_better=line.is_less_better,
            chance=chance,
            chance_words=chance_words,
            heads=fact_heads(),
        )
        self.said.setText(self._sentence(line))

    def _sentence(self, line: CardLine) -> str:
        many = said(line)[1] if line.source else _of_how_many(line)
        better = translate("family", "lower is better") if line.is_less_better else ""
        bold = translate("family", "bold: best or tied with it") if len(line.scores) > 1 else ""
        if bold and not any(line.is_best(name) for name in line.scores):
            bold = translate("family", "no member can be called best")
        start = translate("family", "hollow: before training") if line.before() is not None else ""
        return " · ".join(part for part in (many, better, bold, start) if part)


def _of_how_many(line: CardLine) -> str:
    """Return the unit of a score, and over how many questions it is."""
    count = words.number(max((int(one["count"]) for one in line.scores.values()), default=0))
    if not line.unit:
        return translate("family", "over {count} words").format(count=count)
    return translate("family", "{unit} of {count}").format(unit=line.unit, count=count)


def _name(line: CardLine) -> str:
    return words.tr_engine(line.name)


def _in_words(line: CardLine, value: float) -> str:
    if line.unit == PERCENT:
        return words.share(value / 100)
    return words.decimal(value, 2 if line.unit == RANKS else 1)
