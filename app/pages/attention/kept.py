"""What the Attention page shows, as plain values to be kept, and the way back. Layers and heads from 1
there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.pages.attention.heads import IMPORTANCE
from app.pages.attention.state import PICTURES, Chosen, Comparison, Head
from app.work.page_state import PageState, Read, once, refuse, whole
from engine.errors import UserError, marked

OTHER = "other"  # the role of the model that is compared with
MOST = 1000  # layers, or heads of one
OF = ("heads", "layer", "model", "rollout")
SPECIALS = ("show", "hide", "renormalise")
UNITS = ("pieces", "words")
BLOCKS = ("all", "aa", "ab", "ba", "bb")
COMPARED = ("head", "text", "model")


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that decides what the page shows of one text in one model.

    is_line: the arcs stand over one line. measure, is_listed, is_ascending: how the heads beside the
    picture are
    sorted. asked: of the attribution.
    """

    chosen: Chosen
    is_line: bool
    measure: str
    is_listed: bool
    is_ascending: bool
    asked: dict[str, Any]


def values_of(page: Any) -> dict[str, Any]:
    """Return what the page shows. Raises: UserError: heads are sorted by what they do over a table."""
    chosen, heads = page.chosen, page.heads
    if heads.is_over_table or heads.measure == IMPORTANCE:
        raise UserError(
            marked(
                "engine",
                "The heads are sorted by what they do over a table, which a scene does not hold. Sort "
                "them by "
                "this text.",
            )
        )
    against = chosen.comparison
    return {
        "view": chosen.picture,
        "heads": _pairs(chosen.heads),
        "of": chosen.of,
        "specials": chosen.specials,
        "unit": chosen.unit,
        "block": chosen.block,
        "share": chosen.top_share,
        "locked": chosen.locked,
        "off": _pairs(sorted(chosen.off)),
        "against": None if against is None else _against(against),
        "line": page.picture.is_line,
        "sorted": heads.measure,
        "list": heads.is_list,
        "ascending": heads.list.is_ascending,
        "asked": page.attribution.choices.values(),
    }


def read(state: PageState, measures: tuple[str, ...]) -> Kept:
    """Return a state as it is needed. Args: measures: by which heads can be sorted. Raises: UserError."""
    values = Read(state.values)
    heads = _heads(values, "heads")
    if not heads:
        refuse("heads")
    chosen = Chosen(
        picture=values.choice("view", PICTURES),
        heads=heads,
        of=values.choice("of", OF),
        specials=values.choice("specials", SPECIALS),
        unit=values.choice("unit", UNITS),
        block=values.choice("block", BLOCKS),
        top_share=values.number("share", 0.001, 1.0),
        locked=values.whole("locked", -1, 1_000_000),
        off=frozenset(_heads(values, "off")),
        comparison=_comparison(values.part("against"), state) if values.has("against") else None,
    )
    asked = values.part("asked")
    for name in (
        "question",
        "answer",
        "against",
        "word",
        "other_word",
        "method",
        "baseline",
        "measure",
        "unit",
    ):
        asked.text(name)
    return Kept(
        chosen,
        is_line=values.flag("line"),
        measure=values.choice("sorted", measures),
        is_listed=values.flag("list"),
        is_ascending=values.flag("ascending"),
        asked=dict(state.values["asked"]),
    )


def fitted(chosen: Chosen, shape: tuple[int, int]) -> Chosen:
    """Return the choice for a model of this shape. Raises: UserError: it has not all of its heads."""
    result = chosen.fitted(shape)
    against, left = chosen.comparison, result.comparison
    if (result.heads, result.off, left) != (chosen.heads, chosen.off, against):
        raise UserError(
            marked(
                "engine", "This scene shows heads that the model does not have: it has {layers} × {heads}."
            ),
            layers=shape[0],
            heads=shape[1],
        )
    return replace(result, shape=shape)


def _pairs(heads: Any) -> list[list[int]]:
    return [[layer + 1, head + 1] for layer, head in heads]


def _heads(values: Read, name: str) -> tuple[Head, ...]:
    found = values.rows(name, 2)
    heads = tuple((whole(name, layer, 1, MOST) - 1, whole(name, head, 1, MOST) - 1) for layer, head in found)
    once(name, heads)
    return heads


def _against(against: Comparison) -> dict[str, Any]:
    """Return what is compared with; a model is named among the models."""
    head = [] if against.head is None else _pairs([against.head])[0]
    return {
        "kind": against.kind,
        "head": head,
        "text": against.text,
        "text_pair": against.text_pair,
        "name": against.name,
    }


def _comparison(values: Read, state: PageState) -> Comparison:
    kind, head = values.choice("kind", COMPARED), values.wholes("head", 1, MOST)
    if (kind == "head") != (len(head) == 2) or (kind == "model") != (OTHER in state.models):
        refuse("against")
    return Comparison(
        kind,
        head=(head[0] - 1, head[1] - 1) if head else None,
        text=values.text("text"),
        text_pair=values.text("text_pair"),
        folder=state.models.get(OTHER),
        name=values.text("name"),
    )
