"""Words with tags: read, split by text, cut into windows, and kept with the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from engine.errors import ConfigError, DataError, Sentence, marked, some_of
from engine.events import Beat, Event, Noted, Progress, Steps
from engine.settings.finetune import FineTuneConfig
from engine.settings.values import as_kind
from engine.text.batch import EncodedRows
from engine.text.example_rows import Indices, Keys
from engine.text.reading.lines import Numbers
from engine.text.tagged.texts import TaggedTable
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.adapt import REPEATED
from engine.train.learned import Block, HashedRows, hashes_of_parts, telling_start
from engine.train.prepare import SPLITS, Setup, about_data, of_setting, on_ignored, split_of, starting
from engine.train.tasks.token_labels.cutting import Codes, cutting
from engine.train.tasks.token_labels.kept import TaggedRows
from engine.train.tasks.token_labels.reading import lines_document, on_file, opening

_TEXTS_AT_ONCE = 4096
_UNUSED = (
    "text_pair", "separator", "quoting", "header",
    "merge_labels", "whole_labels", "max_labels", "truncation",
)  # fmt: skip
_READ_OTHERWISE = marked("engine", "tagged words are read in their own way, and none is truncated")


@dataclass(frozen=True)
class TaggedSetup(Setup):
    """Windows of each part; those to measure on bring their words."""

    set_kind: ClassVar[type[EncodedRows]] = TaggedRows

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags of the data, those of the head first."""
        return tuple(self.about["tags"])

    def belongs_together(self) -> bool:
        """Whether targets and tags fit, as far as can be seen."""
        try:
            tags = as_kind(tuple[str, ...], self.about["tags"])
        except (KeyError, TypeError, ValueError):
            return False
        measured = [one for name, one in self.sets.items() if name != "train"]
        fits = all(isinstance(one, TaggedRows) and len(one.tags) for one in measured)
        fits = fits and all(one.tags.max() < len(tags) for one in measured if isinstance(one, TaggedRows))
        return fits and tuple(tags[: len(self.labels)]) == self.labels and super().belongs_together()


@dataclass(frozen=True, slots=True)
class Part:
    """Some texts of a file, in ascending order. tags: of all files. known: of each tag of the file its place
    among these.
    """

    texts: TaggedTable
    places: Numbers
    tags: tuple[str, ...]
    known: Codes

    def __len__(self) -> int:
        return len(self.places)

    def encoded(
        self, num_labels: int, wordpiece: Tokenizer, max_length: int, *, is_measured: bool
    ) -> Steps[TaggedRows]:
        """Cut the words into windows."""
        found = yield from cutting(
            self.texts.store,
            self.places,
            lambda words: self.known[self.texts.codes[words]],
            num_labels,
            wordpiece,
            max_length,
            is_measured=is_measured,
        )
        if unseen := found.num_words - int(found.answer_bounds[-1]):
            template = marked(
                "engine",
                "Words of {name} without a piece, such as byte order marks: {count:,}. The model "
                "does not see them, and they count as undecided.",
            )
            yield Noted(sentence=Sentence(template, {"name": self.texts.path.name, "count": unseen}))
        return found

    def blocks(self) -> Iterator[Block]:
        """Yield the texts as they stand in the file, some at a time."""
        for start in range(0, len(self), _TEXTS_AT_ONCE):
            some = self.texts.store.take(self.places[start : start + _TEXTS_AT_ONCE])
            yield [some.text(place)[0] for place in range(len(some))], None

    def keys(self) -> Steps[Keys]:
        """Return (S,) int64, equal where the words of texts are."""
        keys = np.zeros(len(self), np.int64)
        for start in range(0, len(self), _TEXTS_AT_ONCE):
            some = self.texts.store.take(self.places[start : start + _TEXTS_AT_ONCE])
            words = some.words()
            keys[start : start + len(some)] = [
                hash(tuple(words[first:stop])) for first, stop in pairwise(some.firsts.tolist())
            ]
            yield Beat()
        return keys


def part_of(texts: TaggedTable, tags: Sequence[str], places: Numbers | None = None) -> Part:
    """Return texts of a file, all of them where no places are given. Args: tags: all there are."""
    numbers = {tag: number for number, tag in enumerate(tags)}
    known = np.array([numbers[tag] for tag in texts.tags], np.int16)
    return Part(texts, np.arange(len(texts)) if places is None else places, tuple(tags), known)


def prepare(config: FineTuneConfig) -> Steps[TaggedSetup]:
    """Read, check, split and cut; a generator of events whose return value is the `TaggedSetup`.

    Raises: DataError, ModelError, ConfigError in one sentence, before long work.
    """
    data = config.data
    _check(config)
    shape, wordpiece = starting(config)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    yield from on_ignored(config)
    yield from data_notes.on_unused(data, _UNUSED, _READ_OTHERWISE)
    read, parts, places = yield from reading_parts(config)
    own = read[0]
    labels, tags = own.tags, parts["train"].tags
    about = {
        "task": "token-labels",
        "labels": list(labels),
        "tags": list(tags),
        "roles": {"text": own.format.word, "label": own.format.tag, "sentence": own.format.sentence},
        "kind": own.format.kind,
        "scheme": own.format.scheme,
        **about_data(config, own.path.name, own.sha256, len(own), places),
        "cut_share": 0.0,  # what is too long is read in windows
        "reported": lines_document(read, "reported"),
        "repaired": lines_document(read, "repaired"),
    }
    hashes = yield from told_again(parts)
    known = yield from telling_start(config.model.model, hashes, about["split"])
    yield from _on_parts(parts, labels, known)
    sets: dict[str, EncodedRows] = {}
    for name, part in parts.items():
        sets[name] = yield from part.encoded(
            len(labels), wordpiece, data.max_length, is_measured=name != "train"
        )
        if not len(sets[name]):
            template = marked(
                "engine", "No word of {name} has a piece that the model sees. Choose another vocabulary."
            )
            raise DataError(template, name=part.texts.path.name)
        yield from _on_windows(sets[name], name, data.max_length)
    shape = dataclasses.replace(shape, id2label=labels)
    return TaggedSetup(shape, wordpiece, about, labels, sets, learned=hashes["train"].hashes)


def reading_parts(
    config: FineTuneConfig,
) -> Steps[tuple[list[TaggedTable], dict[str, Part], list[Indices]]]:
    """Read and split; return the files, the data first; each part by name; and which of the data's texts are
    in each of SPLITS.

    Raises: DataError, ConfigError in one sentence.
    """
    data = config.data
    own = yield from opening(data, data.data)
    yield from on_file(own)
    others = {}
    for name, path in data.apart.items():
        with of_setting(f"{name}_data"):
            others[name] = yield from opening(data, path, f"{name}_data")
        yield from on_file(others[name])
    read = [own, *others.values()]
    tags = tuple(dict.fromkeys(tag for one in read for tag in one.tags))
    keys = yield from part_of(own, tags).keys()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    together = firsts[which]  # texts of the same words stay on one side, named by the first of them
    places = split_of(data, np.zeros(len(own), np.int64), together)
    parts = {
        name: part_of(own, tags, chosen) for name, chosen in zip(SPLITS, places, strict=True) if len(chosen)
    }
    parts |= {name: part_of(other, tags) for name, other in others.items()}
    if "train" not in parts:
        raise DataError(marked("engine", "No texts are left to train on."))
    return read, parts, places


def told_again(parts: Mapping[str, Part]) -> Steps[dict[str, HashedRows]]:
    """Return what tells the texts of each part again."""
    return hashes_of_parts({name: (part.blocks(), part.texts.sha256) for name, part in parts.items()})


def _check(config: FineTuneConfig) -> None:
    """Refuse what words cannot be trained with. Raises: ConfigError naming the setting."""
    if config.adapt.rare_labels == REPEATED:
        raise ConfigError(
            marked(
                "engine",
                "{field} is {value}, but a text holds words of many tags, so repeating it "
                "repeats the common ones too. Choose weighted.",
            ),
            field="rare_labels",
            value=REPEATED,
        )


def _on_parts(parts: Mapping[str, Part], labels: Sequence[str], known: Collection[str]) -> Iterator[Event]:
    """Tell which texts stand in two parts, and which tags are measured that nobody learns.

    Args: known: the parts that the model to start from has learned from.
    """
    keys = {}
    for name, part in parts.items() if len(parts) > 1 else ():
        keys[name] = yield from part.keys()
    yield from data_notes.on_shared(keys, known)
    for texts in dict.fromkeys(part.texts for part in parts.values()):
        unknown = [tag for tag in texts.tags if tag not in set(labels)]
        if unknown:
            yield Noted(sentence=on_unknown(texts.path.name, unknown))


def on_unknown(name: str, tags: Sequence[str]) -> Sentence:
    """Return what to say of tags that the head does not know."""
    template = marked(
        "engine", "{name} holds tags that the model does not know, which count as errors: {tags} ({count})."
    )
    shown = some_of([tag[:40] for tag in tags], 10)
    return Sentence(template, {"name": name, "tags": shown, "count": len(tags)})


def _on_windows(found: EncodedRows, name: str, max_length: int) -> Iterator[Event]:
    """Tell how many texts are read in several windows."""
    rows, counts = np.unique(found.rows, return_counts=True)
    if several := int((counts > 1).sum()):
        template = marked(
            "engine",
            "{count:,} of {total:,} {part} texts are longer than {length} pieces. They "
            "are read in overlapping windows, and each word is decided once.",
        )
        values = {"count": several, "total": len(rows), "part": name, "length": max_length}
        yield Noted(sentence=Sentence(template, values), level="fine")
