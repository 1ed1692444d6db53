"""The page of examples is run as it stands; the ten names are there without torch until one is used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import torch

import engine
from engine.device import num_cores
from engine.errors import UserError
from engine.library import embed, evaluate, fill_mask, fine_tune, load, predict
from engine.model.weights import save_model
from tests.fakes import LABELS, model_folder, tiny_pretraining, tiny_wordpiece

PAGE = Path(engine.__file__).with_name("README.md")
ROWS = [("good film", "pos"), ("bad play", "neg"), ("good play", "pos"), ("bad film", "neg")]


@pytest.mark.slow
def test_the_examples_of_the_page_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "starter", tiny_pretraining(), tiny_wordpiece(), {})
    lines = [f"{text},{label}" for text, label in ROWS * 12]
    (tmp_path / "reviews.csv").write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    known: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(example, str(PAGE), "exec"), known)
    said = capsys.readouterr().out
    assert "(2, 3, " in said and "(2, 12)" in said  # attentions, vectors
    server = known["server"]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{server.server_port}", json.dumps({"text": "good film"}).encode()
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer) == known["predict"](known["trained"].model, ["good film"])[0]
    finally:
        server.shutdown()
        server.server_close()


def test_the_page_tells_of_every_name_and_of_no_other() -> None:
    page = PAGE.read_text(encoding="utf-8")
    lines = re.findall(r"from engine import (.*)", page)
    assert {name.strip() for names in lines for name in names.split(",")} == set(engine.__all__)
    assert all(callable(getattr(engine, name)) for name in engine.__all__)
    with pytest.raises(AttributeError, match="no attribute"):
        engine.load_everything  # noqa: B018


@pytest.mark.slow
def test_importing_the_package_brings_no_torch() -> None:
    said = "import engine, sys; print('torch' in sys.modules, engine.load.__name__, 'torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "load", "True"]


def test_a_model_that_ships_opens_by_its_name_and_a_folder_of_that_name_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load("starter").about.config.hidden_size == 384
    with pytest.raises(UserError, match="no folder stranger"):
        load("stranger")
    save_model(tmp_path / "starter", tiny_pretraining(), tiny_wordpiece(), {})
    assert load("starter").about.config.hidden_size == 12


def test_a_model_that_is_open_answers_and_is_measured_as_its_folder_is(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    lines = "\n".join(f"{text},{label}" for (text, _), label in zip(ROWS, LABELS * 2, strict=False))
    (tmp_path / "reviews.csv").write_text(f"text,label\n{lines}\n", encoding="utf-8")
    texts = ["good film", {"text": "bad play"}]
    model = load(folder)
    assert predict(model, texts) == predict(folder, texts)
    how = {"text": "text", "label": "label"}
    asked = tmp_path / "reviews.csv"
    assert evaluate(model, asked, **how) == evaluate(folder, asked, **how)


@pytest.mark.slow
def test_the_thread_count_of_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    lines = "\n".join(f"{text},{label}" for text, label in ROWS * 12)
    (tmp_path / "reviews.csv").write_text(f"text,label\n{lines}\n", encoding="utf-8")
    how = {"text": "text", "label": "label", "model": str(model_folder(tmp_path / "model")), "num_epochs": 1}
    before = torch.get_num_threads()
    others = num_cores() + 1  # which no device takes by itself
    torch.set_num_threads(others)
    try:
        trained = fine_tune(tmp_path / "reviews.csv", tmp_path / "run", **how)
        predict(trained.model, ["good film"])
        evaluate(trained.model, tmp_path / "reviews.csv")
        assert torch.get_num_threads() == others
    finally:
        torch.set_num_threads(before)


def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    with pytest.raises(UserError, match="Text 2 of 2 is empty"):
        embed(folder, ["good", " "])
    with pytest.raises(UserError, match="no text named text"):
        predict(folder, [{"words": "good"}])
    with pytest.raises(UserError, match="text is 5, which is not a text"):
        predict(folder, [5])  # type: ignore[list-item]
    with pytest.raises(UserError, match="text named text is empty"):
        predict(folder, [""])
    with pytest.raises(UserError, match="masked-word head"):
        fill_mask(folder, "good [MASK]")
    with pytest.raises(UserError):
        fine_tune(tmp_path / "none.csv", tmp_path / "run", model=str(folder))
    assert not (tmp_path / "run").exists()
