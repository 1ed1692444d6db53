"""The boxes for the text of the whole window, opened from the bar: text, pair, recent texts, samples.

What is typed is looked at on the page behind as soon as typing rests; Enter closes, Esc too.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import button, set_role
from app.pages.inside import sample_menu
from app.pages.inside.texts import SETTLE_MS, SharedTextBox
from app.session import Session

WIDTH = 560  # px
MOST_SHOWN, LONGEST = 5, 76  # recent texts; characters


class TextEditor(QFrame):
    """Lies over the page, below the bar. Args: with_pair: whether the page shows a second text."""

    def __init__(self, session: Session, *, with_pair: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("text_editor")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        set_role(self, "card")
        self.setFixedWidth(WIDTH)
        self._inspector, self._with_pair = session.inspector, with_pair
        self.text = SharedTextBox("editor_text", self.tr("Text"), self.tr("A text to look at"))
        self.pair = SharedTextBox("editor_pair", self.tr("Second text"), self.tr("A second text, for a pair"))
        self.text.put(self._inspector.text)
        self.pair.put(self._inspector.text_pair)
        self._rest = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._rest.timeout.connect(self.commit)
        self._lay_out()
        for box in (self.text, self.pair):
            box.textChanged.connect(self._rest.start)
            box.entered.connect(self.close)
        self._show_pair(bool(self._inspector.text_pair))

    def _lay_out(self) -> None:
        keys = label(self.tr("Enter closes · Shift+Enter begins a line"), "muted")
        self.add_pair = button(self.tr("+ pair"), "link", name="editor_add_pair", call=self._begin_pair)
        self.add_pair.setToolTip(self.tr("Add a second text: the model reads both as a pair"))
        self.remove_pair = button(self.tr("Remove"), "link", name="editor_remove_pair", call=self._end_pair)
        self._second = QWidget()
        set_role(self._second, "clear")
        head = row(label(self.tr("Second text"), "muted"), STRETCH, self.remove_pair)
        column(head, self.pair, gap=4, parent=self._second)
        parts = column(
            row(label(self.tr("Text"), "card-title"), STRETCH, keys), self.text, self._second,
            row(self.add_pair, STRETCH, self._samples()), margins=(14, 10, 14, 12), parent=self,
        )  # fmt: skip
        recent = [
            one
            for one in self._inspector.recent_texts
            if one != (self.text.toPlainText(), self.pair.toPlainText())
        ]
        if recent:
            parts.addWidget(label(self.tr("Recent texts"), "caption"))
        for place, one in enumerate(recent[:MOST_SHOWN], start=1):
            said = words.shorten("  +  ".join(text for text in one if text), LONGEST)
            link = button(said.replace("&", "&&"), "link", name=f"editor_recent_{place}")
            link.clicked.connect(partial(self._take, *one))
            parts.addWidget(link)

    def _samples(self) -> QPushButton:
        made = button(self.tr("Samples…"), "link", name="editor_samples")
        menu = QMenu(made)
        menu.setToolTipsVisible(True)
        sample_menu.fill(menu, self._take, with_pair=self._with_pair)
        made.clicked.connect(lambda: menu.popup(made.mapToGlobal(QPoint(0, made.height()))))
        return made

    def open_below(self, anchor: QWidget) -> None:
        """Show it under what was clicked, within the window, the caret in the text."""
        window = anchor.window()
        left = min(anchor.mapTo(window, QPoint(0, 0)).x(), window.width() - WIDTH - 8)
        self.move(
            window.mapToGlobal(QPoint(max(8, left), anchor.mapTo(window, QPoint(0, anchor.height())).y() + 4))
        )
        self.show()
        self.text.setFocus(Qt.FocusReason.PopupFocusReason)
        self.text.selectAll()

    # ---- what is typed

    def commit(self) -> None:
        """Look at what stands in the boxes now."""
        self._rest.stop()
        pair = self.pair.toPlainText() if self._with_pair else self._inspector.text_pair
        self._inspector.set_text(self.text.toPlainText(), pair)

    def _show_pair(self, is_shown: bool) -> None:
        self._second.setVisible(is_shown and self._with_pair)
        self.add_pair.setVisible(not is_shown and self._with_pair)
        self.adjustSize()

    def _begin_pair(self) -> None:
        self._show_pair(True)
        self.pair.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_pair(self) -> None:
        self.pair.put("")
        self._show_pair(False)
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self.commit()

    def _take(self, text: str, pair: str, _checked: bool = False) -> None:
        self._rest.stop()
        self._inspector.set_text(text, pair if self._with_pair else self._inspector.text_pair)
        for box, put in ((self.text, text), (self.pair, pair)):
            box.blockSignals(True)
            box.put(put)
            box.blockSignals(False)
        self.close()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._rest.isActive():
            self.commit()
