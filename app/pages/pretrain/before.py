"""The right side of the Pretrain page before a run: the text, its size and time, examples, pins."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from app.look.widgets import GAP, set_role
from app.pages.pretrain.advice import TextFacts
from app.pages.pretrain.findings import Findings
from app.pages.pretrain.outlook import OutlookCard
from app.pages.pretrain.pins import PinsCard
from app.pages.pretrain.preview import PreviewCard
from app.pages.pretrain.report import TextCard

NARROW = 600  # px; below, the cards stand in one column
LEAST_TEXT, LEAST_PREVIEW, LEAST_PINS = 224, 176, 160


class SetupView(QScrollArea):
    """Four cards: two columns where there is room, one where there is not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.text, self.outlook = TextCard(), OutlookCard()
        self.examples, self.pins = PreviewCard(), PinsCard()
        self.text.setMinimumHeight(LEAST_TEXT)
        self.examples.setMinimumHeight(LEAST_PREVIEW)
        self.pins.setMinimumHeight(LEAST_PINS)
        inner = QWidget()
        set_role(inner, "clear")
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._narrow: bool | None = None
        self.setWidget(inner)
        self._arrange(False)

    def show_findings(self, findings: Findings, facts: TextFacts | None, *, mended: bool) -> None:
        """Show what is known now. Args: facts: of the text; None: none is chosen. mended: none is refused."""
        has_text = facts is not None
        if facts is not None:
            self.text.show_findings(findings, facts)
            self.examples.show_findings(findings)
        else:
            self.text.show_nothing()
            self.examples.show_nothing()
        self.outlook.show_findings(findings, has_text=has_text, mended=mended)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(event.size().width() < NARROW)

    def _arrange(self, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        cards = (self.text, self.outlook, self.examples, self.pins)
        places = ((0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 1, 2), (2, 0, 1, 2))
        if narrow:
            places = ((0, 0, 1, 1), (2, 0, 1, 1), (1, 0, 1, 1), (3, 0, 1, 1))
        for card, place in zip(cards, places, strict=True):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, *place)
        self._grid.setRowStretch(1, 1)  # the examples take what is left
        for column, stretch in enumerate((1, 0) if narrow else (1, 1)):
            self._grid.setColumnStretch(column, stretch)
