"""A model folder opened for looking inside: which heads it has, what it refuses, what its words are."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

import engine.inspect.loaded_model as subject_module
from engine.errors import ModelError, UserError
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.bert import Bert
from engine.model.weights import save_model
from engine.text.tokenizer import Tokenizer
from engine.text.words import words_of
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.classification.reading import OneLabel
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.known import TASKS
from tests.fakes import (
    LABELS,
    foreign_folder,
    model_folder,
    scramble,
    stored_tensors,
    tiny_classifier,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)


class Upside(OneLabel):
    def answering(
        self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer
    ) -> Classification:
        return Classification(labels[::-1])


class Upsiding(Classifying):
    name, reading = "upside", Upside()


def test_a_model_answers_by_its_own_task_where_two_share_a_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, Upsiding.name, Upsiding())
    save_model(tmp_path / "model", tiny_classifier(), tiny_wordpiece(), {"task": Upsiding.name})
    assert LoadedModel.open(tmp_path / "model").predictor().labels == tuple(LABELS)[::-1]


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
    classifier = LoadedModel.open(model_folder(tmp_path / "labels"))
    assert (classifier.labels, classifier.has_masked_words, classifier.has_next_sentence) == (
        *(LABELS, False),
        False,
    )
    talker = LoadedModel.open(language)
    assert (talker.labels, talker.has_masked_words, talker.has_next_sentence) == ((), True, True)
    assert talker.language is not None and talker.language.bert is talker.bert
    bare = LoadedModel.open(encoder)
    assert (bare.labels, bare.language, bare.classifier) == ((), None, None)


def test_a_head_that_is_not_there_is_refused_with_the_way(encoder: Path) -> None:
    subject = LoadedModel.open(encoder)
    for what, words in (
        ("masked_words", "no trained masked-word head"),
        ("next_sentence", "not trained on next sentences"),
        ("labels", "is not a classifier"),
    ):
        with pytest.raises(ModelError, match=words) as caught:
            subject.require(what)
        assert "encoder" in str(caught.value)


def test_a_model_that_was_pretrained_without_next_sentences_does_not_answer_them(tmp_path: Path) -> None:
    save_model(tmp_path / "m", tiny_pretraining(), tiny_wordpiece(), {"next_sentence": False})
    subject = LoadedModel.open(tmp_path / "m")
    assert subject.has_masked_words and not subject.has_next_sentence


def test_the_fingerprint_is_that_of_the_weights_file(language: Path) -> None:
    digest = hashlib.sha256((language / "model.safetensors").read_bytes()).hexdigest()
    assert LoadedModel.open(language).fingerprint == digest[:12]


def test_the_fingerprint_of_shards_is_that_of_all_their_files(language: Path, tmp_path: Path) -> None:
    weights = stored_tensors(language)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(language / name, tmp_path)
    found = []
    for seed in (0, 1):
        shift = {"cls.predictions.bias": weights["cls.predictions.bias"] + seed}
        shards = {"a.safetensors": weights, "b.safetensors": shift}
        homes = {weight: name for name, shard in shards.items() for weight in shard}
        for name, shard in shards.items():
            save_file(shard, tmp_path / name)
        shutil.copy(language / "config.json", tmp_path)
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": homes}))
        found.append(LoadedModel.open(tmp_path).fingerprint)
    assert found[0] != found[1]


@pytest.mark.parametrize("part", ["cls.seq_relationship", "pooler"])
def test_next_sentences_need_their_head_and_the_pooler(part: str, language: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in stored_tensors(language).items() if part not in name}
    folder = foreign_folder(tmp_path / "foreign", kept, {"id2label": {}, "label2id": {}})
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(language / name, folder)
    subject = LoadedModel.open(folder)
    assert subject.has_masked_words and not subject.has_next_sentence
    assert subject.about.has_pooler == (subject.bert.pooler is not None) == (part != "pooler")
    assert not any("random" in str(note) for note in subject.notes)
    expected = [one.guesses for one in probe(LoadedModel.open(language), "good [MASK]").answers]
    assert [one.guesses for one in probe(subject, "good [MASK]").answers] == expected


def test_a_folder_that_is_replaced_while_it_is_opened_is_read_again(
    language: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, reading = LoadedModel.open(language), subject_module.read_info

    def meanwhile(folder: Path) -> dict[str, Any]:
        monkeypatch.setattr(subject_module, "read_info", reading)
        save_model(folder, tiny_pretraining(seed=1), tiny_wordpiece(), {"next_sentence": True})
        return {"next_sentence": False}  # of the older folder

    monkeypatch.setattr(subject_module, "read_info", meanwhile)
    subject = LoadedModel.open(language)
    assert subject.has_next_sentence and subject.fingerprint != first.fingerprint
    monkeypatch.setattr(subject_module, "stamps", lambda _: object())
    with pytest.raises(ModelError, match="is being written to"):
        LoadedModel.open(language)


@pytest.mark.parametrize(
    ("text", "pair", "words"),
    [
        (" ", None, "no text to look at"),
        ("good", " ", "second text is empty"),
        ("a " * 40, None, "at most 41"),
        ("\u200b", None, "no text to look at"),
        ("good", "\u200b", "second text is empty"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(
    language: Path, text: str, pair: str | None, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        LoadedModel.open(language).encode(text, pair)


def test_the_beginning_of_a_text_that_is_too_long_is_whole_words_that_fit(language: Path) -> None:
    about = LoadedModel.open(language).about
    long = "good playing film, " * 40
    for text, pair in ((long, None), (long, "bad play"), ("a film", long)):
        with pytest.raises(UserError, match="at most"):
            about.encode(text, pair)
        cut, cut_pair = about.beginning(text, pair)
        read = about.encode(cut, cut_pair)
        assert about.max_length - 2 <= len(read.input_ids) <= about.max_length  # a word has up to 2 pieces
        assert text.startswith(cut) and (cut.endswith(("good", "playing", "film", ",")))
        assert cut_pair is None if pair is None else pair.startswith(cut_pair or "-")
    assert about.beginning("a film", "bad play") == ("a film", "bad play")


def test_nothing_in_a_subject_can_be_trained_by_accident(language: Path) -> None:
    subject = LoadedModel.open(language)
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
