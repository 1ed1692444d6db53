"""A scene that a stranger wrote holds no more than a page can show; those in the box are read and written
again to the last byte.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from app.lectures.lecture import Scene, read_lecture, to_json
from app.page_stack import PAGES, is_kept, module_of
from app.rail import LOOKING
from app.shipped import assets
from app.work.page_state import PageState, SceneValues, kind_of_model, state_of, values_of
from engine.errors import UserError

FILES = sorted((assets() / "lectures").glob("*.json"))
ITEM: dict[str, Any] = {  # where the list that ships is empty
    "scales": [1, 1, 0.5],
    "no_residual": [1, "attention"],
    "positions": [0, 1],
    "segments": [0, 1],
    "off": [1, 1],
    "own": [0, "a"],
}


def kind_of(page: str) -> type[PageState]:
    kind: type[PageState] = getattr(import_module(module_of(page)), PAGES[page]).state_kind
    return kind


def held(scene: Scene, **changed: Any) -> SceneValues:
    """Return what a scene holds, as if its models lay in folders of their own."""
    models = {role: Path(f"/{mark.fingerprint}") for role, mark in scene.models.items()}
    values = {**json.loads(json.dumps(scene.values)), **changed}
    return SceneValues(values, models, scene.text, scene.text_pair)


def shipped() -> Iterator[tuple[str, str, Scene]]:
    """Yield a page, a list that its scenes have, by its path, and a scene of it."""
    for path in FILES:
        for scene in read_lecture(path).scenes:
            inner = scene.values.get("changes") or {}
            for name in [*scene.values, *(f"changes/{name}" for name in inner)]:
                found = inner.get(name.partition("/")[2], scene.values.get(name))
                if isinstance(found, list):
                    yield scene.page, name, scene


LISTS = {(page, name): scene for page, name, scene in shipped()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_lecture_in_the_box_is_saved_as_it_was_read(path: Path) -> None:
    lecture = read_lecture(path)
    again = []
    for scene in lecture.scenes:
        shown = values_of(state_of(kind_of(scene.page), held(scene)))
        assert shown.models == held(scene).models
        again.append(replace(scene, values=shown.values, text=shown.text, text_pair=shown.text_pair))
    assert to_json(replace(lecture, scenes=tuple(again))) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "name"), sorted(LISTS))
@pytest.mark.parametrize("count", [5_001, 200_000])
def test_a_list_without_measure_is_refused_at_once(page: str, name: str, count: int) -> None:
    shown = held(LISTS[page, name])
    state_of(kind_of(page), shown)
    part, _, inner = name.rpartition("/")
    holder: Any = shown.values[part] if part else shown.values
    holder[inner] = [*holder[inner], *[ITEM.get(inner, 1)] * count]
    began = time.process_time()
    with pytest.raises(UserError, match=f"“{inner}”"):
        state_of(kind_of(page), shown)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("name", ["scales", "positions", "segments", "heads", "off"])
def test_nothing_is_named_twice(name: str) -> None:
    page = "attention" if name in ("heads", "off") else "anatomy"
    shown = held(next(scene for one, _, scene in shipped() if one == page))
    holder: Any = shown.values if page == "attention" else shown.values["changes"]
    holder[name] = [[1, 1, 0.5][: 3 if name == "scales" else 2]] * 2
    with pytest.raises(UserError, match=f"“{name}”"):
        state_of(kind_of(page), shown)


def test_texts_of_many_megabytes_are_no_scene() -> None:
    shown = held(LISTS["embeddings", "texts"], texts=[["a", "x" * 20_000]] * 101)
    with pytest.raises(UserError, match="“texts”"):
        state_of(kind_of("embeddings"), shown)


def test_a_scene_without_its_model_says_what_it_lacks() -> None:
    for page, lacks in (("family", "no family"), ("tokenizer", "no vocabulary"), ("probe", "no model")):
        with pytest.raises(UserError, match=f"names {lacks}"):
            state_of(kind_of(page), SceneValues({}))


def test_pages_that_can_be_kept_say_what_their_models_are() -> None:
    kept = [page for page in PAGES if is_kept(page)]
    assert {*LOOKING, "family"} <= {*kept} and "welcome" not in kept
    assert kind_of_model(kind_of("tokenizer"), "second") == "vocabularies"
    assert kind_of_model(kind_of("family"), "family") == "families"
    assert kind_of_model(kind_of("probe"), "model") == kind_of_model(kind_of("probe"), "?") == "models"
