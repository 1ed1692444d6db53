"""Where one is on the Anatomy page, as a plain value: step, layer, head, piece, and the number looked at.

Nothing here knows Qt. Layers and heads count from 1, pieces and numbers from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from engine.inspect.anatomy.changes import AS_IT_IS, Changes

EMBEDDINGS, LAYER, HEAD = "embeddings", "layer", "head"
STEPS = {  # key -> group
    "text": EMBEDDINGS,
    "pieces": EMBEDDINGS,
    "ids": EMBEDDINGS,
    "vectors": EMBEDDINGS,
    "sum": EMBEDDINGS,
    "embedding_norm": EMBEDDINGS,
    "qkv": LAYER,
    "scores": LAYER,
    "softmax": LAYER,
    "mixed": LAYER,
    "heads": LAYER,
    "output": LAYER,
    "attention_residual": LAYER,
    "attention_norm": LAYER,
    "feed_forward": LAYER,
    "residual": LAYER,
    "norm": LAYER,
    "ends": HEAD,
    "answer": HEAD,
    "loss": HEAD,
}
ORDER = tuple(STEPS)
WIDTHS = ("head", "width", "inner")  # vectors of a head, of the model, of the feed-forward part


@dataclass(frozen=True, slots=True)
class Walk:
    """Everything that decides what the page shows of one text in one model.

    shape: layers, heads. key: the piece that is looked at, in scores and softmax; -1: the one looked at most.
    vector: of those that a step shows, the one whose number is worked out; "": the step's last. numbers: by
    width of the vector, the chosen number; -1: the largest. answer: the head on top; "": what the text asks
    for. said: its answer, by its key; -1: the likeliest. target: the word that stood at the [MASK].
    """

    shape: tuple[int, int] = (1, 1)
    num_pieces: int = 1
    step: str = "text"
    layer: int = 1
    head: int = 1
    piece: int = 1
    key: int = -1
    vector: str = ""
    numbers: tuple[int, int, int] = (-1, -1, -1)
    answer: str = ""
    said: int = -1
    target: str = ""
    changes: Changes = AS_IT_IS

    @property
    def place(self) -> int:
        """The step's place among all, from 0."""
        return ORDER.index(self.step)

    @property
    def is_in_layer(self) -> bool:
        return STEPS[self.step] == LAYER

    def number(self, width: str) -> int:
        """Return the chosen number of vectors of a width."""
        return self.numbers[WIDTHS.index(width)]

    def fitted(self, shape: tuple[int, int], num_pieces: int) -> Walk:
        """Return the same for another model or text; what it does not have gives way."""
        layers, heads = shape
        is_other = shape != self.shape
        return replace(
            self,
            shape=shape,
            num_pieces=num_pieces,
            layer=min(self.layer, layers),
            head=min(self.head, heads),
            piece=min(self.piece, num_pieces - 1),
            key=self.key if self.key < num_pieces else -1,
            numbers=(-1, -1, -1) if is_other else self.numbers,
            said=-1 if is_other else self.said,
        )

    def stepped(self, by: int) -> Walk:
        """Return the step before or after; behind a layer's last comes the next layer, as calculated."""
        place = self.place + by
        layers, _heads = self.shape
        if by > 0 and self.step == "norm" and self.layer < layers:
            return replace(self, layer=self.layer + 1, step="qkv", vector="")
        if by < 0 and self.step == "qkv" and self.layer > 1:
            return replace(self, layer=self.layer - 1, step="norm", vector="")
        layer = layers if by < 0 and self.step == "ends" else self.layer
        layer = 1 if by > 0 and self.step == "embedding_norm" else layer
        return replace(self, step=ORDER[min(max(place, 0), len(ORDER) - 1)], layer=layer, vector="")

    def at(self, step: str) -> Walk:
        """Return a step that was chosen from all."""
        return self if step == self.step else replace(self, step=step, vector="")

    def in_layer(self, layer: int) -> Walk:
        """Return another layer; from outside of the layers, its first step."""
        wanted = min(max(layer, 1), self.shape[0])
        return (
            replace(self, layer=wanted)
            if self.is_in_layer
            else replace(self, layer=wanted, step="qkv", vector="")
        )

    def in_head(self, head: int) -> Walk:
        """Return another head; behind the last comes the first."""
        return replace(self, head=(head - 1) % self.shape[1] + 1, key=-1)

    def on_piece(self, piece: int) -> Walk:
        """Return another piece."""
        return replace(self, piece=min(max(piece, 0), self.num_pieces - 1), key=-1)

    def with_number(self, width: str, number: int) -> Walk:
        """Return another number of vectors of a width."""
        numbers = tuple(
            number if one == width else own for one, own in zip(WIDTHS, self.numbers, strict=True)
        )
        return replace(self, numbers=numbers)  # type: ignore[arg-type]

    def changed(self, **values: Any) -> Walk:
        """Return it with other values of some fields."""
        return replace(self, **values)
