"""Scores of corrections beside counts by hand, and beside the same definitions in sets and loops."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.evaluation.statistics import TallyTable, bounded_interval, f1_of, share_of
from engine.train.metrics import wilson_interval
from engine.train.tasks.correcting.scores import CorrectionScores, score_corrections

Changes = dict[int, int]  # place -> what is to stand there


def scored(cases: list[tuple[Changes, Changes]], length: int = 13) -> CorrectionScores:
    """Return the scores of sentences of zeros. Args: cases: of each what is right and what is answered."""
    right, predicted = (np.zeros((len(cases), length), np.int64) for _ in range(2))
    for place, both in enumerate(cases):
        for side, changes in zip((right, predicted), both, strict=True):
            for at, piece in changes.items():
                side[place, at] = piece
    firsts = np.arange(len(cases) + 1) * length
    return score_corrections(np.zeros(right.size, np.int64), right.ravel(), predicted.ravel(), firsts)


# as the example in section 4 of the bake-off's paper: a false alarm; one place of two gets another piece; all
# right; nothing to do and nothing done; a change in the wrong place
BAKE_OFF = [
    ({}, {5: 3}),
    ({3: 1, 4: 2}, {3: 7, 4: 2}),
    ({8: 4, 11: 5}, {8: 4, 11: 5}),
    ({}, {}),
    ({10: 6}, {11: 6}),
]


def test_five_sentences_have_the_scores_that_a_count_by_hand_gives() -> None:
    found = scored(BAKE_OFF).metrics()
    assert found["false_positive_rate"] == 1 / 2
    assert (found["detection_precision"], found["detection_recall"]) == (2 / 4, 2 / 3)
    assert found["detection_f1"] == pytest.approx(4 / 7)
    assert (found["correction_precision"], found["correction_recall"]) == (1 / 4, 1 / 3)
    assert found["correction_f1"] == pytest.approx(2 / 7) and found["sentence_accuracy"] == 2 / 5
    # places: changed are 1 + 2 + 2 + 1, wrong are 2 + 2 + 1; both are 4, of which 3 get the right piece
    assert (found["place_detection_precision"], found["place_detection_recall"]) == (4 / 6, 4 / 5)
    assert (found["place_correction_precision"], found["place_correction_recall"]) == (3 / 6, 3 / 5)
    assert found["place_correction_f1"] == pytest.approx(6 / 11)


def test_who_changes_nothing_has_no_f1_and_no_false_alarm() -> None:
    scores = scored([(right, {}) for right, _ in BAKE_OFF])
    found = scores.metrics()
    scored_at_all = {name: value for name, value in found.items() if value}
    assert scored_at_all == {"sentence_accuracy": 2 / 5, "unchanged_accuracy": 2 / 5}
    assert "correction_precision" not in scores.intervals()  # of nothing that was changed
    assert scores.intervals()["correction_f1"][0] == 0.0


def by_sets(cases: list[tuple[Changes, Changes]]) -> dict[str, float]:
    """Return the scores by their definitions, a sentence as the set of its places with their pieces."""
    pairs = [(set(right.items()), set(found.items())) for right, found in cases]
    flagged, wrong = [one for one in pairs if one[1]], [one for one in pairs if one[0]]
    clean = [one for one in pairs if not one[0]]

    def three(name: str, hits: float, answered: float, true: float) -> dict[str, float]:
        precision, recall = (hits / one if one else 0.0 for one in (answered, true))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}

    corrected = sum(right == found for right, found in flagged)
    detected = sum({a for a, _ in right} == {a for a, _ in found} for right, found in flagged)
    found = three("correction", corrected, len(flagged), len(wrong))
    found |= three("detection", detected, len(flagged), len(wrong))
    counts = [sum(len(one[side]) for one in pairs) for side in (1, 0)]
    both = sum(len({a for a, _ in right} & {a for a, _ in found}) for right, found in pairs)
    found |= three("place_correction", sum(len(right & said) for right, said in pairs), *counts)
    found |= three("place_detection", both, *counts)
    found["sentence_accuracy"] = sum(right == said for right, said in pairs) / len(pairs)
    found["unchanged_accuracy"] = len(clean) / len(pairs)
    found["false_positive_rate"] = sum(bool(said) for _, said in clean) / len(clean)
    return found


def random_cases(count: int, seed: int) -> list[tuple[Changes, Changes]]:
    rng, cases = random.Random(seed), []
    for _ in range(count):
        right = {rng.randrange(13): rng.randrange(1, 4) for _ in range(rng.choice((0, 0, 1, 2)))}
        said = dict(right)
        if rng.random() < 0.5:
            said = {at: rng.choice((piece, 3)) for at, piece in right.items() if rng.random() < 0.7}
        if rng.random() < 0.2:
            said[rng.randrange(13)] = 2
        cases.append((right, said))
    return cases


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_many_sentences_have_the_scores_of_their_definitions(seed: int) -> None:
    cases = random_cases(137, seed)
    wanted, found = by_sets(cases), scored(cases).metrics()
    assert found.keys() == wanted.keys() and 0.1 < found["correction_f1"] < 0.9
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value), name


def test_intervals_are_those_of_the_house_over_sentences() -> None:
    scores = scored(random_cases(137, 3))
    found, metrics = scores.intervals(), scores.metrics()
    assert all(low <= metrics[name] <= high for name, (low, high) in found.items())
    assert found.keys() == metrics.keys()
    f1 = bounded_interval(TallyTable.of(scores.of_correction), f1_of)
    assert found["correction_f1"] == pytest.approx(f1)
    places = bounded_interval(TallyTable.of(scores.correction), f1_of)
    assert found["place_correction_f1"] == pytest.approx(places)
    recall = bounded_interval(TallyTable.of(scores.of_detection[:, [0, 2]]), share_of)
    assert found["detection_recall"] == pytest.approx(recall)
    clean = int((~scores.has_error).sum())
    assert found["false_positive_rate"] == wilson_interval(scores.num_false_alarms, clean)
