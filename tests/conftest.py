"""For every test: one thread for torch, and real data found through CLOZE_DATA alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that wait for each other on busy cores make tiny models a hundred times slower."""
    monkeypatch.setattr("engine.device.num_cores", lambda: 1)
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute alike on every machine, in float32, and measure nothing: that has its own tests."""
    from engine.model import fastest

    monkeypatch.setattr(fastest, "seconds_of", lambda config: {fastest.TORCH: 2.0, fastest.ONEDNN: 1.0})


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: half of a tiny run's time. What syncing is for has its own tests."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; without it the test is skipped."""
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CLOZE_DATA names no folder with real data")
    return Path(folder)
