"""Labels in doubt: copies do not confirm one another, and how many are wrong is told as well as it can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.doctor.expected import expecting
from engine.doctor.finding import Finding, NewFinding
from engine.doctor.part import reading_part
from engine.doctor.suspected import DoubtfulLabels, suspecting
from engine.events import result_of
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

NUM_ROWS = 400


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:03d}")


def reviews(seed: int = 0) -> list[tuple[str, str]]:
    """Return texts of twelve words, of which some tell the label."""
    rng = np.random.default_rng(seed)
    found = []
    for place in range(NUM_ROWS):
        label = ("good", "bad")[place % 2]
        told = [f"{label}{letters(rng.integers(12))}" for _ in range(rng.integers(1, 4))]
        words = [*told, *(f"lemon{letters(number)}" for number in rng.integers(0, 200, 9))]
        found.append((" ".join(rng.permutation(words)), label))
    return found


def flipped(rows: list[tuple[str, str]], places: list[int]) -> list[tuple[str, str]]:
    other = {"good": "bad", "bad": "good"}
    return [(text, other[label] if at in places else label) for at, (text, label) in enumerate(rows)]


def suspected(folder: Path, rows: list[tuple[str, str]]) -> tuple[DoubtfulLabels, Finding]:
    write_csv(folder / "rows.csv", ("text", "label"), rows)
    part = result_of(reading_part("rows.csv", read_table(folder / "rows.csv"), Roles("text", "", "label")))
    told: list[Finding] = []
    events = suspecting(part, None)
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value, told[0]
        if isinstance(event, NewFinding):
            told.append(event.finding)


@pytest.mark.parametrize("edit", [str, str.upper, lambda text: text.replace("lemon", "leomn", 1)])
def test_a_wrong_label_in_both_of_two_copies_is_as_doubtful_as_one_alone(
    tmp_path: Path, edit: object
) -> None:
    rows = reviews()
    assert callable(edit)
    copied = [*rows, *[(edit(text), label) for text, label in rows[:60]]]
    wrong = list(range(20))
    ranks = {}
    for name, places in (
        ("alone", [100 + at for at in wrong]),
        ("both", [*wrong, *(at + NUM_ROWS for at in wrong)]),
    ):
        found, _finding = suspected(tmp_path, flipped(copied, places))
        rank = np.empty(len(copied), int)
        rank[found.rows] = np.arange(len(copied))
        ranks[name] = float(np.median(rank[places]))
    assert ranks["alone"] < 40 and ranks["both"] < 60


def test_only_suspected_rows_are_listed_and_how_many_are_wrong_is_told(tmp_path: Path) -> None:
    wrong = list(range(0, NUM_ROWS, 20))
    _found, finding = suspected(tmp_path, flipped(reviews(), wrong))
    assert finding.counts["num_suspected"] == len(finding.rows) < NUM_ROWS / 3
    low, high = finding.counts["expected_wrong_interval"]
    assert low <= len(wrong) <= high and high < NUM_ROWS / 5
    assert all(
        one != other for one, other in zip(finding.values["label"], finding.values["suggested"], strict=True)
    )


def test_of_labels_drawn_by_chance_it_is_said_that_nothing_can_be_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(text, ("good", "bad")[rng.integers(2)]) for text, _label in reviews()]
    found, finding = suspected(tmp_path, rows)
    assert found.expected is None and not found.count
    assert not len(finding.rows) and "cannot be found with" in str(finding.sentence)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("num_labels", [2, 6])
def test_the_expected_number_of_wrong_labels_covers_those_that_were_exchanged(
    rate: float, num_labels: int
) -> None:
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = 2.5 * rng.standard_normal((1500, num_labels))
        shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        labels = (rng.random((1500, 1)) > shares.cumsum(1)).sum(1).clip(0, num_labels - 1)
        wrong = rng.random(1500) < rate
        labels[wrong] = (labels[wrong] + rng.integers(1, num_labels, wrong.sum())) % num_labels
        blunt = shares**0.5 / (shares**0.5).sum(
            1, keepdims=True
        )  # a classifier that is not as sure as it could be
        told = result_of(expecting(blunt, labels))
        assert told is not None
        covered.append(told.low <= rate * 1500 <= told.high)
    assert np.mean(covered) >= 0.85


@pytest.mark.slow
def test_a_label_of_two_rows_does_not_hide_how_many_of_the_others_were_exchanged() -> None:
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = np.concatenate((2.5 * rng.standard_normal((1500, 2)), np.full((1500, 1), -2.0)), 1)
        shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        labels = (rng.random(1500) > shares[:, 0] / shares[:, :2].sum(1)).astype(int)
        wrong = rng.random(1500) < 0.06
        labels[wrong] = 1 - labels[wrong]
        labels[:2] = 2
        told = result_of(expecting(shares, labels))
        assert told is not None
        covered.append(told.low <= 90 <= told.high)
    assert np.mean(covered) >= 0.85
