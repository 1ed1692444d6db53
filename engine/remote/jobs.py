"""A run as it is kept where it is trained: what was asked for, the process that makes it, how it stands.

<folder>/runs/<key>/
    job.json       what is trained, under which name, by SLURM or at once
    settings.toml  its settings, with paths of this computer
    alive          locked as long as a process of it lives; the lock is inherited, and dies with the last one
    code           the exit code of what trained, once it has ended
    log.txt        what it said
    job.sh         for SLURM
    <name>/        the run folder

The process (`be`) outlives whoever started it. It trains in a child, which it starts again from the
checkpoint where that was killed.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.durable import explained, write_text
from engine.errors import RunError, UserError, marked
from engine.files import is_bare_name, open_regular, read_json_object, read_regular
from engine.own_process import command_of, environment_of
from engine.remote import slurm
from engine.remote.computer import gpus
from engine.remote.contact import CRASHED, PAUSED, RUNNING, WAITING
from engine.settings.config import from_toml
from engine.train.run.lock import is_locked
from engine.train.run.runs import CONFIG, read_status, run_info
from engine.train.run.wanted import GO, PAUSE, STOP, WANTED, heeded, wanted

ABSENT = "absent"  # nothing was started under this key
KINDS = ("finetune", "pretrain")
MOST_TRIES = 5  # without a step further, after which a run that is killed stays so
ASK_SLURM_S = 5.0  # between two questions to SLURM, whose controller serves many
NEVER_BEGUN = 0  # the code of what was stopped before it had a run folder
LAST_BYTES, MOST_CODE = 2**15, 16
_KEY = re.compile(r"[0-9a-f]{16}")
_TORCHRUN_FAILED, _TORCHRUN_SAYS = re.compile(r"^E\d{4} ", re.MULTILINE), re.compile(r"[WI]\d{4} ")
_PORT = 29_400  # torchrun's own, between the nodes of one job

if os.name != "nt":
    import fcntl


def new_key() -> str:
    """Return a key that no other run has."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """What is to be trained. name: of the run folder. slurm: options of sbatch; None: at once. job: id."""

    name: str
    kind: str
    slurm: list[str] | None = None
    job: str = ""


class Job:
    """One of them."""

    def __init__(self, root: Path, key: str) -> None:
        if not _KEY.fullmatch(key):
            raise RunError(marked("engine", "{key!r} is no key of a run."), key=key)
        self.key, self.home = key, root / "runs" / key
        self._order: JobOrder | None = None
        self._by_slurm, self._asked_slurm = "", -math.inf

    @property
    def order(self) -> JobOrder | None:
        """What was asked for; None before."""
        if self._order is None:
            with suppress(UserError, TypeError):
                order = JobOrder(**read_json_object(self.home / "job.json"))
                if is_bare_name(order.name) and order.kind in KINDS:
                    self._order = order
        return self._order

    @property
    def run_dir(self) -> Path:
        """Where its run is. Raises: RunError: none was asked for."""
        if self.order is None:
            raise RunError(marked("engine", "There is no run {key} on this computer."), key=self.key)
        return self.home / self.order.name

    def start(self, order: JobOrder, settings: str) -> None:
        """Begin, or go on from its checkpoint; nothing happens where it is under way. Raises: UserError."""
        if not is_bare_name(order.name) or order.kind not in KINDS:
            raise RunError(marked("engine", "{name!r} is no name for a run."), name=order.name)
        with explained(self.home):
            self.home.mkdir(parents=True, exist_ok=True)
            hold = os.open(self.home / "alive", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return  # it is under way
        else:
            if settings and self.order is None:
                write_text(self.home / "settings.toml", settings)
            if self.order is None:
                self._write(order)
            self._asked_slurm = -math.inf
            (self.home / "code").unlink(missing_ok=True)
            heeded(self.run_dir)
            if order.slurm is None:
                self._begin(hold)
            else:
                self._submit(order)
        finally:
            os.close(hold)

    def state(self) -> tuple[str, str]:
        """Return how it stands, as a `Contact` says it, or ABSENT; and why."""
        self._order = None  # another line may have begun it anew
        if self.order is None:
            return ABSENT, ""
        by_slurm = self._slurm_state(self.order.job)
        is_alive = bool(by_slurm) or is_locked(self.home / "alive")
        if not (self.run_dir / CONFIG).is_file():
            if is_alive:
                return by_slurm or RUNNING, ""
            if self._code() == NEVER_BEGUN:
                return "stopped", ""
            return ("failed", last_words(self.home / "log.txt")) if 0 < self._code() < 128 else (CRASHED, "")
        status = read_status(self.run_dir)
        said = run_info(self.run_dir).state
        if said == "finished":
            return said, ""
        if is_alive or said == RUNNING:
            is_paused = said == RUNNING and wanted(self.run_dir) == PAUSE
            return PAUSED if is_paused else WAITING if by_slurm == WAITING else RUNNING, ""
        return said, str(status.get("reason", ""))[:1000]

    def _slurm_state(self, job: str) -> str:
        """Return what SLURM says of a job, asked now and then; where it does not answer, the job goes on."""
        if job and time.monotonic() - self._asked_slurm > ASK_SLURM_S:
            self._asked_slurm = time.monotonic()
            try:
                self._by_slurm = slurm.state_of(job)
            except UserError:
                self._by_slurm = self._by_slurm or RUNNING
        return self._by_slurm if job else ""

    def want(self, what: str) -> None:
        """Have it pause, go on, or stop; one that has no folder yet is ended. Raises: UserError."""
        order = self.order
        if order is None:
            return
        self._asked_slurm = -math.inf
        if (self.run_dir / CONFIG).is_file() and what in (PAUSE, STOP, GO):
            write_text(self.run_dir / WANTED, what)
        if what == STOP and self.state()[0] == WAITING:
            slurm.cancel(order.job)
        if what == STOP and not (self.run_dir / CONFIG).is_file():
            self._end(order)

    # --- the process ------------------------------------------------------------------------------

    def be(self, hold: int | None) -> int:
        """Be the process of this run; return its exit code. Args: hold: the lock that was inherited."""
        hold = os.open(self.home / "alive", os.O_RDWR | os.O_CREAT, 0o600) if hold is None else hold
        with suppress(OSError):  # inherited, it is held; on a node of a cluster it may not be possible
            fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        write_text(self.home / "pid", str(os.getpid()))
        is_over: list[int] = []  # signals: of a time that ends soon

        def stop(number: int, _frame: Any) -> None:
            is_over.append(number)
            with suppress(UserError):
                write_text(self.run_dir / WANTED, STOP)

        for number in (signal.SIGUSR1, signal.SIGTERM):
            signal.signal(number, stop)
        code = self._trained(hold)
        write_text(self.home / "code", str(code))
        is_stopped = (self.run_dir / CONFIG).is_file() and run_info(self.run_dir).state == "stopped"
        if is_stopped and is_over and is_over[0] == signal.SIGUSR1 and slurm.num_nodes():
            slurm.requeue()
        return code

    def _trained(self, hold: int) -> int:
        tries, reached = 0, -1
        while True:
            child = subprocess.Popen(
                self._words(),
                stdin=subprocess.DEVNULL,
                cwd=self.home,
                env=environment_of(),
                pass_fds=(hold,),
            )
            code = child.wait()
            is_there = (self.run_dir / CONFIG).is_file()
            was_killed = run_info(self.run_dir).state == CRASHED if is_there else code < 0
            step = run_info(self.run_dir).step if is_there else 0
            tries, reached = (0, step) if step > reached else (tries + 1, reached)
            if not was_killed or tries >= MOST_TRIES or wanted(self.run_dir) == STOP:
                return code

    def _words(self) -> list[str]:
        """Return the command that trains: over all GPUs here, by torchrun where there are several."""
        order, settings = self.order, self.home / "settings.toml"
        assert order is not None
        words = [order.kind, "--config", str(settings), "--run-dir", str(self.run_dir)]
        if (self.run_dir / CONFIG).is_file():
            words = ["resume", str(self.run_dir)]
        count, nodes = num_processes(settings), slurm.num_nodes()
        if count < 2 and nodes < 2:
            return command_of("engine", *words)
        if nodes < 2:
            return [*_torchrun("--standalone", f"--nproc-per-node={count}"), "-m", "engine", *words]
        meeting = f"--rdzv-endpoint={slurm.first_node()}:{_PORT}"
        over = [f"--nnodes={nodes}", f"--nproc-per-node={count}", "--rdzv-backend=c10d", meeting]
        return ["srun", "--ntasks-per-node=1", *_torchrun(*over), "-m", "engine", *words]

    def _begin(self, hold: int) -> None:
        with explained(self.home), open(self.home / "log.txt", "ab") as log:
            subprocess.Popen(
                command_of("engine.remote", "job", str(self.home), str(hold)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment_of(),
                pass_fds=(hold,),
                start_new_session=True,
            )

    def _submit(self, order: JobOrder) -> None:
        name, script = f"cloze-{self.key}", self.home / "job.sh"
        job = slurm.job_named(name)  # whoever submitted it may have been killed before it was written down
        if not job:
            words = command_of("engine.remote", "job", str(self.home))
            source = environment_of()["PYTHONPATH"]
            words = ["env", f"PYTHONPATH={source}", "PYTHONSAFEPATH=1", *words]
            write_text(script, slurm.script_of(name, self.home / "log.txt", words))
            job = slurm.submit(script, order.slurm or [])
        self._write(JobOrder(**{**asdict(order), "job": job}))

    def _write(self, order: JobOrder) -> None:
        write_text(self.home / "job.json", json.dumps(asdict(order), indent=1))
        self._order = order

    def _end(self, order: JobOrder) -> None:
        """End what has no run folder yet, and is therefore not asked."""
        with suppress(UserError, ValueError, OSError):
            if order.job and slurm.state_of(order.job):
                slurm.cancel(order.job)
            elif is_locked(self.home / "alive"):
                os.killpg(int(read_regular(self.home / "pid", most=MOST_CODE)), signal.SIGKILL)
        write_text(self.home / "code", str(NEVER_BEGUN))

    def _code(self) -> int:
        with suppress(UserError, ValueError):
            return int(read_regular(self.home / "code", most=MOST_CODE))
        return -1


def job_at(home: Path) -> Job:
    """Return the job of a folder."""
    return Job(home.parent.parent, home.name)


def num_processes(settings: Path) -> int:
    """Return how many processes train with these settings here: one for each GPU, one without."""
    if from_toml(settings).get("device") == "cpu":
        return 1
    return max(1, len(gpus()))


def last_words(log: Path) -> str:
    """Return the last line that a run said, not what torchrun says behind it; "" for none."""
    try:
        with open_regular(log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_BYTES))
            text = file.read(LAST_BYTES).decode(errors="replace")
    except (UserError, OSError):
        return ""
    lines = _TORCHRUN_FAILED.split(text)[0].splitlines()
    own = (line.strip() for line in reversed(lines) if not _TORCHRUN_SAYS.match(line))
    return next(filter(None, own), "")


def _torchrun(*how: str) -> Sequence[str]:
    return [sys.executable, "-m", "torch.distributed.run", *how]
