"""Choosing what to start from: a recent folder, another one, or random weights and a vocabulary."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QLabel, QWidget

from app import words
from app.pages.page_parts import ChoiceBox
from app.session import Session
from app.widgets import label, tip
from engine.model.config import PRESETS, BertConfig, count_parameters

TOOLTIP = Qt.ItemDataRole.ToolTipRole
FOLDER, NEW, BROWSE = "folder", "new", "browse"
USUAL_VOCABULARY = (
    30_522  # words of the published English vocabulary, for the sizes shown before one is chosen
)


def sample_vocabulary() -> Path:
    """Return the English vocabulary that ships with Cloze (Apache-2.0)."""
    return Path(__file__).parent.parent / "samples" / "vocab.txt"


class ModelChooser(QObject):
    """The rows for the model: what is known; size and vocabulary where weights are to be random."""

    asked = Signal()  # another model has been asked for, and is being read

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._parent = parent
        self.box = ChoiceBox("model_choice", self.tr("Model"))
        self.size_box = ChoiceBox("size_choice", self.tr("Size"))
        self.vocab_box = ChoiceBox("vocab_choice", self.tr("Vocabulary"))
        self.size_label = label(self.tr("Size"))
        self.vocab_label = label(self.tr("Vocabulary"))
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName("refusal_model")
        self.refusal.hide()
        self._fill_sizes()
        self.box.activated.connect(self._chosen)
        self.size_box.activated.connect(self._size_chosen)
        self.vocab_box.activated.connect(self._vocab_chosen)
        session.model_changed.connect(self.refresh)
        session.result_changed.connect(self.refresh)
        session.model_problem.connect(self._problem)
        self.refresh()

    def rows(self) -> list[tuple[QLabel | None, QWidget]]:
        """Return the rows in order, each a caption and its widget; a sentence has no caption."""
        model = label(self.tr("Model"))
        found = [(model, self.box), (self.size_label, self.size_box), (self.vocab_label, self.vocab_box)]
        for caption, box in found:
            caption.setBuddy(box)
        return [*found, (None, self.refusal)]

    @Slot()
    def refresh(self) -> None:
        """Show the session's model; fill the box with what was used lately."""
        info = self._session.model
        folders = [path for path in self._session.settings.recent_models if Path(path).is_dir()]
        if info is not None and not info.is_new and info.model not in folders:
            folders.insert(0, info.model)
        self.box.clear()
        for path in folders:
            self.box.addItem(_folder_words(path), (FOLDER, path))
            self.box.setItemData(self.box.count() - 1, tip(QDir.toNativeSeparators(path)), TOOLTIP)
        if folders:
            self.box.insertSeparator(self.box.count())
        self.box.addItem(self.tr("Random weights"), (NEW, ""))
        self.box.addItem(self.tr("Choose a folder…"), (BROWSE, ""))
        self.box.setPlaceholderText(self.tr("Choose what to start from"))
        self.refusal.hide()
        self._show_current()

    def set_locked(self, locked: bool) -> None:
        """Keep everything as it is while a model is in training."""
        for box in (self.box, self.size_box, self.vocab_box):
            box.setEnabled(not locked)

    @Slot()
    def start_from_random_weights(self) -> None:
        """Ask for a new model of the size shown, with the vocabulary used last or the one that ships."""
        self._ask_new(self.size_box.currentData() or "tiny", self._vocabularies()[0])

    def show_refusal(self, text: str) -> None:
        """Say below the box why this model cannot be taken."""
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))

    def _show_current(self) -> None:
        info = self._session.model
        wanted = None if info is None else (NEW, "") if info.is_new else (FOLDER, info.model)
        place = next((i for i in range(self.box.count()) if self.box.itemData(i) == wanted and wanted), -1)
        self.box.setCurrentIndex(place)
        if info is not None and not info.is_new:
            self.box.setItemText(place, info.words)
        for widget in (self.size_label, self.size_box, self.vocab_label, self.vocab_box):
            widget.setVisible(info is not None and info.is_new)
        if info is not None and info.is_new:
            self.size_box.setCurrentIndex(max(0, self.size_box.findData(info.model.removeprefix("new:"))))
            self._fill_vocabularies(info.vocab)

    def _fill_sizes(self) -> None:
        for name, (layers, width, _heads) in PRESETS.items():
            weights = sum(count_parameters(BertConfig.preset(name, USUAL_VOCABULARY)).values())
            text = self.tr("{name} · {layers}×{width} · {count} M").format(
                name=name, layers=layers, width=width, count=words.decimal(weights / 1e6, 0)
            )
            self.size_box.addItem(text, name)

    def _vocabularies(self) -> list[str]:
        """Return the vocabularies to offer, the newest first; never empty."""
        recent = [
            path for path in self._session.settings.value("vocabularies", list[str]()) if Path(path).is_file()
        ]
        sample = str(sample_vocabulary())
        return [*recent, *([sample] if sample not in recent else [])]

    def _fill_vocabularies(self, current: str) -> None:
        self.vocab_box.clear()
        offered = self._vocabularies()
        for path in offered if current in offered or not current else [current, *offered]:
            name = self.tr("English, lower case") if Path(path) == sample_vocabulary() else _file_words(path)
            self.vocab_box.addItem(name, path)
            self.vocab_box.setItemData(
                self.vocab_box.count() - 1, tip(QDir.toNativeSeparators(path)), TOOLTIP
            )
        self.vocab_box.addItem(self.tr("Choose a vocab.txt…"), "")
        self.vocab_box.setCurrentIndex(max(0, self.vocab_box.findData(current)))

    @Slot(int)
    def _chosen(self, index: int) -> None:
        kind, path = self.box.itemData(index) or (None, "")
        if kind == NEW:
            self.start_from_random_weights()
        elif kind == BROWSE:
            self._show_current()
            self.browse()
        elif kind == FOLDER:
            self._ask(path, "")

    @Slot(int)
    def _size_chosen(self, _index: int) -> None:
        self._ask_new(self.size_box.currentData(), self.vocab_box.currentData() or self._vocabularies()[0])

    @Slot(int)
    def _vocab_chosen(self, index: int) -> None:
        path = self.vocab_box.itemData(index)
        if path:
            self._ask_new(self.size_box.currentData(), path)
        else:
            self._show_current()
            self._browse_vocabulary()

    @Slot()
    def browse(self) -> None:
        """Open the dialog for a model folder."""
        dialog = QFileDialog(
            self._parent.window(), self.tr("Choose a model folder"), self._last_folder("models")
        )
        dialog.setObjectName("model_dialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._folder_selected)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _browse_vocabulary(self) -> None:
        dialog = QFileDialog(
            self._parent.window(), self.tr("Choose a vocabulary"), self._last_folder("vocabularies")
        )
        dialog.setObjectName("vocab_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Vocabulary (*.txt)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self._vocabulary_selected)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def _folder_selected(self, path: str) -> None:
        self._ask(path, "")

    @Slot(str)
    def _vocabulary_selected(self, path: str) -> None:
        self._session.settings.set_value(
            "vocabularies", [path, *(v for v in self._vocabularies() if v != path)][:10]
        )
        self._ask_new(self.size_box.currentData() or "tiny", path)

    @Slot(object)
    def _problem(self, error: BaseException) -> None:
        self._show_current()
        self.show_refusal(words.say_error(error))

    def _ask_new(self, size: str, vocab: str) -> None:
        self._ask(f"new:{size}", vocab)

    def _ask(self, model: str, vocab: str) -> None:
        self.refusal.hide()
        self._session.set_model(model, vocab)
        self.asked.emit()

    def _last_folder(self, kind: str) -> str:
        recent = self._session.settings.recent_models if kind == "models" else self._vocabularies()
        return str(Path(recent[0]).parent) if recent else str(Path.home())


def _folder_words(path: str) -> str:
    """Return a folder's name; the run's name for a model that a run has made."""
    folder = Path(path)
    return folder.parent.name if folder.name == "model" else folder.name


def _file_words(path: str) -> str:
    """Return the file's name with its folder, for most vocabularies are named vocab.txt."""
    file = Path(path)
    return f"{file.parent.name}/{file.name}" if file.name == "vocab.txt" else file.name
