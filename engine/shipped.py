"""Where the models lie that ship with Cloze: beside the source, or in the installed package."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from engine.text.languages import CHINESE, script_of

_ROOT = Path(__file__).parents[1]
PLACES = (_ROOT / "assets" / "models", _ROOT / "app" / "assets" / "models")
_INSIDE = ("", "model")  # of a model's folder; of a run's
STARTER, CHINESE_STARTER = "starter", "chinese"  # one reads English, the other Chinese
LOOKED_AT = 40  # texts whose script is looked at, and characters of each


def model_named(name: str | Path) -> Path:
    """Return the folder of a model that ships, such as "starter"; any other path as it is.

    A folder of that name at hand comes first.
    """
    path = Path(name)
    if len(path.parts) != 1 or path.exists():
        return path
    return model_shipped(path) or path


def model_shipped(name: str | Path) -> Path | None:
    """Return the folder of a model that ships by its name; None in a build without it."""
    found = (place / name / inner for place in PLACES for inner in _INSIDE)
    return next((one for one in found if (one / "config.json").is_file()), None)


def starters_for(script: str) -> tuple[str, ...]:
    """Return the names of the starter models to take for texts of a script: the English one last.

    Args: script: as `engine.text.languages` has them.
    """
    return (CHINESE_STARTER, STARTER) if script == CHINESE else (STARTER,)


def script_of_texts(texts: Iterable[str]) -> str:
    """Return the script that most letters of the first texts are in: a marked template."""
    return script_of("\n".join(text[:LOOKED_AT] for text in islice(texts, LOOKED_AT)))
