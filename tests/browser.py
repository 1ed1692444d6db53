"""A real browser without a screen or a network, driven over a pipe: what it shows, asks for, complains of."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0
WIRED = """import os, sys
from fcntl import F_DUPFD, fcntl
ends = [fcntl(int(one), F_DUPFD, 10) for one in sys.argv[1:3]]
for place, end in enumerate(ends, start=3):  # it reads what it is told on 3, and answers on 4
    os.dup2(end, place)
os.execvp(sys.argv[3], sys.argv[3:])"""


def browser_path() -> str | None:
    """Return where a browser is; None: there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _without_network() -> tuple[str, ...]:
    """Return what starts a program without any network, where this is allowed."""
    if shutil.which("unshare") is None:
        return ()
    tried = subprocess.run(("unshare", "-n", "true"), capture_output=True, check=False)
    return ("unshare", "-n") if tried.returncode == 0 else ()


class Browser:
    """One tab. asked: addresses that were asked for. problems: what was refused, or failed in a script."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process, self._to, self._back = process, to, back
        self._rest, self._number, self._session = b"", 0, ""
        self.asked: list[str] = []
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **values: Any) -> Any:
        """Ask the browser for something; return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            answer = self._read(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
        raise TimeoutError(method)

    def _read(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self._back, 2**20) if ready else b""
            if not chunk:
                raise TimeoutError("the browser does not answer")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._hear(message.get("method", ""), message.get("params", {}))
        return message

    def _hear(self, method: str, said: Mapping[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            if not said["request"]["url"].startswith("data:"):  # that is in the file
                self.asked.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(said["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(said["entry"]["text"])

    def open(self, path: Path) -> None:
        """Open a file and wait until all of it is there."""
        self.asked, self.problems = [], []
        self.call("Page.navigate", url=path.absolute().as_uri())
        end = time.monotonic() + PATIENCE_S
        while self.run("document.readyState") != "complete" or self.run("location.href") == "about:blank":
            assert time.monotonic() < end
            time.sleep(0.01)

    def run(self, script: str) -> Any:
        """Return what an expression is on the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse to a place of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def wear(self, scheme: str) -> None:
        """Let the system be "light" or "dark"."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", media="", features=[feature])

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def printed(self) -> bytes:
        """Return the page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        """End it."""
        self._session = ""
        with suppress(OSError, TimeoutError, AssertionError):
            self.call("Browser.close")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


@contextmanager
def opened_browser(folder: Path) -> Iterator[Browser]:
    """Start a browser that keeps its files in a folder."""
    path = browser_path()
    assert path is not None
    read_there, to = os.pipe()
    back, write_there = os.pipe()
    command: Sequence[str] = (*_without_network(), path, *FLAGS, f"--user-data-dir={folder}")
    wired = (sys.executable, "-c", WIRED, str(read_there), str(write_there), *command)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(wired, pass_fds=(read_there, write_there), **quiet)  # type: ignore[call-overload]
    for one in (read_there, write_there):
        os.close(one)
    try:
        browser = Browser(process, to, back)
        try:
            yield browser
        finally:
            browser.close()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(to)
        os.close(back)
