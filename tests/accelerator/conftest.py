"""Tests on an emulated GPU are done in a process of their own, for torch cannot be rid of it again.

There is one for each process of pytest, which asks it for one test after the other and tells what came out.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
NAMED = "CLOZE_EMULATED_GPU"  # in the environment of the process that has one


class Apart:
    """The process that has an emulated GPU."""

    def __init__(self) -> None:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("apart.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**ours, NAMED: "1", "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            text=True,
            encoding="utf-8",
        )
        atexit.register(self.end)

    def do(self, test: str) -> dict[str, str]:
        """Return what came out of a test, {"outcome", "said"}."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if self._process.poll() is None:
            self._process.stdin.write(f"{json.dumps(test)}\n")
            self._process.stdin.flush()
            if answer := self._process.stdout.readline():
                return dict(json.loads(answer))
        return {"outcome": "failed", "said": f"the process ended with {self._process.wait()}"}

    def end(self) -> None:
        """Let the process end."""
        with self._process:  # closes what it reads from, so that it ends, and what it writes to
            pass


_apart: list[Apart] = []


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Have a test done where the emulated GPU is."""
    if NAMED in os.environ:
        return None
    if not hasattr(getattr(torch._C, "_acc", None), "create_empty_tensor"):
        pytest.skip("this torch takes no device that is written in Python")
    if not _apart:
        _apart.append(Apart())
    found = _apart[0].do(pyfuncitem.nodeid)
    if found["outcome"] == "skipped":
        pytest.skip(found["said"])
    if found["outcome"] != "passed":
        pytest.fail(found["said"], pytrace=False)
    return True


@pytest.fixture(autouse=True)
def emulated_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let the engine take the emulated GPU for its own, new to every test."""
    if NAMED in os.environ:
        from tests.accelerator import emulated

        emulated.set_up()
        monkeypatch.setattr("engine.device.GPU", emulated.NAME)
        monkeypatch.setattr("engine.train.pretraining.setup.default_store_root", lambda: tmp_path / "cache")
        emulated.machine.renew()
    yield
