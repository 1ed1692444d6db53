"""What the Label page asks the workers: plain functions that touch no Qt object.

A place is a text's number among those that are not empty; a row is its number in the table.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from app.work.models import OpenModels
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.kept_vectors import KeptVectors, default_vectors_root, vectors_key
from engine.inspect.embeddings.vectors import PoolingConfig, embed, usual_kind
from engine.labelling.features import features
from engine.labelling.measure import Sampled, on_sample, sample_of, shares_of
from engine.labelling.order import NUM_SPREAD, RANDOM, RANDOM_SHARE, TURNS, Choice, LabelOrder
from engine.labelling.outlook import Outlook, foretold
from engine.labelling.prevalence import Prevalence
from engine.text.table import Table
from engine.train.ways.regression import USUAL_STRENGTH, Floats, Labels, chosen_strength, fit

SEED = 42
T = TypeVar("T")
AT_ONCE = 256  # texts that get their vectors between two looks at whether a person pauses
MOST_PIECES = 256  # of a text are read
NUM_AHEAD = 6  # texts that are chosen before the next label is given
CHOOSE_EVERY = 50  # labels, from the first of these on, the strength of the regression is chosen again
CURVE_POINTS = 8  # at most, that are measured anew where a person goes on with labels of before
MEASURED_EVERY = 10  # labels
MOST_FOUND = 200
NUM_NEAREST = 3


@dataclass(frozen=True, eq=False)
class LabelTexts:
    """The texts that can be labelled. columns: read one after the other. rows: (E,) of the table.

    shuffled: (E,) places in the order in which texts are drawn at random.
    """

    table: Table
    columns: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    shuffled: npt.NDArray[np.int64]

    def text(self, place: int) -> str:
        """Return a text as a person reads it."""
        row = int(self.rows[place])
        return "\n\n".join(str(self.table.frame[name].array[row]) for name in self.columns)

    def place(self, row: int) -> int | None:
        """Return the place of a row; None: its text is empty."""
        place = int(self.places([row])[0])
        return place if place >= 0 else None

    def places(self, rows: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the place of each row, -1 where its text is empty."""
        wanted = np.array(rows, np.int64)
        if not len(self.rows):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
        return np.where(self.rows[at] == wanted, at, -1)

    def sample(self, given: Sequence[int], skipped: Sequence[int]) -> tuple[int, ...]:
        """Return the labelled rows that are a random sample of all but those skipped: see `LabelOrder`."""
        closed, skipped_ones = {*given, *skipped}, {*skipped}
        beginning = takewhile(closed.__contains__, self.rows[self.shuffled].tolist())
        return tuple(row for row in beginning if row not in skipped_ones)

    def line(self, place: int) -> int:
        """Return the line of the file that a text stands in."""
        return int(self.table.lines[int(self.rows[place])])


@dataclass(eq=False)
class VectorsSoFar:
    """Vectors of the first texts, chunk by chunk; what was made before a pause is not made again.

    texts: that they are of; None: there are no vectors yet.
    """

    chunks: list[Floats] = field(default_factory=list)
    done: int = 0
    texts: LabelTexts | None = None

    def add(self, chunk: Floats) -> None:
        """Take the vectors of the texts that come next."""
        self.chunks.append(chunk)
        self.done += len(chunk)

    @property
    def vectors(self) -> Floats:
        """(n, D)."""
        return np.concatenate(self.chunks)

    def changed(self, texts: LabelTexts) -> list[int]:
        """Return the places whose texts were others when their vectors were made."""
        before = self.texts
        if before is None or before is texts:
            return []
        return [place for place in range(self.done) if before.text(place) != texts.text(place)]

    def put(self, places: Sequence[int], vectors: Floats) -> None:
        """Put other vectors in some places. Args: vectors: (n, D) of these."""
        every = self.vectors
        every[places] = vectors
        self.chunks = [every]


@dataclass(frozen=True, eq=False)
class KnownTexts:
    """Texts with what is known of them. vectors: (E, F) their `features`."""

    texts: LabelTexts
    folder: Path
    vectors: Floats
    order: LabelOrder
    _strengths: dict[bytes, float] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: LabelTexts, folder: Path, vectors: Floats) -> KnownTexts:
        """Return texts with (E, D) vectors as the model in a folder gave them."""
        known = features(vectors, [texts.text(place) for place in range(len(texts.rows))])
        return cls(texts, folder, known, LabelOrder(known, SEED))

    def strength(self, given: GivenLabels) -> float:
        """Return the strength of a regression on some labels: chosen by the first of them, in steps of
        CHOOSE_EVERY, so that the same labels say the same after a restart, too.
        """
        part = given.first(len(given.places) // CHOOSE_EVERY * CHOOSE_EVERY)
        if not part.places:
            return USUAL_STRENGTH
        places = np.array(part.places)
        key = places.tobytes() + part.targets.tobytes() + bytes(part.num_labels)
        if key not in self._strengths:
            chosen = chosen_strength(self.vectors[places], part.targets, part.num_labels, SEED)
            self._strengths[key] = chosen
        return self._strengths[key]

    def nearest(self, place: int, among: Sequence[int]) -> list[tuple[int, float]]:
        """Return the most similar of some texts with their cosines, the text itself not among them."""
        others = np.array([one for one in among if one != place], np.int64)
        if not len(others):
            return []
        cosines = self.order.directions[others] @ self.order.directions[place]
        best = np.argsort(-cosines, kind="stable")[:NUM_NEAREST]
        return [(int(others[at]), float(cosines[at])) for at in best]


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """The labels as a regression takes them. places, targets: (n,). skipped: places.

    labels: (C,) the numbers that the codebook has for them; a target is a place among these. turns: how many
    of the texts were chosen by the order.
    """

    places: tuple[int, ...]
    targets: Labels
    skipped: tuple[int, ...]
    labels: tuple[int, ...]
    turns: int = 0

    @property
    def num_labels(self) -> int:
        """C."""
        return len(self.labels)

    @property
    def can_teach(self) -> bool:
        """Whether there are enough, and two different ones."""
        return len(self.places) >= NUM_SPREAD and len(np.unique(self.targets)) > 1

    def first(self, count: int) -> GivenLabels:
        """Return the first of them."""
        return GivenLabels(self.places[:count], self.targets[:count], self.skipped, self.labels)


@dataclass(frozen=True, eq=False)
class Learned:
    """What a model says once it has learned from some labels. probabilities: (E, C); None: too few labels.

    ahead: the texts that come next, the first first.
    """

    given: GivenLabels
    probabilities: npt.NDArray[np.float64] | None
    ahead: tuple[Choice, ...]


@dataclass(frozen=True, eq=False)
class Measures:
    """How good it is by the random sample: now, and after fewer labels. shares: None: the sample is small.

    outlook: what more labels would bring; None: that cannot be told.
    """

    points: tuple[Sampled, ...]
    shares: Prevalence | None
    outlook: Outlook | None


def find_texts(table: Table, columns: tuple[str, ...]) -> LabelTexts:
    """Return the texts of a table that are not empty."""
    is_there = np.zeros(table.num_rows, bool)
    for name in columns:
        is_there |= np.fromiter((bool(cell.strip()) for cell in table.frame[name]), bool, table.num_rows)
    is_there[list(table.left_out)] = False
    rows = np.flatnonzero(is_there)
    return LabelTexts(table, columns, rows, np.random.default_rng(SEED).permutation(len(rows)))


def find_vectors(
    models: OpenModels, folder: Path, texts: LabelTexts, so_far: VectorsSoFar
) -> Generator[Event, None, KnownTexts]:
    """Return texts with their vectors, going on where `so_far` ends, or what is kept on the disk; yields
    Progress. Raises: UserError.
    """
    subject = models.subject(folder)
    pooling = PoolingConfig(usual_kind(subject.about)).of(subject.about)
    total, stage = len(texts.rows), marked("engine", "Computing vectors")
    every = [texts.text(place) for place in range(total)]
    key = yield from _silent(vectors_key(subject.about, pooling, MOST_PIECES, every))
    kept = KeptVectors(default_vectors_root(), key)

    def made(said: Sequence[str]) -> Generator[Event, None, Floats]:
        chunk = np.zeros((len(said), subject.config.hidden_size), np.float32)
        if any(len(ids) for ids in subject.wordpiece.encode_ids(said)):
            found = yield from _silent(embed(subject, said, [pooling], max_length=MOST_PIECES))
            chunk[found.places] = found.of(pooling)
        return chunk

    if not so_far.done:
        so_far.add(kept.read(total, subject.config.hidden_size))
    changed = so_far.changed(texts)
    if changed:
        so_far.put(changed, (yield from made([every[place] for place in changed])))
    so_far.texts = texts
    num_kept = 0 if changed else so_far.done
    try:
        while so_far.done < total:
            yield Progress(stage=stage, done=so_far.done, total=total)
            so_far.add((yield from made(every[so_far.done : so_far.done + AT_ONCE])))
    finally:  # where a person pauses or closes the window, too
        if so_far.done > num_kept:
            with suppress(UserError):  # not kept, so made again next time: slower, not wrong
                kept.write(so_far.vectors)
    return KnownTexts.of(texts, folder, so_far.vectors)


def _silent(steps: Generator[Event, None, T]) -> Generator[Event, None, T]:
    """Go through steps whose progress is told as a part of another's."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        yield Progress(stage="", done=0, total=0)


def random_ahead(texts: LabelTexts, closed: Sequence[int]) -> tuple[Choice, ...]:
    """Return what comes next while nothing is known of the texts: at random, as `LabelOrder` draws them."""
    is_closed, found = {*closed}, list[Choice]()
    for place in texts.shuffled.tolist():
        if place not in is_closed:
            found.append(Choice(place, RANDOM))
            if len(found) == NUM_AHEAD:
                break
    return tuple(found)


def learn(
    known: KnownTexts, given: GivenLabels, shown: Sequence[Choice], random_share: float = RANDOM_SHARE
) -> Learned:
    """Learn from the labels, and choose what comes after the texts that are shown now.

    Args: shown: those that will have a label before the next one is chosen.
    """
    probabilities = None
    if given.can_teach:
        fitted = fit(known.vectors[list(given.places)], given.targets, known.strength(given))
        probabilities = fitted.probabilities(known.vectors, given.num_labels)
    return Learned(given, probabilities, next_ahead(known, given, shown, probabilities, random_share))


def next_ahead(
    known: KnownTexts,
    given: GivenLabels,
    shown: Sequence[Choice],
    probabilities: npt.NDArray[np.float64] | None,
    random_share: float,
) -> tuple[Choice, ...]:
    """Return what comes after the texts that are shown. Args: probabilities: as `LabelOrder.next` has it."""
    closed, ahead = [*given.places, *(choice.place for choice in shown)], list[Choice]()
    turns = given.turns + sum(choice.why in TURNS for choice in shown)
    while len(ahead) < NUM_AHEAD:
        choice = known.order.next(
            closed, probabilities, given.skipped, random_share=random_share, turn=turns + len(ahead)
        )
        if choice is None:
            break
        ahead.append(choice)
        closed.append(choice.place)
    return tuple(ahead)


def measure(
    known: KnownTexts, learned: Learned, before: Sequence[Sampled]
) -> Generator[Event, None, Measures]:
    """Return how good the labels make a model. Args: before: points of the curve that are known."""
    given, points = learned.given, {point.labels: point for point in before}
    count = len(given.places)
    steps = max(MEASURED_EVERY, -(-count // (CURVE_POINTS * MEASURED_EVERY)) * MEASURED_EVERY)
    for number in sorted({*range(2 * MEASURED_EVERY, count, steps), count}):
        part = given.first(number)
        if number in points or not part.can_teach:
            continue
        sample = sample_of(known.order, part.places, part.skipped)
        strength = known.strength(part)
        points[number] = on_sample(
            known.vectors, part.places, part.targets, part.num_labels, sample, strength, SEED
        )
        yield Progress(stage=marked("engine", "Measuring"), done=number, total=count)
    kept = (number for number in sorted(points) if number == count or not number % MEASURED_EVERY)
    found = tuple(points[number] for number in kept if number <= count)
    newest = points.get(count)
    shares = None
    if newest is not None and learned.probabilities is not None:
        shares = shares_of(newest, learned.probabilities, given.places, given.targets)
    outlook = None
    if newest is not None:
        places = np.array(given.places)
        strength = known.strength(given)
        telling = foretold(known.vectors, places, given.targets, newest.sample, strength, seed=SEED)
        outlook = yield from telling
    return Measures(found, shares, outlook)


def search_texts(texts: LabelTexts, wanted: str) -> Generator[Event, None, tuple[int, ...]]:
    """Return the places of texts that hold some words, in the order of the table; MOST_FOUND at most."""
    found, sought = list[int](), wanted.casefold()
    for place in range(len(texts.rows)):
        if place % 1000 == 0:
            yield Progress(stage=marked("engine", "Searching"), done=place, total=len(texts.rows))
        if sought in texts.text(place).casefold():
            found.append(place)
            if len(found) == MOST_FOUND:
                break
    return tuple(found)
