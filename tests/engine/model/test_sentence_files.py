"""What sentence-transformers' files say is read, in both spellings, and its vectors are made so."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine import embed
from engine.inspect.embeddings.vectors import KINDS, kinds_of
from engine.inspect.loaded_model import LoadedModel
from engine.model.sentence_files import POOLINGS, SentenceConfig, read_sentence_files
from tests.fakes import model_folder

TEXTS = ("good film", "a bad bad film !", "q")
OLD, NEW = "sentence_transformers.models.", "sentence_transformers.sentence_transformer.modules.pooling."


def described(folder: Path, pooling: Any, *more: str, start: str = OLD, **settings: Any) -> Path:
    """Add sentence-transformers' files to a model folder."""
    kinds = ["Transformer", "Pooling", *more]
    places = ["", *(f"{place}_{kind}" for place, kind in enumerate(kinds[1:], start=1))]
    table = [
        {"idx": place, "name": str(place), "path": path, "type": start + kind}
        for place, (kind, path) in enumerate(zip(kinds, places, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(table))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    """The last hidden states of each text, (T, D)."""
    subject = LoadedModel.open(model_folder(tmp_path_factory.mktemp("states") / "model"), "cpu")
    found = []
    for text in TEXTS:
        ids = torch.tensor([subject.encode(text).input_ids])
        with torch.inference_mode():
            found.append(subject.bert(ids).last_hidden_state[0].numpy())
    return found


MADE = {
    "cls": lambda one: one[0],
    "mean": lambda one: one.mean(0),
    "max": lambda one: one.max(0),
    "mean_sqrt_len_tokens": lambda one: one.sum(0) / np.sqrt(len(one)),
    "weightedmean": lambda one: (
        (one * np.arange(1, len(one) + 1)[:, None]).sum(0) / np.arange(len(one) + 1).sum()
    ),
    "lasttoken": lambda one: one[-1],
}


@pytest.mark.parametrize("pooling", POOLINGS)
def test_each_pooling_is_read_in_both_spellings_and_used(
    pooling: str, folder: Path, states: list[np.ndarray]
) -> None:
    flags = {flag: name == pooling for name, flag in POOLINGS.items()} | {"word_embedding_dimension": 12}
    wanted = np.stack([MADE[pooling](one) for one in states])
    described(folder, flags)
    assert read_sentence_files(folder)[0] == SentenceConfig(pooling, max_length=41)
    np.testing.assert_allclose(embed(folder, TEXTS), wanted, atol=1e-5)
    described(folder, {"embedding_dimension": 12, "pooling_mode": pooling}, "Normalize", start=NEW)
    assert read_sentence_files(folder)[0] == SentenceConfig(pooling, is_normed=True, max_length=41)
    lengths = np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(embed(folder, TEXTS), wanted / lengths, atol=1e-5)
    np.testing.assert_allclose(
        embed(folder, TEXTS, pooling="max"), np.stack([s.max(0) for s in states]), atol=1e-5
    )


def test_texts_are_cut_as_sentence_transformers_cuts_them(folder: Path) -> None:
    described(folder, {"pooling_mode": ["mean"]}, max_seq_length=4)
    assert read_sentence_files(folder)[0] == SentenceConfig("mean", max_length=4)
    first, second = embed(folder, ["good bad film", "good bad"])
    assert np.allclose(first, second, atol=1e-6)


def test_what_is_not_done_is_said(folder: Path) -> None:
    def notes() -> str:
        return "\n".join(map(str, LoadedModel.open(folder, "cpu").notes))

    assert "sentence" not in kinds_of(LoadedModel.open(folder, "cpu").about) and "sentence-tr" not in notes()
    described(folder, {"pooling_mode_mean_tokens": True}, "Dense")
    assert "by Dense after the pooling. Cloze does not" in notes()
    assert kinds_of(LoadedModel.open(folder, "cpu").about)[0] == "sentence" == next(iter(KINDS))
    described(folder, {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True})
    assert "join several poolings (cls, mean)" in notes()
    (folder / "config_sentence_transformers.json").write_text('{"default_prompt_name": "query"}')
    described(folder, {"pooling_mode_mean_tokens": True})
    assert "puts a prompt before each text" in notes()


@pytest.mark.skipif(os.name == "nt", reason="pipes, links")
def test_files_that_are_damaged_or_lead_out_leave_the_model_as_it_is(folder: Path) -> None:
    outside = folder.parent / "outside.json"
    outside.write_text('{"pooling_mode": "max"}')

    def told() -> str:
        found, notes = read_sentence_files(folder)
        assert found is None and len(notes) == 1
        return str(notes[0])

    entry = {"type": f"{OLD}Pooling", "path": "1_Pooling"}
    places = [[{**entry, "path": path}] for path in ("../outside", "..", "/etc", "none", None)]
    for table in ([7], {}, [], 7, [entry] * 99, [{**entry, "type": None}], *places):
        (folder / "modules.json").write_text(json.dumps(table))
        assert "is not known" in told()
    for pooling in ({"pooling_mode": "sum"}, {"pooling_mode": []}, {"pooling_mode": 7}, [1]):
        assert "is not known" in told() if described(folder, pooling) else ""
    described(folder, {"pooling_mode": "max"})
    (folder / "1_Pooling" / "config.json").unlink()
    (folder / "1_Pooling" / "config.json").symlink_to(outside)
    assert "link to a place outside" in told()
    (folder / "modules.json").unlink()
    os.mkfifo(folder / "modules.json")
    assert "pipe" in told()
    assert embed(folder, ["good"]).shape == (1, 12)
