"""Weights kept along a run: when, where, in what form, and that resuming leaves no stale ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import torch

from engine.inspect.loaded_model import LoadedModel
from engine.model.weights import load_classifier
from engine.train.finetune import fine_tune
from engine.train.resume import resume
from engine.train.run.history import WeightHistory
from engine.train.run.kept import history, name_of, run_of
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import tiny_config
from tests.fakes import tiny_classifier, tiny_wordpiece


def test_kept_weights_lie_closer_together_early_on(tmp_path: Path) -> None:
    weights = WeightHistory(tmp_path, tiny_classifier(), tiny_wordpiece(), {}, count=4)
    assert [weights.num_due(progress) for progress in (0.0, 0.06, 0.0625, 0.25, 0.5, 0.5625, 1.0)] == [
        *(1, 1, 2, 3, 3, 4, 4)
    ]


def test_a_kept_copy_is_the_model_rounded_to_half_precision(tmp_path: Path) -> None:
    model = tiny_classifier()
    WeightHistory(tmp_path, model, tiny_wordpiece(), {"task": "classification"}, count=1).keep(7)
    loaded, _ = load_classifier(tmp_path / "history" / "step-00000007")
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], weight.half().float(), rtol=0, atol=0)


@pytest.mark.slow
def test_a_run_keeps_its_weights_and_the_result_comes_last(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, kept_weights=3)
    list(fine_tune(config, tmp_path / "run"))
    kept = history(tmp_path / "run")
    assert [one.step for one in kept] == [0, 2, 8, 18]  # of 18: nothing, a ninth, four ninths, all
    assert [run_of(one.path) for one in kept] == [tmp_path / "run"] * 4
    assert name_of(kept[1].path) == "run, step 2"
    first, last = (LoadedModel.open(one.path) for one in (kept[0], kept[-1]))
    assert first.labels == last.labels == ("bad", "good")
    assert first.fingerprint != last.fingerprint


def test_what_was_kept_after_the_step_that_a_run_goes_on_from_is_dropped(tmp_path: Path) -> None:
    weights = WeightHistory(tmp_path, tiny_classifier(), tiny_wordpiece(), {}, count=3)
    for step in (0, 5, 6):
        weights.keep(step)
    weights.drop_after(5)
    assert [kept.step for kept in history(tmp_path)] == [0, 5]


@pytest.mark.slow
def test_a_run_that_is_stopped_and_resumed_keeps_the_same_weights(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, kept_weights=4)
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "parts"), 9)
    list(resume(tmp_path / "parts"))
    assert _digests(tmp_path / "parts") == _digests(tmp_path / "whole")


@pytest.mark.slow
def test_what_a_killed_process_left_half_written_is_gone_after_resuming(tmp_path: Path) -> None:
    stop_at(fine_tune(tiny_config(tmp_path, kept_weights=4), tmp_path / "run"), 9)
    half = tmp_path / "run" / "history" / ".step-00000004.123.partial"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    list(resume(tmp_path / "run"))
    assert not half.exists()


@pytest.mark.slow
def test_a_run_that_keeps_none_has_no_history(tmp_path: Path) -> None:
    list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert history(tmp_path / "run") == ()
    assert run_of(tmp_path / "run" / "model") == tmp_path / "run"
    assert run_of(tmp_path / "start") is None


def _digests(run_dir: Path) -> list[tuple[int, str]]:
    files = [(one.step, one.path / "model.safetensors") for one in history(run_dir)]
    return [(step, hashlib.sha256(path.read_bytes()).hexdigest()) for step, path in files]


@pytest.mark.slow
def test_a_run_called_history_is_not_taken_for_kept_weights(tmp_path: Path) -> None:
    run = tmp_path / "history"
    list(fine_tune(tiny_config(tmp_path, kept_weights=2), run))
    assert run_of(run / "model") == run and len(history(run)) == 3
