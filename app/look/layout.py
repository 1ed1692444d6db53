"""Rows, columns and forms: a layout is one expression that reads in the order of what is seen.

Gaps and margins are what is written, never the platform style's. An item is a widget or another layout; in
a tuple with its share of the spare room, how it is aligned, or both; STRETCH is empty room. A widget's own
layout is made with `parent`:

    column(title, row(self.box, (self.path, 1), browse), (self.table, 1), gap=GAP, parent=self)
    row(STRETCH, cancel, (go, Qt.AlignmentFlag.AlignTop))
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.look.labels import label

STRETCH: Final = "stretch"  # empty room, which takes what is to spare
Part: TypeAlias = QWidget | QLayout
Item: TypeAlias = (
    Part
    | tuple[Part, int]
    | tuple[Part, Qt.AlignmentFlag]
    | tuple[Part, int, Qt.AlignmentFlag]
    | Literal["stretch"]
)
Margins: TypeAlias = int | tuple[int, int, int, int]  # px: on all sides, or left, top, right, bottom
FIRST_LINE = 7  # px above the first line of a box of several
_Box = TypeVar("_Box", bound=QBoxLayout)


def row(*items: Item, gap: int = 8, margins: Margins = 0, parent: QWidget | None = None) -> QHBoxLayout:
    """Return a layout of items beside each other. Args: gap: px between them. parent: whose layout it is."""
    return _filled(QHBoxLayout(), items, gap, margins, parent)


def column(*items: Item, gap: int = 8, margins: Margins = 0, parent: QWidget | None = None) -> QVBoxLayout:
    """Return a layout of items under each other. Args: gap: px between them. parent: whose layout it is."""
    return _filled(QVBoxLayout(), items, gap, margins, parent)


def form_rows(
    *rows: tuple[str | QLabel | None, Part],
    role: str = "",
    gap: int = 8,
    caption_gap: int = 12,
    margins: Margins = 0,
    parent: QWidget | None = None,
) -> QGridLayout:
    """Return captions at the left of what they name, which takes the spare room.

    A caption in words becomes a label of the role that names its widget; with None the widget stands over
    both columns. Args: gap: px between rows. caption_gap: px between a caption and its widget.
    """
    grid = QGridLayout()
    if parent is not None:
        parent.setLayout(grid)
    set_margins(grid, margins)
    grid.setVerticalSpacing(gap)
    grid.setHorizontalSpacing(caption_gap)
    grid.setColumnStretch(1, 1)
    for place, (caption, part) in enumerate(rows):
        if isinstance(caption, str):
            caption = label(caption, role, buddy=part if isinstance(part, QWidget) else None)
        if caption is not None:
            grid.addWidget(caption, place, 0)
            if isinstance(part, QPlainTextEdit):  # of several lines: it stands beside the first
                caption.setContentsMargins(0, FIRST_LINE, 0, 0)
                grid.setAlignment(caption, Qt.AlignmentFlag.AlignTop)
        across = (place, 0, 1, 2) if caption is None else (place, 1, 1, 1)
        if isinstance(part, QWidget):
            grid.addWidget(part, *across)
        else:
            grid.addLayout(part, *across)
    return grid


def stacked(*widgets: QWidget) -> QStackedWidget:
    """Return a widget that shows one of some, at first the first."""
    made = QStackedWidget()
    for one in widgets:
        made.addWidget(one)
    return made


def dialog_buttons(accept: QPushButton, reject: QPushButton) -> QDialogButtonBox:
    """Return a dialog's two buttons at its right, in the order that this platform's people expect.

    `accept` answers Enter. Connect the buttons themselves.
    """
    box = QDialogButtonBox()
    box.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
    box.addButton(reject, QDialogButtonBox.ButtonRole.RejectRole)
    accept.setDefault(True)
    inner = box.layout()
    assert inner is not None  # the box made it
    inner.setSpacing(8)
    return box


def set_margins(layout: QLayout, margins: Margins) -> None:
    """Set the px that stay empty around a layout."""
    sides = (margins,) * 4 if isinstance(margins, int) else margins
    layout.setContentsMargins(*sides)


def _filled(
    layout: _Box, items: tuple[Item, ...], gap: int, margins: Margins, parent: QWidget | None
) -> _Box:
    if parent is not None:
        parent.setLayout(layout)
    set_margins(layout, margins)
    layout.setSpacing(gap)
    for item in items:
        if isinstance(item, str):
            layout.addStretch(1)
            continue
        part, *how = item if isinstance(item, tuple) else (item,)
        aligned = [one for one in how if isinstance(one, Qt.AlignmentFlag)]  # a flag is an int, too
        stretch = next((one for one in how if not isinstance(one, Qt.AlignmentFlag)), 0)
        if isinstance(part, QWidget):
            layout.addWidget(part, stretch)
        else:
            layout.addLayout(part, stretch)
        for one in aligned:
            layout.setAlignment(part, one)
    return layout
