"""Words as pieces and windows: as transformers has them, each word asked once, where it has most context."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.events import result_of
from engine.text.batch import IGNORE, NOT_ASKED
from engine.train.tasks.token_labels.cutting import cutting, windows
from engine.train.tasks.token_labels.kept import TaggedRows
from tests.engine.read_at_once import read_tagged
from tests.engine.train.tasks.token_labels.tiny_words import sentences, write_conll
from tests.fakes import tiny_wordpiece

transformers = pytest.importorskip("transformers")


def cut(path: Path, max_length: int = 41, known: int = 99) -> TaggedRows:
    texts = read_tagged(path)
    places, codes = np.arange(len(texts)), texts.codes.astype(np.int16)
    return result_of(
        cutting(texts.store, places, codes.take, known, tiny_wordpiece(), max_length, is_measured=True)
    )


def test_pieces_and_asked_tags_are_those_of_transformers_for_words(tmp_path: Path) -> None:
    wordpiece = tiny_wordpiece()
    wordpiece.save(tmp_path)
    tokenizer = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    texts = [[*text, ("playing", "O"), ("filming!", "B-FILM")] for text in sentences(17)]
    data = cut(write_conll(tmp_path / "words.conll", texts))
    tags = read_tagged(tmp_path / "words.conll").tags
    for place, text in enumerate(texts):
        encoded = tokenizer([word for word, _ in text], is_split_into_words=True)
        here = slice(*data.bounds[place : place + 2])
        assert data.input_ids[here].tolist() == encoded["input_ids"]
        words = encoded.word_ids()
        firsts = [
            word is not None and word != before for before, word in zip([None, *words], words, strict=False)
        ]
        wanted = [
            tags.index(text[word][1]) if first and word is not None else NOT_ASKED
            for first, word in zip(firsts, words, strict=True)
        ]
        assert data.targets[here].tolist() == wanted


@pytest.mark.parametrize("seed", range(20))
def test_each_word_is_decided_once_in_the_window_with_most_context(seed: int) -> None:
    rng = np.random.default_rng(seed)
    room = int(rng.integers(3, 30))
    counts = np.minimum(rng.integers(0, 9, int(rng.integers(1, 200))), room)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    found = windows(offsets, np.array([0, len(counts)]), room)
    if not offsets[-1]:
        assert not len(found)
        return
    sizes = offsets[found[:, 2]] - offsets[found[:, 1]]
    assert (sizes <= room).all()
    decided = [word for *_, first, stop in found.tolist() for word in range(first, stop)]
    assert [word for word in decided if counts[word]] == np.flatnonzero(counts).tolist()
    for _, begin, end, first, stop in found.tolist():
        for word in range(first, stop):
            if not counts[word]:
                continue
            assert begin <= word < end
            near = [one for one in found.tolist() if one[1] <= word < one[2]]
            contexts = [context(offsets, one, word) for one in near]
            here = context(offsets, (0, begin, end), word)
            assert here >= sorted(contexts)[-1] - 8  # a word's own pieces: windows begin and end with words


def context(offsets: np.ndarray, window: tuple[int, ...], word: int) -> int:
    """Return the pieces at the side of a word where a window shows fewer, an end of the text not counted."""
    _, begin, end, *_ = window
    left = offsets[word] - offsets[begin] if begin else 10**6
    right = offsets[end] - offsets[word + 1] if offsets[end] < offsets[-1] else 10**6
    return int(min(left, right))


def test_a_long_text_is_read_whole_and_what_overlaps_is_asked_once(tmp_path: Path) -> None:
    text = [(letter, "O" if place % 3 else "B-X") for place, letter in enumerate("abcdefghij" * 9)]
    data = cut(write_conll(tmp_path / "words.conll", [[("a", "O")], text, [("b", "O")]]), max_length=12)
    assert data.num_rows == 3 and data.rows[0] == 0 and data.rows[-1] == 2 and (data.rows[1:-1] == 1).all()
    assert data.lengths.max() == 12 and data.decided.tolist() == list(range(92))
    assert data.answer_bounds[-1] == 92
    asked = data.targets[data.targets != NOT_ASKED]
    assert asked.tolist() == data.tags.tolist()


def test_a_word_without_a_piece_is_not_asked_and_a_tag_that_is_not_known_is_ignored(tmp_path: Path) -> None:
    data = cut(
        write_conll(tmp_path / "words.conll", [[("a", "O"), ("\u200b", "B-X"), ("b", "B-X")]]), known=1
    )
    assert data.num_words == 3 and data.decided.tolist() == [0, 2]
    assert data.targets[data.targets != NOT_ASKED].tolist() == [0, IGNORE]


def test_a_word_of_more_pieces_than_a_window_has_one_answer(tmp_path: Path) -> None:
    data = cut(
        write_conll(tmp_path / "words.conll", [[("a", "O"), ("!" * 50, "B-X"), ("b", "O")]]), max_length=9
    )
    assert data.decided.tolist() == [0, 1, 2] and data.lengths.max() <= 9


def test_words_keep_their_places_in_chinese_text(tmp_path: Path) -> None:
    texts = [
        [("北京", "B-LOC"), ("大学", "I-LOC"), ("。", "O")],
        [("Bob", "B-PER"), ("在", "O"), ("上海", "B-LOC")],
    ]
    data = cut(write_conll(tmp_path / "words.conll", texts))
    text, spans = data.store.text(1)
    assert text == "Bob 在上海" and [text[a:b] for a, b in spans] == ["Bob", "在", "上海"]
    assert data.store.text(0)[0] == "北京大学。"
