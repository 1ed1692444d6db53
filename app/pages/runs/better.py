"""The card that says whether B is better than A, and whether that is sure."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import PART, label
from app.look.layout import STRETCH, row
from app.look.widgets import Advice, Card, button
from app.pages.runs.rows import RunRow, column_words, ended_words, setting_words
from app.plots.difference import DifferencePlot
from engine.runs.groups import differences, pair_of
from engine.runs.versus import SCORES, SEEDS, TEXTS, Versus
from engine.train.metrics import LEAST_SEEDS

translate = QCoreApplication.translate

MOST_NAMED = 3  # settings that are told one by one
LOW = 270  # px, below which there is no room for the picture


class BetterCard(Card):
    """Difference, interval, chance; the picture against none; how many seeds agree; what differs."""

    settings_wanted = Signal()
    texts_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("runs_better_card")
        self.set_title(self.tr("Which is better, A or B?"))
        self.verdict = label("", "strong", wrap=True, name="runs_verdict")
        self.chance = label("", wrap=True, name="runs_chance")
        self.picture = DifferencePlot(self.tr("Difference of B and A"))
        self.picture.setObjectName("runs_difference")
        self.picture.setFixedHeight(62)
        self._has_picture = False
        self.remarks = Advice()
        self.remarks.setObjectName("runs_better_remarks")
        self.texts = button(self.tr("Read the texts answered differently"), "link", name="runs_read_texts")
        self.settings = button(self.tr("Compare settings"), "link", name="runs_compare_settings")
        self.texts.clicked.connect(self.texts_wanted)
        self.settings.clicked.connect(self.settings_wanted)
        for widget in (self.verdict, self.chance, self.picture):
            self.add(widget)
        self.add(self.remarks, 1)
        self.body.addLayout(row(self.texts, STRETCH, self.settings))

    def show_waiting(self, text: str) -> None:
        """Say why nothing is compared yet."""
        self.verdict.setText("")
        self.chance.setText(text)
        self.set_hint("")
        self._has_picture = False
        self._fit()
        self.remarks.set_items([])
        self.texts.hide()

    def show_versus(self, found: Versus | None, a: RunRow, b: RunRow) -> None:
        """Say what was found of two lines."""
        if found is None:
            self.show_waiting(
                self.tr("They were not measured by the same score, so they cannot be compared.")
            )
            return
        factor = 100 if words.is_share(found.metric) else 1
        self.verdict.setText(verdict_words(found))
        self.chance.setText(chance_words(found))
        interval = (
            None if found.interval is None else (factor * found.interval[0], factor * found.interval[1])
        )
        seeds = [factor * value for _, value in found.seeds] if len(found.seeds) > 1 else []
        sides = (self.tr("A better"), self.tr("B better"))
        self.picture.set_difference(factor * found.value, interval, seeds, sides)
        self._has_picture = True
        self._fit()
        rows = words.number(found.rows)
        same = self.tr("the same {rows} texts").format(rows=rows)
        self.set_hint(same if found.are_same_texts else self.tr("not the same texts"))
        ended = [remark for one, letter in ((a, "A"), (b, "B")) for remark in ended_remarks(one, letter)]
        looks = looks_remarks(found, a, b)
        self.remarks.set_items(
            [*ended, *seed_remarks(found), *basis_remarks(found), *looks, setting_remark(a, b)]
        )
        self.texts.setVisible(bool(found.differ) or (found.are_same_texts and bool(found.rows)))
        self.texts.setText(self._texts_words(found, a, b))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave the room to the words where there is too little: the sentence has the numbers, too."""
        self.picture.setVisible(self._has_picture and self.height() >= LOW)

    def _texts_words(self, found: Versus, a: RunRow, b: RunRow) -> str:
        """Return what the way to the texts is called: how many they are, or of which seed."""
        if found.differ and len(a.runs) == len(b.runs) == 1:
            return words.counted(
                found.differ,
                self.tr("Read the text that only one gets right"),
                self.tr("Read the {count} texts that only one gets right"),
            )
        first, second = pair_of(a.runs, b.runs)
        if found.differ is not None and first.seed == second.seed:
            return self.tr("Read the texts that only one gets right, seed {seed}").format(seed=first.seed)
        if found.differ is not None:
            return self.tr("Read the texts that only one gets right")
        if first.seed == second.seed:
            return self.tr("Read the texts answered differently, seed {seed}").format(seed=first.seed)
        return self.tr("Read the texts answered differently")


def verdict_words(found: Versus) -> str:
    """Return the difference in a sentence, sure or not."""
    points = points_words(found, abs(found.value))
    if found.interval is not None:
        low, high = found.interval if found.value >= 0 else (-found.interval[1], -found.interval[0])
        ends = {name: points_words(found, end, unit=False) for name, end in (("low", low), ("high", high))}
        points = translate("runs", "{points} ({low} to {high})").format(points=points, **ends)
    if found.is_sure:
        better, worse = ("B", "A") if found.value > 0 else ("A", "B")
        text = translate("runs", "{better} is better than {worse} by {points}.")
        if found.runs == (1, 1):
            text = translate("runs", "This run of {better} is better than this run of {worse} by {points}.")
        return text.format(better=better, worse=worse, points=points)
    if found.p_value is None and found.value:
        ahead = "B" if found.value > 0 else "A"
        text = translate("runs", "{ahead} is ahead by {points}. Whether that is chance is inconclusive.")
        return text.format(ahead=ahead, points=points)
    if not found.value:
        return translate("runs", "No difference can be shown: both reached the same.")
    text = translate("runs", "No difference can be shown: {ahead} is ahead by {points}.")
    return text.format(ahead="B" if found.value > 0 else "A", points=points)


def points_words(found: Versus, value: float, *, unit: bool = True) -> str:
    """Return a difference in points of a share, or in the metric's own unit."""
    if not words.is_share(found.metric):
        return words.decimal(value)
    number = words.decimal(100 * value, 1)
    return translate("runs", "{number} points").format(number=number) if unit else number


def chance_words(found: Versus) -> str:
    """Return chance's part in a difference, as so many cases."""
    if found.p_value is None:
        return ""
    if found.p_value >= 0.1:
        text = translate("runs", "Chance alone would show as much in {share} of cases.")
        return text.format(share=words.share(min(1.0, found.p_value), 0))
    cases = words.number(round(1 / max(found.p_value, 1e-9)))
    if found.p_value < 1e-6:
        return translate("runs", "Chance alone would show this in fewer than 1 of a million cases.")
    return translate("runs", "Chance alone would show this in 1 of {cases} cases.").format(cases=cases)


def seed_remarks(found: Versus) -> list[tuple[str, str]]:
    """Return how many seeds agree."""
    count, better = len(found.seeds), found.num_better
    if count < 2:
        return []
    text = translate("runs", "B is better with {better} of {count} seeds (the small rings).")
    agree = better in (0, count)
    said = text.format(better=words.number(better), count=words.number(count))
    return [("fine" if agree and found.is_sure else "note", said)]


def basis_remarks(found: Versus) -> list[tuple[str, str]]:
    """Return what the sentence rests on, where that is less than it could be."""
    if max(found.runs) > 1 and min(found.runs) < LEAST_SEEDS:
        text = translate("runs", "It takes three seeds of each to separate a difference from chance.")
        return [("look", text)]
    if found.basis == TEXTS:
        text = translate(
            "runs", "One run each. Other seeds may reverse the order. Repeat both with more seeds."
        )
        return [("look", text)]
    if found.basis == SEEDS:
        return [
            (
                "note",
                translate("runs", "By the scores of the seeds, because the single answers were not saved."),
            )
        ]
    if found.basis == SCORES:
        if not found.are_same_texts:
            text = translate("runs", "By the scores only, which were measured on different texts.")
        else:
            text = translate(
                "runs",
                "By the scores only, because the single answers were not saved. Other seeds may "
                "reverse the order.",
            )
        return [("look", text)]
    return []


def ended_remarks(row: RunRow, letter: str) -> list[tuple[str, str]]:
    """Return that a line was not trained to its end."""
    said = ended_words(row.facts)
    text = translate("runs", "{letter}: {ended}.").format(letter=letter, ended=said)
    return [("look", text)] if said else []


def looks_remarks(found: Versus, a: RunRow, b: RunRow) -> list[tuple[str, str]]:
    """Return that the best of more evaluations is higher by chance, where one side had more of them."""
    epochs = [row.facts.settings.get("num_epochs") for row in (a, b)]
    one, other = (number if isinstance(number, int | float) else 0 for number in epochs)
    if found.split != "validation" or one == other or not one or not other:
        return []
    text = translate(
        "runs",
        "A validation score is the best of a run’s evaluations. {more}, with more "
        "epochs, had more to choose from. A test part avoids this.",
    )
    return [("note", text.format(more="A" if one > other else "B"))]


def setting_remark(a: RunRow, b: RunRow) -> tuple[str, str]:
    """Return what the two do not have alike."""
    differ = differences(a.facts, b.facts)
    said = [
        f"{column_words(name)} {setting_words(name, one)} → {setting_words(name, other)}"
        for name, one, other in differ[:MOST_NAMED]
    ]
    if not differ:
        return "note", translate("runs", "Their settings are all the same.")
    if len(differ) == 1:
        return "note", translate("runs", "They differ in one setting: {what}.").format(what=said[0])
    more = len(differ) - len(said)
    listed = PART.join(said) + (f" +{more}" if more else "")
    text = translate("runs", "They differ in {count} settings, so the cause is not known: {what}.")
    return "look", text.format(count=words.number(len(differ)), what=listed)
