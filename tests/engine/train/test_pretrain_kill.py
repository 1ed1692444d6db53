"""A run of pretraining is whole at every moment: killed anywhere, it goes on to the same bits.

CLOZE_KILLS sets how many processes are killed (3 unless told; 30 for the full count).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.events import Finished, Noted, Saved, Started, Step, result_of
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.tokens import open_store
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.folder import Run
from engine.train.run.runs import read_metrics, read_status
from tests.engine.steps import Clock
from tests.engine.tiny_runs import outcome, run_engine, start_engine
from tests.engine.tiny_texts import notes, of, promised, text_config, word_pieces, words_of, write_text
from tests.engine.train.test_runs import die_often, dying, kill, wait_for

__all__ = ["dying"]  # a fixture
KILLS = int(os.environ.get("CLOZE_KILLS", "3"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


# kill -9


def kill_somewhere(process: Any, run_dir: Path, moment: str, rng: random.Random) -> bool:
    """Kill a process while it prepares, at a random step or while it saves; return whether it was alive."""
    reached = len(read_metrics(run_dir))
    target = reached + rng.randrange(1, 25)
    if moment == "prepare":
        wait_for(lambda: (run_dir / "config.toml").exists(), process)
        time.sleep(rng.uniform(0, 0.2))
    else:
        wait_for(lambda: len(read_metrics(run_dir)) >= target, process)
    return kill(process, run_dir, rng, is_saving=moment == "save")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=60, evaluations=6, start_length=8)
    list(pretrain(config, tmp_path / "whole"))
    wanted, rng = outcome(tmp_path / "whole"), random.Random(os.urandom(8))
    moments = cycle(rng.sample(("prepare", "step", "save"), 3))
    killed = round_number = 0
    while killed < KILLS:
        round_number += 1
        run_dir, goal = tmp_path / f"run{round_number}", killed + min(3, KILLS - killed)
        environment = {"XDG_CACHE_HOME": str(tmp_path / f"cache{round_number}")}  # made anew in each round
        while killed < goal and read_status(run_dir).get("state") != "finished":
            words = _go_on(run_dir) or words_of(config, run_dir)
            process = start_engine(*words, environment=environment)
            killed += kill_somewhere(process, run_dir, next(moments), rng)
        if read_status(run_dir).get("state") != "finished":
            words = _go_on(run_dir) or words_of(config, run_dir)
            code, _, err = run_engine(*words, environment=environment)
            assert code == 0, err
        assert outcome(run_dir) == wanted, f"after {killed} kills"
        assert not list(run_dir.rglob("*.partial"))
        shutil.rmtree(run_dir)


def _go_on(run_dir: Path) -> list[str]:
    return ["resume", str(run_dir)] if (run_dir / "config.toml").exists() else []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_bounded_by_minutes_keeps_the_time_that_it_has_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = text_config(tmp_path, minutes=0.5, evaluations=1)
    run_dir = tmp_path / "run"
    environment = {"XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    process = start_engine(*words_of(config, run_dir), environment=environment)
    wait_for(lambda: len(read_metrics(run_dir)) > 40, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    newest = sorted((run_dir / "checkpoints").glob("step-*/manifest.json"))[-1].parent
    state = json.loads((newest / "state.json").read_text())
    steps = [record for record in read_metrics(run_dir) if record["event"] == "step"]
    assert 0 < state["used_s"] < 30 and state["step"] > 5
    monkeypatch.setattr("engine.train.loop.time", SimpleNamespace(perf_counter=Clock().perf_counter))
    events = list(resume(run_dir))
    first, end = of(Step, events)[0], events[-1]
    assert of(Started, events)[0].first_step == first.step == state["step"] + 1
    before = next(record for record in steps if record["step"] == state["step"])
    assert before["progress"] <= state["used_s"] / 30 < first.progress < state["used_s"] / 30 + 0.1
    assert isinstance(end, Finished) and 30 <= end.seconds < 33


# the same, at every operation on the disk


@pytest.mark.slow
def test_a_run_that_dies_at_any_operation_on_the_disk_ends_with_the_same_bits(
    tmp_path: Path, dying: Callable[[int], None]
) -> None:
    config = text_config(tmp_path, steps=3, checkpoint_every_steps=1, evaluations=2)
    list(pretrain(config, tmp_path / "whole"))
    die_often(
        tmp_path,
        dying,
        lambda run_dir: pretrain(config, run_dir),
        resume,
        every=9,
        before=lambda: shutil.rmtree(tmp_path / "cache"),
    )


def test_a_run_killed_before_its_setup_was_kept_starts_over_by_itself(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=3)
    list(pretrain(config, tmp_path / "whole"))
    with Run.create(tmp_path / "run", config) as run:
        run.set_status("running")
    shutil.copytree(tmp_path / "whole" / "setup", tmp_path / "run" / ".setup.123.partial")
    list(resume(tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


# the token store of a run


def spoil(tokens: Path, kind: str, folder: Path) -> None:
    """Damage a run's token store, or put another in its place."""
    ids = tokens / "ids.bin"
    match kind:
        case "cut":
            ids.write_bytes(ids.read_bytes()[:-2])
        case "changed":
            data = bytearray(ids.read_bytes())
            data[7] ^= 1
            ids.write_bytes(data)
        case "no header":
            (tokens / "header.json").unlink()
        case "gone":
            shutil.rmtree(tokens)
        case _:
            shutil.rmtree(tokens)
            text = (
                write_text(folder / "other.txt", 40, seed=9)
                if kind == "of another text"
                else folder / "text.txt"
            )
            pieces = word_pieces(folder / "vocab.txt")
            result_of(open_store(tokens, Corpus((text,), "sentences"), pieces))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["cut", "changed", "no header", "gone", "of another text", "of another vocabulary"]
)
def test_a_store_that_is_cut_or_of_something_else_is_made_again_and_the_end_is_the_same(
    tmp_path: Path, kind: str
) -> None:
    config = text_config(tmp_path, steps=6)
    list(pretrain(config, tmp_path / "whole"))
    begun = pretrain(config, tmp_path / "run")
    next(event for event in begun if isinstance(event, Saved) and event.step == 2)
    begun.close()  # type: ignore[attr-defined]
    spoil(tmp_path / "run" / "setup" / "tokens", kind, tmp_path)
    events = list(resume(tmp_path / "run"))
    assert "tokens were not complete and are made again" in notes(events)
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")
    again = list(pretrain(config, tmp_path / "third"))  # what they share on the disk is mended too
    assert promised(tmp_path / "third") == promised(tmp_path / "whole")
    assert not any("made again" in str(event.sentence) for event in of(Noted, again))
