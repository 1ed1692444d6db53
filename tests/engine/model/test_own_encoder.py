"""A folder with an encoder of its own, which reads whole texts; the model beside it guesses words as ever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from engine import embed, fill_mask
from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.export.archive import writing_zip
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.inspect.loaded_model import LoadedModel, fingerprint
from engine.model.bert import Bert
from engine.model.folder import ENCODER_WEIGHTS
from engine.model.heads import SequenceClassifier
from engine.model.inventory import take_stock
from engine.model.own_encoder import SHIFT, WORDS
from engine.model.weights import (
    add_encoder,
    check_weights,
    load_encoder,
    load_headed,
    load_pretraining,
    load_tensors,
    save_model,
    save_tensors,
)
from engine.train.finetune import fine_tune
from engine.train.run.runs import MODEL, chain_of, stage_name
from tests.engine.tiny_runs import tiny_config as tiny_run
from tests.fakes import same_weights, tiny_pretraining, tiny_wordpiece

NAME = "reads-texts"
TEXTS = ["good film", "bad play ! good", "q"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that guesses words, and beside it another one's encoder, unrounded."""
    path = tmp_path / "both"
    save_model(path, tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    add_encoder(path, own_encoder(), NAME, dtype=torch.float32)
    return path


def own_encoder() -> Bert:
    """Another model's encoder, whose word vectors follow from those of the model by a linear map."""
    encoder = tiny_pretraining(seed=5).bert.half().float()  # biases are kept in half precision
    words = tiny_pretraining().bert.embeddings.word.weight.detach()
    moved = words + 0.5 * words.flip(1) + 0.25
    encoder.embeddings.word.weight = torch.nn.Parameter(moved)
    return encoder.eval()


def assert_is_own(encoder: Bert) -> None:
    found = encoder.state_dict()
    for name, value in own_encoder().state_dict().items():
        exact = name != "embeddings.word.weight"  # which are fitted
        assert torch.equal(found[name], value) if exact else torch.allclose(found[name], value, atol=0.02), (
            name
        )


def test_whoever_reads_whole_texts_gets_the_encoder_and_whoever_guesses_words_the_model(folder: Path) -> None:
    encoder, report = load_encoder(folder)
    headed, _ = load_headed(folder, SequenceClassifier, ("a", "b"))
    subject = LoadedModel.open(folder, "cpu")
    for read in (encoder, headed.bert, subject.encoder):
        assert_is_own(read)
    assert subject.language is not None and subject.bert is subject.language.bert
    for guessing in (load_pretraining(folder)[0], subject.language):
        assert same_weights(guessing, tiny_pretraining())
    assert f"Texts are read by the layers of {NAME}." in map(str, report.sentences())


def test_vectors_of_texts_are_the_encoders_and_guesses_are_those_of_before(
    folder: Path, tmp_path: Path
) -> None:
    save_model(tmp_path / "alone", tiny_pretraining(), tiny_wordpiece(), {})
    save_model(tmp_path / "encoder", load_encoder(folder)[0], tiny_wordpiece(), {})
    assert np.array_equal(embed(folder, TEXTS), embed(tmp_path / "encoder", TEXTS))
    assert not np.allclose(embed(folder, TEXTS), embed(tmp_path / "alone", TEXTS), atol=1e-3)
    assert fill_mask(folder, "good [MASK] film") == fill_mask(tmp_path / "alone", "good [MASK] film")


def test_an_encoder_lies_beside_a_model_that_keeps_every_byte(folder: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "alone", tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    weights = [(one / "model.safetensors").read_bytes() for one in (folder, tmp_path / "alone")]
    assert weights[0] == weights[1]
    assert not any(name.endswith(WORDS) for name in load_tensors(folder / ENCODER_WEIGHTS))
    assert fingerprint(folder) != fingerprint(tmp_path / "alone")
    with pytest.raises(ModelError, match="different shapes"):
        add_encoder(folder, tiny_pretraining(num_hidden_layers=1).bert, NAME)


def test_eight_bits_round_each_weight_by_six_percent_at_most(folder: Path) -> None:
    add_encoder(folder, own_encoder(), NAME)
    exact, rounded = own_encoder().state_dict(), load_encoder(folder)[0].state_dict()
    for name, value in exact.items():
        if name != "embeddings.word.weight":
            assert torch.allclose(rounded[name], value, rtol=0.0625, atol=2**-10), name


def test_a_folder_without_the_encoder_that_it_names_is_refused_where_texts_are_read(folder: Path) -> None:
    (folder / ENCODER_WEIGHTS).rename(folder.parent / "aside")
    for opening in (load_encoder, check_weights, LoadedModel.open, take_stock):
        with pytest.raises(ModelError, match=f"{ENCODER_WEIGHTS}, but that file is not there"):
            opening(folder)
    (folder.parent / "aside").rename(folder / ENCODER_WEIGHTS)
    (folder / "cloze.json").write_text('{"task": "pretraining"}')  # which names no encoder
    assert same_weights(load_encoder(folder)[0], tiny_pretraining().bert)
    (folder / "cloze.json").write_text('{"encoder": {"base_model": 7}}')
    with pytest.raises(ModelError, match=r"cloze\.json is damaged"):
        load_encoder(folder)


def test_an_encoder_that_does_not_fit_the_model_is_refused(folder: Path) -> None:
    tensors = load_tensors(folder / ENCODER_WEIGHTS)
    save_tensors(folder / ENCODER_WEIGHTS, {**tensors, "pooler.other": torch.zeros(3)})
    with pytest.raises(ModelError, match=r"the model has no weight pooler\.other"):
        check_weights(folder)
    del tensors[SHIFT]
    save_tensors(folder / ENCODER_WEIGHTS, tensors)
    with pytest.raises(ModelError, match="its word vectors do not fit"):
        load_encoder(folder)


def test_what_is_fine_tuned_says_whose_layers_it_began_with(folder: Path, tmp_path: Path) -> None:
    config = tiny_run(tmp_path, model=str(folder), vocab="")
    result_of(fine_tune(config, tmp_path / "run"))
    info = json.loads((tmp_path / "run" / MODEL / "cloze.json").read_text(encoding="utf-8"))
    assert (info["base_model"], info["base_layers"]) == (str(folder), NAME) and "encoder" not in info
    last = chain_of(str(tmp_path / "run" / MODEL))[-1]
    assert (last["from"], last["layers"]) == ("both", NAME)
    assert stage_name(last) == f"classification (run, from the layers of {NAME})"


def test_exports_take_the_encoder_along_or_say_that_they_do_not(folder: Path, tmp_path: Path) -> None:
    said = result_of(writing_folder(folder, tmp_path / "copy")).said
    assert np.array_equal(embed(tmp_path / "copy", TEXTS), embed(folder, TEXTS))
    assert any(f"{ENCODER_WEIGHTS} is read by Cloze alone" in str(one) for one in said)
    result_of(writing_sentence_folder(folder, tmp_path / "sentences"))
    assert np.allclose(embed(tmp_path / "sentences", TEXTS), embed(folder, TEXTS), atol=1e-6)
    result_of(writing_zip(folder, tmp_path / "all.zip", TEXTS, with_onnx=False))
    shutil.unpack_archive(tmp_path / "all.zip", tmp_path)
    assert np.array_equal(embed(tmp_path / "all", TEXTS), embed(folder, TEXTS))
    card = (tmp_path / "all" / "README.md").read_text(encoding="utf-8")
    assert "Without files for sentence-transformers" in card
    (folder / ENCODER_WEIGHTS).unlink()
    with pytest.raises(UserError, match="is not there"):
        result_of(writing_folder(folder, tmp_path / "third"))


def test_an_inventory_counts_the_encoder_apart_from_the_model(folder: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "alone", tiny_pretraining(), tiny_wordpiece(), {})
    stock, alone = take_stock(folder), take_stock(tmp_path / "alone")
    assert (stock.encoder, alone.encoder) == (NAME, "") and stock.num_weights == alone.num_weights
    words = tiny_pretraining().bert.embeddings.word.weight
    layers = sum(value.numel() for value in own_encoder().parameters()) - words.numel()
    assert stock.num_encoder == layers + words.shape[1] * (words.shape[1] + 1)  # and the map of the words
    assert stock.num_bytes == sum(
        (folder / name).stat().st_size for name in ("model.safetensors", ENCODER_WEIGHTS)
    )
