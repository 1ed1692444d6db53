"""A picture of heads: its words, its widget, what it asks, and which choices stand around it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.pages.attention import captions, requests
from app.pages.attention.requests import AttentionDrawing
from app.pages.attention.state import AttentionChoice
from app.plots.buttons import yield_to_layout
from app.plots.figure import Figure
from app.work.models import OpenModels
from engine.inspect.attention.weights import AttentionMaps

LEAST_HEIGHT = 160  # px


@dataclass(frozen=True)
class PictureQuestion:
    """What a picture is made by. about: all that it depends on."""

    about: Hashable
    work: Callable[[], Any]


@dataclass(frozen=True)
class PictureSource:
    """What a picture may be made from. other: what is compared with, once it is there."""

    maps: AttentionMaps
    chosen: AttentionChoice
    other: AttentionMaps | None
    models: OpenModels


class HeadPicture(QObject):
    """One picture; a class of its own says what differs. Its key stands in scenes and settings."""

    key = ""
    name = ""  # of its figure's object
    has_options = True  # whose attention, units, block, specials
    is_one = True  # of one matrix, not of every head
    is_matrix = False  # one cell for each two tokens: it may be a difference, and block masses stand below
    is_quick = True  # asks no model
    takes: type | None = None  # the answers that it paints
    fills_page = False  # nothing stands beside it
    is_mosaic = False  # every head, beside which the heads are a list

    changed = Signal(str, object)  # a field of AttentionChoice
    locked = Signal(int)  # the token's place in the encoding, -1 for none
    head_chosen = Signal(int, int)
    head_added = Signal(int, int)
    anatomy_wanted = Signal()  # of the row that is explained

    figure: QWidget

    def stand(self, figure: Figure) -> None:
        """Make a figure the picture's."""
        self.figure = figure
        figure.setObjectName(f"attention_{self.name or self.key}")
        yield_to_layout(figure, LEAST_HEIGHT)

    @property
    def label(self) -> str:
        """What its tab is called."""
        raise NotImplementedError

    @property
    def tip(self) -> str:
        """What it shows."""
        raise NotImplementedError

    @property
    def saved(self) -> Figure | None:
        """The picture that can be saved; None for a tab that holds several."""
        return self.figure if isinstance(self.figure, Figure) else None

    @property
    def link(self) -> QWidget | None:
        """What stands below it, while it is shown."""
        return None

    def title(self, chosen: AttentionChoice) -> str:
        """Return the title over it: whose attention it shows."""
        return captions.title(chosen)

    def question(self, seen: PictureSource) -> PictureQuestion | None:
        """Return what it asks of its own; None: nothing, or not yet."""
        return None

    def show_answer(self, answer: Any, chosen: AttentionChoice) -> None:
        """Paint what was answered."""

    def show_chosen(self, chosen: AttentionChoice, title: str) -> None:
        """Show which heads are chosen, and which token's row."""

    def clear(self, why: str) -> None:
        """Show nothing, and say why."""


class MatrixPicture(HeadPicture):
    """A picture of one matrix, or of the difference of two; a row of it can be locked."""

    is_matrix = True
    takes = AttentionDrawing
    drawn: AttentionDrawing | None = None

    def question(self, seen: PictureSource) -> PictureQuestion | None:
        chosen, other = replace(seen.chosen, locked=-1, off=frozenset()), None
        if chosen.comparison is not None:
            other = seen.maps if chosen.comparison.kind == "head" else seen.other
            if other is None:
                return None  # it is on its way
        return PictureQuestion(
            (seen.maps, chosen, other), partial(requests.draw_view, seen.maps, chosen, other)
        )

    def lock_row(self, row: int) -> None:
        """Tell which token's row is locked. Args: row: as it is shown; -1 for none."""
        if self.drawn is not None:
            self.locked.emit(self.drawn.shown.row_places[row][0] if row >= 0 else -1)

    def row_of(self, place: int) -> int:
        """Return the row that stands for a token, -1 if none on screen does."""
        if self.drawn is None or place < 0:
            return -1
        rows = self.drawn.shown.row_places
        return next((row for row, places in enumerate(rows) if place in places), -1)
