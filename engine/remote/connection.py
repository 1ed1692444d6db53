"""One connection to a host: the system's own ssh, its agent there at the other end, questions and answers.

ssh alone knows keys, passwords and host keys: what it would have to ask a person for, it is not asked
(BatchMode). One process is one connection for everything, so no control socket is made; one that a person
keeps open is used. Nothing listens anywhere. What a host says is bounded by frames.py.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from typing import Any, BinaryIO, cast

from engine.errors import Sentence, UserError, marked
from engine.events import Beat, Event, Steps
from engine.own_process import environment_of
from engine.remote import frames
from engine.remote.computer import Computer, computer_from, program, source_root
from engine.remote.frames import BLOCK, MARK, Frame, foreign
from engine.remote.hosts import HostSettings, check_host

BEAT_S = 0.1  # between two places at which a question can be given up
CONNECT_S = 15  # that ssh may take to reach a host
ALIVE_S, ALIVE_TIMES = 10, 3  # ssh asks whether the host is there, and after so many silences it is not
MOST_SILENT_S = 90.0  # beyond what a question may wait there
MOST_NOISE = 2**18  # bytes that a login says before us
PIECE = 2**18  # bytes that are handed to ssh at once
PROBED = "probe"  # what answers where there is no Cloze
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": f"{CONNECT_S}",
    "ServerAliveInterval": f"{ALIVE_S}",
    "ServerAliveCountMax": f"{ALIVE_TIMES}",
    "ControlMaster": "no",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "LogLevel": "ERROR",
}
# what a computer without Cloze can say, by tools that each has; on one line, for the sake of csh
_PROBE = (
    r"""say() { printf "%s\t%s\n" "$1" "$2"; }; """
    r"""printf "\n%sprobe\n" "MARK"; """
    r"""say name "$(uname -n)"; say system "$(uname -s) $(uname -m)"; """
    r"""say num_cores "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"; """
    r"""say memory_kb "$(sed -n "s/^MemTotal: *\([0-9]*\).*/\1/p" /proc/meminfo 2>/dev/null)"; """
    r"""say free_kb "$(df -Pk "$HOME" 2>/dev/null | tail -n 1 | tr -s " " | cut -d " " -f 4)"; """
    r"""for p in PYTHONS; do "$p" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && """
    r"""{ say python "$("$p" -c "import platform; print(platform.python_version())")"; break; }; done; """
    r"""nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | """
    r"""while read -r g; do say gpu "$g"; done; """
    r"""command -v sbatch >/dev/null 2>&1 && say slurm yes; exit 0"""
)
PYTHONS = "python3.13 python3.12 python3.11 python3"


class Lost(Exception):
    """The line has ended. why: as ssh says it."""

    def __init__(self, why: Sentence) -> None:
        self.why = why
        super().__init__(str(why))


class Connection:
    """A line to a host. Made by `connected`; one question at a time."""

    def __init__(self, host: str, command: str) -> None:
        self.host = check_host(host)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 # closed with the line
        words = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
        apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C is for us
        if sys.platform == "win32":
            apart = {"creationflags": 0x00000200 | 0x08000000}  # CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW
        try:
            self._process = subprocess.Popen(
                ["ssh", "-T", *words, "--", host, command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env=environment_of(),
                **apart,
            )
        except FileNotFoundError:
            raise UserError(
                marked("engine", "There is no ssh on this computer. Install OpenSSH’s client and try again.")
            ) from None
        self._answers: SimpleQueue[tuple[Frame, bytes] | None] = SimpleQueue()
        self._waiting: Queue[bytes | None] = Queue(8)
        self.probed: Computer | None = None  # where there is no Cloze: what there is
        self._is_there = False
        for work in (self._listen, self._speak):
            threading.Thread(target=work, daemon=True, name="ssh").start()

    def ask(self, do: str, *, most_wait_s: float = 0.0, **more: Any) -> Steps[tuple[Frame, bytes]]:
        """Put a question; return what was answered, and the bytes that came with it.

        Raises: Lost; UserError: what was refused there.
        """
        yield from self._hand(frames.said({"do": do, **more}))
        return (yield from self._answer(most_wait_s))

    def send(self, file: BinaryIO, count: int, **more: Any) -> Generator[Event | int, None, Frame]:
        """Put bytes of a file into the store there; yield how many are on their way, return the answer.

        Raises: as `ask`.
        """
        yield from self._hand(frames.said({"do": "put", **more}, count))
        left = count
        while left:
            data = file.read(min(left, PIECE))
            if not data:  # it was cut back meanwhile
                raise self._lost(marked("engine", "a file that was being sent has changed"))
            left -= len(data)
            yield from self._hand(data)
            yield count - left
        return (yield from self._answer(0.0))[0]

    def close(self) -> None:
        """End the line; what trains there goes on."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        with suppress(Full):
            self._waiting.put_nowait(None)
        self._said.close()

    def greeted(self) -> Iterator[Event]:
        """Wait until somebody answers there. Raises: Lost."""
        frame, _ = yield from self._answer(float(CONNECT_S))
        if frame.get("who") == PROBED:
            self.probed = _probed(frame.get("lines", []))
        self._is_there = True

    def _answer(self, most_wait_s: float) -> Steps[tuple[Frame, bytes]]:
        until = time.monotonic() + MOST_SILENT_S + most_wait_s
        while True:
            try:
                found = self._answers.get(timeout=BEAT_S)
            except Empty:
                if time.monotonic() > until:
                    raise self._lost(marked("engine", "no answer came")) from None
                yield Beat()
                continue
            if found is None:
                raise self._lost()
            if "refused" in found[0]:
                template = marked("engine", "{host} refused: {reason}")
                raise UserError(template, host=self.host, reason=foreign(str(found[0]["refused"]), 500))
            return found

    def _hand(self, data: bytes) -> Iterator[Event]:
        """Give bytes to ssh, waiting for it as long as it lives. Raises: Lost."""
        while True:
            try:
                self._waiting.put(data, timeout=BEAT_S)
                return
            except Full:
                if self._process.poll() is not None:
                    raise self._lost() from None
                yield Beat()

    def _listen(self) -> None:
        """Hand on what the host says, to the end."""
        assert self._process.stdout is not None
        output = cast(BinaryIO, self._process.stdout)
        with output as stream, suppress(frames.Garbled, OSError, ValueError):
            who = _greeting(stream)
            if who == PROBED:
                lines = stream.read(MOST_NOISE).decode(errors="replace").splitlines()
                self._answers.put(({"who": who, "lines": lines}, b""))
            elif who is not None:
                self._answers.put(({"who": who}, b""))
                while (heard := frames.heard(stream, BLOCK)) is not None:
                    data = frames.heard_bytes(stream, heard[1])
                    if data is None:
                        break
                    self._answers.put((heard[0], data))
        self._answers.put(None)

    def _speak(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError), self._process.stdin as stream:
            while (data := self._waiting.get()) is not None:
                stream.write(data)
                stream.flush()

    def _lost(self, reason: str = "") -> Lost:
        """Return what is known of the line's end: what ssh said last."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        said = ""
        with suppress(OSError, ValueError):
            self._said.seek(0)
            lines = self._said.read(MOST_NOISE).decode(errors="replace").splitlines()
            said = next((line.strip() for line in reversed(lines) if line.strip()), "").removeprefix("ssh: ")
        if "Host key verification failed" in said:
            template = marked(
                "engine",
                "ssh does not know {host} yet, or its key has changed: {reason} Connect once in a terminal, "
                "by ssh {host}, and try again.",
            )
        elif self._is_there:
            template = marked("engine", "The connection to {host} has ended: {reason}")
        else:
            template = marked("engine", "{host} cannot be reached. ssh says: {reason}")
        why: Any = foreign(said) if said else Sentence(reason or _ENDED)
        return Lost(Sentence(template, {"host": self.host, "reason": why}))


_ENDED = marked("engine", "it ended without a word")


def connected(host: str, settings: HostSettings) -> Steps[Connection]:
    """Connect to a host, to the Cloze there, or else to a few lines of its shell. Raises: Lost, UserError."""
    connection = Connection(host, command_there(settings))
    try:
        yield from connection.greeted()
    except BaseException:
        connection.close()
        raise
    return connection


def command_there(settings: HostSettings) -> str:
    """Return what ssh has a host do: begin the same Cloze as this, wherever it lies there, else say what
    there is. It is one word for a POSIX shell, whichever shell a person has there.
    """
    agent = f"-m engine.remote agent {shlex.quote(settings.folder)}"
    home = f"{in_shell(settings.folder)}/programs/{program()}"
    lines = [
        f'p={home}/bin/python; [ -f {home}/ready ] && PYTHONSAFEPATH=1 exec "$p" {agent}',
    ]
    if settings.python:
        python = in_shell(settings.python)
        lines.append(f'{python} -c "import engine.remote.agent" 2>/dev/null && exec {python} {agent}')
    source = source_root()
    if source is not None:  # the same computer, or one that shares its files
        here, python = shlex.quote(str(source)), shlex.quote(sys.executable)
        lines.append(
            f"[ -x {python} ] && [ -f {here}/engine/remote/agent.py ] && "
            f"PYTHONPATH={here} PYTHONSAFEPATH=1 exec {python} {agent}"
        )
    script = "; ".join(lines) + "; " + _PROBE.replace("MARK", MARK).replace("PYTHONS", pythons(settings))
    return f"exec /bin/sh -c {shlex.quote(script)}"


def pythons(settings: HostSettings) -> str:
    """Return the Pythons that are tried there, as words of a shell."""
    return f"{in_shell(settings.python)} {PYTHONS}" if settings.python else PYTHONS


def in_shell(path: str) -> str:
    """Return a path there as a word of a shell, its ~ as the home folder."""
    if path == "~" or path.startswith("~/"):
        return f'"$HOME"{shlex.quote(path[1:])}' if path != "~" else '"$HOME"'
    return shlex.quote(path)


def _greeting(stream: BinaryIO) -> str | None:
    """Read past what a login says; return who answers. None: nobody."""
    left = MOST_NOISE
    while left > 0 and (line := stream.readline(left)):
        left -= len(line)
        if line.startswith(MARK.encode()):
            return line[len(MARK) :].decode(errors="replace").strip()
    return None


def _probed(lines: list[str]) -> Computer:
    said = [(key, value.strip()) for key, _, value in (line.partition("\t") for line in lines)]
    known = dict(said)
    kb = {
        name: int(known[f"{name}_kb"])
        for name in ("memory", "free")
        if known.get(f"{name}_kb", "").isdecimal()
    }
    cores = known.get("num_cores", "")
    return computer_from(
        {
            **{name: known.get(name, "") for name in ("name", "system", "python")},
            "num_cores": int(cores) if cores.isdecimal() else 0,
            "memory_bytes": kb.get("memory", 0) * 1024,
            "free_bytes": kb.get("free", 0) * 1024,
            "gpus": [value for key, value in said if key == "gpu"],
            "has_slurm": "slurm" in known,
        }
    )
