"""What a folder holds is told from the heads of its files, and is what opening it finds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import ModelError
from engine.inspect.loaded_model import LoadedModel
from engine.model.arithmetic import arithmetic
from engine.model.bert import Bert
from engine.model.inventory import ENCODER, Inventory, take_stock
from engine.model.weights import save_model
from tests.fakes import (
    LABELS,
    foreign_folder,
    model_folder,
    scramble,
    stored_tensors,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)


@pytest.fixture
def language(tmp_path: Path) -> Path:
    folder = tmp_path / "language"
    save_model(folder, tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    return folder


def sums_up(found: Inventory) -> bool:
    parts = arithmetic(found.config, found.heads).parts
    return {part.key: part.count for part in parts} == dict(found.counts)


def test_every_weight_of_a_folder_is_in_the_formulas_sum(language: Path, tmp_path: Path) -> None:
    bare = Bert(tiny_config(), with_pooler=False)
    scramble(bare)
    save_model(tmp_path / "bare", bare, tiny_wordpiece(), {})
    for folder, answers in (
        (language, ("masked_words", "next_sentence")),
        (model_folder(tmp_path / "classifier"), ("labels",)),
        (tmp_path / "bare", ()),
    ):
        found = take_stock(folder)
        stored = sum(tensor.numel() for tensor in stored_tensors(folder).values())
        assert sums_up(found) and found.num_weights == stored and not found.leftovers
        assert found.answers == answers and found.kinds == ("float32",)
        assert found.num_bytes == (folder / "model.safetensors").stat().st_size
    assert not found.heads.pooler and found.count_of(ENCODER) == stored


def test_it_can_be_asked_what_an_opened_model_can(language: Path, tmp_path: Path) -> None:
    for folder in (language, model_folder(tmp_path / "classifier")):
        about, found = LoadedModel.open(folder).about, take_stock(folder)
        assert found.answers == tuple(
            what for what in ("masked_words", "next_sentence", "labels") if about.has(what)
        )
        assert found.labels == about.labels
        assert sum(found.counts[key] for key in found.counts if key not in HEADS) == about.num_parameters


HEADS = ("masked_words", "next_sentence", "classifier")


def test_what_cannot_be_used_is_told_and_left_out_of_the_sum(language: Path, tmp_path: Path) -> None:
    tensors = stored_tensors(language)
    whole = sum(tensor.numel() for tensor in tensors.values())
    tied = {
        **tensors,
        "cls.predictions.decoder.weight": tensors["bert.embeddings.word_embeddings.weight"].clone(),
    }
    found = take_stock(foreign_folder(tmp_path / "tied", tied, {"id2label": {}}))
    assert sums_up(found) and found.num_weights == whole and found.num_again == 37 * 12

    other = {
        **tied,
        "cls.predictions.decoder.weight": torch.zeros(37, 12),
        "qa_outputs.weight": torch.ones(2, 12),
    }
    folder = foreign_folder(tmp_path / "untied", {**other, "strange": torch.ones(5)}, {"id2label": {}})
    found = take_stock(folder)
    assert "word weights" in str(found.refused["masked_words"]) and found.answers == ("next_sentence",)
    left = {one.what: one.num_weights for one in found.leftovers}
    head = 12 * 12 + 3 * 12 + 37
    assert left == {
        "masked-word head": head,
        "its own word weights": 37 * 12,
        "question answering": 24,
        "strange": 5,
    }
    assert sums_up(found) and found.num_weights == whole - head
    assert take_stock(folder, thorough=False).answers == ("masked_words", "next_sentence")


def test_a_head_without_the_pooler_answers_nothing(language: Path, tmp_path: Path) -> None:
    tensors = {name: value for name, value in stored_tensors(language).items() if "pooler" not in name}
    found = take_stock(foreign_folder(tmp_path / "next", tensors, {"id2label": {}}))
    assert found.answers == ("masked_words",) and sums_up(found)
    stored = stored_tensors(model_folder(tmp_path / "whole"))
    half = {name: value for name, value in stored.items() if "pooler" not in name}
    found = take_stock(foreign_folder(tmp_path / "classifier", half))
    assert found.answers == () and [one.what for one in found.leftovers] == ["classifier"] and sums_up(found)


def test_a_classifier_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    stored = stored_tensors(model_folder(tmp_path / "whole"))
    stored["classifier.weight"] = torch.zeros(len(LABELS) + 1, 12)
    found = take_stock(foreign_folder(tmp_path / "odd", stored))
    assert "does not fit" in str(found.refused["classifier"]) and found.labels == () and sums_up(found)


def test_what_opening_refuses_is_refused(tmp_path: Path) -> None:
    stored = stored_tensors(model_folder(tmp_path / "whole"))
    del stored["bert.encoder.layer.1.output.dense.bias"]
    with pytest.raises(ModelError, match="lacks 1 of the"):
        take_stock(foreign_folder(tmp_path / "lacking", stored))
    with pytest.raises(ModelError, match=r"no config\.json"):
        take_stock(tmp_path)


def test_half_precision_is_told(tmp_path: Path) -> None:
    save_model(tmp_path / "half", tiny_pretraining(), tiny_wordpiece(), {}, dtype=torch.float16)
    assert take_stock(tmp_path / "half").kinds == ("float16",)
