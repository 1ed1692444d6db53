"""Where a person has been in the window, and the way back there and forward again, as in a browser."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.page_stack import PageStack
from app.pages.stated_page import StatedPage
from app.work.page_state import PageState
from engine.errors import UserError

MOST_PLACES = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A page, and what it showed; state: None where that cannot be said: the page as it stands."""

    key: str
    state: PageState | None = None


class Places(QObject):
    """The places before the one in view, and those that were gone back from."""

    changed = Signal()

    def __init__(self, pages: PageStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages = pages
        self._before: list[Place] = []
        self._after: list[Place] = []
        self.is_held = False  # while something else leads, such as a lecture: nothing is noted

    @property
    def can_go_back(self) -> bool:
        return bool(self._before)

    @property
    def can_go_forward(self) -> bool:
        return bool(self._after)

    def go(self, key: str, state: PageState | None = None) -> None:
        """Show a page. Args: state: what to show there; None: what it shows already."""
        here = self._here()
        if here is not None and not self.is_held and (key, state) != (here.key, None):
            self._before = [*self._before, here][-MOST_PLACES:]
            self._after.clear()
        self._show(Place(key, state))

    def go_back(self) -> None:
        """Show the place before."""
        self._move(self._before, self._after)

    def go_forward(self) -> None:
        """Show the place that was gone back from."""
        self._move(self._after, self._before)

    def _move(self, source: list[Place], target: list[Place]) -> None:
        here = self._here()
        if source and here is not None:
            target.append(here)
            self._show(source.pop())

    def _here(self) -> Place | None:
        key = self._pages.current
        page = self._pages.page_made(key)
        with suppress(UserError):  # there is nothing yet, or nothing that can be kept
            if isinstance(page, StatedPage):
                return Place(key, page.state)
        return Place(key) if key else None

    def _show(self, place: Place) -> None:
        self._pages.show_page(place.key)
        if place.state is not None:
            self._pages.when_made(place.key, lambda page: page.show_state(place.state))
        self.changed.emit()
