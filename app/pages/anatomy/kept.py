"""What the Anatomy page shows, as plain values to be kept, and the way back."""

from __future__ import annotations

from typing import Any

from app.pages.anatomy.state import STEPS, WIDTHS, Walk
from app.work.page_state import Read, number, once, refuse, whole
from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import RESIDUALS, Changes
from engine.model.config import BertConfig

MOST = 1_000_000
LONGEST_NAME = 200


def values_of(walk: Walk) -> dict[str, Any]:
    """Return a walk as plain values; layers and heads from 1, pieces and numbers from 0, as there."""
    changes = walk.changes
    return {
        "step": walk.step,
        "layer": walk.layer,
        "head": walk.head,
        "piece": walk.piece,
        "key": walk.key,
        "vector": walk.vector,
        "numbers": list(walk.numbers),
        "answer": walk.answer,
        "said": walk.said,
        "target": walk.target,
        "changes": {
            "scales": [[layer, head, scale] for (layer, head), scale in changes.scales],
            "no_residual": [[layer, which] for layer, which in sorted(changes.no_residual)],
            "positions": [list(pair) for pair in changes.positions],
            "segments": [list(pair) for pair in changes.segments],
        },
    }


def read(values: Read) -> Walk:
    """Return the walk. Raises: UserError."""
    numbers = values.wholes("numbers", -1, MOST, len(WIDTHS))
    return Walk(
        step=values.choice("step", tuple(STEPS)),
        layer=values.whole("layer", 1, MOST),
        head=values.whole("head", 1, MOST),
        piece=values.whole("piece", 0, MOST),
        key=values.whole("key", -1, MOST),
        vector=values.text("vector", LONGEST_NAME),
        numbers=(numbers[0], numbers[1], numbers[2]),
        answer=values.text("answer", LONGEST_NAME),
        said=values.whole("said", -1, MOST),
        target=values.text("target", LONGEST_NAME),
        changes=_changes(values.part("changes")),
    )


def fitted(walk: Walk, config: BertConfig, num_pieces: int) -> Walk:
    """Return the walk in this model and a text of so many pieces. Raises: UserError: it leads elsewhere."""
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    if walk.layer > layers or walk.head > heads or max(walk.piece, walk.key) >= num_pieces:
        raise UserError(
            marked("engine", "This scene shows a layer, head or piece that this model and text do not have.")
        )
    walk.changes.check(config, num_pieces)
    return walk.changed(shape=(layers, heads), num_pieces=num_pieces)


def _changes(values: Read) -> Changes:
    scales = tuple(
        ((whole("scales", layer, 1, MOST), whole("scales", head, 1, MOST)), number("scales", scale, 0, 100))
        for layer, head, scale in values.rows("scales", 3)
    )
    once("scales", [which for which, _scale in scales])
    removed = values.rows("no_residual", 2)
    if any(which not in RESIDUALS for _layer, which in removed):
        refuse("no_residual")
    pairs = {
        name: tuple(
            (whole(name, one, 0, MOST), whole(name, other, 0, MOST)) for one, other in values.rows(name, 2)
        )
        for name in ("positions", "segments")
    }
    for name, found in pairs.items():
        once(name, [piece for piece, _other in found])
    return Changes(
        scales,
        frozenset((whole("no_residual", layer, 1, MOST), which) for layer, which in removed),
        pairs["positions"],
        pairs["segments"],
    )
