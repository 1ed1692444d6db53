"""A vocabulary without some of its pieces: what stays splits as before, and nothing becomes unknown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.text.byte_level import MODERNBERT
from engine.text.fewer import fewer, must_keep, order_of, with_parts
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece
from tests.fakes import tiny_byte_level, tiny_unigram

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("good", "bad", "film", "the", "play", "##ing", ",", "!")
KINDS: dict[str, Tokenizer] = {
    "WordPiece": WordPiece((*SPECIALS, *LETTERS, *(f"##{one}" for one in LETTERS), *WORDS), lowercase=True),
    "RoBERTa": tiny_byte_level(),
    "ModernBERT": tiny_byte_level(MODERNBERT),
    "XLM-R": tiny_unigram(),
    "CamemBERT": tiny_unigram("camembert"),
    "ALBERT": tiny_unigram("albert"),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def smaller(tokenizer: Tokenizer, wanted: list[int], size: int = 10**6) -> Tokenizer:
    return fewer(tokenizer, order_of(tokenizer, with_parts(tokenizer, must_keep(tokenizer), wanted, size)))


@every_kind
def test_the_least_there_can_be_spells_what_all_of_it_spells(kind: str) -> None:
    whole = KINDS[kind]
    least = smaller(whole, [])
    assert least.vocab_size < whole.vocab_size and not set(least.tokens) - set(whole.tokens)
    for text in ("the good film", "playing, café", "bad 12 ([MASK])", "今天"):
        known = whole.unk_id not in whole.encode(text).input_ids
        found = least.encode(text).input_ids
        assert (least.unk_id not in found) == known
        if known and kind != "WordPiece":
            assert least.spelled(found[1:-1]) == whole.spelled(whole.encode(text).input_ids[1:-1])
    assert [least.tokens[number] for number in sorted(least.special_ids)] == [
        whole.tokens[number] for number in sorted(whole.special_ids)
    ]


@every_kind
def test_a_text_whose_pieces_are_kept_is_split_as_before(kind: str) -> None:
    whole, text = KINDS[kind], "a good film, the play"
    ids = whole.encode_ids([text])[0].tolist()
    new = smaller(whole, ids)
    assert new.vocab_size < whole.vocab_size
    assert [new.tokens[number] for number in new.encode(text).input_ids] == [
        whole.tokens[number] for number in whole.encode(text).input_ids
    ]


def test_a_merged_piece_comes_with_those_that_it_is_joined_from() -> None:
    whole = tiny_byte_level()
    film = whole.tokens.index("Ġfilm")
    new = smaller(whole, [film])
    assert {"fi", "fil", "film", "Ġfilm"} <= set(new.tokens) and "Ġthe" not in new.tokens
    assert new.encode(" film").tokens[1:-1] == ["Ġfilm"]
    without = smaller(whole, [film], len(must_keep(whole)) + 3)  # it needs four more
    assert "Ġfilm" not in without.tokens and without.vocab_size == len(must_keep(whole))


def test_the_least_likely_piece_stays_for_it_says_how_unlikely_the_unknown_is() -> None:
    whole = tiny_unigram("camembert")
    assert whole.scores.index(min(whole.scores)) in must_keep(whole)


def test_a_kind_that_is_not_known_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="of this kind smaller. Leave trim_vocab at 0"):
        must_keep(Tokenizer())


def test_what_is_left_is_written_and_read_again(tmp_path: Path) -> None:
    for kind, whole in KINDS.items():
        new = smaller(whole, whole.encode_ids(["a film"])[0].tolist())
        (tmp_path / kind).mkdir()
        new.save(tmp_path / kind)
        assert read_tokenizer(tmp_path / kind) == new, kind


def test_a_real_vocabulary_shrinks_to_a_sixth_and_splits_what_it_kept_as_before(real_data: Path) -> None:
    folder = real_data / "tokenizers" / "roberta"
    whole = read_tokenizer(folder)
    cases = [case["text"] for case in json.loads((folder / "expected.json").read_text())["cases"]]
    counts = np.bincount(np.concatenate(whole.encode_ids(cases)), minlength=whole.vocab_size)
    wanted = np.flatnonzero(counts)
    new = smaller(whole, wanted.tolist(), 8_000)
    assert new.vocab_size < 8_000
    for text in cases:
        assert new.encode(text).tokens == whole.encode(text).tokens
    for text in ("Zürich’s unforeseeable weather", "我爱北京天安门 🇨🇭", "\x00\t \n"):
        found = new.encode_ids([text])[0]
        assert new.spelled(found.tolist()) == whole.spelled(whole.encode_ids([text])[0].tolist())
