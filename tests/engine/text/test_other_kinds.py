"""Three kinds of vocabularies learned from the same texts, small and on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import Progress
from engine.text.byte_level import ByteLevel
from engine.text.corpus import other_kinds
from engine.text.corpus.other_kinds import KINDS, three_kinds, train_byte_level, train_unigram
from engine.text.merges import merges_of
from engine.text.read_tokenizer import read_tokenizer
from engine.text.trace import trace
from engine.text.unigram import Unigram
from engine.text.wordpiece import WordPiece
from tests.engine.steps import drained

TEXTS = ["the film was good and the play was good", "a good film, played again", "中国人民爱看电影"] * 7


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    return tmp_path / "text.txt"


def test_bytes_are_joined_into_what_is_frequent_and_nothing_is_unknown(text: Path) -> None:
    found = train_byte_level(text, 280)
    assert found == train_byte_level(text, 280) and found.vocab_size <= 280
    assert "Ġgood" in found.tokens and len(found.merges) == found.vocab_size - 256 - 5
    ids = found.encode("x 😀 the good film").input_ids
    assert found.unk_id not in ids and found.tokens[ids[-2]] == "Ġfilm"
    traced = trace(found, "the good film")
    assert merges_of(found, traced, traced.words[1]) is not None


def test_scored_pieces_spell_the_texts_and_have_a_score_each(text: Path) -> None:
    found = train_unigram(text, 70)
    assert found.vocab_size <= 70  # which pieces, differs from time to time
    assert found.unk_id not in found.encode("the good film 中国").input_ids
    assert found.unk_id in found.encode("😀").input_ids
    assert all(score < 0 for score in found.scores[4:-1])
    assert found.cleaning.startswith("Nothing is changed")


def test_three_are_trained_once_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, folders = drained(three_kinds(TEXTS, 400, tmp_path))
    assert [type(read_tokenizer(folder)) for folder in folders] == [WordPiece, ByteLevel, Unigram]
    assert [folder.name for folder in folders] == list(KINDS)
    assert any(isinstance(event, Progress) for event in events)
    assert {path.name for path in folders[0].parent.iterdir()} == set(KINDS)
    monkeypatch.setattr(other_kinds, "train_unigram", None)  # it would not be called again
    assert drained(three_kinds(TEXTS, 400, tmp_path)) == ([], folders)
    other = three_kinds([*TEXTS, "more"], 400, tmp_path)
    next(other)
    other.close()
    assert {path.name for path in tmp_path.iterdir()} == {folders[0].parent.name}  # nothing half done
