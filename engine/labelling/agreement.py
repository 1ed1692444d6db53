"""How far two annotators agree on the rows that both labelled: a second person, or a large language model.

Raw agreement, Cohen's kappa and Krippendorff's alpha, each with a 95 % interval; label by label; and the rows
on which they differ. Kappa and alpha are functions of sums over rows: of how many differ, and of how often
each annotator gave each label. Their intervals are those of the Bayesian bootstrap over rows, or over groups
of rows that repeat one text. The rows of 20 or 50 may by chance hold no disagreement, or hardly one of a rare
label, and would then show no spread: so the lower end is that with one more row that differs, the upper end
that with one more that agrees, as in the exact interval of a share. benchmarks/bench_agreement.py simulates
how often they hold the truth. None is told where all labels save the commonest were given a few times only,
or where an annotator gave one label only.

Sources: Cohen 1960; Krippendorff 2011, "Computing Krippendorff's alpha-reliability", for two annotators and
nominal data; the bootstrap, Rubin 1981; the row more, Clopper and Pearson 1934 in its form of beta
distributions; agreement on one label, Cicchetti and Feinstein 1990, which is F1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from engine.errors import DataError, Sentence, marked
from engine.evaluation.report import groups_of
from engine.evaluation.statistics import TallyTable, bounded_interval, f1_of, is_single, share_interval
from engine.events import Beat, Steps
from engine.text.labels import nearly_equal
from engine.text.recipe import DISAGREEMENT, SECOND, Recipe
from engine.text.table import Table

# N rows that both labelled, C labels, P kinds of groups of rows, R draws

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

MOST_COMPARED = 200  # labels; more are free text, or lists
LEAST_RARE = 5  # labels that are not the commonest, of both annotators, below which nothing is told
_MOST_DRAWS, _LEAST_DRAWS = 4000, 1000
_NUMBERS, _AT_ONCE = 2e7, 1e6
_CELLS = 4096  # read at once
_LOOKED_AT, _MOST_COLUMNS = 200, 50  # rows and columns that tell which column is alike
ENDS = 0.025, 0.975  # of the draws
GOOD, TENTATIVE, TOO_LOW, INCONCLUSIVE = "good", "tentative", "too_low", "inconclusive"
LEAST_GOOD, LEAST_TENTATIVE = 0.8, 0.667  # of alpha: Krippendorff 2004, Content Analysis, p. 241
_VERDICTS = {
    GOOD: marked(
        "engine",
        "The second labels are good enough to train on: the whole interval of alpha is at or above 0.8.",
    ),
    TENTATIVE: marked(
        "engine",
        "The second labels allow tentative conclusions only: the interval of alpha begins between 0.667 and "
        "0.8.",
    ),
    TOO_LOW: marked(
        "engine", "The second labels are too unlike to train on: the whole interval of alpha is below 0.667."
    ),
    INCONCLUSIVE: marked(
        "engine",
        "Inconclusive: the interval of alpha holds 0.667, the least that is tentative. More rows with both "
        "labels would decide.",
    ),
}
_TOO_FEW = marked(
    "engine", "Inconclusive: nearly all rows have one label. More rows with the others would decide."
)
_CONSTANT = marked(
    "engine",
    "Inconclusive: column {column} has one label only. Agreement beyond chance needs two in each column.",
)
RULE = marked(
    "engine", "Rule of Krippendorff (2004): alpha from 0.8 is good, from 0.667 tentative, below that too low."
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its 95 % interval. value: None where only one label occurs, which tells nothing.

    interval: None where labels save the commonest are too few, or one annotator gave no second label.
    """

    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on one label. first, other: rows that each annotator gave it; both: that both did.

    share: 2 · both / (first + other). instead: what the other gave to the first's rows, the commonest first.
    """

    label: str
    first: int
    other: int
    both: int
    share: Measure
    instead: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How far two columns agree. rows: (N,) of the table; first, other: (N,) places in `labels`.

    num_texts: different texts among the rows. only_first, only_other: rows that one alone labelled. merged:
    spellings that were read as another one. lone: the rows that the other alone labelled, by label.
    """

    columns: tuple[str, str]
    labels: tuple[str, ...]
    rows: Rows
    first: Rows
    other: Rows
    num_texts: int
    only_first: int
    only_other: int
    raw: Measure
    kappa: Measure
    alpha: Measure
    by_label: tuple[LabelAgreement, ...]
    merged: Mapping[str, str] = field(default_factory=dict)
    lone: Mapping[str, Rows] = field(default_factory=dict)

    @property
    def may_teach(self) -> bool:
        """Whether the other's labels are good enough to be trained on where the first gave none."""
        return self.verdict in (GOOD, TENTATIVE)

    @property
    def confusion(self) -> Rows:
        """(C, C) rows by the first's label and the other's."""
        count = len(self.labels)
        return np.bincount(self.first * count + self.other, minlength=count**2).reshape(count, count)

    @property
    def disagreements(self) -> Rows:
        """(K,) places among `rows`: the commonest pair of labels first, then in the order of the file."""
        apart = np.flatnonzero(self.first != self.other)
        pairs = self.first[apart] * len(self.labels) + self.other[apart]
        order = np.lexsort((apart, pairs, -self.confusion.ravel()[pairs]))
        return np.asarray(apart[order])

    @property
    def verdict(self) -> str:
        """GOOD, TENTATIVE, TOO_LOW or INCONCLUSIVE, by the interval of alpha."""
        low, high = self.alpha.interval or (-1.0, 1.0)
        if low >= LEAST_TENTATIVE:
            return GOOD if low >= LEAST_GOOD else TENTATIVE
        return TOO_LOW if high < LEAST_TENTATIVE else INCONCLUSIVE

    @property
    def verdict_words(self) -> Sentence:
        """What the verdict says of the second labels."""
        for column, codes in zip(self.columns, (self.first, self.other), strict=True):
            if not np.ptp(codes):
                return Sentence(_CONSTANT, {"column": column})
        return Sentence(_TOO_FEW if self.alpha.interval is None else _VERDICTS[self.verdict])


def comparing(
    table: Table, first: str, other: str, text: Sequence[str] = (), seed: int = 0
) -> Steps[Agreement]:
    """Return how far two columns of a table agree, step by step; rows that a recipe excludes do not count.

    Args: text: columns of the text; rows that repeat one are one group. (): none is known.
    Raises: DataError: a column is missing, no row has both labels, or there are too many labels.
    """
    if table.column(first) == table.column(other):
        raise DataError(marked("engine", "Column {column} cannot be compared with itself."), column=first)
    one, two = (yield from _cells(table, first)), (yield from _cells(table, other))
    counts = Counter(cell for cells in (one, two) for cell in cells if cell)
    if len(counts) > MOST_COMPARED:
        template = marked(
            "engine",
            "{first} and {other} hold {count:,} different labels; at most {most} can be compared. Choose "
            "columns with one label a row.",
        )
        raise DataError(template, first=first, other=other, count=len(counts), most=MOST_COMPARED)
    merged = {spelling: group.kept for group in nearly_equal(counts) for spelling in group.others}
    names = tuple(sorted({merged.get(cell, cell) for cell in counts}))
    place_of = {"": -1, **{cell: names.index(merged.get(cell, cell)) for cell in counts}}
    codes = [np.array([place_of[cell] for cell in cells], np.int64) for cells in (one, two)]
    yield Beat()
    for code in codes:
        code[list(table.left_out)] = -1
    rows = np.flatnonzero((codes[0] >= 0) & (codes[1] >= 0))
    if not len(rows):
        template = marked("engine", "No row has a label in both {first} and {other}.")
        raise DataError(template, first=first, other=other)
    lone = [int((code >= 0).sum()) - len(rows) for code in codes]
    firsts, others = codes[0][rows], codes[1][rows]
    used, both = np.unique(np.concatenate([firsts, others]), return_inverse=True)
    labels = tuple(names[place] for place in used.tolist())
    firsts, others = both[: len(rows)], both[len(rows) :]
    groups = _groups(table, text, rows)
    num_texts = len(rows) if groups is None else int(groups.max()) + 1
    raw, kappa, alpha = measured(firsts, others, len(labels), groups, seed)
    by_label = _by_label(firsts, others, labels, groups)
    head = (first, other), labels, rows, firsts, others, num_texts, lone[0], lone[1]
    alone = {name: np.flatnonzero((codes[0] < 0) & (codes[1] == at)) for at, name in enumerate(names)}
    given = {name: where for name, where in alone.items() if len(where)}
    return Agreement(*head, raw, kappa, alpha, by_label, merged, given)


def unsettled(recipe: Recipe) -> Recipe:
    """Return a recipe without what came of comparing, which would only make the two agree."""
    steps = (step for step in recipe.steps if step.reason not in (DISAGREEMENT, SECOND))
    return replace(recipe, steps=tuple(steps))


def likely_other(table: Table, first: str, taken: Collection[str] = ()) -> str:
    """Return the column that looks most like a second one of the same labels; "" where none is left."""
    others = [name for name in table.columns if name not in (first, *taken)][:_MOST_COLUMNS]
    step = -(-table.num_rows // _LOOKED_AT) or 1
    known = {cell.strip().casefold() for cell in table.frame[first].array[::step].tolist()}
    shared = [
        sum(bool(cell.strip()) and cell.strip().casefold() in known for cell in array[::step].tolist())
        for array in (table.frame[name].array for name in others)
    ]
    return others[int(np.argmax(shared))] if others else ""


def _cells(table: Table, column: str) -> Steps[list[str]]:
    """Return a column's cells without the white space around them, step by step."""
    found: list[str] = []
    cells = table.frame[table.column(column)].array
    for start in range(0, table.num_rows, _CELLS):
        found += map(str.strip, cells[start : start + _CELLS].tolist())
        yield Beat()
    return found


def _groups(table: Table, text: Sequence[str], rows: Rows) -> Rows | None:
    """Return (N,), equal for rows that repeat one text; None where none does, or no text is known."""
    if not text:
        return None
    texts = [table.frame[table.column(name)].array.take(rows).tolist() for name in text]
    found = groups_of(list(map("\n".join, zip(*texts, strict=True))))
    return None if is_single(found) else found


def measured(
    first: Rows, other: Rows, count: int, groups: Rows | None = None, seed: int = 0
) -> tuple[Measure, Measure, Measure]:
    """Return raw agreement, kappa and alpha. Args: first, other: (N,) places of labels, below `count`."""
    hits = np.stack([first == other, np.ones(len(first), bool)], 1).astype(float)
    share = float(hits[:, 0].mean())
    low, high = map(float, share_interval(hits[:, 0].sum(), len(first), hits, groups))
    raw = Measure(share, (low, high))
    tallies = _tallies(first, other, count, groups)
    total = tallies.total
    given = total[1 : count + 1] + total[count + 1 :]
    if (given > 0).sum() < 2:
        return raw, Measure(None), Measure(None)
    if given.sum() - given.max() < LEAST_RARE or not (np.ptp(first) and np.ptp(other)):
        return raw, Measure(float(kappa_of(total))), Measure(float(alpha_of(total)))
    lows, highs = _drawn(tallies, count, seed)
    found = []
    for score in (kappa_of, alpha_of):
        value, low = float(score(total)), float(np.quantile(score(lows), ENDS[0]))
        high = float(np.quantile(score(highs), ENDS[1]))
        found.append(Measure(value, (min(low, value), max(high, value))))
    return raw, found[0], found[1]


def kappa_of(sums: Numbers) -> Numbers:
    """Return Cohen's kappa; 0 where chance alone would agree always. Args: sums: (..., 1 + 2C)."""
    apart, first, other = _parts(sums)
    total = first.sum(-1)
    expected = total**2 - (first * other).sum(-1)
    found = np.divide(apart * total, expected, out=np.ones(np.shape(apart)), where=expected > 0)
    return np.asarray(1 - found)


def alpha_of(sums: Numbers) -> Numbers:
    """Return Krippendorff's alpha of two annotators, nominal. Args: sums: (..., 1 + 2C)."""
    apart, first, other = _parts(sums)
    values = first + other
    total = values.sum(-1)
    expected = total**2 - (values**2).sum(-1)
    worst = 2 * apart * (total - 1)
    found = np.divide(worst, expected, out=np.ones(np.shape(apart)), where=expected > 0)
    return np.asarray(1 - found)


def _parts(sums: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the rows that differ (...), and how often each annotator gave each label, (..., C)."""
    count = (sums.shape[-1] - 1) // 2
    return sums[..., 0], sums[..., 1 : count + 1], sums[..., count + 1 :]


def _tallies(first: Rows, other: Rows, count: int, groups: Rows | None) -> TallyTable:
    """Return what each kind of group of rows adds to the sums: rows by themselves by their pair of labels."""
    alone = np.ones(len(first), bool)
    if groups is not None:
        alone = np.bincount(groups)[groups] == 1
    pairs, counts = np.unique(first[alone] * count + other[alone], return_counts=True)
    adds = _adds(*np.divmod(pairs, count), count)
    if groups is None or alone.all():
        return TallyTable(adds, counts)
    several = TallyTable.of(_adds(first[~alone], other[~alone], count), groups[~alone])
    return TallyTable(np.concatenate([adds, several.adds]), np.concatenate([counts, several.counts]))


def _adds(first: Rows, other: Rows, count: int) -> Numbers:
    """Return (N, 1 + 2C): whether a row's labels differ, and where they are 1 of C."""
    found, rows = np.zeros((len(first), 1 + 2 * count)), np.arange(len(first))
    found[:, 0] = first != other
    found[rows, 1 + first] = 1
    found[rows, 1 + count + other] = 1
    return found


def _drawn(tallies: TallyTable, count: int, seed: int) -> tuple[Numbers, Numbers]:
    """Return (R, 1 + 2C) sums of the Bayesian bootstrap twice, scaled to as many rows as there are.

    To the first, one more group that differs is added, its labels as frequent as they are; to the second, one
    more that agrees, of any label.
    """
    total, num_rows = tallies.total, tallies.total[1 : count + 1].sum()
    values = (total[1 : count + 1] + total[count + 1 :] + 0.5) / 2
    apart = values * (values.sum() - values)
    differing = np.array([1.0, *np.tile(apart / apart.sum(), 2)])
    agreeing = _adds(np.arange(count), np.arange(count), count)
    size = int(np.clip(_NUMBERS / len(tallies.counts), _LEAST_DRAWS, _MOST_DRAWS))
    at_once, rng = max(1, int(_AT_ONCE / len(tallies.counts))), np.random.default_rng(seed)
    rows = np.concatenate(
        [
            rng.standard_gamma(tallies.counts, (min(at_once, size - start), len(tallies.counts)))
            @ tallies.adds
            for start in range(0, size, at_once)
        ]
    )
    group = num_rows / tallies.num_groups
    more = (
        rng.standard_gamma(1.0, (size, 1)) * differing,
        rng.standard_gamma(1 / count, (size, count)) @ agreeing,
    )
    lows, highs = (rows + group * one for one in more)
    return _scaled(lows, num_rows, count), _scaled(highs, num_rows, count)


def _scaled(sums: Numbers, num_rows: float, count: int) -> Numbers:
    return np.asarray(sums * num_rows / sums[:, 1 : count + 1].sum(1, keepdims=True))


def _by_label(
    first: Rows, other: Rows, labels: Sequence[str], groups: Rows | None
) -> tuple[LabelAgreement, ...]:
    """Return the agreement on each label, the most frequent first."""
    found = []
    for place, label in enumerate(labels):
        one, two = first == place, other == place
        columns = np.stack([one & two, one, two], 1).astype(float)
        both, ones, twos = map(int, columns.sum(0))
        interval = bounded_interval(TallyTable.of(columns, groups), f1_of)
        given = np.bincount(other[one & ~two], minlength=len(labels))
        order = [at for at in np.argsort(-given, kind="stable").tolist() if given[at]]
        instead = tuple((labels[at], int(given[at])) for at in order)
        share = Measure(2 * both / (ones + twos), interval)
        found.append(LabelAgreement(label, ones, twos, both, share, instead))
    return tuple(sorted(found, key=lambda each: -(each.first + each.other)))
