"""For every test: one thread for torch, and real data found through CLOZE_DATA alone."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["CLOZE_LANG"] = "en"  # whatever the computer speaks
os.environ["OMP_NUM_THREADS"] = "1"  # scikit-learn's too, and those of processes that a test starts
import torch

from engine.errors import UserError
from engine.text import segmenter


@pytest.fixture(scope="session", autouse=True)
def quick_and_alike(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compute alike on every machine, and wait for nothing that has tests of its own.

    One thread: two that wait for each other on busy cores make tiny models a hundred times slower. No kernel
    is measured, and none computes below float32. The disk is not waited for: half of a tiny run's time.
    Nothing is kept among a person's own files.
    """
    from engine.model import fastest

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.device.num_cores", lambda: 1)
        patched.setattr(fastest, "seconds_of", lambda config: {fastest.TORCH: 2.0, fastest.ONEDNN: 1.0})
        patched.setattr("os.fsync", lambda _: None)
        cache = str(tmp_path_factory.mktemp("cache"))
        patched.setattr("platformdirs.user_cache_dir", lambda *_, **__: cache)
        yield


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of later collections: it stays, and each would look through it."""
    gc.freeze()


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Take back what a test before set."""
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture
def chinese_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a few Chinese words be found whole, as a segmenter finds them, whatever is installed."""
    known = "因为 下雨 所以 我们 没有 银行 苹果 苹果树 苹果公司 中国 人民 北京 电影 酒店 房间"
    yield from _segmented(monkeypatch, known.split())


@pytest.fixture
def chinese_characters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing find Chinese words, as where the package for it is not installed."""
    yield from _segmented(monkeypatch, [])


def _segmented(monkeypatch: pytest.MonkeyPatch, known: list[str]) -> Iterator[None]:
    longest_first = sorted(known, key=len, reverse=True)
    pattern = re.compile("|".join([*longest_first, "[A-Za-z0-9]+", "(?s:.)"]))

    def named(name: str) -> segmenter.Segment | None:
        if name and not known:
            raise UserError("there is no package")
        return pattern.findall if name else None

    monkeypatch.setattr(segmenter, "segmenter_named", named)
    for kept in (segmenter.going_on, segmenter.finds_chinese_words):
        kept.cache_clear()
    yield
    for kept in (segmenter.going_on, segmenter.finds_chinese_words):
        kept.cache_clear()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; without it the test is skipped."""
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CLOZE_DATA names no folder with real data")
    return Path(folder)
