"""Files of tensors: what is saved comes back bit for bit, and was on the disk before it took its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError
from engine.model.tensor_files import load_tensors, save_tensors


def test_tensors_of_all_types_and_shapes_come_back_bit_for_bit(tmp_path: Path) -> None:
    tensors = {
        "step": torch.tensor(13),
        "rng": torch.arange(7, dtype=torch.uint8),
        "mask": torch.tensor([True, False]),
        "half": torch.randn(3, 5).bfloat16(),
        "byte": torch.randn(3, 5).to(torch.float8_e4m3fn),
        "turned": torch.randn(5, 3).t(),
        "empty": torch.zeros(0, 4),
    }
    save_tensors(tmp_path / "state.safetensors", tensors)
    loaded = load_tensors(tmp_path / "state.safetensors")
    assert loaded.keys() == tensors.keys()
    for name, value in tensors.items():
        assert loaded[name].dtype == value.dtype and torch.equal(loaded[name], value)
    (tmp_path / "cut").write_bytes((tmp_path / "state.safetensors").read_bytes()[:-1])
    with pytest.raises(ModelError, match="cut is truncated"):
        load_tensors(tmp_path / "cut")


def test_saved_tensors_are_synced_before_they_take_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (order.append("sync"), fsync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("rename"), replace(a, b))[1])
    save_tensors(tmp_path / "x.safetensors", {"x": torch.zeros(3)})
    assert order == ["sync", "rename", "sync"]  # the file, its place, the folder
