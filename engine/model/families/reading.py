"""Values of a config.json that BERT’s has not: each is what it may be, or is refused in a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, marked

_MOST_THETA = 1e12


def theta_of(document: Mapping[str, Any], usual: Any) -> float:
    """Return how slowly the slowest pair of a rotation turns: rope_parameters or, without these, `usual`.

    Raises: ModelError: the rotation is stretched, or this is no number from 1 on.
    """
    given = document.get("rope_parameters") or {}
    is_plain = isinstance(given, dict) and given.keys() <= {"rope_theta", "rope_type"}
    if not is_plain or given.get("rope_type", "default") != "default" or document.get("rope_scaling"):
        raise stretched(document.get("rope_scaling") or given)
    return checked_number(given.get("rope_theta", usual), "rope_theta", 1, _MOST_THETA)


def stretched(value: Any) -> ModelError:
    """Return the refusal of a rotation that is not the plain one."""
    template = marked(
        "engine",
        "config.json stretches the rotation of places ({value}), which Cloze does not. Choose another model.",
    )
    return ModelError(template, value=str(value)[:80])


def check_pairs(document: Mapping[str, Any]) -> None:
    """Refuse heads of an odd width, whose numbers cannot be turned in pairs. Raises: ModelError."""
    width, heads = document["hidden_size"], document["num_attention_heads"]
    if type(width) is int and type(heads) is int and heads > 0 and width % heads == 0 and width // heads % 2:
        template = marked(
            "engine",
            "config.json says {heads} attention heads share a width of {width}, {each} numbers each. They "
            "are turned in pairs, so the number must be even.",
        )
        raise ModelError(template, heads=heads, width=width, each=width // heads)


def checked_number(value: Any, name: str, low: float, high: float) -> float:
    """Return a number that lies between two others. Raises: ModelError."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if not low <= (value if right else math.nan) <= high:
        template = marked(
            "engine", "config.json says {name} is {value}; it must lie between {low:g} and {high:g}."
        )
        raise ModelError(template, name=name, value=str(value)[:40], low=low, high=high)
    return float(value)


def checked_whole(document: Mapping[str, Any], name: str, usual: int, low: int, high: int) -> int:
    """Return a whole number that lies between two others. Raises: ModelError."""
    value = document.get(name, usual)
    if type(value) is not int or not low <= value <= high:
        template = marked(
            "engine",
            "config.json says {name} is {value}; it must be a whole number from {low:g} to {high:.0f}.",
        )
        raise ModelError(template, name=name, value=str(value)[:40], low=low, high=high)
    return value


def checked_switch(document: Mapping[str, Any], name: str) -> bool:
    """Return what is true or false; false where it is left out. Raises: ModelError."""
    value = document.get(name, False)
    if not isinstance(value, bool):
        template = marked("engine", "config.json says {name} is {value}; it must be true or false.")
        raise ModelError(template, name=name, value=str(value)[:40])
    return value


def check_plain(document: Mapping[str, Any], plain: Mapping[str, tuple[Any, ...]], family: str) -> None:
    """Refuse what is built otherwise. Args: plain: key -> what it may be, first where it is left out.

    Raises: ModelError.
    """
    for name, allowed in plain.items():
        if document.get(name, allowed[0]) not in allowed:
            template = marked(
                "engine",
                "config.json says {name} is {value}. Cloze reads a {family} whose {name} is {usual}. Choose "
                "another model.",
            )
            value, usual = str(document[name])[:40], str(allowed[0])
            raise ModelError(template, name=name, value=value, family=family, usual=usual)
