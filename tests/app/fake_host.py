"""Another computer as the engine tells of it, without ssh: what it is asked is answered at once, and a run
there says what the test has it say.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from engine.errors import RunError
from engine.events import Beat, Event, Fetched, Finished, Noted, Progress, Started, Steps
from engine.remote.computer import Computer, program
from engine.remote.contact import Contact
from engine.remote.hosts import HostSettings
from engine.remote.install import INSTALLING
from engine.remote.record import RemoteRun, write_contact
from engine.remote.run import CONNECTING
from engine.train.run.lock import locked
from engine.train.run.mirrored import REMOTE
from engine.train.run.records import record_of
from engine.train.run.runs import CONFIG, LOCK, METRICS, MODEL, STATUS, AnyConfig, document_of, read_events
from engine.train.run.wanted import STOP, heeded, wanted
from tests.engine.made_runs import made_run

GPU1 = Computer(
    name="gpu1",
    num_cores=16,
    memory_bytes=128 * 10**9,
    gpus=("NVIDIA A100", "NVIDIA A100"),
    torch="2.13.0",
    python="3.12.4",
    program=program(),
    free_bytes=310 * 10**9,
)
SINCE = 1_795_000_000.0  # seconds since 1970


class FakeHost:
    """The host gpu1, and `desk`, which nobody reaches. runs: what was started, as (config, folder, host)."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.computer = GPU1
        self.refusal: BaseException | None = None
        self.runs: list[tuple[AnyConfig | None, Path, str]] = []
        self.wanted: list[str] = []  # of runs that are followed
        self.passed_on: list[tuple[Path, str]] = []  # of others
        self.installed: list[str] = []
        self.settings: dict[str, HostSettings] = {}
        self.stops = True  # whether it obeys when it is to stop
        self.holds = False  # whether weights never come
        self.is_foreign = False  # whether folders bear no seal of this person
        self.is_sent = True  # whether what a run needs is there already
        self.left = 0  # how often a run was left
        self._events: SimpleQueue[Event | BaseException | None] = SimpleQueue()
        for name in ("train_there", "follow", "resume_there"):
            patched.setattr(f"app.work.training.{name}", getattr(self, name))
        for name in ("look_at", "install", "fetch", "pass_on"):
            patched.setattr(f"app.work.hosts.{name}", getattr(self, name))
        patched.setattr("app.work.hosts.hosts", lambda: ("gpu1", "desk"))
        for place in ("app.work.known_runs", "app.pages.run.allowing"):
            patched.setattr(f"{place}.read_remote", self.read_remote)
        patched.setattr(
            "app.pages.run.where.settings_of", lambda host: self.settings.get(host, HostSettings())
        )
        patched.setattr("app.pages.run.where.remember", self.settings.__setitem__)

    # ---- what the test has it say

    def say(self, *events: Event | BaseException) -> None:
        """Let the run that is followed say this."""
        for event in events:
            self._events.put(event)

    def contact(self, state: str = "running", *, connected: bool = True, **more: Any) -> Contact:
        """Let it be heard how the run stands."""
        said = Contact(host="gpu1", is_connected=connected, since=SINCE, state=state, **more)
        self.say(said)
        return said

    def end(self) -> None:
        """Let the run that is followed be over."""
        self._events.put(None)

    # ---- what the engine does

    def train_there(self, config: AnyConfig, run_dir: Path, host: str) -> Iterator[Event]:
        self.runs.append((config, run_dir, host))
        yield Progress(stage=CONNECTING, name=host, done=0, total=0)
        if self.refusal is not None:
            raise self.refusal
        yield Noted(sentence=self.computer.said(), level="fine")
        while not self.is_sent:
            yield from self._next(run_dir)
        mirrored(run_dir, document_of(config), host)
        yield from self._heard(run_dir)

    def follow(self, run_dir: Path, *, told: int | None = None, host: str = "") -> Iterator[Event]:
        assert told == 0
        self.runs.append((None, run_dir, host))
        yield Progress(stage=CONNECTING, name="gpu1", done=0, total=0)
        yield from read_events(run_dir)
        yield from self._heard(run_dir)

    def resume_there(self, run_dir: Path, *, told: int | None = None, host: str = "") -> Iterator[Event]:
        yield from self.follow(run_dir, told=told, host=host)

    def look_at(self, host: str) -> Steps[Computer]:
        yield Progress(stage=CONNECTING, name=host, done=0, total=0)
        if self.refusal is not None:
            raise self.refusal
        return self.computer

    def install(self, host: str) -> Steps[Computer]:
        yield Progress(stage=INSTALLING, name="gpu1: torch", done=0, total=0)
        self.installed.append(host)
        self.computer = GPU1
        return self.computer

    def fetch(self, run_dir: Path, *, everything: bool = False, host: str = "") -> Iterator[Event]:
        if self.refusal is not None:
            raise self.refusal
        yield Fetched(file="model.safetensors", done=5, total=10, fetched=5, speed=1.0)
        while self.holds:
            yield Beat()
        write_weights(run_dir)

    def pass_on(self, run_dir: Path, what: str, *, host: str = "") -> Iterator[Event]:
        self.passed_on.append((run_dir, what))
        yield Beat()

    def read_remote(self, run_dir: Path, host: str = "") -> None:
        if self.is_foreign and not host:
            raise RunError("{path} was not made here.", path=run_dir)

    def _heard(self, run_dir: Path) -> Iterator[Event]:
        try:
            with locked(run_dir / LOCK), (run_dir / METRICS).open("a", encoding="utf-8") as metrics:
                while True:
                    event = yield from self._next(run_dir)
                    if event is None:
                        return
                    if isinstance(event, Contact):
                        write_contact(run_dir, event)
                    elif not isinstance(event, Progress | Fetched):
                        metrics.write(json.dumps(record_of(event)) + "\n")
                        metrics.flush()
                    if isinstance(event, Finished):
                        write_status(run_dir, "finished")
                        return
        except GeneratorExit:
            self.left += 1
            raise

    def _next(self, run_dir: Path) -> Generator[Event, None, Event | None]:
        """Yield what is said next; return it, or None at the end."""
        while True:
            if what := wanted(run_dir):
                self.wanted.append(what)
                heeded(run_dir)
                if what == STOP and self.stops:
                    write_status(run_dir, "stopped")
                    return None
            try:
                event = self._events.get(timeout=0.005)
            except Empty:
                yield Beat()
                continue
            if isinstance(event, BaseException):
                raise event
            if event is not None:
                yield event
            return event


def mirrored(run_dir: Path, settings: str, host: str = "gpu1", state: str = "waiting") -> None:
    """Write the folder in which a run of a host is mirrored."""
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / CONFIG).write_text(settings, encoding="utf-8")
    there_only(run_dir, host, state)


def there_only(run_dir: Path, host: str = "gpu1", state: str = "running", *, connected: bool = False) -> Path:
    """Let a run folder be the mirror of a host's run, as it was heard last; return it."""
    remote = RemoteRun(host=host, key="key", name=run_dir.name, kind="finetune")
    (run_dir / REMOTE).write_text(json.dumps(asdict(remote)))
    write_contact(run_dir, Contact(host=host, is_connected=connected, since=SINCE, state=state))
    return run_dir


def write_status(run_dir: Path, state: str) -> None:
    there_only(run_dir, state=state, connected=True)
    (run_dir / STATUS).write_text(json.dumps({"state": state, "step": 12, "num_steps": 12}))


def write_weights(run_dir: Path) -> None:
    """Let there be a model folder, whatever is in it."""
    from tests.fakes import model_folder

    model_folder(run_dir / MODEL, labels=("bad", "good"))


def events_of(folder: Path, run_dir: Path, **settings: Any) -> list[Event]:
    """Return what a run of twelve steps says. Args: folder: where it is made up."""
    found = list(read_events(made_run(folder, "made-up", **settings)))
    places = {Started: "run_dir", Finished: "path"}
    return [
        replace(event, **{places[type(event)]: run_dir}) if type(event) in places else event  # type: ignore[type-var]
        for event in found
    ]
