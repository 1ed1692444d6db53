"""The check that a person with a GPU runs: its part that needs none, and that it finds what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_check
from engine.model import attention
from engine.model.fused_attention import attend

SMALL = ["--cpu", "--preset", "2x16x2", "--steps", "12", "--shapes", "12"]


def findings(folder: Path, *words: str) -> tuple[int, dict[str, bool | None]]:
    """Run the check; return its exit code, and whether each finding passed."""
    code = gpu_check.main([*SMALL, *words, "--json", str(folder / "found.json")])
    found = json.loads((folder / "found.json").read_text())["findings"]
    return code, {finding["name"]: finding["passed"] for finding in found}


@pytest.mark.slow
def test_what_needs_no_gpu_passes_and_the_rest_is_said_not_to_be_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = findings(tmp_path)
    passed = [name for name, has_passed in found.items() if has_passed]
    unseen = [name for name, has_passed in found.items() if has_passed is None]
    said = capsys.readouterr().out
    assert code == 0 and len(passed) == 10 and len(unseen) == 8, said
    assert all(name in said.split("No GPU was there for:")[1] for name in unseen)
    assert all(f"pass  {name}: " in said for name in passed)


@pytest.mark.slow
def test_a_gradient_made_of_memory_that_nobody_wrote_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def careless(qkv: torch.Tensor, runs: Any, num_heads: int, queries: Any = None) -> torch.Tensor:
        context = attend(qkv, runs, num_heads, queries).clone()
        if queries is None:
            context[sum(count * length for count, length in runs) :] = torch.nan  # as rows left unwritten
        return context

    monkeypatch.setattr(attention, "attend", careless)
    code, found = findings(tmp_path, "--only", "parity")
    failed = {name for name, passed in found.items() if passed is False}
    assert code == 1 and len(failed) == 4 and all("0 rows" not in name for name in failed)
    assert "FAIL  pretraining, 31 rows of filler" in capsys.readouterr().out


def test_a_check_that_breaks_off_has_failed_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("called a synchronizing CUDA operation")

    monkeypatch.setattr(gpu_check, "memory_over_shapes", broken)
    code, found = findings(tmp_path, "--only", "memory")
    assert code == 1 and found == {"memory": False}
    assert "FAIL  memory: RuntimeError: called a synchronizing CUDA operation" in capsys.readouterr().out
