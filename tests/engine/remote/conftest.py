"""Other computers on this one, gone again after each test with all that ran there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.remote.loopback import SSH, SSHD, Elsewhere


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    """Another computer, reached by a stand-in for ssh."""
    there = Elsewhere(tmp_path / "elsewhere")
    there.stand_in()
    yield from _found(there, monkeypatch)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    """Another computer, reached by the real ssh through a real sshd on loopback."""
    if SSH is None or SSHD is None:
        pytest.skip("OpenSSH's client and server are not installed")
    if os.getuid() == 0 and not Path("/run/sshd").is_dir():
        pytest.skip("sshd started by root wants /run/sshd")
    there = Elsewhere(tmp_path / "elsewhere")
    there.serve()
    yield from _found(there, monkeypatch)


def _found(there: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    monkeypatch.setenv("PATH", f"{there.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(there.folder / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    try:
        yield there
    finally:
        there.close()
