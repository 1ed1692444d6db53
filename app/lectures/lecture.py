"""A lecture: scenes in an order, in one file that opens on another computer. Knows no Qt.

It stays in its own language, whatever the window speaks. A scene names its models by what they are called
and by a fingerprint of their weights, never by a place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.durable import write_text
from engine.errors import UserError, marked
from engine.files import read_json_object
from engine.language import ENGLISH

FORMAT, VERSION = "cloze-lecture", 1
SUFFIX, BEFORE = ".cloze", ".json"  # BEFORE: how files of earlier versions end
MOST_BYTES = 40 * 2**20
MOST_VALUES = 500_000
MOST_SCENES, MOST_MODELS = 500, 20  # of a lecture, of a scene
LONGEST_LANGUAGE = 20  # characters; older files name none, and are English
LONGEST_TITLE, LONGEST_SENTENCE, LONGEST_TEXT = 300, 3_000, 20_000  # characters


@dataclass(frozen=True, slots=True)
class SceneModel:
    """A model, a family or a vocabulary, wherever it lies. fingerprint: see `find.fingerprint_of`."""

    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What a page showed, with what is to be said of it. models: by what the page uses them for.

    values: the page's own, see `SceneValues`.
    """

    title: str
    sentence: str
    page: str
    models: Mapping[str, SceneModel] = field(default_factory=dict)
    text: str = ""
    text_pair: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lecture:
    """Scenes under a title. language: in which they are told, as `engine.language.languages` has it."""

    title: str = ""
    scenes: tuple[Scene, ...] = ()
    language: str = ENGLISH

    def with_scene(self, scene: Scene, place: int | None = None) -> Lecture:
        """Return it with one scene more, at a place or at the end."""
        at = len(self.scenes) if place is None else place
        return replace(self, scenes=(*self.scenes[:at], scene, *self.scenes[at:]))

    def without(self, place: int) -> Lecture:
        """Return it without a scene."""
        return replace(self, scenes=(*self.scenes[:place], *self.scenes[place + 1 :]))

    def moved(self, place: int, by: int) -> Lecture:
        """Return it with a scene moved up or down; the same where it would leave the list."""
        if not (0 <= place < len(self.scenes) and 0 <= place + by < len(self.scenes)):
            return self
        return self.without(place).with_scene(self.scenes[place], place + by)

    def told(self, place: int, **said: Any) -> Lecture:
        """Return it with another title, or sentence, of a scene."""
        return self.without(place).with_scene(replace(self.scenes[place], **said), place)


def to_json(lecture: Lecture) -> str:
    """Return a lecture as the text of its file."""
    found = {"format": FORMAT, "version": VERSION, "language": lecture.language, **asdict(lecture)}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def write_lecture(path: Path, lecture: Lecture) -> None:
    """Write a lecture, whole or not at all. Raises: UserError: it is more than can be opened again, too."""
    text = to_json(lecture)
    if len(lecture.scenes) > MOST_SCENES or len(text.encode()) > MOST_BYTES:
        raise UserError(
            marked("engine", "A lecture holds at most {scenes} scenes and {most} MB. Save it as two."),
            scenes=MOST_SCENES,
            most=MOST_BYTES // 2**20,
        )
    write_text(path, text)


def read_lecture(path: Path) -> Lecture:
    """Return the lecture in a file. Raises: UserError: it cannot be read, or is none."""
    found = read_json_object(path, most=MOST_BYTES, most_values=MOST_VALUES, writable=True)
    if found.get("format") != FORMAT:
        raise UserError(
            marked("engine", "{path} is not a lecture of Cloze. Choose a file that was saved as one."),
            path=path.name,
        )
    version = found.get("version")
    if not isinstance(version, int) or version < 1:
        raise _damaged(path)
    if version > VERSION:
        raise UserError(
            marked("engine", "{path} was written by a newer version of Cloze. Open it with that version."),
            path=path.name,
        )
    scenes = found.get("scenes")
    if not isinstance(scenes, list) or len(scenes) > MOST_SCENES:
        raise _damaged(path)
    try:
        told = _text(found, "language", LONGEST_LANGUAGE) if "language" in found else ENGLISH
        return Lecture(_text(found, "title", LONGEST_TITLE), tuple(_scene(one) for one in scenes), told)
    except (TypeError, KeyError, ValueError) as error:
        raise _damaged(path) from error


def _scene(found: dict[str, Any]) -> Scene:
    """Return a scene. Raises: TypeError, KeyError, ValueError."""
    values, models = found["values"], found["models"]
    if not isinstance(values, dict) or not isinstance(models, dict):
        raise TypeError
    if len(models) > MOST_MODELS or any(len(role) > LONGEST_TITLE for role in models):
        raise ValueError
    return Scene(
        title=_text(found, "title", LONGEST_TITLE),
        sentence=_text(found, "sentence", LONGEST_SENTENCE),
        page=_text(found, "page", LONGEST_TITLE),
        models={
            role: SceneModel(_text(mark, "name", LONGEST_TITLE), _text(mark, "fingerprint", LONGEST_TITLE))
            for role, mark in models.items()
        },
        text=_text(found, "text", LONGEST_TEXT),
        text_pair=_text(found, "text_pair", LONGEST_TEXT),
        values=values,
    )


def _text(found: Any, name: str, most: int) -> str:
    """Return a text of at most so many characters. Raises: TypeError, KeyError, ValueError."""
    text = found[name]
    if not isinstance(text, str):
        raise TypeError
    if len(text) > most:
        raise ValueError
    return text


def _damaged(path: Path) -> UserError:
    return UserError(
        marked("engine", "{path} is damaged: it begins like a lecture, but does not continue like one."),
        path=path.name,
    )
