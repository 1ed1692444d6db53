"""How a command line has the fields of a question."""

from __future__ import annotations

import types
import typing
from argparse import Namespace
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, ClassVar

from engine.settings.setting import Setting

_READERS = {int: int, float: float}  # by the type of a field; argparse refuses in their names


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag by the field's name; of many values it is repeated.

    metavar: what stands for its value in `--help`. is_needed: though the field has a default. group: of flags
    of which one has to be given, and no more. is_last: below all others in `--help`. name: where it is not
    the field's.
    """

    metavar: str | None = None
    is_needed: bool = False
    group: str = ""
    is_last: bool = False
    name: str = ""

    is_text: ClassVar[bool] = False  # behind the flags, without one

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        """Let a parser, or a group of one, read a field."""
        wanted, is_many = _kind(hint)
        how: dict[str, Any] = {"help": _percents(about.help)}
        if wanted is bool:
            place.add_argument(self._flag(name), dest=name, action="store_true", **how)
            return
        how |= {"dest": name, "metavar": self.metavar, "type": _READERS.get(wanted, _reader(wanted))}
        if is_many:
            how |= {"action": "append", "default": []}
        elif default is not MISSING:
            how["default"] = default
        if about.choices:
            how["choices"] = tuple(choice for choice in about.choices if choice)
        if not self.group and (default is MISSING or self.is_needed):
            how["required"] = True
        place.add_argument(self._flag(name), **how)

    def _flag(self, name: str) -> str:
        return flag_of(self.name or name)

    def given(self, options: Namespace, name: str) -> Any:
        """Return the value that was read."""
        value = getattr(options, name)
        return tuple(value) if isinstance(value, list) else value

    def words(self, name: str, value: Any) -> list[str]:
        """Return what a line says of a value."""
        if value is True:
            return [self._flag(name)]
        values = value if isinstance(value, tuple) else (value,)
        return [word for one in values for word in flag_words(self._flag(name), str(one))]


@dataclass(frozen=True, slots=True)
class TextArgument(Flag):
    """No flag: a text behind them, or several."""

    is_text: ClassVar[bool] = True

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        """Let a parser read a field."""
        how: dict[str, Any] = {"metavar": self.metavar, "help": _percents(about.help)}
        if _kind(hint)[1]:
            how["nargs"] = "*"
        elif default is not MISSING:
            how["nargs"] = "?"
        place.add_argument(name, **how)

    def words(self, name: str, value: Any) -> list[str]:
        """Return what a line says of a value."""
        return list(value) if isinstance(value, tuple) else [value]


def flag_of(name: str) -> str:
    """Return "--top-k" of "top_k"."""
    return f"--{name.replace('_', '-')}"


def flag_words(flag: str, value: str) -> list[str]:
    """Return a flag and its value as words of a line."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _percents(help: str) -> str | None:
    return help.replace("%", "%%") or None


def _reader(wanted: Any) -> Any:
    return None if wanted is str else Path


def _kind(hint: Any) -> tuple[Any, bool]:
    """Return the type of one value of a field, and whether there may be many."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _kind(next(one for one in inner if one is not type(None)))
    return (inner[0], True) if origin is tuple else (hint, False)
