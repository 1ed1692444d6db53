"""The answer to the page's question in words: what the picture shows, with a verdict and its chance level."""

from __future__ import annotations

import html

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, LevelMark, ScrollView, holder, named
from app.pages.embeddings.requests import TextsAnswer, WordMeanings
from engine.inspect.embeddings.meanings import Parting

LONGEST = 60  # characters of a text that is quoted


class AnswerCard(Card):
    """Two sentences and a verdict, or what a view says of itself.

    Args: others: what other views say, each shown by `show_other`.
    """

    def __init__(self, *others: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("embeddings_answer")
        self.set_title(self.tr("What you see"))
        self.first, self.second = self._sentence("embeddings_first"), self._sentence("embeddings_second")
        self.verdict = label("", wrap=True, name="embeddings_answer_verdict")
        self._marks = {level: LevelMark(level) for level in ("fine", "look", "note")}
        top = Qt.AlignmentFlag.AlignTop
        marks = column(*self._marks.values(), STRETCH, margins=(0, 1, 0, 0))
        self._verdict_row = holder(row((marks, top), (self.verdict, 1), gap=8))
        self._own = (self.first, self.second, self._verdict_row)
        self._others = others
        self._is_brief = False
        self.add(ScrollView(holder(column(*self._own, *others, STRETCH))), 1)
        self.clear("")

    def clear(self, why: str) -> None:
        """Say why there is no answer yet."""
        self._put(html.escape(why), "", "", "note")

    def show_other(self, other: QWidget) -> None:
        """Show what a view says of itself."""
        self._show(other)

    def show_word(self, found: WordMeanings, layer: int) -> None:
        """Say whether a word's uses part by meaning at a layer; 0: the word table."""
        meanings, vectors = found.meanings, found.vectors
        count = len(vectors.texts)
        values = {"word": vectors.source.word, "count": words.number(count), "layer": layer}
        if count < 2:
            alone = self.tr("One sentence has nothing to compare with. Add another.")
            self._put(html.escape(alone), "", "", "note")
            return
        table = self._table_words(meanings.starts, values)
        if not meanings.partings:
            mean = self.tr("At layer {layer} the mean similarity of two “{word}”s is {mean}.")
            first = _filled(mean, {**values, "mean": _bold(float(meanings.any_two[layer]))})
            ask = self.tr("To compare meanings, give the sentences at least two: “meaning | sentence”.")
            self._put(first, table, ask, "note")
        elif meanings.is_one_point(layer):
            ask = self.tr("There is no context in it yet: each layer adds what the sentence says.")
            self._put(table, "", ask, "note")
        else:
            self._put(self._separation(meanings.partings[layer], values), table, *self._judged(found, layer))

    def _table_words(self, starts: int, values: dict[str, object]) -> str:
        if starts == 1:
            return _filled(self.tr("In the word table all {count} are one and the same point."), values)
        text = self.tr("In the word table they are {starts} points, because “{word}” has {starts} spellings.")
        return _filled(text, {**values, "starts": words.number(starts)})

    def _separation(self, one: Parting, values: dict[str, object]) -> str:
        where = {"within": _bold(one.within), "between": _bold(one.between), **values}
        if not values["layer"]:
            text = self.tr("In the word table similarity is {within} within one meaning, {between} across.")
        elif one.is_apart:
            text = self.tr(
                "At layer {layer} the meanings separate: similarity is {within} within one meaning, "
                "{between} across."
            )
        else:
            text = self.tr("At layer {layer} similarity is {within} within one meaning, {between} across.")
        return _filled(text, where)

    def _judged(self, found: WordMeanings, layer: int) -> tuple[str, str]:
        one = found.meanings.partings[layer]
        text = self.tr(
            "{right} of {count} have a nearest neighbour with the same meaning; by chance {chance} ({p})."
        )
        said = [_against_chance(text, one)]
        if not one.is_apart and one.num_right > one.chance:
            said.append(self.tr("That could be chance."))
        elif not one.is_apart:
            said.append(self.tr("The model does not separate the meanings here."))
        return words.sentences(said), "fine" if one.is_apart else "look"

    def show_texts(self, found: TextsAnswer, group: str) -> None:
        """Say which texts are most similar, and whether neighbours are of one class."""
        one, other = (words.shorten(found.vectors.texts[place], LONGEST) for place in found.pair)
        text = self.tr("The two most similar texts: “{one}” and “{other}”, {cosine}.")
        first = _filled(text, {"one": one, "other": other, "cosine": _bold(found.cosine)})
        mean = self.tr("The mean similarity of any two texts is {mean}.")
        second = _filled(mean, {"mean": _bold(found.any_two)})
        parted = found.parting
        if parted is None:
            ask = self.tr("To compare neighbours by class, colour the texts by a column with classes.")
            self._put(first, second, ask, "note")
            return
        judged = self.tr(
            "{right} of {count} have a nearest text with the same {group}; by chance {chance} ({p})."
        )
        said = _against_chance(judged, parted, group=words.shorten(group, 24))
        self._put(first, second, said, "fine" if parted.is_apart else "look")

    def _sentence(self, name: str) -> QLabel:
        """Return a label whose figures are bold; all else in it is escaped."""
        made = named(QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True), name)
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return made

    def _put(self, first: str, second: str, verdict: str, level: str) -> None:
        self.first.setText(first)
        self.second.setText(second)
        self.verdict.setText(verdict)
        for name, mark in self._marks.items():
            mark.setVisible(name == level)
        self._show(*(part for part, said in zip(self._own, (first, second, verdict), strict=True) if said))

    def _show(self, *shown: QWidget) -> None:
        self._shown = shown
        for part in (*self._own, *self._others):
            part.setVisible(part in shown and not (part is self.second and self._is_brief))

    def set_brief(self, is_brief: bool) -> None:
        """Leave the second sentence out where there is little room; what it says is in the picture, too."""
        self._is_brief = is_brief
        self._show(*self._shown)


def _p_words(p: float) -> str:
    """Return how often chance gives as many."""
    text = words.translate("AnswerCard", "p < 0.001")
    if p >= 0.001:
        text = words.translate("AnswerCard", "p = {p}").format(p=words.decimal(p, 3))
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _against_chance(text: str, one: Parting, **more: str) -> str:
    right, count = words.number(one.num_right), words.number(one.num_labelled)
    chance = words.decimal(one.chance, 1 if one.num_labelled < 100 else 0)
    return text.format(right=right, count=count, chance=chance, p=_p_words(one.p), **more)


class _Markup(str):
    """What is markup already."""


def _bold(value: float) -> _Markup:
    return _Markup("–" if np.isnan(value) else f"<b>{words.decimal(value, 2)}</b>")


def _filled(text: str, values: dict[str, object]) -> str:
    """Return a sentence as markup: whatever is not bold already is escaped."""
    safe = {name: one if isinstance(one, _Markup) else html.escape(str(one)) for name, one in values.items()}
    return "<qt>" + html.escape(text, quote=False).format(**safe)
