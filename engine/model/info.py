"""cloze.json, which stands beside config.json: what a model was trained on, how its texts were cut, which
encoder of its own it has, and the temperature that a person has given it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.durable import replaced_file
from engine.errors import ModelError, marked
from engine.files import file_in, read_json_object
from engine.model.folder import write_json
from engine.text.tokenizer import TRUNCATIONS

INFO = "cloze.json"
HOTTEST = 20.0  # that a temperature may be, and 1 / this the coldest
_LONGEST_NAME = 200
ENCODER = "encoder"  # that reads whole texts where the model itself guesses words: see own_encoder.py
_TEMPERATURE = "temperature"


def read_info(folder: Path) -> dict[str, Any]:
    """Return a model folder's cloze.json, or nothing. Raises: ModelError if it is damaged."""
    path = file_in(folder, INFO)
    if path is None:
        return {}
    try:
        info = read_json_object(path, writable=True, most_number=2**53, kind=ModelError)
    except ModelError as error:
        raise _damaged_info(path) from error
    roles, labels, longest = info.get("roles", {}), info.get("labels", []), info.get("max_length", 3)
    good = isinstance(roles, dict) and all(map(_is_named, roles.values()))
    good = good and isinstance(labels, list) and all(isinstance(one, str) for one in labels)
    good = good and type(longest) is int and longest >= 3 and _is_temperature(info.get(_TEMPERATURE, {}))
    good = good and _is_encoder(info.get(ENCODER))
    if not good or info.get("truncation", "head") not in TRUNCATIONS:
        raise _damaged_info(path)
    return info


def _is_named(columns: object) -> bool:
    """Whether these are the columns that have a role: one, several or none."""
    if isinstance(columns, list):
        return bool(columns) and all(isinstance(name, str) for name in columns)
    return isinstance(columns, str | None)


def length_in(info: Mapping[str, Any], longest: int, usual: int | None = None) -> int:
    """Return how many WordPieces a model reads at once: as in training, and never more than it has places.

    Args: info: as `read_info` has it. longest: its places. usual: where nothing was kept; None: all places.
    """
    return min(int(info.get("max_length", usual or longest)), longest)


def truncation_in(info: Mapping[str, Any]) -> str:
    """Return how texts that are too long are cut, as in training: one of TRUNCATIONS."""
    return str(info.get("truncation", TRUNCATIONS[0]))


def encoder_in(info: Mapping[str, Any]) -> str:
    """Return the name of the encoder that a model folder has of its own; "": one model does both.

    Args: info: as `read_info` has it.
    """
    return str(info[ENCODER]["base_model"]) if info.get(ENCODER) else ""


def with_encoder(info: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a cloze.json that names the encoder of its own that the folder has."""
    return {**info, ENCODER: {"base_model": name}}


def temperature_in(info: Mapping[str, Any]) -> float:
    """Return what a classifier's logits are divided by before they are probabilities; 1 where none was kept.

    Its answers stay what they are, only how sure it is of them changes. Args: info: as `read_info` has it.
    """
    return float(info.get(_TEMPERATURE, {}).get("value", 1.0))


def temperature_from(info: Mapping[str, Any]) -> tuple[str, str]:
    """Return the texts on one half of which the temperature that was kept was fitted: what they are called,
    and their digest, as `keep_temperature` got them; "" for both where that is not known.
    """
    found = info.get(_TEMPERATURE, {})
    name, digest = found.get("fitted_on"), found.get("texts")
    return (name, digest) if isinstance(name, str) and isinstance(digest, str) else ("", "")


def keep_temperature(
    folder: Path, value: float, num_fitted: int, fitted_on: str = "", texts: str = ""
) -> None:
    """Write a temperature into a model folder's cloze.json.

    Args: num_fitted: texts that it was fitted on. fitted_on, texts: what they are a half of is called, and
    the digest of that. Raises: ModelError if the file is damaged; UserError if it cannot be written.
    """
    kept = {"value": value, "num_fitted": num_fitted, "fitted_on": fitted_on, "texts": texts}
    _write(folder, {**read_info(folder), _TEMPERATURE: {k: v for k, v in kept.items() if v != ""}})


def forget_temperature(folder: Path) -> None:
    """Take the temperature out of a model folder's cloze.json again, where there is one. Raises: as above."""
    info = read_info(folder)
    if info.pop(_TEMPERATURE, None) is not None:
        _write(folder, info)


def _write(folder: Path, info: Mapping[str, Any]) -> None:
    with replaced_file(folder / INFO) as beside:
        write_json(beside, info)


def _is_temperature(found: Any) -> bool:
    """Whether what stands there is a temperature with its facts, or nothing; it may come from a stranger."""
    value = found.get("value", 1.0) if isinstance(found, dict) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 / HOTTEST <= value <= HOTTEST


def _is_encoder(found: Any) -> bool:
    """Whether an encoder is named there, or nothing."""
    name = found.get("base_model") if isinstance(found, dict) else None
    return found is None or (isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME)


def _damaged_info(path: Path) -> ModelError:
    return ModelError(
        marked("engine", "{path} is damaged. Remove it to use the model without its notes."), path=path
    )
