"""A checkpoint's folder: weights, optimizer, state.json and, last, manifest.json with the sha256 of each.

What is read is held to what it can be: a checkpoint that is not whole, or was edited, is none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from engine.device import is_out_of_memory
from engine.errors import RunError, UserError, marked
from engine.files import open_regular, read_json_object
from engine.model.weights import load_tensors
from engine.train.run.records import whole_number

MANIFEST = "manifest.json"
_FILES = {"weights.safetensors", "optimizer.safetensors", "state.json"}  # beside the manifest
_MOST = 2**20  # bytes of state.json and manifest.json


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint: its folder, and `state` as it was saved."""

    path: Path
    step: int
    state: Mapping[str, Any]

    def weights(self) -> dict[str, Tensor]:
        """Return the model's tensors."""
        return load_tensors(self.path / "weights.safetensors")

    def optimizer(self) -> dict[str, Tensor]:
        """Return the optimizer's tensors."""
        return load_tensors(self.path / "optimizer.safetensors")

    def load_into(self, model: nn.Module) -> None:
        """Give a model the weights. Raises: RunError if they are those of another."""
        with self.fitting():
            model.load_state_dict(self.weights())

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Tell in a sentence that what it holds does not fit the run it lies in. Raises: RunError."""
        try:
            yield
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            if is_out_of_memory(error):
                raise
            raise RunError(
                marked(
                    "engine",
                    "The checkpoint {path} does not fit its run, so the run cannot continue. Start a "
                    "new one.",
                ),
                path=self.path,
            ) from error


def manifest(folder: Path) -> dict[str, Any]:
    """Return the size and sha256 of every file of a checkpoint that is being written."""
    return {
        file.name: {"bytes": file.stat().st_size, "sha256": _sha256(file)}
        for file in sorted(folder.iterdir())
        if file.name != MANIFEST
    }


def state_in(path: Path) -> dict[str, Any] | None:
    """Return the state that a checkpoint holds, or None unless all of it is whole and what it can be."""
    try:
        manifest = read_json_object(path / MANIFEST, most=_MOST)
        if not set(manifest) >= _FILES or any(Path(name).name != name for name in manifest):
            return None
        for name, about in manifest.items():
            if os.lstat(path / name).st_size != about["bytes"] or _sha256(path / name) != about["sha256"]:
                return None
        state = read_json_object(path / "state.json", most=_MOST)
    except (OSError, UserError, KeyError, TypeError):
        return None
    counts = [whole_number(state.get(name)) for name in ("step", "metrics_bytes", "micro_batch_tokens")]
    fits = all(count is not None for count in counts) and path.name == f"step-{counts[0]:08d}"
    return state if fits and isinstance(state.get("feed", {}), dict) else None


def _sha256(file: Path) -> str:
    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
