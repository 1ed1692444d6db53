"""Processes that begin at once: forks of one that has torch and the engine loaded.

A third of what a test of a command takes is Python loading torch. `start` gives what the tests use of
`subprocess.Popen`, and that itself where there is no fork. A test of starting itself, or of variables that
are read as torch is loaded, has `is_loaded=False`.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
_LOADED = (
    "torch",
    "engine.commands.command_line",
    "engine.train.finetune",
    "engine.train.pretrain",
    "engine.train.resume",
)
_NUMBER = 8  # bytes
_parent: socket.socket | None = None


class Process:
    """A fork at work: what the tests use of `subprocess.Popen`."""

    def __init__(self, pid: int, ended: socket.socket, stdout: IO[str], stderr: IO[str] | None) -> None:
        self.pid, self._ended, self.stdout, self.stderr = pid, ended, stdout, stderr
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or the signal's below 0; None while it works."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0.001)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended. Raises: subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._ended.settimeout(timeout)
            try:
                status = self._ended.recv(_NUMBER)
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status))
            self._ended.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return all that it says. Raises: subprocess.TimeoutExpired: it is killed then."""
        said = {"stdout": "", "stderr": ""}

        def read(name: str, stream: IO[str]) -> None:
            with stream:
                said[name] = stream.read()

        streams = {name: stream for name in said if (stream := getattr(self, name)) is not None}
        readers = [threading.Thread(target=read, args=one, daemon=True) for one in streams.items()]
        for reader in readers:
            reader.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        for reader in readers:
            reader.join()
        return said["stdout"], said["stderr"]

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing happens where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start(
    words: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    cwd: Path | None = None,
    one_output: bool = False,
    is_loaded: bool = True,
) -> Process | subprocess.Popen[str]:
    """Start `python WORDS`, such as `-m engine runs` or a file, with its outputs held here.

    Args: one_output: what it says on stderr comes on stdout. is_loaded: else it loads what it needs itself.
    """
    said = [str(word) for word in words]
    if not (is_loaded and hasattr(os, "fork")):
        return subprocess.Popen(
            [sys.executable, *said],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if one_output else subprocess.PIPE,
            encoding="utf-8",
            env=dict(environment),
            cwd=cwd,
        )
    out, err = os.pipe(), os.pipe()
    mine, theirs = socket.socketpair()
    request = json.dumps({"words": said, "environment": dict(environment), "cwd": str(cwd or Path.cwd())})
    outputs = (out[1], out[1] if one_output else err[1])
    with theirs, (ROOT / "README.md").open() as nothing:
        length = len(request).to_bytes(_NUMBER)
        socket.send_fds(_running(), [length], [*outputs, theirs.fileno(), nothing.fileno()])
        _running().sendall(request.encode())
    for place in {out[1], err[1]}:
        os.close(place)
    pid = int.from_bytes(mine.recv(_NUMBER))
    if one_output:
        os.close(err[0])
    return Process(pid, mine, _text(out[0]), None if one_output else _text(err[0]))


def _text(place: int, mode: str = "r", **more: Any) -> IO[str]:
    return os.fdopen(place, mode, encoding="utf-8", errors="backslashreplace", **more)


def _running() -> socket.socket:
    """Return the line to the process that forks; the first who asks starts it."""
    global _parent
    if _parent is None:
        _parent, theirs = socket.socketpair()
        with theirs:
            line = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
            process = subprocess.Popen(line, pass_fds=[theirs.fileno()], env=environment, cwd=ROOT)
        atexit.register(_end, _parent, process)
    return _parent


def _end(line: socket.socket, process: subprocess.Popen[bytes]) -> None:
    line.close()
    process.wait()


# ---- in the process that forks


def main() -> None:
    """Fork for each request, and be what was asked for in the fork."""
    for name in _LOADED:
        __import__(name)
    requests = socket.socket(fileno=int(sys.argv[1]))
    while (asked := _taken(requests)) is not None:
        request, places = asked
        if os.fork() == 0:
            requests.close()
            if (line := _kept(places)) is not None:
                _be(request, places, line)
                return
            os._exit(0)
        for place in places:
            os.close(place)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _taken(requests: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    length, places, _, _ = socket.recv_fds(requests, _NUMBER, 4)
    if not length:
        return None
    left, text = int.from_bytes(length), b""
    while len(text) < left:
        text += requests.recv(left - len(text))
    return json.loads(text), places


def _kept(places: list[int]) -> socket.socket | None:
    """Fork once more: who stays tells of the other's number and end; None for it, a line for the other."""
    line = socket.socket(fileno=places[2])
    pid = os.fork()
    if pid == 0:
        return line
    for place in (places[0], places[1], places[3]):
        with suppress(OSError):
            os.close(place)
    line.sendall(pid.to_bytes(_NUMBER))
    line.sendall(os.waitpid(pid, 0)[1].to_bytes(_NUMBER))
    return None


def _be(request: dict[str, Any], places: list[int], line: socket.socket) -> None:
    """Be `python WORDS`."""
    line.close()
    for place, stands in ((places[3], 0), (places[0], 1), (places[1], 2)):
        os.dup2(place, stands)
    for place in set(places) - {places[2]}:
        os.close(place)
    sys.stdin, sys.stdout, sys.stderr = _text(0), _text(1, "w"), _text(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    words = request["words"]
    if words[0] == "-m":
        sys.argv = [words[1], *words[2:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
