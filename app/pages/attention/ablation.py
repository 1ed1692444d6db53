"""The card that says what changes without a head: probabilities before and after, and the switches.

It is told what to show and says what is wanted; asking the model is the page's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.labels import ElidedLabel, label, tip
from app.look.widgets import Card, button, set_role

MOST_ROWS = 6
LEAST_TABLE = 44  # px: the card does not jump between one answer and three
BESIDE = 60  # px around title and link


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One probability, 0 to 1, with all heads on and with some off."""

    name: str
    before: float
    after: float
    tip: str = ""


def digits_for(rows: Sequence[EffectRow]) -> int:
    """Return the decimals that tell every change of a table apart: two, or three where that helps."""
    changed = [row for row in rows if f"{row.before:.3f}" != f"{row.after:.3f}"]
    return 3 if any(f"{row.before:.2f}" == f"{row.after:.2f}" for row in changed) else 2


class EffectsCard(Card):
    """ "If this head is switched off": a small table, the switches, and what attention is not."""

    switch_wanted = Signal()  # the chosen heads off, or on again
    layer_wanted = Signal()
    all_on_wanted = Signal()
    ranking_wanted = Signal()  # which head matters most
    mask_wanted = Signal()  # put [MASK] in place of the locked word

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("attention_effects")
        self._rows: tuple[EffectRow, ...] = ()
        self._make_corner()
        self._stack = QStackedWidget()
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self._stack.setMinimumHeight(LEAST_TABLE)
        self._labels = [self._add_row(place) for place in range(MOST_ROWS)]
        self._grid.setRowStretch(MOST_ROWS, 1)
        self._make_empty()
        self._stack.addWidget(self._table)
        self._stack.addWidget(self._empty)
        self.add(self._stack, 1)
        self._make_switches()
        said = self.tr("Attention shows where a head looks, not why the model decides.")
        self.caution = label(said, "muted", wrap=True)
        self.caution.setObjectName("attention_caution")
        self.add(self.caution)

    def _add_row(self, place: int) -> tuple[QLabel, QLabel, QLabel]:
        labels = ElidedLabel(), label("", "muted"), label("", "strong")
        right = Qt.AlignmentFlag.AlignRight
        self._grid.addWidget(labels[0], place, 0)
        self._grid.addWidget(labels[1], place, 1, right)
        self._grid.addWidget(labels[2], place, 2, right)
        for each in labels:
            each.hide()
        return labels

    def _make_corner(self) -> None:
        self.ranking_link = button(self.tr("Which head matters most?"), "link", name="attention_ranking")
        self.ranking_link.setToolTip(self.tr("Switches each head off alone and sorts by the change."))
        self.ranking_link.clicked.connect(self.ranking_wanted)
        self.ranking_link.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.ranking_link.setMinimumWidth(24)
        self.add_corner(self.ranking_link)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_link()

    def set_title(self, title: str) -> None:
        """Replace the title; what it leaves is the link's."""
        super().set_title(title)
        self._fit_link()

    def _fit_link(self) -> None:
        metrics, full = self.fontMetrics(), self.tr("Which head matters most?")
        needed = self.title_label.sizeHint().width() + metrics.horizontalAdvance(full) + BESIDE
        self.ranking_link.setText(full if self.width() >= needed else self.tr("Rank…"))

    def _make_empty(self) -> None:
        self._empty = QWidget()
        row = QHBoxLayout(self._empty)
        row.setContentsMargins(0, 0, 0, 0)
        self.reason = label("", "muted", wrap=True)
        self.reason.setObjectName("attention_effects_reason")
        self.reason.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.mask_link = button("", "link", name="attention_mask")
        self.mask_link.clicked.connect(self.mask_wanted)
        row.addWidget(self.reason, 1)
        row.addWidget(self.mask_link, 0, Qt.AlignmentFlag.AlignTop)

    def _make_switches(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.switch_button = button(self.tr("Switch off"), name="attention_switch_off")
        self.layer_button = button(self.tr("Layer off"), name="attention_switch_layer")
        self.all_on_link = button(self.tr("All on"), "link", name="attention_all_on")
        self.switch_button.setToolTip(self.tr("Key O. The model runs on without what this head would add."))
        self.layer_button.setToolTip(self.tr("Shift+O. All heads of this layer."))
        self.switch_button.clicked.connect(self.switch_wanted)
        self.layer_button.clicked.connect(self.layer_wanted)
        self.all_on_link.clicked.connect(self.all_on_wanted)
        for each in (self.switch_button, self.layer_button, self.all_on_link):
            row.addWidget(each)
        row.addStretch(1)
        self.body.addLayout(row)

    @property
    def rows(self) -> tuple[EffectRow, ...]:
        """The rows as they are shown."""
        return self._rows

    def texts(self) -> list[str]:
        """Return the rows as a person reads them."""
        digits = digits_for(self._rows)
        return [f"{row.name}  {row.before:.{digits}f} → {row.after:.{digits}f}" for row in self._rows]

    def show_rows(self, rows: Sequence[EffectRow]) -> None:
        """Show what changes; those beyond MOST_ROWS are left out."""
        self._rows = tuple(rows[:MOST_ROWS])
        self._stack.setCurrentWidget(self._table)
        digits = digits_for(self._rows)
        for place, labels in enumerate(self._labels):
            for each in labels:
                each.setVisible(place < len(self._rows))
            if place < len(self._rows):
                _fill(labels, self._rows[place], digits)
        self._table.setAccessibleName("; ".join(self.texts()))

    def show_reason(self, reason: str, mask: str = "") -> None:
        """Say why there is nothing to compare. Args: mask: the word that [MASK] could take the place of."""
        self._rows = ()
        self.reason.setText(reason)
        self.mask_link.setVisible(bool(mask))
        self.mask_link.setText(self.tr("Mask “{word}”").format(word=words.shorten(mask, 16)))
        self._stack.setCurrentWidget(self._empty)


def _fill(labels: tuple[QLabel, QLabel, QLabel], row: EffectRow, digits: int) -> None:
    before, after = f"{row.before:.{digits}f}", f"{row.after:.{digits}f}"
    labels[0].setText(row.name)
    labels[1].setText(f"{before} →")
    labels[2].setText(after)
    set_role(labels[2], "strong" if before != after else "muted")
    for each in labels:
        each.setToolTip(tip(row.tip))
