"""What the Attention page asks the workers: attention maps, pictures of them, measures, effects, attribution.

Plain functions that touch no Qt object. Those that get models run on the models worker; pictures are
composed beside it, from maps that are not changed any more.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app import words
from app.pages.attention.state import AttentionChoice, AttentionComparison, Head
from app.plots.attention_image import MosaicPicture, Picture, compose, compose_mosaic
from app.work.models import OpenModels
from engine.errors import DataError, UserError
from engine.events import Event, Steps
from engine.inspect.attention import ablation
from engine.inspect.attention import weights as attention
from engine.inspect.attention.ablation import EffectTable, EveryHead, WatchedAnswer
from engine.inspect.attention.head_measures import HeadTable, over_table
from engine.inspect.attention.views import (
    MatrixView,
    StrongestCells,
    View,
    difference,
    strongest,
    tiles,
    view,
)
from engine.inspect.attention.weights import AttentionMaps, HeadAttention
from engine.inspect.attribution.gradients import Attribution, attribute
from engine.inspect.attribution.target import Target
from engine.inspect.loaded_model import LoadedModel
from engine.text.roles import Roles
from engine.text.table import Table

if TYPE_CHECKING:
    from engine.evaluation.inside.heads import HeadsOff, ImportanceTable
    from engine.evaluation.inside.words import RestingWordRows

ARCS = 300  # at most, of the strongest
MASK = "[MASK]"
MOST_GUESSES = 4  # words of each [MASK] that are followed, less one for every [MASK]
TILE = 96  # cells along a side of a mosaic's tile, as sharp as a wide screen shows
PALE = 4.0  # times an even share of the attention; the strongest colour is at least that


@dataclass(frozen=True, slots=True)
class AttentionRequest:
    """A text, or pair, as one model reads it with some heads off."""

    folder: Path
    text: str
    text_pair: str | None = None
    off: frozenset[Head] = frozenset()


@dataclass(frozen=True, slots=True)
class AttributionChoice:
    """All that decides an attribution, beside model and text."""

    target: Target
    method: str
    baseline: str
    measure: str


@dataclass(frozen=True, eq=False, slots=True)
class AttentionDrawing:
    """All that the window needs to paint one view. cells: of the arcs, None where they are not asked for."""

    shown: MatrixView
    picture: Picture
    cells: StrongestCells | None


def find_maps(models: OpenModels, asked: AttentionRequest) -> AttentionMaps:
    """Return where every head looks. Raises: UserError, ModelError."""
    subject = models.subject(asked.folder)
    return attention.look(subject, asked.text, asked.text_pair, on=switched(subject, asked.off))


def draw_view(
    maps: AttentionMaps, chosen: AttentionChoice, other: AttentionMaps | None = None
) -> AttentionDrawing:
    """Return the chosen view as it is painted, or its difference from another. Raises: UserError."""
    wanted = chosen.view(maps.text_pair is not None)
    if other is None:
        shown = view(maps, wanted)
    else:
        shown = difference(maps, other, wanted, other_view(chosen, wanted, other))
    top = None if shown.signed else max(float(shown.values.max(initial=0.0)), pale(maps))
    picture = compose(shown.values, top=top, signed=shown.signed)
    return AttentionDrawing(shown, picture, strongest(shown, ARCS) if chosen.picture == "arcs" else None)


def draw_mosaic(maps: AttentionMaps, wanted: View) -> MosaicPicture:
    """Return a picture of all heads. Raises: UserError."""
    return compose_mosaic(tiles(maps, wanted, TILE))


def explain_row(models: OpenModels, maps: AttentionMaps, head: Head, place: int) -> HeadAttention:
    """Return how a head came to look from one token at the others. Raises: ModelError."""
    return attention.detail(models.subject(maps.folder), maps, *head, place)


def explained(maps: AttentionMaps, chosen: AttentionChoice) -> int:
    """Return the token whose row the query-key detail explains."""
    last = maps.num_tokens - 1
    return min(chosen.locked, last) if chosen.locked >= 0 else min(1, last)


def measure_table(
    models: OpenModels, folder: Path, table: Table, roles: Roles
) -> Generator[Event, None, HeadTable]:
    """Return what each head does over an open table; yields Progress. Raises: DataError, UserError."""
    return (yield from over_table(models.subject(folder), table, roles))


def weigh_heads(models: OpenModels, folder: Path, table: Table, roles: Roles) -> Steps[ImportanceTable]:
    """Return how much each head matters over an open table; yields Progress. Raises: DataError, UserError.

    Where the table's labels are not the model's, its own answers stand for them.
    """
    from engine.evaluation.inside.heads import importance  # here, on the worker: it brings scipy with it
    from engine.evaluation.inside.texts import finding_texts

    subject = models.subject(folder)
    try:
        texts = yield from finding_texts(subject, table, roles)
    except DataError:
        texts = yield from finding_texts(subject, table, roles.with_columns(label=""))
    return (yield from importance(subject, texts))


def score_without(
    models: OpenModels, folder: Path, table: Table, roles: Roles, off: frozenset[Head]
) -> Steps[HeadsOff]:
    """Return what is right over an open table with all heads and without some. Raises: UserError."""
    from engine.evaluation.inside.heads import heads_off  # here, on the worker: it brings scipy with it
    from engine.evaluation.inside.texts import finding_texts

    subject = models.subject(folder)
    texts = yield from finding_texts(subject, table, roles)
    on = switched(subject, off)
    assert on is not None
    return (yield from heads_off(subject, texts, on))


def find_resting_words(
    models: OpenModels, folder: Path, table: Table, roles: Roles, label: str, method: str, limit: int
) -> Steps[RestingWordRows]:
    """Return which words answers rest on over an open table; yields Progress. Raises: UserError."""
    from engine.evaluation.inside.texts import finding_texts  # here, on the worker: it brings scipy with it
    from engine.evaluation.inside.words import resting_words

    subject = models.subject(folder)
    texts = yield from finding_texts(subject, table, roles.with_columns(label=""), limit)
    return (yield from resting_words(subject, texts, label, method=method))


def find_effects(models: OpenModels, asked: AttentionRequest) -> EffectTable:
    """Return what the heads that are off change. Raises: UserError, ModelError."""
    masks = f"{asked.text} {asked.text_pair}".count(MASK)
    top_k = max(1, MOST_GUESSES - masks)
    subject = models.subject(asked.folder)
    on = switched(subject, asked.off)
    assert on is not None
    return ablation.effects(subject, asked.text, asked.text_pair, on, top_k=top_k)


def rank_heads(
    models: OpenModels, asked: AttentionRequest, watched: WatchedAnswer
) -> Generator[Event, None, EveryHead]:
    """Return what becomes of an answer with each head off alone; yields Progress."""
    subject = models.subject(asked.folder)
    return (yield from ablation.every_head(subject, asked.text, asked.text_pair, watched))


def explain_answer(
    models: OpenModels, folder: Path, text: str, text_pair: str | None, wanted: AttributionChoice
) -> Generator[Event, None, Attribution]:
    """Return which words an answer rests on; yields Progress. Raises: UserError, ModelError."""
    return (
        yield from attribute(
            models.subject(folder),
            text,
            text_pair,
            target=wanted.target,
            method=wanted.method,
            baseline=wanted.baseline,
            measure=wanted.measure,
        )
    )


def switched(subject: LoadedModel, off: frozenset[Head]) -> np.ndarray | None:
    """Return (L, H) bool, False where a head of this model is off; None when all are on."""
    if not off:
        return None
    on = ablation.all_on(subject)
    for layer, head in off:
        on[layer, head] = False
    return on


def pale(maps: AttentionMaps) -> float:
    """Return the least value of the strongest colour, so that a head that looks everywhere alike is pale."""
    return PALE / maps.num_tokens


def other_view(chosen: AttentionChoice, wanted: View, other: AttentionMaps) -> View:
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
                "{name} has {layers} layers of {heads} heads, so there is no layer {layer}, head "
                "{head}. Choose a head that both models have.",
            ),
            name=other.model_name,
            layers=shape[0],
            heads=shape[1],
            layer=missing[0][0] + 1,
            head=missing[0][1] + 1,
        )
    return replace(wanted, heads=heads)


def other_asked(asked: AttentionRequest, against: AttentionComparison | None) -> AttentionRequest | None:
    """Return what has to be looked at for a comparison; None where the maps that there are will do."""
    if against is None or against.kind == "head":
        return None
    if against.kind == "text":
        return replace(
            asked, text=against.text, text_pair=against.text_pair if against.text_pair.strip() else None
        )
    assert against.folder is not None
    return AttentionRequest(against.folder, asked.text, asked.text_pair)
