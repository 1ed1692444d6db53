"""Choosing what a pretraining run starts from: random weights with a vocabulary, or a model's folder."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import SpinBox
from app.look.labels import label, tip
from app.look.widgets import tidy_spin
from app.pages.choose.model_box import BoxChoice, ModelBox
from app.pages.choose.new_model import (
    add_vocabularies,
    ask_for_vocabulary,
    fill_sizes,
    remember_vocabulary,
)
from app.session import Session
from app.work.tables import ModelInfo, read_model
from app.work.worker import Channel
from engine.model.config import PRESETS, BertConfig
from engine.settings.pretrain import StartConfig
from engine.settings.setting import settings_of
from engine.train.pretraining.setup import shape_of

NEW, LEARN, CUSTOM = "new", "", "custom"
NEW_PREFIX = "new:"
NAMES = ("model", "vocab", "vocab_size", "trim_vocab")  # settings that are shown here


class StartChooser(QObject):
    """The rows for model, size and vocabulary; `changed` when what they say has.

    model_read: what the folder of a model to train further says of itself is known.
    """

    changed = Signal()
    model_read = Signal()

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._parent = session, parent
        defaults = StartConfig()
        self.folder = ""  # of the model to train further; "" for random weights
        self.vocab = ""  # a vocab.txt; "" to learn one
        self.info: ModelInfo | None = None  # of the folder or the vocab.txt, once it is read
        self.problem: BaseException | None = None
        self._asked = Channel(self, session.workers.quick)
        self.model_box = ModelBox("start_choice", self.tr("Start from"), session)
        self.model_box.set_own(before=[BoxChoice(self.tr("A new model"), NEW)])
        self.size_box = ChoiceBox("pretrain_size_choice", self.tr("Size"))
        self.vocab_box = ChoiceBox("pretrain_vocab_choice", self.tr("Vocabulary"))
        self.layers = _spin("layers", 1, 96, 4, self.tr("Layers"))
        self.width = _spin("width", 16, 8192, 256, self.tr("Width"), step=64)
        self.pieces = _spin("setting_vocab_size", 128, 1_000_000, defaults.vocab_size, self.tr("WordPieces"))
        self.trim = _spin("setting_trim_vocab", 0, 1_000_000, 0, self.tr("Keep pieces"))
        self.trim.setSpecialValueText(words.tr_engine(settings_of(StartConfig)["trim_vocab"].auto))
        self.refusal = self.model_box.refusal
        self.refusal.setObjectName("refusal_start")
        self._captions: dict[QWidget, QLabel] = {}
        self._connect()
        self.refresh()
        self.size_box.setCurrentIndex(max(0, self.size_box.findData("mini")))
        self._show_fitting()

    def _connect(self) -> None:
        self.model_box.chosen.connect(self._model_chosen)
        self.size_box.activated.connect(self._size_chosen)
        self.vocab_box.chosen.connect(self.take_vocabulary)
        for spin in (self.layers, self.width, self.pieces, self.trim):
            spin.valueChanged.connect(self._edited)

    def rows(self) -> list[tuple[QLabel | None, QWidget]]:
        """Return the rows in order, each a caption and its widget; a sentence has no caption."""
        about = settings_of(StartConfig)
        texts = (
            (self.model_box, self.tr("Start from"), about["model"].help),
            (self.size_box, self.tr("Size"), about["model"].help),
            (self.layers, self.tr("Layers"), self.tr("How many blocks of attention and feed-forward.")),
            (self.width, self.tr("Width"), self.tr("Numbers for each token; 64 for each attention head.")),
            (self.vocab_box, self.tr("Vocabulary"), about["vocab"].help),
            (self.pieces, self.tr("WordPieces"), about["vocab_size"].help),
            (self.trim, self.tr("Keep pieces"), about["trim_vocab"].help),
        )
        for widget, text, help_text in texts:
            caption = label(text)
            caption.setBuddy(widget)
            said = words.tr_engine(help_text)
            for each in (caption, widget):
                each.setToolTip(tip(said))
            self._captions[widget] = caption
        self._show_fitting()
        return [*((self._captions[widget], widget) for widget, _, _ in texts), (None, self.refusal)]

    # ---- what it says

    @property
    def is_new(self) -> bool:
        """Whether it starts from random weights."""
        return not self.folder

    @property
    def learns_vocabulary(self) -> bool:
        return self.is_new and not self.vocab

    def values(self) -> dict[str, Any]:
        """Return the settings that are chosen here."""
        size = self.size_box.currentData() or "mini"
        if size == CUSTOM:
            size = f"{self.layers.value()}x{self.width.value()}"
        return {
            "model": f"{NEW_PREFIX}{size}" if self.is_new else self.folder,
            "vocab": self.vocab if self.is_new else "",
            "vocab_size": self.pieces.value(),
            "trim_vocab": 0 if self.is_new else self.trim.value(),
        }

    def shape(self) -> BertConfig | None:
        """Return the shape of the model, vocabulary included; None while it is not known."""
        if not self.learns_vocabulary and self.info is None:
            return None
        if not self.is_new:
            assert self.info is not None
            own = self.info.config
            pieces = min(self.trim.value() or own.vocab_size, own.vocab_size)
            return replace(own, vocab_size=pieces)
        pieces = self.pieces.value() if self.info is None else self.info.wordpiece.vocab_size
        shape = shape_of(StartConfig(model=str(self.values()["model"])))
        return replace(shape, vocab_size=pieces)

    def put(self, values: dict[str, Any]) -> None:
        """Show these settings."""
        model = str(values.get("model", ""))
        self.folder = "" if model.startswith(NEW_PREFIX) else model
        self.vocab = str(values.get("vocab", "")) if self.is_new else ""
        for spin, name in ((self.pieces, "vocab_size"), (self.trim, "trim_vocab")):
            spin.setValue(int(values.get(name, spin.value())))
        size = model.removeprefix(NEW_PREFIX)
        if self.is_new and size not in PRESETS:
            numbers = [int(part) for part in size.split("x") if part.isdigit()]
            for spin, number in zip((self.layers, self.width), numbers, strict=False):
                spin.setValue(number)
            size = CUSTOM
        self.refresh()
        if self.is_new:
            self.size_box.setCurrentIndex(max(0, self.size_box.findData(size)))
        self._read()

    def show_refusal(self, text: str) -> None:
        """Say below the boxes why this start cannot be taken."""
        self.model_box.show_refusal(text)

    # ---- showing

    def refresh(self) -> None:
        """Fill the boxes for the choice as it is."""
        self.vocab_box.clear()
        self.vocab_box.addItem(self.tr("Make from the text"), LEARN)
        add_vocabularies(self.vocab_box, self._session.settings, self.vocab)
        self.vocab_box.add_action(self.tr("Choose a vocab.txt…"), self._browse_vocabulary)
        self._fill_sizes()
        self._show_fitting()

    def _fill_sizes(self) -> None:
        before = self.size_box.currentData()
        pieces = self.pieces.value()
        if not self.learns_vocabulary and self.info is not None:
            pieces = self.info.wordpiece.vocab_size
        fill_sizes(self.size_box, pieces, pretraining=True)
        self.size_box.addItem(self.tr("Layers and width…"), CUSTOM)
        self.size_box.setCurrentIndex(max(0, self.size_box.findData(before)))

    def _show_fitting(self) -> None:
        """Show the rows that say something for the choice as it is."""
        self.model_box.set_choice(self.folder or NEW)
        self.vocab_box.setCurrentIndex(max(0, self.vocab_box.findData(self.vocab)))
        custom = self.is_new and self.size_box.currentData() == CUSTOM
        for widget, shown in (
            (self.size_box, self.is_new),
            (self.layers, custom),
            (self.width, custom),
            (self.vocab_box, self.is_new),
            (self.pieces, self.learns_vocabulary),
            (self.trim, not self.is_new),
        ):
            for each in (widget, self._captions.get(widget)):
                if each is not None and (each.parent() is not None or not shown):  # else a window of its own
                    each.setVisible(shown)

    # ---- choosing

    def _model_chosen(self, choice: str) -> None:
        self.start_from("" if choice == NEW else choice)

    def start_from(self, folder: str) -> None:
        """Train the model in a folder further; "" starts from random weights."""
        self.folder = folder
        self.refresh()
        self._read()

    def _size_chosen(self, _index: int) -> None:
        self._show_fitting()
        self._edited()

    def _browse_vocabulary(self) -> None:
        ask_for_vocabulary(self._parent, self._session.settings, self._vocabulary_selected)

    def _vocabulary_selected(self, path: str) -> None:
        remember_vocabulary(self._session.settings, path)
        self.take_vocabulary(path)

    def take_vocabulary(self, path: str) -> None:
        """Take a vocab.txt; "" has one made from the text."""
        self.vocab = path
        self.refresh()
        self._read()

    def _edited(self) -> None:
        self.show_refusal("")
        self._fill_sizes()
        self.changed.emit()

    def _read(self) -> None:
        """Read what the folder or the vocab.txt says of itself, on a worker."""
        self.info = self.problem = None
        self.show_refusal("")
        self._show_fitting()
        self._asked.drop()  # the folder may hold another by now
        if not self.learns_vocabulary:
            model, vocab = self.folder or f"{NEW_PREFIX}tiny", self.vocab if self.is_new else ""
            work = partial(read_model, model, vocab, "")
            self._asked.ask((model, vocab), work, heard=self._take, refused=self._refuse)
        self.changed.emit()

    def _take(self, info: ModelInfo) -> None:
        self.info = info
        if not info.is_new:
            self.trim.setMaximum(info.config.vocab_size)
            self.model_read.emit()
        self._fill_sizes()
        self._show_fitting()
        self.changed.emit()

    def _refuse(self, error: BaseException) -> None:
        self.problem = error
        self.show_refusal(words.say_error(error))
        self.changed.emit()


def _spin(name: str, low: int, high: int, value: int, accessible: str, *, step: int = 1) -> SpinBox:
    spin = SpinBox(minimum=low, maximum=high, value=value, singleStep=step)
    spin.setGroupSeparatorShown(True)
    spin.setObjectName(name)
    spin.setAccessibleName(accessible)
    tidy_spin(spin)
    return spin
