"""What a model may know before its first step: nothing of the documents that it is measured on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from engine.device import Device
from engine.events import result_of
from engine.model.bert import initialize
from engine.model.heads import PreTraining
from engine.settings.pretrain import PretrainConfig
from engine.settings.shared import DeviceConfig
from engine.train import lifecycle
from engine.train.pretraining import forecast as forecasting
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.first_weights import frequencies, starting_model
from tests.engine.tiny_texts import encoder_folder, text_config
from tests.fakes import same_weights

NAMES = [f"x{chr(97 + number)}" for number in range(20)]  # one for each document, where it is frequent


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


def document(number: int) -> str:
    name = NAMES[number]
    return "\n".join(
        f"the {name} sees the {name} and the other {verb} it ." for verb in ("eats", "finds", "has")
    )


def written(path: Path, numbers: list[int]) -> Path:
    path.write_text("\n\n".join(map(document, numbers)) + "\n", encoding="utf-8")
    return path


def settings(folder: Path, **changes: Any) -> PretrainConfig:
    """Return settings of a run over 20 documents of one size, each with a name of its own."""
    vocabulary = folder / "names.txt"
    specials = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    words = ("the", "sees", "and", "other", "eats", "finds", "has", "it", ".")
    vocabulary.write_text("\n".join((*specials, *words, *NAMES)) + "\n", encoding="utf-8")
    text = str(written(folder / "names-text.txt", list(range(20))))
    values = {"text": text, "vocab": str(vocabulary), "validation_share": 0.2, "lowercase": "yes"}
    return text_config(folder, **{**values, **changes})


def apart(setup: pretraining_setup.PretrainSetup, config: PretrainConfig) -> list[int]:
    return pretraining_setup.split(setup, config)[3].tolist()


def test_a_name_that_stands_only_in_documents_kept_apart_starts_unknown(tmp_path: Path) -> None:
    config = settings(tmp_path)
    setup = result_of(pretraining_setup.prepare(config))
    model, _ = result_of(starting_model(config, setup))
    held_out = apart(setup, config)
    assert 3 <= len(held_out) <= 5
    plain = PreTraining(setup.config)
    initialize(plain, setup.config.initializer_range, config.budget.seed)
    words, random_words = (m.bert.embeddings.word.weight for m in (model, plain))
    counted = frequencies(setup, config)
    for number, name in enumerate(NAMES):
        piece = setup.wordpiece.tokens.index(name)
        is_unknown = torch.equal(words[piece], random_words[piece])
        assert is_unknown == (number in held_out), name
        assert (model.bias[piece] == model.bias.min()) == (number in held_out), name
        assert counted[piece] == (0 if number in held_out else 6), name


@pytest.mark.parametrize("next_sentence", [True, False])
def test_a_model_starts_as_if_what_is_kept_apart_were_not_there(tmp_path: Path, next_sentence: bool) -> None:
    config = settings(tmp_path, next_sentence=next_sentence)
    setup = result_of(pretraining_setup.prepare(config))
    held_out = apart(setup, config)
    learned = written(tmp_path / "learned.txt", [n for n in range(20) if n not in held_out])
    other = written(tmp_path / "apart.txt", held_out)
    two_files = settings(tmp_path, text=str(learned), validation_text=str(other), next_sentence=next_sentence)
    first, _ = result_of(starting_model(config, setup))
    second, _ = result_of(starting_model(two_files, result_of(pretraining_setup.prepare(two_files))))
    assert same_weights(first, second)


def test_of_a_single_document_the_end_that_is_kept_apart_is_not_counted(tmp_path: Path) -> None:
    lines = "\n".join(map(document, range(20)))
    (tmp_path / "one.txt").write_text(lines + "\n", encoding="utf-8")
    config = settings(tmp_path, text=str(tmp_path / "one.txt"), next_sentence=False, validation_share=0.3)
    setup = result_of(pretraining_setup.prepare(config))
    counted = frequencies(setup, config)
    pieces = [setup.wordpiece.tokens.index(name) for name in NAMES]
    assert counted[pieces[:13]].min() == 6 and not counted[pieces[15:]].any()
    assert counted.sum() == int(np.asarray(pretraining_setup.split(setup, config)[0].doc_tokens)[1])


def test_a_new_head_on_a_trained_encoder_has_not_seen_them_either(tmp_path: Path) -> None:
    encoder_folder(tmp_path / "encoder")
    config = text_config(tmp_path, model=str(tmp_path / "encoder"), validation_share=0.2)
    setup = result_of(pretraining_setup.prepare(config))
    store, held_out = setup.stores[0], apart(setup, config)
    bounds = np.asarray(store.doc_tokens)
    wanted = np.zeros(setup.config.vocab_size, np.int64)
    for number in range(store.num_documents):
        if number not in held_out:
            np.add.at(wanted, store.ids[bounds[number] : bounds[number + 1]].astype(np.int64), 1)
    wanted[setup.wordpiece.unk_id] = 0
    model, _ = result_of(starting_model(config, setup))
    shares = torch.from_numpy((wanted + 1) / (wanted + 1).sum())
    assert torch.allclose(model.bias.exp().double(), shares, rtol=1e-5)


# one function for the run and for what is told of it beforehand


def test_the_forecast_measures_the_model_that_the_run_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"hidden_dropout": 0.0, "attention_dropout": 0.3, "next_sentence": False, "adam_beta2": 0.9}
    config = settings(tmp_path, **changes)
    measured = []

    def one_step(_: PretrainConfig, __: Any, model: PreTraining, optimizer: Any, ___: Device) -> float:
        measured.append((model, optimizer))
        return 1.0 + model.config.num_hidden_layers

    monkeypatch.setattr(forecasting, "_one_step", one_step)
    result_of(forecasting.forecast(config))
    trained, _ = result_of(starting_model(config, result_of(pretraining_setup.prepare(config))))
    trained.train()
    shallow, optimizer = measured[-1]
    assert shallow.config.num_hidden_layers == trained.config.num_hidden_layers == 2
    assert [
        (getattr(part, "p", 0), getattr(part, "dropout_p", 0), part.training) for part in shallow.modules()
    ] == [(getattr(part, "p", 0), getattr(part, "dropout_p", 0), part.training) for part in trained.modules()]
    held_still = [[p.requires_grad for p in model.parameters()] for model in (shallow, trained)]
    assert held_still[0] == held_still[1] and not all(held_still[0])
    assert optimizer.betas == (0.9, 0.9)


class Unmoved(PreTraining):
    """A model that stays where it is, whatever device there is."""

    bert: Any = None

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def to(self, *_: Any, **__: Any) -> Unmoved:
        return self


def test_a_model_is_compiled_where_the_settings_ask_for_it_and_there_is_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, asked, wanted in (("cuda", True, 1), ("cuda", False, 0), ("cpu", True, 0)):
        compiled: list[Any] = []
        monkeypatch.setattr(lifecycle, "compile_blocks", compiled.append)
        model = Unmoved()
        config, device = DeviceConfig(compile=asked), Device(torch.device(name), torch.float32, 1, 64)
        assert lifecycle.placed(model, config, device) is model and len(compiled) == wanted
