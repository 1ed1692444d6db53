"""Learning a vocabulary from text files: which files, how many pieces, capitals or not, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QProgressBar,
    QWidget,
)

from app import words
from app.look.files import ask_files, ask_save
from app.look.inputs import SpinBox
from app.look.labels import ElidedLabel, label
from app.look.layout import STRETCH, column, form_rows, row
from app.look.widgets import DIALOG_MARGINS, button, named, set_role, tidy_spin
from app.pages.choose.new_model import remember_vocabulary
from app.session import Session
from app.work.worker import Channel
from engine.events import Event, Progress, Steps
from engine.text.corpus.corpus import Corpus, find_files
from engine.text.corpus.new_vocabulary import train_vocabulary, write_vocab

USUAL_SIZE = 8_192


class LearnDialog(QDialog):
    """Deletes itself when closed. `learned`: where the vocab.txt was saved."""

    learned = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tokenizer_learn_dialog")
        self.setWindowTitle(self.tr("Train a vocabulary"))
        self._session, self._learning = session, Channel(self, session.workers.files)
        self._files: list[str] = []
        self.files_label = ElidedLabel(self.tr("no file yet"), "muted")
        self.files_button = button(self.tr("Choose…"), name="tokenizer_learn_files", call=self._choose_files)
        pieces = SpinBox(minimum=128, maximum=1_000_000, value=USUAL_SIZE, singleStep=1_000)
        self.pieces = tidy_spin(named(pieces, "tokenizer_learn_size"), 110)
        self.pieces.setGroupSeparatorShown(True)
        self.cased = named(QCheckBox(self.tr("Keep capitals and accents")), "tokenizer_learn_cased")
        self.said = label("", "muted", wrap=True, name="tokenizer_learn_said")
        self.progress = QProgressBar(textVisible=False)
        self.cancel_button = button(self.tr("Cancel"), name="tokenizer_learn_cancel")
        self.learn_button = button(self.tr("Train and save…"), "primary", name="tokenizer_learn_start")
        self._lay_out()
        self.cancel_button.clicked.connect(self.reject)
        self.learn_button.clicked.connect(self._choose_place)
        self.finished.connect(self._leave)
        self._show_busy(False)

    def set_files(self, files: Sequence[str]) -> None:
        """Learn from these text files."""
        self._files = list(files)
        names = words.listed(Path(path).name for path in files)
        self.files_label.setText(names or self.tr("no file yet"))
        self._show_busy(False)

    def learn(self, path: Path | str) -> None:
        """Learn, and save the vocabulary as `path`."""
        self._say("muted", self.tr("Reading the text"))
        self._show_busy(True)
        asked = (tuple(self._files), self.pieces.value(), not self.cased.isChecked(), Path(path))
        # the files may have changed
        self._learning.ask(
            asked,
            partial(learn, *asked),
            again=True,
            heard=self._take,
            refused=self._refuse,
            progress=self._show_progress,
        )

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress.setRange(0, event.total)
            self.progress.setValue(event.done)
            self._say("muted", words.say(event.sentence))

    def _take(self, path: Path) -> None:
        remember_vocabulary(self._session.settings, str(path))
        self.learned.emit(str(path))
        self.accept()

    def _refuse(self, error: BaseException) -> None:
        self._show_busy(False)
        self._say("refusal", words.say_error(error))

    def _say(self, role: str, text: str) -> None:
        set_role(self.said, role)
        self.said.setText(text)

    def _show_busy(self, busy: bool) -> None:
        self.progress.setVisible(busy)
        for widget in (self.files_button, self.pieces, self.cased):
            widget.setEnabled(not busy)
        self.learn_button.setEnabled(not busy and bool(self._files))
        self.learn_button.setToolTip("" if self._files else self.tr("Choose a text first"))
        self.cancel_button.setText(self.tr("Stop") if busy else self.tr("Cancel"))

    def _leave(self) -> None:
        self._learning.drop()
        self.deleteLater()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._learning.drop()
        super().closeEvent(event)

    def _choose_files(self) -> None:
        filters = [self.tr("Texts (*.txt *.text *.md *.txt.gz *.txt.xz)"), self.tr("All files (*)")]
        name = "tokenizer_learn_files_dialog"
        ask_files(self, self.tr("Choose text files"), self.set_files, name=name, filters=filters)

    def _choose_place(self) -> None:
        ask_save(
            self,
            self.tr("Save the vocabulary"),
            self.learn,
            name="tokenizer_learn_save_dialog",
            suggested=Path(self._files[0]).absolute().parent / "vocab.txt",
            filters=[self.tr("Vocabulary (*.txt)")],
            suffix="txt",
        )

    def _lay_out(self) -> None:
        self.setMinimumWidth(460)
        said = self.tr(
            "The most frequent pair of pieces in the text becomes a piece, again and again. "
            "The same text always gives the same vocabulary."
        )
        fields = form_rows(
            (self.tr("Text"), row((self.files_label, 1), self.files_button)),
            (label(self.tr("Pieces"), buddy=self.pieces), row(self.pieces, STRETCH)),
            ("", self.cased),
            gap=10,
            caption_gap=14,
        )
        column(
            label(said, "muted", wrap=True),
            fields,
            self.progress,
            self.said,
            row(STRETCH, self.cancel_button, self.learn_button),
            gap=14,
            margins=DIALOG_MARGINS,
            parent=self,
        )


def learn(files: tuple[str, ...], size: int, lowercase: bool, path: Path) -> Steps[Path]:
    """Save a vocabulary that was learned from files; return where.

    Raises: UserError of the text, the size or the disk.
    """
    corpus = Corpus(tuple(find_files(files)))
    wordpiece = yield from train_vocabulary(corpus, size=size, lowercase=lowercase)
    write_vocab(path, wordpiece)
    return path
