"""What is chosen on the Attention page, as a plain value: view, heads, block, specials, what is off.

Nothing here knows Qt. Layers and heads count from 0 in here and in files; people read them from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.work.page_state import PageState, limited, model_field, other_model
from engine.errors import UserError, marked
from engine.inspect.attention.head_measures import MEASURES
from engine.inspect.attention.views import View
from engine.settings.values import as_kind

Head = tuple[int, int]  # layer, head

ATTRIBUTION = "attribution"
PICTURES = ("heatmap", "arcs", "query_key", "heads", ATTRIBUTION)
OF = ("heads", "layer", "model", "rollout")
SPECIALS = ("show", "hide", "renormalise")
UNITS = ("pieces", "words")
BLOCKS = ("all", "aa", "ab", "ba", "bb")
COMPARED = ("head", "text", "model")
POSITION, RANKING, IMPORTANCE = "position", "ranking", "importance"
SORTED = (POSITION, *MEASURES, RANKING)  # by which heads can be sorted, over one text
MOST = 1000  # layers, or heads of one


class HeadForm:
    """A head in a scene: from 1 there, and no head is an empty list."""

    def plain(self, head: Head | None) -> list[int]:
        return [] if head is None else [head[0] + 1, head[1] + 1]

    def back(self, value: Any) -> Head | None:
        if value == []:
            return None
        layer, head = as_kind(Head, value)
        if not (1 <= layer <= MOST and 1 <= head <= MOST):
            raise ValueError
        return layer - 1, head - 1


class HeadsForm:
    """Heads in a scene, each once. Args: kind: what they are here."""

    def __init__(self, kind: Callable[[Iterable[Head]], Collection[Head]] = tuple) -> None:
        self._kind = kind

    def plain(self, heads: Collection[Head]) -> list[list[int]]:
        in_order = heads if isinstance(heads, tuple) else sorted(heads)
        return [HeadForm().plain(head) for head in in_order]

    def back(self, value: Any) -> Collection[Head]:
        heads = [HeadForm().back(one) for one in value]
        if None in heads or len(set(heads)) < len(heads):
            raise ValueError
        return self._kind(head for head in heads if head is not None)


@dataclass(frozen=True, slots=True)
class AttentionComparison:
    """What the shown attention is compared with: another head, another text, or another model."""

    kind: str = limited(choices=COMPARED)
    head: Head | None = limited(None, form=HeadForm())
    text: str = ""
    text_pair: str = ""
    folder: Path | None = other_model("other")
    name: str = ""  # of the model or checkpoint

    @property
    def is_whole(self) -> bool:
        """Whether there is a head where one is meant, and a model."""
        has_head, has_folder = self.head is not None, self.folder is not None
        return (self.kind == "head") == has_head and (self.kind == "model") == has_folder


@dataclass(frozen=True, slots=True)
class AttentionChoice:
    """Everything that decides what the page shows of one text in one model."""

    shape: tuple[int, int] = limited((1, 1), kind="given")  # L layers, H heads of the model
    picture: str = limited("heatmap", key="view", choices=PICTURES)
    # the first is the current one; the others are averaged with it
    heads: tuple[Head, ...] = limited(((0, 0),), form=HeadsForm())
    of: str = limited("heads", choices=OF)  # whose attention is shown
    specials: str = limited("show", choices=SPECIALS)
    unit: str = limited("pieces", choices=UNITS)
    block: str = limited("all", choices=BLOCKS)
    top_share: float = limited(1.0, key="share", minimum=0.001, maximum=1.0)
    locked: int = limited(-1, minimum=-1, maximum=1_000_000)  # the token whose row is, by its place
    off: frozenset[Head] = limited(frozenset(), form=HeadsForm(frozenset))
    comparison: AttentionComparison | None = limited(None, key="against")

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

    def fitted(self, shape: tuple[int, int]) -> AttentionChoice:
        """Return the same choice for a model of another shape; what it does not have is left out."""
        layers, heads = shape
        kept = tuple(each for each in self.heads if each[0] < layers and each[1] < heads)
        off = frozenset(each for each in self.off if each[0] < layers and each[1] < heads)
        against = self.comparison
        if against is not None and against.head is not None:
            against = against if against.head[0] < layers and against.head[1] < heads else None
        return replace(self, shape=shape, heads=kept or ((0, 0),), off=off, comparison=against)

    def wholly(self, shape: tuple[int, int]) -> AttentionChoice:
        """Return the same choice for a model of this shape. Raises: UserError: it has not all of it."""
        result = self.fitted(shape)
        if (result.heads, result.off, result.comparison) != (self.heads, self.off, self.comparison):
            raise UserError(
                marked(
                    "engine",
                    "This scene shows heads that the model does not have. It has {layers} × {heads}.",
                ),
                layers=shape[0],
                heads=shape[1],
            )
        return result

    def choose(self, layer: int, head: int) -> AttentionChoice:
        """Return the choice of one head alone; an average over the layer stays one."""
        of = "heads" if self.of == "model" else self.of
        return replace(self, heads=((layer, head),), of=of)

    def add(self, layer: int, head: int) -> AttentionChoice:
        """Return the choice with a head added to those averaged, or taken from them; the last one stays."""
        rest = tuple(each for each in self.heads if each != (layer, head))
        if len(rest) == len(self.heads):
            rest = (*self.heads, (layer, head))
        return replace(self, heads=rest or self.heads, of="heads")

    def step(self, *, layers: int = 0, heads: int = 0) -> AttentionChoice:
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

    def switch(self, heads: tuple[Head, ...]) -> AttentionChoice:
        """Return the choice with these heads off, or on again when all of them were off."""
        asked = frozenset(heads)
        return replace(self, off=self.off - asked if asked <= self.off else self.off | asked)

    def layer_heads(self, layer: int) -> tuple[Head, ...]:
        """Return all heads of a layer."""
        return tuple((layer, head) for head in range(self.shape[1]))

    def changed(self, name: str, value: Any) -> AttentionChoice:
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


@dataclass(frozen=True, slots=True)
class AskedAttribution:
    """What is chosen of the attribution. question: with the place of its [MASK], or of the word hidden.

    "" is what stands first: the model's own answer, by the method that is usual.
    """

    question: str = ""
    answer: str = ""
    against: str = ""
    word: str = ""
    other_word: str = ""
    method: str = ""
    baseline: str = ""
    measure: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class AttentionState(PageState):
    """Everything that decides what the page shows of one text in one model.

    is_line: the arcs stand over one line. measure, is_listed, is_ascending: how the heads beside the picture
    are sorted.
    """

    model: Path = model_field()
    text: str = ""
    text_pair: str = ""
    chosen: AttentionChoice = limited(AttentionChoice(), kind="inline")
    is_line: bool = limited(False, key="line")
    measure: str = limited(POSITION, key="sorted", choices=SORTED)
    is_listed: bool = limited(False, key="list")
    is_ascending: bool = limited(False, key="ascending")
    asked: AskedAttribution = AskedAttribution()

    def misfit(self) -> str:
        against = self.chosen.comparison
        if against is not None and not against.is_whole:
            return "against"
        return "" if self.chosen.heads else "heads"

    @classmethod
    def why(cls, model: Path, text: str, text_pair: str = "") -> AttentionState:
        """Return what shows which words the model's own answer rests on."""
        return cls(model, text, text_pair, AttentionChoice(picture=ATTRIBUTION))
