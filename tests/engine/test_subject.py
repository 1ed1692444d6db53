"""A model folder opened for looking inside: which heads it has, what it refuses, what its words are."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from engine.errors import ModelError, UserError
from engine.inspect.subject import Subject
from engine.model.bert import Bert
from engine.model.weights import save_model
from engine.text.words import words_of
from tests.fakes import (
    LABELS,
    model_folder,
    scramble,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)


@pytest.fixture
def language(tmp_path: Path) -> Path:
    save_model(tmp_path / "language", tiny_pretraining(), tiny_wordpiece(), {"next_sentence": True})
    return tmp_path / "language"


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    bert = Bert(tiny_config())
    scramble(bert)
    save_model(tmp_path / "encoder", bert, tiny_wordpiece())
    return tmp_path / "encoder"


def test_a_subject_has_the_heads_its_folder_has(tmp_path: Path, language: Path, encoder: Path) -> None:
    classifier = Subject.open(model_folder(tmp_path / "labels"))
    assert (classifier.labels, classifier.has_masked_words, classifier.has_next_sentence) == (
        *(LABELS, False),
        False,
    )
    talker = Subject.open(language)
    assert (talker.labels, talker.has_masked_words, talker.has_next_sentence) == ((), True, True)
    assert talker.language is not None and talker.language.bert is talker.bert
    bare = Subject.open(encoder)
    assert (bare.labels, bare.language, bare.classifier) == ((), None, None)


def test_a_head_that_is_not_there_is_refused_with_the_way(encoder: Path) -> None:
    subject = Subject.open(encoder)
    for what, words in (
        ("masked_words", "no trained masked-word head"),
        ("next_sentence", "not trained on next sentences"),
        ("labels", "is no classifier"),
    ):
        with pytest.raises(ModelError, match=words) as caught:
            subject.require(what)
        assert "encoder" in str(caught.value)


def test_a_model_that_was_pretrained_without_next_sentences_does_not_answer_them(tmp_path: Path) -> None:
    save_model(tmp_path / "m", tiny_pretraining(), tiny_wordpiece(), {"next_sentence": False})
    subject = Subject.open(tmp_path / "m")
    assert subject.has_masked_words and not subject.has_next_sentence


def test_the_fingerprint_is_that_of_the_weights_file(language: Path) -> None:
    digest = hashlib.sha256((language / "model.safetensors").read_bytes()).hexdigest()
    assert Subject.open(language).fingerprint == digest[:12]


@pytest.mark.parametrize(
    ("text", "pair", "words"),
    [
        (" ", None, "no text to look at"),
        ("good", " ", "second text is empty"),
        ("a " * 40, None, "at most 41"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(
    language: Path, text: str, pair: str | None, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        Subject.open(language).encode(text, pair)


def test_nothing_in_a_subject_can_be_trained_by_accident(language: Path) -> None:
    subject = Subject.open(language)
    assert subject.language is not None
    assert not any(weight.requires_grad for weight in subject.language.parameters())


def test_pieces_that_go_on_belong_to_one_word_and_specials_to_none() -> None:
    wordpiece = tiny_wordpiece()
    text, pair = "Playing good-film! [MASK]", "a filming"
    words = words_of(wordpiece.encode(text, pair), text, pair)
    assert [word.text for word in words] == [
        *("Playing", "good", "-", "film", "!", "[MASK]"),
        *("a", "filming"),
    ]
    assert [word.segment for word in words] == [0] * 6 + [1] * 2
    assert [len(word.pieces) for word in words] == [2, 1, 1, 1, 1, 1, 1, 2]
    assert all((text, pair)[word.segment][word.start : word.stop] == word.text for word in words)
