"""Masking: rate, shares and lengths as published, words whole, an example's mask the same in any batch.

Statistics are taken over a million tokens: of made-up text always, of Wikipedia where CLOZE_DATA is set.
"""

from __future__ import annotations

import lzma
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ConfigError, DataError
from engine.text.corpus.masking import KEPT, MASKED, RANDOM, UNITS, MaskedRows, Masker, Masking
from engine.text.corpus.terms import Terms
from engine.text.special_tokens import ExtraToken
from engine.text.wordpiece import WordPiece

NUM_TOKENS = 1_000_000
POINT = 0.01
SPECIAL = ("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NUM_WORDS, NUM_ENDS = 300, 90
WHOLE_WORDS = ("word", "ngram", "span", "term")


@dataclass
class Examples:
    """Texts as the model would read them, and the number of each token's word (-1: special)."""

    wordpiece: WordPiece
    ids: np.ndarray
    lengths: np.ndarray
    places: np.ndarray
    words: np.ndarray

    @property
    def maskable(self) -> int:
        return int((self.words >= 0).sum())

    def masked(self, unit: str, salt: int = 0, seed: int = 5, **settings: object) -> MaskedRows:
        masker = Masker(Masking(unit=unit, **settings), self.wordpiece, seed)  # type: ignore[arg-type]
        return masker.mask(self.ids, self.lengths, self.places, salt)

    def at(self, order: np.ndarray) -> Examples:
        """Return the examples at `order`."""
        ends = np.cumsum(self.lengths)
        rows = np.concatenate([np.arange(ends[i] - self.lengths[i], ends[i]) for i in order])
        parts = (part[rows] for part in (self.ids, self.places, self.words))
        ids, places, words = parts
        return Examples(self.wordpiece, ids, self.lengths[order], places, words)


def small_vocabulary(**settings: tuple[ExtraToken, ...]) -> WordPiece:
    words = [f"w{number}" for number in range(NUM_WORDS)]
    ends = [f"##e{number}" for number in range(NUM_ENDS)]
    return WordPiece((*SPECIAL, *words, *ends), lowercase=True, **settings)  # type: ignore[arg-type]


def made_up(count: int, seed: int = 3, special_share: float = 0.02) -> np.ndarray:
    """Return pieces of words of one to six pieces, and among them [UNK] and other special tokens."""
    rng = np.random.default_rng(seed)
    begins = len(SPECIAL) + rng.integers(0, NUM_WORDS, count)
    ends = len(SPECIAL) + NUM_WORDS + rng.integers(0, NUM_ENDS, count)
    ids = np.where(rng.random(count) < 0.22, ends, begins)
    return np.where(rng.random(count) < special_share, rng.integers(2, len(SPECIAL), count), ids)


def examples_of(wordpiece: WordPiece, pieces: np.ndarray, length: int) -> Examples:
    """Cut pieces into examples of `length` tokens with [CLS] and [SEP]; what is left over is dropped."""
    content = length - 2
    rows = pieces[: len(pieces) // content * content].reshape(-1, content)
    places = np.arange(rows.size).reshape(rows.shape)
    edge = np.ones((len(rows), 1), np.int64)
    ids = np.hstack((edge * wordpiece.cls_id, rows, edge * wordpiece.sep_id)).ravel()
    special = np.array([token in SPECIAL and "unused" not in token for token in wordpiece.tokens])[ids]
    goes_on = np.array([token.startswith("##") for token in wordpiece.tokens])[ids]
    fresh = ~goes_on | np.concatenate(([True], special[:-1]))
    return Examples(
        wordpiece,
        ids,
        np.full(len(rows), length),
        np.hstack((-edge, places, -edge)).ravel(),
        np.where(special, -1, np.cumsum(fresh)),
    )


@pytest.fixture(scope="module")
def wikipedia(real_data: Path) -> Examples:
    """A million and more tokens, in examples of 128."""
    with lzma.open(real_data / "corpora" / "enwiki2015-core.txt.xz", "rt", encoding="utf-8") as file:
        lines = file.read(5_200_000).splitlines()
    wordpiece = WordPiece.from_vocab(real_data / "vocabs" / "bert-base-uncased-vocab.txt")
    pieces = np.concatenate(wordpiece.encode_ids(lines)).astype(np.int64)
    assert len(pieces) > NUM_TOKENS
    return examples_of(wordpiece, pieces, 128)


@pytest.fixture(scope="module", params=["made up", pytest.param("wikipedia", marks=pytest.mark.slow)])
def text(request: pytest.FixtureRequest) -> Examples:
    if request.param == "wikipedia":
        return request.getfixturevalue("wikipedia")
    return examples_of(small_vocabulary(), made_up(NUM_TOKENS), 128)


@pytest.mark.slow
def test_rate_and_shares_are_kept_within_a_tenth_of_a_point(text: Examples) -> None:
    for unit in UNITS:
        chosen = text.masked(unit).actions
        shares = np.bincount(chosen, minlength=3) / len(chosen)
        assert len(chosen) / text.maskable == pytest.approx(0.15, abs=0.1 * POINT), unit
        assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.1 * POINT), unit


@pytest.mark.slow
def test_other_rates_and_shares_are_kept_too(text: Examples) -> None:
    for unit in UNITS:
        done = text.masked(unit, rate=0.4, mask_share=0.55, random_share=0.3)
        shares = np.bincount(done.actions, minlength=3) / len(done.actions)
        assert len(done.actions) / text.maskable == pytest.approx(0.4, abs=0.1 * POINT), unit
        assert shares == pytest.approx([0.55, 0.3, 0.15], abs=0.1 * POINT), unit


@pytest.mark.slow
@pytest.mark.parametrize("unit", WHOLE_WORDS)
def test_whole_words_are_never_split(text: Examples, unit: str) -> None:
    chosen = np.zeros(len(text.ids), bool)
    chosen[text.masked(unit).positions] = True
    words = text.words[text.words >= 0]
    share = np.bincount(words, chosen[text.words >= 0]) / np.maximum(np.bincount(words), 1)
    assert set(np.unique(share)) == {0.0, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["piece", *WHOLE_WORDS])
def test_long_words_are_chosen_as_often_as_short_ones(text: Examples, unit: str) -> None:
    chosen = np.zeros(len(text.ids), bool)
    for salt in range(3):
        chosen[:] = False
        chosen[text.masked(unit, salt).positions] = True
        sizes = np.bincount(text.words[text.words >= 0])[text.words]
        for size in range(1, 5):
            of_size = (sizes == size) & (text.words >= 0)
            few = of_size.sum() / size
            assert chosen[of_size].mean() == pytest.approx(0.15, abs=6 * np.sqrt(0.13 / few)), size


def runs_of_words(text: Examples, done: MaskedRows) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the length in words of each run of chosen tokens, and the actions of each."""
    breaks = np.flatnonzero(np.diff(done.positions) > 1) + 1
    runs = np.split(done.positions, breaks)
    return np.array([len(set(text.words[run])) for run in runs]), np.split(done.actions, breaks)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["ngram", "span"])
def test_ngrams_and_spans_have_the_published_lengths(unit: str) -> None:
    weights = [1, 1 / 2, 1 / 3, 1 / 4] if unit == "ngram" else [0.8**n for n in range(10)]
    text = examples_of(small_vocabulary(), made_up(400_000, special_share=0), 4000)
    # So few that they hardly meet, and so long that the end of an example hardly cuts one.
    lengths = np.concatenate(
        [runs_of_words(text, text.masked(unit, salt, rate=0.008, max_ngram=4))[0] for salt in range(40)]
    )
    found = np.bincount(lengths, minlength=len(weights) + 1)[1 : len(weights) + 1] / len(lengths)
    assert found == pytest.approx(np.array(weights) / sum(weights), abs=0.9 * POINT)


def test_neighbours_are_chosen_independently(text: Examples) -> None:
    chosen = np.zeros(len(text.ids), bool)
    chosen[text.masked("piece").positions] = True
    pairs = (text.words[1:] >= 0) & (text.words[:-1] >= 0) & chosen[:-1]
    assert chosen[1:][pairs].mean() == pytest.approx(0.15 - 0.85 / 125, abs=0.4 * POINT)


@pytest.mark.parametrize("unit", UNITS)
def test_special_tokens_are_neither_chosen_nor_drawn(text: Examples, unit: str) -> None:
    done = text.masked(unit)
    assert (text.words[done.positions] >= 0).all()
    assert np.array_equal(done.targets, text.ids[done.positions])
    drawn = done.input_ids[done.positions[done.actions == RANDOM]]
    assert not any(text.wordpiece.tokens[number].startswith("[") for number in set(drawn) if number < 900)
    assert (done.input_ids[done.positions[done.actions == MASKED]] == text.wordpiece.mask_id).all()
    rest = np.ones(len(text.ids), bool)
    rest[done.positions[done.actions != KEPT]] = False
    assert np.array_equal(done.input_ids[rest], text.ids[rest])


def test_added_special_tokens_are_neither_chosen_nor_drawn_and_added_words_are() -> None:
    wordpiece = small_vocabulary(added=(ExtraToken("[PERSON]"), ExtraToken("covid", special=False)))
    person, covid = wordpiece.vocab_size - 2, wordpiece.vocab_size - 1
    text = examples_of(wordpiece, np.resize([person, covid, 50], 90_000), 92)
    done = text.masked("word", random_share=0.2)
    assert set(done.targets) == {covid, 50}
    drawn = done.input_ids[done.positions[done.actions == RANDOM]]
    assert covid in drawn and person not in drawn


def test_random_words_are_uniform_and_may_be_the_right_one() -> None:
    text = examples_of(small_vocabulary(), made_up(NUM_TOKENS), 128)
    done = text.masked("piece", rate=0.3, mask_share=0.0, random_share=1.0)
    counts = np.bincount(done.input_ids[done.positions], minlength=text.wordpiece.vocab_size)
    words = NUM_WORDS + NUM_ENDS
    assert counts[: len(SPECIAL)].sum() == 0
    expected = len(done.positions) / words
    surprise = ((counts[len(SPECIAL) :] - expected) ** 2 / expected).sum()
    assert surprise == pytest.approx(words - 1, abs=5 * np.sqrt(2 * words))
    same = (done.input_ids[done.positions] == done.targets).mean()
    assert same == pytest.approx(1 / words, rel=0.1)


def uneven(count: int) -> Examples:
    """Examples of 3 to 90 tokens."""
    pieces = examples_of(small_vocabulary(), made_up(60 * count), 92)
    rng = np.random.default_rng(2)
    keep, lengths = [], []
    for first in range(0, len(pieces.ids), 92):
        length = int(rng.integers(3, 91))
        keep.append(np.r_[first : first + length - 1, first + 91])
        lengths.append(length)
    rows = np.concatenate(keep)
    parts = (part[rows] for part in (pieces.ids, pieces.places, pieces.words))
    ids, places, words = parts
    return Examples(pieces.wordpiece, ids, np.array(lengths), places, words)


@pytest.mark.parametrize("unit", UNITS)
def test_an_example_has_the_same_mask_in_whatever_batch_it_comes(unit: str) -> None:
    text = uneven(2500)  # more than is worked on at once
    terms = ((10, 310), (11,))
    whole = text.masked(unit, terms=terms)
    ends = np.cumsum(text.lengths)
    order = np.random.default_rng(4).permutation(len(text.lengths))
    for part in np.split(order, [1, 2, 9, 300, 1000]):
        done = text.at(part).masked(unit, terms=terms)
        rows = np.concatenate([np.arange(ends[i] - text.lengths[i], ends[i]) for i in part])
        assert np.array_equal(done.input_ids, whole.input_ids[rows])
        actions = np.full(len(text.ids), 9, np.uint8)
        actions[whole.positions] = whole.actions
        assert np.array_equal(rows[done.positions], rows[actions[rows] < 9])
        assert np.array_equal(done.actions, actions[rows][actions[rows] < 9])


@pytest.mark.parametrize("unit", UNITS)
def test_masks_repeat_with_seed_and_salt_and_are_independent_otherwise(unit: str) -> None:
    text = examples_of(small_vocabulary(), made_up(200_000), 128)
    first = text.masked(unit)
    assert all(
        np.array_equal(getattr(first, name), getattr(text.masked(unit), name))
        for name in MaskedRows.__slots__
    )
    for other in (text.masked(unit, salt=1), text.masked(unit, seed=6)):
        both = len(np.intersect1d(first.positions, other.positions))
        assert both / text.maskable == pytest.approx(0.15**2, abs=0.5 * POINT)


def test_masks_are_the_same_on_every_machine() -> None:
    pieces = len(SPECIAL) + np.arange(120)
    pieces[::4] = len(SPECIAL) + NUM_WORDS + np.arange(30)  # so that there are words of two pieces
    text = examples_of(small_vocabulary(), pieces, 62)
    found = {unit: text.masked(unit, rate=0.1).positions.tolist() for unit in UNITS}
    assert found == {
        "piece": [19, 24, 32, 34, 56, 57, 66, 78, 92, 93, 107, 112],
        "word": [11, 14, 16, 17, 35, 54, 64, 65, 69, 118, 119],
        "ngram": [4, 5, 6, 46, 58, 59, 100, 118, 119, 120],
        "span": [23, 24, 25, 26, 27, 54, 63, 64, 65, 66, 67],
        "term": [11, 14, 16, 17, 35, 54, 64, 65, 69, 118, 119],
    }
    done = text.masked("piece", rate=0.1, mask_share=0.4, random_share=0.4)
    assert done.actions.tolist() == [1, 1, 2, 0, 0, 1, 1, 0, 2, 1, 0, 1]
    assert done.input_ids[done.positions].tolist() == [48, 289, 38, 6, 6, 143, 237, 6, 96, 107, 6, 33]


@pytest.mark.parametrize("unit", UNITS)
def test_an_example_with_any_word_has_at_least_one_chosen(unit: str) -> None:
    text = uneven(400)
    done = text.masked(unit, rate=0.02, terms=((10, 310), (11,)))
    example = np.repeat(np.arange(len(text.lengths)), text.lengths)
    chosen = np.bincount(example[done.positions], minlength=len(text.lengths))
    words = np.bincount(example, text.words >= 0, minlength=len(text.lengths))
    assert (chosen[words > 0] >= 1).all() and (chosen[words == 0] == 0).all()


def test_text_without_words_stays_as_it_is() -> None:
    wordpiece = small_vocabulary()
    for ids in ([4, 3, 3, 5, 4, 5], []):
        lengths = np.array([4, 2] if ids else [], np.int64)
        done = Masker(Masking(unit="span"), wordpiece, 0).mask(
            np.array(ids), lengths, np.array(ids) * 0 - 1, 0
        )
        assert done.input_ids.tolist() == ids and len(done.positions) == len(done.actions) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_everything_can_be_hidden(unit: str) -> None:
    text = uneven(50)
    done = text.masked(unit, rate=1.0, mask_share=1.0, random_share=0.0, terms=((10, 310), (11,)))
    assert np.array_equal(done.positions, np.flatnonzero(text.words >= 0))
    assert set(done.input_ids[done.positions]) == {text.wordpiece.mask_id}


def test_listed_terms_come_first() -> None:
    wordpiece = small_vocabulary()
    pieces = made_up(100_000, special_share=0)
    rare, common = (20, 310, 21), tuple((number,) for number in range(7, 150))
    planted = np.arange(50, 100_000, 700)
    pieces[planted[:, None] + np.arange(4)] = (*rare, 22)
    text = examples_of(wordpiece, pieces, 102)
    some = text.masked("term", terms=(rare,))
    assert len(some.positions) / text.maskable == pytest.approx(0.15, abs=0.1 * POINT)
    assert set(planted) | set(planted + 2) <= set(text.places[some.positions])
    many = text.masked("term", terms=common)
    assert len(many.positions) / text.maskable == pytest.approx(0.15, abs=0.1 * POINT)
    assert set(many.targets) <= set(range(7, 150))


def test_terms_are_found_longest_first_whole_and_never_over_another() -> None:
    ends = {9}  # the piece that continues a word
    terms = Terms([(1, 2), (2, 1, 2), (1, 1), (2, 9), (3,)], 10)
    ids = np.array([2, 1, 2, 1, 2, 9, 2, 9, 1, 1, 1, 1, 2, 3, 9, 3, 3])
    starts = np.flatnonzero([number not in ends for number in ids])
    lasts = np.append(starts[1:], len(ids)) - 1
    begins, inside = terms.find(ids, starts, lasts, np.array([0, 16, 17]))
    #             2 1 2|1 2 9: of no term|2 9|1 1|1 1|2|3 9: a longer word|3|3
    assert np.flatnonzero(begins).tolist() == [0, 4, 6, 8, 10, 15, 16]
    assert np.flatnonzero(inside).tolist() == [1, 2, 5, 7, 9, 11]


def test_words_of_a_segmenter_are_never_split() -> None:
    wordpiece = small_vocabulary()
    pieces = np.random.default_rng(1).integers(len(SPECIAL), len(SPECIAL) + NUM_WORDS, 50_000)
    text = examples_of(wordpiece, pieces, 102)
    goes_on = np.random.default_rng(2).random(len(text.ids)) < 0.5
    masker = Masker(Masking(unit="word"), wordpiece, 0)
    done = masker.mask(text.ids, text.lengths, text.places, 0, continues=goes_on)
    chosen = np.zeros(len(text.ids), bool)
    chosen[done.positions] = True
    inner = goes_on & (text.words >= 0) & np.concatenate(([False], text.words[:-1] >= 0))
    assert (chosen[inner] == chosen[np.flatnonzero(inner) - 1]).all()
    assert chosen.sum() / text.maskable == pytest.approx(0.15, abs=0.2 * POINT)


def test_ids_of_any_kind_are_read_and_not_changed() -> None:
    text = uneven(20)
    before = text.ids.copy()
    first = text.masked("word")
    assert np.array_equal(text.ids, before) and first.input_ids.dtype == np.int64
    text.ids = text.ids.astype(np.uint16)
    assert np.array_equal(text.masked("word").input_ids, first.input_ids)
    masker = pickle.loads(pickle.dumps(Masker(Masking(unit="word"), text.wordpiece, 5)))
    again = masker.mask(text.ids, text.lengths, text.places, 0)
    assert np.array_equal(again.input_ids, first.input_ids)


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("mask_rate", {"rate": 0.0}),
        ("mask_rate", {"rate": 1.5}),
        ("mask_share", {"mask_share": -0.1}),
        ("random_share", {"mask_share": 0.8, "random_share": 0.3}),
        ("mask_unit", {"unit": "letter"}),
        ("max_ngram", {"max_ngram": 0}),
    ],
)
def test_a_setting_out_of_its_limits_is_refused_by_name(field: str, settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as refusal:
        Masking(**settings)  # type: ignore[arg-type]
    assert refusal.value.field == field and field in str(refusal.value)


def test_a_vocabulary_without_mask_or_words_is_refused() -> None:
    for tokens, what in (
        (("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"), "[MASK]"),
        (SPECIAL, "only special tokens"),
    ):
        with pytest.raises(DataError, match=what.replace("[", r"\[")):
            Masker(Masking(), WordPiece(tokens, lowercase=True), 0)
