"""What is asked of an attribution, as two lines that read like a sentence; knows no session and no worker."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit
from app.look.labels import label, tip
from app.look.layout import column, row
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import named
from app.pages.attention.requests import AttributionChoice
from app.pages.attention.state import AskedAttribution
from engine.inspect.attribution.gradients import INTEGRATED, METHODS
from engine.inspect.attribution.path import BASELINES, MASK
from engine.inspect.attribution.target import (
    FOLLOWS,
    LABELS,
    MASKED_WORDS,
    MEASURES,
    NEXT_SENTENCE,
    RANDOM,
    Target,
)
from engine.inspect.loaded_model import ModelSummary
from engine.text.tokenizer import Encoding
from engine.text.words import Word

TOOLTIP = Qt.ItemDataRole.ToolTipRole


class AttributionChoices(QWidget):
    """The question, the answer and what it is set against; the method, its baseline and its measure."""

    changed = Signal()  # another result is wanted
    unit_changed = Signal(str)  # "words" or "pieces": the same result, shown in another way

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hidden: int | None = None  # the token whose word is hidden and asked for
        self._has_masked_words = False
        self._words: tuple[Word, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._make_question()
        self._make_method()
        self._lay_out()
        self._show_answers()

    def _make_question(self) -> None:
        self.question = ChoiceBox("attribution_question", self.tr("The answer to explain"))
        self.answer = ChoiceBox("attribution_answer", self.tr("The answer"))
        self.against = ChoiceBox("attribution_against", self.tr("The answer to compare with"))
        self.word = named(LineEdit(), "attribution_word", self.tr("The answer"))
        self.other_word = named(
            LineEdit(placeholderText=self.tr("all other words")),
            "attribution_other_word",
            self.tr("The word to compare with"),
        )
        self.question.activated.connect(self._question_chosen)
        for box in (self.answer, self.against):
            box.activated.connect(self._choice_made)
        for line in (self.word, self.other_word):
            line.setProperty("taken", "")
            line.editingFinished.connect(self._word_typed)

    def _make_method(self) -> None:
        self.method = ChoiceBox("attribution_method", self.tr("Method"))
        self.baseline = ChoiceBox("attribution_baseline", self.tr("Where the path begins"))
        self.measure = ChoiceBox("attribution_measure", self.tr("What is measured"))
        for box, names in ((self.method, METHODS), (self.baseline, BASELINES), (self.measure, MEASURES)):
            for key, name in names.items():
                box.addItem(words.tr_engine(name), key)
                box.setItemData(box.count() - 1, tip(self._help(key)), TOOLTIP)
            box.activated.connect(self._choice_made)
        self._show_help()
        self.unit = FoldingButtons(
            "attribution_unit",
            self.tr("What a score is of"),
            (
                ("words", self.tr("Words"), self.tr("A word’s score is the sum over its pieces")),
                ("pieces", self.tr("Pieces"), self.tr("As the model reads the text")),
            ),
        )
        self.unit.chosen.connect(self.unit_changed)

    def _lay_out(self) -> None:
        self._rather = label(self.tr("rather than"), "muted")
        self.first = row(
            label(self.tr("Why"), "muted"),
            (self.question, 4),
            (self.answer, 4),
            (self.word, 4),
            self._rather,
            (self.against, 3),
            (self.other_word, 3),
        )
        second = row(
            label(self.tr("by"), "muted"),
            (self.method, 4),
            label(self.tr("from"), "muted"),
            (self.baseline, 4),
            label(self.tr("in"), "muted"),
            (self.measure, 3),
            self.unit,
        )
        column(self.first, second, gap=6, parent=self)

    def _help(self, key: str) -> str:
        """Return what a method, a baseline or a measure is."""
        return {
            "integrated_gradients": self.tr(
                "The words come in together, step by step, from the baseline to the whole text. "
                "Each is credited with the change along its path. The scores add up. "
                "(Sundararajan et al. 2017)"
            ),
            "gradient_x_input": self.tr(
                "One look at how steeply the answer changes at the text itself. Quick and rough: "
                "the scores have no meaningful sum, and say little where the answer is confident."
            ),
            "mask": self.tr(
                "The path begins at a text of [MASK] only. In pretraining the model learned to "
                "read it as an unknown word, so its answer there is close to neutral."
            ),
            "pad": self.tr(
                "The path begins at a text of [PAD] only. Models are not trained to read it, so "
                "their answers there can be far from neutral."
            ),
            "zero": self.tr(
                "The path begins where word embeddings are zero, while positions and segments "
                "stay. No word has this vector, so the answer can be far from neutral."
            ),
            "log_odds": self.tr(
                "log p − log(1 − p): evidence for and against. It keeps growing when a "
                "probability is nearly 0 or 1. 0 is one half, 2.2 is 90 %, 4.6 is 99 %."
            ),
            "probability": self.tr(
                "The scores are parts of the probability itself, 0 to 1. If it is nearly 0 or 1, "
                "all are small."
            ),
        }[key]

    @property
    def wanted(self) -> AttributionChoice | None:
        """What is asked for; None where the model can answer nothing."""
        chosen = self.question.currentData()
        if chosen is None:
            return None
        question, place = chosen
        if question == MASKED_WORDS:
            place = self._hidden if place < 0 else place
            target = Target(
                question=question,
                place=place,
                answer=self.word.text().strip(),
                against=self.other_word.text().strip(),
            )
        else:
            answer = self.answer.currentData() or ""
            against = "" if self.against.isHidden() else self.against.currentData() or ""
            target = Target(question=question, answer=answer, against=against)
        return AttributionChoice(
            target, self.method.currentData(), self.baseline.currentData(), self.measure.currentData()
        )

    def state(self) -> AskedAttribution:
        """Return what is chosen."""
        question, place = self.question.currentData() or ("", -1)
        hidden = self._hidden if question == MASKED_WORDS and place < 0 else None
        return AskedAttribution(
            question=f"{question}:{place}:{-1 if hidden is None else hidden}",
            answer=str(self.answer.currentData() or ""),
            against=str(self.against.currentData() or ""),
            word=self.word.text(),
            other_word=self.other_word.text(),
            method=str(self.method.currentData()),
            baseline=str(self.baseline.currentData()),
            measure=str(self.measure.currentData()),
            unit=self.unit.current,
        )

    def take_state(self, state: AskedAttribution) -> None:
        """Choose this, as far as this model and text have it, and ask for it."""
        question, _, rest = state.question.partition(":")
        place, _, hidden = rest.partition(":")
        wanted = (question, int(place) if place.lstrip("-").isdigit() else -1)
        if hidden.isdigit() and any(int(hidden) in word.pieces for word in self._words):
            self._hidden = int(hidden)
            here = self._row_of((MASKED_WORDS, -1))
            if here >= 0:
                self.question.setItemText(here, self._hidden_words())
        self.question.setCurrentIndex(max(0, self._row_of(wanted)) if self.question.count() else -1)
        self._show_answers()
        for text, line in ((state.word, self.word), (state.other_word, self.other_word)):
            line.setText(text)
            line.setProperty("taken", text)
        for data, box in (
            (state.answer, self.answer),
            (state.against, self.against),
            (state.method, self.method),
            (state.baseline, self.baseline),
            (state.measure, self.measure),
        ):
            box.setCurrentIndex(max(0, box.findData(data)) if box.count() else -1)
        if state.unit in self.unit.buttons:
            self.unit.set_current(state.unit)
        self._choice_made()

    @property
    def can_hide(self) -> bool:
        """Whether a word that is clicked can be hidden and asked for."""
        return self._has_masked_words

    def set_subject(self, about: ModelSummary, encoding: Encoding, found: tuple[Word, ...]) -> None:
        """Offer what this model can answer of this text; the choice stays where it can."""
        before = self.question.currentData()
        self._has_masked_words, is_same = about.has_masked_words, found == self._words
        self._words = found
        if not is_same or not about.has_masked_words or self._hidden is None:  # another model hid none
            self._hidden = _longest(found, _masks(about, encoding)) if about.has_masked_words else None
        self._labels = about.labels
        self.question.clear()
        if about.labels:
            self.question.addItem(self.tr("the label"), (LABELS, -1))
        if about.has_masked_words:
            self._offer_words(about, encoding)
        if about.has_next_sentence and 1 in encoding.token_type_ids:
            self.question.addItem(self.tr("B follows A, or not"), (NEXT_SENTENCE, -1))
        if not is_same and before == (MASKED_WORDS, -1):
            before = self._first_mask(about, encoding) or before
        self.question.setCurrentIndex(max(0, self._row_of(before)))
        place = self.baseline.findData(MASK)
        if about.wordpiece.mask_id is None and place >= 0:
            self.baseline.removeItem(place)
        self._show_answers()

    def _offer_words(self, about: ModelSummary, encoding: Encoding) -> None:
        places = _masks(about, encoding)
        several = self.tr("the word at [MASK] {number}")
        said = several if len(places) > 1 else self.tr("the word at [MASK]")
        for number, place in enumerate(places, start=1):
            self.question.addItem(said.format(number=number), (MASKED_WORDS, place))
        if self._hidden is not None:
            self.question.addItem(self._hidden_words(), (MASKED_WORDS, -1))
            said = self.tr("Click a word of the text to mask that one instead.")
            self.question.setItemData(self.question.count() - 1, said, TOOLTIP)

    def _first_mask(self, about: ModelSummary, encoding: Encoding) -> tuple[str, int] | None:
        """Return the question about the first [MASK] that was typed: it comes before a word that was not."""
        return next(((MASKED_WORDS, place) for place in _masks(about, encoding)), None)

    def hide_word(self, word: Word) -> None:
        """Hide a word of the text, and ask for it."""
        self._hidden = word.pieces[0]
        place = self._row_of((MASKED_WORDS, -1))
        if place < 0:
            return
        self.question.setItemText(place, self._hidden_words())
        self.question.setCurrentIndex(place)
        self.word.clear()
        self._show_answers()
        self.changed.emit()

    def asked_places(self) -> tuple[int, ...]:
        """Return the tokens that are hidden and asked for."""
        wanted = self.wanted
        if wanted is None or wanted.target.place is None:
            return ()
        place = wanted.target.place
        return next((word.pieces for word in self._words if place in word.pieces), (place,))

    def _row_of(self, question: object) -> int:
        """Return where a question stands, -1 if nowhere; `findData` compares tuples by identity."""
        places = range(self.question.count())
        return next((place for place in places if self.question.itemData(place) == question), -1)

    def _hidden_words(self) -> str:
        found = next((word.text for word in self._words if self._hidden in word.pieces), "")
        return self.tr("“{word}”, masked").format(word=words.shorten(found, 24))

    def _show_answers(self) -> None:
        """Show the boxes for labels or next sentence, or the lines for words."""
        question, place = self.question.currentData() or (LABELS, -1)
        is_word = question == MASKED_WORDS
        has_others = question == LABELS and len(self._labels) > 2  # of two answers one is all others
        self.answer.setVisible(not is_word)
        self.against.setVisible(has_others)
        self._rather.setVisible(is_word or has_others)
        for line in (self.word, self.other_word):
            line.setVisible(is_word)
        own = self.tr("the word itself") if place < 0 else self.tr("the model’s own guess")
        self.word.setPlaceholderText(own)
        self.word.setToolTip(self.tr("Type any word of the vocabulary to ask for it here."))
        if not is_word:
            self._fill_answers(question)

    def _fill_answers(self, question: str) -> None:
        if question == LABELS:
            choices = [(name, name) for name in self._labels]
        else:
            choices = [(self.tr("B follows A"), FOLLOWS), (self.tr("B does not follow A"), RANDOM)]
        for box, first in (
            (self.answer, self.tr("the model’s own answer")),
            (self.against, self.tr("all others")),
        ):
            before = box.currentData()
            box.clear()
            box.addItem(first, "")
            for text, data in choices:
                box.addItem(text, data)
            box.setCurrentIndex(max(0, box.findData(before)) if before else 0)

    def _question_chosen(self) -> None:
        for line in (self.word, self.other_word):
            line.clear()
            line.setProperty("taken", "")
        self._show_answers()
        self.changed.emit()

    def _choice_made(self) -> None:
        self._show_help()
        self.changed.emit()

    def _word_typed(self) -> None:
        line = self.sender()
        if isinstance(line, QLineEdit) and line.text() != line.property("taken"):
            line.setProperty("taken", line.text())
            self.changed.emit()

    def _show_help(self) -> None:
        for box in (self.method, self.baseline, self.measure):
            box.setToolTip(tip(self._help(box.currentData())))
        self.baseline.setEnabled(self.method.currentData() == INTEGRATED)


def _masks(about: ModelSummary, encoding: Encoding) -> list[int]:
    """Return the tokens that are [MASK] as typed."""
    return [place for place, number in enumerate(encoding.input_ids) if number == about.wordpiece.mask_id]


def _longest(found: tuple[Word, ...], masks: list[int]) -> int | None:
    """Return the first token of the longest word of one piece, to begin with; None without words."""
    typed = [word for word in found if word.pieces[0] not in masks]
    alone = [word for word in typed if len(word.pieces) == 1] or typed
    return max(alone, key=lambda word: len(word.text)).pieces[0] if alone else None
