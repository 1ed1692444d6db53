"""However a run ends, its files and its last words say what happened, and what to do."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine import durable
from engine.commands.command_line import main
from engine.commands.screen import show
from engine.durable import explained
from engine.errors import UserError
from engine.events import Event, Noted, Progress, Step
from engine.train import lifecycle
from engine.train.finetune import fine_tune, resume
from engine.train.loop import Loop
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run import folder as run_folder
from engine.train.run.runs import list_runs, read_status
from tests.engine.tiny_runs import command_of, tiny_config
from tests.engine.tiny_texts import text_config, words_of

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Give a function after which the disk of run folders is full: nothing new can be written."""

    def full(path: Path) -> Any:
        @contextmanager
        def refuse() -> Iterator[Path]:
            with explained(path):
                raise OSError(errno.ENOSPC, "No space left on device")
            yield path

        return refuse()

    def fill() -> None:
        monkeypatch.setattr(durable, "replaced_file", full)
        monkeypatch.setattr(run_folder, "replaced_folder", full)

        def save(path: Path, *_: Any, **__: Any) -> None:
            with full(path):
                pass

        monkeypatch.setattr(lifecycle, "save_model", save)

    return fill


def begun(kind: str, folder: Path) -> Iterator[Event]:
    """Return a run that stands after its fifth step, with a checkpoint behind it."""
    if kind == "pretraining":
        task = pretrain(text_config(folder, checkpoint_every_steps=2), folder / "run")
    else:
        task = fine_tune(tiny_config(folder), folder / "run")
    next(event for event in task if isinstance(event, Step) and event.step == 5)
    return task


KINDS = ["pretraining", "fine-tuning"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_could_not_be_saved_on_stop_is_told(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = begun(kind, tmp_path)

    def refuse(path: Path, *_: Any, **__: Any) -> None:
        with explained(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lifecycle, "save_model", refuse)
    with pytest.raises(UserError, match="The disk is full: .*model"):
        task.close()  # type: ignore[attr-defined]
    status = read_status(tmp_path / "run")
    assert status["state"] == "failed" and "The disk is full" in status["reason"]


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_full_disk_the_status_says_so_and_the_run_can_go_on(
    tmp_path: Path, kind: str, fill_disk: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = begun(kind, tmp_path)
    fill_disk()
    with pytest.raises(UserError, match="The disk is full"):
        list(task)
    monkeypatch.undo()
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")
    info = list_runs(tmp_path)[0]
    assert info.state == "failed" and info.problem is None
    assert "The disk is full" in read_status(tmp_path / "run")["reason"]


def test_a_command_whose_disk_is_full_says_how_to_go_on(
    tmp_path: Path, fill_disk: Callable[[], None], capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    config = tiny_config(tmp_path)
    monkeypatch.setattr(Loop, "begin", lambda loop: iter([fill_disk()][:0]))
    assert main(command_of(config, tmp_path / "run")) == 2
    said = capsys.readouterr().err
    assert "The disk is full" in said and "Traceback" not in said
    assert f"Continue with: python -m engine resume {tmp_path / 'run'}" in said


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed there")
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_whose_folder_was_removed_ends_with_a_sentence(tmp_path: Path, kind: str) -> None:
    task = begun(kind, tmp_path)
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(UserError, match="was removed or moved while the run wrote to it"):
        list(task)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms on this system")
def test_being_asked_to_stop_is_heard_before_training_even_between_two_yields(monkeypatch: Any) -> None:
    monkeypatch.setattr("engine.commands.screen.PATIENCE_S", 0.2)
    ended: list[str] = []

    def reading() -> Iterator[Event]:
        try:
            yield Progress(stage="Reading", done=0, total=0)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30)
            yield Noted(sentence=Step)  # type: ignore[arg-type]
        finally:
            ended.append("ended")

    began = time.monotonic()
    assert show(reading()) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 5 and ended == ["ended"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes among this system's files")
def test_pretraining_on_a_pipe_or_a_device_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for place in (tmp_path / "pipe.txt", Path("/dev/zero")):
        config = text_config(tmp_path, text=str(place))
        code, said = main(words_of(config, tmp_path / "run")), capsys.readouterr().err
        assert code == 2 and "ordinary file" in said and len(said) < 600
        assert not (tmp_path / "run").exists()


def test_a_run_stopped_by_force_is_stopped_and_not_failed(tmp_path: Path) -> None:
    task = begun("fine-tuning", tmp_path)
    with pytest.raises(KeyboardInterrupt):
        task.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert read_status(tmp_path / "run")["state"] == "stopped"
    assert any(isinstance(event, Step) for event in resume(tmp_path / "run"))
