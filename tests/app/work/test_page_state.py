"""A scene that a stranger wrote holds no more than a page can show."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.pages.anatomy import kept as anatomy
from app.pages.attention import kept as attention
from app.pages.embeddings import kept as embeddings
from app.pages.probe import kept as probe
from app.shipped import assets
from app.work.page_state import PageState, Read
from engine.errors import UserError

READ: dict[str, Callable[[PageState], object]] = {
    "anatomy": lambda state: anatomy.read(Read(state.values)),
    "attention": lambda state: attention.read(state, ("position",)),
    "embeddings": embeddings.read,
    "probe": probe.read,
}
ITEM: dict[str, Any] = {  # where the list that ships is empty
    "scales": [1, 1, 0.5],
    "no_residual": [1, "attention"],
    "positions": [0, 1],
    "segments": [0, 1],
    "off": [1, 1],
    "own": [0, "a"],
}


def shipped() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a page, a list that its scenes have, by its path, and the values of a scene of it."""
    for path in sorted((assets() / "lectures").glob("*.json")):
        for scene in json.loads(path.read_text(encoding="utf-8"))["scenes"]:
            values = scene["values"]
            inner = values.get("changes") or {}
            for name in [*values, *(f"changes/{name}" for name in inner)]:
                found = inner.get(name.partition("/")[2], values.get(name))
                if isinstance(found, list) and scene["page"] in READ and "other" not in scene["models"]:
                    yield scene["page"], name, values


LISTS = {(page, name): values for page, name, values in shipped()}


@pytest.mark.parametrize(("page", "name"), sorted(LISTS))
@pytest.mark.parametrize("count", [5_001, 200_000])
def test_a_list_without_measure_is_refused_at_once(page: str, name: str, count: int) -> None:
    values = json.loads(json.dumps(LISTS[page, name]))
    READ[page](PageState(values))
    part, _, inner = name.rpartition("/")
    holder = values[part] if part else values
    holder[inner] = [*holder[inner], *[ITEM.get(inner, 1)] * count]
    began = time.process_time()
    with pytest.raises(UserError, match=f"“{inner}”"):
        READ[page](PageState(values))
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("name", ["scales", "positions", "segments", "heads", "off"])
def test_nothing_is_named_twice(name: str) -> None:
    page = "attention" if name in ("heads", "off") else "anatomy"
    values = json.loads(json.dumps(next(values for one, _, values in shipped() if one == page)))
    holder = values if page == "attention" else values["changes"]
    holder[name] = [[1, 1, 0.5][: 3 if name == "scales" else 2]] * 2
    with pytest.raises(UserError, match=f"“{name}”"):
        READ[page](PageState(values))


def test_texts_of_many_megabytes_are_no_scene() -> None:
    values = json.loads(json.dumps(LISTS["embeddings", "texts"]))
    values["texts"] = [["a", "x" * 20_000]] * 101
    with pytest.raises(UserError, match="“texts”"):
        embeddings.read(PageState(values))
