"""What a published model is, before it is fetched: from its heads alone, read by what opens models."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from engine.child import events
from engine.errors import ModelError, UserError, renamed
from engine.events import Steps
from engine.hub.asked import HubSettings, parse_name
from engine.hub.files import STARTS
from engine.hub.kept import part_of
from engine.hub.process import asking
from engine.hub.recommended import model_for
from engine.model.config import BertConfig
from engine.model.families.refused import NOT_A_BERT
from engine.model.inventory import Inventory, take_stock
from engine.model.weights import head_of, read_config


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A model that a search found. weights: how many it has; None where its hub does not say."""

    name: str
    downloads: int | None
    licence: str
    weights: int | None
    gated: bool


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A published model as it will be fetched.

    host: that was asked; "" where the cache of this computer held all. files: name -> bytes and digests, of
    those that are needed. cached: those that this computer has. inventory: what they hold; None where that
    is known only once they are here. problem: why Cloze cannot open it.
    """

    name: str
    revision: str
    commit: str
    host: str
    licence: str
    languages: tuple[str, ...]
    downloads: int | None
    gated: bool
    files: Mapping[str, tuple[int | None, Sequence[str]]]
    cache: str
    cached: tuple[str, ...]
    left_out: tuple[str, ...]
    config: BertConfig | None = None
    inventory: Inventory | None = None
    problem: UserError | None = None
    starts: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def num_bytes(self) -> int:
        """How large all files are that are needed."""
        return sum(size or 0 for size, _ in self.files.values())

    @property
    def sizes(self) -> dict[str, int | None]:
        """How large each file is that is needed; None where its hub does not say."""
        return {name: size for name, (size, _) in self.files.items()}

    @property
    def to_fetch(self) -> int:
        """How many bytes have to come over the line at most."""
        return sum(size or 0 for name, (size, _) in self.files.items() if name not in self.cached)

    @property
    def kind(self) -> str:
        """The published class that it was saved as, or its family's name; "" where it cannot be opened."""
        if self.config is None:
            return ""
        family, head = self.config.family, head_of(self.config)
        return family.own_class(head) if head else family.name


def searching(words: str, settings: HubSettings) -> Steps[tuple[SearchHit, ...]]:
    """Search a hub for models that open here, by words of their name or a language. Raises: UserError."""
    found = yield from events(asking(settings, {"what": "search", "words": words.strip()}))
    return tuple(SearchHit(**one) for one in found)


def looking(
    name: str, revision: str, settings: HubSettings, out: Path | None = None
) -> Steps[PublishedModel]:
    """Look at a published model; at most the beginnings of its weights are fetched.

    Args:   out: the folder that it is to become; what has come of it before is not read again.
    Raises: UserError: it cannot be looked at. What it cannot be opened for stands in `problem`.
    """
    name, revision = parse_name(name, revision)
    with tempfile.TemporaryDirectory(prefix="cloze-look-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        question = {"what": "look", "name": name, "revision": revision, "folder": place}
        if out is not None and part_of(out).is_dir():
            question["parts"] = str(part_of(out))
        return looked_at((yield from events(asking(settings, question))), folder)


def looked_at(said: dict[str, Any], folder: Path) -> PublishedModel:
    """Return what a model is, of what its hub says and of the beginnings of its files in a folder."""
    starts = {
        one: (folder / STARTS / one).read_bytes()
        for one in said["files"]
        if (folder / STARTS / one).is_file()
    }
    is_seen, lacks = said.pop("is_seen"), said.pop("lacks")
    for key in ("languages", "cached", "left_out"):
        said[key] = tuple(said[key])
    try:
        config = read_config(folder)
        if lacks is not None:
            raise ModelError(lacks[0], **lacks[1])
        inventory = take_stock(folder, thorough=False) if is_seen else None
    except UserError as error:
        problem = renamed(
            _in_its_language(error, said["languages"]), folder, partial(published, said["name"])
        )
        return PublishedModel(**said, problem=problem)
    return PublishedModel(**said, config=config, inventory=inventory, starts=starts)


def _in_its_language(error: UserError, languages: tuple[str, ...]) -> UserError:
    """Return a refusal of another family with a model of the same languages to use in its place, where these
    are others than English.
    """
    if error.sentence.template != NOT_A_BERT or not set(languages) - {"en"}:
        return error
    return ModelError(NOT_A_BERT, **{**error.sentence.values, "instead": model_for(languages)})


def published(name: str, file: str) -> str:
    """Return what a file is called that nobody knows by its place: as one of the published model."""
    return f"{name}/{file}" if file else name
