"""The dialog that asks what to compare with: another head, another text, another model or checkpoint."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QGridLayout,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from app.look.inputs import SpinBox, TextEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, button, named, tidy_spin
from app.pages.attention.state import AttentionChoice, AttentionComparison
from app.pages.choose.model_box import BoxChoice, ModelBox
from app.pages.inside.texts import BORDERS
from app.session import Session

WIDTH = 460


class CompareDialog(QDialog):
    """Three kinds of other; `compared` tells the one that was chosen."""

    compared = Signal(object)  # AttentionComparison

    def __init__(
        self,
        session: Session,
        chosen: AttentionChoice,
        kept: list[tuple[str, Path]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("attention_compare")
        self.setWindowTitle(self.tr("Compare with"))
        self.setMinimumWidth(WIDTH)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._kinds = QButtonGroup(self)
        self.radios: dict[str, QRadioButton] = {}
        self._add_kind("head", self.tr("Another head"), self._head_row(chosen))
        inspector = session.inspector
        self._add_kind("text", self.tr("Another text"), self._text_boxes(inspector.text, inspector.text_pair))
        self._add_kind("model", self.tr("Another model"), self._model_row(session, kept))
        self.radios["head"].setChecked(True)
        self._lay_out()
        self._show_state()
        for radio in self.radios.values():
            radio.toggled.connect(self._show_state)

    def _add_kind(self, kind: str, words: str, choice: QWidget) -> None:
        radio = named(QRadioButton(words), f"compare_{kind}")
        self._kinds.addButton(radio)
        self.radios[kind] = radio
        place = self._grid.rowCount()
        self._grid.addWidget(radio, place, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(choice, place, 1)

    def _head_row(self, chosen: AttentionChoice) -> QWidget:
        self.spins: dict[str, SpinBox] = {}
        captions = {"layer": self.tr("layer"), "head": self.tr("head")}
        suggested = chosen.step(heads=1).current
        for place, (name, words) in enumerate(captions.items()):
            spin = SpinBox(minimum=1, maximum=chosen.shape[place], value=suggested[place] + 1)
            tidy_spin(named(spin, f"compare_{name}_number", words), 64)
            spin.valueChanged.connect(lambda _value: self.radios["head"].setChecked(True))
            self.spins[name] = spin
        choice = QWidget()
        spins = [(label(captions[name], "muted"), spin) for name, spin in self.spins.items()]
        row(*(each for pair in spins for each in pair), STRETCH, parent=choice)
        return choice

    def _text_boxes(self, text: str, pair: str) -> QWidget:
        self._shown = (text, pair)
        self.boxes: list[QPlainTextEdit] = []
        for name, content, hint in (
            ("a", text, self.tr("Text A")),
            ("b", pair, self.tr("Text B, empty for none")),
        ):
            box = TextEdit(content, placeholderText=hint, tabChangesFocus=True)
            named(box, f"compare_text_{name}", hint)
            box.setFixedHeight(2 * box.fontMetrics().lineSpacing() + BORDERS + 4)
            box.textChanged.connect(self._text_typed)
            self.boxes.append(box)
        choice = QWidget()
        column(*self.boxes, gap=6, parent=choice)
        return choice

    def _model_row(self, session: Session, kept: list[tuple[str, Path]]) -> QWidget:
        self.model_box = ModelBox("compare_model_box", self.tr("Another model or checkpoint"), session)
        self.model_box.setPlaceholderText(self.tr("Choose a model"))
        steps = [BoxChoice(name, str(path), str(path)) for name, path in kept]
        self.model_box.set_own(steps, leave_out=session.inspector.folder)
        self.model_box.chosen.connect(self.take_folder)
        choice = QWidget()
        column(self.model_box, self.model_box.refusal, gap=6, parent=choice)
        return choice

    def _lay_out(self) -> None:
        said = self.tr("The picture becomes the difference: the current view minus what you choose here.")
        self.go = button(self.tr("Compare"), "primary", name="compare_go", call=self._accept)
        self.go.setDefault(True)
        cancel = button(self.tr("Cancel"), name="compare_cancel")
        cancel.clicked.connect(self.reject)
        column(
            label(said, "muted", wrap=True),
            self._grid,
            row(STRETCH, cancel, self.go, gap=GAP),
            gap=GAP,
            margins=(20, 16, 20, 16),
            parent=self,
        )

    def _text_typed(self) -> None:
        self.radios["text"].setChecked(True)
        self._show_state()

    def take_folder(self, folder: str) -> None:
        """Choose a model, or weights that were kept."""
        self.model_box.set_choice(folder)
        self.radios["model"].setChecked(True)
        self._show_state()

    def comparison(self) -> AttentionComparison | None:
        """Return what is chosen; None where it lacks something."""
        if self.radios["head"].isChecked():
            return AttentionComparison(
                "head", (self.spins["layer"].value() - 1, self.spins["head"].value() - 1)
            )
        if self.radios["text"].isChecked():
            text, pair = (box.toPlainText() for box in self.boxes)
            is_other = bool(text.strip()) and (text, pair) != self._shown
            return AttentionComparison("text", text=text, text_pair=pair) if is_other else None
        folder = self.model_box.currentData()
        if not folder:
            return None
        return AttentionComparison("model", folder=Path(folder), name=self.model_box.currentText())

    def _show_state(self) -> None:
        is_ready = self.comparison() is not None
        self.go.setEnabled(is_ready)
        is_same = not is_ready and self.radios["text"].isChecked()
        self.go.setToolTip(self.tr("Change a text first. These are already shown.") if is_same else "")

    def _accept(self) -> None:
        found = self.comparison()
        if found is not None:
            self.compared.emit(found)
            self.accept()
