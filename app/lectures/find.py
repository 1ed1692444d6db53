"""Which of the models on this computer a scene means: by the fingerprint of what they hold. For a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from app import shipped
from app.lectures.lecture import Lecture, Scene, SceneModel
from app.pages.family.requests import families
from app.work.page_state import SceneValues
from app.work.titles import model_title
from engine.errors import UserError
from engine.family.train import REPORT
from engine.inspect.loaded_model import FINGERPRINT_DIGITS, fingerprint
from engine.train.run.kept import history, run_of

VOCABULARIES = ("vocab.txt", "chinese_vocab.txt")  # among the samples

_known: dict[tuple[Path, int, int], str] = {}  # by path, time and size: what was read before


@dataclass(frozen=True, slots=True)
class ModelPlaces:
    """Where to look for models: folders and vocabularies that the window knows, and where runs lie."""

    known: tuple[Path, ...]
    runs_root: Path


def mark_of(path: Path) -> SceneModel:
    """Return what a scene says of a model, a family or a vocabulary. Raises: UserError."""
    name = path.name if path.is_file() or (path / REPORT).is_file() else model_title(path)
    return SceneModel(name, fingerprint_of(path))


def fingerprint_of(path: Path) -> str:
    """Return the first digits of a sha256: of a model's weights, of those of a family's members, of a
    vocabulary's file.

    Raises: UserError: there is none of these.
    """
    told = _telling(path)
    about = told.stat() if told.exists() else path.stat()
    key = (path, about.st_mtime_ns, about.st_size)
    if key not in _known:
        if told.name == REPORT:
            _known[key] = _of_family(path)
        elif told.is_file() and told.suffix != ".safetensors":
            _known[key] = hashlib.sha256(told.read_bytes()).hexdigest()[:FINGERPRINT_DIGITS]
        else:
            _known[key] = fingerprint(path)
    return _known[key]


def _of_family(path: Path) -> str:
    """Return the digits of what the members have learned: their card may be written anew meanwhile."""
    digest = hashlib.sha256()
    for file in sorted(path.glob("*/model/*")):
        if file.suffix in (".safetensors", ".npz"):
            digest.update(file.relative_to(path).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


def _telling(path: Path) -> Path:
    """Return the file that a fingerprint is of; the folder where its weights are several files."""
    if path.is_file():
        return path
    for name in (REPORT, "model.safetensors"):
        if (path / name).is_file():
            return path / name
    has_weights = any(path.glob("*.safetensors")) or any(path.glob("*.bin"))
    return path if has_weights else path / "vocab.txt"


def find(wanted: Collection[SceneModel], places: ModelPlaces) -> dict[str, Path]:
    """Return where models are, by their fingerprints; those that are not here are left out."""
    left = {mark.fingerprint for mark in wanted}
    names = {mark.name for mark in wanted}
    found: dict[str, Path] = {}
    for path in _in_order(places, names):
        if not left:
            break
        try:
            seen = fingerprint_of(path)
        except (UserError, OSError):
            continue  # it went away, or is no model
        if seen in left:
            found[seen] = path
            left.discard(seen)
    return found


def _in_order(places: ModelPlaces, names: set[str]) -> list[Path]:
    """Return all there may be, those first that are called like what is wanted."""
    run = shipped.history_run()
    all_known = [*places.known, *(one.path for one in families(places.runs_root))]
    all_known += [shipped.assets() / "samples" / name for name in VOCABULARIES]
    kept = [one.path for one in history(run)] if run is not None else []
    for path in places.known:
        other = run_of(path) if path.is_dir() else None
        if other is not None:
            kept += [one.path for one in history(other)]
    every = [path for path in dict.fromkeys((*all_known, *kept)) if path.exists()]
    return sorted(every, key=lambda path: not (path.name in names or model_title(path) in names))


def marks_of(lecture: Lecture) -> tuple[SceneModel, ...]:
    """Return all models of a lecture, each once."""
    return tuple(dict.fromkeys(mark for scene in lecture.scenes for mark in scene.models.values()))


def lacking(scene: Scene, found: Mapping[str, Path]) -> tuple[SceneModel, ...]:
    """Return the models of a scene that are not here."""
    return tuple(mark for mark in dict.fromkeys(scene.models.values()) if mark.fingerprint not in found)


def values_of(scene: Scene, found: Mapping[str, Path]) -> SceneValues:
    """Return what a page is to show; every model of the scene is among those found."""
    models = {role: found[mark.fingerprint] for role, mark in scene.models.items()}
    return SceneValues(scene.values, models, scene.text, scene.text_pair)


def scene_of(title: str, sentence: str, page: str, shown: SceneValues) -> Scene:
    """Return what a page shows as a scene. Raises: UserError: a model of it cannot be read."""
    marks = {role: mark_of(path) for role, path in shown.models.items()}
    return Scene(title, sentence, page, marks, shown.text, shown.text_pair, dict(shown.values))
