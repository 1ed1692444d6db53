"""Slices that are worse than the rest are found, and none in a model without a weak side."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from engine.evaluation.slices import Slice, by_length, by_value, chances, finding_worse, has_word, words_of
from engine.events import result_of


def texts_of(rng: np.random.Generator, count: int) -> list[str]:
    """Return texts of eight words of a vocabulary of eighty."""
    return [" ".join(f"w{place}" for place in rng.integers(0, 80, 8)) for _ in range(count)]


def test_words_are_those_of_any_script(chinese_words: None) -> None:
    assert words_of("Don't STOP, 北京 2024!") == ["don't", "stop", "北京", "2024"]


def test_without_a_segmenter_a_chinese_character_is_a_word(chinese_characters: None) -> None:
    assert words_of("Don't STOP, 北京 2024!") == ["don't", "stop", "北", "京", "2024"]
    assert has_word("去北京吧", "北京") and not has_word("北方的京", "北京")


def test_a_chinese_word_is_looked_for_as_a_word(chinese_words: None) -> None:
    assert has_word("我们去北京", "北京") and has_word("酒店房间小", "房间")
    assert not has_word("中国人民", "国人") and not has_word("我们没有", "我")
    assert has_word("The Bank of England", "bank of") and not has_word("The bank of", "ban")
    assert has_word("去北京吧", "北京") and not has_word("北方的京", "北京")
    assert not has_word("anything", "?")


def test_chance_is_fishers_exact_test() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        count, others = rng.integers(1, 40, 2).tolist()
        hits, other_hits = int(rng.integers(0, count + 1)), int(rng.integers(0, others + 1))
        one = Slice("word", "", "x", count, hits, others, other_hits)
        table = [[hits, count - hits], [other_hits, others - other_hits]]
        assert chances([one])[0] == pytest.approx(stats.fisher_exact(table, "less").pvalue)


def test_a_weak_slice_is_found_and_no_other() -> None:
    rng = np.random.default_rng(1)
    texts = texts_of(rng, 1500)
    weak = np.array(["w7" in text.split() for text in texts])
    right = rng.random(1500) < np.where(weak, 0.5, 0.92)
    source = np.where(rng.random(1500) < 0.5, "web", "book").tolist()
    found, tried = result_of(finding_worse(texts, None, right, np.full(1500, 8), {"source": source}))
    assert [(one.kind, one.value) for one in found] == [("word", "w7")] and tried > 60
    assert found[0].count == weak.sum() and found[0].hits == (weak & right).sum()
    assert found[0].p_value < 0.001 and found[0].accuracy < found[0].other_accuracy


@pytest.mark.slow
def test_a_model_without_a_weak_side_is_left_in_peace() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(40):
        texts = texts_of(rng, 500)
        found, _ = result_of(finding_worse(texts, None, rng.random(500) < 0.85, np.full(500, 8), {}))
        alarms += bool(found)
    assert alarms <= 5


COPIES = {
    "each three times": np.repeat(np.arange(200), 3),
    "a tenth five times": np.concatenate([np.arange(430), np.repeat(np.arange(43), 4)]),
    "thirty in a hundred twice": np.concatenate([np.arange(460), np.arange(140)]),
    "all twice": np.tile(np.arange(300), 2),
}


@pytest.mark.parametrize("places", COPIES.values(), ids=COPIES)
def test_copies_of_texts_make_no_weak_slice(places: np.ndarray) -> None:
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(20):
        own = texts_of(rng, int(places.max()) + 1)
        right = rng.random(len(own)) < 0.85
        lengths = np.array([len(text) for text in own])[places]
        texts, source = [own[place] for place in places], np.where(places % 3, "web", "book").tolist()
        found, _ = result_of(finding_worse(texts, None, right[places], lengths, {"source": source}))
        alarms += bool(found)
    assert alarms <= 3  # more than 3 of 20 come once in 60 times at one in twenty


def test_a_weak_slice_is_told_with_the_counts_of_all_its_texts_and_tested_on_the_different_ones() -> None:
    rng = np.random.default_rng(5)
    own = texts_of(rng, 600)
    weak = np.array(["w7" in text.split() for text in own])
    right = rng.random(600) < np.where(weak, 0.3, 0.9)
    places = np.concatenate([np.arange(600), np.arange(600)])
    texts = [own[place].upper() if place % 2 else own[place] for place in places]
    alone, _ = result_of(finding_worse(own, None, right, np.full(600, 8), {}))
    found, _ = result_of(finding_worse(texts, None, right[places], np.full(1200, 8), {}))
    assert [one.value for one in alone] == [one.value for one in found] == ["w7"]
    assert found[0].count == 2 * weak.sum() and found[0].hits == 2 * (weak & right).sum()
    assert found[0].other_hits == 2 * (~weak & right).sum()
    assert found[0].p_value == alone[0].p_value


def test_a_text_in_a_slice_and_its_copy_outside_are_one_text_of_the_slice() -> None:
    rng = np.random.default_rng(6)
    right = rng.random(100) < 0.9
    right[:30] = rng.random(30) < 0.3
    texts = [f"text {place}" for place in range(100)]
    alone, _ = result_of(finding_worse(texts, None, right, [9] * 100, {"of": ["a"] * 30 + ["b"] * 70}))
    texts, twice = texts + texts[:30], np.append(right, right[:30])
    source = ["a"] * 30 + ["b"] * 100
    found, _ = result_of(finding_worse(texts, None, twice, [9] * 130, {"of": source}))
    assert alone[0].p_value == found[0].p_value and (found[0].count, found[0].others) == (30, 100)


def test_a_length_is_called_worse_only_where_chance_seldom_makes_the_worst_of_all_so_bad() -> None:
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(200):
        lengths, right = np.repeat(rng.integers(3, 90, 200), 2), np.repeat(rng.random(200) < 0.8, 2)
        found = by_length(lengths, right, groups=np.repeat(np.arange(200), 2))
        alarms += any(one.p_value < 0.05 for one in found)
    assert alarms <= 18  # ten of 200 at one in twenty
    lengths = np.repeat(np.arange(10, 90), 5)
    found = by_length(lengths, (lengths > 20) | (rng.random(400) < 0.2))
    assert min(found, key=lambda one: one.p_value) is found[0] and found[0].p_value < 0.001


def test_lengths_and_values_make_slices_that_cover_all_texts() -> None:
    rng = np.random.default_rng(3)
    lengths, right = rng.integers(3, 90, 400), rng.random(400) < 0.8
    found = by_length(lengths, right)
    assert len(found) == 8 and sum(one.count for one in found) == 400
    assert all(one.high < other.low for one, other in pairwise(found))
    assert by_length([], []) == () and len(by_length([5, 5, 5], [True] * 3)) == 1
    values = by_value("part", ["a"] * 3 + ["b"] * 2, [True, True, False, False, False])
    assert [(one.value, one.count, one.hits) for one in values] == [("a", 3, 2), ("b", 2, 0)]
    assert by_value("id", [str(i) for i in range(100)], np.ones(100)) == ()


def test_few_texts_or_none_have_no_slices() -> None:
    assert result_of(finding_worse([], None, [], [], {})) == ((), 0)
    assert result_of(finding_worse(["a b"], None, [False], [2], {}))[0] == ()
    assert result_of(finding_worse((), None, [True] * 20, [4] * 20, {}))[0] == ()
