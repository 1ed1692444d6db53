"""Groups of like meaning and of near copies: every text in one, the same each time, called by their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import UserError
from engine.evaluation.meaning import groups_by_meaning, groups_of_near, k_means
from engine.events import result_of
from engine.text.listed import ListedRows
from tests.fakes import model_folder

COPIES = [
    "the story of a man who walks across the country alone",
    "The story of a man who walks across the country, alone!",
    "the story of a man who walks across the country all alone",
    "a dull comedy about nothing in particular at all",
    "an honest and careful film about the sea and the weather",
]


def listed(texts: list[str]) -> ListedRows:
    places = np.arange(len(texts))
    return ListedRows(places, places + 1, places, texts)


def test_groups_that_lie_apart_are_found() -> None:
    rng = np.random.default_rng(0)
    middles, own = rng.normal(size=(4, 16)) * 5, rng.integers(0, 4, 200)
    found = result_of(k_means((middles[own] + rng.normal(size=(200, 16))).astype(np.float32), 4))
    for group in range(4):
        assert len(set(found[own == group].tolist())) == 1
    assert len(set(found.tolist())) == 4


def test_every_text_is_in_a_group_that_is_called_by_its_words(tmp_path: Path) -> None:
    model_folder(tmp_path / "model", labels=("bad", "good"))
    texts = [
        f"{word} {' '.join('abcdefgh'[n % 8] for _ in range(n % 5))}"
        for word in ("film", "play")
        for n in range(40)
    ]
    names = result_of(groups_by_meaning(tmp_path / "model", listed(texts)))
    assert len(names) == 80 and 1 < len(set(names)) <= 12 and all(names)
    assert names == result_of(groups_by_meaning(tmp_path / "model", listed(texts)))
    with pytest.raises(UserError, match="60"):
        result_of(groups_by_meaning(tmp_path / "model", listed(texts[:20])))


def test_near_copies_are_drawn_together() -> None:
    groups = result_of(groups_of_near(COPIES))
    assert groups[0] == groups[1] == groups[2] and len({groups[0], groups[3], groups[4]}) == 3
    pairs = result_of(groups_of_near(COPIES[:3], ["yes it is so", "yes it is so", "no"]))
    assert pairs[0] == pairs[1] != pairs[2]
