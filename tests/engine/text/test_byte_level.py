"""Byte-level pieces: ids and pieces are those of RoBERTa’s and ModernBERT’s own; what is asked of any."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError, ModelError
from engine.text.byte_level import MODERNBERT, ROBERTA, ByteLevel, Markers
from engine.text.read_tokenizer import read_tokenizer
from engine.text.words import words_of
from tests.fakes import tiny_byte_level, tiny_wordpiece

TEXT = "the café, the playing(film) 今天 <mask> 12"


def test_the_ids_pieces_and_spans_of_published_texts_are_those_of_transformers(real_data: Path) -> None:
    folder = real_data / "tokenizers" / "roberta"
    tokenizer, expected = read_tokenizer(folder), json.loads((folder / "expected.json").read_text())
    assert len(expected["cases"]) == 46 and len(expected["pairs"]) == 4
    for case in expected["cases"]:
        found = tokenizer.encode(case["text"])
        assert (found.input_ids, found.tokens) == (case["ids"], case["tokens"])
        assert list(map(list, found.offsets)) == case["offsets"]
        assert tokenizer.encode_ids([case["text"]])[0].tolist() == case["ids"][1:-1]
    for pair in expected["pairs"]:
        first, second = pair["pair"]
        assert tokenizer.encode(first, second or None).input_ids == pair["ids"]
    names = [tokenizer.tokens[number] for number in range(4)]
    assert names == ["<s>", "<pad>", "</s>", "<unk>"] and tokenizer.mask_id == 50264


def test_the_ids_and_pieces_of_a_modernbert_are_those_of_transformers_and_spans_begin_at_words(
    real_data: Path,
) -> None:
    folder = real_data / "tokenizers" / "modernbert-derived"
    tokenizer, expected = read_tokenizer(folder), json.loads((folder / "expected.json").read_text())
    assert len(expected["cases"]) == 46 and len(expected["pairs"]) == 4
    for case in expected["cases"]:
        found = tokenizer.encode(case["text"])
        assert (found.input_ids, found.tokens) == (case["ids"], case["tokens"])
        assert tokenizer.encode_ids([case["text"]])[0].tolist() == case["ids"][1:-1]
        for (start, stop), (theirs, end) in zip(found.offsets, case["offsets"], strict=True):
            skipped = case["text"][theirs:start] + case["text"][stop:end]
            assert theirs <= start <= stop <= end and not skipped.strip()
    for pair in expected["pairs"]:
        first, second = pair["pair"]
        assert tokenizer.encode(first, second or None).input_ids == pair["ids"]
    assert tokenizer.tokens[tokenizer.pad_id] == "[PAD]" and tokenizer.mask_id == 50284
    assert tokenizer.encode("a<|endoftext|>").input_ids[2] == 50279 and 50279 in tokenizer.special_ids


def test_a_modernberts_vocabulary_is_read_again_and_by_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = tiny_byte_level(MODERNBERT)
    tokenizer.save(tmp_path, model_max_length=39)
    assert {path.name for path in tmp_path.iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
    again = read_tokenizer(tmp_path)
    assert again == tokenizer == pickle.loads(pickle.dumps(tokenizer)) != tiny_byte_level()
    assert again.fingerprint() == tokenizer.fingerprint()
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for texts in (("the cafe\u0301 [MASK]!",), (TEXT, "a good film")):
        assert theirs(*texts)["input_ids"] == again.encode(*texts).input_ids
    assert "token_type_ids" not in theirs("the film")
    assert (theirs.model_max_length, theirs.mask_token, theirs.cls_token) == (39, "[MASK]", "[CLS]")
    assert again.encode("cafe\u0301").tokens[-2] == "Ã©"  # one character, where RoBERTa has two
    assert again.cleaning.startswith(tiny_byte_level().cleaning) and "become one" in again.cleaning


@pytest.mark.parametrize("left", ["tokenizer.json", "vocab.json"])
def test_what_is_written_is_read_again_and_by_transformers(left: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = tiny_byte_level()
    tokenizer.save(tmp_path, model_max_length=39)
    (tmp_path / left).unlink()
    again = read_tokenizer(tmp_path)
    assert again == tokenizer == pickle.loads(pickle.dumps(tokenizer))
    assert again.fingerprint() == tokenizer.fingerprint()
    if left == "vocab.json":
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
        for texts in ((TEXT,), (TEXT, "a good film")):
            assert theirs(*texts)["input_ids"] == again.encode(*texts).input_ids
        assert theirs.model_max_length == 39 and theirs.mask_token == "<mask>"


@pytest.mark.parametrize("markers", [ROBERTA, MODERNBERT])
def test_a_pair_has_its_separators_between_and_both_ways_to_join_it_agree(markers: Markers) -> None:
    tokenizer = tiny_byte_level(markers)
    found = tokenizer.encode("the film", "a play")
    assert found.tokens[:3] == [markers.cls, "t", "he"]
    assert found.tokens[-4:] == [markers.sep, "a", "Ġplay", markers.sep]
    first, second = tokenizer.encode_ids(["the film", "a play"])
    for most in (None, 9, 7):
        whole = tokenizer.encode("the film", "a play", max_length=most)
        ids, length_a, cut = tokenizer.assemble(first, second, most)
        assert ids.tolist() == whole.input_ids and cut == whole.num_cut
        assert length_a == whole.token_type_ids.count(0)
        between = markers.num_between
        assert whole.input_ids.count(tokenizer.sep_id) == between + 1
        assert sum(whole.special_tokens_mask) == between + 2


def test_words_end_at_spaces_and_marks_and_never_within_a_character(chinese_characters: None) -> None:
    tokenizer = tiny_byte_level()
    words = [word.text for word in words_of(tokenizer.encode(TEXT), TEXT)]
    assert words == ["the", "café", ",", "the", "playing", "(", "film", ")", "今", "天", "<mask>", "12"]


def test_whole_characters_are_shown_as_such_and_parts_of_one_as_bytes() -> None:
    found = tiny_byte_level().encode("a é film 今")
    assert found.tokens[2:-1] == ["Ġ", "Ã©", "Ġfilm", "Ġ", "ä", "»", "Ĭ"]
    assert found.shown[2:-1] == ["Ġ", "é", "Ġfilm", "Ġ", "ä", "»", "Ĭ"]


def test_a_word_is_spelled_behind_a_space_and_what_stands_behind_a_letter_keeps_a_mark() -> None:
    tokenizer = tiny_byte_level()
    film = tokenizer.ids_of_word("film")
    assert [tokenizer.tokens[number] for number in film] == ["Ġfilm"]
    assert tokenizer.as_word(film) == "film" and tokenizer.ids_as_spelled("film") == film
    glued = tokenizer.ids_as_spelled("…film")
    assert [tokenizer.tokens[number] for number in glued] == ["film"] and tokenizer.as_word(glued) == "…film"
    assert tokenizer.as_word((*film, *glued)) == "filmfilm"
    assert tokenizer.as_word(tokenizer.encode_ids(["!"])[0].tolist()) == "!"
    assert tokenizer.as_word(tokenizer.encode_ids([" "])[0].tolist()) == "Ġ"
    assert tokenizer.as_word(tokenizer.encode_ids(["今"])[0].tolist()[:2]) == "ä»"
    assert tokenizer.may_go_on[glued[0]] and not tokenizer.may_go_on[film[0]]
    assert not tokenizer.may_go_on[list(tokenizer.special_ids)].any()
    assert tokenizer.with_masks("a [MASK] <mask>") == "a <mask> <mask>"
    assert tiny_wordpiece().with_masks("a [MASK]") == "a [MASK]"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"normalizer": {"type": "NFC"}}, "normalizer is"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "pre_tokenizer is"),
        ({"post_processor": {"type": "RobertaProcessing", "cls": ["[CLS]", 0]}}, "cls is"),
        ({"model": {"byte_fallback": True}}, "byte_fallback is true"),
        ({"model": {"merges": [["a"]]}}, "a merge is of two pieces"),
        ({"model": {"merges": 7}}, "a merge is of two pieces"),
        ({"model": {"merges": ["x q"]}}, "joins 'x' and 'q', and lacks one of the pieces"),
        ({"model": {"vocab": {"a": 1}}}, "is damaged near"),
        ({"model": {"vocab": {"a": 0}, "merges": []}, "added_tokens": []}, "The vocabulary lacks <pad>"),
    ],
)
def test_files_that_cut_otherwise_or_are_damaged_are_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    tiny_byte_level().save(tmp_path)
    path = tmp_path / "tokenizer.json"
    rules = json.loads(path.read_text())
    for name, part in change.items():
        rules[name] = {**rules[name], **part} if name == "model" else part
    path.write_text(json.dumps(rules))
    with pytest.raises((ModelError, DataError), match=said):
        read_tokenizer(path.parent)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"normalizer": {"type": "Lowercase"}}, "does not cut texts as ModernBERT does: normalizer is"),
        ({"single": []}, r'single is \[\], not \["\[CLS\]", "A", "\[SEP\]"\]'),
        ({"pair": [{"Sequence": {"id": "B"}}, 7]}, "pair is"),
        ({"single": [{"SpecialToken": 7}]}, "single is"),
        ({"added_tokens": []}, r"The vocabulary lacks \[PAD\], .* ModernBERT needs"),
    ],
)
def test_a_modernberts_files_that_cut_otherwise_or_are_damaged_are_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    tiny_byte_level(MODERNBERT).save(tmp_path)
    path = tmp_path / "tokenizer.json"
    rules = json.loads(path.read_text())
    for name, part in change.items():
        (rules if name in rules else rules["post_processor"])[name] = part
    path.write_text(json.dumps(rules))
    with pytest.raises((ModelError, DataError), match=said):
        read_tokenizer(path.parent)


def test_a_vocabulary_without_a_mask_opens_and_has_none() -> None:
    whole = tiny_byte_level()
    assert ByteLevel(whole.base[:-1], whole.merges).mask_id is None
