"""What if a part were otherwise: a head's scale, a residual, where a token stands, in which text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.errors import UserError, marked
from engine.model.config import BertConfig

ATTENTION, FEED_FORWARD = "attention", "feed_forward"
RESIDUALS = (ATTENTION, FEED_FORWARD)
MOST_SCALE = 2.0

Head = tuple[int, int]  # layer and head, both from 1
Key = TypeVar("Key", int, Head)
Value = TypeVar("Value", int, float)


@dataclass(frozen=True, slots=True)
class PassSettings:
    """What is otherwise in a pass; nothing, as it is made. Layers and heads count from 1, tokens from 0.

    scales: what a head hands on is multiplied by: 0 is off. no_residual: (layer, "attention" or
    "feed_forward") whose sum leaves out what went in. positions, segments: of a token, in place of its own.
    """

    scales: tuple[tuple[Head, float], ...] = ()
    no_residual: frozenset[tuple[int, str]] = frozenset()
    positions: tuple[tuple[int, int], ...] = ()
    segments: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scales or self.no_residual or self.positions or self.segments)

    def scale(self, layer: int, head: int) -> float:
        """Return what a head is multiplied by; 1 where it is as it was."""
        return dict(self.scales).get((layer, head), 1.0)

    def scales_of(self, layer: int, num_heads: int) -> list[float] | None:
        """Return the scales of a layer's heads, or None where all are as they were."""
        found = [self.scale(layer, head) for head in range(1, num_heads + 1)]
        return None if all(one == 1.0 for one in found) else found

    def with_scale(self, layer: int, head: int, scale: float) -> PassSettings:
        """Return the changes with another scale of a head; 1 takes it back."""
        return replace(self, scales=_put(self.scales, (layer, head), scale, 1.0))

    def with_residual(self, layer: int, which: str, is_on: bool) -> PassSettings:
        """Return the changes with a residual on or off."""
        one = frozenset({(layer, which)})
        return replace(self, no_residual=self.no_residual - one if is_on else self.no_residual | one)

    def with_position(self, place: int, position: int) -> PassSettings:
        """Return the changes with a token at another position; its own place takes it back."""
        return replace(self, positions=_put(self.positions, place, position, place))

    def with_segment(self, place: int, segment: int, own: int) -> PassSettings:
        """Return the changes with a token in another segment; its own takes it back."""
        return replace(self, segments=_put(self.segments, place, segment, own))

    @staticmethod
    def placed(changed: Sequence[tuple[int, int]], values: list[int]) -> list[int]:
        """Return values with some changed; a place that is not there is left to `check`."""
        for place, value in changed:
            if place < len(values):
                values[place] = value
        return values

    def check(self, config: BertConfig, length: int) -> None:
        """Refuse what this model, or a text of so many tokens, has no place for. Raises: UserError."""
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        named = [head for head, _scale in self.scales] + [(layer, 1) for layer, _ in self.no_residual]
        for layer, head in named:
            if not (1 <= layer <= layers and 1 <= head <= heads):
                template = marked(
                    "engine",
                    "There is no layer {layer}, head {head}: this model has layers 1 to {layers} of "
                    "{heads} heads each.",
                )
                raise UserError(template, layer=layer, head=head, layers=layers, heads=heads)
        for _head, scale in self.scales:
            if not 0 <= scale <= MOST_SCALE:
                template = marked("engine", "A head’s scale is {scale}; it must lie between 0 and {most:g}.")
                raise UserError(template, scale=f"{scale:g}", most=MOST_SCALE)
        for changed, most, words in (
            (self.positions, config.max_position_embeddings, _POSITION),
            (self.segments, config.num_segments, _SEGMENT),
        ):
            for place, value in changed:
                if not (0 <= place < length and 0 <= value < most):
                    raise UserError(words, place=place, value=value, last=length - 1, most=most - 1)

    def fitted(self, config: BertConfig, length: int) -> PassSettings:
        """Return what of it this model and a text of so many tokens have a place for."""
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        most, kinds = config.max_position_embeddings, config.num_segments
        return PassSettings(
            tuple((one, x) for one, x in self.scales if one[0] <= layers and one[1] <= heads),
            frozenset(one for one in self.no_residual if one[0] <= layers),
            tuple((place, x) for place, x in self.positions if place < length and x < most),
            tuple((place, x) for place, x in self.segments if place < length and x < kinds),
        )


_POSITION = marked(
    "engine",
    "Token {place} at position {value}: this text has tokens 0 to {last}, the model positions 0 to {most}.",
)
_SEGMENT = marked(
    "engine",
    "Token {place} in segment {value}: this text has tokens 0 to {last}, the model segments 0 to {most}.",
)
AS_IT_IS = PassSettings()


def _put(
    pairs: tuple[tuple[Key, Value], ...], key: Key, value: Value, own: Value
) -> tuple[tuple[Key, Value], ...]:
    """Return pairs with another value for a key, in order; its own value takes it out."""
    kept = {**dict(pairs), key: value}
    if value == own:
        del kept[key]
    return tuple(sorted(kept.items()))
