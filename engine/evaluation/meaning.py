"""Texts that mean alike, as groups by the model's own vectors; and texts that nearly repeat each other.

Vectors are of the layer in the middle: the last one of a trained classifier knows little but its labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.doctor.near import finding_near
from engine.doctor.shingles import folded, folded_pair
from engine.errors import UserError, marked
from engine.evaluation.slices import words_of
from engine.events import Beat, Progress, Steps
from engine.inspect.embeddings.vectors import Floats, PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.model.info import read_info
from engine.text.listed import ListedRows
from engine.text.segmenter import finds_chinese_words

Groups = npt.NDArray[np.int64]
MOST_TEXTS = 50_000  # whose vectors are computed
LEAST_TEXTS, LARGEST = 60, 12  # below which nothing is grouped; groups at most
TEXTS_A_GROUP = 30  # at least, on average
NUM_WORDS = 3  # that a group is called by
COMMON = 0.1  # share of all texts, beyond which a word tells nothing of any
_ROUNDS = 50
_AT_ONCE = 2048
_GROUPING = marked("engine", "Grouping texts by meaning")


def groups_by_meaning(model: Path, listed: ListedRows) -> Steps[tuple[str, ...]]:
    """Return for each of E texts what its group is called: by the words that set it apart.

    Raises: UserError: the texts are too few or too many, or were not kept; ModelError.
    """
    if not LEAST_TEXTS <= len(listed.texts) <= MOST_TEXTS:
        template = marked(
            "engine", "Texts can be grouped by meaning if there are {least:,} to {most:,} of them."
        )
        raise UserError(template, least=LEAST_TEXTS, most=MOST_TEXTS)
    subject = LoadedModel.open(model, "auto")
    length = int(read_info(model).get("max_length", subject.max_length))
    middle = PoolingConfig("mean", (subject.config.num_hidden_layers + 1) // 2)
    found = yield from embed(subject, listed.texts, [middle], pairs=listed.pairs, max_length=length)
    groups = np.zeros(len(listed.texts), np.int64)
    count = int(np.clip(len(found.places) // TEXTS_A_GROUP, 2, LARGEST))
    groups[found.places] = yield from k_means(found.vectors[0], count)
    names = yield from _called(listed, groups)
    return tuple(names[group] for group in groups.tolist())


def k_means(vectors: Floats, count: int) -> Steps[Groups]:
    """Return (E,) the group of each vector; from the same vectors always the same.

    Source: Lloyd 1982; the first middles as Arthur and Vassilvitskii 2007, k-means++.
    """
    points = vectors - vectors.mean(0)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
    rng = np.random.Generator(np.random.PCG64(0))
    middles = points[[0]]
    for _ in range(count - 1):
        apart = np.maximum(1 - (points @ middles.T).max(1), 0).astype(np.float64)
        drawn = np.searchsorted(np.cumsum(apart), rng.random() * apart.sum())
        middles = np.concatenate([middles, points[[min(int(drawn), len(points) - 1)]]])
    groups = np.full(len(points), -1)
    for number in range(_ROUNDS):
        yield Progress(stage=_GROUPING, done=number, total=_ROUNDS)
        now = (points @ middles.T).argmax(1)
        if (now == groups).all():
            break
        groups = now
        for group in range(count):
            own = points[groups == group]
            if len(own):
                middles[group] = own.mean(0) / max(float(np.linalg.norm(own.mean(0))), 1e-9)
    return np.asarray(groups, np.int64)


def _called(listed: ListedRows, groups: Groups) -> Steps[list[str]]:
    """Return what each group is called: the words that stand in more of its texts than of the others."""
    count = int(groups.max()) + 1
    seen = [Counter[str]() for _ in range(count)]
    for start in range(0, len(groups), _AT_ONCE):
        for place in range(start, min(start + _AT_ONCE, len(groups))):
            words = set(words_of(listed.texts[place]))
            if listed.pairs is not None:
                words.update(words_of(listed.pairs[place]))
            seen[groups[place]].update(filter(_names, words))
        yield Beat()
    sizes = np.bincount(groups, minlength=count)
    every = Counter[str]()
    for own in seen:
        every.update(own)
    names = list[str]()
    for group, own in enumerate(seen):
        size, others = max(1, int(sizes[group])), max(1, len(groups) - int(sizes[group]))
        telling = {
            word: _excess(times / size, (every[word] - times) / others)
            for word, times in own.items()
            if times > 2 and every[word] <= COMMON * len(groups)
        }
        best = sorted(telling, key=lambda word: (-telling[word], word))[:NUM_WORDS]
        name = ", ".join(best) or f"{group + 1}"
        names.append(name if name not in names else f"{name} ({group + 1})")
    return names


def _names(word: str) -> bool:
    """Whether a group can be called by a word: it is not as short as the small words of its language."""
    if word < "\u3040":
        return len(word) > 3
    return len(word) > 1 or not finds_chinese_words()


def _excess(share: float, other: float) -> float:
    """Return how much commoner a word is in a group than elsewhere, in spreads of its share."""
    return (share - other) / max(math.sqrt(other * (1 - other)), 0.05)


def groups_of_near(texts: Sequence[str], pairs: Sequence[str] | None = None) -> Steps[Groups]:
    """Return (E,), the same number for texts that nearly repeat one another, as the doctor finds them."""
    alike = list[str]()
    for start in range(0, len(texts), _AT_ONCE):
        some = range(start, min(start + _AT_ONCE, len(texts)))
        alike += [folded(texts[i]) if pairs is None else folded_pair(texts[i], pairs[i]) for i in some]
        yield Beat()
    places = {text: place for place, text in enumerate(dict.fromkeys(alike))}
    own, different = np.array([places[text] for text in alike], np.int64), list(places)
    near = yield from finding_near(
        len(different), lambda at: [different[i] for i in at.tolist()], sum(map(len, different))
    )
    above = np.arange(len(different))
    for first, second in zip(near.first.tolist(), near.second.tolist(), strict=True):
        one, other = sorted((_root(above, first), _root(above, second)))
        above[other] = one
    roots = np.array([_root(above, place) for place in range(len(different))], np.int64)
    return np.asarray(roots[own])


def _root(above: Groups, place: int) -> int:
    while above[place] != place:
        above[place] = above[above[place]]
        place = int(above[place])
    return place
