"""The row of choices above the attention picture: whose attention, pieces or words, block, specials, share.

It shows a `Chosen` and tells which of its fields a person wants changed; it keeps nothing itself.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import ComboBox, Slider
from app.look.labels import label
from app.pages.attention.state import Chosen

LEAST_SHARE = 1  # per cent
ROOMY = 500  # px, enough for the share in words


class _OptionBox(ChoiceBox):
    """A box whose first letters say most."""

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideRight


class AttentionOptions(QWidget):
    """Four boxes and a slider in one line."""

    changed = Signal(str, object)  # a field of Chosen, and what it is to be

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self._boxes: dict[str, ComboBox] = {}
        self._add_boxes(row)
        self._add_slider(row)

    def _add_boxes(self, row: QHBoxLayout) -> None:
        self._add_box(
            row, "of", self.tr("Whose attention"), 10,
            self.tr("The chosen head, or the average of several: Ctrl+click more in the mosaic. Layer, "
                    "all heads: the average of them. Rollout: attention multiplied through all layers up to "
                    "this one, the residual path included (Abnar and Zuidema 2020)."),
            (("heads", self.tr("Head")), ("layer", self.tr("Layer")), ("model", self.tr("All heads")),
             ("rollout", self.tr("Rollout"))),
        )  # fmt: skip
        self._add_box(
            row, "unit", self.tr("Pieces or words"), 9,
            self.tr("Words: attention from a word is the mean of its pieces' rows, to a word the sum."),
            (("pieces", self.tr("Pieces")), ("words", self.tr("Words"))),
        )  # fmt: skip
        self._add_box(
            row, "block", self.tr("Block of the pair"), 10,
            self.tr("Which text looks at which: A→B is from the tokens of A to those of B."),
            (("all", self.tr("A and B")), ("aa", "A → A"), ("ab", "A → B"), ("ba", "B → A"), ("bb", "B → B")),
        )  # fmt: skip
        self._add_box(
            row, "specials", self.tr("Special tokens"), 12,
            self.tr("[CLS] and [SEP] take much attention that nobody needs. No specials: they are hidden. "
                    "Rescaled: hidden, and each row of what is left sums to 1 again."),
            (("show", self.tr("All tokens")), ("hide", self.tr("No specials")),
             ("renormalise", self.tr("Rescaled"))),
        )  # fmt: skip

    def _add_box(
        self, row: QHBoxLayout, name: str, accessible: str, stretch: int, tip: str,
        entries: tuple[tuple[str, str], ...],
    ) -> None:  # fmt: skip
        box = _OptionBox(f"attention_{name}", accessible)
        box.setToolTip(f"<qt>{tip}</qt>")
        for value, text in entries:
            box.addItem(text, value)
        box.activated.connect(lambda _index: self.changed.emit(name, box.currentData()))
        self._boxes[name] = box
        row.addWidget(box, stretch)

    def _add_slider(self, row: QHBoxLayout) -> None:
        self.share = Slider(Qt.Orientation.Horizontal)
        self.share.setRange(LEAST_SHARE, 100)
        self.share.setValue(100)
        self.share.setObjectName("attention_top_share")
        self.share.setAccessibleName(self.tr("Strongest share shown"))
        self.share.setToolTip(self.tr("In each row, only the strongest cells that hold this share of it."))
        self.share.setMinimumWidth(36)
        self.share.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.share.valueChanged.connect(self._share_moved)
        self.share_words = label("", "muted")
        self.share_words.setFixedWidth(self.share_words.fontMetrics().horizontalAdvance("top 100 %") + 6)
        row.addWidget(self.share, 4)
        row.addWidget(self.share_words)
        self._say_share(100)

    @Slot(int)
    def _share_moved(self, percent: int) -> None:
        self._say_share(percent)
        self.changed.emit("top_share", percent / 100)

    def _say_share(self, percent: int) -> None:
        self.share_words.setText(self.tr("top {share}").format(share=words.share(percent / 100, 0)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.share_words.setVisible(event.size().width() >= ROOMY)

    def show_chosen(self, chosen: Chosen, *, has_pair: bool, is_one: bool) -> None:
        """Show what is chosen; emits nothing. Args: is_one: one matrix is shown, not every head's."""
        for name, box in self._boxes.items():
            value: Any = getattr(chosen, name)
            box.setCurrentIndex(max(0, box.findData(value)))
        several = len(chosen.heads)
        text = self.tr("Head") if several == 1 else self.tr("{count} heads")
        self._boxes["of"].setItemText(0, text.format(count=several))
        self._boxes["block"].setVisible(has_pair)
        self._boxes["of"].setEnabled(is_one)
        self.share.setEnabled(is_one)
        if round(chosen.top_share * 100) != self.share.value():
            self.share.blockSignals(True)
            self.share.setValue(round(chosen.top_share * 100))
            self.share.blockSignals(False)
            self._say_share(self.share.value())
