"""A config is a dataclass of groups, a group one of settings: flat values, TOML, and what is refused.

Names are unique across the groups of a config, so that `--set name=value` needs no path.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from engine.errors import ConfigError, UserError, marked
from engine.files import read_regular
from engine.settings.setting import check, convert, settings_of, types_of

SCHEMA_VERSION = 1
KINDS = ("finetune", "pretrain", "family")  # of runs
MOST_TOML = 2**20  # bytes of a file of settings; real ones have some thousand
MOST_REASON = 100  # characters of foreign text in a sentence

Config = TypeVar("Config", bound=Any)


def values_of(config: Any) -> dict[str, Any]:
    """Return all settings flat, name -> value."""
    return {name: value for group in _groups(config).values() for name, value in vars(group).items()}


def labels_of(config: Any) -> dict[str, str]:
    """Return what each setting is called, name -> its label, marked."""
    every = (settings_of(group) for group in _groups(config).values())
    return {name: about.label for group in every for name, about in group.items()}


def with_values(config: Config, values: dict[str, Any]) -> Config:
    """Return `config` with some settings replaced and all of them checked.

    Args: values: name -> value; a string is read as the field's type ("3e-5", "" for an empty default).
    Raises: ConfigError naming the field: unknown name, wrong type, outside its limits or choices.
    """
    groups = _groups(config)
    homes = {name: key for key, group in groups.items() for name in settings_of(group)}
    changes: dict[str, dict[str, Any]] = {key: {} for key in groups}
    for name, value in values.items():
        if name not in homes:
            raise ConfigError(
                marked("engine", "There is no setting named {field}. The nearest names are: {names}."),
                field=name,
                names=difflib.get_close_matches(name[:MOST_REASON], homes, 5, 0.0),
            )
        group = groups[homes[name]]
        if settings_of(group)[name].or_number and type(value) is int:  # a number, not in quotes
            value = str(value)
        changes[homes[name]][name] = convert(name, value, types_of(type(group))[name])
    new = {key: dataclasses.replace(groups[key], **changes[key]) for key in groups}
    for group in new.values():
        check(group)
    return dataclasses.replace(config, **new)  # type: ignore[no-any-return]


def absolute(config: Config) -> Config:
    """Return the settings with every path whole, so that they hold from any folder; several are lines."""
    groups = _groups(config).values()
    paths = {name for group in groups for name, about in settings_of(group).items() if about.kind == "path"}

    def whole(places: str) -> str:
        return "\n".join(str(Path(line.strip()).absolute()) for line in places.split("\n") if line.strip())

    values = {name: value for name, value in values_of(config).items() if name in paths}
    return with_values(
        config, {name: whole(value) for name, value in values.items() if not value.startswith("new:")}
    )


def to_toml(config: Any) -> str:
    """Return the complete config as TOML, schema version first; an empty optional value is left out."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for key, group in _groups(config).items():
        document[key] = {name: value for name, value in vars(group).items() if value is not None}
    return tomli_w.dumps(document)


def from_toml(path: Path) -> dict[str, Any]:
    """Return the flat settings in a TOML file, grouped or not; a run's file says its "kind" too, of KINDS.

    Raises: ConfigError if it cannot be read, is not TOML, or is of a newer schema.
    """
    try:
        document = tomllib.loads(read_regular(path, most=MOST_TOML).decode())
    except (UserError, ValueError, RecursionError) as error:
        raise ConfigError(
            marked("engine", "{path} cannot be read as settings: {reason}."),
            field="config",
            path=path,
            reason=str(error).rstrip(".") if isinstance(error, UserError) else str(error)[:MOST_REASON],
        ) from error
    version = document.pop("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ConfigError(
            marked(
                "engine", "{path} was written by a newer Cloze (schema {version}). Update Cloze to read it."
            ),
            field="config",
            path=path,
            version=version,
        )
    if document.get("task") in KINDS:  # as older files call it
        document["kind"] = document.pop("task")
    flat: dict[str, Any] = {}
    for key, value in document.items():
        flat.update(value if isinstance(value, dict) else {key: value})
    return flat


def _groups(config: Any) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in dataclasses.fields(config)}
