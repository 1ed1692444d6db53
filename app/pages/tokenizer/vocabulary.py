"""Which vocabulary cuts the text, and which second one stands beside it: a model's folder or a vocab.txt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row
from app.pages.choose.model_box import BoxChoice, ModelBox
from app.pages.choose.new_model import (
    ask_for_vocabulary,
    remember_vocabulary,
    vocabularies,
    vocabulary_name,
)
from app.pages.tokenizer.requests import OpenVocabulary, is_model, kinds_root, read_vocabulary
from app.pages.tokenizer.words import vocabulary_words
from app.session import Session
from app.work.titles import model_title
from app.work.worker import Channel

BOX_WIDTH, NARROW_BOX = 240, 176  # px
NARROW = 800  # px of the bar
NONE = ""  # the choice of no second vocabulary


class VocabularyBar(QWidget):
    """Two boxes in a row. `changed` when another vocabulary has been read; `refused` when one cannot be."""

    changed = Signal()
    refused = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._inspector = session, session.inspector
        quick = session.workers.quick
        self._reading = (Channel(self, quick), Channel(self, quick))
        self.first: OpenVocabulary | None = None
        self.second: OpenVocabulary | None = None
        self._wanted: list[Path | None] = [None, None]
        self._offered: list[Path] = []  # beside models and files
        self._followed: Path | None = None
        self.boxes = tuple(
            ModelBox(name, said, session, vocabulary_will_do=True)
            for name, said in (
                ("tokenizer_vocabulary", self.tr("Vocabulary")),
                ("tokenizer_second", self.tr("Second vocabulary")),
            )
        )
        self.about = (ElidedLabel("", "muted"), ElidedLabel("", "muted"))
        self._lay_out()
        for place, box in enumerate(self.boxes):
            box.chosen.connect(self._open_second if place else self._open_first)
            self.about[place].setObjectName(f"{box.objectName()}_about")
        self._inspector.model_changed.connect(self._follow)

    def start(self) -> None:
        """Choose a first vocabulary, if there is none yet: that of the model which is looked into."""
        self._follow()
        if self._wanted[0] is None:
            offered = [str(entry.path) for entry in self._session.library.offered()]
            known = [*offered, *vocabularies(self._session.settings)]
            if known:
                self.choose(known[0])
        self._fill()

    def choose(self, path: Path | str) -> None:
        """Cut with this vocabulary: a model's folder or a vocab.txt."""
        self._read(0, Path(path).absolute())

    def choose_second(self, path: Path | str | None) -> None:
        """Show this vocabulary beside the first; None: no second one."""
        if path is not None:
            self._read(1, Path(path).absolute())
        else:
            self._wanted[1] = self.second = None
            self._reading[1].drop()
            self._fill()
            self.changed.emit()

    def offer(self, paths: Sequence[Path]) -> None:
        """List these vocabularies, too, among those to choose."""
        self._offered = list(paths)
        self._fill()

    @property
    def is_reading(self) -> bool:
        """Whether the first vocabulary is still to come."""
        return self._reading[0].is_asking

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the vocabularies that are open."""
        return tuple(name_of_vocabulary(one.path) for one in (self.first, self.second) if one is not None)

    # ---- reading

    def _read(self, place: int, path: Path) -> None:
        self._wanted[place] = path
        self._fill()
        # the folder may hold another one by now
        self._reading[place].ask(
            path,
            partial(read_vocabulary, path),
            again=True,
            heard=partial(self._take, place),
            refused=partial(self._refuse, place),
        )

    def _take(self, place: int, found: OpenVocabulary) -> None:
        if place:
            self.second = found
        else:
            self.first = found
        self._fill()
        self.changed.emit()

    def _refuse(self, place: int, error: BaseException) -> None:
        before = self.second if place else self.first
        self._wanted[place] = before.path if before else None
        self._fill()
        self.refused.emit(error)

    def _follow(self) -> None:
        """Cut with the vocabulary of the model that is looked into now."""
        folder = self._inspector.folder
        if folder is not None and folder != self._followed and self.isVisible():
            self._followed = folder
            self.choose(folder)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for box in self.boxes:
            box.setFixedWidth(NARROW_BOX if event.size().width() < NARROW else BOX_WIDTH)

    # ---- boxes

    def _open_first(self, path: str) -> None:
        self._remember(path)
        place = Path(path).absolute()
        if is_model(place):  # the other pages look into it too
            self._inspector.choose(place)
        self.choose(place)

    def _open_second(self, path: str) -> None:
        self._remember(path)
        self.choose_second(path or None)

    def _remember(self, path: str) -> None:
        if Path(path).is_file():
            remember_vocabulary(self._session.settings, path, to_train=False)

    def _fill(self) -> None:
        """List what there is to choose, and say what is known of the chosen."""
        settings, file = self._session.settings, self.tr("Choose a vocab.txt…")
        for place, box in enumerate(self.boxes):
            wanted = self._wanted[place]
            files = [BoxChoice(vocabulary_name(path), path, path) for path in vocabularies(settings)]
            files += [BoxChoice(name_of_vocabulary(path), str(path), str(path)) for path in self._offered]
            if wanted is not None and wanted.is_file() and str(wanted) not in [one.data for one in files]:
                files.insert(0, BoxChoice(vocabulary_name(wanted), str(wanted), str(wanted)))
            ask = partial(ask_for_vocabulary, self, settings, box.chosen.emit)
            box.set_own([BoxChoice(self.tr("None"), NONE)] if place else [], files, [(file, ask)])
            box.set_choice(str(wanted) if wanted is not None else NONE if place else None)
            found = self.second if place else self.first
            said = vocabulary_words(found) if found is not None and found.path == wanted else ""
            self.about[place].setText(said)
            self.about[place].setVisible(bool(said) or not place)
            notes = (
                words.sentences(words.say(note) for note in found.notes) if found is not None and said else ""
            )
            self.about[place].setToolTip(tip(notes))

    def _lay_out(self) -> None:
        boxes = row(gap=10)
        captions = (self.tr("Vocabulary"), self.tr("Compare with"))
        for caption, box, about in zip(captions, self.boxes, self.about, strict=True):
            box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            box.setFixedWidth(BOX_WIDTH)
            boxes.addWidget(label(caption, "muted", buddy=box))
            boxes.addWidget(box)
            boxes.addWidget(about, 1)
        column(boxes, *(box.refusal for box in self.boxes), gap=6, parent=self)
        self.boxes[0].setToolTip(self.tr("The model or vocab.txt whose pieces the text is split into"))
        self.boxes[1].setToolTip(self.tr("A second one, to see how it splits the same text"))


def name_of_vocabulary(path: Path) -> str:
    """Return what a vocabulary is called: a model's folder, one that was trained here, or a file."""
    if path.is_relative_to(kinds_root()):
        return {
            "wordpiece": words.translate("tokenizer_words", "WordPiece, small"),
            "byte-level": words.translate("tokenizer_words", "Byte-level BPE, small"),
            "unigram": words.translate("tokenizer_words", "Unigram, small"),
        }.get(path.name, path.name)
    return model_title(path) if path.is_dir() else vocabulary_name(path)
