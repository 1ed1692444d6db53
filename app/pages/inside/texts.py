"""The text that is looked at: boxes A and B, shared by the pages that look inside, and examples to try."""

from __future__ import annotations

import math
from collections.abc import Iterator

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent, QTextBlock
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.look.inputs import TextEdit, ToolButton
from app.look.labels import label
from app.look.layout import row
from app.look.widgets import set_role
from app.pages.inside import sample_menu
from app.session import Session

SETTLE_MS = 250  # after the last key, before a text is studied
MOST_LINES = 3
BORDERS = 16  # above and below the lines, pixels
MARGIN = 4  # within the document


class SharedTextBox(TextEdit):
    """A box that is one line high and grows to three; Enter studies at once, Shift+Enter begins a line."""

    entered = Signal()

    def __init__(self, name: str, accessible: str, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=placeholder, tabChangesFocus=True)
        self._lines = 1  # the most that it had since it was shown
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # its lines wrap
        self.document().setDocumentMargin(MARGIN)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    @property
    def one_line(self) -> int:
        """The height of a box of one line, for what stands beside its first line; pixels."""
        return self.fontMetrics().lineSpacing() + MARGIN + BORDERS

    def put(self, text: str) -> None:
        """Show a text, if it is another one; the cursor stays where it is otherwise."""
        if text != self.toPlainText():
            self.setPlainText(text)

    def _fit(self) -> None:
        wanted = max(1, int(self.document().size().height()))
        heights = [self.blockBoundingRect(b).height() / max(1, b.lineCount()) for b in self._blocks()]
        line = max([*heights, float(self.fontMetrics().lineSpacing())])  # other scripts may be taller
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if wanted > MOST_LINES else policy.ScrollBarAlwaysOff
        )
        self._lines = max(self._lines, min(MOST_LINES, wanted))  # what stands below does not come up again
        self.setFixedHeight(math.ceil(self._lines * line) + BORDERS)

    def _blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid() and block.blockNumber() < MOST_LINES:
            yield block
            block = block.next()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._lines = 1
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lines = 1
            self._fit()

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())


class TextPair(QWidget):
    """A and B beside each other; what is typed becomes the shared text when typing rests."""

    edited = Signal()  # the person changed a text; the inspector has it

    def __init__(
        self,
        session: Session,
        *,
        name: str = "looking",
        with_pair: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._inspector = session.inspector
        self._with_pair = with_pair
        self.box_a = SharedTextBox(f"{name}_text_a", self.tr("Text A"), self.tr("A text to look at"))
        self.box_b = SharedTextBox(f"{name}_text_b", self.tr("Text B"), self.tr("A second text, for a pair"))
        self.examples = ToolButton()
        self.examples.setText(self.tr("Examples"))
        self.examples.setObjectName(f"{name}_examples")
        self.examples.setToolTip(self.tr("Sentences to try"))
        self.examples.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.examples.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.examples.setMenu(self._menu())
        set_role(self.examples, "link")
        self._lay_out()
        self._rest = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._rest.timeout.connect(self.commit)
        for box in (self.box_a, self.box_b):
            box.textChanged.connect(self._typed)
            box.entered.connect(self.commit)
        self._inspector.text_changed.connect(self.take)
        self.take()

    @property
    def text(self) -> str:
        return self.box_a.toPlainText()

    @property
    def text_pair(self) -> str:
        return self.box_b.toPlainText() if self._with_pair else ""

    def take(self) -> None:
        """Show the shared text."""
        for box, text in ((self.box_a, self._inspector.text), (self.box_b, self._inspector.text_pair)):
            box.blockSignals(True)
            box.put(text)
            box.blockSignals(False)

    def commit(self) -> None:
        """Look at what stands in the boxes now."""
        self._rest.stop()
        pair = self.text_pair if self._with_pair else self._inspector.text_pair
        if (self.text, pair) != (self._inspector.text, self._inspector.text_pair):
            self._inspector.set_text(self.text, pair)
            self.edited.emit()

    def _typed(self) -> None:
        self._rest.start()

    def _menu(self) -> QMenu:
        menu = QMenu(self.examples)
        menu.setToolTipsVisible(True)
        sample_menu.fill(menu, self._choose, with_pair=self._with_pair)
        return menu

    def _choose(self, text: str, pair: str) -> None:
        self._inspector.set_text(text, pair)
        self.edited.emit()

    def _lay_out(self) -> None:
        layout = row(parent=self)
        top = Qt.AlignmentFlag.AlignTop
        for letter, box in (("A", self.box_a), ("B", self.box_b)):
            mark = label(letter, f"letter-{letter.lower()}")
            mark.setFixedHeight(self.box_a.one_line)
            layout.addWidget(mark, 0, top)
            layout.addWidget(box, 1, top)
            if letter == "B" and not self._with_pair:
                mark.hide()
                box.hide()
        self.examples.setFixedHeight(self.box_a.one_line)
        layout.addWidget(self.examples, 0, top)
