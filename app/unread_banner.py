"""The banner over the pages: so many pieces are unknown to this model, and the way out.

There is one for the whole window. A page says what it has read (`StatedPage.texts_read`); what is counted
there is told here, comes with the texts and the model, and goes with them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.banner import Banner
from app.look.layout import row
from app.look.widgets import PAGE_MARGIN
from app.pages.run.state import RunPageState
from app.pages.stated_page import StatedPage
from app.session import Session
from app.work.later import later
from app.work.texts_read import ASK, FINE_TUNE, OPEN, START, TextsRead
from app.work.worker import Channel

if TYPE_CHECKING:
    from app.work.unread import UnreadAnswer, find_unread
else:
    find_unread = later("app.work.unread", "find_unread")

GAP_ABOVE = 6  # px, while it is shown
CHINESE = "Chinese"  # as `engine.text.languages` marks it


class UnreadBanner(Banner):
    """One sentence, and the button that leads on. It computes nothing on the window's thread."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, name="unread_banner")
        self._session, self._asked = session, Channel(self, session.workers.quick)
        self._page: StatedPage[Any] | None = None
        self._counted: tuple[TextsRead, ...] = ()  # that was asked about last, and what came out
        self._answer: UnreadAnswer | None = None
        self._told: TextsRead | None = None  # of what is shown
        self._closed: tuple[TextsRead, ...] = ()  # a person has read of it
        self._soon = QTimer(self, singleShot=True, interval=0)  # several things often change at once
        self._soon.timeout.connect(self._look)
        self.place = row(self, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 0))  # in the window
        self.closed.connect(self._dismissed)
        for changed in (
            session.inspector.model_changed,
            session.inspector.text_changed,
            session.data.roles_changed,
            session.data.mends.changed,
            session.model.changed,
            session.model.max_length_changed,
        ):
            changed.connect(self.refresh)

    @property
    def is_looking(self) -> bool:
        """Whether something is still to be counted."""
        return self._soon.isActive() or self._asked.is_asking

    def show_page(self, page: QWidget | None) -> None:
        """Tell what a page has read from now on. Args: page: None: it is not made yet."""
        if self._page is not None:
            self._page.in_bar_changed.disconnect(self.refresh)
            self._page.reading_changed.disconnect(self.refresh)
        self._page = page if isinstance(page, StatedPage) else None
        if self._page is not None:
            self._page.in_bar_changed.connect(self.refresh)
            self._page.reading_changed.connect(self.refresh)
        self.hide()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.place.setContentsMargins(PAGE_MARGIN, GAP_ABOVE, PAGE_MARGIN, 0)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.place.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, 0)

    def refresh(self) -> None:
        """Look again at what the page in view has read."""
        self._soon.start()

    def _look(self) -> None:
        read = () if self._page is None else self._page.texts_read
        if not read:
            self._asked.drop()
            self.hide()
        elif read == self._counted:
            self._asked.drop()
            self._tell()
        else:
            work = partial(find_unread, read)
            self._asked.ask(read, work, heard=partial(self._hear, read))

    def _hear(self, read: tuple[TextsRead, ...], answer: UnreadAnswer) -> None:
        self._counted, self._answer = read, answer
        self._tell()

    def _tell(self) -> None:
        """Say what was counted last, unless a person has closed that."""
        read = self._answer.read if self._answer is not None else None
        found = self._answer.found if self._answer is not None else None
        if read is None or found is None or self._counted == self._closed:
            self.hide()
            return
        if read == self._told and not self.isHidden():  # its button may have the keyboard
            return
        self._told, said = read, words.say(found.sentence)
        if found.none_reads is not None and read.own is None:
            said = words.sentences([said, words.say(found.none_reads)])
        button, deed = self._way(read, found.reader, found.language == CHINESE)
        self.show_text("look", said, [(button, lambda: self._do(deed))])

    def _do(self, deed: Callable[[], object]) -> None:
        deed()

    def _way(
        self, read: TextsRead, reader: Path | None, is_chinese: bool
    ) -> tuple[str, Callable[[], object]]:
        """Return the words of the button, and what it does."""
        if read.own is not None:
            return read.own
        if reader is None:
            return self.tr("Find a model"), partial(self._session.show_page, "models")
        named = {
            OPEN: (self.tr("Open an English one"), self.tr("Open a Chinese one")),
            START: (self.tr("Start from an English one"), self.tr("Start from a Chinese one")),
            FINE_TUNE: (self.tr("Fine-tune an English one"), self.tr("Fine-tune a Chinese one")),
            ASK: (self.tr("Ask the English family"), self.tr("Ask the Chinese family")),
        }
        return named[read.deed][is_chinese], partial(read.take or self._fine_tune, reader)

    def _fine_tune(self, reader: Path) -> None:
        self._session.model.choose(str(reader))
        self._session.show_page("finetune", RunPageState())

    def _dismissed(self) -> None:
        self._closed = self._counted
