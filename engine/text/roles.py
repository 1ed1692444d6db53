"""Which columns of a table are what: a role, and the columns that have it.

A task declares the roles that its rows are read by; whoever shows, keeps or names columns asks for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.errors import marked

if TYPE_CHECKING:
    from engine.text.table import Table


Named = str | Sequence[str]  # a column, or several


@dataclass(frozen=True, slots=True)
class Role:
    """What columns can be for. name: as settings, cloze.json and commands spell it. word: that a column's
    head bears. is_read: a model reads them. is_needed: nothing is learned without. most: how many of them
    there can be.
    """

    name: str
    word: str
    is_read: bool = True
    is_needed: bool = True
    most: int = 1


TEXT, TEXT_PAIR = (
    Role("text", marked("engine", "text")),
    Role("text_pair", marked("engine", "text B"), is_needed=False),
)
CHOICES = Role("choices", marked("engine", "ending"), most=9)
LABEL = Role("label", marked("engine", "label"), is_read=False)
USUAL = (TEXT, TEXT_PAIR, LABEL)  # of a task with a label for a text or a pair of texts
OF_CHOICES = (TEXT, CHOICES, LABEL)  # of a task with a label that says which ending of a text is right
RIGHT_TEXT = replace(LABEL, word=marked("engine", "right text"))
OF_CORRECTION = (TEXT, RIGHT_TEXT)  # of a task that says what a text should be
EVERY = (TEXT, TEXT_PAIR, CHOICES, LABEL)  # in the order that a model reads them
ROLE_NAMES = tuple(role.name for role in EVERY)


class Roles(Mapping[str, tuple[str, ...]]):
    """The names of the columns that have a role; frozen, and equal where all of them are.

    A role that no column has is not in it. Args: named: by role, a column or several; "" for none.
    """

    __slots__ = ("_columns",)
    _columns: dict[str, tuple[str, ...]]

    def __init__(self, text: Named = "", text_pair: Named = "", label: Named = "", **named: Named) -> None:
        said: dict[str, Named] = {"text": text, "text_pair": text_pair, "label": label, **named}
        columns = {
            role.name: columns_in(said.pop(role.name)) for role in EVERY if said.get(role.name, "") != ""
        }
        if any(said.values()):
            raise TypeError(f"no such roles: {', '.join(said)}")
        object.__setattr__(self, "_columns", {role: found for role, found in columns.items() if found})

    @classmethod
    def of(cls, settings: Any) -> Roles:
        """Return the columns that settings name: a config or parsed options, by attribute."""
        named = {role.name: getattr(settings, role.name, "") or "" for role in EVERY}
        return cls(**{role.name: split_names(named[role.name], role.most) for role in EVERY})

    @classmethod
    def from_json(cls, kept: object) -> Roles:
        """Return what `as_json` wrote, or as a run of before had it; none of what is no name."""
        if not isinstance(kept, Mapping):
            return cls()
        found = {role.name: columns_in(kept.get(role.name)) for role in EVERY}
        return cls(**found)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: roles are frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return Roles.from_json, (dict(self._columns),)

    def __getitem__(self, role: str) -> tuple[str, ...]:
        return self._columns[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __hash__(self) -> int:
        return hash(tuple(self._columns.items()))

    def __repr__(self) -> str:
        said = ", ".join(f"{role}={joined_names(names)!r}" for role, names in self._columns.items())
        return f"Roles({said})"

    def column(self, role: str) -> str:
        """Return the first column that has a role, "" if none has."""
        return self._columns.get(role, ("",))[0]

    @property
    def text(self) -> str:
        return self.column("text")

    @property
    def text_pair(self) -> str:
        return self.column("text_pair")

    @property
    def label(self) -> str:
        return self.column("label")

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a role."""
        return tuple(name for names in self._columns.values() for name in names)

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that a model reads, in that order."""
        return tuple(name for role in EVERY if role.is_read for name in self._columns.get(role.name, ()))

    def with_columns(self, **named: Named) -> Roles:
        """Return them with other columns for some roles; "" for none."""
        return Roles(**{**self._columns, **named})

    def with_role(self, column: str, role: str) -> Roles:
        """Return them with a role given to a column; "" for no column, or for no role. Two columns with a
        role change places; where a role has several columns, one more is added to them.
        """
        asked = next((one for one in EVERY if one.name == role), None)
        lost = self._columns.get(role, ()) if asked is not None and asked.most == 1 else ()
        found = {
            name: tuple(other for one in names for other in (lost if one == column and column else (one,)))
            for name, names in self._columns.items()
        }
        if asked is not None:
            several = found.get(role, ()) if asked.most > 1 else ()
            found[role] = (*several, *columns_in(column))
        return Roles(**found)

    def only(self, asked: Iterable[Role]) -> Roles:
        """Return those of some roles."""
        names = {role.name for role in asked}
        return Roles(**{role: found for role, found in self._columns.items() if role in names})

    def settings(self, asked: Iterable[Role] = EVERY) -> dict[str, str]:
        """Return them as settings name them: several with commas between them, "" for none."""
        return {role.name: joined_names(self._columns.get(role.name, ())) for role in asked}

    def as_json(self, asked: Iterable[Role]) -> dict[str, Any]:
        """Return the columns of some roles: a name, "" for none; of roles that have several, a list."""
        return {
            role.name: self.column(role.name) if role.most == 1 else list(self._columns.get(role.name, ()))
            for role in asked
        }


def columns_in(named: object) -> tuple[str, ...]:
    """Return names of columns that were given as one or as several; none of what is neither."""
    several = [named] if isinstance(named, str) else named if isinstance(named, list | tuple) else []
    return tuple(name for name in several if isinstance(name, str) and name)


def joined_names(columns: Sequence[str]) -> str:
    """Return what `split_names` takes for several columns."""
    return ("; " if any("," in name for name in columns) else ", ").join(columns)


def split_names(said: str, most: int) -> tuple[str, ...]:
    """Return the names that a setting holds, of several with commas or semicolons between them. Args: most:
    how many there can be.
    """
    if most == 1:
        return (said,) if said else ()
    parts = (part.strip() for part in said.split(";" if ";" in said else ","))
    return tuple(dict.fromkeys(part for part in parts if part))


def columns_named(table: Table, said: str, most: int) -> tuple[str, ...]:
    """Return the columns of a table that a setting names, by name or number; see `split_names`.

    Raises: DataError if one is missing.
    """
    if said in table.columns:
        return (said,)
    return tuple(dict.fromkeys(map(table.column, split_names(said, most))))
