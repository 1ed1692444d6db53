"""What ships with Cloze: sample tables, sentences and models, in assets/ or, once installed, in app/assets.

Everything is optional: a build without the models works, and says what is missing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.text.examples import Roles


@dataclass(frozen=True, slots=True)
class Sample:
    """A table that may be opened at once. title and words are marked literals of samples.json."""

    key: str
    path: Path
    title: str
    words: str
    roles: Roles
    licence: str


@dataclass(frozen=True, slots=True)
class SampleText:
    """A sentence or pair to look at, and what it shows."""

    text: str
    pair: str
    words: str


@cache
def assets() -> Path:
    """Return the folder of what ships with Cloze."""
    inside = Path(__file__).parent / "assets"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "assets"


def starter_model() -> Path | None:
    """Return the model that is ready to be looked into, or None in a build without it."""
    return _model("starter")


def history_run() -> Path | None:
    """Return the small run whose weights were kept along the way, or None in a build without it."""
    run = assets() / "models" / "history"
    return run if (run / "config.toml").is_file() else None


def samples() -> tuple[Sample, ...]:
    """Return the tables that ship with Cloze."""
    folder = assets() / "samples"
    found = []
    for entry in _read(folder / "samples.json"):
        path = folder / entry["file"]
        roles = Roles(text=entry["text"], text_pair=entry.get("text_pair", ""), label=entry.get("label", ""))
        if path.is_file():
            found.append(Sample(entry["key"], path, entry["title"], entry["words"], roles, entry["licence"]))
    return tuple(found)


def sample_sentences() -> tuple[SampleText, ...]:
    """Return sentences and pairs to look at."""
    entries = _read(assets() / "samples" / "sentences.json")
    return tuple(SampleText(entry["text"], entry.get("pair", ""), entry["words"]) for entry in entries)


def _model(name: str) -> Path | None:
    folder = assets() / "models" / name
    return folder if (folder / "config.json").is_file() else None


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found
