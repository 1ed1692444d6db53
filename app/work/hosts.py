"""Other computers as the window knows them: what is on them, Cloze put there, weights on their way here.

Asking takes as long as ssh does, so it has a thread of its own; whatever page is open, it goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import words
from app.settings import AppSettings
from app.words import translate
from app.work.busy import Busy
from app.work.later import later
from app.work.worker import Channel, Workers
from engine.events import Event, Fetched, Progress, Steps
from engine.train.run.lock import is_locked
from engine.train.run.mirrored import host_of
from engine.train.run.runs import LOCK
from engine.train.run.wanted import FETCH, want

if TYPE_CHECKING:
    from engine.remote.computer import Computer
    from engine.remote.hosts import check_host, hosts
    from engine.remote.install import install
    from engine.remote.run import fetch, look_at, pass_on
else:
    check_host, hosts = (later("engine.remote.hosts", name) for name in ("check_host", "hosts"))
    install = later("engine.remote.install", "install")
    fetch, look_at, pass_on = (later("engine.remote.run", name) for name in ("fetch", "look_at", "pass_on"))

TYPED = "hosts"  # those that a person has typed, the newest first
MOST_TYPED = 10


@dataclass(frozen=True, slots=True)
class HostState:
    """What is known of a host. is_asked: somebody waits for its answer; installs: Cloze is put there.

    stage: how far that is. computer: as it said itself last. refusal: why it did not, in ssh's own words.
    """

    is_asked: bool = False
    installs: bool = False
    stage: Progress | None = None
    computer: Computer | None = None
    refusal: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Copying:
    """The weights of a run on their way here. moved: how far a file is; None before the first byte."""

    run_dir: Path
    host: str
    moved: Fetched | None = None


class Hosts(QObject):
    """Asks one question of each host at a time, and has the weights of one run come."""

    changed = Signal(str)  # a host of which something else is known
    copying_changed = Signal()
    copied = Signal(object)  # Path of a run whose weights are here
    refused = Signal(object, object)  # Path of a run that could not be asked for something, and why

    def __init__(
        self, settings: AppSettings, workers: Workers, busy: Busy, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._workers, self._busy = settings, workers, busy
        self._states: dict[str, HostState] = {}
        self._asking: dict[str, Channel] = {}
        self._copying, self._passing = Channel(self, workers.hosts), Channel(self, workers.hosts)
        self.copying: Copying | None = None

    # ---- which there are

    def names(self) -> tuple[str, ...]:
        """Return the hosts to choose from: those of ~/.ssh/config, then those that were typed."""
        return tuple(dict.fromkeys([*hosts(), *self._settings.value(TYPED, list[str]())]))

    def add(self, host: str) -> str:
        """Remember a host that was typed; return its name. Raises: UserError: it is none."""
        name = check_host(host.strip())
        typed = [one for one in self._settings.value(TYPED, list[str]()) if one != name]
        self._settings.set_value(TYPED, [name, *typed][:MOST_TYPED])
        return name

    # ---- what is on them

    def state(self, host: str) -> HostState:
        """Return what is known of a host."""
        return self._states.get(host, HostState())

    def check(self, host: str) -> None:
        """Ask a host what it has."""
        self._ask(host, partial(look_at, host), HostState(is_asked=True))

    def install(self, host: str) -> None:
        """Put the Cloze that runs here on a host, and ask what it has then."""
        known = self.state(host).computer
        self._ask(host, partial(install, host), HostState(is_asked=True, installs=True, computer=known))

    def cancel(self, host: str) -> None:
        """Wait no longer for a host."""
        if host in self._asking:
            self._asking[host].drop()
            self._set(host, replace(self.state(host), is_asked=False, installs=False, stage=None))

    def _ask(self, host: str, work: Callable[[], Steps[Computer]], state: HostState) -> None:
        channel = self._asking.setdefault(host, Channel(self, self._workers.hosts))
        self._set(host, state)
        channel.ask(
            host,
            work,
            heard=lambda found: self._set(host, HostState(computer=found)),
            refused=lambda error: self._set(host, HostState(refusal=error)),
            progress=lambda event: self._hear(host, event),
            again=True,
        )

    def _hear(self, host: str, event: Event) -> None:
        if isinstance(event, Progress):
            self._set(host, replace(self.state(host), stage=event))

    def _set(self, host: str, state: HostState) -> None:
        self._states[host] = state
        if state.installs:
            self._busy.show(
                f"host {host}", translate("hosts", "Installing Cloze on {host}").format(host=host)
            )
        else:
            self._busy.end(f"host {host}")
        self.changed.emit(host)

    # ---- their runs

    def copy_weights(self, run_dir: Path, allowed: str = "") -> None:
        """Have the weights of a run come; nothing while others do. Raises: UserError.

        Args: allowed: the host that a person has allowed to be asked, where the folder was not made here.
        """
        if is_locked(run_dir / LOCK):
            want(run_dir, FETCH)
        elif self.copying is None:
            self._set_copying(Copying(run_dir, host_of(run_dir)))
            self._copying.ask(
                run_dir,
                partial(_copied, run_dir, allowed),
                heard=self.copied.emit,
                refused=partial(self.refused.emit, run_dir),
                progress=self._hear_copying,
                ended=partial(self._set_copying, None),
                again=True,
            )

    def cancel_copying(self) -> None:
        """Let the weights be where they are; what has come is kept for the next time."""
        self._copying.drop()

    def _hear_copying(self, event: Event) -> None:
        if isinstance(event, Fetched) and self.copying is not None:
            self._set_copying(replace(self.copying, moved=event))

    def _set_copying(self, copying: Copying | None) -> None:
        self.copying = copying
        if copying is not None:
            self._busy.show("weights", copying_words(copying))
        else:
            self._busy.end("weights")
        self.copying_changed.emit()

    def want(self, run_dir: Path, what: str, allowed: str = "") -> None:
        """Let a run there pause, continue or stop: by whoever follows it, else by asking its host now.

        Args: allowed: as for `copy_weights`. Raises: UserError.
        """
        if is_locked(run_dir / LOCK):
            want(run_dir, what)
        else:
            self._passing.ask(
                (run_dir, what),
                partial(pass_on, run_dir, what, host=allowed),
                heard=lambda _: None,
                refused=partial(self.refused.emit, run_dir),
                again=True,
            )


def copying_words(copying: Copying) -> str:
    """Return how far weights on their way are: "Downloading model.safetensors from gpu1: 3.1 of 12.5 MB"."""
    moved = copying.moved
    if moved is None:
        return translate("hosts", "Connecting to {host}…").format(host=copying.host)
    text = translate("hosts", "Downloading {file} from {host}: {done} of {total}.")
    done, total = words.file_size(moved.done), words.file_size(moved.total)
    return text.format(file=moved.file, host=copying.host, done=done, total=total)


def _copied(run_dir: Path, host: str) -> Steps[Path]:
    yield from fetch(run_dir, host=host)
    return run_dir
