"""The card of a tour: a title, a few words, which step it is, and the ways on; and where it stands."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import CARD_X, GAP, button, set_role
from app.words import closed, phrases, sentences

WIDTH = 306  # px
WAY_ON = 68  # px, of the button whose words change while a pointer rests on it
MARGIN = 12  # px, to the window's edges
REACH = 8  # px that the ring takes around what it is about


class TourCard(QFrame):
    """Says one step; knows nothing of what it speaks of."""

    next_wanted = Signal()
    back_wanted = Signal()
    leave_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tour_card")
        set_role(self, "card")
        self.setFixedWidth(WIDTH)
        self.title = label("", "card-title", wrap=True, name="tour_title")
        self.words = label("", wrap=True, name="tour_words")
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.count = label("", "muted", name="tour_count")
        leave = self.tr("Leave the tour (Esc)")
        self.leave_button = button(self.tr("Leave"), "link", name="tour_leave", tool_tip=leave)
        self.back_button = button(self.tr("Back"), name="tour_back", call=self.back_wanted)
        keys = self.tr("Enter or the right arrow key")
        self.next_button = button(self.tr("Next"), "primary", name="tour_next", tool_tip=keys)
        self.next_button.setMinimumWidth(WAY_ON)
        self.leave_button.clicked.connect(self.leave_wanted)
        self.next_button.clicked.connect(self.next_wanted)
        self._column = column(
            row((self.title, 1), (self.count, Qt.AlignmentFlag.AlignTop), gap=12),
            self.words,
            row(self.leave_button, STRETCH, self.back_button, self.next_button, margins=(0, 4, 0, 0)),
            margins=(CARD_X, GAP, CARD_X, GAP),
            parent=self,
        )

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons that can be pressed now, in the order of the Tab key."""
        every = (self.next_button, self.leave_button, self.back_button)
        return [one for one in every if one.isEnabled()]

    def show_step(self, title: str, count: str, *, is_first: bool) -> None:
        """Show another step; its words follow."""
        self.title.setText(title)
        self.count.setText(count)
        self.back_button.setEnabled(not is_first)
        self.setAccessibleName(title)

    def show_way_on(self, *, is_skip: bool, is_last: bool) -> None:
        """Say what the way on does: skip what takes long, go on, or end."""
        said = self.tr("Done") if is_last else self.tr("Skip") if is_skip else self.tr("Next")
        if said != self.next_button.text():
            self.next_button.setText(said)

    def show_words(self, words: str) -> None:
        """Show what the step says now."""
        if words == self.words.text():
            return
        self.words.setText(words)
        self.setAccessibleDescription(words)
        self.next_button.setAccessibleDescription(sentences((closed(self.title.text()), words)))
        self.setFixedHeight(self._column.totalHeightForWidth(WIDTH))

    def announce(self) -> None:
        """Let a screen reader read the step out."""
        said = sentences((closed(phrases((self.title.text(), self.count.text()))), self.words.text()))
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))


def place(hole: QRect | None, card: QSize, window: QRect, clear: QRect | None = None) -> QPoint:
    """Return where a card stands: beside the hole, else below or above it, else in a corner of it.

    Args: clear: what it does not cover either, where that can be helped.
    """
    room = window.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
    if hole is None or not hole.isValid():
        return QRect(QPoint(), card).translated(room.center() - QRect(QPoint(), card).center()).topLeft()
    ring = hole.adjusted(-REACH, -REACH, REACH, REACH)
    wishes = (
        QPoint(ring.right() + MARGIN, hole.top()),
        QPoint(ring.left() - MARGIN - card.width(), hole.top()),
        QPoint(hole.right() - card.width() + 1, ring.bottom() + MARGIN),
        QPoint(hole.right() - card.width() + 1, ring.top() - MARGIN - card.height()),
    )
    places = [_inside(QRect(wish, card), room) for wish in wishes]
    right, bottom = hole.right() - card.width() - MARGIN, hole.bottom() - card.height() - MARGIN
    corners = (
        QPoint(right, bottom),
        QPoint(hole.left() + MARGIN, bottom),
        QPoint(right, hole.top() + MARGIN),
    )
    beside = [at for at in places if not at.intersects(ring)]
    within = [_inside(QRect(corner, card), room) for corner in corners]
    free = [at for at in (*beside, *within) if clear is None or not at.intersects(clear)]
    return (free or beside or within)[0].topLeft()


def _inside(rect: QRect, room: QRect) -> QRect:
    """Return the rectangle moved into the room; at its upper left where it is larger."""
    x = max(room.left(), min(rect.left(), room.right() - rect.width() + 1))
    y = max(room.top(), min(rect.top(), room.bottom() - rect.height() + 1))
    return QRect(QPoint(x, y), rect.size())
