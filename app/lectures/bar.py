"""What stands above a page in a lecture: the scene's title and sentence in large type, which it is,
ways on.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app import words
from app.look.inputs import ComboBox
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import PAGE_MARGIN, icon_button, named, set_role

SIZES = (100, 110, 125, 150, 175, 200)  # per cent
TITLE, SENTENCE, COUNT = 22, 16, 13  # px at 100 %
ICON = 16
LEAST_WIDTH = 320


class LectureBar(QWidget):
    """Title, sentence, n of m; back, on, the size of everything, and the end."""

    stepped = Signal(int)
    size_chosen = Signal(int)
    ended = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lecture_bar")
        set_role(self, "page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it has the keyboard in the place of the page
        self.title = label("", wrap=True, name="lecture_title")
        self.sentence = label("", wrap=True, name="lecture_sentence")
        self.count = label("", "muted", name="lecture_count")
        self.note = label("", "muted", wrap=True, name="lecture_note")
        for text in (self.title, self.sentence, self.note):
            text.setMinimumWidth(LEAST_WIDTH)
        self.back_button = self._button("lecture_back", "chevron-left", self.tr("The previous scene (←)"))
        self.next_button = self._button("lecture_next", "chevron-right", self.tr("The next scene (→)"))
        self.end_button = self._button("lecture_end", "close", self.tr("End the lecture (Esc)"))
        self.size_box = named(ComboBox(), "lecture_size", self.tr("Text size"))
        self.size_box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        for percent in SIZES:
            self.size_box.addItem(words.share(percent / 100, 0), percent)
        self.back_button.clicked.connect(lambda: self.stepped.emit(-1))
        self.next_button.clicked.connect(lambda: self.stepped.emit(1))
        self.end_button.clicked.connect(self.ended)
        self.size_box.activated.connect(self._choose_size)
        controls = row(self.count, self.back_button, self.next_button, self.size_box, self.end_button, gap=6)
        self._row = row((self.title, 1), controls, gap=16)
        self._column = column(self._row, self.sentence, self.note, gap=4, parent=self)
        self.set_size(100)

    def _button(self, name: str, icon: str, said: str) -> QToolButton:
        result = icon_button(icon, said, color="text", name=name)
        result.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys with the page
        return result

    def show_scene(self, title: str, sentence: str, place: int, count: int) -> None:
        """Say what is shown. Args: place: from 0."""
        self.title.setText(title)
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        said = self.tr("{place} of {count}")
        self.count.setText(said.format(place=words.number(place + 1), count=words.number(count)))
        self.show_note("")
        self.back_button.setEnabled(place > 0)
        self.next_button.setEnabled(place < count - 1)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sentence)

    def show_note(self, said: str) -> None:
        """Say what has to be known of how the scene is shown; "": nothing."""
        self.note.setText(said)
        self.note.setVisible(bool(said))

    def set_size(self, percent: int) -> None:
        """Write in another size."""
        factor = percent / 100
        for text, size, is_bold in ((self.title, TITLE, True), (self.sentence, SENTENCE, False)):
            weight = 600 if is_bold else 400
            text.setStyleSheet(f"font-size: {round(size * factor)}px; font-weight: {weight};")
        for text in (self.count, self.note):
            text.setStyleSheet(f"font-size: {round(COUNT * factor)}px;")
        side = round(ICON * factor)
        for one in (self.back_button, self.next_button, self.end_button):
            one.setIconSize(one.iconSize().scaled(side, side, Qt.AspectRatioMode.IgnoreAspectRatio))
        self.size_box.setStyleSheet(f"font-size: {round(COUNT * min(factor, 1.5))}px;")
        edge = round(PAGE_MARGIN * factor)
        self._column.setContentsMargins(edge, round(12 * factor), edge, 0)

    def height_for(self, width: int) -> int:
        """Return how high it is in a window so wide, px."""
        return self._column.totalHeightForWidth(width)

    def show_size(self, percent: int, *, is_less: bool) -> None:
        """Say which size is shown. Args: is_less: than was asked for."""
        self.size_box.choose(percent)
        said = self.tr("The size of all text and pictures (Ctrl++, Ctrl+−)")
        less = self.tr("A larger size does not fit in this window.")
        self.size_box.setToolTip(words.sentences([words.closed(said), less]) if is_less else said)

    def _choose_size(self, place: int) -> None:
        self.size_chosen.emit(int(self.size_box.itemData(place)))
