"""Where one is on the Anatomy page, as a plain value: step, layer, head, piece, and the number looked at.

Nothing here knows Qt. Layers and heads count from 1, pieces and numbers from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.work.page_state import PageState, limited, model_field
from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import AS_IT_IS, RESIDUALS, PassSettings
from engine.inspect.anatomy.steps import BERTS, KEYS, PassPlan, plan_of
from engine.model.config import BertConfig

MOST, MOST_SCALE = 1_000_000, 100  # of a scene
LONGEST_NAME = 200
WIDTHS = ("head", "width", "inner")  # vectors of a head, of the model, of the feed-forward part


@dataclass(frozen=True, slots=True)
class Walk:
    """Everything that decides what the page shows of one text in one model.

    plan: the model's steps. shape: layers, heads. key: the piece that is looked at, in scores and softmax;
    -1: the one looked at most. vector: of those that a step shows, the one whose number is worked out; "":
    the step's last. numbers: by width of the vector, the chosen number; -1: the largest. answer: the head on
    top; "": what the text asks for. said: its answer, by its key; -1: the likeliest. target: the word that
    stood at the [MASK].
    """

    plan: PassPlan = limited(BERTS, kind="given")
    shape: tuple[int, int] = limited((1, 1), kind="given")
    num_pieces: int = limited(1, kind="given")
    step: str = limited("text", choices=KEYS)
    layer: int = limited(1, minimum=1, maximum=MOST)
    head: int = limited(1, minimum=1, maximum=MOST)
    piece: int = limited(1, minimum=0, maximum=MOST)
    key: int = limited(-1, minimum=-1, maximum=MOST)
    vector: str = limited("", longest=LONGEST_NAME)
    numbers: tuple[int, int, int] = limited((-1, -1, -1), minimum=-1, maximum=MOST)
    answer: str = limited("", longest=LONGEST_NAME)
    said: int = limited(-1, minimum=-1, maximum=MOST)
    target: str = limited("", longest=LONGEST_NAME)
    changes: PassSettings = limited(AS_IT_IS, kind="given")

    @property
    def place(self) -> int:
        """The step's place among all, from 0."""
        return self.plan.order.index(self.step)

    @property
    def is_in_layer(self) -> bool:
        return self.step in self.plan.of_layer

    def number(self, width: str) -> int:
        """Return the chosen number of vectors of a width."""
        return self.numbers[WIDTHS.index(width)]

    def fitted(self, config: BertConfig, num_pieces: int) -> Walk:
        """Return the same for another model or text; what it does not have gives way."""
        layers, heads = shape = (config.num_hidden_layers, config.num_attention_heads)
        is_other = shape != self.shape
        return replace(
            self.in_plan(plan_of(config)),
            shape=shape,
            num_pieces=num_pieces,
            layer=min(self.layer, layers),
            head=min(self.head, heads),
            piece=min(self.piece, num_pieces - 1),
            key=self.key if self.key < num_pieces else -1,
            numbers=(-1, -1, -1) if is_other else self.numbers,
            said=-1 if is_other else self.said,
        )

    def in_plan(self, plan: PassPlan) -> Walk:
        """Return the same among the steps of a model: where it lacks this one, the one before it in BERT."""
        before = KEYS[: KEYS.index(self.step) + 1]
        step = next(key for key in reversed(before) if key in plan.order)
        return replace(self, plan=plan, step=step, vector=self.vector if step == self.step else "")

    def wholly(self, config: BertConfig, num_pieces: int) -> Walk:
        """Return the walk in this model and a text of so many pieces. Raises: UserError: it leads
        elsewhere.
        """
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        if self.layer > layers or self.head > heads or max(self.piece, self.key) >= num_pieces:
            raise UserError(
                marked(
                    "engine", "This scene shows a layer, head or piece that this model and text do not have."
                )
            )
        self.changes.check(config, num_pieces)
        return replace(self.in_plan(plan_of(config)), shape=(layers, heads), num_pieces=num_pieces)

    def stepped(self, by: int) -> Walk:
        """Return the step before or after; behind a layer's last comes the next layer, as calculated."""
        layers, _heads = self.shape
        order, of_layer = self.plan.order, self.plan.of_layer
        first, last = of_layer[0], of_layer[-1]
        if by > 0 and self.step == last and self.layer < layers:
            return replace(self, layer=self.layer + 1, step=first, vector="")
        if by < 0 and self.step == first and self.layer > 1:
            return replace(self, layer=self.layer - 1, step=last, vector="")
        step = order[min(max(self.place + by, 0), len(order) - 1)]
        layer = self.layer if self.is_in_layer or step not in of_layer else 1 if by > 0 else layers
        return replace(self, step=step, layer=layer, vector="")

    def at(self, step: str) -> Walk:
        """Return a step that was chosen from all."""
        return self if step == self.step else replace(self, step=step, vector="")

    def in_layer(self, layer: int) -> Walk:
        """Return another layer; from outside of the layers, its first step."""
        wanted = min(max(layer, 1), self.shape[0])
        if self.is_in_layer:
            return replace(self, layer=wanted)
        return replace(self, layer=wanted, step=self.plan.of_layer[0], vector="")

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


@dataclass(frozen=True, slots=True)
class ChangesRows:
    """What is otherwise in the model, as rows. scales: layer, head, scale. no_residual: layer, which one.
    positions, segments: of a piece, in place of its own.
    """

    scales: tuple[tuple[int, int, float], ...] = limited((), minimum=0, maximum=MOST)
    no_residual: tuple[tuple[int, str], ...] = limited((), minimum=1, maximum=MOST, choices=RESIDUALS)
    positions: tuple[tuple[int, int], ...] = limited((), minimum=0, maximum=MOST)
    segments: tuple[tuple[int, int], ...] = limited((), minimum=0, maximum=MOST)

    @classmethod
    def of(cls, changes: PassSettings) -> ChangesRows:
        """Return changes as rows."""
        scales = tuple((layer, head, scale) for (layer, head), scale in changes.scales)
        return cls(scales, tuple(sorted(changes.no_residual)), changes.positions, changes.segments)

    @property
    def changes(self) -> PassSettings:
        scales = tuple(((layer, head), scale) for layer, head, scale in self.scales)
        return PassSettings(scales, frozenset(self.no_residual), self.positions, self.segments)

    def misfit(self) -> str:
        """Return the rows that cannot be, or name something twice; "" where all can."""
        if any(layer < 1 or head < 1 or scale > MOST_SCALE for layer, head, scale in self.scales):
            return "scales"
        changed: dict[str, list[Any]] = {
            "scales": [(layer, head) for layer, head, _scale in self.scales],
            "positions": [piece for piece, _position in self.positions],
            "segments": [piece for piece, _segment in self.segments],
        }
        return next((name for name, found in changed.items() if len(set(found)) < len(found)), "")


@dataclass(frozen=True, slots=True)
class AnatomyState(PageState):
    """Everything that decides what the page shows of one text in one model."""

    model: Path = model_field()
    text: str = ""
    text_pair: str = ""
    here: Walk = limited(Walk(), kind="inline")
    changes: ChangesRows = limited(ChangesRows())

    def misfit(self) -> str:
        return self.changes.misfit()

    @property
    def walk(self) -> Walk:
        """The walk with what is otherwise in it."""
        return self.here.changed(changes=self.changes.changes)
