"""What is said of these models, asked of one family: the figures of each claim, and of what it was before it
was trained.

`verdicts.py` says which claims there are, whose they are, and what the figures say to them. What a small
family does not show may be true of a large one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from engine.errors import DataError, marked
from engine.evaluation.statistics import (
    STUDENT,
    Difference,
    compared,
    compared_hits,
    pearson_of,
    share_of,
)
from engine.events import Progress, Steps
from engine.family.ask import Family
from engine.family.bert import BertMember
from engine.family.blanks import Blank, filled
from engine.family.members import NUM_SPECIALS, HasStates, HasVectors, Member
from engine.family.reached import correlated, ranked
from engine.family.tasks import Hits, text_vectors
from engine.family.trainings import Trainings
from engine.family.verdicts import (
    BOTH_SIDES,
    COUNTED,
    FROZEN,
    IN_A_ROW,
    LEAST,
    OVER_AVERAGES,
    RAW_CLS,
    TUNED,
    Claim,
    ClaimStart,
    Statement,
)
from engine.family.words import unit
from engine.runs.versus import texts_and_seeds
from engine.text.table import read_table

# S trainings, E questions

MOST_PAIRS = 1500  # of sentences
_ASKING = marked("engine", "Asking the family")


@dataclass(frozen=True)
class Side:
    """One side of a claim. values: (S, E) what each question adds, training by training, such as whether it
    is answered rightly. start: the same before training, None where there is nothing or it is not known.
    name: of the member that must have learned, "" where none must.
    """

    values: np.ndarray
    start: np.ndarray | None
    name: str = ""


@dataclass(frozen=True)
class ClaimMeasure:
    """How one side is compared with another. value: of (E,) values. compare: the second's less the first's.
    parts: (E,), what each question adds to the value, which is their mean.
    """

    value: Callable[[np.ndarray], float]
    compare: Callable[[np.ndarray, np.ndarray], Difference]
    parts: Callable[[np.ndarray], np.ndarray]

    def difference(self, first: np.ndarray, second: np.ndarray) -> Difference:
        """Return by how much the second (S, E) is above the first, over other questions and, where there are
        several trainings, over other seeds.
        """
        if len(first) == 1:
            return self.compare(first[0], second[0])
        parts = (np.array([self.parts(one) for one in side]) for side in (first, second))
        value, interval, p_value = texts_and_seeds(*parts, paired=True)
        return Difference(value, interval, 1.0 if p_value is None else p_value, STUDENT)

    def mean(self, side: np.ndarray) -> float:
        """Return the mean value of all trainings. Args: side: (S, E)."""
        return float(np.mean([self.value(one) for one in side]))


def _mean(values: np.ndarray) -> float:
    return float(values.mean(dtype=np.float64))


def _same(values: np.ndarray) -> np.ndarray:
    return values


def _compared_logs(first: np.ndarray, second: np.ndarray) -> Difference:
    one, other = (np.stack([logs, np.ones(len(logs))], 1).astype(np.float64) for logs in (first, second))
    return compared(one, other, share_of)


OF_HITS = ClaimMeasure(_mean, compared_hits, _same)
OF_LOGS = ClaimMeasure(_mean, _compared_logs, _same)


def of_ranks(said: np.ndarray) -> ClaimMeasure:
    """Return the measure of cosines (E,) by their rank correlation with what people said."""

    def value(cosines: np.ndarray) -> float:
        return float(pearson_of(ranked(cosines, said).sum(0)))

    def compare(first: np.ndarray, second: np.ndarray) -> Difference:
        return correlated(first, second, said)

    def parts(cosines: np.ndarray) -> np.ndarray:  # the jackknife's pseudo-values (Tukey 1958)
        columns, count = ranked(cosines, said), len(said)
        total = columns.sum(0)
        found: np.ndarray = count * pearson_of(total) - (count - 1) * pearson_of(total - columns)
        return found

    return ClaimMeasure(value, compare, parts)


def both_sides(trainings: Trainings, blanks: Sequence[Blank]) -> list[Claim]:
    """Return whether both sides at once fill more blanks than one side, and than two sides apart."""
    if "bert" not in trainings.first.members or not blanks:
        return []
    sides = {
        name: _side(trainings, name, lambda member: filled(member, blanks))
        for name in ("bert", "elmo", "gpt")
        if name in trainings.first.members
    }
    return [
        _claim(said, sides["bert"], sides[said.second], OF_HITS)
        for said in BOTH_SIDES
        if said.second in sides
    ]


def two_in_a_row(trainings: Trainings, blanks: Sequence[Blank]) -> list[Claim]:
    """Return whether two hidden neighbours are better guessed one after the other than each alone.

    log P(a | rest) + log P(b | rest) beside log P(a | rest) + log P(b | a, rest).
    """
    pairs = [
        (one.words, one.place)
        for one in blanks
        if one.place + 1 < len(one.words) and one.words[one.place + 1] >= NUM_SPECIALS
    ]
    if not isinstance(trainings.first.members.get("bert"), BertMember) or not pairs:
        return []
    after, alone = (_side(trainings, "bert", partial(_second_logs, pairs, hides)) for hides in (False, True))
    return [_claim(IN_A_ROW, after, replace(alone, name=""), OF_LOGS)]


def _second_logs(pairs: Sequence[tuple[tuple[int, ...], int]], hides_first: bool, bert: Member) -> np.ndarray:
    """Return (E,) logs of the second of two words in a row. Args: hides_first: the first is hidden too."""
    assert isinstance(bert, BertMember)
    given = bert.blanks(
        [(words, (place, place + 1) if hides_first else (place + 1,)) for words, place in pairs]
    )
    return np.array(
        [np.log(p[-1, words[place + 1]] + 1e-30) for p, (words, place) in zip(given, pairs, strict=True)]
    )


def _side(trainings: Trainings, name: str, ask: Callable[[Member], np.ndarray]) -> Side:
    """Return what a member answers, and what it answered before it was trained."""
    begun = [family.start.members.get(name) for family in trainings.families]
    return Side(
        np.array([ask(family.members[name]) for family in trainings.families]),
        None if None in begun else np.array([ask(one) for one in begun if one is not None]),
        name,
    )


def _claim(said: Statement, first: Side, second: Side, measure: ClaimMeasure) -> Claim:
    """Return a claim as its sides make it."""
    found = measure.difference(second.values, first.values)
    low, high = found.interval or (found.value, found.value)
    return Claim(
        said.text,
        said.measure,
        measure.mean(first.values),
        measure.mean(second.values),
        found.value,
        low,
        high,
        count=first.values.shape[1],
        p_value=found.p_value,
        start=_start(said, first, second, measure),
        trainings=len(first.values),
    )


def _start(said: Statement, first: Side, second: Side, measure: ClaimMeasure) -> ClaimStart | None:
    """Return what there was of a claim before training, None where that is not known."""
    if first.start is None or (second.start is None and second.name):
        return None
    other = second.values if second.start is None else second.start
    found = measure.difference(other, first.start)
    low, high = found.interval or (found.value, found.value)

    def is_moved(side: Side, start: np.ndarray) -> bool:
        gain = measure.difference(start, side.values)
        return gain.value >= LEAST[said.measure] and gain.is_sure

    sides = ((side, side.start) for side in (first, second) if side.name)
    unmoved = [side.name for side, start in sides if start is not None and not is_moved(side, start)]
    return ClaimStart(found.value, low, high, tuple(unmoved))


CLS_VECTOR = "cls"  # stands among the members where vectors of sentences are compared


def sentence_cosines(family: Family, pairs: Sequence[tuple[str, str, float]]) -> Steps[dict[str, np.ndarray]]:
    """Return, for each member with vectors, (E,) how alike the two sentences of each pair are to it.

    A sentence is the mean of its words, or of its places in the last layer; `CLS_VECTOR` is BERT's raw [CLS].
    """
    texts = [tuple(family.words(text)) for one in pairs for text in one[:2]]
    found, bert = dict[str, np.ndarray](), family.members.get("bert")
    for number, (name, member) in enumerate(family.members.items()):
        yield Progress(stage=_ASKING, done=number, total=len(family.members))
        if isinstance(member, HasVectors | HasStates):
            found[name] = _cosines(text_vectors(member, texts))
    if isinstance(bert, BertMember):
        found[CLS_VECTOR] = _cosines(np.stack([bert.first_states(words)[-1] for words in texts]))
    return found


def trainings_cosines(
    trainings: Trainings, pairs: Sequence[tuple[str, str, float]]
) -> Steps[tuple[list[dict[str, np.ndarray]], list[dict[str, np.ndarray]]]]:
    """Return `sentence_cosines`, training by training: of the members now, and before they were trained."""
    now, before = list[dict[str, np.ndarray]](), list[dict[str, np.ndarray]]()
    for family in trainings.families:
        now.append((yield from sentence_cosines(family, pairs)))
        before.append((yield from sentence_cosines(family.start, pairs)))
    return now, before


def sentence_claims(
    now: Sequence[Mapping[str, np.ndarray]], before: Sequence[Mapping[str, np.ndarray]], said: np.ndarray
) -> list[Claim]:
    """Return whether the mean of BERT's last layer tells likeness better than its raw [CLS], and than word
    vectors, averaged. Args: now, before: `sentence_cosines`, training by training, and before these. said:
    (E,) what people said of it.
    """
    if "bert" not in now[0]:
        return []
    measure, ours = of_ranks(said), _kept_side(now, before, "bert", "bert")
    found = list[Claim]()
    for one in (RAW_CLS, *OVER_AVERAGES):
        key, name = (one.second, one.second) if one.is_between else (CLS_VECTOR, "")
        if key in now[0]:
            found.append(_claim(one, ours, _kept_side(now, before, key, name), measure))
    return found


def _kept_side(
    now: Sequence[Mapping[str, np.ndarray]], before: Sequence[Mapping[str, np.ndarray]], key: str, name: str
) -> Side:
    """Return one side of what was found already. Args: name: of the member that must have learned."""
    start = [one[key] for one in before if key in one]
    return Side(
        np.array([one[key] for one in now]), np.array(start) if len(start) == len(now) else None, name
    )


def task_claims(hits: Sequence[Hits]) -> list[Claim]:
    """Return whether fine-tuning helps, and BERT's vectors more than others. Args: hits: of each training."""
    before = [one.start for one in hits if one.start is not None]
    ways = {
        way: ([getattr(one, way) for one in hits], [getattr(one, way) for one in before])
        for way in ("frozen", "fine_tuned", "naive_bayes")
    }
    found = list[Claim]()
    for said, our_way, their_way, name in (
        (TUNED, "fine_tuned", "frozen", ""),
        (FROZEN, "frozen", "frozen", FROZEN.second),
        (COUNTED, "fine_tuned", "naive_bayes", ""),
    ):
        ours, theirs = ways[our_way], ways[their_way]
        if "bert" in ours[0][0] and said.second in theirs[0][0]:
            sides = _kept_side(*ours, "bert", "bert"), _kept_side(*theirs, said.second, name)
            found.append(_claim(said, *sides, OF_HITS))
    return found


def read_sentences(path: Path) -> list[tuple[str, str, float]]:
    """Return pairs of sentences with their likeness, of the first MOST_PAIRS lines. Raises: DataError."""
    table = read_table(path)
    found = []
    for row in table.frame.itertuples(index=False):
        cells = [str(cell) for cell in row]
        try:
            found.append((cells[0], cells[1], float(cells[2])))
        except (IndexError, ValueError):
            continue
    if len(found) < 3:
        raise DataError(
            marked(
                "engine", "{path} holds no pairs of sentences: a row has two and their similarity, a number."
            ),
            path=path,
        )
    return found[:MOST_PAIRS]


def _cosines(vectors: np.ndarray) -> np.ndarray:
    units = unit(vectors)
    found: np.ndarray = (units[::2] * units[1::2]).sum(1)
    return found
