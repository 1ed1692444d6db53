"""Whatever a model is asked on an emulated GPU, it answers as on a CPU: every command that asks one."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.library import predict
from engine.model.weights import save_model
from engine.train.finetune import fine_tune
from tests.accelerator import emulated
from tests.accelerator.emulated import machine
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.engine.typed import typed
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

pytestmark = pytest.mark.slow
CLOSE = {"rtol": 1e-4, "atol": 2e-5}  # of numbers in float32 that took another way
TEXT, TABLE = "a good film !", ("--data", "texts.csv", "--text", "text")
SAID = ("--json",)
WRITTEN = ("--out", "found.npz")
ASKED: dict[str, tuple[str, ...]] = {
    "fill-mask": ("language", "good [MASK]", *SAID),
    "fill-mask, a head off": ("language", "good [MASK]", "--off", "1.2", *SAID),
    "layers": ("language", TEXT, "--hide", "2", *SAID),
    "next-sentence": ("language", "a good film", "bad play", *SAID),
    "attention": ("language", TEXT, *WRITTEN),
    "anatomy": ("language", TEXT, *WRITTEN),
    "anatomy, a head scaled": ("language", TEXT, "--scale", "1.2=0.5", *WRITTEN),
    "embed": ("language", *TABLE, "--pooling", "mean", *WRITTEN),
    "embed, the first": ("language", *TABLE, "--pooling", "cls", "--layer", "1", *WRITTEN),
    "word-in-context": ("language", "--word", "film", "a good film", "film a b", *WRITTEN),
    "templates": ("language", "--template", "{good|bad} [MASK]", "--targets", "film|play", *SAID),
    "perplexity": ("language", TEXT, *SAID),
    "cloze": ("language", *TABLE, *SAID),
    "pairs": ("language", "--data", "pairs.csv", "--first", "one", "--second", "two", *SAID),
    "heads": ("labels", *TABLE, *SAID),
    "attribute": ("labels", TEXT, "--target", "good", *SAID),
    "attribute, a pair": ("labels", "good", "bad film", "--target", "bad", *SAID),
    "rests-on": ("labels", *TABLE, "--label", "good", *SAID),
    "evaluate": ("labels", *TABLE, "--label", "label", *SAID),
    "predict": ("labels", *TABLE, "--out", "answers.csv"),
}


def written(folder: Path) -> dict[str, Any]:
    """Return what a command wrote: arrays, or the columns of a table."""
    found: dict[str, Any] = {}
    for path in folder.glob("found.npz"):
        with np.load(path) as arrays:
            found |= {name: arrays[name] for name in arrays.files}
    for path in folder.glob("answers.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found["rows"] = [[_number(cell) for cell in row] for row in csv.reader(file)]
    return found


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def assert_same(one: Any, other: Any, place: str = "") -> None:
    """Compare two answers: words and shapes alike, numbers close."""
    assert type(one) is type(other), place
    if isinstance(one, dict):
        assert one.keys() == other.keys(), place
        for name in one.keys() - {"seconds"}:
            assert_same(one[name], other[name], f"{place}/{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for number, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{place}/{number}")
    elif isinstance(one, float) or (isinstance(one, np.ndarray) and one.dtype.kind == "f"):
        np.testing.assert_allclose(one, other, **CLOSE, err_msg=place)
    else:
        assert np.array_equal(one, other), place


@pytest.mark.parametrize("name", ASKED)
def test_a_command_answers_as_on_a_cpu(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    machine.has_bfloat16 = False  # digits are to be compared
    if ASKED[name][0] == "language":
        save_model(tmp_path / "language", tiny_pretraining(), tiny_wordpiece())
    else:
        model_folder(tmp_path / "labels", labels=("bad", "good"))
    write_table(tmp_path / "texts.csv", reviews(19))
    write_table(tmp_path / "pairs.csv", [("a good film", "good a film"), ("bad", "play b")], "one,two")
    words = (name.split(",")[0], "--model", *ASKED[name])
    found = []
    for has_gpu in (False, True):
        monkeypatch.setattr(emulated.Module, "is_available", staticmethod(lambda has=has_gpu: has))
        code, out, err = typed(capsys)(*words)
        assert code == 0, err
        found.append((json.loads(out) if "--json" in words else out, written(tmp_path)))
        assert bool(machine.kinds) == has_gpu
    assert_same(list(found[0]), list(found[1]))


def test_what_was_trained_on_a_gpu_is_measured_reported_and_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tiny_config(tmp_path, device="cuda", num_epochs=1, rare_labels="weighted")
    list(fine_tune(config, tmp_path / "run"))
    assert machine.kinds["_fused_adamw_"]
    for words in (
        ("evaluate", "--model", "run", "--part", "validation"),
        ("evaluate", "--model", "run/model", "--data", "reviews.csv"),
        ("report", "--model", "run", "--html", "run.html"),
        ("export", "--model", "run/model", "--transformers", "exported"),
    ):
        code, _, err = typed(capsys)(*words)
        assert code == 0, err
    assert (tmp_path / "run.html").stat().st_size > 1000
    machine.has_bfloat16 = False
    texts = ["good film", "a bad play !"]
    found = [predict(tmp_path / "run" / "model", texts, device="cuda")]
    found.append(predict(tmp_path / "exported", texts, device="cpu"))
    assert_same(*found)
