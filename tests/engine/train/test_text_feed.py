"""The stream of steps: all of the text once an epoch, from any position on, whoever shares it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.text.corpus.instances import MaskedBatch
from engine.text.corpus.masking import Masker, Masking
from engine.text.wordpiece import WordPiece
from engine.train.pretraining import text_feed
from engine.train.pretraining.text_feed import Growth, TextFeed
from engine.train.ranks import Ranks
from tests.engine.tiny_texts import SPECIALS

SIZES = [random.Random(0).choices(range(1, 12), k=random.Random(n).randint(1, 9)) for n in range(83)]
NUM_TOKENS = sum(map(sum, SIZES))
PIECES = WordPiece.from_tokens([*SPECIALS, *(f"w{n}" for n in range(NUM_TOKENS))], lowercase=True)


@dataclass(frozen=True)
class Made:
    """Documents of sentences in which every token is there once, so that it tells its place."""

    sizes: Sequence[Sequence[int]]
    continues: None = None

    @property
    def ids(self) -> np.ndarray:
        return np.arange(sum(map(sum, self.sizes)), dtype=np.uint16) + len(SPECIALS)

    @property
    def sentences(self) -> np.ndarray:
        return np.cumsum([0, *(size for document in self.sizes for size in document)])

    @property
    def documents(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.sizes)])

    @property
    def doc_tokens(self) -> np.ndarray:
        tokens: np.ndarray = self.sentences[self.documents]
        return tokens


STORE = Made(SIZES)


class Fake(Ranks):
    """One of several ranks, of which nobody asks anything."""

    def __init__(self, rank: int, world_size: int) -> None:
        self.rank, self.world_size = rank, world_size


def feed(**changes: Any) -> TextFeed:
    """Return a feed of steps of 90 tokens, examples of at most 16, three steps a block."""
    values: dict[str, Any] = {
        "store": STORE,
        "documents": np.arange(len(SIZES)),
        "wordpiece": PIECES,
        "masker": Masker(Masking(), PIECES, 1),
        "growth": Growth(0, 16, 0.0),
        "batch_tokens": 90,
        "next_sentence": False,
        "static": False,
        "seed": 3,
    }
    return TextFeed(**{**values, **changes})


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_feed, "BLOCK_TOKENS", 1)
    monkeypatch.setattr(text_feed, "BLOCK_STEPS", 3)


def examples(parts: Sequence[MaskedBatch]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return each example of a step: its tokens before they were masked, and as the model reads them."""
    found = []
    for part in parts:
        shown = part.input_ids.clone()
        whole = shown.clone()
        whole[part.masked] = part.targets
        ends = np.cumsum(part.bounds.lengths)
        for start, end in zip([0, *ends], ends, strict=False):
            found.append((tuple(whole[start:end].tolist()), tuple(shown[start:end].tolist())))
    return found


def steps(made: TextFeed, count: int, progress: float = 0.5, at_once: int = 10**6) -> Iterator[Any]:
    """Yield the examples of the next steps."""
    for number in range(1, count + 1):
        yield examples(made.parts(made.take(number, progress), at_once))


def one_epoch(made: TextFeed) -> list[Any]:
    """Return the steps of an epoch from its first on."""
    epoch, found = made.at.epoch, []
    while True:
        taken = made.take(1, 0.5)
        if made.at.epoch != epoch:
            made.at.place -= 1  # not taken yet
            return found
        found.append(examples(made.parts(taken, 10**6)))


def tokens_of(step: Any) -> list[int]:
    return [token for whole, _ in step for token in whole]


# what an epoch is


def test_an_epoch_has_every_token_of_every_document_once_and_the_next_in_another_order() -> None:
    made = feed()
    first, second = one_epoch(made), one_epoch(made)
    for epoch in (first, second):
        counted = Counter(token for step in epoch for token in tokens_of(step) if token >= len(SPECIALS))
        assert counted == Counter(range(len(SPECIALS), NUM_TOKENS + len(SPECIALS)))
    assert [tokens_of(step) for step in first] != [tokens_of(step) for step in second]
    assert made.epoch(1) == pytest.approx(2.0)


def test_documents_that_are_kept_apart_are_never_met() -> None:
    some = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37])
    made = feed(documents=some, next_sentence=True)
    met = {token for step in steps(made, 40) for token in tokens_of(step)} - set(range(len(SPECIALS)))
    owners = np.searchsorted(STORE.doc_tokens, np.array(sorted(met)) - len(SPECIALS), "right") - 1
    assert set(owners) == set(some)


def test_in_an_epoch_of_pairs_every_document_asks_for_what_follows() -> None:
    made = feed(next_sentence=True)
    firsts = [whole[1] - len(SPECIALS) for step in one_epoch(made) for whole, _ in step]
    owners = np.searchsorted(STORE.doc_tokens, firsts, "right") - 1
    assert set(owners) == set(range(len(SIZES)))


def test_steps_hold_as_good_as_batch_tokens_also_at_the_end_of_an_epoch() -> None:
    for batch_tokens in (64, 90, 250, 700):
        made = feed(batch_tokens=batch_tokens)
        sizes = [len(tokens_of(step)) for step in one_epoch(made)]
        assert 0.6 * batch_tokens - 16 <= min(sizes) and max(sizes) <= 1.5 * batch_tokens + 16
        assert np.mean(sizes) == pytest.approx(batch_tokens, rel=0.2)


def test_micro_batches_hold_the_same_examples_and_masks_as_the_whole_step() -> None:
    whole, parts = (list(steps(feed(), 9, at_once=tokens)) for tokens in (10**6, 30))
    assert [sorted(step) for step in whole] == [sorted(step) for step in parts]
    made = feed()
    taken = made.take(1, 0.5)
    split = made.parts(taken, 30)
    assert len(split) > 1 and all(part.num_tokens <= 30 for part in split)
    assert sum(part.num_tokens for part in split) == made.lengths(taken).sum()


def test_the_same_seed_gives_the_same_steps_and_another_seed_others() -> None:
    one, again, other = (list(steps(feed(seed=seed), 7)) for seed in (3, 3, 4))
    assert one == again != other


def test_masks_change_from_epoch_to_epoch_unless_they_are_static() -> None:
    def shown(static: bool) -> list[dict[tuple[int, ...], tuple[int, ...]]]:
        whole = Made([[7]] * 30)  # documents that are one example each, so that they come again
        made = feed(store=whole, documents=np.arange(30), static=static)
        return [dict(pair for step in one_epoch(made) for pair in step) for _ in range(2)]

    first, second = shown(static=True)
    assert first == second and len(first) == 30
    first, second = shown(static=False)
    assert first.keys() == second.keys() and sum(first[key] != second[key] for key in first) > 15


# positions


@pytest.mark.parametrize("next_sentence", [False, True])
@pytest.mark.parametrize("done", [0, 1, 2, 3, 7, 29])
def test_a_restored_position_goes_on_with_the_same_steps(done: int, next_sentence: bool) -> None:
    made = feed(next_sentence=next_sentence)
    list(steps(made, done))
    kept = json.loads(json.dumps(made.state()))
    wanted = list(steps(made, 25))
    again = feed(next_sentence=next_sentence)
    again.restore(kept)
    assert again.state() == kept
    assert list(steps(again, 25)) == wanted and again.state() == made.state()


@pytest.mark.slow
def test_a_position_while_examples_grow_is_restored_with_their_length() -> None:
    kinds = {"growth": Growth(4, 16, 0.5), "batch_tokens": 64}
    for stop in range(1, 20):
        made, again = feed(**kinds), feed(**kinds)
        for number in range(stop):
            made.take(number + 1, number / 40)
        again.restore(json.loads(json.dumps(made.state())))
        for number in range(stop, 40):
            wanted, found = (one.take(number + 1, number / 40) for one in (made, again))
            assert examples(made.parts(wanted, 999)) == examples(again.parts(found, 999))


# growth


def test_lengths_double_up_to_the_last_within_their_share_of_the_budget() -> None:
    growth = Growth(16, 128, 0.3)
    assert growth.stages() == [16, 32, 64, 128]
    assert [growth.at(share) for share in (0.0, 0.09, 0.11, 0.19, 0.21, 0.29, 0.3, 1.0)] == [
        *(16, 16, 32, 32, 64, 64, 128, 128)
    ]
    assert Growth(48, 128, 0.3).stages() == [48, 96, 128]
    for growth in (Growth(0, 128, 0.3), Growth(16, 128, 0.0), Growth(128, 128, 0.3), Growth(200, 128, 0.3)):
        assert growth.stages() == [128] and growth.at(0.0) == 128


def test_examples_are_as_long_as_their_stage_says_also_in_a_run_shorter_than_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_feed, "BLOCK_STEPS", 64)
    growth = Growth(8, 32, 0.5)
    made, longest = feed(growth=growth), []
    for number in range(20):
        taken = made.take(number + 1, number / 20)
        longest.append(int(made.lengths(taken).max()))
    assert max(longest[:5]) <= 8 < max(longest[5:10]) <= 16 < max(longest[10:]) <= 32
    assert made.epoch(20) == pytest.approx(20 * 90 / NUM_TOKENS, rel=0.4)  # what was done stays done


# ranks


@pytest.mark.parametrize("world_size", [2, 3, 5])
@pytest.mark.parametrize("next_sentence", [False, True])
def test_shares_of_ranks_make_up_the_step_of_one_and_are_equal_to_an_example(
    world_size: int, next_sentence: bool
) -> None:
    kinds = {"next_sentence": next_sentence, "batch_tokens": 200}
    alone = feed(**kinds)
    ranks = [feed(**kinds, ranks=Fake(rank, world_size)) for rank in range(world_size)]
    for number in range(1, 30):
        whole = examples(alone.parts(alone.take(number, 0.5), 999))
        shares = [examples(one.parts(one.take(number, 0.5), 999)) for one in ranks]
        assert sorted(pair for share in shares for pair in share) == sorted(whole)
        sizes = [len(tokens_of(share)) for share in shares]
        assert max(sizes) - min(sizes) <= 2 * 16 and min(sizes) > 0
        assert all(abs(size - sum(sizes) / world_size) <= 16 for size in sizes)
    assert all(one.state() == alone.state() for one in ranks)


def test_every_rank_has_something_to_do_however_small_the_steps_are() -> None:
    ranks = [feed(batch_tokens=40, ranks=Fake(rank, 3)) for rank in range(3)]
    for number in range(1, 80):
        assert all(len(one.take(number, 0.5).places) for one in ranks)
    assert len({str(one.state()) for one in ranks}) == 1


def test_what_pairs_show_of_a_block_is_counted_and_texts_alone_show_all_of_it() -> None:
    for next_sentence in (True, False):
        fed = feed(next_sentence=next_sentence)
        share = fed.shown()
        made, documents = fed._instances, fed._blocks_in(0)[0]
        assert made is not None
        own, total = set[int](), int(np.diff(STORE.doc_tokens)[documents].sum())
        for a, len_a, b, len_b, is_random in zip(
            made.start_a, made.len_a, made.start_b, made.len_b, made.is_random, strict=True
        ):
            own |= set(range(a, a + len_a))
            if not is_random:
                own |= set(range(b, b + len_b))
        assert share == pytest.approx(len(own) / total) and (share == 1.0) == (not next_sentence)
        assert (
            len(fed.take(1, 0.0).places) and fed._instances is made
        )  # the same examples are then trained on
