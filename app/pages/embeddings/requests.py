"""What the Embeddings page asks the workers: plain functions that touch no Qt object.

`Vectors` are made once and never changed, so that the page may keep them and hand them to later questions.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.plots.attention_image import Picture
from app.plots.similarity import picture_of
from app.work.models import OpenModels
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress, Steps
from engine.inspect.embeddings import poolings
from engine.inspect.embeddings.contexts import embed_word
from engine.inspect.embeddings.meanings import Meanings, Parting, compare_meanings, parting
from engine.inspect.embeddings.projection import Projection, project
from engine.inspect.embeddings.similarity import (
    nearest_of_each,
    neighbours,
    order_by_group,
    order_by_likeness,
    similarities,
    spread,
    unit,
)
from engine.inspect.embeddings.table import notes_of
from engine.inspect.embeddings.vectors import PoolingConfig, embed, every_layer, kinds_of, num_bytes
from engine.inspect.loaded_model import LoadedModel
from engine.model.info import read_info
from engine.model.own_encoder import read_by
from engine.settings.finetune import FineTuneConfig
from engine.text.table import Table
from engine.train.learned import hashes_of, learned_by
from engine.train.run.kept import name_of, run_of
from engine.train.run.runs import read_config

WORD = "word"  # the kind of pooling of a word: the mean of its pieces
MOST_BYTES = 320 * 2**20  # of vectors that are kept so that another pooling or layer shows at once
MOST_SIMILAR = 240  # texts of a matrix, about as many as there are pixels
BEFORE, AFTER = 32, 90  # characters that are kept around a word
NUM_NEIGHBOURS = 20


@dataclass(frozen=True, eq=False)
class TextSource:
    """Which texts. kind: "table", "typed" or "word".

    overrides: how a person had the table read. rows: (E,) of the table; with "word", those that are searched.
    lines: typed, each with its group or "".
    """

    kind: str
    table: Table | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    column: str = ""
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    lines: tuple[tuple[str, str], ...] = ()
    word: str = ""
    max_length: int = 128
    words: str = ""  # what it is, for captions
    group: str = ""  # what the groups of typed lines are called; "": as the page calls them


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors and what they are of. values: (P, E, D). columns: values by name, E each, to colour by.

    texts: (E,); of a word, what stands around it. spans: characters of the word in its whole text; none for
    texts. Of a word alone: wholes: (E,) the whole texts; background: (L + 1,), how alike any two tokens are;
    table: (E, D), its vectors in the word table; lacking: places of sentences without it.
    """

    source: TextSource
    folder: Path
    name: str
    fingerprint: str
    texts: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]
    rows: np.ndarray
    poolings: tuple[PoolingConfig, ...]
    kinds: tuple[str, ...]  # that the model can give
    values: np.ndarray
    seconds: float
    notes: tuple[Sentence, ...]
    order: np.ndarray  # (E,), which of the source's texts they are
    spans: tuple[tuple[int, int], ...] = ()
    wholes: tuple[str, ...] = ()
    background: np.ndarray | None = None
    table: np.ndarray | None = None
    lacking: tuple[int, ...] = ()

    def has(self, pooling: PoolingConfig) -> bool:
        return pooling in self.poolings

    def at(self, pooling: PoolingConfig) -> np.ndarray:
        """Return (E, D)."""
        found: np.ndarray = self.values[self.poolings.index(pooling)]
        return found


@dataclass(frozen=True, eq=False)
class TextMap:
    """Points of a map, and how alike any two vectors are."""

    vectors: Vectors
    pooling: PoolingConfig
    projected: Projection
    any_two: float | None


@dataclass(frozen=True, eq=False)
class TwoModels:
    """The same texts by two models, each on a map of its own.

    places: (E,), of `vectors`, those that both can read. points: of either, (E, 2). shift: None
    without classes.
    """

    vectors: Vectors
    pooling: PoolingConfig
    folder: Path
    name: str
    fingerprint: str
    other_pooling: PoolingConfig
    places: np.ndarray
    before: Projection
    after: Projection
    shift: poolings.Shift | None
    num_learned: int | None  # of the texts, that one of the two was trained on; None: some of this table


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The texts most like one. places, cosines: (k,)."""

    vectors: Vectors
    place: int
    places: np.ndarray
    cosines: np.ndarray


@dataclass(frozen=True, eq=False)
class CosineMatrix:
    """Cosines of some texts in the order in which they are shown. places: (n,) of the texts."""

    vectors: Vectors
    places: np.ndarray
    values: np.ndarray
    picture: Picture
    is_part: bool


@dataclass(frozen=True, eq=False)
class LayerLikeness:
    """Mean cosines from layer to layer, NaN where there is no such pair; each (L + 1,).

    agreement: 0..1, texts whose nearest neighbour is of their group.
    """

    vectors: Vectors
    within: np.ndarray
    between: np.ndarray
    any_two: np.ndarray
    agreement: np.ndarray


@dataclass(frozen=True, eq=False)
class WordMeanings:
    """A word's uses and whether they part by meaning."""

    vectors: Vectors
    meanings: Meanings


@dataclass(frozen=True, eq=False)
class TextsAnswer:
    """Which texts are similar. pair: the two that are most so, by their places, and their cosine.

    parting: None where there are no classes, or only one.
    """

    vectors: Vectors
    pooling: PoolingConfig
    pair: tuple[int, int]
    cosine: float
    any_two: float
    parting: Parting | None


def sample_rows(table: Table, count: int, seed: int | None) -> np.ndarray:
    """Return rows of a table in their order: the first, or drawn with a seed."""
    if seed is None or count >= table.num_rows:
        return np.arange(min(count, table.num_rows))
    keys = np.random.PCG64(seed).random_raw(table.num_rows)  # a stream that no numpy will change
    return np.sort(np.argsort(keys, kind="stable")[:count])


def snippet(text: str, start: int, stop: int) -> str:
    """Return what stands around a word, the word itself between «»."""
    before, after = " ".join(text[:start].split()), " ".join(text[stop:].split())
    left = before if len(before) <= BEFORE else "…" + before[-BEFORE:]
    right = after if len(after) <= AFTER else after[:AFTER] + "…"
    gaps = [" " if edge.isspace() else "" for edge in (text[start - 1 : start], text[stop : stop + 1])]
    return f"{left}{gaps[0]}«{text[start:stop]}»{gaps[1]}{right}"


def find_vectors(
    models: OpenModels, folder: Path, source: TextSource, pooling: PoolingConfig, group: str
) -> Generator[Event, None, Vectors]:
    """Return the vectors of some texts; yields Progress. Args: group: what the typed groups are called."""
    subject = models.subject(folder)
    if source.kind == "word":
        return (yield from _of_word(subject, source, group))
    return (yield from _of_texts(subject, source, pooling, group))


def draw_map(
    vectors: Vectors, pooling: PoolingConfig, method: str, perplexity: float, seed: int
) -> Generator[Event, None, TextMap]:
    """Return the points of a map; yields Progress."""
    values = vectors.at(pooling)
    found = yield from project(values, method, perplexity=perplexity, seed=seed)
    return TextMap(vectors, pooling, found, spread(values).any_two)


def find_partner(folder: Path, candidates: Sequence[Path]) -> Path | None:
    """Return the model that one was fine-tuned from, else one that was fine-tuned from it; None: neither is
    among the candidates.
    """
    run = run_of(folder)
    if run is not None:
        with suppress(UserError):
            config = read_config(run)
            began = Path(config.model.model) if isinstance(config, FineTuneConfig) else folder
            if began.is_dir() and run_of(began) != run:
                return began
    base, own = read_info(folder).get("base_model"), name_of(folder)
    others = [path for path in candidates if path.absolute() != folder.absolute()]
    before = [path for path in others if name_of(path) == base]
    with suppress(UserError):
        after = [path for path in others if read_info(path).get("base_model") == own]
        return next(iter([*before, *after]), None)
    return next(iter(before), None)


def draw_pair(
    models: OpenModels,
    vectors: Vectors,
    pooling: PoolingConfig,
    other: Path,
    way: tuple[str, float, int],
    groups: np.ndarray | None,
) -> Generator[Event, None, TwoModels]:
    """Return the same texts by another model beside this one's; yields Progress.

    The layer is the same where the other has it, else its last. Args: way: the kind of map, its
    perplexity and
    seed. Raises: UserError.
    """
    subject, source = models.subject(other), vectors.source
    texts, _columns, _rows = _texts_of(source, "")
    depth = subject.about.config.num_hidden_layers
    is_last = pooling.layer == _depth_of(vectors, pooling)
    chosen = PoolingConfig(pooling.kind, depth if is_last else min(pooling.layer, depth)).of(subject.about)
    found = yield from embed(subject, texts, [chosen], max_length=source.max_length)
    both, here, there = np.intersect1d(vectors.order, found.places, return_indices=True)
    one, two = vectors.at(pooling)[here], found.of(chosen)[there]
    method, perplexity, seed = way
    maps = []
    for values in (one, two):
        maps.append((yield from project(values, method, perplexity=perplexity, seed=seed)))
    shown = [vectors.texts[place] for place in here.tolist()]
    shift = None
    if groups is not None and len(both) > 2:
        with suppress(UserError):  # too few of a class
            shift = poolings.shift(shown, groups[here].tolist(), one, two)
    learned = yield from _num_learned([texts[place] for place in both], source, (vectors.folder, other))
    about = (subject.name, subject.fingerprint, chosen)
    return TwoModels(vectors, pooling, other, *about, here, maps[0], maps[1], shift, learned)


def _num_learned(texts: Sequence[str], source: TextSource, models: Sequence[Path]) -> Steps[int | None]:
    """Return on how many of some texts one of the models was trained, as far as they have kept that; None
    where only the file is known, and not which of its rows.
    """
    hashes = yield from hashes_of([(texts, None)])
    every = [learned_by(model) for model in models]
    count = int(np.any([each.seen(hashes) for each in every], axis=0).sum())
    table = source.table
    if not count and table is not None and any(each.file(table.sha256) is not None for each in every):
        return None
    return count


def _depth_of(vectors: Vectors, pooling: PoolingConfig) -> int:
    """Return the last layer that there are vectors of."""
    return max(one.layer for one in vectors.poolings if one.kind == pooling.kind)


def find_meanings(vectors: Vectors, groups: np.ndarray | None) -> WordMeanings:
    """Return whether a word's uses part by meaning. Args: groups: (E,), -1 for none; None: nobody says."""
    assert vectors.table is not None  # they are of a word
    numbers = np.full(len(vectors.texts), -1) if groups is None else groups
    return WordMeanings(vectors, compare_meanings(vectors.table, vectors.values[1:], numbers))


def describe_texts(vectors: Vectors, pooling: PoolingConfig, groups: np.ndarray | None) -> TextsAnswer:
    """Return which texts are most similar, and whether neighbours are of one class. Raises: UserError."""
    values = vectors.at(pooling)
    if len(values) < 2:
        raise UserError(marked("engine", "At least two texts are needed. Add another."))
    nearest, scaled = nearest_of_each(values), unit(values)
    cosines = (scaled * scaled[nearest]).sum(1)
    first = int(cosines.argmax())
    parted = None if groups is None else parting(values, groups)
    any_two = spread(values).any_two
    pair = first, int(nearest[first])
    return TextsAnswer(vectors, pooling, pair, float(min(1, cosines[first])), float(any_two or 0), parted)


def find_neighbours(vectors: Vectors, pooling: PoolingConfig, place: int) -> Neighbours:
    """Return the texts most like one."""
    places, cosines = neighbours(vectors.at(pooling), place, NUM_NEIGHBOURS)
    return Neighbours(vectors, place, places, cosines)


def compare_texts(
    vectors: Vectors, pooling: PoolingConfig, groups: np.ndarray | None, by_group: bool
) -> CosineMatrix:
    """Return the cosines of any two texts, or of any two of a part of them, spread evenly."""
    values = vectors.at(pooling)
    count = len(values)
    taken = np.arange(count)
    if count > MOST_SIMILAR:
        taken = np.unique(np.linspace(0, count - 1, MOST_SIMILAR).astype(np.int64))
    chosen = values[taken]
    order = order_by_group(chosen, groups[taken]) if by_group and groups is not None else None
    if order is None:
        order = order_by_likeness(chosen)
    cosines = similarities(chosen[order])
    return CosineMatrix(vectors, taken[order], cosines, picture_of(cosines), len(taken) < count)


def compare_layers(
    vectors: Vectors, kind: str, groups: np.ndarray | None
) -> Generator[Event, None, LayerLikeness]:
    """Return how alike texts are at each layer, of a kind of pooling that has one; yields Progress."""
    places = [place for place, pooling in enumerate(vectors.poolings) if pooling.kind == kind]
    found = [spread(vectors.values[place], groups) for place in places]
    agreement = np.full(len(places), np.nan)
    if groups is not None and len(np.unique(groups[groups >= 0])) > 1:
        inside = groups >= 0
        for layer, place in enumerate(places):
            yield Progress(stage=marked("engine", "Comparing layers"), done=layer, total=len(places))
            nearest = nearest_of_each(vectors.values[place][inside])
            agreement[layer] = (groups[inside][nearest] == groups[inside]).mean()
    within, between, any_two = (
        np.array([np.nan if value is None else value for value in values], np.float64)
        for values in zip(*((one.within, one.between, one.any_two) for one in found), strict=True)
    )
    background = any_two if vectors.background is None else vectors.background.astype(np.float64)
    return LayerLikeness(vectors, within, between, background, agreement)


def compare_poolings(
    models: OpenModels, folder: Path, source: TextSource, column: str, layer: int
) -> Generator[Event, None, poolings.PoolingComparison]:
    """Return all poolings of a model, measured; yields Progress.

    Args: column: of the table, whose values are the classes; typed texts have their own.
    """
    texts, columns, _rows = _texts_of(source, "")
    cells = [cell.strip() for cell in columns.get(column, [""] * len(texts))]
    places = {name: place for place, name in enumerate(dict.fromkeys(filter(None, cells)))}
    groups = [places.get(cell, -1) for cell in cells]
    return (
        yield from poolings.compare_poolings(
            models.subject(folder), texts, groups, layer=layer, max_length=source.max_length
        )
    )


def _texts_of(source: TextSource, group: str) -> tuple[list[str], dict[str, list[str]], np.ndarray]:
    """Return the texts, what they can be coloured by, and their rows (-1 for typed ones)."""
    group = source.group or group
    if source.lines or source.table is None:
        texts = [sentence for _group, sentence in source.lines]
        groups = [name for name, _sentence in source.lines]
        return texts, {group: groups} if any(groups) else {}, np.full(len(texts), -1)
    frame = source.table.frame.iloc[source.rows]
    columns = {name: frame[name].tolist() for name in source.table.columns if name != source.column}
    return frame[source.column].tolist(), columns, source.rows


def _of_texts(
    subject: LoadedModel, source: TextSource, pooling: PoolingConfig, group: str
) -> Generator[Event, None, Vectors]:
    texts, columns, rows = _texts_of(source, group)
    chosen = _worth_keeping(subject, len(texts), pooling)
    found = yield from embed(subject, texts, chosen, max_length=source.max_length)
    notes = [*read_by(subject.about.encoder_name), *(event.sentence for event in notes_of(found, None))]
    return Vectors(
        **_shared(subject, source),
        **_at(found.places, texts, columns, rows),
        poolings=found.poolings,
        values=found.vectors,
        seconds=found.seconds,
        notes=tuple(notes),
    )


def _of_word(subject: LoadedModel, source: TextSource, group: str) -> Generator[Event, None, Vectors]:
    texts, columns, rows = _texts_of(source, group)
    found = yield from embed_word(subject, source.word, texts)
    places = np.array([place.sentence for place in found.places], np.int64)
    shared = _at(places, texts, columns, rows)
    spans = tuple((place.start, place.stop) for place in found.places)
    wholes = shared["texts"]
    shared["texts"] = tuple(snippet(text, *span) for text, span in zip(shared["texts"], spans, strict=True))
    notes = [*read_by(subject.about.encoder_name), *found.notes]
    if found.lacking and source.table is None:
        note = marked("engine", "Sentences without “{word}”: {count:,}.")
        notes.append(Sentence(note, {"count": len(found.lacking), "word": found.word}))
    return Vectors(
        **_shared(subject, source),
        **shared,
        poolings=tuple(PoolingConfig(WORD, layer) for layer in range(len(found.vectors))),
        values=found.vectors,
        seconds=0.0,
        notes=tuple(notes),
        spans=spans,
        wholes=wholes,
        background=found.background,
        table=found.table,
        lacking=found.lacking,
    )


def _worth_keeping(subject: LoadedModel, num_texts: int, pooling: PoolingConfig) -> list[PoolingConfig]:
    """Return what is computed in one pass: every pooling at every layer, or less where that is too much."""
    about = subject.about
    everything = [one for kind in kinds_of(subject.about) for one in every_layer(about, kind)]
    for wanted in (everything, list(every_layer(about, pooling.kind)), [pooling.of(about)]):
        if num_bytes(about, num_texts, len(wanted)) <= MOST_BYTES:
            return wanted
    if num_bytes(about, num_texts, 1) > 4 * MOST_BYTES:
        raise UserError(
            marked("engine", "{count} texts are too many to compute vectors for. Choose fewer."),
            count=num_texts,
        )
    return [pooling.of(about)]


def _shared(subject: LoadedModel, source: TextSource) -> dict[str, Any]:
    return {
        "source": source,
        "folder": subject.folder,
        "name": subject.name,
        "fingerprint": subject.fingerprint,
        "kinds": kinds_of(subject.about),
    }


def _at(
    places: np.ndarray, texts: Sequence[str], columns: dict[str, list[str]], rows: np.ndarray
) -> dict[str, Any]:
    """Return the texts, columns and rows at some places."""
    order = places.tolist()
    return {
        "texts": tuple(texts[place] for place in order),
        "columns": {name: tuple(cells[place] for place in order) for name, cells in columns.items()},
        "rows": rows[places],
        "order": np.asarray(places, np.int64),
    }
