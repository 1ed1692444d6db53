"""A run that trains on another computer and is mirrored into a folder here, which says where it lives.

The run folder here is a run as any other: settings, curves, scores and, at the end, weights. Two files of it
are not mirrored: remote.json says where the run is trained, mirror.json how far it has been heard. Every
function may be killed, or its generator closed, at any moment: `follow` then goes on where it was. Closing
detaches; the run goes on there. Stop and pause are wishes in the folder (engine/train/run/wanted.py), passed
on by whoever follows.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from engine.durable import write_text
from engine.errors import RunError, Sentence, UserError, VerbatimText, marked
from engine.events import Beat, Event, Finished, Noted, Progress, Steps
from engine.own_process import command_words
from engine.remote.computer import Computer, computer_from
from engine.remote.connection import BEAT_S, Connection, Lost, connected
from engine.remote.contact import CRASHED, WAITING, Contact
from engine.remote.frames import foreign
from engine.remote.hosts import HostSettings, check_host, settings_of, slurm_options
from engine.remote.jobs import ABSENT, MOST_TRIES, new_key
from engine.remote.mirror import Mirror
from engine.remote.record import RemoteRun, discard, make_folder, read_remote, write_contact
from engine.remote.sending import sent
from engine.settings.config import absolute
from engine.train.run.lock import locked
from engine.train.run.mirrored import ALIVE, ENDED
from engine.train.run.runs import LOCK, METRICS, AnyConfig, document_of, kind_of, read_config, run_info
from engine.train.run.wanted import FETCH, GO, STOP, WANTED, heeded, want, wanted

WAIT_S = 0.5  # that a host waits for news before it says that there is none
STOP_S = 120.0  # that a run may take to stop, where somebody waits for it
LONGEST_STATE = 20  # characters
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0  # between two tries to reach a host
CONNECTING = marked("engine", "Connecting to {name}")


def stopping(task: Iterator[Event], run_dir: Path) -> Generator[Event, None, None]:
    """Train there as here: closing stops the run and keeps what it has, instead of detaching."""
    try:
        with closing(cast(Generator[Event, None, None], task)):
            yield from task
    except GeneratorExit:
        until = time.monotonic() + STOP_S
        with suppress(UserError):
            want(run_dir, STOP)
            for _ in follow(run_dir):
                if time.monotonic() > until:  # it will be told so when it is followed again
                    break
        raise


def pass_on(run_dir: Path, what: str, *, host: str = "") -> Generator[Event, None, None]:
    """Tell there what is wanted of a run that nobody follows here. Raises: UserError."""
    remote = read_remote(Path(run_dir).absolute(), host)
    line = yield from _reached(remote.host, _settings(remote))
    with closing(line), _unlost():
        yield from line.ask("want", key=remote.key, what=what)


def look_at(host: str) -> Steps[Computer]:
    """Connect to a host and return what it has. Raises: UserError: what ssh said, in one sentence."""
    line = yield from _reached(host, settings_of(check_host(host)))
    with closing(line):
        return line.probed or (yield from _computer(line))


def train_there(
    config: AnyConfig, run_dir: Path, host: str, *, slurm: str | None = None, fetches: bool = True
) -> Generator[Event, None, None]:
    """Train on a host: check it, send what is missing there, start, and follow until the run's end.

    Nothing is made here before the host was reached and has Cloze. Closing detaches once it is started.
    Args:   run_dir: a new folder here. slurm: options of sbatch; None: those remembered of the host.
            fetches: whether the weights come at the end; else `fetch` does.
    Raises: UserError.
    """
    run_dir, config = Path(run_dir).absolute(), absolute(config)
    settings = settings_of(check_host(host))
    asked = settings.slurm or None if slurm is None else slurm
    slurm_options(asked or "")
    line = yield from _reached(host, settings)
    with closing(line):
        computer = line.probed or (yield from _computer(line))
        _check_fit(host, computer, asked)
        yield Noted(sentence=computer.said(), level="fine")
        remote = RemoteRun(
            host=host,
            key=new_key(),
            name=run_dir.name,
            kind=kind_of(config),
            folder=settings.folder,
            slurm=asked,
            fetches=fetches,
        )
        make_folder(run_dir, config, remote)
        follower = _Follower(run_dir, remote, told=0)
        try:
            with locked(run_dir / LOCK):
                yield from follower.run(line)
        finally:
            if not follower.is_started:
                discard(run_dir)


def follow(run_dir: Path, *, told: int | None = None, host: str = "") -> Generator[Event, None, None]:
    """Mirror a run until it has ended there, reconnecting as long as that takes, and tell what it says.

    Yields `Contact` whenever that changes, `Progress` while it sends or waits, `Fetched` for weights, and
    what the run says, `Finished` at the very end, when the weights are here. A run that crashed there is
    started again from its checkpoint.
    Args:   told: the bytes of metrics.jsonl whose events are known already; None: all that is there. host:
            as a person has named it, where the folder was not made on this computer.
    Raises: UserError: it failed there (with its reason), is not remote, or is followed by another process.
    """
    run_dir = Path(run_dir).absolute()
    follower = _Follower(run_dir, read_remote(run_dir, host), told)
    with locked(run_dir / LOCK):
        yield from follower.run()


def resume_there(run_dir: Path, *, told: int | None = None, host: str = "") -> Generator[Event, None, None]:
    """Go on with a run there that was stopped, failed, cut off or paused; follow it. Raises: UserError."""
    run_dir = Path(run_dir).absolute()
    follower = _Follower(run_dir, read_remote(run_dir, host), told, resumes=True)
    if run_info(run_dir).state == "finished":
        raise RunError(
            marked("engine", "The run in {path} is finished. Its model is in {model}."),
            path=run_dir,
            model=run_dir / "model",
        )
    with locked(run_dir / LOCK):
        yield from follower.run()


def fetch(run_dir: Path, *, everything: bool = False, host: str = "") -> Generator[Event, None, None]:
    """Fetch the weights as they are there now; everything: the kept weights and checkpoints, too.

    A run that is followed is asked by `want(run_dir, FETCH)` instead. Raises: UserError.
    """
    run_dir = Path(run_dir).absolute()
    remote = read_remote(run_dir, host)
    line = yield from _reached(remote.host, _settings(remote))
    with closing(line), _unlost(), locked(run_dir / LOCK):
        yield from Mirror(run_dir, remote).fetch(line, everything=everything)


@contextmanager
def _unlost() -> Iterator[None]:
    """Say a lost line as a refusal. Raises: UserError."""
    try:
        yield
    except Lost as lost:
        raise UserError(lost.why.template, **lost.why.values) from lost


class _Follower:
    """Follows one run. is_started: it was started there at some time."""

    def __init__(self, run_dir: Path, remote: RemoteRun, told: int | None, *, resumes: bool = False) -> None:
        self.run_dir, self.remote, self.is_started = run_dir, remote, False
        if told is None:
            told = _whole_lines(run_dir / METRICS)
        self._mirror = Mirror(run_dir, remote, told)
        self._contact: Contact | None = None
        self._heard = time.time()
        self._finished: Finished | None = None
        self._resumes = resumes
        self._has_config = False
        self._tries, self._reached = 0, -1

    def run(self, line: Connection | None = None) -> Iterator[Event]:
        """Follow to the end. Args: line: one that is open already; it is left to whoever opened it."""
        wait_s = FIRST_WAIT_S
        while True:
            made, heard = None, self._heard
            try:
                if line is None:
                    yield Progress(stage=CONNECTING, name=self.remote.host, done=0, total=0)
                    made = yield from connected(self.remote.host, _settings(self.remote))
                    if made.probed is not None:
                        raise _no_cloze(self.remote.host, made.probed)
                yield from self._attend(made or line)  # type: ignore[arg-type]
                return
            except Lost as lost:
                wait_s = FIRST_WAIT_S if self._heard > heard else min(2 * wait_s, LONGEST_WAIT_S)
                yield from self._say(False, self._contact.state if self._contact else WAITING, lost.why)
            finally:
                line = None
                if made is not None:
                    made.close()
            until = time.monotonic() + wait_s
            while time.monotonic() < until:
                time.sleep(BEAT_S)
                yield Beat()

    def _attend(self, line: Connection) -> Iterator[Event]:
        """Mirror over one line to the end of the run. Raises: Lost, UserError."""
        known: dict[str, Any] = {}
        whole = True
        while True:
            yield from self._pass_on(line)
            found, _ = yield from line.ask(
                "look", most_wait_s=WAIT_S, key=self.remote.key, known=known, wait_s=WAIT_S if known else 0.0
            )
            self._heard = time.time()
            state = str(found.get("state"))[:LONGEST_STATE]
            if state == ABSENT or (self._resumes and state not in ALIVE):
                self._resumes = False
                yield from self._start(line, state == ABSENT)
                known = {}
                continue
            self.is_started = True
            if self._resumes:
                self._resumes = False
                yield from line.ask("want", key=self.remote.key, what=GO)
            size = found.get("metrics")
            if size != known.get("metrics") or whole or state in ENDED:
                count = size if type(size) is int else 0
                yield from self._mirror.catch_up(line, count, whole=whole or state in ENDED)
                whole = False
            if found.get("config") and not self._has_config:
                self._has_config = True
                with suppress(UserError):  # settings that are none leave those of here
                    self._has_config = yield from self._mirror.take_config(line)
            yield from self._tell()
            if state == CRASHED and self._may_start_again():
                yield from self._start(line, False)
                known = {}
                continue
            if state in ENDED:
                yield from self._end(line, state, str(found.get("why", "")), bool(found.get("status")))
                return
            if found.get("status") and found.get("status") != known.get("status"):
                yield from self._mirror.take_status(line)
            yield from self._say(True, state)
            known = found

    def _start(self, line: Connection, is_absent: bool) -> Iterator[Event]:
        """Have it begun, or gone on with, there; what it needs is sent before it begins."""
        slurm = None if self.remote.slurm is None else slurm_options(self.remote.slurm)
        order = {"name": self.remote.name, "kind": self.remote.kind, "slurm": slurm}
        settings = ""
        if is_absent:
            settings = document_of((yield from sent(line, read_config(self.run_dir))))
        yield from line.ask("start", key=self.remote.key, order=order, settings=settings)
        self.is_started = True

    def _pass_on(self, line: Connection) -> Iterator[Event]:
        """Tell there what is wanted of the run here, once there is one there."""
        what = wanted(self.run_dir)
        if not what or not self.is_started:
            return
        heeded(self.run_dir)
        try:
            if what == FETCH:
                yield from self._mirror.fetch(line)
                return
            yield from line.ask("want", key=self.remote.key, what=what)
        except BaseException:
            if not wanted(self.run_dir):  # nothing else is wanted meanwhile
                write_text(self.run_dir / WANTED, what)
            raise

    def _tell(self) -> Iterator[Event]:
        """Yield what the run has said; that it is finished is said when all of it is here."""
        for event in self._mirror.news():
            if isinstance(event, Finished):
                self._finished = event
            else:
                yield event

    def _may_start_again(self) -> bool:
        """Whether a run that was cut off goes on: it came a step further since, or not too often. What SLURM
        has ended, a person may have cancelled.
        """
        if self.remote.slurm is not None:
            return False
        step = run_info(self.run_dir).step
        self._tries = self._tries + 1 if step <= self._reached else 1
        self._reached = max(step, self._reached)
        return self._tries <= MOST_TRIES and wanted(self.run_dir) != STOP

    def _end(self, line: Connection, state: str, why: str, has_status: bool) -> Iterator[Event]:
        """Have all that is to be here, then say how it ended."""
        if self._has_config:
            if self.remote.fetches and state != "failed":
                yield from self._mirror.fetch(line)
            if has_status:  # what fails while it prepares has written none
                yield from self._mirror.take_status(line)
        heeded(self.run_dir)
        yield from self._say(True, state)
        if state in ("failed", CRASHED):
            raise RunError(
                _ended_by(state, self.remote.slurm is not None),
                host=self.remote.host,
                count=MOST_TRIES,
                reason=foreign(why, 400) or "?",
                command=VerbatimText(shlex.join([*command_words(), "resume", str(self.run_dir)])),
            )
        if self._finished is not None and state == "finished":
            yield self._finished

    def _say(self, is_connected: bool, state: str, why: Sentence | None = None) -> Iterator[Event]:
        contact = Contact(
            host=self.remote.host, is_connected=is_connected, since=self._heard, state=state, why=why
        )
        before, self._contact = self._contact, contact
        if before is None or (before.is_connected, before.state) != (is_connected, state):
            write_contact(self.run_dir, contact)
            yield contact


def _ended_by(state: str, is_slurm: bool) -> str:
    """Return how it is told that a run has ended before its end."""
    if state == "failed":
        return marked("engine", "The run failed on {host}: {reason}")
    if is_slurm:
        return marked(
            "engine", "SLURM ended the run on {host} before it was finished. Continue it with: {command}"
        )
    return marked(
        "engine",
        "The run was interrupted on {host} {count} times without coming any further. "
        "Continue it with: {command}",
    )


def _settings(remote: RemoteRun) -> HostSettings:
    """Return how a host is reached for a run that is kept where it said when it began."""
    return replace(settings_of(remote.host), folder=remote.folder)


def _reached(host: str, settings: HostSettings) -> Steps[Connection]:
    """Connect to a host for the first time. Raises: UserError: what ssh said."""
    yield Progress(stage=CONNECTING, name=host, done=0, total=0)
    with _unlost():
        return (yield from connected(host, settings))


def _computer(line: Connection) -> Steps[Computer]:
    with _unlost():
        frame, _ = yield from line.ask("check")
    said = frame.get("computer")
    return computer_from(said if isinstance(said, dict) else {})


def _check_fit(host: str, computer: Computer, slurm: str | None) -> None:
    """Refuse a host on which a run cannot be started. Raises: UserError."""
    if not computer.has_cloze:
        raise _no_cloze(host, computer)
    if slurm is not None and not computer.has_slurm:
        raise UserError(
            marked("engine", "There is no SLURM on {host}: the command {name} was not found."),
            host=host,
            name="sbatch",
        )


def _no_cloze(host: str, computer: Computer) -> UserError:
    """Return the refusal of a host that lacks this Cloze."""
    command = shlex.join([*command_words(), "check-host", host, "--install"])
    template = marked(
        "engine",
        "{host} does not have the Cloze that runs here. Install it in a folder of its own there: {command}",
    )
    if computer.program:
        template = marked(
            "engine",
            "{host} has another Cloze than the one that runs here. Install this one as well: {command}",
        )
    return UserError(template, host=host, command=VerbatimText(command))


def _whole_lines(path: Path) -> int:
    """Return where the last whole line of a file ends."""
    try:
        return path.read_bytes().rfind(b"\n") + 1
    except OSError:
        return 0
