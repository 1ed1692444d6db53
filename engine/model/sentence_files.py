"""What sentence-transformers' files in a model folder say: how the vectors of a text's pieces become one.

modules.json lists what is done one after the other, 1_Pooling/config.json names the pooling. Both spellings
are read: a flag for each pooling, and one name for it. No path in them is followed out of the folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ModelError, Sentence, marked
from engine.files import MOST_JSON, file_in, parse_json_object, read_json_object, read_regular

MODULES, POOLING, SETTINGS = "modules.json", "config.json", "sentence_bert_config.json"
POOLINGS = {  # as the newer files name them -> as the older ones do
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
_MOST_MODULES = 20
_READ = marked(
    "engine",
    "Files for sentence-transformers were found. Their pooling ({pooling}) makes the vectors of texts.",
)
_READ_NORMED = marked(
    "engine",
    "Files for sentence-transformers were found. Their pooling ({pooling}) makes the "
    "vectors of texts, each scaled to length 1.",
)
_LEFT_OUT = marked(
    "engine",
    "sentence-transformers would change each text vector by {names} after the "
    "pooling. Cloze does not, so its vectors differ.",
)
_SEVERAL = marked(
    "engine", "sentence-transformers would join several poolings ({names}). Cloze uses one, so choose it."
)
_DAMAGED = marked("engine", "How sentence-transformers pools this model is not known: {reason}")
_PROMPT = marked(
    "engine", "sentence-transformers puts a prompt before each text of this model. Cloze does not."
)


@dataclass(frozen=True, slots=True)
class SentenceConfig:
    """How one vector is made of a text. pooling: of POOLINGS. max_length: in WordPieces; None: any."""

    pooling: str
    is_normed: bool = False
    max_length: int | None = None


def read_sentence_files(folder: Path) -> tuple[SentenceConfig | None, tuple[Sentence, ...]]:
    """Return how a folder's vectors are made, None where nothing says it, and what a person should know.

    What is damaged or cannot be followed is told and left out: the model itself is none the worse for it.
    """
    try:
        modules = _modules(folder)
        return _vectors(folder, modules) if modules else (None, ())
    except ModelError as error:
        return None, (Sentence(_DAMAGED, {"reason": error.sentence}),)


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the name and the folder of each module, in their order."""
    path = file_in(folder, MODULES)
    if path is None:
        return []
    data = read_regular(path, most=MOST_JSON, kind=ModelError)
    listed = parse_json_object(b'{"modules": ' + data + b"}", path, kind=ModelError)["modules"]
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_MODULES:
        raise _damaged(path)
    found = []
    for one in listed:
        kind, place = (one.get("type"), one.get("path")) if isinstance(one, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(place, str) or place != os.path.basename(place):
            raise _damaged(path)
        if place in (".", "..") or "\\" in place or "\0" in place:
            raise _damaged(path)
        found.append((kind.rpartition(".")[2], place))
    return found


def _vectors(
    folder: Path, modules: Sequence[tuple[str, str]]
) -> tuple[SentenceConfig | None, tuple[Sentence, ...]]:
    place = next((place for kind, place in modules if kind == "Pooling"), None)
    if place is None:
        return None, ()
    path = file_in(folder, f"{place}/{POOLING}")
    if path is None:
        raise _damaged(folder / MODULES)
    poolings = _poolings(path, read_json_object(path, kind=ModelError))
    if len(poolings) != 1:
        return None, (Sentence(_SEVERAL, {"names": list(poolings)}),)
    known = ("Transformer", "Pooling", "Normalize", "Dropout")
    others = [kind for kind, _ in modules if kind not in known]
    is_normed = any(kind == "Normalize" for kind, _ in modules)
    notes = [Sentence(_READ_NORMED if is_normed else _READ, {"pooling": poolings[0]})]
    if others:
        notes.append(Sentence(_LEFT_OUT, {"names": others}))
    if _settings(folder, "config_sentence_transformers.json").get("default_prompt_name"):
        notes.append(Sentence(_PROMPT))
    return SentenceConfig(poolings[0], is_normed, _max_length(folder)), tuple(notes)


def _poolings(path: Path, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the poolings that are named, by either spelling. Raises: ModelError: one that nobody knows."""
    named = document.get("pooling_mode")
    if named is None:
        flagged = tuple(name for name, flag in POOLINGS.items() if document.get(flag) is True)
        return flagged or ("mean",)
    found = (named,) if isinstance(named, str) else tuple(named) if isinstance(named, list) else ()
    if not found or any(not isinstance(one, str) or one not in POOLINGS for one in found):
        raise _damaged(path)
    return found


def _max_length(folder: Path) -> int | None:
    """Return how many WordPieces of a text are read, where its files say it."""
    for name, key in ((SETTINGS, "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        value = _settings(folder, name).get(key)
        if type(value) is int and 3 <= value <= 1_000_000:
            return value
    return None


def _settings(folder: Path, name: str) -> dict[str, Any]:
    path = file_in(folder, name)
    return read_json_object(path, kind=ModelError) if path is not None else {}


def _damaged(path: Path) -> ModelError:
    return ModelError(marked("engine", "{path} does not say what a module or a pooling is."), path=path)
