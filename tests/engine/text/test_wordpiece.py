"""WordPiece against google-research/bert's cases, against `transformers`, and against broken folders."""

from __future__ import annotations

import json
import os
import pickle
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.text.tokenizer import TRUNCATIONS, kept
from engine.text.wordpiece import WordPiece
from tests.engine.text.conftest import peer

TOKENS = str.split(
    "[PAD] [UNK] [CLS] [SEP] [MASK] play ##ing ##ed un ##want want the a b c ##b cafe , . ! 中 文 "
    "##文 \u2028 ##\u2028 one two three four five six seven eight nine ten",
    " ",
)
DATA = Path(os.environ["CLOZE_DATA"]) if os.environ.get("CLOZE_DATA") else None
needs_data = pytest.mark.skipif(DATA is None, reason="CLOZE_DATA names no folder with real data")
VOCABS = ("uncased", "cased", "chinese")
GOOGLE: dict[str, Any] = {  # google-research/bert, tokenization_test.py, Apache-2.0
    "vocab": str.split("[UNK] [CLS] [SEP] want ##want ##ed wa un runn ##ing , [PAD]"),
    "text": "UNwant\u00e9d,running",
    "tokens": ["un", "##want", "##ed", ",", "runn", "##ing"],
    "ids": [7, 4, 5, 10, 8, 9],
}


@pytest.fixture
def wordpiece() -> WordPiece:
    return WordPiece.from_tokens(TOKENS, lowercase=True)


def data() -> Path:
    assert DATA is not None
    return DATA


def cut(text: str, tokens: str, *, lowercase: bool = True) -> list[str]:
    """Cut `text` with a vocabulary of just `tokens`."""
    base = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(tokens.split())]
    base = list(dict.fromkeys(base))
    return WordPiece.from_tokens(base, lowercase=lowercase).encode(text).tokens[1:-1]


# What a text becomes


def test_googles_case_is_cut_into_googles_ids() -> None:
    wordpiece = WordPiece.from_tokens(GOOGLE["vocab"], lowercase=True)
    encoding = wordpiece.encode(GOOGLE["text"])
    assert encoding.tokens[1:-1] == GOOGLE["tokens"]
    assert encoding.input_ids[1:-1] == GOOGLE["ids"]
    assert wordpiece.encode_ids([GOOGLE["text"]])[0].tolist() == GOOGLE["ids"]


@pytest.mark.parametrize(
    ("text", "tokens", "lowercase"),
    [
        ("ah\u535a\u63a8zz", "ah \u535a \u63a8 zz", True),
        (" \tHeLLo!how  \n Are yoU?  ", "hello ! how are you ?", True),
        ("H\u00e9llo", "hello", True),
        (" \tHeLLo!how  \n Are yoU?  ", "HeLLo ! how Are yoU ?", False),
        (" \tHeLLo!how  \n Are yoU? [UNK]", "HeLLo ! how Are yoU ? [UNK]", False),
    ],
)
def test_words_are_split_as_google_splits_them(text: str, tokens: str, lowercase: bool) -> None:
    assert cut(text, tokens, lowercase=lowercase) == tokens.split()


def test_the_longest_piece_wins_and_a_word_that_does_not_fit_is_unknown_as_a_whole() -> None:
    vocab = "want ##want ##ed wa un runn ##ing"
    assert cut("", vocab) == []
    assert cut("unwanted running", vocab) == ["un", "##want", "##ed", "runn", "##ing"]
    assert cut("unwantedX running", vocab) == ["[UNK]", "runn", "##ing"]


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\n", "\u00a0", "\u2028"])
def test_white_space_parts_words(space: str) -> None:
    assert cut(f"a{space}a", "a") == ["a", "a"]


@pytest.mark.parametrize("control", ["\x05", "\x00", "\ufffd", "\u200b"])
def test_control_characters_vanish(control: str) -> None:
    assert cut(f"a{control}a", "aa") == ["aa"]


@pytest.mark.parametrize("mark", ["-", "$", "`", "."])
def test_punctuation_stands_alone(mark: str) -> None:
    assert cut(f"a{mark}a", f"a {mark}") == ["a", mark, "a"]


def test_an_emoji_is_a_letter_like_any_other() -> None:
    assert cut("a\U0001f4a9a", "a\U0001f4a9a") == ["a\U0001f4a9a"]


def test_spans_point_into_the_text_as_it_was_written(wordpiece: WordPiece) -> None:
    text = "The  CAFÉ, playing\t中文!"
    encoding = wordpiece.encode(text)
    spans = [text[start:end] for start, end in encoding.offsets]
    assert encoding.tokens == ["[CLS]", "the", "cafe", ",", "play", "##ing", "中", "文", "!", "[SEP]"]
    assert spans == ["", "The", "CAFÉ", ",", "play", "ing", "中", "文", "!", ""]


def test_spans_of_the_second_text_point_into_the_second_text(wordpiece: WordPiece) -> None:
    encoding = wordpiece.encode("play", "the cafe")
    assert encoding.tokens == ["[CLS]", "play", "[SEP]", "the", "cafe", "[SEP]"]
    assert encoding.token_type_ids == [0, 0, 0, 1, 1, 1]
    assert encoding.special_tokens_mask == [1, 0, 1, 0, 0, 1]
    assert encoding.attention_mask == [1] * 6
    assert encoding.offsets[3:5] == [(0, 3), (4, 8)]


def test_an_empty_text_is_only_special_tokens(wordpiece: WordPiece) -> None:
    assert wordpiece.encode("").tokens == ["[CLS]", "[SEP]"]
    assert wordpiece.encode("", "").tokens == ["[CLS]", "[SEP]", "[SEP]"]
    assert wordpiece.encode_ids(["", " "])[1].tolist() == []


def test_special_tokens_written_in_a_text_become_special_tokens(wordpiece: WordPiece) -> None:
    assert wordpiece.encode("a[MASK]b [SEP]").tokens[1:-1] == ["a", "[MASK]", "b", "[SEP]"]
    assert wordpiece.encode("[mask]").tokens[1:-1] == ["[UNK]"] * 3


def test_half_a_character_is_left_out_and_the_spans_still_fit(wordpiece: WordPiece) -> None:
    text = "a \ud800play"
    encoding = wordpiece.encode(text)
    assert encoding.tokens[1:-1] == ["a", "play"]
    assert encoding.offsets[2] == (3, 7)
    assert wordpiece.encode_ids([text])[0].tolist() == encoding.input_ids[1:-1]


# Whole data sets


def texts_of_all_kinds(count: int, seed: int = 7) -> list[str]:
    rng = random.Random(seed)
    bits = [
        *TOKENS[:22],
        " ",
        "  ",
        "\t",
        "\n",
        "\u00a0",
        "\u2028",
        "\x85",
        "\x1c",
        "\x05",
        "É",
        "é",
        "e\u0301",
        "\u0301",
    ]
    bits += [
        "İ",
        "ß",
        "Σ",
        "ΑΣ",
        "中a",
        "\uf900",
        "豈",
        "한",
        "[sep]",
        "\U0001f4a9",
        "\u200d",
        "\ufffd",
        "-",
        "x" * 101,
    ]
    return ["".join(rng.choice(bits) for _ in range(rng.randrange(13))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("chinese", [True, False])
def test_words_remembered_give_the_same_ids_as_texts_cut_whole(lowercase: bool, chinese: bool) -> None:
    wordpiece = WordPiece(tuple(TOKENS), lowercase, chinese_chars=chinese)
    texts = texts_of_all_kinds(3000)
    fast = wordpiece.encode_ids(texts)
    assert all(ids.dtype == np.int32 for ids in fast)
    assert [ids.tolist() for ids in fast] == [wordpiece.encode(text).input_ids[1:-1] for text in texts]
    again = wordpiece.encode_ids(texts)
    assert all(np.array_equal(a, b) for a, b in zip(fast, again, strict=True))


def test_threads_that_share_it_get_the_same_ids(wordpiece: WordPiece) -> None:
    texts = texts_of_all_kinds(500)
    expected = [ids.tolist() for ids in WordPiece.from_tokens(TOKENS, lowercase=True).encode_ids(texts)]
    found: list[list[list[int]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([ids.tolist() for ids in wordpiece.encode_ids(texts)]))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 5


def test_it_survives_pickling(wordpiece: WordPiece) -> None:
    copy = pickle.loads(pickle.dumps(wordpiece))
    assert copy == wordpiece
    assert copy.encode("playing") == wordpiece.encode("playing")


@pytest.mark.parametrize("truncation", TRUNCATIONS)
def test_ids_assembled_are_ids_encoded(wordpiece: WordPiece, truncation: str) -> None:
    for text in ("", "one", "one two three four five six seven"):
        for pair in (None, "", "a", "eight nine ten a b c the"):
            for max_length in (3, 4, 5, 8, 9, 13, None):
                encoding = wordpiece.encode(text, pair, max_length=max_length, truncation=truncation)
                ids_a, ids_b = wordpiece.encode_ids([text, pair or ""])
                ids, num_a, num_cut = wordpiece.assemble(
                    ids_a, None if pair is None else ids_b, max_length, truncation
                )
                assert ids.tolist() == encoding.input_ids
                assert num_a == encoding.token_type_ids.count(0)
                assert num_cut == encoding.num_cut
                assert max_length is None or len(ids) <= max_length
                assert len(encoding.offsets) == len(encoding.special_tokens_mask) == len(ids)


# What is cut


def test_a_long_text_keeps_its_head(wordpiece: WordPiece) -> None:
    encoding = wordpiece.encode("one two three four five", max_length=5)
    assert encoding.tokens == ["[CLS]", "one", "two", "three", "[SEP]"]
    assert encoding.num_cut == 2


def test_head_and_tail_keeps_128_and_382_of_510() -> None:
    wordpiece = WordPiece.from_tokens(TOKENS, lowercase=True)
    ids, _, num_cut = wordpiece.assemble(np.arange(1000, dtype=np.int32), None, 512, "head_tail")
    assert ids[1:-1].tolist() == [*range(128), *range(618, 1000)]
    assert num_cut == 490


def test_longest_first_cuts_the_longer_text_then_both() -> None:
    assert kept(10, 3, 12, "longest_first") == (6, 3)
    assert kept(3, 10, 12, "longest_first") == (3, 6)
    assert kept(10, 10, 12, "longest_first") == (4, 5)
    assert kept(11, 10, 12, "longest_first") == (5, 4)


def test_head_keeps_the_first_text_and_cuts_the_second_down_to_a_quarter() -> None:
    assert kept(10, 10, 17, "head") == (10, 4)
    assert kept(100, 100, 43, "head") == (30, 10)
    assert kept(100, 2, 43, "head") == (38, 2)


def test_a_length_without_room_for_special_tokens_is_refused() -> None:
    with pytest.raises(ConfigError, match="special tokens alone take 3") as caught:
        kept(1, 1, 2, "head")
    assert caught.value.field == "max_length"
    with pytest.raises(ConfigError, match="longest_first, head, head_tail"):
        kept(1, 1, 5, "tail")


# Beside transformers


@pytest.mark.parametrize("lowercase", [True, False])
def test_transformers_reads_the_folder_with_the_same_ids(tmp_path: Path, lowercase: bool) -> None:
    wordpiece = WordPiece.from_tokens(TOKENS, lowercase=lowercase)
    wordpiece.save(tmp_path, model_max_length=37)
    other = peer(tmp_path)
    texts = texts_of_all_kinds(1500)
    assert [ids.tolist() for ids in wordpiece.encode_ids(texts)] == other(
        texts, add_special_tokens=False
    ).input_ids
    assert other.model_max_length == 37
    assert other.mask_token_id == wordpiece.mask_id


@pytest.mark.slow
def test_transformers_cuts_pairs_longest_first_to_the_same_ids(folder: Path, wordpiece: WordPiece) -> None:
    other = peer(folder)
    words = TOKENS[-10:]
    for num_a in range(9):
        for num_b in range(1, 9):  # transformers takes an empty second text for none
            text, pair = " ".join(words[:num_a]), " ".join(words[-num_b:])
            for max_length in (3, 4, 5, 8, 9, 12):
                theirs = other(text, pair, max_length=max_length, truncation="longest_first")
                ours = wordpiece.encode(text, pair, max_length=max_length)
                assert ours.input_ids == theirs.input_ids
                assert ours.token_type_ids == theirs.token_type_ids


# Real data


@needs_data
def test_the_published_vocabularies_have_their_sizes_and_casing() -> None:
    found = {}
    for name in VOCABS:
        wordpiece = WordPiece.from_vocab(data() / "vocabs" / f"bert-base-{name}-vocab.txt")
        found[name] = (wordpiece.vocab_size, wordpiece.lowercase)
    assert found == {"uncased": (30522, True), "cased": (28996, False), "chinese": (21128, True)}


@needs_data
def test_ids_of_the_fill_mask_example_are_the_published_ones() -> None:
    known = json.loads((data() / "parity" / "bert_expected_values.json").read_text("utf-8"))
    wordpiece = WordPiece.from_vocab(data() / "vocabs" / "bert-base-uncased-vocab.txt")
    for word, number, _ in known["bert_base_uncased_fill_mask"]["top5"]:
        assert wordpiece.tokens[number] == word
    assert wordpiece.mask_id == 103
    classes, case = known["char_classes"], known["wordpiece_cases"][0]
    assert (case["input"], case["tokens"], case["ids"]) == (GOOGLE["text"], GOOGLE["tokens"], GOOGLE["ids"])
    for char in classes["punctuation"] + classes["whitespace"] + classes["control"]:
        middle = [char] if char in classes["punctuation"] else []
        joined = char in classes["control"]
        assert cut(f"a{char}a", f"a aa {char if middle else ''}") == (
            ["aa"] if joined else ["a", *middle, "a"]
        )


def real_texts() -> Iterator[tuple[str, list[str]]]:
    import pandas

    yield "BBC", pandas.read_csv(data() / "bbc_news" / "bbc-text.csv")["text"].tolist()
    for part in ("train", "dev"):
        lines = (data() / "chnsenticorp" / f"{part}.tsv").read_text("utf-8-sig").split("\n")
        yield f"ChnSentiCorp {part}", [line.split("\t", 1)[1] for line in lines[1:] if line]
    yield "wikitext", (data() / "corpora" / "wikitext-2-valid.txt").read_text("utf-8").split("\n")


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", VOCABS)
def test_a_third_of_the_real_lines_for_each_vocabulary_has_the_ids_of_transformers(
    tmp_path: Path, name: str
) -> None:
    transformers = pytest.importorskip("transformers")
    source = data() / "vocabs" / f"bert-base-{name}-vocab.txt"
    wordpiece = WordPiece.from_vocab(source)
    wordpiece.save(tmp_path)
    bare = transformers.BertTokenizer(str(source), do_lower_case=wordpiece.lowercase)
    saved = peer(tmp_path)
    num_lines = 0
    for where, every in real_texts():
        texts = every[VOCABS.index(name) :: len(VOCABS)]  # together the three see every line
        ours = wordpiece.encode_ids(texts)
        for start in range(0, len(texts), 500):
            batch = texts[start : start + 500]
            theirs = bare(batch, add_special_tokens=False, verbose=False).input_ids
            for at, (mine, other) in enumerate(zip(ours[start : start + 500], theirs, strict=True), start):
                assert mine.tolist() == other, f"{where}, text {at}"
        some = texts[::37]
        pairs = saved(some, some[::-1], max_length=61, truncation="longest_first").input_ids
        mine = [
            wordpiece.encode(*pair, max_length=61).input_ids for pair in zip(some, some[::-1], strict=True)
        ]
        assert mine == pairs, where
        num_lines += len(texts)
    assert num_lines >= (2225 + 9600 + 1200 + 3761) // 3 - 1
