"""Runs of every kind as the Cloze of 23 November 2026 (038bb8d) left them are read as they were.

`tests/data/old_runs/runs.zip` holds the folders whole, of tiny models; `read.json` what that Cloze said of
each: its facts in the library of runs, the kinds of its events in order, the fingerprint of its model.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel
from engine.runs.facts import RunFacts, document_of
from engine.runs.index import index_of
from engine.train.run.runs import read_any_config, read_events

DATA = Path(__file__).parents[2] / "data" / "old_runs"
READ: dict[str, Any] = json.loads((DATA / "read.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, RunFacts]]:
    root = tmp_path_factory.mktemp("old")
    shutil.unpack_archive(DATA / "runs.zip", root)
    return root, {facts.folder: facts for facts in result_of(index_of(root))}


def test_each_old_run_is_listed(old: tuple[Path, Mapping[str, RunFacts]]) -> None:
    assert old[1].keys() == READ.keys() and len(READ) == 12


@pytest.mark.parametrize("folder", READ)
def test_an_old_run_is_read_as_before(folder: str, old: tuple[Path, Mapping[str, RunFacts]]) -> None:
    root, listed = old
    wanted, found = READ[folder], json.loads(json.dumps(document_of(listed[folder]), default=str))
    facts = dict(wanted["facts"])
    settings = facts.pop("settings")
    assert {name: found["settings"][name] for name in settings} == settings  # others may have come since
    assert {name: found[name] for name in facts} == facts
    assert [type(event).__name__ for event in read_events(root / folder)] == wanted["events"]
    read_any_config(root / folder)
    if wanted["fingerprint"]:
        assert LoadedModel.open(root / folder / "model").fingerprint == wanted["fingerprint"]
