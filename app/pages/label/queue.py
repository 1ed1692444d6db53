"""What comes next, and what is found by its words: a line each, and a click brings it into view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from app import words
from app.look.columns import of
from app.look.inputs import EnteredLine
from app.look.labels import label
from app.look.rows_model import RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import Card, named

LONGEST = 300  # characters of a text
WHY_WIDTH, LINE_WIDTH, SEARCH_WIDTH, ROW = 92, 82, 180, 28  # px
NARROW_WHY, NARROW_SEARCH = 88, 96  # px, in a column of its own
HEIGHT, LEAST_HEIGHT = 186, 96  # px


@dataclass(frozen=True, slots=True)
class QueuedText:
    """A text. why: it comes, or the label that it has. line: of the file."""

    place: int
    why: str
    text: str
    line: str


class QueueCard(Card):
    """`wanted`: a person wants to see a text, by its place. `sought`: looks for some words; "": for none."""

    wanted = Signal(int)
    sought = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Next"), parent=parent)
        self.setObjectName("label_queue")
        self.setMaximumHeight(HEIGHT)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.line = named(EnteredLine(), "label_search", self.tr("Search texts (/)"))
        self.line.setMaxLength(200)
        self.line.textChanged.connect(lambda text: self.sought.emit(text.strip()))
        self.line.returnPressed.connect(self._take_first)
        self.add_corner(self.line)
        self.rows, self.view = RowsModel(self), TableView()
        self.view.setObjectName("label_next")
        self.view.setModel(self.rows)
        self.view.choose_rows(ROW, is_one=True)
        self.view.horizontalHeader().hide()
        self.view.set_door(True)
        self.view.row_wanted.connect(lambda row: self.wanted.emit(self.rows.rows[row].place))
        self.nothing = label("", "muted", wrap=True, name="label_nothing_next")
        self.add(self.nothing)
        self.add(self.view, 1)
        self.set_narrow(False)

    def set_narrow(self, is_narrow: bool) -> None:
        """Stand in a narrow column, without the lines of the file, or below a text."""
        self._is_narrow = is_narrow
        self.line.setFixedWidth(NARROW_SEARCH if is_narrow else SEARCH_WIDTH)
        self.line.setPlaceholderText(self.tr("Search (/)") if is_narrow else self.tr("Search texts (/)"))
        self._fit_columns()

    @property
    def is_searching(self) -> bool:
        """Whether what was found stands here."""
        return bool(self.line.text().strip())

    def begin_search(self) -> None:
        """Give the keyboard to the line to search."""
        self.line.setFocus()
        self.line.selectAll()

    def end_search(self) -> None:
        """Show what comes next again."""
        self.line.clear()

    def show_texts(self, texts: Sequence[QueuedText], left: int | None) -> None:
        """Show texts. Args: left: how many have no label yet; None: they were found by their words."""
        self.set_title(self.tr("Next") if left is not None else self.tr("Found"))
        template = self.tr("{count} more") if left is not None else self.tr("{count} texts")
        self.set_hint(template.format(count=words.number(len(texts) if left is None else left)))
        columns = (
            TableColumn("", of("why"), ink="muted"),
            text_column("", of("text"), longest=LONGEST, longest_tip=1000),
            TableColumn("", of("line"), ink="muted"),
        )
        self.rows.put(columns, texts)
        self._fit_columns()
        self.view.setVisible(bool(texts))
        self.nothing.setVisible(not texts)
        self.nothing.setText(
            self.tr("No text comes after this one.")
            if left is not None
            else self.tr("No text has these words.")
        )

    def _fit_columns(self) -> None:
        header = self.view.horizontalHeader()
        if header.count() < 3:
            return  # nothing has come yet
        for place, width in ((0, NARROW_WHY if self._is_narrow else WHY_WIDTH), (2, LINE_WIDTH)):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(place, width)
        header.setStretchLastSection(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionHidden(2, self._is_narrow)

    def _take_first(self) -> None:
        if self.is_searching and self.rows.rows:
            self.wanted.emit(self.rows.rows[0].place)
        else:
            self.left.emit()
