"""The fields that many questions have: one text or a pair, and heads that are switched off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import UserError, marked
from engine.questions.flags import Flag, TextArgument
from engine.questions.question import asked

if TYPE_CHECKING:
    from engine.inspect.loaded_model import LoadedModel


def text_field(metavar: str = "TEXT") -> Any:
    """Return the field of a text."""
    return asked(flag=TextArgument(metavar))


def pair_field() -> Any:
    """Return the field of a second text, which may be missing."""
    return asked(None, flag=TextArgument("TEXT_PAIR"))


def off_field() -> Any:
    """Return the field of heads that are switched off, as `head_names` writes them."""
    return asked(
        (),
        "turn a head off, both counted from 1; LAYER alone for all its heads; repeatable",
        flag=Flag("LAYER.HEAD"),
        kw_only=True,
    )


def device_field() -> Any:
    """Return the field of where it is computed."""
    return asked("auto", choices=("auto", "cpu", "cuda"), kw_only=True)


def head_names(heads: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Return heads, (layer, head) from 0, as a question names them."""
    return tuple(f"{layer + 1}.{head + 1}" for layer, head in heads)


def switches(off: Sequence[str], subject: LoadedModel) -> np.ndarray | None:
    """Return (L, H) bool of the heads that stay on, or None for all. Raises: UserError."""
    if not off:
        return None
    shape = (subject.config.num_hidden_layers, subject.config.num_attention_heads)
    on = np.ones(shape, bool)
    for given in off:
        layer, dot, head = given.partition(".")
        numbers = [int(part) if part.isdecimal() else 0 for part in (layer, head if dot else "1")]
        if not (0 < numbers[0] <= shape[0] and 0 < numbers[1] <= shape[1]):
            raise UserError(
                marked("engine", "--off {given}: this model has layers 1 to {layers} of {heads} heads each."),
                given=given,
                layers=shape[0],
                heads=shape[1],
            )
        on[numbers[0] - 1, numbers[1] - 1 if head else slice(None)] = False
    return on
