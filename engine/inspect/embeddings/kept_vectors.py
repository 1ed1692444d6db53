"""Vectors of texts, kept on the disk so that the same texts are not read by the same model twice.

A file holds the vectors of the first texts, or of all. It is found by what decides them, and trusted only if
the hash in it is that of what it holds: a torn, damaged or foreign one counts as none, and is written anew.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import platformdirs
import torch

from engine.durable import PARTIAL
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.vectors import Floats, PoolingConfig
from engine.inspect.loaded_model import ModelSummary
from engine.model.tensor_files import load_tensors, save_tensors

# E texts of all, n the first of them, D width of the vectors

MOST_BYTES = 2**30  # of all files; those that were not used for the longest time go first
VECTORS, DIGEST = "vectors", "digest"  # the names in a file
_VERSION = "1"
_HASHED_AT_ONCE = 1000  # texts between two yields
_ENDING = ".safetensors"
_LEFT_S = 86_400.0  # after which a half written file is nobody's any more


def default_vectors_root() -> Path:
    """Return the folder for vectors that can be made again."""
    return Path(platformdirs.user_cache_dir("cloze", appauthor=False)) / "vectors"


def vectors_key(
    about: ModelSummary, pooling: PoolingConfig, max_length: int, texts: Sequence[str]
) -> Generator[Event, None, str]:
    """Return 64 hex digits that change with the model, how it reads, or a text; yields Progress.

    Args: pooling: its layer counted from 0. max_length: WordPieces of a text that are read.
    """
    found = hashlib.sha256()
    model = about.fingerprint, about.wordpiece.fingerprint(), about.config, about.sentence
    found.update(repr((_VERSION, *model, about.info.get("layer_mix"), pooling, max_length)).encode())
    for start in range(0, len(texts), _HASHED_AT_ONCE):
        yield Progress(stage=marked("engine", "Reading"), done=start, total=len(texts))
        for text in texts[start : start + _HASHED_AT_ONCE]:
            data = text.encode("utf-8", "surrogatepass")
            found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


class KeptVectors:
    """What is kept of some texts. Args: root: the folder of all such files. key: of these, `vectors_key`."""

    def __init__(self, root: Path, key: str) -> None:
        self._root, self._key = root, key
        self.path = root / f"{key[:32]}{_ENDING}"

    def read(self, num_texts: int, width: int) -> Floats:
        """Return (n, D) of the first texts, n at most E; n is 0 where nothing can be trusted."""
        nothing = np.zeros((0, width), np.float32)
        try:
            tensors = load_tensors(self.path)
            os.utime(self.path)
        except (UserError, OSError):
            return nothing
        if tensors.keys() != {VECTORS, DIGEST} or tensors[VECTORS].dtype != torch.float32:
            return nothing
        vectors: Floats = tensors[VECTORS].numpy()
        is_so = vectors.ndim == 2 and vectors.shape[1] == width and len(vectors) <= num_texts
        if not is_so or not np.array_equal(tensors[DIGEST].numpy(), self._digest(vectors)):
            return nothing
        return vectors

    def write(self, vectors: Floats) -> None:
        """Keep (n, D) of the first texts. Raises: UserError: it cannot be written."""
        size = vectors.nbytes
        if size > MOST_BYTES:
            return
        with suppress(OSError):  # else writing says why not
            self._root.mkdir(parents=True, exist_ok=True)
        save_tensors(
            self.path,
            {VECTORS: torch.from_numpy(vectors), DIGEST: torch.from_numpy(self._digest(vectors))},
        )
        _sweep(self._root, keep=self.path)

    def _digest(self, vectors: Floats) -> npt.NDArray[np.uint8]:
        """Return (32,) the hash of the key and of what it is the key of."""
        found = hashlib.sha256(f"{self._key} {vectors.shape}".encode())
        found.update(np.ascontiguousarray(vectors).data)
        return np.frombuffer(bytearray(found.digest()), np.uint8)


def _sweep(root: Path, keep: Path) -> None:
    """Remove the files that were not used for the longest time, beyond MOST_BYTES, and what was left half."""
    files = []
    for place in root.iterdir():
        with suppress(OSError):  # another window sweeps, too
            about = place.stat()
            if place.name.endswith(PARTIAL) and time.time() - about.st_mtime > _LEFT_S:
                place.unlink()
            elif place.suffix == _ENDING:
                files.append((place != keep, -about.st_mtime, about.st_size, place))
    total = 0
    for _is_other, _age, size, place in sorted(files):
        total += size
        if total > MOST_BYTES:
            with suppress(OSError):
                place.unlink()
