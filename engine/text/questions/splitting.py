"""Which questions are trained on and which are kept apart: whole articles, no passage in two parts.

The same seed always draws the same questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence, marked
from engine.text.questions.question import PassageTable

Places = npt.NDArray[np.int64]

_LEAST = 10  # articles or passages, so that the parts can have near the size that they should
_BY_ARTICLE = marked("engine", "Whole articles are kept together, so that no passage is in two parts.")
_BY_PASSAGE = marked("engine", "All questions about a passage are kept together.")
_BY_QUESTION = marked(
    "engine",
    "There are only {count} passages, so questions about the same one are in several "
    "parts. The scores will look too good.",
)


def split_questions(
    questions: PassageTable, asked: Places, shares: Sequence[float], seed: int
) -> tuple[list[Places], Sentence]:
    """Draw the questions to train on, then those of each share; and say what was kept together.

    Args:   asked: (Q,) places in the questions. shares: of each part beside training, 0..1, together below 1.
    Returns: places in the questions, each part in ascending order; every one of `asked` once.
    """
    groups, told = _groups(questions, asked)
    _, group_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    # PCG64's raw stream is promised to stay the same in every numpy, Generator.permutation's is not.
    order = np.argsort(np.random.PCG64(seed).random_raw(len(sizes)), kind="stable").tolist()
    part_of = np.zeros(len(sizes), np.int64)
    for part, share in enumerate(shares, start=1):
        wanted = share * len(asked)
        while len(order) > 1 and wanted >= sizes[order[-1]] / 2:
            wanted -= sizes[order[-1]]
            part_of[order.pop()] = part
    parts = part_of[group_of]
    return [np.sort(asked[parts == part]) for part in range(len(shares) + 1)], told


def halves(questions: PassageTable, asked: Places) -> npt.NDArray[np.bool_]:
    """Return (Q,), true for the half of some questions that a threshold is chosen on, the same each time.

    Whole articles go to one half; where there is one article only, questions by their id.
    Args: asked: (Q,), places in the questions.
    """
    groups = _articles(questions, asked)
    if len(set(groups)) < 2:
        groups = [questions.questions[place].id for place in asked.tolist()]
    names, group_of, sizes = np.unique(np.array(groups, object), return_inverse=True, return_counts=True)
    is_chosen = np.zeros(len(names), bool)
    taken = [0, 0]
    for group in sorted(range(len(names)), key=lambda place: _hash(str(names[place]))):
        side = int(taken[1] <= taken[0])
        is_chosen[group] = bool(side)
        taken[side] += int(sizes[group])
    return np.asarray(is_chosen[group_of], bool)


def _groups(questions: PassageTable, asked: Places) -> tuple[npt.NDArray[np.object_], Sentence]:
    """Return (Q,) what has to stay together, and that in words."""
    articles = np.array(_articles(questions, asked), object)
    if len(set(articles)) >= _LEAST:
        return articles, Sentence(_BY_ARTICLE)
    passages = np.array([questions.questions[place].passage for place in asked.tolist()], object)
    num_passages = len(set(passages))
    if num_passages >= _LEAST:
        return passages, Sentence(_BY_PASSAGE)
    first: dict[tuple[str, int], int] = {}  # what is asked twice of one passage stays on one side at least
    own = (questions.questions[place] for place in asked.tolist())
    same = [first.setdefault((one.text, one.passage), place) for place, one in enumerate(own)]
    return asked[same].astype(object), Sentence(_BY_QUESTION, {"count": num_passages})


def _articles(questions: PassageTable, asked: Places) -> list[str]:
    """Return the article of each question: its title, else its number; "0" in a table without titles."""
    return [
        questions.passages[question.passage].title or str(question.place.article)
        for question in (questions.questions[place] for place in asked.tolist())
    ]


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
