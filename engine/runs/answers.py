"""The answers that a run has kept, as far as a comparison needs them; without its model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import UserError
from engine.evaluation.report import SCORES, Groups, are_hits, repeating
from engine.evaluation.statistics import Numbers, in_groups
from engine.text.listed import ListedRows
from engine.train.run.answers import load_answers
from engine.train.scored import PEARSON, SHARE, ScoreRows
from engine.train.tasks.known import kept_part

# E texts, G groups of them

RIGHT = 0.5  # how much of an answer has to be right


@dataclass(frozen=True, slots=True, eq=False)
class KeptAnswers:
    """What a run answered to a part of its data.

    asked: what tells the texts apart from others; "" where they were not kept. truth: what is right, apart
    from any answer: all that tells texts apart where they were not kept. hits: (E,) whether each is right.
    adds: (E, K), what each adds to the sums that the metric is made of. score: how, as in `ScoreRows`.
    groups: (E,), equal for texts that repeat each other; None where none does, or they were not kept.
    """

    asked: str
    truth: str
    hits: npt.NDArray[np.bool_]
    adds: Numbers
    score: str
    groups: Groups | None = None

    @property
    def is_of_hits(self) -> bool:
        """Whether the metric is the share of texts that are right."""
        return self.score == SHARE and are_hits(self.adds)

    def values(self, groups: Groups | None) -> Numbers:
        """Return (G,) what each group of texts makes of the score: numbers of which it is the mean.

        Of accuracy by single texts these are 1 and 0. Source: the jackknife's pseudo-values, Tukey 1958.
        """
        score = SCORES[self.score]
        adds = self.adds if groups is None else in_groups(self.adds, groups)
        total = adds.sum(0)
        value = float(score(total))
        parts = (len(adds) - 1) * (value - score(total - adds))
        return np.asarray(value + parts - parts.mean())


def kept_answers(run_dir: Path, split: str, step: int) -> KeptAnswers | None:
    """Return what a run answered with the weights of a step; None if it kept none."""
    each = load_answers(run_dir, split, step)
    if each is None or not len(each):
        return None
    listed = _listed(run_dir, split, len(each))
    groups = None if listed is None else repeating(listed)
    asked = "" if listed is None else _hash([*listed.texts, *(listed.pairs or ())])
    return KeptAnswers(
        asked, _truth(each), each.right > RIGHT, each.adds.astype(np.float64), each.score, groups
    )


def are_alike(every: Sequence[KeptAnswers]) -> bool:
    """Whether all have answered the same texts."""
    names = {one.asked for one in every} if all(one.asked for one in every) else {one.truth for one in every}
    return len(names) == 1 and len({(one.score, len(one.adds)) for one in every}) == 1


def _listed(run_dir: Path, split: str, count: int) -> ListedRows | None:
    """Return the texts of a part as the run has kept them; None where it has not."""
    try:
        part = kept_part(run_dir, split)
    except UserError:
        return None
    listed = None if part is None else part.listed
    return listed if listed is not None and len(listed.texts) == len(listed) == count else None


def _truth(each: ScoreRows) -> str:
    """Return what is right of the texts, apart from what is answered: labels, else words, entities, numbers.

    Of texts whose answers are named in words, such as tags, the names hang on what was answered.
    """
    if each.score == SHARE and are_hits(each.adds):
        return _hash(each.names[place] for place in each.true.tolist())
    places = {PEARSON: [0, 2, 5]}.get(each.score, [-1])  # the sums of the true side alone
    return _hash(map(repr, each.adds[:, places].tolist()))


def _hash(said: Iterable[str]) -> str:
    found = hashlib.sha256()
    for one in said:
        data = one.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()
