"""Examples from the token store: sentence pairs as published, whole blocks without pairs, masked batches."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import DataError
from engine.text.corpus.instances import Instances, collate_masked, joined, paired, single
from engine.text.corpus.masking import UNITS, Masker, Masking
from engine.text.wordpiece import WordPiece

POINT = 0.01
CLS, SEP, FIRST_WORD = 2, 3, 5
WORDPIECE = WordPiece.from_tokens(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(400)), "##e"],
    lowercase=True,
)


@dataclass
class Text:
    """A token store in memory."""

    ids: np.ndarray
    sentences: np.ndarray
    documents: np.ndarray
    continues: np.ndarray | None = None

    @property
    def doc_tokens(self) -> np.ndarray:
        return np.asarray(self.sentences[self.documents])

    @property
    def all(self) -> np.ndarray:
        """Numbers of all documents."""
        return np.arange(len(self.documents) - 1)

    def document_of(self, places: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.doc_tokens, places, side="right") - 1


def text_of(*documents: list[int]) -> Text:
    """Return a store of documents, each given by the lengths of its sentences."""
    lengths = [length for document in documents for length in document]
    count = sum(lengths)
    ids = FIRST_WORD + np.arange(count) % 400
    return Text(
        ids.astype(np.uint16),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.concatenate(([0], np.cumsum([len(document) for document in documents]))).astype(np.int64),
    )


def made_up(num_documents: int = 900, seed: int = 1) -> Text:
    """Documents of 1 to 90 sentences of 1 to 140 pieces, 25 on average."""
    rng = np.random.default_rng(seed)
    counts = rng.geometric(1 / 22, num_documents).clip(1, 90)
    return text_of(*(rng.gamma(2.2, 11.5, count).astype(int).clip(1, 140).tolist() for count in counts))


@pytest.fixture(scope="module")
def wikipedia(real_data: Path) -> Text:
    with lzma.open(real_data / "corpora" / "enwiki2015-core.txt.xz", "rt", encoding="utf-8") as file:
        articles = file.read(2_500_000).split("\n\n")[:-1]
    wordpiece = WordPiece.from_vocab(real_data / "vocabs" / "bert-base-uncased-vocab.txt")
    sentences = [line.replace(". ", ".\n").splitlines() for line in articles]
    pieces = [wordpiece.encode_ids(article) for article in sentences]
    store = text_of(*([len(ids) for ids in article] for article in pieces))
    store.ids = np.concatenate([ids for article in pieces for ids in article]).astype(np.uint16)
    return store


@pytest.fixture(scope="module", params=["made up", pytest.param("wikipedia", marks=pytest.mark.slow)])
def text(request: pytest.FixtureRequest) -> Text:
    return made_up() if request.param == "made up" else request.getfixturevalue("wikipedia")


def pairs_of(text: Text, max_length: int = 128, **settings: float) -> Instances:
    kind = {"seed": 3, "epoch": 0, **settings}
    return paired(text, text.all, max_length=max_length, pool=text.all, **kind)  # type: ignore[arg-type]


# --- pairs -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [16, 64, 128, 512])
def test_half_of_the_labels_are_random(text: Text, max_length: int) -> None:
    found = pairs_of(text, max_length)
    assert len(found) > 200
    assert found.is_random.mean() == pytest.approx(0.5, abs=0.5 * POINT)
    assert found.lengths.max() <= max_length and found.len_a.min() >= 1 and found.len_b.min() >= 1


@pytest.mark.slow
def test_a_random_sentence_is_never_of_the_same_document(text: Text) -> None:
    pool = text.all[::3]
    for epoch in range(3):
        found = paired(text, text.all, max_length=64, seed=1, epoch=epoch, pool=pool)
        some = found.is_random == 1
        own = text.document_of(found.start_a[some])
        others = text.document_of(found.start_b[some])
        assert (own != others).all() and np.isin(others, pool).all()
        assert np.array_equal(others, text.document_of(found.start_b[some] + found.len_b[some] - 1))


def test_a_true_next_sentence_follows_in_the_store(text: Text) -> None:
    found = pairs_of(text)
    true = found.is_random == 0
    end_a, start_b = (found.start_a + found.len_a)[true], found.start_b[true]
    assert np.array_equal(text.document_of(end_a - 1), text.document_of(start_b))
    assert np.array_equal(text.document_of(start_b), text.document_of(start_b + found.len_b[true] - 1))
    # Between them lies nothing but what a full example had no room for, on both sides of a sentence's end.
    next_bound = text.sentences[np.searchsorted(text.sentences, end_a)]
    assert (end_a <= start_b).all() and (next_bound <= start_b).all()
    with_room = found.lengths[true] < 128
    assert np.array_equal(end_a[with_room], start_b[with_room]) and with_room.any()


def published(lengths: list[list[int]], max_length: int, seed: int) -> np.ndarray:
    """Return (E, 3): lengths of A and B, and the label, after create_instances_from_document."""
    rng, rows, room = np.random.default_rng(seed), [], max_length - 3
    for number, document in enumerate(lengths):
        chunk: list[int] = []
        at = 0
        while at < len(document):
            chunk.append(document[at])
            if at == len(document) - 1 or sum(chunk) >= room:
                end = int(rng.integers(1, len(chunk))) if len(chunk) > 1 else 1
                a, b = sum(chunk[:end]), sum(chunk[end:])
                is_random = len(chunk) == 1 or rng.random() < 0.5
                if is_random:
                    other = lengths[(number + int(rng.integers(1, len(lengths)))) % len(lengths)]
                    start, wanted, b = int(rng.integers(len(other))), room - a, 0
                    for sentence in other[start:]:
                        b += sentence
                        if b >= wanted:
                            break
                    at -= len(chunk) - end
                while a + b > room:
                    a, b = (a - 1, b) if a > b else (a, b - 1)
                rows.append((a, b, is_random))
                chunk = []
            at += 1
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [64, 128])
def test_lengths_are_those_of_the_published_program(text: Text, max_length: int) -> None:
    bounds = text.sentences
    lengths = [
        np.diff(bounds[a : b + 1]).tolist() for a, b in np.stack((text.documents[:-1], text.documents[1:]), 1)
    ]
    theirs = np.concatenate([published(lengths, max_length, seed) for seed in range(4)])
    ours = [pairs_of(text, max_length, epoch=epoch, short_share=0.0) for epoch in range(4)]
    for label in (0, 1):
        for number, name in enumerate(("len_a", "len_b")):
            mine = np.concatenate([getattr(one, name)[one.is_random == label] for one in ours])
            wanted = theirs[theirs[:, 2] == label][:, number]
            assert mine.mean() == pytest.approx(wanted.mean(), rel=0.06), (label, name)
            for share in (25, 50, 75):
                gap = np.percentile(mine, share) - np.percentile(wanted, share)
                assert abs(gap) <= 0.05 * max_length, (label, name, share)


@pytest.mark.slow
def test_a_tenth_of_the_documents_is_cut_short() -> None:
    text = text_of(*([1] * 300 for _ in range(2000)))
    found = pairs_of(text)
    true = (found.is_random == 0) & np.isin(found.start_a, text.doc_tokens[:-1])  # of documents' beginnings
    short = found.lengths[true] < 128  # a random B would end with its document, too
    assert short.mean() == pytest.approx(0.1, abs=3 * POINT)
    targets = found.lengths[true][short] - 3
    assert targets.min() < 12 and targets.max() > 114 and targets.mean() == pytest.approx(63, abs=12)
    none = pairs_of(text, short_share=0.0)
    true = (none.is_random == 0) & np.isin(none.start_a, text.doc_tokens[:-1])
    assert true.sum() > 500 and (none.lengths[true] == 128).all()


def test_what_a_random_sentence_displaced_is_put_back() -> None:
    text = text_of(*([1] * count for count in (7, 40, 300, 2, 65, 131)))  # nothing is cut: all fits exactly
    found = pairs_of(text, 32)
    true = found.is_random == 0
    used = np.concatenate(
        [np.arange(a, a + n) for a, n in zip(found.start_a, found.len_a, strict=True)]
        + [np.arange(b, b + n) for b, n in zip(found.start_b[true], found.len_b[true], strict=True)]
    )
    assert np.array_equal(np.sort(used), np.arange(len(text.ids)))


def test_the_longer_segment_is_shortened_from_front_and_back_alike() -> None:
    text = text_of(*([40, 11] for _ in range(800)))
    found = pairs_of(text, 32, short_share=0.0)
    true = found.is_random == 0
    assert set(found.len_a[true]) == {18} and set(found.len_b[true]) == {11}
    front = found.start_a[true] - text.doc_tokens[text.document_of(found.start_a[true])]
    assert front.mean() == pytest.approx(11, abs=0.5)  # of 22 pieces
    assert front.var() == pytest.approx(22 / 4, rel=0.25)


def test_a_sentence_longer_than_an_example_breaks_nothing() -> None:
    text = text_of([5000], [3, 9000, 4], [700, 800], [1, 1])
    for epoch in range(20):
        found = pairs_of(text, 32, epoch=epoch)
        assert (found.lengths <= 32).all() and len(found) > 3
        assert min(found.len_a.min(), found.len_b.min()) >= 1


def test_the_same_seed_epoch_and_block_give_the_same_pairs() -> None:
    text = made_up(60)
    first, again = pairs_of(text, block=2), pairs_of(text, block=2)
    assert all(
        np.array_equal(getattr(first, name), getattr(again, name)) for name in Instances.__dataclass_fields__
    )
    for other in ({"seed": 4}, {"epoch": 1}, {"block": 1}):
        assert not np.array_equal(first.start_b, pairs_of(text, **{"block": 2, **other}).start_b)


def test_pairs_are_the_same_on_every_machine() -> None:
    found = pairs_of(text_of([4, 5, 6, 7], [9, 3], [2, 2, 30]), 16)
    assert found.start_a.tolist() == [0, 4, 15, 22, 34, 36]
    assert found.len_a.tolist() == [4, 5, 7, 9, 2, 2]
    assert found.start_b.tolist() == [50, 9, 24, 31, 31, 50]
    assert found.len_b.tolist() == [9, 6, 6, 3, 3, 11]
    assert found.is_random.tolist() == [1, 0, 1, 0, 1, 0]


def test_one_document_alone_has_no_negatives() -> None:
    text = made_up(9)
    with pytest.raises(DataError, match="only one document"):
        paired(text, text.all, max_length=64, seed=0, epoch=0, pool=np.array([4]))


def test_documents_of_one_sentence_have_no_positives() -> None:
    text = text_of(*[[12]] * 40, [3, 4])
    with pytest.raises(DataError, match="No document has two sentences"):
        paired(text, text.all[:40], max_length=64, seed=0, epoch=0, pool=text.all[:40])
    found = paired(text, text.all[:40], max_length=64, seed=0, epoch=0, pool=text.all)  # a poor block is fine
    assert found.is_random.all() and len(found) == 40


# --- without pairs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_length", [8, 64, 512])
def test_every_piece_is_in_one_block_and_no_block_crosses_documents(text: Text, max_length: int) -> None:
    room = max_length - 2
    for epoch in range(3):
        found = single(text, text.all, max_length=max_length, seed=3, epoch=epoch)
        assert np.array_equal(found.start_a, np.cumsum(found.len_a) - found.len_a)
        assert found.len_a.sum() == len(text.ids) and found.len_a.min() >= 1 and found.len_a.max() <= room
        assert np.isin(text.doc_tokens[:-1], found.start_a).all()
        assert (found.len_a == room).sum() == (np.diff(text.doc_tokens) // room).sum()  # no more would go in
        assert (found.is_random == -1).all() and (found.len_b == 0).all()


def test_blocks_begin_elsewhere_each_epoch_whatever_the_order_of_documents() -> None:
    text = text_of(*([97] for _ in range(50)), [5000], [30])
    first, second = (single(text, text.all, max_length=64, seed=3, epoch=epoch) for epoch in (0, 1))
    assert len(np.setdiff1d(first.start_a, second.start_a)) > 20
    assert len(np.unique(first.start_a[first.start_a < 50 * 97] % 97)) > 15
    order = np.random.default_rng(0).permutation(text.all)
    again = single(text, order, max_length=64, seed=3, epoch=0)
    assert np.array_equal(np.sort(again.start_a), first.start_a)
    assert text.document_of(again.start_a[:1])[0] == order[0]


def test_blocks_are_the_same_on_every_machine() -> None:
    text = text_of([40], [9, 3])
    assert single(text, text.all, max_length=16, seed=3, epoch=1).start_a.tolist() == [0, 6, 20, 34, 40]


# --- batches -----------------------------------------------------------------------------------------


def three_examples() -> tuple[Text, Instances]:
    text = text_of([3, 2], [4])
    columns = ([0, 5, 3], [3, 4, 1], [3, 0, 6], [2, 0, 3], [0, -1, 1])
    arrays = [np.array(column, np.int64) for column in columns]
    return text, Instances(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4].astype(np.int8))


def test_examples_are_joined_with_their_special_tokens() -> None:
    text, examples = three_examples()  # ids are 5, 6, 7 ...: a place and 5
    ids, types, positions, places, lengths = joined(text, examples, np.array([0, 1, 2]), CLS, SEP)
    assert examples.lengths.tolist() == lengths.tolist() == [8, 6, 7]
    assert ids.tolist() == [2, 5, 6, 7, 3, 8, 9, 3, 2, 10, 11, 12, 13, 3, 2, 8, 3, 11, 12, 13, 3]
    assert types.tolist() == [0] * 5 + [1] * 3 + [0] * 6 + [0] * 3 + [1] * 4
    assert positions.tolist() == [*range(8), *range(6), *range(7)]
    assert places.tolist() == [-1, 0, 1, 2, -1, 3, 4, -1, -1, 5, 6, 7, 8, -1, -1, 3, -1, 6, 7, 8, -1]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pairs", [True, False])
def test_a_batch_holds_its_examples_longest_first_and_the_answers(unit: str, pairs: bool) -> None:
    text = made_up(40)
    found = pairs_of(text) if pairs else single(text, text.all, max_length=128, seed=1, epoch=0)
    indices = np.random.default_rng(0).permutation(len(found))[:37]
    masker = Masker(Masking(unit=unit), WORDPIECE, 7)
    batch = collate_masked(text, found, indices, masker, WORDPIECE, 0, multiple=8)
    order = indices[np.argsort(-found.lengths[indices], kind="stable")]
    ids, types, positions, _, lengths = joined(text, found, order, CLS, SEP)
    assert batch.bounds.lengths == tuple(lengths) and list(lengths) == sorted(lengths, reverse=True)
    assert batch.num_tokens == len(ids) and len(batch.input_ids) % 8 == 0
    restored = batch.input_ids.clone()
    restored[batch.masked] = batch.targets
    filler = [0] * (len(batch.input_ids) - len(ids))
    for tensor, array in ((restored, ids), (batch.token_type_ids, types), (batch.position_ids, positions)):
        assert tensor.dtype == torch.int64 and tensor.tolist() == array.tolist() + filler
    assert batch.masked.dtype == batch.targets.dtype == torch.int64 and batch.actions.dtype == np.uint8
    assert len(batch.masked) / batch.num_tokens == pytest.approx(0.15, abs=2 * POINT)
    assert (batch.is_random is not None) == pairs
    if batch.is_random is not None:
        assert batch.is_random.tolist() == found.is_random[order].tolist()
    assert batch.to("cpu") is batch


@pytest.mark.parametrize("pairs", [True, False])
def test_an_example_is_masked_alike_in_every_batch_and_otherwise_each_epoch(pairs: bool) -> None:
    text = made_up(60)
    found = pairs_of(text) if pairs else single(text, text.all, max_length=128, seed=1, epoch=0)
    masker = Masker(Masking(unit="word"), WORDPIECE, 7)

    def inputs(indices: np.ndarray, salt: int) -> dict[int, list[int]]:
        batch = collate_masked(text, found, indices, masker, WORDPIECE, salt)
        order = indices[np.argsort(-found.lengths[indices], kind="stable")]
        parts = torch.split(batch.input_ids, list(batch.bounds.lengths))
        return {int(index): part.tolist() for index, part in zip(order, parts, strict=True)}

    everything = np.arange(len(found))
    whole = inputs(everything, 0)
    for part in np.array_split(np.random.default_rng(1).permutation(everything), 9):
        assert inputs(part, 0) == {int(index): whole[int(index)] for index in part}
    other = inputs(everything, 1)
    assert np.mean([whole[index] == other[index] for index in whole if len(whole[index]) > 40]) < 0.01


def test_words_of_a_segmenter_stay_whole_in_batches() -> None:
    text = made_up(30)
    text.continues = np.arange(len(text.ids)) % 3 != 0  # words of three pieces
    found = single(text, text.all, max_length=128, seed=1, epoch=0)
    everything = np.arange(len(found))
    masker = Masker(Masking(unit="word"), WORDPIECE, 7)
    batch = collate_masked(text, found, everything, masker, WORDPIECE, 0)
    order = everything[np.argsort(-found.lengths, kind="stable")]
    places = joined(text, found, order, CLS, SEP)[3]
    chosen = np.zeros(len(places), bool)
    chosen[batch.masked.numpy()] = True
    inner = np.flatnonzero((places >= 0) & (places % 3 != 0) & (np.concatenate(([-1], places[:-1])) >= 0))
    assert np.array_equal(chosen[inner], chosen[inner - 1])


@pytest.mark.parametrize("pairs", [True, False])
def test_the_halves_of_a_batch_hold_its_examples_and_what_is_asked_of_them(pairs: bool) -> None:
    text = made_up(40)
    kind = {"max_length": 29, "seed": 1, "epoch": 0}
    made = paired(text, text.all, pool=text.all, **kind) if pairs else single(text, text.all, **kind)
    masker = Masker(Masking(0.3), WORDPIECE, 1)
    whole = collate_masked(text, made, np.arange(7), masker, WORDPIECE, 1, multiple=32)
    halves = whole.halves(32)
    assert [len(half.bounds) for half in halves] == [3, 4]
    for name in ("input_ids", "token_type_ids", "position_ids"):
        real = [getattr(half, name)[: half.num_tokens] for half in halves]
        assert torch.equal(torch.cat(real), getattr(whole, name)[: whole.num_tokens])
        assert not any(getattr(half, name)[half.num_tokens :].any() for half in halves)
    assert all(len(half.input_ids) % 32 == 0 for half in halves)
    assert halves[0].bounds.lengths + halves[1].bounds.lengths == whole.bounds.lengths
    assert torch.equal(torch.cat([half.targets for half in halves]), whole.targets)
    rows = [halves[0].masked, halves[1].masked + halves[0].num_tokens]
    assert torch.equal(torch.cat(rows), whole.masked) and len(halves[0].masked) and len(halves[1].masked)
    assert np.array_equal(np.concatenate([half.actions for half in halves]), whole.actions)
    if pairs:
        assert torch.equal(torch.cat([half.is_random for half in halves]), whole.is_random)
    else:
        assert halves[0].is_random is halves[1].is_random is None
