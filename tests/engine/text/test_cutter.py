"""What is cut with a memory of words is what BERT cuts; a segmenter's words are found again in the pieces."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.text import segmenter as segmenting
from engine.text.corpus import cutter
from engine.text.corpus.cutter import Cutter, cutter_for
from engine.text.special_tokens import ExtraToken
from engine.text.unigram import Unigram
from engine.text.wordpiece import WordPiece
from tests.engine.tiny_stores import TOKENS, fake_words, sentence, wordpiece, words
from tests.fakes import tiny_byte_level, tiny_unigram


@pytest.mark.parametrize(
    "changes",
    [{}, {"lowercase": False}, {"chinese_chars": False}, {"added": (ExtraToken("<e1>"),)},
     {"added": (ExtraToken("[MASK]", lstrip=True),)}, {"added": (ExtraToken("中国", special=False),)}],
)  # fmt: skip
def test_cutting_with_memory_gives_the_ids_of_cutting_each_text_alone(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutter, "_MAX_KNOWN", 37)
    pieces, rng = wordpiece(**changes), random.Random(1)
    one, texts = Cutter(pieces), [sentence(rng) for _ in range(400)] + ["", " ", "\ud800x"]
    for start in range(0, len(texts), 31):
        some = texts[start : start + 31]
        wanted = [pieces.encode(text).input_ids[1:-1] for text in some]
        cut = one.cut(some)
        assert cut.sizes.tolist() == [len(ids) for ids in wanted]
        assert cut.ids.tolist() == [number for ids in wanted for number in ids]


@pytest.mark.slow
def test_every_ideograph_that_is_cut_off_here_is_cut_off_by_bert() -> None:
    pieces = WordPiece.from_tokens([*TOKENS[:5], "a", "##a"], lowercase=True)
    han = [chr(code) for some in segmenting.IDEOGRAPHS for code in some] + list(cutter._PUNCTUATION)
    for start in range(0, len(han), 1000):
        some = [mark for mark in han[start : start + 1000] if mark not in "[]"]
        assert pieces.encode(" ".join(f"a{mark}a" for mark in some)).input_ids[1:-1] == [5, 1, 5] * len(some)


@pytest.fixture
def segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenting, "import_module", lambda _: SimpleNamespace(cut=fake_words))
    monkeypatch.setattr(cutter.metadata, "version", lambda _: "0")


@pytest.mark.parametrize("added", [(), (ExtraToken("[MASK]", lstrip=True),)])
def test_pieces_of_a_chinese_word_continue_it_and_others_go_by_their_marks(
    added: tuple[ExtraToken, ...], segmenter: None
) -> None:
    pieces = wordpiece(added=added)
    texts = ["中国人民爱playing,films.", "大学生 生", "T恤卡拉OK上海", "don't 3.5", "上", "海"]
    assert words(pieces, Cutter(pieces, "jieba").cut(texts)) == [
        *("中国", "人民", "爱", "playing", ",", "films", "."),
        *("大学生", "生", "t恤", "卡拉ok", "上海", "don", "[UNK]", "t", "[UNK]", ".", "[UNK]", "上", "海"),
    ]


@pytest.mark.parametrize("kind", [tiny_byte_level, tiny_unigram])
def test_other_pieces_are_cut_each_text_alone_and_say_what_continues_a_word(kind: Any) -> None:
    pieces, texts = kind(), ["the good film", " playing, café", "", "今天 9"]
    cut = cutter_for(pieces).cut(texts)
    wanted = [pieces.encode(text).input_ids[1:-1] for text in texts]
    assert cut.sizes.tolist() == [len(ids) for ids in wanted]
    assert cut.ids.tolist() == [number for ids in wanted for number in ids]
    assert cut.continues is not None
    assert cut.continues.tolist() == [one for ids in wanted for one in pieces.continues(ids)]


def test_pieces_of_a_chinese_word_continue_it_whatever_kind_they_are(segmenter: None) -> None:
    scored = tiny_unigram()
    cut = cutter_for(scored, "jieba").cut(["今天 film"])
    assert [scored.tokens[number] for number in cut.ids] == ["▁", "今天", "▁film"]
    assert cut.continues is not None and cut.continues.tolist() == [False, True, False]
    base = (*scored.base[:-1], *"中国人民", scored.base[-1])  # each is one piece
    letters = Unigram(base, (*scored.scores[:-1], *(-8.0,) * 4, scored.scores[-1]))
    cut = cutter_for(letters, "jieba").cut(["中国人民"])
    assert [letters.tokens[number] for number in cut.ids] == ["▁", "中", "国", "人", "民"]
    assert cut.continues is not None and cut.continues.tolist() == [False, True, True, False, True]
    bytes_ = tiny_byte_level()
    cut = cutter_for(bytes_, "jieba").cut(["中国人民"])
    assert cut.continues is not None
    assert np.flatnonzero(~cut.continues).tolist() == [0, 6]  # 3 bytes a character, 2 characters a word
