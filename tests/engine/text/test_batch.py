"""Batches: every example once an epoch, nothing computed for padding, the same order from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import Bounds, EncodedRows, by_length, collate, epoch_batches, split_by_tokens


def short_text_lengths(count: int = 6920, seed: int = 3) -> np.ndarray:
    """Return lengths in WordPieces like those of SST-2: 4 to 60, 22 on average, specials included."""
    return np.random.default_rng(seed).gamma(4.3, 4.7, count).astype(np.int64).clip(2, 60) + 2


def three_examples() -> EncodedRows:
    pieces = [np.array(ids, np.int32) for ids in ([2, 11, 3, 12, 13, 3], [2, 21, 3], [2, 31, 32, 3])]
    return EncodedRows.from_pieces(pieces, [3, 3, 4], [1, 0, 1], [5, 7, 9])


@pytest.mark.parametrize(("count", "batch_size"), [(1, 3), (37, 5), (40, 5), (1237, 7)])
def test_every_example_comes_once_an_epoch(count: int, batch_size: int) -> None:
    lengths = short_text_lengths(count)
    batches = epoch_batches(lengths, batch_size, seed=1, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(count))
    sizes = [len(batch) for batch in batches]
    assert set(sizes[:-1]) <= {batch_size} and sizes[-1] == (count % batch_size or batch_size)


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    lengths = short_text_lengths(237)
    first, again = (epoch_batches(lengths, 7, seed=1, epoch=4) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    for seed, epoch in ((2, 4), (1, 5)):
        other = epoch_batches(lengths, 7, seed=seed, epoch=epoch)
        assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_the_order_is_the_same_on_every_machine() -> None:
    batches = epoch_batches(np.array([3, 9, 4, 4, 8, 3, 5]), 3, seed=42, epoch=1)
    assert [batch.tolist() for batch in batches] == [[3, 5, 0], [1, 6, 2], [4]]


def test_less_than_five_per_cent_of_the_rows_are_filler_with_short_texts() -> None:
    lengths = short_text_lengths()
    real = rows = 0
    for batch in epoch_batches(lengths, 32, seed=0, epoch=0):
        for part in split_by_tokens(batch, lengths, 2048):
            real += int(lengths[part].sum())
            rows += -(-int(lengths[part].sum()) // ROW_MULTIPLE) * ROW_MULTIPLE
    assert 20 < lengths.mean() < 26
    assert 1 - real / rows < 0.05


def test_texts_of_a_batch_are_of_near_equal_length() -> None:
    lengths = short_text_lengths()
    spreads = [np.ptp(lengths[batch]) for batch in epoch_batches(lengths, 32, seed=0, epoch=0)]
    assert np.median(spreads) <= 3


def test_long_texts_do_not_all_come_first() -> None:
    lengths = short_text_lengths()
    means = np.array([lengths[batch].mean() for batch in epoch_batches(lengths, 32, seed=0, epoch=0)])
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


def test_parts_keep_the_order_and_the_token_budget() -> None:
    lengths = np.array([9, 8, 3, 3, 2, 20])
    parts = [part.tolist() for part in split_by_tokens(np.array([5, 0, 1, 2, 3, 4]), lengths, 12)]
    assert parts == [[5], [0], [1, 2], [3, 4]]  # 20 is more than the budget, and goes alone
    assert np.concatenate(list(by_length(lengths, 12))).tolist() == [5, 0, 1, 2, 3, 4]


def test_a_batch_packs_examples_end_to_end_and_counts_positions_in_each() -> None:
    batch = collate(three_examples(), np.array([0, 2]), multiple=8)
    assert batch.input_ids.tolist() == [2, 11, 3, 12, 13, 3, 2, 31, 32, 3, 0, 0, 0, 0, 0, 0]
    assert batch.token_type_ids.tolist() == [0, 0, 0, 1, 1, 1] + [0] * 10
    assert batch.position_ids.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3] + [0] * 6
    assert batch.bounds.lengths == (6, 4) and batch.num_tokens == 10
    assert batch.targets is not None and batch.targets.tolist() == [1, 1]


def test_a_subset_holds_just_its_examples() -> None:
    some = three_examples().subset(np.array([2, 0]))
    assert (
        some.rows.tolist() == [9, 5] and some.lengths.tolist() == [4, 6] and some.targets.tolist() == [1, 1]
    )
    assert some.input_ids.tolist() == [2, 31, 32, 3, 2, 11, 3, 12, 13, 3]


def test_runs_are_neighbours_of_equal_length() -> None:
    bounds = Bounds([7, 7, 3, 7])
    assert bounds.runs == ((2, 7), (1, 3), (1, 7))
    assert bounds.offsets.tolist() == [0, 7, 14, 17, 24] and bounds.firsts.tolist() == [0, 7, 14, 17]


def test_no_examples_make_an_empty_set() -> None:
    none = EncodedRows.from_pieces([], [], [], [])
    assert len(none) == 0 and list(by_length(none.lengths, 9)) == []
