"""What is shown of all weights: cells are averaged, added or left out, never moved; rows stay shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UserError
from engine.inspect.attention.views import (
    BLOCKS,
    SPECIALS,
    UNITS,
    View,
    block_masses,
    difference,
    line_up,
    strongest,
    tile_maxima,
    tiles,
    view,
)
from engine.inspect.attention.weights import AttentionMaps
from engine.text.words import Word, words_of
from tests.fakes import tiny_wordpiece

A, B = "good filming x", "bad playing !"  # [CLS] good film ##ing x [SEP] bad play ##ing ! [SEP]
PIECES = ("[CLS]", "good", "film", "##ing", "x", "[SEP]", "bad", "play", "##ing", "!", "[SEP]")
SPECIAL = (0, 5, 10)


def looked(text: str = A, text_pair: str | None = B, seed: int = 0) -> AttentionMaps:
    """Return a look with random weights, (2, 3, T, T), each row of which sums to 1."""
    encoding = tiny_wordpiece().encode(text, text_pair)
    length = len(encoding.tokens)
    weights = np.random.default_rng(seed).random((2, 3, length, length), np.float32) ** 4
    weights /= weights.sum(-1, keepdims=True)
    return AttentionMaps(text, text_pair, encoding, words_of(encoding, text, text_pair), weights)


def test_one_head_is_shown_as_it_is() -> None:
    seen = looked()
    shown = view(seen, View(heads=((1, 2),)))
    assert np.array_equal(shown.values, seen.attentions[1, 2])
    assert shown.row_labels == shown.column_labels == PIECES
    assert shown.row_places == tuple((place,) for place in range(11))
    assert (shown.row_boundary, shown.column_boundary) == (6, 6)
    assert shown.row_segments == (0,) * 6 + (1,) * 5
    assert [n for n, special in enumerate(shown.row_is_special) if special] == list(SPECIAL)
    assert shown.rows_are_shares and not shown.signed


def test_heads_are_averaged() -> None:
    seen = looked()
    heads = ((0, 1), (1, 0), (1, 2))
    expected = np.mean([seen.attentions[head] for head in heads], 0)
    assert np.allclose(view(seen, View(heads=heads)).values, expected, atol=1e-7)
    assert np.allclose(view(seen, View(rollout=1)).values, seen.rolled_out[1])


def test_hidden_specials_leave_the_other_weights_alone() -> None:
    seen = looked()
    words = [place for place in range(11) if place not in SPECIAL]
    shown = view(seen, View(specials="hide"))
    assert np.array_equal(shown.values, seen.attentions[0, 0][np.ix_(words, words)])
    assert (shown.row_boundary, shown.row_labels) == (4, tuple(PIECES[place] for place in words))
    assert not shown.rows_are_shares


@pytest.mark.parametrize("unit", UNITS)
def test_renormalised_rows_sum_to_one(unit: str) -> None:
    shown = view(looked(), View(specials="renormalise", unit=unit))
    assert np.allclose(shown.values.sum(1), 1.0, atol=1e-6)
    assert shown.rows_are_shares


def test_a_row_that_looks_at_specials_alone_stays_zero_when_renormalised() -> None:
    seen = looked()
    seen.attentions[0, 0, 1] = np.eye(11, dtype=np.float32)[5]
    shown = view(seen, View(specials="renormalise"))
    assert not shown.values[0].any() and np.isfinite(shown.values).all()


def test_words_are_means_of_rows_and_sums_of_columns() -> None:
    seen = looked()
    shown = view(seen, View(unit="words"))
    assert shown.row_labels == ("[CLS]", "good", "filming", "x", "[SEP]", "bad", "playing", "!", "[SEP]")
    assert shown.row_places[2] == (2, 3) and shown.row_boundary == 5
    weights = seen.attentions[0, 0]
    assert np.isclose(shown.values[2, 6], weights[2:4, 7:9].sum(1).mean())
    assert np.isclose(shown.values[6, 0], weights[7:9, 0].mean())
    assert np.allclose(shown.values.sum(1), 1.0, atol=1e-6)


def test_blocks_are_cut_out_by_text() -> None:
    seen = looked()
    weights = seen.attentions[0, 0]
    sides = {"a": slice(0, 6), "b": slice(6, 11)}
    for block in ("aa", "ab", "ba", "bb"):
        shown = view(seen, View(block=block))
        assert np.array_equal(shown.values, weights[sides[block[0]], sides[block[1]]])
        assert shown.row_boundary is None and not shown.rows_are_shares
    assert shown.row_labels == PIECES[6:]


def test_a_block_of_b_needs_a_b() -> None:
    with pytest.raises(UserError, match="no second text"):
        view(looked(A, None), View(block="ab"))
    assert view(looked(A, None), View(block="aa")).values.shape == (6, 6)


def test_nothing_but_specials_cannot_be_shown_without_them() -> None:
    with pytest.raises(UserError, match="there is nothing to show"):
        view(looked(" ", None), View(specials="hide"))


def test_the_top_share_keeps_the_fewest_strongest_cells_that_hold_it() -> None:
    seen = looked()
    shown = view(seen, View(top_share=0.7))
    for row, whole in zip(shown.values, seen.attentions[0, 0], strict=True):
        kept = row[row > 0]
        assert kept.sum() >= 0.7 - 1e-6 and kept.sum() - kept.min() < 0.7
        assert set(kept) == set(np.sort(whole)[-len(kept) :])
    assert ((view(seen, View(top_share=0.0)).values > 0).sum(1) == 1).all()
    halves = replace(seen, attentions=np.zeros_like(seen.attentions))
    halves.attentions[..., :3] = 0.5, 0.25, 0.25
    assert ((view(halves, View(top_share=0.5)).values > 0).sum(1) == 1).all()


views = st.builds(
    View,
    heads=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=6).map(tuple),
    specials=st.sampled_from(SPECIALS),
    unit=st.sampled_from(UNITS),
    block=st.sampled_from(BLOCKS),
    top_share=st.sampled_from([1.0, 0.5, 0.0]),
)


@pytest.mark.slow
@given(wanted=views, seed=st.integers(0, 10_000))
@settings(deadline=None)
def test_the_strongest_cell_shown_is_the_strongest_attention(wanted: View, seed: int) -> None:
    seen = looked(seed=seed)
    shown = view(seen, wanted)
    best = strongest(shown, 1)
    row, column = int(best.rows[0]), int(best.columns[0])
    weights = np.mean([seen.attentions[head] for head in wanted.heads], 0)
    words = [place for place in range(11) if place not in SPECIAL]

    def attention(from_: tuple[int, ...], to: tuple[int, ...]) -> float:
        whole = weights[:, words].sum(1) if wanted.specials == "renormalise" else np.ones(11)
        rows = weights[list(from_)][:, list(to)].sum(1).mean() / whole[list(from_)].mean()
        return float(rows)

    every = [[attention(from_, to) for to in shown.column_places] for from_ in shown.row_places]
    assert np.isclose(every[row][column], np.max(every), rtol=1e-5)
    assert np.isclose(best.values[0], np.max(every), rtol=1e-5)


def test_strongest_cells_come_in_order_and_zeros_do_not_come() -> None:
    shown = view(looked(), View(top_share=0.0))
    cells = strongest(shown, 300)
    assert len(cells.values) == 11 and (np.diff(cells.values) <= 0).all()
    assert np.array_equal(shown.values[cells.rows, cells.columns], cells.values)
    assert np.array_equal(strongest(shown, 4).values, cells.values[:4])


def test_a_difference_of_heads_is_one_minus_the_other() -> None:
    seen = looked()
    shown = difference(seen, seen, View(heads=((0, 1),)), View(heads=((1, 2),)))
    assert np.allclose(shown.values, seen.attentions[0, 1] - seen.attentions[1, 2])
    assert shown.signed and not shown.rows_are_shares and shown.row_labels == PIECES
    best = strongest(shown, 1)
    assert abs(best.values[0]) == np.abs(shown.values).max()


def test_a_difference_of_sentences_names_words_that_differ_after_both() -> None:
    one, other = looked(), looked("bad filming x", B, seed=1)
    shown = difference(one, other, View())
    assert shown.row_labels[1] == "good / bad"
    assert np.allclose(shown.values, one.attentions[0, 0] - other.attentions[0, 0])


def test_a_word_more_is_left_out_of_a_difference_and_named() -> None:
    one, other = looked(), looked("good bad filming x", B, seed=1)
    shown = difference(one, other, View(unit="words"))
    assert shown.left_out == ("bad",) and shown.row_boundary == 5
    mine, theirs = view(one, View(unit="words")), view(other, View(unit="words"))
    kept = [place for place, label in enumerate(theirs.row_labels) if place != 2]
    assert np.allclose(shown.values, mine.values - theirs.values[np.ix_(kept, kept)])


def test_a_capital_does_not_keep_words_apart() -> None:
    ours, theirs = ([(0, word) for word in text.split()] for text in ("now The film", "the film"))
    assert line_up(ours, theirs) == ([1, 2], [0, 1])


def test_texts_that_have_nothing_in_common_are_refused() -> None:
    with pytest.raises(UserError, match="of 15 tokens, 2 can be aligned"):
        difference(looked("good x", None), looked("a b c d e f g h i j k l m", None), View())


def test_the_difference_of_a_pair_lines_up_each_text_by_itself() -> None:
    one, other = looked("x", "bad film"), looked("x play film", "bad film", seed=1)
    shown = difference(one, other, View())
    assert shown.row_labels == ("[CLS]", "x", "[SEP]", "bad", "film", "[SEP]")
    assert shown.left_out == ("play", "film") and shown.row_boundary == 3
    kept = [0, 1, 4, 5, 6, 7]
    assert np.allclose(shown.values, one.attentions[0, 0] - other.attentions[0, 0][np.ix_(kept, kept)])


def test_block_masses_say_where_the_words_look() -> None:
    seen = looked()
    weights = (seen.attentions[0, 1] + seen.attentions[1, 1]) / 2
    found = block_masses(seen, ((0, 1), (1, 1)))
    assert np.allclose(found.values.sum(1), 1.0, atol=1e-6)
    assert np.isclose(found.share("A", "B"), weights[1:5, 6:10].sum(1).mean())
    assert np.isclose(found.share("B", "[SEP]"), weights[6:10][:, [5, 10]].sum(1).mean())
    assert np.isclose(found.cls, weights[[1, 2, 3, 4, 6, 7, 8, 9], 0].mean())
    alone = block_masses(looked(A, None), ((0, 0),))
    assert alone.share("A", "B") is None and alone.share("B", "A") is None


def by_hand(values: np.ndarray, size: int) -> np.ndarray:
    """Return the maxima of rectangles that begin at i * R // size."""
    rows, columns = (
        [number * length // min(size, length) for number in range(min(size, length) + 1)]
        for length in values.shape
    )
    return np.array(
        [
            [values[r : rows[i + 1], c : columns[j + 1]].max() for j, c in enumerate(columns[:-1])]
            for i, r in enumerate(rows[:-1])
        ]
    )


@pytest.mark.slow
@given(rows=st.integers(1, 40), columns=st.integers(1, 40), size=st.integers(1, 45))
@settings(deadline=None)
def test_a_cell_of_a_tile_is_the_largest_that_it_stands_for(rows: int, columns: int, size: int) -> None:
    weights = np.random.default_rng(rows * columns).random((2, 3, rows, columns), np.float32)
    for head in np.ndindex(2, 3):
        made = tile_maxima(weights[head], size)
        assert made.shape == (min(size, rows), min(size, columns))
        assert np.array_equal(made, by_hand(weights[head], size))


def test_tiles_are_what_the_view_shows() -> None:
    seen = looked()
    for head in np.ndindex(2, 3):
        assert np.array_equal(tiles(seen, View(), 5)[head], tile_maxima(seen.attentions[head], 5))
    for wanted in (View(specials="renormalise", unit="words"), View(specials="hide", block="ab")):
        made = tiles(seen, wanted, 3)
        for layer, head in np.ndindex(2, 3):
            shown = view(seen, View(((layer, head),), None, wanted.specials, wanted.unit, wanted.block))
            assert np.array_equal(made[layer, head], by_hand(shown.values, 3))


@pytest.mark.parametrize(
    "changes", [{"specials": "no"}, {"unit": "w"}, {"block": "ac"}, {"top_share": 2.0}, {"heads": ()}]
)
def test_a_view_that_there_is_not_is_our_mistake(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no such view"):
        View(**changes)


def test_tokens_that_no_word_holds_stay_pieces() -> None:
    seen = looked()
    bare = AttentionMaps(A, B, seen.encoding, (Word("filming", 5, 12, 0, (2, 3)),), seen.attentions)
    shown = view(bare, View(unit="words"))
    assert shown.row_labels[:4] == ("[CLS]", "good", "filming", "x") and len(shown.row_labels) == 10
