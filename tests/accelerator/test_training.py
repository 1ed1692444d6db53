"""Every training on an emulated GPU: the losses of a CPU, and no step in which the host waits."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from benchmarks import gpu_check, gpu_parity
from engine.device import open_device
from engine.events import Evaluated, Event, Step
from engine.family import blanks
from engine.family.train import train_family
from engine.model.bert import set_dropout
from engine.model.heads import SequenceClassifier
from engine.model.weights import read_config
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.shared import DeviceConfig
from engine.train import finetune, pretrain
from engine.train.finetune import fine_tune
from engine.train.tasks.classification.task import Classification
from engine.train.ways import taught
from tests.accelerator.emulated import machine
from tests.engine.family.conftest import family_config
from tests.engine.model.family_cases import CASES, ROWS, config_of
from tests.engine.model.test_varlen import labelled_batch
from tests.engine.steps import stop_at
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import outcome as outcome_on_disk
from tests.engine.tiny_runs import tiny_config, write_table
from tests.engine.tiny_texts import encoder_folder, notes, of, text_config, write_text
from tests.engine.train.tasks.parity import tiny_set
from tests.engine.train.tasks.token_labels.tiny_words import tags_config
from tests.fakes import LABELS, scramble, tiny_classifier

pytestmark = pytest.mark.slow
QUIET = range(3, 9)  # steps in which nothing is waited for but their numbers
NEVER = 10_000
# as far as float32 goes: a CPU has kernels of its own for products, attention and the loss over words
LOSS, NORM = 2e-5, 2e-3


def corrected(rng: random.Random) -> tuple[str, str]:
    """Return a text in which a q stands where z belongs, and the right one."""
    right = [rng.choice("bcdefz") for _ in range(rng.randrange(3, 9))]
    return " ".join(right).replace("z", "q"), " ".join(right)


def table(row: Callable[[random.Random], tuple[str, ...]], header: str, **settings: Any) -> Any:
    """Return what writes a table of 47 made-up rows, and gives the settings of a run over it."""

    def config(folder: Path, **more: Any) -> FineTuneConfig:
        rng = random.Random(5)
        data = write_table(folder / "rows.csv", [row(rng) for _ in range(47)], header)
        return tiny_config(folder, data=str(data), **{**settings, **more})

    return config


several = table(lambda rng: (rng.choice("abcde"), rng.choice(("bad", "good", "bad|good"))), "text,label")
numbers = table(lambda rng: (" ".join(rng.choices("abc", k=5)), f"{20 + rng.random():.3f}"), "text,label")
endings = table(
    lambda rng: (*rng.choices("abcdefgh", k=4), str(rng.randrange(3))),
    "first,one,two,three,label",
    text="first",
    choices="one, two, three",
    task="multiple-choice",
)
corrections = table(corrected, "text,right", label="right", task="correction")
FINE_TUNING: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "labels": (tiny_config, {}),
    "weighted labels, mean": (
        tiny_config,
        {"rare_labels": "weighted", "pooling": "mean", "label_smoothing": 0.1},
    ),
    "first and last layer": (
        tiny_config,
        {"pooling": "first_last", "gradient_accumulation_steps": 2, "batch_size": 2},
    ),
    "a mix of layers": (tiny_config, {"layer_mix": True, "layer_decay": 0.8}),
    "a frozen encoder": (tiny_config, {"encoder": "frozen", "pooling": "mean"}),
    "a frozen encoder, mixed": (tiny_config, {"encoder": "frozen", "layer_mix": True}),
    "a frozen layer": (tiny_config, {"frozen_layers": 1, "new_layers": 1}),
    "several labels": (several, {"rare_labels": "weighted"}),
    "numbers": (numbers, {"task": "regression"}),
    "tags": (tags_config, {"rare_labels": "weighted", "layer_mix": True}),
    "questions": (question_config, {}),
    "endings": (endings, {"batch_size": 3}),
    "corrections": (corrections, {}),
}
PRETRAINING: dict[str, dict[str, Any]] = {
    "words and sentences": {},
    "whole words alone": {"next_sentence": False, "mask_unit": "word", "batch_tokens": 256},
    "longer and longer": {"start_length": 12, "growth_share": 0.5},
    "a teacher": {"model": "encoder", "teacher": "teacher", "teacher_weight": 2.0},
}


def outcome(run: Iterator[Event]) -> tuple[list[Step], list[Evaluated], list[str]]:
    """Train to the end; return what was told of it, and where the host waited in the quiet steps."""
    events, waited = list[Event](), list[str]()
    seen = 0
    for event in run:
        events.append(event)
        if isinstance(event, Step):
            waited += machine.syncs[seen:] if event.step in QUIET else []
            seen = len(machine.syncs)
    return of(Step, events), of(Evaluated, events), waited


def assert_alike(one: list[Step], other: list[Step], loss: float = LOSS, norm: float = NORM) -> None:
    """Compare the losses and the gradients of two runs."""
    assert len(one) == len(other) >= QUIET.stop - 1
    for ours, theirs in zip(one, other, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=loss, abs=loss), ours.step
        assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=norm), ours.step


def assert_as_on_a_cpu(train: Callable[..., Iterator[Event]], config: Any, folder: Path) -> None:
    """Train on a CPU and on the GPU, and compare losses, gradients, measures and whether anybody waited."""
    machine.lag = 0  # a step is told at once, so that it is known in which one somebody waits
    with_cpu, measured_by_cpu, _ = outcome(train(with_values(config, {"device": "cpu"}), folder / "cpu"))
    assert not machine.kinds
    with_gpu, measured, waited = outcome(train(with_values(config, {"device": "cuda"}), folder / "gpu"))
    assert machine.kinds["_fused_adamw_"]
    assert_alike(with_gpu, with_cpu)
    assert measured and len(measured) == len(measured_by_cpu)
    for one, other in zip(measured, measured_by_cpu, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-3) and one.metrics.keys() == other.metrics.keys()
    assert waited == []


@pytest.mark.parametrize("name", FINE_TUNING)
def test_fine_tuning_has_the_losses_of_a_cpu_and_no_step_waits(name: str, tmp_path: Path) -> None:
    made, settings = FINE_TUNING[name]
    values = {"num_epochs": 1, "batch_size": 4, "hidden_dropout": 0.0, "checkpoint_every_steps": NEVER}
    assert_as_on_a_cpu(fine_tune, made(tmp_path, **{**values, **settings}), tmp_path)


@pytest.mark.parametrize("name", PRETRAINING)
def test_pretraining_has_the_losses_of_a_cpu_and_no_step_waits(name: str, tmp_path: Path) -> None:
    settings = dict(PRETRAINING[name])
    for role in {"model", "teacher"} & settings.keys():
        settings[role] = str(encoder_folder(tmp_path / settings[role]))
    assert_as_on_a_cpu(pretrain.pretrain, quiet(tmp_path, **settings), tmp_path)


def quiet(folder: Path, **settings: Any) -> PretrainConfig:
    """Return the settings of a pretraining of nine steps that keeps and saves nothing on its way."""
    values = {"steps": 9, "evaluations": 1, "kept_weights": 0, "hidden_dropout": 0.0}
    return text_config(folder, **{**values, "checkpoint_every_steps": NEVER, **settings})


@pytest.mark.parametrize("member", ["nnlm", "elmo", "gpt"])
def test_a_member_of_a_family_has_the_losses_of_a_cpu_and_no_step_waits(member: str, tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.txt", 60)
    config = family_config(text, members=member, steps=9, evaluations=1, kept_weights=0)
    with patch.object(blanks, "share_filled", nothing_filled):  # each evaluation asks a copy, on the CPU
        assert_as_on_a_cpu(train_family, config, tmp_path)


def nothing_filled(*_: Any) -> Generator[Event, None, float]:
    """Ask nothing."""
    yield from ()
    return 0.0


@pytest.mark.parametrize("name", ["pairs", "all weights"])
def test_few_labels_teach_what_they_teach_on_a_cpu_and_no_step_waits(name: str) -> None:
    rows, found = tiny_set(np.arange(29) % 3), []
    for setting in ("cpu", "cuda"):
        device = open_device(DeviceConfig(device=setting, precision="float32"))
        model = tiny_classifier(hidden_dropout_prob=0.0, pooling="mean", attention_probs_dropout_prob=0.0)
        given = (model.to(device.device), rows, rows.targets, device)
        if name == "pairs":
            teaching = taught.teach_pairs(*given, 1e-3, 5)
        else:
            teaching = taught.teach_classifier(*given, rate=1e-3, seed=5, batch_size=7, num_steps=9)
        for _ in zip(range(2), teaching, strict=False):
            machine.forget()
        for _ in zip(QUIET, teaching, strict=False):
            assert machine.syncs == []
        found.append({key: value.cpu() for key, value in model.state_dict().items()})
    assert machine.kinds["_fused_adamw_"]
    before = tiny_classifier(pooling="mean").state_dict()
    assert any(not torch.equal(value, before[key]) for key, value in found[0].items())
    for key, value in found[0].items():
        torch.testing.assert_close(found[1][key], value, rtol=1e-3, atol=2e-4)


def test_in_bfloat16_the_packed_kernel_serves_and_losses_are_those_of_a_cpu_to_three_digits(
    tmp_path: Path,
) -> None:
    machine.lag = 0
    wide = {"model": "new:2x24x3", "learning_rate": 1e-3}
    exact, _, _ = outcome(pretrain.pretrain(quiet(tmp_path, **wide), tmp_path / "cpu"))
    low = quiet(tmp_path, device="auto", precision="auto", **wide)
    found, _, waited = outcome(pretrain.pretrain(low, tmp_path / "gpu"))
    assert machine.kinds["_flash_attention_backward"] >= 2 * 9 and waited == []
    assert_alike(found, exact, loss=2e-3, norm=3e-2)
    machine.has_bfloat16 = False
    machine.forget()
    found, _, _ = outcome(pretrain.pretrain(low, tmp_path / "old gpu"))
    assert not machine.kinds["_flash_attention_forward"]
    assert_alike(found, exact)


def kept(run_dir: Path) -> dict[str, Any]:
    """Return what a run keeps, to the last bit, and what it told of each step, but for times and memory."""
    found = outcome_on_disk(run_dir)
    steps = [record for record in found.pop("metrics") if record["event"] == "step"]
    return {**found, "steps": [(one["loss"], one["gradient_norm"], one["accuracy"]) for one in steps]}


@pytest.mark.parametrize("kind", ["fine-tuning", "pretraining"])
def test_a_run_that_is_stopped_goes_on_with_the_same_bits(kind: str, tmp_path: Path) -> None:
    settings = {"device": "cuda", "checkpoint_every_steps": 3, "hidden_dropout": 0.2}
    if kind == "fine-tuning":
        config: Any = tiny_config(tmp_path, **settings, attention_dropout=0.1, num_epochs=1)
        train, resume = fine_tune, finetune.resume
    else:
        config, train, resume = text_config(tmp_path, **settings, steps=9), pretrain.pretrain, pretrain.resume
    list(train(config, tmp_path / "whole"))
    assert machine.copies["pinned"] and len(machine.beside) > 50  # checkpoints were read beside the steps
    stop_at(train(config, tmp_path / "stopped"), 4)
    list(resume(tmp_path / "stopped"))
    whole, stopped = (kept(tmp_path / name) for name in ("whole", "stopped"))
    assert len(whole) == 5 and all(whole[name] == stopped[name] for name in whole)


def test_memory_that_runs_out_makes_parts_smaller_and_the_losses_stay(tmp_path: Path) -> None:
    config = quiet(tmp_path, device="cuda", batch_tokens=512)
    roomy = of(Step, list(pretrain.pretrain(config, tmp_path / "roomy")))
    machine.renew()
    run = pretrain.pretrain(config, tmp_path / "narrow")
    events = [next(run)]
    while not isinstance(events[-1], Step):
        events.append(next(run))
    machine.limit = machine.taken + 0.4 * (machine.most - machine.taken)
    events += run
    assert "processed in parts of" in notes(events) and machine.kinds["empty_cache"]
    assert_alike(of(Step, events), roomy)


def test_the_check_that_a_person_with_a_gpu_runs_passes_on_the_emulated_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_parity, "RAGGED", {31: gpu_parity.RAGGED[31]})
    monkeypatch.setattr(gpu_parity, "poison", lambda device: None)  # memory here comes like that
    words = ["--preset", "2x24x3", "--steps", "10", "--shapes", "8", "--only", "parity,sync"]
    code, said = gpu_check.main(words), capsys.readouterr().out
    assert code == 0 and "0 failed, 9 passed, 0 not seen" in said, said


@pytest.mark.parametrize("name", [case.name for case in ROWS if not case.saved_as])
def test_a_batch_teaches_every_family_what_it_teaches_on_a_cpu_and_nobody_waits(
    name: str, tmp_path: Path
) -> None:
    config_of(CASES[name]).save_pretrained(tmp_path)
    shape = replace(read_config(tmp_path), id2label=LABELS)
    found = []
    for settings in ({"device": "cpu"}, {"precision": "float32"}, {}):
        device = open_device(with_values(FineTuneConfig(), settings).device)
        model = SequenceClassifier(shape)
        scramble(model)
        set_dropout(model, 0.0, 0.0)
        model.to(device.device).train()
        batch, task = labelled_batch((13, 11, 6, 3)), Classification(LABELS)
        batch, totals = batch.to(device.device), task.count([batch])
        machine.forget()
        with device.autocast():
            loss, _ = task.loss(model, batch, totals)
        loss.backward()
        assert machine.syncs == []
        named = {key: weight.grad for key, weight in model.named_parameters() if weight.grad is not None}
        found.append((float(loss.detach()), {key: slope.to_dense().cpu() for key, slope in named.items()}))
    (wanted_loss, wanted), *others = found
    for (loss, gradients), limit in zip(others, (1e-5, 6e-2), strict=True):
        assert loss == pytest.approx(wanted_loss, rel=limit) and gradients.keys() == wanted.keys()
        for key, gradient in gradients.items():
            assert float((gradient - wanted[key]).norm()) <= limit * (float(wanted[key].norm()) + 0.02), key
