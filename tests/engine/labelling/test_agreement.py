"""Two annotators: the measures against published and other libraries' figures, their intervals simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from benchmarks.bench_agreement import covered, errors
from engine.errors import DataError
from engine.events import result_of
from engine.labelling.agreement import GOOD, INCONCLUSIVE, TOO_LOW, Agreement, comparing, measured
from engine.text.table import read_table, write_csv


def made(path: Path, first: list[str], other: list[str], texts: list[str] | None = None) -> Agreement:
    """Return the agreement of two columns, written and read."""
    texts = texts or [f"text {place}" for place in range(len(first))]
    write_csv(path / "two.csv", ("text", "me", "llm"), zip(texts, first, other, strict=True))
    return result_of(comparing(read_table(path / "two.csv"), "me", "llm", ("text",)))


def test_alpha_is_that_of_krippendorffs_own_examples() -> None:
    # Krippendorff 2011: A, two observers and binary data; B, two observers and nominal data
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert measured(np.array(meg), np.array(owen), 2)[2].value == pytest.approx(0.095, abs=0.0005)
    ben, gerry = list("aabbdcccedda"), list("babbbccceddd")
    first, other = (np.array([ord(value) - ord("a") for value in one]) for one in (ben, gerry))
    assert measured(first, other, 5)[2].value == pytest.approx(0.692, abs=0.0005)


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.7, first, rng.integers(0, 4, 200))
    raw, kappa, _ = measured(first, other, 4)
    assert kappa.value == pytest.approx(cohen_kappa_score(first, other))
    assert raw.value == pytest.approx((first == other).mean())


def test_rows_of_both_count_and_spellings_of_one_label_do_not_differ(tmp_path: Path) -> None:
    first = ["good", "good", "bad", "bad", "good", "", "bad"]
    other = ["Good", "bad", "bad", "bad", " good ", "good", ""]
    found = made(tmp_path, first, other)
    assert (found.rows.tolist(), found.only_first, found.only_other) == ([0, 1, 2, 3, 4], 1, 1)
    assert found.labels == ("bad", "good") and found.merged == {"Good": "good"}
    assert found.rows[found.disagreements].tolist() == [1]
    assert found.confusion.tolist() == [[2, 0], [1, 2]]
    good = next(each for each in found.by_label if each.label == "good")
    assert (good.first, good.other, good.both, good.instead) == (3, 2, 2, (("bad", 1),))
    assert good.share.value == pytest.approx(4 / 5)


def test_the_commonest_disagreement_is_listed_first(tmp_path: Path) -> None:
    found = made(tmp_path, ["a", "b", "b", "c", "a"], ["b", "c", "c", "c", "a"])
    assert found.rows[found.disagreements].tolist() == [1, 2, 0]


def test_a_text_that_is_repeated_is_counted_once_in_how_sure_it_is(tmp_path: Path) -> None:
    first, other = ["a", "b"] * 20 + ["a"] * 6, ["a", "b"] * 20 + ["b"] * 6
    apart = made(tmp_path, first, other)
    repeated = made(tmp_path, first * 4, other * 4, [f"text {place}" for place in range(46)] * 4)
    assert repeated.num_texts == 46 and len(repeated.rows) == 184
    assert repeated.alpha.interval == pytest.approx(apart.alpha.interval, abs=0.03)


def test_the_verdict_is_by_the_interval_and_one_label_alone_says_nothing(tmp_path: Path) -> None:
    agreeing = ["a", "b", "c"] * 100
    assert made(tmp_path, agreeing, agreeing).verdict == GOOD
    assert made(tmp_path, agreeing, agreeing[1:] + ["a"]).verdict == TOO_LOW
    assert made(tmp_path, agreeing[:6], agreeing[:6]).verdict == INCONCLUSIVE
    alone = made(tmp_path, ["a"] * 50, ["a"] * 50)
    assert alone.alpha.value is None and alone.verdict == INCONCLUSIVE


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No row has a label in both"):
        made(tmp_path, ["a", ""], ["", "a"])
    with pytest.raises(DataError, match="different labels"):
        made(tmp_path, [f"remark {place}" for place in range(300)], ["a"] * 300)


@pytest.mark.parametrize(
    ("shares", "how", "skill", "rows"),
    [
        ((0.97, 0.03), "evenly", 0.95, 50),
        ((0.97, 0.03), "by chance", 0.95, 200),
        ((0.9, 0.1), "misses", 0.95, 30),
        ((0.5, 0.5), "by chance", 0.95, 40),
    ],
)
def test_intervals_that_are_told_hold_the_truth_in_93_of_100_tables(
    shares: tuple[float, ...], how: str, skill: float, rows: int
) -> None:
    pairs = errors(np.array(shares), skill)[how]
    told, kappa, alpha = covered(pairs, rows, 200, np.random.default_rng(7))
    assert told > 0.1 and min(kappa, alpha) >= 0.93


def test_a_column_of_one_label_agrees_with_nothing(tmp_path: Path) -> None:
    found = made(tmp_path, ["a", "b", "c"] * 40, ["a"] * 120)
    assert found.alpha.interval is None and not found.may_teach
    assert str(found.verdict_words).startswith("Inconclusive: column llm has one label only.")
