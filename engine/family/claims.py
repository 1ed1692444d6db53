"""What is said of these models, asked of one family: the figures of each claim.

`verdicts.py` says which claims there are, whose they are, and what the figures say to them. What a small
family does not show may be true of a large one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from engine.errors import DataError, marked
from engine.evaluation.statistics import Difference, compared, compared_hits, share_of
from engine.events import Progress, Steps
from engine.family.ask import Family
from engine.family.bert import BertMember
from engine.family.members import NUM_SPECIALS, HasStates, HasVectors
from engine.family.reached import correlated, rank_score
from engine.family.scores import Blank, rank
from engine.family.tasks import text_vectors
from engine.family.verdicts import (
    BOTH_SIDES,
    COUNTED,
    FROZEN,
    IN_A_ROW,
    OVER_AVERAGES,
    RAW_CLS,
    TUNED,
    Claim,
    Statement,
)
from engine.family.words import unit
from engine.text.table import read_table

MOST_PAIRS = 1500  # of sentences
_ASKING = marked("engine", "Asking the family")


def both_sides(family: Family, blanks: Sequence[Blank]) -> list[Claim]:
    """Return whether both sides at once fill more blanks than one side, and than two sides apart."""
    if "bert" not in family.members or not blanks:
        return []
    hits = {
        name: np.array([rank(family, name, blank) == 1 for blank in blanks])
        for name in ("bert", "elmo", "gpt")
        if name in family.members
    }
    return [_hits(said, hits["bert"], hits[said.second]) for said in BOTH_SIDES if said.second in hits]


def two_in_a_row(family: Family, blanks: Sequence[Blank]) -> list[Claim]:
    """Return whether two hidden neighbours are better guessed one after the other than each alone.

    log P(a | rest) + log P(b | rest) beside log P(a | rest) + log P(b | a, rest).
    """
    bert = family.members.get("bert")
    pairs = [
        (one.words, one.place)
        for one in blanks
        if one.place + 1 < len(one.words) and one.words[one.place + 1] >= NUM_SPECIALS
    ]
    if not isinstance(bert, BertMember) or not pairs:
        return []
    alone = bert.blanks([(words, (place, place + 1)) for words, place in pairs])
    after = bert.blanks([(words, (place + 1,)) for words, place in pairs])
    logs = np.array(
        [
            [np.log(p[number, words[place + 1]] + 1e-30) for p, number in ((then, 0), (both, 1))]
            for both, then, (words, place) in zip(alone, after, pairs, strict=True)
        ],
        dtype=np.float64,
    )
    ones = np.ones(len(logs))
    one, other = (np.stack([logs[:, place], ones], 1) for place in (0, 1))
    first, second = logs.mean(0).tolist()
    return [_claim(IN_A_ROW, first, second, compared(other, one, share_of), len(logs))]


def _hits(said: Statement, first: np.ndarray, second: np.ndarray) -> Claim:
    return _claim(said, float(first.mean()), float(second.mean()), compared_hits(second, first), len(first))


def _claim(said: Statement, first: float, second: float, found: Difference, count: int) -> Claim:
    low, high = found.interval or (found.value, found.value)
    return Claim(said.text, said.measure, first, second, found.value, low, high, count, found.p_value)


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


def sentence_claims(cosines: Mapping[str, np.ndarray], said: np.ndarray) -> list[Claim]:
    """Return whether the mean of BERT's last layer tells likeness better than its raw [CLS], and than word
    vectors, averaged. Args: said: (E,) what people said of it.
    """
    if "bert" not in cosines:
        return []
    ours, found = cosines["bert"], list[Claim]()
    for one in (RAW_CLS, *OVER_AVERAGES):
        theirs = cosines.get(one.second if one.is_between else CLS_VECTOR)
        first, second = rank_score(ours, said), None if theirs is None else rank_score(theirs, said)
        if theirs is not None and first is not None and second is not None:
            found.append(_claim(one, first.value, second.value, correlated(theirs, ours, said), len(said)))
    return found


def task_claims(
    frozen: Mapping[str, np.ndarray], tuned: Mapping[str, np.ndarray], counted: Mapping[str, np.ndarray]
) -> list[Claim]:
    """Return whether fine-tuning helps, and BERT's vectors more than others. Args: hits of texts, with frozen
    vectors, fine-tuned, and by Naive Bayes.
    """
    return [
        _hits(said, ours["bert"], theirs[said.second])
        for said, ours, theirs in (
            (TUNED, tuned, frozen),
            (FROZEN, frozen, frozen),
            (COUNTED, tuned, counted),
        )
        if "bert" in ours and said.second in theirs
    ]


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
