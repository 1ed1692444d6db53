"""What the picture of a step is made from: its rows, columns over them, their colours, and the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.state import Walk
from app.plots.layered import value_words
from app.plots.vector_rows import VectorColumn, VectorPicture, VectorRowHeader
from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.anatomy.working import Spot

STRONG = 0.995  # of the numbers have less than full colour


def shown_places(anatomy: Anatomy, walk: Walk, most: int) -> list[int]:
    """Return the pieces that have a row, in order: all, or the chosen one with those around it and
    those that it looks at most.
    """
    places = np.arange(anatomy.num_tokens)
    if len(places) <= most:
        return [int(i) for i in places]
    near = np.argsort(np.abs(places - walk.piece), kind="stable")
    weights = anatomy[f"layer.{walk.layer}.softmax"][walk.head - 1, walk.piece]
    looked = np.argsort(-weights, kind="stable")
    first = [walk.piece, vectors.key_of(anatomy, walk)]
    in_turn = np.stack([near, looked], 1).ravel()
    return sorted(list(dict.fromkeys([*first, *map(int, in_turn)]))[: most - 1])


class StepRows:
    """The rows of a step, and columns over them.

    Args: names: of the arrays that it shows. spot: the number that is worked out.
    """

    def __init__(
        self, anatomy: Anatomy, walk: Walk, most: int, names: tuple[str, ...], spot: Spot | None
    ) -> None:
        self.anatomy, self.walk, self.names, self.spot = anatomy, walk, names, spot
        self.places = shown_places(anatomy, walk, most)
        self.others = [i for i in range(anatomy.num_tokens) if i not in set(self.places)]
        self.own, self.head = f"layer.{walk.layer}.", walk.head - 1

    def heads(self) -> tuple[VectorRowHeader, ...]:
        tokenizer, ids = self.anatomy.about.wordpiece, self.anatomy.ids
        specials = {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id}
        pieces = self.anatomy.pieces
        found = [
            VectorRowHeader(pieces[place], place, place == self.walk.piece, ids[place] in specials)
            for place in self.places
        ]
        if self.others:
            said = words.translate("anatomy", "{count} others").format(count=words.number(len(self.others)))
            found.append(VectorRowHeader(said, -1, is_quiet=True))
        return tuple(found)

    def array(self, name: str) -> np.ndarray:
        """Return an array's rows, (R, N); of the others, nothing."""
        array = self.anatomy[name]
        whole = array[self.head] if array.ndim == 3 else array
        return self.of(whole[self.places])

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return values of the rows, with none for the others."""
        if not self.others:
            return np.asarray(values)
        return np.concatenate([values, np.full((1, *values.shape[1:]), np.nan, values.dtype)])

    def texts(self, said: Sequence[str]) -> tuple[str, ...]:
        return (*(said[place] for place in self.places), *([""] if self.others else []))

    def vector(self, name: str, sign: str = "", hint: str = "", **how: object) -> VectorColumn:
        """Return a column of stripes of one of the arrays."""
        values = self.array(name)
        if not hint:
            hint = words.translate("anatomy", "{count} numbers").format(count=words.number(values.shape[-1]))
        column = VectorColumn(
            vectors.title(self.anatomy, name), values=values, sign=sign, hint=hint, name=name
        )
        return replace(column, **how)  # type: ignore[arg-type]

    def vectors(self, *signs: str) -> list[VectorColumn]:
        """Return a column of each array that is shown, with what is done before it."""
        return [self.vector(name, sign) for name, sign in zip(self.names, signs, strict=True)]


def full_colour(columns: Sequence[VectorColumn], *, whole: np.ndarray | None = None) -> float:
    """Return what full colour stands for: what nearly all numbers of some columns stay below."""
    arrays = [column.values for column in columns if column.values is not None] if whole is None else [whole]
    found = np.concatenate([np.abs(array[np.isfinite(array)]).ravel() for array in arrays])
    return float(np.quantile(found, STRONG)) if found.size else 0.0


def one_scale(*columns: VectorColumn) -> list[VectorColumn]:
    """Return columns whose full colour stands for the same."""
    top = full_colour(columns)
    return [replace(column, top=top) for column in columns]


def each_scale(*columns: VectorColumn) -> list[VectorColumn]:
    """Return columns whose full colour stands for what each has."""
    return [replace(column, top=full_colour([column])) for column in columns]


def framed(rows: StepRows, columns: list[VectorColumn], is_straight: bool) -> VectorPicture:
    """Return the picture with its frame: the chosen number, in every column that it goes straight through."""
    spot, frame, framed_row, count = rows.spot, {}, -1, ""
    if spot is not None and spot.kind in vectors.MATRICES:
        framed_row = rows.places.index(spot.key) if spot.key in rows.places else -1
    elif spot is not None:
        width = vectors.width_of(spot.name)
        for place, column in enumerate(columns):
            if not column.name or column.values is None or column.values.ndim != 2:
                continue
            same = (
                is_straight
                and vectors.width_of(column.name) == width
                and column.values.shape[1] > spot.number
            )
            if column.name == spot.name or same or (spot.name == "C" and column.name == "T"):
                frame[place] = spot.number
        size = rows.anatomy[spot.name].shape[-1]
        count = words.translate("anatomy", "number {number} of {count}").format(
            number=words.number(spot.number + 1), count=words.number(size)
        )
    return VectorPicture(rows.heads(), tuple(columns), frame, framed_row, _legend(columns), count)


def _legend(columns: Sequence[VectorColumn]) -> str:
    """Return what full colour stands for, column by column; together where it is the same."""
    tops: dict[float, list[str]] = {}
    for column in columns:
        if column.kind == "stripes" and column.top:
            tops.setdefault(column.top, []).append(column.title)
    if not tops:
        return ""
    parts = [
        words.translate("anatomy", "{value} in {vectors}").format(
            value=value_words(top), vectors=words.listed(names)
        )
        for top, names in tops.items()
    ]
    return words.translate("anatomy", "full colour from {parts}").format(parts=words.clauses(parts))
