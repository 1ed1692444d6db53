"""Choosing what to start from: a model, another folder, or random weights and a vocabulary."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import label, set_or_hide
from app.pages.choose.model_box import BoxChoice, ModelBox
from app.pages.choose.new_model import (
    add_vocabularies,
    ask_for_vocabulary,
    fill_sizes,
    remember_vocabulary,
    vocabularies,
)
from app.session import Session
from app.shipped import starter_model

NEW = "new"  # the choice of random weights
USUAL_VOCABULARY = (
    30_522  # words of the published English vocabulary, for the sizes shown before one is chosen
)


class ModelChooser(QObject):
    """The rows for the model: what is known; size and vocabulary where weights are to be random."""

    asked = Signal()  # another model has been asked for, and is being read

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._parent = parent
        self.box = ModelBox("model_choice", self.tr("Start from"), session)
        self.box.setPlaceholderText(self.tr("Choose a model"))
        self.box.set_own(after=[BoxChoice(self.tr("Random weights"), NEW)])
        self.size_box = ChoiceBox("size_choice", self.tr("Size"))
        self.vocab_box = ChoiceBox("vocab_choice", self.tr("Vocabulary"))
        self.size_label = label(self.tr("Size"))
        self.vocab_label = label(self.tr("Vocabulary"))
        self.layers = label("", "muted", wrap=True, name="model_layers")
        self.refusal = self.box.refusal
        self.refusal.setObjectName("refusal_model")
        fill_sizes(self.size_box, USUAL_VOCABULARY)
        self.box.chosen.connect(self._chosen)
        self.size_box.activated.connect(self._size_chosen)
        self.vocab_box.chosen.connect(self._vocab_chosen)
        session.model.changed.connect(self.refresh)
        session.model.refused.connect(self._problem)
        self.refresh()
        if session.model.refusal is not None:
            self._problem(session.model.refusal)

    def rows(self) -> list[tuple[QLabel | None, QWidget]]:
        """Return the rows in order, each a caption and its widget; a sentence has no caption."""
        model = label(self.tr("Start from"))
        found = [(model, self.box), (self.size_label, self.size_box), (self.vocab_label, self.vocab_box)]
        for caption, box in found:
            caption.setBuddy(box)
        return [found[0], (None, self.layers), *found[1:], (None, self.refusal)]

    def refresh(self) -> None:
        """Show the session's model."""
        self.refusal.hide()
        self._show_current()

    def start_from_random_weights(self) -> None:
        """Ask for a new model of the size shown, with the vocabulary used last or the one that ships."""
        self._ask_new(self.size_box.currentData() or "tiny")

    def start_from_starter(self) -> None:
        """Ask for the pretrained model that ships with Cloze and reads the table's script."""
        if (starter := starter_model(self._session.data.script)) is not None:
            self._ask(str(starter), "")

    def show_refusal(self, text: str) -> None:
        """Say below the box why this model cannot be taken."""
        self.box.show_refusal(text)

    def _show_current(self) -> None:
        info = self._session.model.chosen
        self.box.set_choice(
            None if info is None else NEW if info.is_new else info.model, info.words if info else ""
        )
        encoder = info.encoder_name if info is not None else ""
        begins = self.tr("Begins with the layers of {name}.").format(name=encoder)
        set_or_hide(self.layers, begins if encoder else "")
        for widget in (self.size_label, self.size_box, self.vocab_label, self.vocab_box):
            widget.setVisible(info is not None and info.is_new)
        if info is not None and info.is_new:
            self.size_box.setCurrentIndex(max(0, self.size_box.findData(info.model.removeprefix("new:"))))
            self._fill_vocabularies(info.vocab)

    def _fill_vocabularies(self, current: str) -> None:
        self.vocab_box.clear()
        add_vocabularies(self.vocab_box, self._session.settings, current)
        self.vocab_box.add_action(self.tr("Choose a vocab.txt…"), self._browse_vocabulary)
        self.vocab_box.setCurrentIndex(max(0, self.vocab_box.findData(current)))

    def _chosen(self, choice: str) -> None:
        if choice == NEW:
            self.start_from_random_weights()
        else:
            self._ask(choice, "")

    def _size_chosen(self, _index: int) -> None:
        self._ask_new(self.size_box.currentData(), self.vocab_box.currentData() or "")

    def _vocab_chosen(self, path: str) -> None:
        self._ask_new(self.size_box.currentData(), path)

    def browse(self) -> None:
        """Open the dialog for a model folder."""
        self.box.question.ask()

    def _browse_vocabulary(self) -> None:
        ask_for_vocabulary(self._parent, self._session.settings, self._vocabulary_selected)

    def _vocabulary_selected(self, path: str) -> None:
        remember_vocabulary(self._session.settings, path)
        self._ask_new(self.size_box.currentData() or "tiny", path)

    def _problem(self, error: BaseException) -> None:
        self._show_current()
        self.show_refusal(words.say_error(error))

    def _ask_new(self, size: str, vocab: str = "") -> None:
        """Ask for random weights; without a vocabulary the one used last is taken, or one is asked for."""
        vocab = vocab or next(iter(vocabularies(self._session.settings)), "")
        if vocab:
            self._ask(f"new:{size}", vocab)
        else:
            self._browse_vocabulary()

    def _ask(self, model: str, vocab: str) -> None:
        self.refusal.hide()
        self._session.model.choose(model, vocab)
        self.asked.emit()
