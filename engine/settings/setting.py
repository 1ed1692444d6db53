"""One setting of a person's: its label, help, limits and unit, and how a value is read and refused."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Protocol, get_args, get_type_hints

from engine.errors import ConfigError, Sentence, marked, not_among

_BOOLS = {"true": True, "yes": True, "false": False, "no": False}  # as typed in a terminal


class Form(Protocol):
    """How a file has a value that differs there, such as a place that is counted from 1."""

    def plain(self, value: Any) -> Any:
        """Return a value as JSON can hold it."""

    def back(self, value: Any) -> Any:
        """Return what `plain` gave as the value. Raises: ValueError, TypeError, LookupError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a form, a command line and a refusal need to know of one field."""

    label: str
    help: str
    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    or_number: bool = False  # beside the choices, a whole number from 1 on may stand there, as text
    kind: str = ""  # "", "path", "column", "sheet", "hidden": how a form shows it; "given": of this process;
    # "inline": in a file its fields stand among those around it; "spare": there it may be missing
    advanced: bool = False
    auto: str = ""  # what an empty value means, in words
    key: str = ""  # in a file, where it is not the field's name
    longest: int = 20_000  # characters of a text in a file
    most: int = 5_000  # things of a list in a file
    form: Form | None = None  # in a file, where it is not that of its type


def setting(default: Any, label: str, help: str, **metadata: Any) -> Any:
    """Return a dataclass field with `default` and a `Setting` under metadata["setting"]."""
    return declared(Setting(label=label, help=help, **metadata), default)


def declared(setting: Setting, default: Any, **own: Any) -> Any:
    """Return a field of a setting that several groups have. Args: own: what differs in this group."""
    return dataclasses.field(default=default, metadata={"setting": dataclasses.replace(setting, **own)})


def settings_of(group: Any) -> dict[str, Setting]:
    """Return name -> `Setting` of a group (class or instance), in order."""
    return {f.name: f.metadata["setting"] for f in dataclasses.fields(group)}


def types_of(kind: type) -> dict[str, Any]:
    """Return name -> type of a group's class. Python would work them out anew, from text, each time."""
    if kind not in _types:
        _types[kind] = get_type_hints(kind)
    return _types[kind]


_types: dict[type, dict[str, Any]] = {}


def check(group: Any) -> None:
    """Refuse values outside a group's limits and choices. Raises: ConfigError naming the field."""
    for name, about in settings_of(group).items():
        value = getattr(group, name)
        if about.or_number and isinstance(value, str) and is_number(value):
            continue
        if about.choices and value not in about.choices:
            choices = [repr(choice) for choice in about.choices if choice]
            raise not_among(name, value, choices, or_number=about.or_number)
        low, high = about.minimum, about.maximum
        if not isinstance(value, int | float) or low is None or high is None:
            continue
        if not low <= value <= high:  # also refuses NaN
            raise ConfigError(
                marked("engine", "{field} is {value}; it must lie between {low} and {high}."),
                field=name,
                value=value,
                low=low,
                high=high,
            )


def is_number(text: str) -> bool:
    """Whether this is a whole number from 1 on, of at most nine digits."""
    return text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0


def convert(name: str, value: Any, kind: Any) -> Any:
    options = get_args(kind) or (kind,)
    wanted = next(option for option in options if option is not type(None))
    if type(None) in options and (value is None or value == ""):
        return None
    try:
        if wanted is int and isinstance(value, str | float):
            number = float(value)
            if number != int(number):
                raise ValueError
            return (
                int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else int(number)
            )
        if wanted is float and isinstance(value, str | int) and not isinstance(value, bool):
            return float(value)
        if wanted is bool and isinstance(value, str) and value.strip().lower() in _BOOLS:
            return _BOOLS[value.strip().lower()]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ValueError
    except (ValueError, OverflowError):
        kinds = {
            int: marked("engine", "a whole number"),
            float: marked("engine", "a number"),
            str: marked("engine", "text"),
            bool: marked("engine", "true or false"),
        }
        raise ConfigError(
            marked("engine", "{field} is {value!r}; it must be {kind}."),
            field=name,
            value=value,
            kind=Sentence(kinds[wanted]) if wanted in kinds else wanted.__name__,
        ) from None
    return value
