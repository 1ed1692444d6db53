"""Whatever stands in a model folder: each way to open it works, or refuses it shortly and at once."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import words
from app.pages.models import folder as models_folder
from app.pages.models import requests as models_work
from app.work.library import read_folder
from app.work.tables import read_model
from engine.errors import UserError
from engine.inspect.embeddings.vectors import layer_mix
from engine.inspect.loaded_model import LoadedModel
from engine.settings.finetune import DataConfig
from engine.text.wordpiece import WordPiece
from engine.train.finetune import fine_tune
from engine.train.tasks.known import evaluate_file, predict_file
from tests.engine.hostile_folders import harmed, harms, whole_folder
from tests.engine.tiny_runs import tiny_config, write_table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes")
HARMS = harms()
GROUPS = 8  # of harms, so that no test takes long


def fine_tuned(folder: Path) -> None:
    settings = {"num_epochs": 1, "model": str(folder)}
    list(fine_tune(tiny_config(folder.parent, **settings), folder.parent / "run"))


def evaluated(folder: Path) -> None:
    table = folder.parent / "reviews.csv"
    list(evaluate_file(folder, DataConfig(data=str(table), text="text", label="label"), "cpu"))


def predicted(folder: Path) -> None:
    data = DataConfig(data=str(folder.parent / "reviews.csv"), text="text")
    list(predict_file(folder, data, folder.parent / "out.csv", device="cpu"))


def looked_inside(folder: Path) -> None:
    subject = LoadedModel.open(folder, "cpu")
    layer_mix(subject.about)
    subject.require("labels")


def tokenized(folder: Path) -> None:
    WordPiece.from_folder(folder).encode("a good film [MASK]")


def chosen_in_the_window(folder: Path) -> None:
    info = read_model(str(folder), "", "")
    assert len(info.words) < 200 and len(info.trained_labels) < 4000


def listed_by_models(folder: Path) -> None:
    entry, detail = read_folder(folder), models_work.read_detail(folder)
    for problem in (entry.problem, detail.problem):
        if problem is not None:
            check(problem)
    for stage in models_folder.stages_of(detail.info):
        assert len(models_folder.stage_words(stage)) < 600


ENTRIES: tuple[Callable[[Path], None], ...] = (
    chosen_in_the_window,
    listed_by_models,
    tokenized,
    looked_inside,
    evaluated,
    predicted,
    fine_tuned,
)


def check(refusal: UserError) -> None:
    for said in (str(refusal), words.say_error(refusal)):
        assert 20 < len(said) <= 600 and said.isprintable() and said.endswith("."), said[:900]
        said.encode()


def outcome(entry: Callable[[Path], None], folder: Path) -> str:
    """Return "" where an entry does its work, else the sentence in which it refuses."""
    began = time.process_time()
    try:
        entry(folder)
    except UserError as refusal:
        check(refusal)
        assert time.process_time() - began < 5
        return str(refusal)
    return ""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    rows = [(f"{word} film", label) for word, label in (("bad", "bad"), ("good", "good")) for _ in range(3)]
    write_table(place / "reviews.csv", rows)
    return whole_folder(place / "model")


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_a_hostile_folder_is_refused_in_a_sentence_or_does_no_harm(
    whole: Path, tmp_path: Path, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: dict[str, Any] = {}
    refused = 0
    for number, name in enumerate(list(HARMS)[group::GROUPS]):
        place = tmp_path / str(number)
        place.mkdir()
        shutil.copy(whole.parent / "reviews.csv", place)
        folder = harmed(whole, HARMS[name], place / "model")
        for entry in ENTRIES:
            try:
                refused += outcome(entry, folder) != ""
            except Exception as fault:
                faults[f"{name}: {entry.__name__}"] = repr(fault)[:300]
        if (place / "canary").exists():
            faults[name] = "something was run"
        shutil.rmtree(place)
    assert not faults
    assert refused > 4 * len(HARMS) / GROUPS


@pytest.mark.slow
def test_a_whole_folder_is_refused_nowhere(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole.parent / "reviews.csv", tmp_path)
    shutil.copytree(whole, tmp_path / "model")
    assert [outcome(entry, tmp_path / "model") for entry in ENTRIES] == [""] * len(ENTRIES)
