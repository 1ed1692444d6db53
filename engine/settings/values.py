"""Values as JSON has them, read as the fields of a dataclass declare them, and written so.

What is read may have been edited, cut or made up by somebody: a value is taken only where it is of the type
that its field declares, and lies within the limits of its field's `Setting`, if it has one.
"""

from __future__ import annotations

import dataclasses
import string
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from engine.errors import Sentence
from engine.settings.setting import Setting, types_of

LARGEST = 2**53  # whole numbers beyond it are not exact everywhere
_DEEPEST = 4  # sentences within sentences
_LONGEST_TEMPLATE = 2000

Kind = TypeVar("Kind")


class Unfit(ValueError):
    """A value that is missing, of another type, or outside its limits. name: of its field."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


# --- back ---------------------------------------------------------------------------------------------


def read_value(kind: type[Kind], document: Any, *, lacking: bool = False) -> Kind:
    """Return the dataclass that `plain` wrote as a JSON object; what it knows no field for is passed over.

    Args: lacking: what is missing gets its field's default. Raises: Unfit: the first field that does not fit.
    """
    values = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        about = field.metadata.get("setting", _ANY)
        key = about.key or field.name
        if about.kind == "given":
            continue
        if about.kind == "inline":
            values[field.name] = read_value(types_of(kind)[field.name], document, lacking=lacking)
            continue
        may_lack = lacking or about.kind == "spare"
        if may_lack and isinstance(document, Mapping) and key not in document and _has_default(field):
            continue
        try:
            value = _of(dict, document)[key]
            if isinstance(value, list) and len(value) > about.most:
                raise ValueError  # before anything is made of it
            form = about.form
            found = form.back(value) if form else as_kind(types_of(kind)[field.name], value, lacking=lacking)
            _check_limits(about, found)
            values[field.name] = found
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise Unfit(error.name if isinstance(error, Unfit) else key) from error
    return kind(**values)


def kinds_of(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values, which JSON gave, as the fields of a dataclass declare them. Raises: as `as_kind`."""
    hints = types_of(kind)
    return {name: as_kind(hints[name], value) for name, value in values.items()}


def as_kind(hint: Any, value: Any, *, lacking: bool = True) -> Any:
    """Return `value`, which JSON gave, as the type `hint` says. Raises: ValueError, TypeError, KeyError.

    Args: lacking: of a dataclass, as in `read_value`.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        wanted = next(one for one in inner if one is not type(None))
        return as_kind(str if type(value) is str and str in inner else wanted, value, lacking=lacking)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(
            as_kind(one, item, lacking=lacking) for one, item in zip(kinds, _of(list, value), strict=True)
        )
    if origin is frozenset:
        return frozenset(as_kind(inner[0], item, lacking=lacking) for item in _of(list, value))
    if origin is not None and issubclass(origin, Mapping):
        return {name: as_kind(inner[1], item, lacking=lacking) for name, item in _of(dict, value).items()}
    if hint is Any:
        return value
    if hint is dict:
        return _of(dict, value)
    if hint is float and not isinstance(value, bool) and isinstance(value, int | float):
        if isinstance(value, int) and abs(value) >= LARGEST:
            raise ValueError
        return float(value)
    if isinstance(hint, type) and issubclass(hint, Path) and isinstance(value, str) and "\0" not in value:
        return hint(value)
    if hint is Sentence:
        return _sentence(value)
    if hint is np.ndarray:
        return _matrix(value)
    if dataclasses.is_dataclass(hint):
        return read_value(hint, value, lacking=lacking)  # type: ignore[arg-type]
    if hint is int and (type(value) is not int or abs(value) >= LARGEST):
        raise ValueError
    if hint not in (int, str, bool) or type(value) is not hint:
        raise ValueError
    return value


def _of(kind: type[Kind], value: Any) -> Kind:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _matrix(value: Any) -> np.ndarray:
    """Return (C, C) int64, read-only."""
    rows = _of(list, value)
    for row in rows:
        if len(_of(list, row)) != len(rows) or any(not _is_count(count) for count in row):
            raise ValueError
    matrix = np.array(rows, np.int64).reshape(len(rows), len(rows))
    matrix.setflags(write=False)
    return matrix


def _sentence(value: Any, depth: int = 0) -> Sentence:
    """Return a sentence that can be said: every brace names a value, and none asks for endless room."""
    template, values = _of(dict, value)["template"], _of(dict, value["values"])
    if depth > _DEEPEST or not isinstance(template, str) or len(template) > _LONGEST_TEMPLATE:
        raise ValueError
    for _, name, form, _ in string.Formatter().parse(template):
        if name is not None and (name not in values or len(form or "") > 4 or "{" in (form or "")):
            raise ValueError
    nested = {"template", "values"}
    kept = {
        name: _sentence(item, depth + 1) if isinstance(item, dict) and set(item) == nested else item
        for name, item in values.items()
    }
    made = Sentence(template, kept)
    str(made)
    return made


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _check_limits(about: Setting, value: Any) -> None:
    """Refuse what lies outside; limits hold for each thing in a list. Raises: ValueError."""
    if isinstance(value, tuple | frozenset):
        if len(value) > about.most:
            raise ValueError
        for one in value:
            _check_limits(about, one)
    elif isinstance(value, str):
        if len(value) > about.longest or (about.choices and value not in about.choices):
            raise ValueError
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high = about.minimum, about.maximum
        if not (low is None or low <= value) or not (high is None or value <= high):
            raise ValueError


_ANY = Setting(label="", help="")


# --- there --------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; of a dataclass an object of its fields."""
    if isinstance(value, Sentence):
        return {"template": value.template, "values": {k: plain(v) for k, v in value.values.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(_plain_fields(value))
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return [plain(item) for item in sorted(value)]
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _plain_fields(value: Any) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(value):
        about = field.metadata.get("setting", _ANY)
        found = getattr(value, field.name)
        if about.kind == "inline":
            yield from _plain_fields(found)
        elif about.kind != "given" and not (about.kind == "spare" and found == field.default):
            yield about.key or field.name, plain(found) if about.form is None else about.form.plain(found)
