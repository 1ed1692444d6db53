"""What is cut with a memory of words is what BERT cuts; a segmenter's words are found again in the pieces."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from engine.text.corpus import cutter
from engine.text.corpus.cutter import Cutter
from engine.text.vocabulary import ExtraToken
from engine.text.wordpiece import WordPiece
from tests.engine.tiny_stores import TOKENS, fake_words, sentence, wordpiece, words


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
    han = [chr(code) for some in cutter._IDEOGRAPHS for code in some] + list(cutter._PUNCTUATION)
    for start in range(0, len(han), 1000):
        some = [mark for mark in han[start : start + 1000] if mark not in "[]"]
        assert pieces.encode(" ".join(f"a{mark}a" for mark in some)).input_ids[1:-1] == [5, 1, 5] * len(some)


@pytest.fixture
def segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutter, "import_module", lambda _: SimpleNamespace(cut=fake_words))
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
