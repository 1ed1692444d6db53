"""The card that says which model answers, and what it says of itself."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_folder
from app.look.labels import label, tip
from app.look.widgets import Card
from app.pages.predict.requests import Described
from app.session import Session
from app.work.titles import model_title
from engine.errors import ModelError
from engine.inspect.predict import read_info


class ModelCard(Card):
    """The model in use: the last one trained, one used lately, or a folder."""

    chosen = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Model"))
        self._session = session
        self._folder: Path | None = None
        self.box = ChoiceBox("predict_model", self.tr("Model"))
        self.words = label("", "muted", wrap=True)
        self.words.setObjectName("model_words")
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName("refusal_predict_model")
        self.pairs = QCheckBox(self.tr("It reads pairs of texts"))
        self.pairs.setObjectName("model_reads_pairs")
        self.pairs.setToolTip(self.tr("The folder does not say if it was trained on single texts or pairs."))
        self.pairs.hide()
        self.add(self.box)
        self.add(self.words)
        self.add(self.pairs)
        self.add(self.refusal)
        self.show_words("")
        self.show_refusal("")
        self.refresh()
        self.box.activated.connect(self._activated)

    @property
    def first(self) -> str:
        """Return the model to ask where none was chosen: the last trained, or used; "" for none."""
        return str(self.box.itemData(0) or "")

    @property
    def is_refused(self) -> bool:
        return bool(self.refusal.text())

    def show_folder(self, folder: Path) -> None:
        """Show which model is asked from now on."""
        self._folder = folder
        self.pairs.setChecked(False)
        self.pairs.hide()
        self.show_words("")
        self.show_refusal("")
        self.refresh()

    def show_words(self, text: str) -> None:
        """Say something of the model."""
        self.words.setText(text)
        self.words.setVisible(bool(text))

    def show_refusal(self, text: str) -> None:
        """Say why the model cannot be asked."""
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))

    def show_description(self, described: Described) -> None:
        """Say what the model does and how good it was."""
        self.pairs.setVisible(described.may_want_pair)
        count = words.number(len(described.labels))
        task = (
            self.tr("Two texts → {count} labels")
            if described.wants_pair
            else self.tr("One text → {count} labels")
        )
        lines = [f"{task.format(count=count)}: {words.shorten(', '.join(described.labels), 60)}"]
        if described.max_length:
            lines.append(
                self.tr("Reads up to {count} pieces").format(count=words.number(described.max_length))
            )
        data, trained = described.info.get("data"), described.info.get("trained")
        if isinstance(data, dict) and data.get("name"):
            lines.append(self.tr("Trained on {name}").format(name=words.shorten(str(data["name"]), 40)))
        if isinstance(trained, dict) and isinstance(trained.get("value"), float):
            rows = trained.get("rows")
            value = words.with_interval(trained["value"], rows if isinstance(rows, int) else 0)
            lines.append(self.tr("Validation accuracy {value}").format(value=value))
        self.show_words("\n".join(lines))

    def refresh(self) -> None:
        """Fill the box with the models there are."""
        current = str(self._folder) if self._folder else ""
        last = str(self._session.last_model) if self._session.last_model else ""
        self.box.clear()
        for folder in self._session.library.folders(current, last):
            path = current if current and folder == Path(current).absolute() else str(folder)
            if path == current or _is_classifier(folder):
                self.box.addItem(model_title(folder), path)
                native = tip(QDir.toNativeSeparators(path))
                self.box.setItemData(self.box.count() - 1, native, Qt.ItemDataRole.ToolTipRole)
        self.box.addItem(self.tr("Choose a folder…"), "")
        self.box.setPlaceholderText(self.tr("Choose a trained model"))
        self.box.setCurrentIndex(self.box.findData(current) if current else -1)

    @Slot(int)
    def _activated(self, index: int) -> None:
        path = self.box.itemData(index)
        if path:
            self.chosen.emit(path)
            return
        self.refresh()
        title = self.tr("Choose a trained model")
        ask_folder(self, title, self.chosen.emit, name="predict_model_dialog")


def _is_classifier(folder: Path) -> bool:
    """Whether a folder's notes say that it was fine-tuned here; damaged ones are offered, to be told of."""
    if not (folder / "cloze.json").is_file():
        return False
    try:
        return bool(read_info(folder).get("task") == "classification")
    except ModelError:
        return True
