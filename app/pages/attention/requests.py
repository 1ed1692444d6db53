"""What the Attention page has asked and holds: the look at its text, the other it is compared with, pictures.

Of each kind only the newest question is answered; an old answer stays until a new one comes.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from app import words
from app.pages.attention.state import Chosen, Comparison
from app.pages.attention.tasks import (
    Asked,
    Looked,
    detail_task,
    look_task,
    masses_task,
    mosaic_task,
    picture_task,
)
from app.work.inspector import Laboratory
from engine.errors import UserError
from engine.inspect.attention.views import View
from engine.inspect.attention.weights import Look

KEYS = (
    "attention",
    "attention_other",
    "attention_picture",
    "attention_masses",
    "attention_mosaic",
    "attention_detail",
    "attention_effects",
    "attention_measures",
    "attention_table",
    "attention_ranking",
)
LOOKS = KEYS[:2]


class Desk(QObject):
    """Asks the laboratory for looks and for what is drawn from them, and tells when they are there."""

    looked_changed = Signal()
    drawn = Signal(object)  # Drawn
    mosaic_composed = Signal(object)  # MosaicPicture
    masses_summed = Signal(object)  # BlockMasses, None for a rollout
    detail_found = Signal(object)  # Detail
    failed = Signal(object)
    busy_changed = Signal()

    def __init__(self, laboratory: Laboratory, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._laboratory = laboratory
        self._began = 0.0
        self._mosaic_of: object = None
        self.looked: Looked | None = None
        self.other: Looked | None = None
        self.look_seconds = 0.0  # how long the last look took

    @property
    def is_looking(self) -> bool:
        """Whether a look is under way."""
        return any(self._laboratory.is_asking(key) for key in LOOKS)

    def study(self, asked: Asked) -> None:
        """Look at a text; `looked_changed` follows."""
        if self.looked is not None and self.looked.asked == asked:
            self._laboratory.drop("attention")
            return
        self._began = time.perf_counter()
        self._ask_look("attention", asked)

    def compare(self, asked: Asked | None) -> None:
        """Look at what is to be subtracted; None: nothing any more."""
        if asked is None:
            self._laboratory.drop("attention_other")
            self.other = None
        elif self.other is None or self.other.asked != asked:
            self._ask_look("attention_other", asked)

    def forget(self) -> None:
        """Let go of the looks: the text cannot be read."""
        for key in KEYS:
            self._laboratory.drop(key)
        self.looked = self.other = self._mosaic_of = None

    def _ask_look(self, key: str, asked: Asked) -> None:
        heard = self._take_look if key == "attention" else self._take_other
        self._laboratory.ask(
            key, partial(look_task, asked), heard=heard, failed=self.failed.emit, ended=self.busy_changed.emit
        )
        self.busy_changed.emit()

    def _take_look(self, looked: Looked) -> None:
        self.looked = looked
        self.look_seconds = time.perf_counter() - self._began
        self.looked_changed.emit()

    def _take_other(self, looked: Looked) -> None:
        self.other = looked
        self.looked_changed.emit()

    # ---- what is drawn from them

    def draw(self, chosen: Chosen) -> None:
        """Ask for all that the chosen view shows."""
        if not self.fits(chosen) or self.looked is None:
            return
        if chosen.picture in ("heatmap", "arcs"):
            self._ask_picture(chosen)
        elif chosen.picture == "query_key":
            self._ask_detail(chosen)

    def fits(self, chosen: Chosen) -> bool:
        """Whether there is a look, of a model of the shape that the choice is for."""
        look = self.looked.look if self.looked is not None else None
        return look is not None and look.attentions.shape[:2] == chosen.shape

    def _ask_picture(self, chosen: Chosen) -> None:
        assert self.looked is not None
        look = self.looked.look
        wanted = chosen.view(look.text_pair is not None)
        other: Look | None = None
        other_wanted: View | None = None
        if chosen.comparison is not None:
            other = look if chosen.comparison.kind == "head" else self._other_look
            if other is None:
                return  # it is on its way
            try:
                other_wanted = other_view(chosen, wanted, other)
            except UserError as error:
                self.failed.emit(error)
                return
        self._ask_masses(chosen, look)
        arcs = chosen.picture == "arcs"
        self._laboratory.ask(  # last: of what waits, the newest is answered first
            "attention_picture",
            partial(picture_task, look, wanted, other, other_wanted, with_arcs=arcs),
            heard=self.drawn.emit,
            failed=self.failed.emit,
            light=True,
        )

    def _ask_masses(self, chosen: Chosen, look: Look) -> None:
        if chosen.of == "rollout":  # of which blocks have no masses that add up
            self._laboratory.drop("attention_masses")
            self.masses_summed.emit(None)
            return
        task = partial(masses_task, look, chosen.shown_heads())
        heard = self.masses_summed.emit
        self._laboratory.ask("attention_masses", task, heard=heard, failed=self.failed.emit, light=True)

    @property
    def _other_look(self) -> Look | None:
        return self.other.look if self.other is not None else None

    def _ask_detail(self, chosen: Chosen) -> None:
        assert self.looked is not None
        last = self.looked.look.num_tokens - 1
        place = min(chosen.locked, last) if chosen.locked >= 0 else min(1, last)
        task = partial(detail_task, self.looked, chosen.current, place)
        self._laboratory.ask("attention_detail", task, heard=self.detail_found.emit, failed=self.failed.emit)

    def draw_mosaic(self, chosen: Chosen) -> None:
        """Ask for the mosaic, where it would be another one than the last."""
        if not self.fits(chosen) or self.looked is None:
            return
        plain = replace(chosen, heads=((0, 0),), of="heads", top_share=1.0)
        wanted = plain.view(self.looked.look.text_pair is not None)
        if self._mosaic_of == (self.looked, wanted):
            return
        self._mosaic_of = (self.looked, wanted)
        self._laboratory.ask(
            "attention_mosaic",
            partial(mosaic_task, self.looked.look, wanted),
            heard=self.mosaic_composed.emit,
            failed=self.failed.emit,
            light=True,
        )


def other_view(chosen: Chosen, wanted: View, other: Look) -> View:
    """Return what to show of the other side of a comparison. Raises: UserError if it has no such heads."""
    against = chosen.comparison
    if against is not None and against.head is not None:
        return replace(wanted, heads=(against.head,), rollout=None)
    shape = other.attentions.shape[:2]
    heads = replace(chosen, shape=shape).shown_heads()
    missing = [head for head in (*heads, chosen.current) if head[0] >= shape[0] or head[1] >= shape[1]]
    if missing and not (chosen.of == "model" and heads):
        raise UserError(
            words.translate(
                "attention",
                "{name} has {layers} layers of {heads} heads: there is no layer {layer}, head {head}. "
                "Choose a head that both models have.",
            ),
            name=other.model_name,
            layers=shape[0],
            heads=shape[1],
            layer=missing[0][0] + 1,
            head=missing[0][1] + 1,
        )
    return replace(wanted, heads=heads)


def other_asked(asked: Asked, against: Comparison | None) -> Asked | None:
    """Return what has to be looked at for a comparison; None where the look that there is will do."""
    if against is None or against.kind == "head":
        return None
    if against.kind == "text":
        return replace(
            asked, text=against.text, text_pair=against.text_pair if against.text_pair.strip() else None
        )
    assert against.folder is not None
    return Asked(against.folder, asked.text, asked.text_pair)
