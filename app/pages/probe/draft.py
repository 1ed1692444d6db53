"""The question that stands on the Probe page, and what is known of it without asking the model.

The cards and tabs share it: they change it by its methods, and hear `changed`.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app import words as said
from app.pages.inside.model_bar import model_caption
from app.pages.probe.masked_text import MaskedText, UndoSteps, as_written, carried, filled
from app.work.inspector import Inspector
from engine.errors import UserError
from engine.inspect.loaded_model import ModelSummary
from engine.inspect.masked.masked import GappedText, mask
from engine.text.tokenizer import Encoding
from engine.text.words import Word, words_of


class ProbeDraft(QObject):
    """A question, the steps to and from it, and the model beside the one that is open.

    encoding, words: of the text; None and () where the model cannot read it, `refusal` says why. masked: the
    gaps; None while nothing is hidden.
    """

    changed = Signal()  # the question, the model or how words are hidden
    beside_changed = Signal()

    def __init__(self, inspector: Inspector, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.inspector = inspector
        self.about: ModelSummary | None = None
        self.question = MaskedText(inspector.text, inspector.text_pair)
        self.steps = UndoSteps()
        self.encoding: Encoding | None = None
        self.words: tuple[Word, ...] = ()
        self.masked: GappedText | None = None
        self.refusal = ""
        self.refused: UserError | None = None
        self.by_pieces = False
        self.beside: Path | None = None

    # ---- from outside

    def take_model(self, about: ModelSummary) -> None:
        """Ask this model from now on; pieces of another vocabulary are no longer hidden."""
        if self.about is not None and about.wordpiece != self.about.wordpiece:
            self.question = MaskedText(self.question.text, self.question.text_pair, self.question.words)
        self.about = about
        self._look()
        self.changed.emit()

    def take_text(self) -> None:
        """Take the shared text over; what is hidden in it stays so where it was not edited."""
        inspector = self.inspector
        if (inspector.text, inspector.text_pair) != (self.question.text, self.question.text_pair):
            before, had = self.question, self.words
            self.steps.made(before)
            self.question = MaskedText(inspector.text, inspector.text_pair)
            self._look()
            if self.words and (before.words or before.pieces):
                kept = carried(before, had, self.words)
                self.question = MaskedText(inspector.text, inspector.text_pair, kept.words, kept.pieces)
                self._look()
        else:
            self._look()
        self.changed.emit()

    def begin(self, words: tuple[int, ...]) -> None:
        """Hide words of the text, as the first question; that is no step to take back."""
        self._put(MaskedText(self.question.text, self.question.text_pair, words))

    # ---- what a person does

    def go(self, question: MaskedText) -> None:
        """Ask this instead; the step can be taken back."""
        if question != self.question:
            self.steps.made(self.question)
            self._put(question)

    def undo(self) -> None:
        """Take the last step back."""
        if self.steps.can_undo:
            self._put(self.steps.undo(self.question))

    def redo(self) -> None:
        """Make a step again that was taken back."""
        if self.steps.can_redo:
            self._put(self.steps.redo(self.question))

    def clear(self) -> None:
        """Show every word again."""
        self.go(self.question.cleared())

    def toggle_word(self, number: int) -> None:
        """Hide a word, or show it again."""
        self.go(self.question.toggled_word(number, self.words[number]))

    def toggle_piece(self, place: int) -> None:
        """Hide one piece, or show it again."""
        number = next(n for n, word in enumerate(self.words) if place in word.pieces)
        self.go(self.question.toggled_piece(place, number, self.words[number]))

    def set_by_pieces(self, by_pieces: bool) -> None:
        """Choose whether a click hides a piece or a whole word."""
        if by_pieces != self.by_pieces:
            self.by_pieces = by_pieces
            self.changed.emit()

    def fill(self, gap: int, word: str) -> None:
        """Write a word into a gap; the other gaps stay."""
        if self.masked is None or gap >= len(self.masked.gaps):
            return
        text, pair = filled(self.masked, gap, word)
        there = self.masked.gaps[gap]
        left = MaskedText(
            text,
            pair,
            tuple(number for number in self.question.words if number != there.word),
            tuple(place for place in self.question.pieces if place not in there.places),
        )
        had = self.words
        self.steps.made(self.question)
        self.question = MaskedText(text, pair)
        self._look()
        kept = carried(left, had, self.words)
        self._put(MaskedText(text, pair, kept.words, kept.pieces))

    def set_beside(self, folder: Path | None) -> None:
        """Ask another model the same, or no longer."""
        if folder != self.beside:
            self.beside = folder
            self.beside_changed.emit()

    # ---- what is known

    @property
    def written(self) -> str:
        """The question in a line, with [MASK] for what is hidden."""
        if self.masked is None:
            return "  ·  ".join(text for text in (self.question.text, self.question.text_pair) if text)
        return as_written(self.question, self.masked)

    def caption(self) -> list[tuple[str, str]]:
        """Return what a saved picture says of itself."""
        about, lines = self.about, list[tuple[str, str]]()
        if about is not None:
            lines += model_caption(about.name, about.fingerprint)
        lines.append((self.tr("text"), self.question.text))
        if self.question.text_pair:
            lines.append((self.tr("second text"), self.question.text_pair))
        if self.masked is not None:
            lines.append((self.tr("asked"), self.written))
        return lines

    def _put(self, question: MaskedText) -> None:
        self.question = question
        inspector = self.inspector
        if (inspector.text, inspector.text_pair) != (question.text, question.text_pair):
            inspector.set_text(
                question.text, question.text_pair
            )  # comes back by `take_text` where it is heard
        self._look()
        self.changed.emit()

    def _look(self) -> None:
        self.encoding, self.words, self.masked, self.refusal = None, (), None, ""
        self.refused = None
        if self.about is None:
            return
        question = self.question
        try:
            self.encoding = self.about.encode(question.text, question.pair)
            self.words = words_of(self.encoding, question.text, question.pair)
            typed = self.about.wordpiece.mask_id in self.encoding.input_ids
            if self.about.has_masked_words and (question.words or question.pieces or typed):
                self.masked = mask(
                    self.about, question.text, question.pair, words=question.words, pieces=question.pieces
                )
        except UserError as error:
            self.refused, self.refusal = error, said.say_error(error)
