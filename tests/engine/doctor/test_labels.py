"""Labels that may be one another, and labels with too few rows."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.doctor.labels import similar_labels

ODD = ("Sport", " sport", "sp\u043ert", "ｓｐｏｒｔ", "spott", "sprot", "sporrt", "spot")


@pytest.mark.parametrize("odd", ODD)
def test_a_rare_spelling_stands_for_the_commoner_label(odd: str) -> None:
    assert similar_labels(Counter({"sport": 100, "politics": 90, odd: 3})) == {odd: "sport"}


@pytest.mark.parametrize(
    "labels",
    [
        {"level1": 100, "level2": 3},  # numbers are told apart
        {"north": 80, "forth": 70},  # both are common
        {"pos": 100, "neg": 90, "pog": 2},  # too short to tell
        {"cafe": 90, "café": 80},
        {"entailment": 90, "neutral": 80, "contradiction": 3},
    ],
)
def test_labels_of_their_own_are_not_similar(labels: dict[str, int]) -> None:
    assert not similar_labels(Counter(labels))
