"""What the Attention page asks the workers: looks, pictures, mosaics, measures, effects.

Each function is a task: it yields `Progress` and one `Answer`. Those that get a bench run where the models
are; pictures are composed beside them, from looks that are not changed any more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.pages.attention.state import Head
from app.plots.attention_image import Picture, compose, compose_mosaic
from app.work.inspector import Bench
from app.work.worker import Answer
from engine.errors import marked
from engine.events import Event, Progress
from engine.inspect.attention import ablation as switches
from engine.inspect.attention import weights as attention
from engine.inspect.attention.ablation import Effects, EveryHead, Watched
from engine.inspect.attention.head_measures import TableMeasures, measure, over_table
from engine.inspect.attention.views import (
    BlockMasses,
    Cells,
    Shown,
    View,
    block_masses,
    difference,
    strongest,
    tiles,
    view,
)
from engine.inspect.attention.weights import Detail, Look
from engine.inspect.subject import Subject
from engine.text.examples import Roles
from engine.text.table import Table

ARCS = 300  # at most, of the strongest
MASK = "[MASK]"
MOST_GUESSES = 4  # words of each [MASK] that are followed, less one for every [MASK]
TILE = 96  # cells along a side of a mosaic's tile, as sharp as a wide screen shows

PALE = 4.0  # times an even share of the attention; the strongest colour is at least that

STAGE = marked("engine", "Looking")


@dataclass(frozen=True, slots=True)
class Asked:
    """A text, or pair, as one model reads it with some heads off."""

    folder: Path
    text: str
    text_pair: str | None = None
    off: frozenset[Head] = frozenset()


@dataclass(frozen=True, eq=False, slots=True)
class Looked:
    """A look and what was asked for it."""

    asked: Asked
    look: Look


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """All that the window needs to paint one view. cells: of the arcs, None where they are not asked for."""

    wanted: View
    shown: Shown
    picture: Picture
    cells: Cells | None


def switched(subject: Subject, off: frozenset[Head]) -> np.ndarray | None:
    """Return (L, H) bool, False where a head of this model is off; None when all are on."""
    if not off:
        return None
    on = switches.all_on(subject)
    for layer, head in off:
        on[layer, head] = False
    return on


def pale(seen: Look) -> float:
    """Return the least value of the strongest colour, so that a head that looks everywhere alike is pale."""
    return PALE / seen.num_tokens


def look_task(asked: Asked, bench: Bench) -> Iterator[Event]:
    """Answer with a `Looked`. Raises: UserError, ModelError."""
    yield Progress(stage=STAGE, done=0, total=0)
    subject = bench.subject(asked.folder)
    seen = attention.look(subject, asked.text, asked.text_pair, on=switched(subject, asked.off))
    yield Answer(value=Looked(asked, seen))


def picture_task(
    seen: Look,
    wanted: View,
    other: Look | None,
    other_wanted: View | None,
    _bench: Bench,
    *,
    with_arcs: bool = True,
) -> Iterator[Event]:
    """Answer with a `Drawn`: a view, or its difference from another. Raises: UserError."""
    yield Progress(stage=STAGE, done=0, total=0)
    shown = view(seen, wanted) if other is None else difference(seen, other, wanted, other_wanted)
    strongest_value = float(shown.values.max(initial=0.0))
    top = None if shown.signed else max(strongest_value, pale(seen))
    picture = compose(shown.values, top=top, signed=shown.signed)
    yield Answer(value=Drawn(wanted, shown, picture, strongest(shown, ARCS) if with_arcs else None))


def masses_task(seen: Look, heads: tuple[Head, ...], _bench: Bench) -> Iterator[Event]:
    """Answer with `BlockMasses` of the shown heads."""
    yield Progress(stage=STAGE, done=0, total=0)
    found: BlockMasses = block_masses(seen, heads)
    yield Answer(value=found)


def mosaic_task(seen: Look, wanted: View, _bench: Bench) -> Iterator[Event]:
    """Answer with a `MosaicPicture` of all heads. Raises: UserError."""
    yield Progress(stage=STAGE, done=0, total=0)
    yield Answer(value=compose_mosaic(tiles(seen, wanted, TILE)))


def measures_task(seen: Look, _bench: Bench) -> Iterator[Event]:
    """Answer with each measure of each head over one text, name -> (L, H)."""
    yield Progress(stage=STAGE, done=0, total=0)
    yield Answer(value=measure(seen))


def table_task(folder: Path, table: Table, roles: Roles, bench: Bench) -> Generator[Event, None, None]:
    """Answer with `TableMeasures` over an open table; yields Progress. Raises: DataError, UserError."""
    yield Progress(stage=STAGE, done=0, total=0)
    found: TableMeasures = yield from over_table(bench.subject(folder), table, roles)
    yield Answer(value=found)


def detail_task(looked: Looked, head: Head, place: int, bench: Bench) -> Iterator[Event]:
    """Answer with a `Detail`: how a head came to look from one token at the others."""
    yield Progress(stage=STAGE, done=0, total=0)
    found: Detail = attention.detail(bench.subject(looked.asked.folder), looked.look, *head, place)
    yield Answer(value=found)


def effects_task(asked: Asked, bench: Bench) -> Iterator[Event]:
    """Answer with `Effects`: what the heads that are off change."""
    yield Progress(stage=STAGE, done=0, total=0)
    masks = f"{asked.text} {asked.text_pair}".count(MASK)
    top_k = max(1, MOST_GUESSES - masks)
    subject = bench.subject(asked.folder)
    on = switched(subject, asked.off)
    assert on is not None
    found: Effects = switches.effects(subject, asked.text, asked.text_pair, on, top_k=top_k)
    yield Answer(value=found)


def ranking_task(asked: Asked, watched: Watched, bench: Bench) -> Generator[Event, None, None]:
    """Answer with `EveryHead`: each head off alone; yields Progress."""
    yield Progress(stage=STAGE, done=0, total=0)
    subject = bench.subject(asked.folder)
    found: EveryHead = yield from switches.every_head(subject, asked.text, asked.text_pair, watched)
    yield Answer(value=found)
