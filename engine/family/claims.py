"""What is said of these models, asked of one family: each claim as a difference with its interval.

A verdict is computed from the figures: "holds" where the interval lies above 0, "does not hold" where it lies
below, else "cannot be told". What a small family does not show may be true of a large one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError, marked
from engine.evaluation.statistics import Tallies, interval_of, pearson_of, share_of
from engine.events import Progress, Steps
from engine.family.ask import Family
from engine.family.bert import Bert
from engine.family.members import NUM_SPECIALS, HasStates, HasVectors
from engine.family.scores import Blank, rank
from engine.family.tasks import text_vectors
from engine.family.words import unit
from engine.text.table import read_table

MOST_PAIRS = 1500  # of sentences
_ASKING = marked("engine", "Asking the family")
HOLDS, DOES_NOT, OPEN = "holds", "does not hold", "cannot be told"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and what was found: one figure less another, over so many texts. measure: what of."""

    claim: str
    measure: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    count: int

    @property
    def verdict(self) -> str:
        return HOLDS if self.low > 0 else DOES_NOT if self.high < 0 else OPEN


def document_of(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Return claims as JSON can hold them."""
    return [{**asdict(one), "verdict": one.verdict} for one in claims]


def both_sides(family: Family, blanks: Sequence[Blank]) -> list[Claim]:
    """Return whether both sides at once fill more blanks than one side, and than two sides apart."""
    if "bert" not in family.members or not blanks:
        return []
    hits = {
        name: np.array([rank(family, name, blank) == 1 for blank in blanks], float)
        for name in ("bert", "elmo", "gpt")
        if name in family.members
    }
    said = {
        "gpt": marked("engine", "Both sides at once (BERT) fill more blanks than the left side alone (GPT)."),
        "elmo": marked("engine", "Both sides at once (BERT) fill more blanks than each side alone (ELMo)."),
    }
    measure = marked("engine", "share of blanks filled")
    return [
        _paired(said[name], measure, hits["bert"], hits[name]) for name in ("elmo", "gpt") if name in hits
    ]


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
    if not isinstance(bert, Bert) or not pairs:
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
    said = marked(
        "engine",
        "Two blanks in a row: the second is foreseen better once the first is filled, so guessing both at "
        "once, each for itself, loses something.",
    )
    return [_paired(said, marked("engine", "mean log-probability"), logs[:, 0], logs[:, 1])]


def _paired(claim: str, measure: str, first: np.ndarray, second: np.ndarray) -> Claim:
    """Return the mean difference over the same texts, its interval by texts drawn anew."""
    first, second = first.astype(np.float64), second.astype(np.float64)
    tallies = Tallies.of(np.stack([first - second, np.ones(len(first))], 1))
    value = float(share_of(tallies.total))
    low, high = interval_of(tallies, share_of) or (value, value)
    return Claim(claim, measure, float(first.mean()), float(second.mean()), value, low, high, len(first))


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
    if isinstance(bert, Bert):
        found[CLS_VECTOR] = _cosines(np.stack([bert.first_states(words)[-1] for words in texts]))
    return found


def sentence_claims(cosines: Mapping[str, np.ndarray], said: np.ndarray) -> list[Claim]:
    """Return whether the mean of BERT's last layer tells likeness better than its raw [CLS], and than word
    vectors, averaged. Args: said: (E,) what people said of it.
    """
    if "bert" not in cosines:
        return []
    raw = marked(
        "engine", "The raw [CLS] is a poor vector of a sentence: the mean of BERT's places is better."
    )
    averaged = {
        "nnlm": marked("engine", "The mean of BERT's places tells more than averaged word vectors (NNLM)."),
        "cbow": marked("engine", "The mean of BERT's places tells more than averaged word vectors (CBOW)."),
        "skipgram": marked(
            "engine", "The mean of BERT's places tells more than averaged word vectors (skip-gram)."
        ),
        "glove": marked("engine", "The mean of BERT's places tells more than averaged word vectors (GloVe)."),
    }
    found = [_correlated(raw, cosines["bert"], cosines[CLS_VECTOR], said)]
    return found + [
        _correlated(claim, cosines["bert"], cosines[name], said)
        for name, claim in averaged.items()
        if name in cosines
    ]


def task_claims(frozen: Mapping[str, np.ndarray], tuned: Mapping[str, np.ndarray]) -> list[Claim]:
    """Return whether fine-tuning helps, and BERT's frozen vectors more than averaged ones. Args: hits."""
    measure = marked("engine", "share of texts answered rightly")
    found = []
    if "bert" in tuned:
        said = marked("engine", "Fine-tuning all of BERT answers more than its frozen vectors.")
        found.append(_paired(said, measure, tuned["bert"], frozen["bert"]))
    if "bert" in frozen and "skipgram" in frozen:
        said = marked("engine", "BERT's frozen vectors answer more than averaged word vectors (skip-gram).")
        found.append(_paired(said, measure, frozen["bert"], frozen["skipgram"]))
    if "bert" in tuned and "ngram" in frozen:
        said = marked("engine", "BERT fine-tuned answers more than counting pairs of words (n-gram).")
        found.append(_paired(said, measure, tuned["bert"], frozen["ngram"]))
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
                "engine", "{path} holds no pairs of sentences: a row has two and their likeness, a number."
            ),
            path=path,
        )
    return found[:MOST_PAIRS]


def _cosines(vectors: np.ndarray) -> np.ndarray:
    units = unit(vectors)
    found: np.ndarray = (units[::2] * units[1::2]).sum(1)
    return found


def _correlated(claim: str, first: np.ndarray, second: np.ndarray, said: np.ndarray) -> Claim:
    """Return the difference of two rank correlations over the same pairs."""
    from scipy.stats import rankdata  # here: it takes long to import

    x, z, y = rankdata(first), rankdata(second), rankdata(said)
    ones = np.ones(len(x))
    columns = [np.stack([a, y, a * a, y * y, a * y, ones], 1) for a in (x, z)]
    tallies = Tallies.of(np.concatenate(columns, 1))

    def difference(sums: np.ndarray) -> np.ndarray:
        return pearson_of(sums[..., :6]) - pearson_of(sums[..., 6:])

    total = tallies.total
    value = float(difference(total))
    low, high = interval_of(tallies, difference) or (value, value)
    figures = float(pearson_of(total[:6])), float(pearson_of(total[6:]))
    return Claim(claim, marked("engine", "rank correlation"), *figures, value, low, high, len(x))
