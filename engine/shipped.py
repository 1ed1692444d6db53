"""Where the models lie that ship with Cloze: beside the source, or in the installed package."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parents[1]
PLACES = (_ROOT / "assets" / "models", _ROOT / "app" / "assets" / "models")
_INSIDE = ("", "model")  # of a model's folder; of a run's
STARTER, CHINESE_STARTER = "starter", "chinese"  # one reads English, the other Chinese


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
