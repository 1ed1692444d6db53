"""WordPieces with MPNet's special tokens: ids, spans and files are those of its own tokenizer."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError, ModelError
from engine.text.read_tokenizer import read_tokenizer
from engine.text.trace import trace
from engine.text.vocabulary import MPNET
from engine.text.wordpiece import WordPiece
from engine.text.words import words_of
from tests.engine.text.test_unigram import mixed_lines
from tests.fakes import tiny_mpnet_pieces, tiny_wordpiece

TEXT = "A good <mask>, playing 今 film <s>!"


def as_published(folder: Path) -> None:
    """Give a saved folder the post-processor, the flags and the settings of all-mpnet-base-v2."""
    rules = json.loads((folder / "tokenizer.json").read_text())
    rules["post_processor"] = {
        "type": "RobertaProcessing",
        "sep": ["</s>", 2],
        "cls": ["<s>", 0],
        "trim_offsets": True,
        "add_prefix_space": False,
    }
    rules["truncation"] = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
    (folder / "tokenizer.json").write_text(json.dumps(rules))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"bos_token": "<s>", "eos_token": "</s>", "model_max_length": 384}
    config["mask_token"] = {"content": "<mask>", "lstrip": True, "__type": "AddedToken"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


@pytest.mark.slow
def test_ten_thousand_lines_of_mixed_scripts_have_the_ids_and_spans_that_transformers_gives(
    real_data: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    berts = (real_data / "vocabs" / "bert-base-uncased-vocab.txt").read_text("utf-8").removesuffix("\n")
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *berts.split("\n"), "<mask>"]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    ours = read_tokenizer(tmp_path)
    assert ours.vocab_size == 30_527 and (ours.unk_id, ours.mask_id) == (104, 30_526)  # as published
    theirs = transformers.MPNetTokenizer(vocab=str(tmp_path / "vocab.txt"))
    lines = mixed_lines(real_data)
    assert len(lines) == 10_000
    for start in range(0, len(lines), 1000):
        some = lines[start : start + 1000]
        some[::7] = [f"{line} <mask> [MASK] <s>" for line in some[::7]]
        found = theirs(some, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        assert [one.tolist() for one in ours.encode_ids(some)] == found["input_ids"]
        for (ids, spans), wanted, offsets in zip(
            ours.encode_spans(some), found["input_ids"], found["offset_mapping"], strict=True
        ):
            assert ids.tolist() == wanted and list(map(tuple, spans.tolist())) == offsets


@pytest.mark.parametrize("left", ["tokenizer.json", "vocab.txt", ""])
def test_what_is_written_is_read_again_and_by_transformers(left: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = tiny_mpnet_pieces()
    tokenizer.save(tmp_path, model_max_length=39)
    if not left:
        as_published(tmp_path)
    (tmp_path / left).unlink() if left else None
    again = read_tokenizer(tmp_path)
    assert again == tokenizer == pickle.loads(pickle.dumps(tokenizer)) and again.names == MPNET
    assert again.fingerprint() == tokenizer.fingerprint() != tiny_wordpiece().fingerprint()
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert type(theirs).__name__ == "MPNetTokenizer" and theirs.mask_token == "<mask>"
    for texts in ((TEXT,), (TEXT, "a good film"), ("<mask>", " <mask> ")):
        found = theirs(*texts, return_offsets_mapping=True)
        ours = again.encode(*texts)
        assert found["input_ids"] == ours.input_ids
        assert "token_type_ids" not in found and len(texts) == 1 + (1 in ours.token_type_ids)


def test_a_pair_has_two_separators_between_and_both_ways_to_join_it_agree() -> None:
    tokenizer = tiny_mpnet_pieces()
    first, second = tokenizer.encode_ids(["a film", "a good play"])
    for most in (None, 7, 6):
        whole = tokenizer.encode("a film", "a good play", max_length=most)
        ids, length_a, cut = tokenizer.assemble(first, second, most)
        assert ids.tolist() == whole.input_ids and cut == whole.num_cut
        assert length_a == whole.token_type_ids.count(0)
        assert whole.tokens.count("</s>") == 3 and whole.tokens[0] == "<s>"


def test_every_step_is_explained_and_a_mask_is_a_word_without_the_space_before_it() -> None:
    tokenizer = tiny_mpnet_pieces()
    found = trace(tokenizer, TEXT)
    assert found.agrees and [word.kind for word in found.words if word.outcome == "added"] == ["added"] * 2
    assert [word.text for word in found.words if word.kind == "added"] == ["<mask>", "<s>"]
    words = [word.text for word in words_of(tokenizer.encode(TEXT), TEXT)]
    assert words == ["A", "good", "<mask>", ",", "playing", "今", "film", "<s>", "!"]
    assert tokenizer.with_masks("a [MASK] <mask>") == "a <mask> <mask>"
    assert tokenizer.special_ids == {0, 1, 2, tokenizer.unk_id, tokenizer.mask_id}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cls_token": "[CLS]"}, 'cls_token is "\\[CLS\\]", not "<s>"'),
        ({"mask_token": {"content": "[MASK]"}}, "mask_token is"),
        ({"tokenizer_class": "RobertaTokenizer"}, "splits text with RobertaTokenizer"),
    ],
)
def test_a_config_beside_it_that_is_of_another_family_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    tiny_mpnet_pieces().save(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=said):
        read_tokenizer(tmp_path)


def test_what_is_lacking_is_named() -> None:
    with pytest.raises(DataError, match=r"lacks \[UNK\]. This kind of model needs <pad>, \[UNK\], <s>, </s>"):
        WordPiece.from_tokens(["<s>", "<pad>", "</s>", "a", "<mask>"])
