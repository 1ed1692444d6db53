"""Scored pieces: ids, pieces and spans are those of the families’ own tokenizers; what is asked of any."""

from __future__ import annotations

import base64
import json
import lzma
import pickle
import struct
import time
import tracemalloc
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError, ModelError
from engine.text.read_tokenizer import read_tokenizer
from engine.text.sentencepiece import read_pieces
from engine.text.tokenizer import Tokenizer
from engine.text.trace import trace
from engine.text.unigram import Unigram
from engine.text.words import words_of
from tests.engine.model.checkpoints import field, number
from tests.fakes import tiny_unigram

KINDS = ("xlm-roberta", "camembert", "albert", "deberta")
TEXT = "the café, the playing(film) 今天 [MASK] 12"
FULL_WIDTH = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)} | {
    "…": "...",
    "ﬁ": "fi",
    "　": " ",
}
SPECIAL = ("<s>", "</s>", "<mask>", "<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "[PAD]")


def charsmap(becomes: Mapping[str, str] = FULL_WIDTH) -> bytes:
    """Return a map of characters as SentencePiece keeps it: each node has 256 places for its children."""
    units, text, places, bases = [0] * 256, b"", {b"": 0}, {b"": 0}

    def base(key: bytes) -> int:
        if key not in bases:
            bases[key] = len(units)
            units[places[key]] |= (places[key] ^ bases[key]) << 10
            units.extend([0] * 256)
        return bases[key]

    for char, after in becomes.items():
        key = b""
        for byte in char.encode():
            before, key = key, key + bytes([byte])
            places.setdefault(key, base(before) ^ byte)
            units[places[key]] |= byte
        units[base(key)] = 1 << 31 | len(text)
        units[places[key]] |= 1 << 8
        text += after.encode() + b"\0"
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + text


def with_map(tokenizer: Unigram, data: bytes) -> Unigram:
    return replace(tokenizer, charsmap=data)


def piece(text: str, score: float, kind: int = 1) -> bytes:
    """Return a piece as a file of SentencePiece has it."""
    bits = number(2 << 3 | 5) + struct.pack("<f", score)
    return field(1, field(1, text.encode()) + bits + field(3, kind))


def write_file(path: Path, pieces: list[tuple[str, float, int]], data: bytes = b"", **trainer: int) -> None:
    """Write a file of SentencePiece. Args: trainer: "model_type" and the like."""
    numbers = {"model_type": 3, "treat_whitespace_as_suffix": 24, "byte_fallback": 35, "unk_id": 40}
    said = b"".join(field(numbers[name], value) for name, value in trainer.items())
    cleaning = field(1, b"nmt_nfkc") + field(2, data)
    path.write_bytes(b"".join(piece(*one) for one in pieces) + field(2, said) + field(3, cleaning))


def rules_of(tokenizer: Tokenizer, folder: Path) -> dict[str, Any]:
    """Save a tokenizer, and return what stands in its tokenizer.json."""
    tokenizer.save(folder)
    (folder / "tokenizer_config.json").unlink()
    found: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text())
    return found


def same_as_published(tokenizer: Tokenizer, expected: Mapping[str, Any]) -> None:
    assert len(expected["cases"]) == 46 and len(expected["pairs"]) == 4
    for case in expected["cases"]:
        found = tokenizer.encode(case["text"])
        assert (found.input_ids, found.tokens) == (case["ids"], case["tokens"])
        assert list(map(list, found.offsets)) == case["offsets"]
        assert tokenizer.encode_ids([case["text"]])[0].tolist() == case["ids"][1:-1]
    for pair in expected["pairs"]:
        first, second = pair["pair"]
        assert tokenizer.encode(first, second or None).input_ids == pair["ids"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xlm-roberta", "albert-en"])
def test_the_ids_pieces_and_spans_of_published_texts_are_those_of_transformers(
    name: str, real_data: Path
) -> None:
    folder = real_data / "tokenizers" / name
    tokenizer = read_tokenizer(folder)
    same_as_published(tokenizer, json.loads((folder / "expected.json").read_text()))
    special = {"xlm-roberta": [0, 1, 2, 3, 250001], "albert-en": [2, 0, 3, 1, 4]}[name]
    ids = [tokenizer.cls_id, tokenizer.pad_id, tokenizer.sep_id, tokenizer.unk_id, tokenizer.mask_id]
    assert ids == special


@pytest.mark.slow
def test_a_piece_is_from_the_characters_that_its_span_says(real_data: Path) -> None:
    folder = real_data / "tokenizers" / "xlm-roberta"
    tokenizer, checked = read_tokenizer(folder), 0
    for case in json.loads((folder / "expected.json").read_text())["cases"]:
        found = tokenizer.encode(case["text"])
        for token, (start, stop), special in zip(
            found.tokens, found.offsets, found.special_tokens_mask, strict=True
        ):
            spelled = token.removeprefix("▁")
            if spelled and token not in SPECIAL and not special:
                while unicodedata.combining(case["text"][stop : stop + 1] or "a"):
                    stop += 1  # an accent that is a character of its own
                written = unicodedata.normalize("NFKC", case["text"][start:stop])
                assert written == spelled or (spelled in written and stop == start + 1)  # ℃ is two pieces
                checked += 1
    assert checked > 350


def test_a_tokenizer_json_without_a_beginning_of_texts_is_cut_alike_once_it_has_one(
    real_data: Path, tmp_path: Path
) -> None:
    folder = real_data / "tokenizers" / "t5"
    rules = json.loads((folder / "tokenizer.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["cases"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules))
    with pytest.raises(ModelError, match="post_processor is"):
        read_tokenizer(tmp_path)
    rules["post_processor"] = rules_of(tiny_unigram(), tmp_path)["post_processor"]
    last = max(len(rules["model"]["vocab"]) - 1, *(token["id"] for token in rules["added_tokens"]))
    rules["added_tokens"].append({"id": last + 1, "content": "<s>", "special": True})
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules))
    tokenizer = read_tokenizer(tmp_path)
    same = 0
    for case in expected:
        if "<" not in case["text"]:
            ((ids, spans),) = tokenizer.encode_spans([case["text"]])
            assert ids.tolist() == case["ids"][:-1] and spans.tolist() == case["offsets"][:-1]
            same += 1
    assert same > 40


@pytest.mark.parametrize(("kind", "shift"), [("xlm-roberta", 1), ("camembert", 4)])
def test_a_file_of_pieces_alone_is_numbered_as_the_model_beside_it_has_them(
    kind: str, shift: int, real_data: Path, tmp_path: Path
) -> None:
    there = real_data / "tokenizers" / "spm-misc"
    (tmp_path / "sentencepiece.bpe.model").write_bytes((there / "test_sentencepiece.model").read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind, "vocab_size": 1005}))
    tokenizer = read_tokenizer(tmp_path)
    assert tokenizer.unk_id == 3 and tokenizer.mask_id == tokenizer.vocab_size - 1 == 1000 + shift
    raw = json.loads((there / "expected-raw-test_sentencepiece.json").read_text())
    texts = [case for case in raw if not any(name in case["text"] for name in SPECIAL)]
    assert len(texts) == 42
    for case in texts:
        found = tokenizer.encode_ids([case["text"]])[0].tolist()
        assert found == [one + shift if one else tokenizer.unk_id for one in case["ids"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [b"", charsmap()])
def test_what_is_written_is_read_again_and_by_transformers(kind: str, data: bytes, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = with_map(tiny_unigram(kind), data)
    tokenizer.save(tmp_path, model_max_length=39)
    model_type = kind.replace("deberta", "deberta-v2")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    again = read_tokenizer(tmp_path)
    assert again == tokenizer == pickle.loads(pickle.dumps(tokenizer))
    assert again._tokenizer is tokenizer._tokenizer  # XLM-R's takes 380 MB
    assert again.fingerprint() == tokenizer.fingerprint() and not again.notes
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    texts = ("the ｆｉｌｍ， playing  (film)ﬁ 今天", "A good <mask> [MASK] filmé``")
    for pair in (texts[:1], texts[1:], texts):
        found = theirs(*pair)
        ours = tokenizer.encode(*pair)
        assert found["input_ids"] == ours.input_ids
        assert found.get("token_type_ids", ours.token_type_ids) == ours.token_type_ids
    assert ("token_type_ids" in found) is tokenizer.tells_segments is (kind in ("albert", "deberta"))
    assert theirs.model_max_length == 39 and theirs.mask_token == tokenizer.tokens[tokenizer.mask_id]
    # ALBERT’s first step makes letters of full width plain, DeBERTa writes others as bytes
    is_plain = bool(data) or kind in ("albert", "deberta")
    assert (tokenizer.unk_id in tokenizer.encode(texts[0]).input_ids) is not is_plain


def test_a_pair_is_joined_as_its_family_joins_it_and_both_ways_to_join_it_agree() -> None:
    for kind, between in (("xlm-roberta", 2), ("camembert", 2), ("albert", 1), ("deberta", 1)):
        tokenizer = tiny_unigram(kind)
        names = tokenizer.names
        found = tokenizer.encode("the film", "a play")
        ends = [names.sep] * between
        assert found.tokens == [names.cls, "▁the", "▁film", *ends, "▁a", "▁play", names.sep]
        first, second = tokenizer.encode_ids(["the film", "a play"])
        for most in (None, 7, 6):
            whole = tokenizer.encode("the film", "a play", max_length=most)
            ids, length_a, cut = tokenizer.assemble(first, second, most)
            assert ids.tolist() == whole.input_ids and cut == whole.num_cut
            assert length_a == whole.token_type_ids.count(0)


def test_words_begin_at_blanks_and_end_at_marks_and_each_is_from_its_own_characters() -> None:
    tokenizer = tiny_unigram()
    text = tokenizer.with_masks(TEXT)
    words = [word.text for word in words_of(tokenizer.encode(text), text)]
    assert words == ["the", "café", ",", "the", "playing", "(", "film", ")", "今天", "<mask>", "12"]
    known = with_map(tokenizer, charsmap())
    text = "ｔｈｅ　ｆｉｌｍ…xéz，\u0e01今"
    found = known.encode(text)
    assert "▁film" in found.tokens and "<unk>" in found.tokens
    words = [word.text for word in words_of(found, text)]
    assert words == ["ｔｈｅ", "ｆｉｌｍ", "…", "xéz", "，", "\u0e01", "今"]


def test_a_bare_blank_is_of_the_word_behind_it_whatever_that_is() -> None:
    tokenizer = tiny_unigram()
    found = tokenizer.encode("film 今天 龘 (x")
    assert found.tokens[1:-1] == ["▁film", "▁", "今天", "▁", "<unk>", "▁", "(", "x"]
    assert found.continues[1:-1] == [False, False, True, False, True, False, True, False]
    assert [word.text for word in words_of(found, "film 今天 龘 (x")] == ["film", "今天", "龘", "(", "x"]


def test_a_word_is_spelled_behind_a_blank_and_what_stands_behind_a_letter_keeps_a_mark() -> None:
    tokenizer = tiny_unigram()
    ids = {token: number for number, token in enumerate(tokenizer.tokens)}
    for word, pieces in (("film", ["▁film"]), ("…film", ["film"]), ("今天", ["今天"]), ("!", ["!"])):
        found = tokenizer.ids_as_spelled(word)
        assert found == [ids[piece] for piece in pieces] and tokenizer.as_word(found) == word
    assert tokenizer.ids_as_spelled("…龘") == []
    assert tokenizer.as_word([ids["▁"]]) == "▁" and tokenizer.as_word([ids["<mask>"]]) == "<mask>"
    assert tokenizer.as_word((ids["▁film"], ids["film"])) == "filmfilm"
    assert tokenizer.may_go_on[ids["film"]] and not tokenizer.may_go_on[ids["▁film"]]
    assert not tokenizer.may_go_on[[ids["今天"], ids["!"], *tokenizer.special_ids]].any()
    assert tokenizer.with_masks("a [MASK] <mask>") == "a <mask> <mask>"
    assert tiny_unigram("albert").with_masks("a [MASK]") == "a [MASK]"
    upper = tiny_unigram("albert")
    assert upper.ids_as_spelled("…FILM") == [upper.tokens.index("film")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_pieces_gives_the_tokenizer_that_its_json_gives(kind: str, tmp_path: Path) -> None:
    tokenizer, name = with_map(tiny_unigram(kind), charsmap()), "sentencepiece.bpe.model"
    scored = list(zip(tokenizer.base, tokenizer.scores, strict=True))
    if kind == "albert":
        name, kinds = "spiece.model", {"<pad>": 3, "<unk>": 2, "[CLS]": 3, "[SEP]": 3, "[MASK]": 4}
    elif kind == "deberta":
        name, kinds = "spm.model", {"[PAD]": 3, "[CLS]": 3, "[SEP]": 3, "[UNK]": 2}
        kinds |= {f"<0x{byte:02X}>": 6 for byte in range(256)}
    else:
        kinds = {"<unk>": 2, "<s>": 3, "</s>": 3}
        own = [piece for piece in scored if piece[0] not in (*SPECIAL, *(f"{one}NOTUSED" for one in kinds))]
        scored = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *own]
    pieces = [(piece, score, kinds.get(piece, 1)) for piece, score in scored]
    by_bytes = int(kind == "deberta")
    write_file(tmp_path / name, pieces, charsmap(), model_type=1, byte_fallback=by_bytes)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    (tmp_path / "added_tokens.json").write_text("{}")
    found = read_tokenizer(tmp_path)
    assert found == tokenizer and "added_tokens.json is ignored" in str(found.notes[0])
    (tmp_path / name).unlink()
    write_file(tmp_path / "spiece.model", [*pieces, ("$", 0.0, 4)], model_type=1)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    assert read_tokenizer(tmp_path).vocab_size == 6  # as ALBERT’s Chinese ones have it
    if kind == "albert":
        (tmp_path / "vocab.txt").unlink()
        found = read_tokenizer(tmp_path).encode("a$a").tokens
        assert found == ["[CLS]", "▁a", "$", "▁a", "[SEP]"]  # a symbol of its own is found before all else


def test_casing_is_that_of_the_class_that_is_named_and_a_note_says_where_the_files_differ(
    tmp_path: Path,
) -> None:
    rules_of(tiny_unigram("albert"), tmp_path)
    said = tmp_path / "tokenizer_config.json"
    assert read_tokenizer(tmp_path).lowercase and not read_tokenizer(tmp_path).notes
    said.write_text(json.dumps({"tokenizer_class": "AlbertTokenizer", "do_lower_case": False}))
    found = read_tokenizer(tmp_path)
    assert not found.lowercase and found.strips
    assert [str(note) for note in found.notes] == [
        "Text is cleaned as AlbertTokenizer does it, which is not as tokenizer.json says."
    ]
    rules = rules_of(tiny_unigram(), tmp_path)
    rules["normalizer"] = {"type": "Lowercase"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules))
    assert not read_tokenizer(tmp_path).lowercase and read_tokenizer(tmp_path).notes
    said.write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    found = read_tokenizer(tmp_path)
    assert found.lowercase and not found.notes
    found.save(tmp_path)
    assert json.loads(said.read_text())["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert read_tokenizer(tmp_path) == found


def test_steps_that_splitting_at_blanks_takes_too_are_read_and_older_spellings_are(tmp_path: Path) -> None:
    tokenizer = with_map(tiny_unigram(), charsmap())
    rules = rules_of(tokenizer, tmp_path)
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    blanks = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}
    rules["normalizer"]["normalizers"] += [strip, blanks]
    rules["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    del rules["model"]["type"], rules["model"]["byte_fallback"]
    for token in rules["added_tokens"]:
        token["lstrip"] = token["content"] == "<mask>"
    rules["post_processor"] = {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}
    rules |= {"padding": {"strategy": "BatchLongest"}, "truncation": {"max_length": 2}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules))
    assert read_tokenizer(tmp_path) == tokenizer


def test_a_vocabulary_without_a_mask_opens_and_has_none() -> None:
    whole = tiny_unigram()
    assert Unigram(whole.base[:-1], whole.scores[:-1]).mask_id is None


MAP = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap()).decode()}
LEADS_OUT = struct.pack("<I", 1024) + struct.pack("<256I", *[7 << 10] * 255, 1 << 20) + b"a\0"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"normalizer": {"type": "NFC"}}, "normalizer is"),
        ({"normalizer": {"type": "Sequence", "normalizers": [MAP, {"type": "Lowercase"}]}}, "normalizer is"),
        ({"normalizer": {"type": "Sequence", "normalizers": 7}}, "normalizer is"),
        ({"normalizer": {**MAP, "precompiled_charsmap": "&"}}, "its map of characters is damaged"),
        ({"normalizer": {**MAP, "precompiled_charsmap": "AAAA"}}, "its map of characters is damaged"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "pre_tokenizer is"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}}, "replacement is"),
        (
            {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}},
            "scheme is",
        ),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False}}, "space is"),
        ({"post_processor": None}, "post_processor is"),
        ({"post_processor": {"type": "RobertaProcessing", "cls": "[CLS]"}}, "post_processor is"),
        ({"post_processor": {"single": [{"SpecialToken": 7}], "pair": "x"}}, "post_processor is"),
        ({"model": {"byte_fallback": True}}, "lacks <0x00>, <0x01>, <0x02>, <0x03>. This kind"),
        ({"model": {"byte_fallback": "yes"}}, "byte_fallback is .yes"),
        ({"model": {"unk_id": None}}, "unk_id is null"),
        ({"model": {"unk_id": 10**9}}, "unk_id is 1000000000"),
        ({"model": {"unk_id": 4}}, "unk_id is 4"),
        ({"model": {"vocab": [["a"]]}}, "each piece needs a score"),
        ({"model": {"vocab": [["a", "b"]]}}, "each piece needs a score"),
        ({"model": {"vocab": [["a", 10**400]]}}, "each piece needs a score"),
        ({"model": {"vocab": [["a", float("nan")]]}}, "holds NaN"),
        ({"model": {"vocab": {"a": 0}}}, "each piece needs a score"),
        ({"model": {"vocab": [["", 0.0], ["<unk>", 0.0]], "unk_id": 1}, "added_tokens": []}, "lacks <pad>"),
        (
            {"model": {"vocab": [["a", 0.0]]}, "added_tokens": [{"content": "<s>", "id": 9}]},
            "is damaged near",
        ),
    ],
)
def test_files_that_cut_otherwise_or_are_damaged_are_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    rules = rules_of(tiny_unigram(), tmp_path)
    for name, part in change.items():
        rules[name] = {**rules[name], **part} if name == "model" else part
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules))
    with pytest.raises((ModelError, DataError), match=said):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("piece", "score", "said"),
    [
        ("", -1.0, "cannot be a piece"),
        ("x" * 1001, -1.0, "cannot be a piece"),
        ("xyz", float("nan"), "cannot be a piece"),
        ("xyz", float("-inf"), "cannot be a piece"),
        ("film", -1.0, "holds 'film' twice"),
    ],
)
def test_pieces_that_the_library_cannot_take_are_refused(
    piece: str, score: float, said: str, tmp_path: Path
) -> None:
    whole = tiny_unigram()
    with pytest.raises(DataError, match=said):
        Unigram((*whole.base, piece), (*whole.scores, score))
    fresh = [(one, score, 1) for one, score in zip(whole.base[4:-1], whole.scores[4:-1], strict=True)]
    first = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    write_file(tmp_path / "sentencepiece.bpe.model", [*first, *fresh, (piece, score, 1)])
    with pytest.raises(DataError, match=said):
        read_tokenizer(tmp_path)


HARM = {
    "a length that nothing has": (b"\x0a" + number(2**63 - 1), "it is truncated"),
    "a number without end": (b"\xff" * 99, "a number in it has no end"),
    "a group": (b"\x0b", "a field in it is of an unknown kind"),
    "a piece that is a number": (field(1, 7), "The vocabulary lacks"),
    "a piece that is no text": (field(1, field(1, b"\xff\xfe")), "a piece in it is no text"),
    "nothing": (b"", "it holds no pieces"),
    "another model": (field(2, field(3, 2)), "its model is no Unigram model"),
    "bytes that are no pieces": (field(2, field(35, 1)), "it holds no pieces"),
    "blanks behind words": (field(2, field(24, 1)), "splits words differently"),
    "no blank before a text": (field(3, field(3, 0)), "splits words differently"),
    "a trainer that is a number": (field(2, 7), "a text in it is invalid"),
    "a map that leads out of itself": (field(3, field(2, LEADS_OUT)), "its map of characters is damaged"),
    "a map that is cut": (field(3, field(2, charsmap()[:999])), "its map of characters is damaged"),
    "a map with a page for a letter": (
        field(3, field(2, charsmap({"a": "b" * 999}))),
        "its map of characters is damaged",
    ),
    "a million fields": (b"\x20\x01" * 10**6, "it has too many fields"),
    "a million pieces": (field(1, field(1, b"a")) * 10**6, "it has too many fields"),
    "a piece of a thousand fields": (field(1, b"\x20\x01" * 1000), "it has too many fields"),
}


@pytest.mark.parametrize("what", HARM)
def test_a_file_that_means_harm_is_refused_at_once_and_takes_no_room(what: str, tmp_path: Path) -> None:
    data, said = HARM[what]
    (tmp_path / "spiece.model").write_bytes(data)
    (tmp_path / "config.json").write_text('{"vocab_size": 30000}')
    tracemalloc.start()
    refused_soon(tmp_path, said)
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()


@pytest.mark.slow
def test_a_million_pieces_and_pieces_that_share_no_beginning_are_refused_at_once(tmp_path: Path) -> None:
    rules = rules_of(tiny_unigram(), tmp_path)
    path = tmp_path / "tokenizer.json"
    rules["model"]["vocab"] = [[f"{at:x}", -1.0] for at in range(10**6)]
    path.write_text(json.dumps(rules, separators=(",", ":")))
    refused_soon(tmp_path, "too many for such a file|Cloze reads at most 600000")
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": 10**7}))
    refused_soon(tmp_path, "too many for such a file|Cloze reads at most 600000")
    names = [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    pieces = [[f"{at * 7919 % 10**6:06}" * 15, -1.0] for at in range(20_000)]
    rules["model"]["vocab"], rules["added_tokens"] = names + pieces, []
    path.write_text(json.dumps(rules, separators=(",", ":")))
    refused_soon(tmp_path, "too many different beginnings")


def refused_soon(folder: Path, said: str) -> None:
    began = time.process_time()
    with pytest.raises((ModelError, DataError), match=said):
        read_tokenizer(folder)
    assert time.process_time() - began < 15  # alone and undisturbed it is less than 3


DEBERTA_SPECIAL = [1, 0, 2, 3, 128_000]


@pytest.mark.slow
def test_debertas_pieces_of_a_file_are_those_of_sentencepiece_bytes_and_map_included(real_data: Path) -> None:
    folder = real_data / "tokenizers" / "deberta-v3"
    tokenizer = read_tokenizer(folder)
    ids = [tokenizer.cls_id, tokenizer.pad_id, tokenizer.sep_id, tokenizer.unk_id, tokenizer.mask_id]
    assert ids == DEBERTA_SPECIAL and tokenizer.vocab_size == 128_001
    raw = json.loads((folder / "expected-raw-spm.json").read_text())
    texts = [case for case in raw if not any(name in case["text"] for name in SPECIAL)]
    texts = [case for case in texts if set(case["text"]) != {"a"}]  # which has two equally likely spellings
    assert len(texts) == 40
    for case in texts:
        found = tokenizer.encode(case["text"])
        assert found.input_ids == [1, *case["ids"], 2] and found.tokens[1:-1] == case["pieces"]
    typed = tokenizer.encode("write ＜0x41> here").tokens[1:-1]  # the name of a byte, which is none
    assert typed == ["▁write", "▁<", "0", "x", "41", ">", "▁here"]
    by_bytes = [case for case in texts if any(piece.startswith("<0x") for piece in case["pieces"])]
    assert by_bytes and all(3 not in case["ids"] for case in by_bytes)


@pytest.mark.slow
def test_what_transformers_saves_of_debertas_pieces_is_cut_as_it_cuts_it(
    real_data: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    folder = real_data / "tokenizers" / "deberta-v3"
    read = read_pieces((folder / "spm.model").read_bytes(), 128_000)
    theirs = transformers.DebertaV2Tokenizer(vocab=list(zip(read.pieces, read.scores, strict=True)))
    theirs.save_pretrained(tmp_path)
    tokenizer = read_tokenizer(tmp_path)
    assert tokenizer.composes and not tokenizer.notes
    same_as_published(tokenizer, json.loads((folder / "expected.json").read_text()))
    lines = [*mixed_lines(real_data), "a\tb\r\nc\u2028d\u00a0e  f\x0bg", " \n ", "e\u0301\u0323 e\u0301"]
    for start in range(0, len(lines), 1000):
        some = lines[start : start + 1000]
        found = theirs(some, add_special_tokens=False, return_offsets_mapping=True)
        for (ids, spans), own, where in zip(
            tokenizer.encode_spans(some), found["input_ids"], found["offset_mapping"], strict=True
        ):
            assert ids.tolist() == own and spans.tolist() == list(map(list, where))
    (tmp_path / "again").mkdir()
    tokenizer.save(tmp_path / "again")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "again")
    assert type(again) is type(theirs) and again(lines[:99])["input_ids"] == theirs(lines[:99])["input_ids"]
    assert read_tokenizer(tmp_path / "again") == tokenizer


def test_a_character_that_no_piece_has_is_written_as_its_bytes_and_shown_as_itself() -> None:
    tokenizer = tiny_unigram("deberta")
    found = tokenizer.encode("film 龘\u20ac (x")
    marks = [f"<0x{byte:02X}>" for byte in "龘\u20ac".encode()]
    assert found.tokens[1:-1] == ["▁film", "▁", *marks, "▁", "(", "x"]
    assert found.continues[1:-1] == [False, False, *[True] * 6, False, True, False]
    ids = found.input_ids[2:9]
    assert tokenizer.spelled(ids[:4]) == tokenizer.as_word(ids[:4]) == "龘"
    assert tokenizer.ids_as_spelled("龘") == ids[1:4]
    assert tokenizer.spelled(ids[1:3]) == tokenizer.as_word(ids[1:3]) == "<0xE9><0xBE>"
    words = trace(tokenizer, "film 龘\u20ac (x").words
    assert [word.text for word in words] == ["▁film", "▁龘\u20ac", "▁(", "x"]
    assert words[0].outcome == "whole" and words[1].outcome == "likeliest" and not words[1].failed
    typed = ["▁", "<0x3C>", "<0x30>", "x", "<0x34>", "1", "<0x3E>"]
    assert tokenizer.encode("<0x41>").tokens[1:-1] == typed  # the name of a byte, which is none
    assert tokenizer.score_of("<0xE9>") is None and tokenizer.score_of("▁film") == -4.0
    assert "bytes" in tokenizer.splitting and "bytes" not in tiny_unigram().splitting


def test_a_tokenizer_json_of_deberta_is_read_as_it_says_and_other_ways_to_cut_are_refused(
    tmp_path: Path,
) -> None:
    tokenizer = with_map(tiny_unigram("deberta"), charsmap())
    rules = rules_of(tokenizer, tmp_path)
    assert read_tokenizer(tmp_path) == tokenizer
    steps = rules["normalizer"]["normalizers"]
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    blanks = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    of_2021 = {**rules, "normalizer": {"type": "Sequence", "normalizers": [strip, *steps, blanks]}}
    of_2021["model"] = {**rules["model"], "byte_fallback": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps(of_2021))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "DebertaV2Tokenizer"}')
    found = read_tokenizer(tmp_path)
    assert found == replace(tokenizer, byte_fallback=False) and not found.notes
    for said, message in (
        ({"split_by_punct": True}, "split_by_punct is true, not false"),
        ({"do_lower_case": "no"}, "do_lower_case is .no., not"),
        ({"mask_token": "<mask>"}, "mask_token is .<mask>., not"),
    ):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
        with pytest.raises(ModelError, match=message):
            read_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    found = read_tokenizer(tmp_path)
    assert found.lowercase and "cleaned as DebertaV2Tokenizer does it" in str(found.notes[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xlm-roberta", "deberta-v3"])
def test_ten_thousand_lines_of_mixed_scripts_have_the_ids_and_spans_that_transformers_gives(
    name: str, real_data: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = read_tokenizer(real_data / "tokenizers" / name)
    tokenizer.save(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    lines = mixed_lines(real_data)
    assert len(lines) == 10_000
    for start in range(0, len(lines), 1000):
        some = lines[start : start + 1000]
        found = theirs(some, add_special_tokens=False, return_offsets_mapping=True)
        for (ids, spans), own, where in zip(
            tokenizer.encode_spans(some), found["input_ids"], found["offset_mapping"], strict=True
        ):
            assert ids.tolist() == own and spans.tolist() == list(map(list, where))
        assert [one.tolist() for one in tokenizer.encode_ids(some)] == found["input_ids"]


def mixed_lines(real_data: Path) -> list[str]:
    """Return lines of English and Chinese; some in capitals, full width, with emoji, or of numbers."""
    lines: list[str] = []
    for name in ("enwiki2015-core", "zh-general", "zh-opensource"):
        with lzma.open(real_data / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            whole = (line.rstrip("\n")[:300] for line in file if line.strip())
            lines += [next(whole) for _ in range(2000)]
    wide = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    others = [line.upper() for line in lines[:1000]]
    others += [line.translate(wide) for line in lines[1000:2000]]
    others += [f"😀{line[:20]} 👍🏽{line[20:60]}👨‍👩‍👧 ﬁ…①" for line in lines[1500:2500]]
    others += [f"{at * 7919:,} {at / 7:.3f}% ½ ㎏ -{at}" for at in range(1000)]
    return lines + others
