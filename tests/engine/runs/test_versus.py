"""Which of two ways to train is better is said with what it rests on, and rarely without a cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.evaluation.report import SCORES as SCORES_OF
from engine.events import result_of
from engine.runs import answers as subject
from engine.runs.facts import RunFacts
from engine.runs.groups import ScoreColumn
from engine.runs.index import index_of
from engine.runs.versus import (
    SCORES,
    SEEDS,
    SURE,
    TEXTS,
    TEXTS_AND_SEEDS,
    Found,
    _two_shares,
    texts_and_seeds,
    versus,
)
from engine.text.listed import ListedRows
from engine.train.run.answers import save_answers
from engine.train.scored import F1, SHARE, ScoreRows
from tests.engine.made_runs import made_run

ROWS = 2000


def sure(found: Found) -> bool:
    """Whether a comparison calls two different, as its interval does."""
    _, interval, p_value = found
    assert interval is not None and p_value is not None
    assert (p_value < SURE) == (interval[0] > 0 or interval[1] < 0)
    return p_value < SURE


def each_of(right: np.ndarray) -> ScoreRows:
    """Return answers of two labels, of which these are right."""
    true = (np.arange(len(right)) % 2).astype(np.int32)
    ones = np.ones(len(right))
    return ScoreRows(
        names=("bad", "good"),
        true=true,
        predicted=np.where(right, true, 1 - true).astype(np.int32),
        right=right.astype(np.float64),
        sure=np.full(len(right), 0.9),
        adds=np.stack([right.astype(np.float64), ones], 1),
        score=SHARE,
    )


def side(
    root: Path, name: str, shares: dict[int, float], *, answers: bool = True, **settings: object
) -> list[RunFacts]:
    """Make a run for each seed, right in so large a share of texts, each text being hard or easy for all."""
    hard = np.random.default_rng(0).random(ROWS)
    for seed, share in shares.items():
        noise = np.random.default_rng([seed, sum(map(ord, name))]).normal(0, 0.05, ROWS)
        right = hard + noise < np.quantile(hard + noise, share)
        path = made_run(root, name, seed=seed, right=int(right.sum()), rows=ROWS, number=seed, **settings)
        if answers:
            save_answers(path, "validation", 12, each_of(right))
    return [one for one in result_of(index_of(root)) if one.folder.endswith(name)]


def test_by_the_texts_and_the_seeds_where_answers_were_kept(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    first = side(root, "one", {1: 0.80, 2: 0.802, 3: 0.801})
    second = side(root, "two", {1: 0.83, 2: 0.832, 3: 0.833}, num_epochs=2)
    found = versus(first, second, ScoreColumn())
    assert found is not None and found.interval is not None
    assert found.basis == TEXTS_AND_SEEDS and found.is_sure and found.num_better == 3
    assert found.value == pytest.approx(0.0307, abs=1e-3)
    assert 0 < found.interval[0] < found.value < found.interval[1]
    assert found.differ is not None and 0 < found.differ < 200


def test_one_seed_each_is_judged_by_the_texts_alone(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    found = versus(side(root, "one", {1: 0.80}), side(root, "two", {1: 0.83}), ScoreColumn())
    assert found is not None and found.basis == TEXTS and found.is_sure and found.seeds[0][0] == 1


def test_without_answers_by_the_seeds_and_without_seeds_by_the_scores(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    first = side(root, "one", {1: 0.80, 2: 0.802, 3: 0.801}, answers=False)
    second = side(root, "two", {1: 0.83, 2: 0.832, 3: 0.833}, answers=False)
    found = versus(first, second, ScoreColumn())
    assert found is not None and found.basis == SEEDS and found.is_sure and found.differ is None
    found = versus(first[:1], second[:1], ScoreColumn())
    assert found is not None and found.basis == SCORES and found.p_value is not None


def test_runs_on_other_texts_are_never_paired(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    first = side(root, "one", {1: 0.80})
    second = side(root, "two", {1: 0.83}, split_seed=9)
    found = versus(first, second, ScoreColumn())
    assert found is not None and found.basis == SCORES and not found.are_same_texts


def test_answers_to_other_texts_under_the_same_settings_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "runs"
    first, second = side(root, "one", {1: 0.80}), side(root, "two", {1: 0.83})
    other = replace(each_of(np.ones(ROWS, bool)), true=np.zeros(ROWS, np.int32))
    save_answers(Path(second[0].path), "validation", 12, other)
    found = versus(first, second, ScoreColumn())
    assert found is not None and found.basis == SCORES


def test_what_was_not_measured_alike_is_not_compared(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    first = side(root, "one", {1: 0.80}, answers=False)
    stopped = made_run(root, "two", state="stopped")
    second = [one for one in result_of(index_of(root)) if one.path == str(stopped)]
    assert versus(first, second, ScoreColumn()) is None


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_ways_that_are_equally_good_are_called_different_in_at_most_one_of_twenty(paired: bool) -> None:
    """Seeds shift a way's quality by a point, texts are easy or hard: both are chance."""
    rng, called, tries = np.random.default_rng(0), 0, 400
    for _ in range(tries):
        ease = rng.normal(1.0, 1.0, 500)
        sides = []
        for _ in range(2):
            shift = rng.normal(0, 0.05, (4, 1))
            sides.append(rng.normal(0, 0.5, (4, 500)) + ease + shift > 0)
        called += sure(texts_and_seeds(*sides, paired=paired))
    assert called <= 0.05 * tries


def test_a_difference_of_three_points_on_two_thousand_texts_is_seen() -> None:
    rng, seen = np.random.default_rng(1), 0
    for _ in range(50):
        ease = rng.normal(1.0, 1.0, 2000)
        first = rng.normal(0, 0.5, (3, 2000)) + ease + rng.normal(0, 0.01, (3, 1)) > 0
        second = rng.normal(0, 0.5, (3, 2000)) + ease + 0.13 + rng.normal(0, 0.01, (3, 1)) > 0
        seen += sure(texts_and_seeds(first, second, paired=True))
    assert seen >= 43


def test_a_score_that_is_no_share_of_texts_is_compared_by_what_each_text_adds(tmp_path: Path) -> None:
    root, rng = tmp_path / "runs", np.random.default_rng(0)
    facts = []
    for number, better in enumerate((0.0, 0.2)):
        hits = (rng.random(500) < 0.6 + better).astype(float)
        path = made_run(root, "tags", seed=1, number=number, num_epochs=1 + number)
        adds = np.stack([hits, np.ones(500), np.ones(500)], 1)
        each = replace(each_of(hits > 0), true=np.zeros(500, np.int32), adds=adds, score=F1)
        save_answers(path, "validation", 12, each)
        (one,) = [one for one in result_of(index_of(root)) if one.path == str(path)]
        score = replace(one.scores[0], metric="entity_f1", value=hits.mean(), interval=None, rows=500)
        facts.append(replace(one, metric="entity_f1", scores=(score,)))
    found = versus(facts[:1], facts[1:], ScoreColumn())
    assert found is not None and found.basis == TEXTS and found.is_sure and found.interval is not None
    assert found.interval[0] < found.value < found.interval[1] and found.value == pytest.approx(0.2, abs=0.06)


def answered(
    root: Path, name: str, metric: str, each: ScoreRows, number: int = 0, **settings: Any
) -> RunFacts:
    """Make a run that was measured by a metric, and has kept these answers."""
    path = made_run(root, name, seed=1, number=number, **settings)
    save_answers(path, "validation", 12, each)
    (one,) = [one for one in result_of(index_of(root)) if one.path == str(path)]
    value = float(SCORES_OF[each.score](each.adds.sum(0)))
    score = replace(one.scores[0], metric=metric, value=value, interval=None, rows=len(each))
    return replace(one, metric=metric, scores=(score,))


def test_questions_are_compared_by_how_much_of_each_answer_is_right(tmp_path: Path) -> None:
    """F1 of 0.4 and of 0.6 are apart, though not above and below a half everywhere."""
    rng = np.random.default_rng(0)
    ease, runs = rng.beta(0.6, 0.6, 500), []
    for number, more in enumerate((0.0, 0.04)):
        f1 = np.clip(ease + more + rng.normal(0, 0.05, 500), 0, 1)
        each = replace(each_of(f1 > 0.5), right=f1, adds=np.stack([f1, np.ones(500)], 1))
        runs.append(answered(tmp_path / "runs", "asked", "f1", each, number, num_epochs=1 + number))
    found = versus(runs[:1], runs[1:], ScoreColumn())
    assert found is not None and found.basis == TEXTS and found.interval is not None
    assert found.value == pytest.approx(runs[1].scores[0].value - runs[0].scores[0].value)
    assert 0.02 < found.value < 0.05 and found.is_sure and found.interval[0] > 0


def test_tags_are_compared_by_their_words_though_wrong_ones_are_told_in_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words, runs = rng.integers(1, 30, 200), []
    for number, right in enumerate((0.62, 0.84)):
        hits = rng.binomial(words, right)
        names = tuple(
            f"{place}/{number}" for place in range(200)
        )  # the wrong words of each text, as answered
        places = np.arange(200, dtype=np.int32)
        adds = np.stack([hits, words], 1).astype(float)
        each = ScoreRows(names, places, places[::-1], hits / words, np.ones(200), adds, SHARE)
        runs.append(
            answered(tmp_path / "runs", "tags", "token_accuracy", each, number, num_epochs=1 + number)
        )
    found = versus(runs[:1], runs[1:], ScoreColumn())
    assert found is not None and found.basis == TEXTS and found.is_sure and found.p_value is not None
    assert found.value == pytest.approx(runs[1].scores[0].value - runs[0].scores[0].value)
    assert found.interval is not None and found.interval[0] > 0.15


@pytest.mark.parametrize("answers", [True, False])
def test_two_seeds_of_each_are_too_few_whatever_they_reached(tmp_path: Path, answers: bool) -> None:
    root = tmp_path / "runs"
    first = side(root, "one", {1: 0.80, 2: 0.82}, answers=answers)
    second = side(root, "two", {1: 0.83, 2: 0.85}, answers=answers)
    found = versus(first, second, ScoreColumn())
    assert found is not None and found.value == pytest.approx(0.03)
    assert found.p_value is None and found.interval is None and not found.is_sure
    assert found.basis == (TEXTS_AND_SEEDS if answers else SEEDS)


def test_three_seeds_that_tie_on_few_texts_are_not_certain() -> None:
    right = np.zeros((3, 30), bool)
    right[:, :24] = True
    other = right.copy()
    other[:, 24] = True  # the same text more, with each seed
    value, interval, p_value = texts_and_seeds(right, other, paired=True)
    assert value == pytest.approx(1 / 30) and interval is not None and p_value is not None
    assert p_value > 0.2 and interval[0] < 0 < interval[1]


def test_copies_of_a_text_count_once_between_two_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six texts that one run alone has right are told as chance if they are one text six times."""
    right = np.ones(60, bool)
    wrong = right.copy()
    wrong[:6] = False
    runs = [
        answered(tmp_path / "runs", "films", "accuracy", each_of(hits), number, num_epochs=1 + number)
        for number, hits in enumerate((wrong, right))
    ]
    found = versus(runs[:1], runs[1:], ScoreColumn())
    assert found is not None and found.is_sure
    texts = ["the same", *["the same"] * 5, *map(str, range(54))]
    lines = np.arange(60)
    monkeypatch.setattr(subject, "_listed", lambda *_: ListedRows(lines, lines, lines, texts))
    found = versus(runs[:1], runs[1:], ScoreColumn())
    assert found is not None and found.basis == TEXTS and found.differ == 6 and not found.is_sure


def test_two_shares_are_sure_just_where_their_interval_is_without_nothing() -> None:
    for hits in range(60, 90):
        interval, p_value = _two_shares(0.6, hits / 100, 100)
        assert (p_value < SURE) == (interval[0] > 0)
