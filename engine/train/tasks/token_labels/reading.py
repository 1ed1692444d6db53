"""A file of tagged words as the settings name it, and what a person is told of how it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, Sentence, UserError, marked
from engine.events import Event, Noted, Steps
from engine.settings.finetune import DataConfig
from engine.text.table import BadLine
from engine.text.tagged.read import first_fields, looks_tagged, reading_tagged
from engine.text.tagged.texts import TaggedTable
from engine.train import data_notes

MOST_REPAIRS = 10_000  # of a file that are told by line; all are counted by kind
_REPAIRED = marked("engine", "More lines read differently: {lines}. For example: {first}")
_HOW = marked("engine", "{name}: {reason}")


@dataclass(frozen=True, slots=True)
class OpenedTexts:
    """A file of tagged words, as a window shows it."""

    content: TaggedTable

    @property
    def path(self) -> Path:
        return self.content.path

    @property
    def num_examples(self) -> int:
        return len(self.content)

    @property
    def label_counts(self) -> Mapping[str, int]:
        """Entities of each type; without a scheme words with each tag."""
        tags, counts = self.content.tags, self.content.counts.tolist()
        if self.content.format.scheme == "none":
            return dict(Counter(dict(zip(tags, counts, strict=True))).most_common())
        found = {tag[2:]: count for tag, count in zip(tags, counts, strict=True) if tag.startswith("B-")}
        return dict(Counter(found).most_common())

    @property
    def reported(self) -> Sequence[BadLine]:
        return self.content.reported

    @property
    def notes(self) -> Sequence[Sentence]:
        return self.content.notes

    def texts(self) -> Iterator[tuple[str, str | None]]:
        return ((one.text, None) for one in self.content)


def opening(
    data: DataConfig, path: str, field: str = "data", info: Mapping[str, Any] | None = None
) -> Steps[TaggedTable]:
    """Read a file of tagged words.

    Args:   info: cloze.json of a model whose columns are read, where the settings name none and the file is
            of the same kind.
    Raises: ConfigError if no path is given; DataError.
    """
    if not path:
        template = marked(
            "engine", "No data was chosen. Give a file of words with tags: CoNLL, CSV or JSON lines."
        )
        raise ConfigError(template, field=field)
    columns = {"word": data.text, "tag": data.label, "sentence": data.sentence}
    if not any(columns.values()):
        columns = trained_columns(path, info or {})
    sheet = data.how_of(field.removesuffix("_data"))["sheet"]
    how = {"scheme": data.scheme, "encoding": data.encoding, "sheet": sheet}
    return (yield from reading_tagged(path, **columns, **how))


def trained_columns(path: str, info: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that a model was trained on, where a file is of the same kind and has them."""
    roles, guess = info.get("roles", {}), looks_tagged(path)
    columns = {"word": roles.get("text") or "", "tag": roles.get("label") or "", "sentence": ""}
    if guess is None or guess.kind != info.get("kind") or not all((columns["word"], columns["tag"])):
        return {}
    with suppress(UserError):
        if guess.kind == "conll":
            width = max(map(len, first_fields(path)), default=0)
            numbers = [columns["word"], columns["tag"]]
            return columns if all(one.isdecimal() and int(one) <= width for one in numbers) else {}
        return {**columns, "sentence": roles.get("sentence") or ""}
    return {}


def on_file(texts: TaggedTable) -> Iterator[Event]:
    """Tell how a file was read, and every row that is not used or was read otherwise than it is written."""
    for reason in texts.format.reasons:
        yield Noted(sentence=Sentence(_HOW, {"name": texts.path.name, "reason": reason}), level="fine")
    for note in texts.notes:
        yield Noted(sentence=note)
    yield from data_notes.on_lines(texts.reported)
    yield from data_notes.on_lines([BadLine(one.line, one.sentence) for one in _listed(texts)], _REPAIRED)


def lines_document(read: Sequence[TaggedTable], which: str) -> list[dict[str, Any]]:
    """Return what was `repaired` or `reported` in files, for setup/setup.json."""
    return [
        {"file": texts.path.name, "line": one.line, "reason": str(one.sentence)}
        for texts in read
        for one in (_listed(texts) if which == "repaired" else texts.reported)
    ]


def _listed(texts: TaggedTable) -> Sequence[Any]:
    return texts.repairs[:MOST_REPAIRS]
