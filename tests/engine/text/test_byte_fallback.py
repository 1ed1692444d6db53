"""Merged pieces with bytes for what is lacking: ids are those of `transformers` on mmBERT's kind of file."""

from __future__ import annotations

import json
import pickle
import resource
import time
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors, trainers

from engine.errors import DataError, ModelError
from engine.text.byte_fallback import ByteFallback
from engine.text.byte_level import ByteLevel
from engine.text.read_tokenizer import read_tokenizer
from engine.text.words import words_of
from tests.engine.text.test_unigram import mixed_lines
from tests.fakes import tiny_byte_level, tiny_fallback

TEXT = "the café, the playing(film)  今日今天 <mask> 12 ü!"
UNSPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
LINES = (
    "The river rose, and the film began.",
    "今天天气很好。",
    "Καλημέρα κόσμε",
    "добрый день мир",
    "a  b\n\tc",
)


def published(folder: Path, lines: list[str], size: int, pre_tokenizer: Any = None) -> Path:
    """Write what mmBERT's tokenizer.json holds, trained on some lines, as large as `size` at most."""
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    whole = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    whole.normalizer = normalizers.Replace(" ", "▁")
    whole.pre_tokenizer = pre_tokenizers.Metaspace("▁", "always", True)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[*names, *(f"<0x{byte:02X}>" for byte in range(256))],
        limit_alphabet=300,
        show_progress=False,
    )
    whole.train_from_iterator(lines, trainer)
    rules = json.loads(whole.to_str())
    rules["added_tokens"] = []
    whole = tokenizers.Tokenizer.from_str(json.dumps(rules))
    whole.add_special_tokens([AddedToken(name, lstrip=name == "<mask>", normalized=False) for name in names])
    whole.add_tokens([AddedToken("\n\n", normalized=False)])  # behind all, as no word of it is trained
    ids = [(name, whole.token_to_id(name)) for name in ("<bos>", "<eos>")]
    whole.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A <eos> $B <eos>", special_tokens=ids
    )
    whole.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    whole.save(str(folder / "tokenizer.json"))
    rules = json.loads((folder / "tokenizer.json").read_text())
    if pre_tokenizer is not None:
        rules["pre_tokenizer"] = pre_tokenizer
    (folder / "tokenizer.json").write_text(json.dumps(rules, ensure_ascii=False))
    config = {f"{key}_token": f"<{key}>" for key in ("pad", "unk", "bos", "eos", "mask")}
    config |= {"cls_token": "<bos>", "sep_token": "<eos>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def agrees(ours: ByteFallback, theirs: Any, lines: list[str]) -> int:
    """Compare ids and spans of some lines with transformers'; return how many pieces are bytes."""
    num_bytes = 0
    for start in range(0, len(lines), 1000):
        some = lines[start : start + 1000]
        found = theirs(some, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        whole = zip(some, ours.encode_spans(some), found["input_ids"], found["offset_mapping"], strict=True)
        for line, (ids, spans), wanted, offsets in whole:
            assert ids.tolist() == wanted
            for number, (begin, end), (first, last) in zip(wanted, spans.tolist(), offsets, strict=True):
                token = ours.tokens[number]
                is_byte = token.startswith("<0x")
                num_bytes += is_byte
                if is_byte:  # each byte is from the whole character
                    whole = line[first : first + 1]
                    assert token in {f"<0x{one:02X}>" for one in whole.encode()}
                    assert (begin, end) == (first + (not whole.strip()), first + 1)  # a blank is of no word
                elif number not in ours.special_ids:
                    spelled = token.replace("▁", " ").lstrip()
                    assert line[begin:end] == spelled and (
                        not spelled or (end, spelled) == (last, line[first:last].lstrip())
                    )
        assert [one.tolist() for one in ours.encode_ids(some)] == found["input_ids"]
    return num_bytes


@pytest.mark.slow
@pytest.mark.parametrize("splits", [True, False])
def test_ten_thousand_lines_of_mixed_scripts_have_the_ids_that_transformers_gives(
    splits: bool, real_data: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    lines = mixed_lines(real_data)
    assert len(lines) == 10_000
    published(tmp_path, lines[::7], 6000, None if splits else UNSPLIT)
    ours = read_tokenizer(tmp_path)
    assert isinstance(ours, ByteFallback) and ours.splits is splits
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert agrees(ours, theirs, lines) > 5000


@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        None,
        UNSPLIT,
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False},
        {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    ],
)
def test_a_published_file_is_read_written_and_read_again_with_the_same_ids(
    pre_tokenizer: Any, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "again").mkdir()
    published(tmp_path, [*LINES, TEXT], 400, pre_tokenizer)
    ours = read_tokenizer(tmp_path)
    assert isinstance(ours, ByteFallback)
    ours.save(tmp_path / "again", model_max_length=39)
    again = read_tokenizer(tmp_path / "again")
    assert again == ours == pickle.loads(pickle.dumps(ours))
    assert again.fingerprint() == ours.fingerprint() != tiny_fallback().fingerprint()
    first, second = (
        transformers.AutoTokenizer.from_pretrained(one) for one in (tmp_path, tmp_path / "again")
    )
    assert agrees(ours, first, [*LINES, TEXT, "", " ", "▁", "😀 <mask>a", "x\n\ny"]) > 4
    for texts in ((TEXT,), (TEXT, "a good  film"), ("<mask>", " <mask> ")):
        found = ours.encode(*texts)
        assert first(*texts)["input_ids"] == second(*texts)["input_ids"] == found.input_ids
        assert first.decode(found.input_ids) == second.decode(found.input_ids)
    assert (second.model_max_length, second.mask_token, second.cls_token) == (39, "<mask>", "<bos>")
    assert "token_type_ids" not in second("a film") and found.token_type_ids[-1] == 1


def test_words_are_whole_whatever_their_pieces_look_like(chinese_characters: None) -> None:
    for tokenizer in (tiny_fallback(), tiny_fallback(begins_with_space=False, splits=False)):
        found = tokenizer.encode(TEXT)
        words = words_of(found, TEXT)
        texts = ["the", "café", ",", "the", "playing", "(", "film", ")", "今", "日", "今天", "<mask>", "12"]
        assert [word.text for word in words] == [*texts, "ü", "!"]
        pieces = {word.text: [found.tokens[place] for place in word.pieces] for word in words}
        assert pieces["日"] == ["<0xE6>", "<0x97>", "<0xA5>"] and pieces["ü"] == ["<0xC3>", "<0xBC>"]
        assert pieces["playing"] == ["▁play", "ing"] and pieces["<mask>"] == ["<mask>"]
        assert tokenizer.with_masks("a [MASK] <mask>") == "a <mask> <mask>"


def test_a_word_is_spelled_behind_a_space_and_what_stands_behind_a_letter_keeps_a_mark() -> None:
    tokenizer = tiny_fallback()
    film = tokenizer.ids_of_word("film")
    assert [tokenizer.tokens[number] for number in film] == ["▁film"]
    assert tokenizer.as_word(film) == "film" and tokenizer.ids_as_spelled("film") == film
    glued = tokenizer.ids_as_spelled("…film")
    assert [tokenizer.tokens[number] for number in glued] == ["film"] and tokenizer.as_word(glued) == "…film"
    assert tokenizer.may_go_on[glued[0]] and not tokenizer.may_go_on[film[0]]
    assert not tokenizer.may_go_on[list(tokenizer.special_ids)].any()
    some = tokenizer.encode_ids(["日"])[0].tolist()
    assert tokenizer.as_word(some) == "日" and tokenizer.as_word(some[:2]) == "▁<0xE6>"
    assert tokenizer.shown[some[1]] == "<0xE6>" and tokenizer.shown[film[0]] == "▁film"


def test_a_pair_has_its_separator_between_and_both_ways_to_join_it_agree() -> None:
    tokenizer = tiny_fallback()
    first, second = tokenizer.encode_ids(["the film", "a play"])
    for most in (None, 6, 5):
        whole = tokenizer.encode("the film", "a play", max_length=most)
        ids, length_a, cut = tokenizer.assemble(first, second, most)
        assert ids.tolist() == whole.input_ids and cut == whole.num_cut
        assert length_a == whole.token_type_ids.count(0)
        assert whole.input_ids.count(tokenizer.sep_id) == 2 and whole.tokens[0] == "<bos>"


def test_spaces_are_written_by_the_splitting_where_nothing_is_normalized(tmp_path: Path) -> None:
    tokenizer = tiny_fallback()
    tokenizer.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    rules = json.loads(path.read_text())
    rules["normalizer"] = None
    rules["model"]["merges"] = [" ".join(merge) for merge in rules["model"]["merges"]]
    path.write_text(json.dumps(rules))
    whole = tokenizers.Tokenizer.from_str(json.dumps(rules))
    assert read_tokenizer(tmp_path).encode(TEXT).input_ids == whole.encode(TEXT).ids
    assert read_tokenizer(tmp_path) == tokenizer


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"normalizer": {"type": "NFC"}}, "does not cut texts as mmBERT does: normalizer is"),
        ({"normalizer": None, "pre_tokenizer": None}, "normalizer is null"),
        ({"pre_tokenizer": {**UNSPLIT, "behavior": "Isolated"}}, "pre_tokenizer is"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}}, "replacement is"),
        (
            {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}},
            "scheme is",
        ),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "split": 1}}, "split is 1"),
        ({"post_processor": None}, "single is null"),
        ({"post_processor": {"type": "TemplateProcessing", "single": 7}}, "single is 7"),
        ({"model": {"fuse_unk": False}}, "fuse_unk is false"),
        ({"model": {"unk_token": "[UNK]"}}, "unk_token is"),
        ({"model": {"dropout": 0.1}}, "dropout is"),
        ({"model": {"ignore_merges": True}}, "ignore_merges is true"),
        ({"model": {"merges": [["a"]]}}, "a merge is of two pieces"),
        ({"model": {"merges": ["x ▁"]}}, "joins 'x' and '▁', and lacks one of the pieces"),
        ({"model": {"vocab": {"a": 1}}}, "is damaged near"),
        ({"model": {"vocab": {"a": 0}, "merges": []}, "added_tokens": []}, "The vocabulary lacks <pad>"),
    ],
)
def test_files_that_cut_otherwise_or_are_damaged_are_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    tiny_fallback().save(tmp_path)
    path = tmp_path / "tokenizer.json"
    rules = json.loads(path.read_text())
    for name, part in change.items():
        rules[name] = {**rules[name], **part} if name == "model" else part
    path.write_text(json.dumps(rules))
    with pytest.raises((ModelError, DataError), match=said):
        read_tokenizer(tmp_path)


@pytest.mark.slow
def test_a_million_merges_are_refused_in_a_moment(tmp_path: Path) -> None:
    tiny_fallback().save(tmp_path)
    path = tmp_path / "tokenizer.json"
    rules = json.loads(path.read_text())
    for entry in ("a b", ["a", "b"]):
        rules["model"]["merges"] = [entry] * 10**6
        path.write_text(json.dumps(rules))
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with pytest.raises(ModelError, match="joins 1000000 pairs of pieces; Cloze reads at most 700000"):
            read_tokenizer(tmp_path)
        assert time.process_time() - began < 15  # 2 s in a process of its own; here there is much to collect
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KB


def test_its_neighbours_are_read_as_before(tmp_path: Path) -> None:
    tiny_byte_level().save(tmp_path)
    assert type(read_tokenizer(tmp_path)) is ByteLevel
