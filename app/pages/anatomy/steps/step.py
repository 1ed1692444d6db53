"""A step as the page tells and paints it: its name, its sentence, its formula, its columns, its number.

What belongs to one step stands in its own class. Which arrays it has is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale, framed, one_scale
from app.pages.anatomy.requests import ChangedAnatomy
from app.pages.anatomy.state import Walk
from app.pages.anatomy.sums import StepSum, worked_out
from app.plots.vector_rows import VectorColumn, VectorPicture
from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.anatomy.working import Spot, vector_of, working
from engine.inspect.attention.weights import Floats

TAKEN = "{x}"  # in a formula: the letter of the first vector of a step


@dataclass(frozen=True, eq=False)
class AnatomyStep:
    """One step; a class of its own says what differs.

    key: stands in scenes and settings. name: what it is called. formula: as HTML, ours, with TAKEN.
    """

    key: str
    name: Callable[[], str]
    formula: str = ""

    formulas: ClassVar[Mapping[str, str]] = {}  # of a single vector, by its kind, where it has one
    is_of_head = False  # it is otherwise in every head
    is_straight = True  # a number goes straight through the columns
    looks_at_rows = False  # a row is a piece that is looked at
    is_on_top = False  # it is of the head on top
    chooses_head = False  # of those on top
    wants_target = False  # the word that stood at the [MASK]
    foot = ""  # the vector below its columns, where it is another

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        """Return what happens in it."""
        raise NotImplementedError

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        """Return what is calculated, from left to right."""
        raise NotImplementedError

    def off_name(self, walk: Walk) -> str:
        """Return what it is called while a part of it is switched off; "" while none is."""
        return ""

    def shown(self, anatomy: Anatomy, walk: Walk) -> tuple[str, ...]:
        """Return the names of the arrays whose numbers can be worked out, from left to right."""
        return tuple(name for name in walk.plan.names(self.key, walk.layer) if name in anatomy)

    def usual(self, anatomy: Anatomy, walk: Walk) -> str:
        """Return the vector that it is about."""
        names = self.shown(anatomy, walk)
        return names[-1] if names else ""

    def usual_number(self, vector: Floats, walk: Walk) -> int:
        """Return the number of a vector that is worked out where none is chosen: the largest."""
        return int(np.abs(vector).argmax())

    def spot(self, anatomy: Anatomy, walk: Walk) -> Spot | None:
        """Return the number that is worked out; None where there is none."""
        name = walk.vector if walk.vector in self.shown(anatomy, walk) else self.usual(anatomy, walk)
        if not name:
            return None
        head = walk.head - 1
        if name.rpartition(".")[2] in vectors.MATRICES:
            return Spot(name, walk.piece, head=head, key=vectors.key_of(anatomy, walk))
        place = 0 if name == "C" else walk.piece
        vector = vector_of(anatomy, Spot(name, place, head=head))
        number = walk.number(vectors.width_of(name))
        number = self.usual_number(vector, walk) if number < 0 else number
        return Spot(name, place, min(number, len(vector) - 1), head)

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        """Return the formula of what is worked out, without a bias that the model does not have."""
        spot, shown = self.spot(anatomy, walk), self.shown(anatomy, walk)
        formula = self.formula if spot is None else self.formulas.get(spot.kind, self.formula)
        if shown:
            formula = formula.replace(TAKEN, f"<i>{vectors.symbol(shown[0])}</i>")
        if spot is not None and not working(anatomy, spot).steps.keys() & {"bias", "beta"}:
            formula = formula.replace(" + <i>b</i>", "").replace(" + β", "")
        activation = vectors.activation_name(anatomy, "" if spot is None else spot.name)
        if activation == "GELU":
            return formula
        return formula.replace("GELU", activation).partition(" = <i>f</i> · Φ")[0]

    def tell(self, anatomy: Anatomy, walk: Walk) -> StepSum:
        """Return what is told of it."""
        spot = self.spot(anatomy, walk)
        sentence, formula = self.sentence(anatomy, walk), self.formula_of(anatomy, walk)
        return StepSum(sentence, formula) if spot is None else worked_out(anatomy, spot, sentence, formula)

    def picture(self, anatomy: Anatomy, walk: Walk, most: int) -> VectorPicture:
        """Return what is painted. Args: most: rows that there is room for."""
        rows = StepRows(anatomy, walk, most, self.shown(anatomy, walk), self.spot(anatomy, walk))
        return framed(rows, self.columns(rows), self.is_straight)

    def is_changed(self, found: ChangedAnatomy, walk: Walk) -> bool:
        """Return whether it shows what is otherwise than before the changes."""
        return any(name in found.changed for name in self.shown(found.now, walk)[-1:])

    def head_on_top(self, anatomy: Anatomy, walk: Walk) -> str:
        """Return the head on top whose answer is shown; "" where the model has none."""
        return vectors.head_on_top(anatomy, walk)

    def choose_row(self, anatomy: Anatomy, walk: Walk, key: int) -> Walk:
        """Return where a click on a row leads."""
        return walk.changed(key=key) if self.looks_at_rows else walk.on_piece(key)


@dataclass(frozen=True, eq=False)
class NormStep(AnatomyStep):
    """Each vector to mean 0 and spread 1, then scaled and shifted."""

    name: Callable[[], str] = lambda: words.translate("anatomy", "Norm")

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        if len(self.shown(anatomy, walk)) == 1:
            return words.translate(
                "anatomy", "The first layer reads what has just been normed, so it has no norm here."
            )
        spot = self.spot(anatomy, walk)
        if spot is not None and "beta" not in working(anatomy, spot).steps:
            return words.translate(
                "anatomy",
                "Each vector is scaled to mean 0 and spread 1. Then each number gets its own "
                "scale γ, which was learned.",
            )
        return words.translate(
            "anatomy",
            "Each vector is scaled to mean 0 and spread 1. Then each number gets its own "
            "scale γ and shift β, which were learned.",
        )

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        return super().formula_of(anatomy, walk) if len(self.shown(anatomy, walk)) > 1 else ""

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        return each_scale(*rows.vectors(*("", "→")[: len(rows.names)]))


@dataclass(frozen=True, eq=False)
class ResidualStep(AnatomyStep):
    """What went in goes round, and is added to what was found.

    which: of the engine's RESIDUALS. added: what is said of it.
    """

    name: Callable[[], str] = lambda: words.translate("anatomy", "+ residual")
    which: str = ""
    added: Callable[[], str] = str

    def off_name(self, walk: Walk) -> str:
        is_off = (walk.layer, self.which) in walk.changes.no_residual
        return words.translate("anatomy", "no residual") if is_off else ""

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        if (walk.layer, self.which) in anatomy.changes.no_residual:
            return words.translate("anatomy", "The input is dropped: only the output is passed on.")
        return self.added()

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        if (walk.layer, self.which) in anatomy.changes.no_residual:
            return self.formula.partition("=")[0] + "= " + self.formula.rpartition("+ ")[2]
        return super().formula_of(anatomy, walk)

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        is_off = (rows.walk.layer, self.which) in rows.anatomy.changes.no_residual
        went_in, found, total = rows.vectors("", "" if is_off else "+", "=")
        if is_off:
            went_in = replace(went_in, hint=words.translate("anatomy", "dropped"), is_off=True)
        return one_scale(went_in, found, total)
