"""Adapt to your texts first, on the Fine-tune page: planned, run as one job, stopped, gone on with, told."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.finetune.chain.requests import STOPPED, past_chains, place_of, places_of, read_chain, state_of
from app.pages.finetune.chain.words import BETTER, INCONCLUSIVE, StageGain, gain_of, gain_words, verdict_words
from app.pages.finetune.page import FineTunePage, stepped
from app.pages.predict.state import PredictState
from app.pages.run.state import RunPageState
from engine.commands.command_line import parser_of_commands
from engine.commands.language import pipeline_config_from
from engine.settings.pipeline import PipelineConfig
from engine.train.pipeline import read_pipeline
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.lock import locked
from engine.train.run.runs import LOCK, list_runs
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import tiny_config, write_table

SETTINGS = {"max_length": 23, "num_epochs": 1, "batch_size": 16, "device": "cpu", "precision": "float32",
            "kernels": "oneDNN", "num_threads": 1, "layer_decay": 0.9}  # fmt: skip


@pytest.fixture
def page(show_page: ShowPage[FineTunePage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FineTunePage:
    """The page with reviews, a small model to adapt, and texts of the field."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "tokens")
    page, config = show_page(FineTunePage), tiny_config(tmp_path)
    rng = random.Random(5)
    lines = (f"good film {' '.join(rng.choices('abcxyz', k=9))} !" for _ in range(60))
    (tmp_path / "domain.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    page.session.runs.set_root(tmp_path / "runs")
    page.session.data.open(config.data.data)
    page.session.model.choose(config.model.model)
    assert page.session.wait_idle()
    page.setup.set_values(SETTINGS)
    return page


def planned(page: FineTunePage, hand: Hand, tmp_path: Path, seeds: int = 1) -> None:
    """Plan a chain of two steps a stage."""
    hand.click("adapt_first")
    plan = page.plan
    plan.domain.box.setChecked(True)
    plan.text.choose([tmp_path / "domain.txt"])
    plan.domain.budget.put({"steps": 2})
    plan.task.budget.put({"steps": 2})
    plan.form.set_values({"seeds": seeds, "batch_tokens": 64, "held_out_share": 0.1})


def ended(page: FineTunePage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.session.training.is_running, timeout=120_000)
    assert page.session.wait_idle()


def the_chain(tmp_path: Path) -> Path:
    (folder,) = (one for one in (tmp_path / "runs").iterdir() if one.is_dir() and one.name[0] != ".")
    return folder


def said(page: FineTunePage) -> list[str]:
    return [cell.text() for cell in page.chain.table.findChildren(QLabel)]


@pytest.mark.slow
def test_a_chain_runs_as_planned_and_says_after_reopening_what_it_said(
    page: FineTunePage, hand: Hand, qtbot: QtBot, tmp_path: Path
) -> None:
    planned(page, hand, tmp_path, seeds=2)
    hand.click("copy_command")
    line = shlex.split(QGuiApplication.clipboard().text())
    hand.click("start")
    ended(page, qtbot)
    folder = the_chain(tmp_path)
    asked = pipeline_config_from(parser_of_commands().parse_args(line[3:]))
    assert asked == read_pipeline(folder) and asked.adapt.layer_decay == 0.9
    report = json.loads((folder / "report.json").read_text())
    shown = page.chain.plot.numbers()
    assert [(row[1], *row[4:]) for row in shown[1:]] == [
        (stage["mean"], *stage["values"]) for stage in report["stages"]
    ]
    told = said(page)
    for stage in report["stages"][1:]:
        assert any(text.startswith(f"{stage['gain']:+.3f}".replace("-", "−")) for text in told)
    assert sum("Inconclusive: 2 seeds" in text for text in told) == 2 and told.count("done") == 3
    assert "None of the 11 validation and test texts" in hand.said("chain_notes")
    assert "over 2 seeds on 11 validation rows" in hand.said("chain_words")
    hand.click("copy_command")
    assert shlex.split(QGuiApplication.clipboard().text()) == [*line[:-1], str(folder)]
    with qtbot.waitSignal(page.session.page_requested) as led:
        hand.click("try_chain")
    assert led.args == ["predict", PredictState(folder / "finetune-task-seed42" / "model")]
    hand.click("close_chain")
    assert not page.chain.isVisible() and hand.shown("start") == ["start"]
    page.show_state(RunPageState(chain=folder))
    assert page.session.wait_idle()
    assert page.chain.isVisible() and page.chain.plot.numbers() == shown and said(page) == told
    assert page.state.chain == folder


@pytest.mark.slow
def test_a_chain_that_was_stopped_is_offered_and_continues_where_it_was(
    page: FineTunePage, hand: Hand, qtbot: QtBot, tmp_path: Path
) -> None:
    planned(page, hand, tmp_path)
    hand.click("start")
    qtbot.waitUntil(lambda: "After domain texts: fine-tuning" in hand.said("chain_words"), timeout=60_000)
    hand.click("stop_chain")
    ended(page, qtbot)
    folder = the_chain(tmp_path)
    assert state_of(folder) == STOPPED and "Not all stages are done" in hand.said("chain_words")
    done = [one.path for one in list_runs(folder) if one.state == "finished"]
    kept = {path: path.stat().st_mtime_ns for run in done for path in (run / "model").iterdir()}
    hand.click("close_chain")
    with locked(folder / LOCK):  # as by another process, which trains it
        page.show_state(RunPageState(chain=folder))
        assert page.session.wait_idle()
        assert "in the queue, or in another window" in hand.said("chain_words")
        assert not hand.shown("stop_chain", "go_on_chain")
    qtbot.waitUntil(lambda: "Not all stages are done" in hand.said("chain_words"), timeout=20_000)
    hand.click("close_chain")
    hand.click("show_unfinished_chain")
    assert page.session.wait_idle()
    assert hand.shown("stop_chain", "go_on_chain") == ["go_on_chain"]
    hand.click("go_on_chain")
    ended(page, qtbot)
    assert said(page).count("done") == 3 and kept
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert not page.setup.chain.said.isVisible()


def test_what_a_plan_lacks_is_said_and_nothing_can_be_started(
    page: FineTunePage, hand: Hand, tmp_path: Path
) -> None:
    hand.click("adapt_first")
    page.plan.task.box.setChecked(False)
    assert not hand.find("start").isEnabled() and "domain texts, task texts or both" in page.reason()
    page.plan.domain.box.setChecked(True)
    assert "Choose the domain texts" in hand.said("chain_time")
    page.plan.text.choose([str(page.session.data.path)], "text")
    assert "this table itself: its validation and test texts are read too" in hand.said("chain_leak")
    assert hand.find("start").isEnabled()
    write_table(tmp_path / "posts.csv", [("an odd post about it", "x"), ("one more of them", "y")])
    open_table = page.session.data.path
    page.plan.text.take([str(tmp_path / "posts.csv")])
    assert page.session.wait_idle() and page.session.data.path == open_table
    assert page.plan.values()["domain_column"] == "text"
    page.plan.text.choose([tmp_path / "domain.txt"])
    assert "counted before the first stage" in hand.said("chain_leak")


def test_a_second_training_has_the_chain_wait_in_the_queue(
    page: FineTunePage, hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(page, hand, tmp_path)
    queued = list[Any]()
    training = page.session.training
    monkeypatch.setattr(type(training), "is_running", property(lambda _: True))
    monkeypatch.setattr(training, "put_in_queue", lambda config, _host: queued.append(config))
    page.refresh()
    assert hand.find("start").text() == "Add to the queue" and hand.find("start").isEnabled()
    hand.click("start")
    assert [type(config) for config in queued] == [PipelineConfig]
    assert queued[0] == page.plan.config(stepped(page.setup.config()))


@pytest.mark.slow
def test_a_text_that_is_too_short_is_refused_in_the_plan_and_nothing_is_left(
    page: FineTunePage, hand: Hand, qtbot: QtBot, tmp_path: Path
) -> None:
    planned(page, hand, tmp_path)
    page.plan.form.set_values({"batch_tokens": 100_000})
    hand.click("start")
    ended(page, qtbot)
    assert page.plan.isVisible() and "one step takes 100,000" in hand.said("refusal_batch_tokens")
    assert not list((tmp_path / "runs").glob("*/pipeline.toml"))


def test_a_gain_is_decided_only_where_its_interval_excludes_nought() -> None:
    assert StageGain(0.02, (0.01, 0.03), 3).verdict == BETTER
    assert StageGain(0.02, (-0.01, 0.05), 3).verdict == INCONCLUSIVE
    assert StageGain(0.02, None, 2).verdict == INCONCLUSIVE
    assert verdict_words(StageGain(0.02, None, 1)) == "Inconclusive: 1 seed"
    assert gain_words(StageGain(-0.02, (-0.03, -0.01), 3)) == "−0.020 (−0.030 to −0.010)"
    assert gain_of(None, None) is None


def test_the_runs_of_a_chain_are_known_by_their_folders(page: FineTunePage, tmp_path: Path) -> None:
    config: Any = page.plan.config(page.setup.config())
    places = places_of(config, ("base", "task"))
    seeds = (42, 43, 44)
    assert places == [
        *(("base", seed) for seed in seeds),
        ("task", None),
        *(("task", seed) for seed in seeds),
    ]
    names = ("finetune-task-seed43", "task")
    assert [place_of(tmp_path / name) for name in names] == [("task", 43), ("task", None)]
    looking = past_chains(tmp_path)
    with pytest.raises(StopIteration) as found:
        while True:
            next(looking)
    assert found.value.value == []
    with pytest.raises(Exception, match="is not a pipeline"):
        list(read_chain(tmp_path))
