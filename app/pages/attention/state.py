"""What is chosen on the Attention page, as a plain value: view, heads, block, specials, what is off.

Nothing here knows Qt. Layers and heads count from 0 in here and in files; people read them from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.inspect.attention.views import View

Head = tuple[int, int]  # layer, head

PICTURES = ("heatmap", "arcs", "query_key", "heads", "attribution")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the shown attention is compared with: another head, another text, or another model."""

    kind: str  # "head", "text" or "model"
    head: Head | None = None
    text: str = ""
    text_pair: str = ""
    folder: Path | None = None
    name: str = ""  # of the model or checkpoint


@dataclass(frozen=True, slots=True)
class Chosen:
    """Everything that decides what the page shows of one text in one model."""

    shape: tuple[int, int] = (1, 1)  # L layers, H heads of the model
    picture: str = "heatmap"
    heads: tuple[Head, ...] = ((0, 0),)  # the first is the current one; the others are averaged with it
    of: str = "heads"  # whose attention is shown: "heads", "layer", "model" or "rollout"
    specials: str = "show"
    unit: str = "pieces"
    block: str = "all"
    top_share: float = 1.0
    locked: int = -1  # the token whose row is locked, as its place in the encoding
    off: frozenset[Head] = frozenset()
    comparison: Comparison | None = None

    @property
    def layer(self) -> int:
        return self.heads[0][0]

    @property
    def head(self) -> int:
        return self.heads[0][1]

    @property
    def current(self) -> Head:
        return self.heads[0]

    @property
    def is_single(self) -> bool:
        """Whether one head alone is shown."""
        return self.of == "heads" and len(self.heads) == 1

    def fitted(self, shape: tuple[int, int]) -> Chosen:
        """Return the same choice for a model of another shape; what it does not have is left out."""
        layers, heads = shape
        kept = tuple(each for each in self.heads if each[0] < layers and each[1] < heads)
        off = frozenset(each for each in self.off if each[0] < layers and each[1] < heads)
        against = self.comparison
        if against is not None and against.head is not None:
            against = against if against.head[0] < layers and against.head[1] < heads else None
        return replace(self, shape=shape, heads=kept or ((0, 0),), off=off, comparison=against)

    def choose(self, layer: int, head: int) -> Chosen:
        """Return the choice of one head alone; an average over the layer stays one."""
        of = "heads" if self.of == "model" else self.of
        return replace(self, heads=((layer, head),), of=of)

    def add(self, layer: int, head: int) -> Chosen:
        """Return the choice with a head added to those averaged, or taken from them; the last one stays."""
        rest = tuple(each for each in self.heads if each != (layer, head))
        if len(rest) == len(self.heads):
            rest = (*self.heads, (layer, head))
        return replace(self, heads=rest or self.heads, of="heads")

    def step(self, *, layers: int = 0, heads: int = 0) -> Chosen:
        """Return the choice of the head so many layers and heads on; behind a layer's last comes the next."""
        num_layers, num_heads = self.shape
        place = (self.layer * num_heads + self.head + heads + layers * num_heads) % (num_layers * num_heads)
        return self.choose(*divmod(place, num_heads))

    def shown_heads(self) -> tuple[Head, ...]:
        """Return the heads whose average is shown; for a rollout those of its last layer."""
        num_layers, num_heads = self.shape
        if self.of == "heads":
            return self.heads
        layers = range(num_layers) if self.of == "model" else (self.layer,)
        return tuple((layer, head) for layer in layers for head in range(num_heads))

    def switch(self, heads: tuple[Head, ...]) -> Chosen:
        """Return the choice with these heads off, or on again when all of them were off."""
        asked = frozenset(heads)
        return replace(self, off=self.off - asked if asked <= self.off else self.off | asked)

    def layer_heads(self, layer: int) -> tuple[Head, ...]:
        """Return all heads of a layer."""
        return tuple((layer, head) for head in range(self.shape[1]))

    def changed(self, name: str, value: Any) -> Chosen:
        """Return the choice with another value of a field."""
        return replace(self, **{name: value})

    def view(self, has_pair: bool, heads: tuple[Head, ...] | None = None) -> View:
        """Return the view to compute; `heads` in place of the chosen ones."""
        return View(
            heads=heads or self.shown_heads(),
            rollout=self.layer if self.of == "rollout" and heads is None else None,
            specials=self.specials,
            unit=self.unit,
            block=self.block if has_pair else "all",
            top_share=self.top_share,
        )
