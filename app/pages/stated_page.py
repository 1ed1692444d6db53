"""A page with a state: one value says what a person looks at there, and one way leads back to it.

Whoever has a page show something as a whole, such as a link from another page, calls `show_state`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look.page import Page
from app.plots.figure import Figure
from app.work.page_state import PageState, State
from app.work.texts_read import TextsRead
from engine.errors import UserError


@dataclass(frozen=True, slots=True)
class RowsChoice:
    """Rows that a page can show, as the bar's menu offers them."""

    title: str
    take: Callable[[], object]
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class InBar:
    """What a page shows where that is not what is in hand, or not it alone; the bar above it names it so.

    model: what is shown in place of the model in hand, "": that one. other: what is compared with it.
    wanted: what a model must answer to be offered, see `ModelEntry.fits`. data: what the rows are called that
    are shown, None: the open table. choices: other rows of the page. take_file: has the page show a file that
    was chosen in the menu, after it was opened. has_text, with_pair: whether the text and its pair are shown.
    """

    model: str = ""
    other: str = ""
    wanted: str = ""
    data: str | None = None
    choices: tuple[RowsChoice, ...] = ()
    take_file: Callable[[Path], object] | None = None
    has_text: bool = True
    with_pair: bool = True


class StatedPage(Page, Generic[State]):
    """The base of pages that have a state, of the class `state_kind` in the page's `state.py`.

    A page says what it shows (`state`), has opened what a state is of (`open_state`), says whether that is
    there (`is_open`), and shows the rest of it then (`take_state`). It calls `take_up` whenever something has
    come that a state may have waited for.
    """

    in_bar_changed = Signal()
    reading_changed = Signal()  # what it has read, where nothing in the bar has changed
    state_kind: ClassVar[type[PageState]]

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self._to_show: State | None = None  # until what it is of is open
        self._is_kept = False  # whether that was kept by a window of before, and nobody has asked for it

    @property
    def state(self) -> State:
        """What the page shows. Raises: UserError: there is nothing yet, or nothing that can be kept."""
        raise NotImplementedError

    def show_state(self, state: State) -> None:
        """Show this, as soon as the models it is of are open. It is the only way in."""
        self._to_show, self._is_kept = state, False
        self.open_state(state)
        self.take_up()

    def restore_state(self, state: State) -> None:
        """Show what the page showed when the last window closed, as far as it is still there."""
        if self.goes_on_with(state):
            self.show_state(state)
            self._is_kept = self._to_show is not None

    @property
    def is_state_shown(self) -> bool:
        """Whether what was to be shown has been taken up, or was refused."""
        return self._to_show is None

    def take_up(self) -> None:
        """Show what is still to be shown, where it can be now."""
        state = self._to_show
        if state is None or not self.isVisible() or not self.is_open(state):
            return
        self._to_show = None
        try:
            self.take_state(state)
        except UserError as error:
            if not self._is_kept:
                self.refuse(error)

    def give_up(self, error: BaseException) -> bool:
        """Wait no longer for what cannot be opened, and say why; not of what was kept by a window of before.

        Returns: whether that is said.
        """
        is_said = self._to_show is None or not self._is_kept
        self._to_show = None
        if is_said:
            self.refuse(error)
        return is_said

    def figures_shown(self) -> tuple[Figure, ...]:
        return tuple(one for one in self.findChildren(Figure) if one.isVisible() and not one.is_empty)

    # ---- for the page

    @property
    def in_bar(self) -> InBar:
        """What the bar has to name; a page that overrides it emits `in_bar_changed`."""
        return InBar()

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """What the page has a model or a vocabulary read, the most important first; the banner over it says
        where that is not read. A page that overrides it emits `reading_changed`.
        """
        return ()

    def goes_on_with(self, state: State) -> bool:
        """Whether a state that was kept at the last close is of the model and text that are in hand now."""
        return True

    def open_state(self, state: State) -> None:
        """Choose the models and texts of a state."""

    def is_open(self, state: State) -> bool:
        """Whether the models and texts of a state are there; asked while the page is on screen."""
        return True

    def take_state(self, state: State) -> None:
        """Show a state whose models and texts are there. Raises: UserError: it does not fit them."""
        raise NotImplementedError

    def refuse(self, error: BaseException) -> None:
        """Say in place why something cannot be shown."""
        raise NotImplementedError
