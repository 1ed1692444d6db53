"""What a page shows, as plain values: it gives them, and shows the same again when it is given them back.

The values may come from a file that a stranger wrote: `Read` refuses in one sentence what is missing, cannot
be, or is more than a page can show. Nothing here knows Qt.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from engine.errors import UserError, marked

MODEL = "model"  # the role of the model that is looked into
LONGEST_TEXT = 20_000  # characters
MOST_ITEMS = 5_000  # of a list: no page has more texts, and no model more heads


@dataclass(frozen=True, slots=True)
class PageState:
    """What a page shows.

    values: the page's own, as JSON has them. models: folders, or files of vocabularies, by what they are for:
    "model" is looked into. text, text_pair: those that the pages share, where this one looks at them.
    """

    values: Mapping[str, Any]
    models: Mapping[str, Path] = field(default_factory=dict)
    text: str = ""
    text_pair: str = ""


class Read:
    """Values of a page's state, each read as what it has to be. Raises, in all: UserError."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str, most: int = LONGEST_TEXT) -> str:
        """Return a text."""
        return text(name, self._values.get(name), most)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return one of some names."""
        found = self.text(name)
        if found not in choices:
            refuse(name)
        return found

    def flag(self, name: str) -> bool:
        """Return yes or no."""
        found = self._values.get(name)
        if not isinstance(found, bool):
            refuse(name)
        return found

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a whole number between two, both among them."""
        return whole(name, self._values.get(name), least, most)

    def number(self, name: str, least: float, most: float) -> float:
        """Return a number between two, both among them."""
        return number(name, self._values.get(name), least, most)

    def wholes(self, name: str, least: int, most: int, count: int | None = None) -> tuple[int, ...]:
        """Return whole numbers. Args: count: how many there have to be; None: any number."""
        return tuple(whole(name, one, least, most) for one in self.items(name, count))

    def rows(self, name: str, width: int) -> tuple[tuple[Any, ...], ...]:
        """Return rows of so many cells each, of any kind."""
        found = self.items(name)
        if any(not isinstance(one, list | tuple) or len(one) != width for one in found):
            refuse(name)
        return tuple(tuple(one) for one in found)

    def items(self, name: str, count: int | None = None) -> Sequence[Any]:
        """Return a list of anything, of at most MOST_ITEMS."""
        found = self._values.get(name)
        if not isinstance(found, list | tuple) or len(found) > MOST_ITEMS:
            refuse(name)
        if count is not None and len(found) != count:
            refuse(name)
        return found

    def part(self, name: str) -> Read:
        """Return what is kept under a name, values themselves."""
        found = self._values.get(name)
        if not isinstance(found, dict):
            refuse(name)
        return Read(found)

    def has(self, name: str) -> bool:
        """Whether there is anything but null under a name, which has to be there."""
        if name not in self._values:
            refuse(name)
        return self._values[name] is not None


def refuse(name: str) -> NoReturn:
    """Refuse a state for one of its values. Raises: UserError."""
    raise UserError(
        marked(
            "engine",
            "This scene cannot be shown: what it says of “{name}” is missing or does not fit this page. "
            "It may have been kept by another version of Cloze.",
        ),
        name=name,
    )


def text(name: str, value: Any, most: int = LONGEST_TEXT) -> str:
    """Return a cell as a text. Raises: UserError."""
    if not isinstance(value, str) or len(value) > most:
        refuse(name)
    return value


def once(name: str, keys: Sequence[Hashable]) -> None:
    """Refuse a list that names something twice. Raises: UserError."""
    if len(set(keys)) < len(keys):
        refuse(name)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return a cell as a whole number between two, both among them. Raises: UserError."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        refuse(name)
    return value


def number(name: str, value: Any, least: float, most: float) -> float:
    """Return a cell as a number between two, both among them. Raises: UserError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        refuse(name)
    return float(value)
