"""What computes fastest here: chosen by a measurement, kept, and left alone where a person has chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.device import ONEDNN, TORCH, cpu_has_bfloat16, onednn, open_device
from engine.model import fastest as subject
from engine.model.config import BertConfig
from engine.model.fastest import BFLOAT16, fastest, measure, measure_again, said_of
from engine.settings.shared import DeviceConfig
from tests.fakes import tiny_config

MEASURED = subject.seconds_of  # before conftest.py takes its place
needs_both = pytest.mark.skipif(onednn is None, reason="this build has no oneDNN")


def chosen(monkeypatch: pytest.MonkeyPatch, times: Mapping[str, float], **asked: Any) -> tuple[str, str]:
    """Return the kernels and the precision on a CPU that has bfloat16 and takes such times."""
    monkeypatch.setattr(subject, "seconds_of", lambda config: times)
    monkeypatch.setattr(subject, "cpu_has_bfloat16", lambda: True)
    monkeypatch.setattr("engine.device.cpu_has_bfloat16", lambda: True)
    config = DeviceConfig(device="cpu", num_threads=1, **asked)
    found = fastest(open_device(config), config, tiny_config())
    said = said_of(found, config, tiny_config())
    assert (said is not None) == (found.precision == torch.bfloat16 and asked.get("precision") is None)
    return found.kernels, str(found.precision).removeprefix("torch.")


@needs_both
def test_the_faster_library_is_taken_and_bfloat16_from_a_fifth_more_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert chosen(monkeypatch, {TORCH: 1.0, ONEDNN: 1.1, BFLOAT16: 0.9}) == (TORCH, "float32")
    assert chosen(monkeypatch, {TORCH: 1.0, ONEDNN: 0.9, BFLOAT16: 0.8}) == (ONEDNN, "float32")
    assert chosen(monkeypatch, {TORCH: 1.0, ONEDNN: 0.9, BFLOAT16: 0.7})[1] == "bfloat16"
    assert chosen(monkeypatch, {TORCH: 1.0}) == (TORCH, "float32")


@needs_both
def test_what_a_person_has_chosen_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {TORCH: 1.0, ONEDNN: 0.5, BFLOAT16: 0.1}
    assert chosen(monkeypatch, times, precision="float32") == (ONEDNN, "float32")
    assert chosen(monkeypatch, times, precision="float32", kernels="torch") == (TORCH, "float32")
    times = {TORCH: 1.0, ONEDNN: 2.0, BFLOAT16: 3.0}
    assert chosen(monkeypatch, times, precision="bfloat16")[1] == "bfloat16"


def test_each_way_there_is_here_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MOST_S", 0.0)
    times, _ = measure(16, 32, 2)
    ways = {TORCH, *([ONEDNN] if onednn is not None else []), *([BFLOAT16] if cpu_has_bfloat16() else [])}
    assert set(times) == ways and all(0.0 < seconds < 10.0 for seconds in times.values())


@pytest.mark.slow
@pytest.mark.parametrize(("share", "is_sure"), [(1.0, True), (0.5, False)])
def test_a_measurement_ends_by_the_clock_and_is_kept_only_where_the_thread_computed_all_the_time(
    share: float, is_sure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, tick = 0.0, 0.001  # seconds on the wall; the thread computes for a share of them

    def now() -> float:
        nonlocal at
        at += tick
        return at

    clock = SimpleNamespace(perf_counter=now, thread_time=lambda: share * now(), process_time=now)
    monkeypatch.setattr(subject, "time", clock)
    monkeypatch.setattr(subject.torch, "get_num_threads", lambda: 1)
    times, found = measure(16, 32, 2)
    assert found == is_sure and at < subject.MOST_S + 0.1
    assert times[TORCH] == pytest.approx(share * 0.001, rel=0.1)  # of processor time, not of the wall
    tick = 0.05
    assert not measure(16, 32, 2)[1]  # too few turns in that time


def test_who_asks_with_gradients_off_has_the_machine_measured_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MOST_S", 0.0)
    monkeypatch.setattr(subject.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    subject.forget()
    with torch.inference_mode():
        assert MEASURED(tiny_config())[TORCH] > 0.0
    subject.forget()


def test_a_machine_is_measured_once_unless_it_was_crowded_or_the_record_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    crowded = False

    def timed(width: int, inner: int, heads: int) -> tuple[dict[str, float], bool]:
        measured.append(width)
        return {TORCH: 1.0 * len(measured)}, not crowded

    monkeypatch.setattr(subject, "measure", timed)
    monkeypatch.setattr(subject.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))

    def ask(config: BertConfig) -> float:
        subject.forget()  # as another process, which knows the file alone
        return MEASURED(config)[TORCH]

    small, wide = tiny_config(), tiny_config(hidden_size=24)
    assert [ask(small), ask(wide), ask(small), ask(wide)] == [1.0, 2.0, 1.0, 2.0]
    measure_again(small)
    assert [ask(small), ask(wide), ask(small)] == [3.0, 2.0, 3.0]  # the other size is left as it was
    file = tmp_path / "cache" / "speeds.json"
    kept = json.loads(file.read_text("utf-8"))
    for damaged in ("no JSON", json.dumps({key: {TORCH: "fast"} for key in kept}), "[]"):
        file.write_text(damaged, "utf-8")
        before = len(measured)
        assert ask(small) == ask(small) == before + 1.0
    file.unlink()
    crowded, before = True, len(measured)
    assert [ask(small), ask(small)] == [before + 1.0, before + 2.0] and not file.exists()
    crowded = False
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_text("a file where the folder should be", "utf-8")
    assert ask(small) > 0.0
    subject.forget()
