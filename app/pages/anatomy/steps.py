"""The steps by name: on the strip, on the buttons that lead to them, and over their pictures."""

from __future__ import annotations

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.requests import Found
from app.pages.anatomy.state import EMBEDDINGS, HEAD, LAYER, ORDER, STEPS, Walk
from app.plots.step_chips import StepChip
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD

ROUND = {"attention_residual": "qkv", "residual": "feed_forward"}  # what a residual goes round


def name_of(step: str) -> str:
    """Return what a step is called."""
    match step:
        case "text":
            return words.translate("anatomy", "Text")
        case "pieces":
            return words.translate("anatomy", "Pieces")
        case "ids":
            return words.translate("anatomy", "Ids")
        case "vectors":
            return words.translate("anatomy", "3 vectors")
        case "sum":
            return words.translate("anatomy", "Sum")
        case "embedding_norm" | "attention_norm" | "norm":
            return words.translate("anatomy", "Norm")
        case "qkv":
            return words.translate("anatomy", "Q K V")
        case "scores":
            return words.translate("anatomy", "Scores")
        case "softmax":
            return words.translate("anatomy", "Softmax")
        case "mixed":
            return words.translate("anatomy", "Weighted sum")
        case "heads":
            return words.translate("anatomy", "Heads")
        case "output":
            return words.translate("anatomy", "Output")
        case "attention_residual" | "residual":
            return words.translate("anatomy", "+ residual")
        case "feed_forward":
            return words.translate("anatomy", "Feed-forward")
        case "ends":
            return words.translate("anatomy", "T and C")
        case "answer":
            return words.translate("anatomy", "Answer")
        case "loss":
            return words.translate("anatomy", "Loss")
    raise KeyError(step)


def title_of(walk: Walk) -> str:
    """Return what a step's picture is called, with its layer and head where they count."""
    name = name_of(walk.step)
    if not walk.is_in_layer:
        return name
    if walk.step in ("qkv", "scores", "softmax", "mixed", "heads"):
        return words.translate("anatomy", "{step}, layer {layer}, head {head}").format(
            step=name, layer=walk.layer, head=walk.head
        )
    return words.translate("anatomy", "{step}, layer {layer}").format(step=name, layer=walk.layer)


def chips(walk: Walk, found: Found) -> tuple[StepChip, ...]:
    """Return all steps as they stand on the strip: what is off, and what is otherwise than before."""
    groups = {
        EMBEDDINGS: words.translate("anatomy", "Embeddings"),
        LAYER: words.translate("anatomy", "Layer {layer} of {count}").format(
            layer=walk.layer, count=walk.shape[0]
        ),
        HEAD: words.translate("anatomy", "On top"),
    }
    off = {
        "attention_residual": (walk.layer, ATTENTION) in walk.changes.no_residual,
        "residual": (walk.layer, FEED_FORWARD) in walk.changes.no_residual,
        "mixed": walk.changes.scale(walk.layer, walk.head) == 0,
    }
    made = []
    for step in ORDER:
        is_off = off.get(step, False)
        name = name_of(step)
        if is_off:
            residual = words.translate("anatomy", "no residual")
            name = words.translate("anatomy", "head off") if step == "mixed" else residual
        start = ORDER.index(ROUND[step]) if step in ROUND else -1
        changed = vectors.is_changed(found, walk, step)
        made.append(StepChip(name, groups[STEPS[step]], start, is_off, changed))
    return tuple(made)


def neighbours(walk: Walk) -> tuple[str, str]:
    """Return the names of the steps before and after; "" where there is none."""
    before = name_of(walk.stepped(-1).step) if walk.place else ""
    after = name_of(walk.stepped(1).step) if walk.place < len(ORDER) - 1 else ""
    return before, after
