"""Rows, columns and forms: a layout is one expression that reads in the order of what is seen.

Gaps and margins are what is written, never the platform style's. An item is a widget or another layout; in
a tuple with its share of the spare room, how it is aligned, or both; STRETCH is empty room. A widget's own
layout is made with `parent`:

    column(title, row(self.box, (self.path, 1), browse), (self.table, 1), gap=GAP, parent=self)
    row(STRETCH, cancel, (go, Qt.AlignmentFlag.AlignTop))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, TypeVar

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
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


class FoldingRow(QWidget):
    """Items beside each other, or under each other where there is less room than they ask for.

    Args: is_late: only where there is less than they can do with. needed: the px that they can do with.
    """

    turned = Signal(bool)  # whether they are under each other now

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        gap: int = 8,
        is_late: bool = False,
        needed: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(parent)
        late = (lambda: self._beside(self._least())) if is_late else (lambda: self.sizeHint().width())
        self._needed = needed or late
        self._row = row(gap=gap, parent=self)
        self._parts: list[Part] = []

    def put(self, *items: Item) -> None:
        """Add items, as `row` takes them; none is STRETCH."""
        _fill(self._row, items)
        self._parts += [item[0] if isinstance(item, tuple) else item for item in items if item != STRETCH]

    def minimumSizeHint(self) -> QSize:
        return QSize(max(self._least(), default=0), self._row.minimumSize().height())

    def sizeHint(self) -> QSize:
        wanted = [part.sizeHint().width() for part in self._shown()]
        return QSize(self._beside(wanted), self._row.sizeHint().height())

    def _least(self) -> list[int]:
        """Return the px that each item can do with."""
        return [
            (part.minimumSizeHint() if isinstance(part, QWidget) else part.minimumSize()).width()
            for part in self._shown()
        ]

    def _beside(self, widths: Sequence[int]) -> int:
        return sum(widths) + self._row.spacing() * max(0, len(widths) - 1)

    def _shown(self) -> list[Part]:
        return [
            part
            for part in self._parts
            if not (part.isEmpty() if isinstance(part, QLayout) else part.isHidden())
        ]

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            beside, under = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
            before, now = self._row.direction(), beside if self._needed() <= self.width() else under
            if now != before:
                self._row.setDirection(now)
                self.turned.emit(now == under)
        return super().event(event)


class FlowRow(QWidget):
    """Widgets beside each other, over as many lines as they take; it sets its height itself."""

    def __init__(self, *widgets: QWidget, gap: int = 8, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gap = gap
        self._parts = list[QWidget]()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for widget in widgets:
            self.add(widget)

    def add(self, widget: QWidget) -> None:
        """Add a widget at the end."""
        self._parts.append(widget)
        widget.setParent(self)
        self._place()

    def sizeHint(self) -> QSize:
        shown = [part.sizeHint().width() for part in self._shown()]
        return QSize(sum(shown) + self._gap * max(0, len(shown) - 1), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(max((part.minimumSizeHint().width() for part in self._shown()), default=0), 0)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._place()
        return super().event(event)

    def _shown(self) -> list[QWidget]:
        return [part for part in self._parts if not part.isHidden()]

    def _place(self) -> None:
        lines, taken = [list[tuple[QWidget, QSize]]()], 0
        for part in self._shown():
            size = part.sizeHint().expandedTo(part.minimumSize()).boundedTo(part.maximumSize())
            if lines[-1] and taken + size.width() > self.width():
                lines.append([])
                taken = 0
            lines[-1].append((part, size))
            taken += size.width() + self._gap
        top = 0
        for line in lines:
            left, height = 0, max((size.height() for _part, size in line), default=0)
            for part, size in line:
                place = QRect(left, top + (height - size.height()) // 2, size.width(), size.height())
                part.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))
                left += size.width() + self._gap
            top += height + self._gap
        self.setFixedHeight(max(0, top - self._gap))
        self.updateGeometry()


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
    _fill(layout, items)
    return layout


def _fill(layout: QBoxLayout, items: tuple[Item, ...]) -> None:
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
