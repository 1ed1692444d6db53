"""Files of tensors from strangers: what they hold is known, and has been checked, before any of it is read.

Nothing in them is ever run, and no memory map outlives the reading.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.durable import replaced_file
from engine.errors import ModelError, marked
from engine.files import MOST_JSON, damaged, open_regular, parse_json_object, reading
from engine.model.pickles import look_through

_MOST_IN_A_DIMENSION = 2**40
_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "U16": torch.uint16,
    "BOOL": torch.bool,
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A stored tensor, not read yet. dtype: None for a type that Cloze does not read."""

    shape: tuple[int, ...]
    dtype: torch.dtype | None
    begin: int = 0
    end: int = 0


class TensorFile(Protocol):
    """One open file of tensors."""

    infos: Mapping[str, TensorInfo]
    num_bytes: int

    def read_into(self, name: str, target: Tensor) -> None:
        """Fill `target` (contiguous, same shape) with a stored tensor, converted to the target's type."""


@contextmanager
def open_tensors(path: Path, ending: str = ".safetensors") -> Iterator[TensorFile]:
    """Open one file of tensors; only what it says of them is read. Raises: ModelError."""
    with open_regular(path, kind=ModelError) as handle:
        yield _TorchFile(path) if ending == ".bin" else _SafetensorsFile(path, handle)


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as one safetensors file, synced and then put in the place of `path`.

    Raises: UserError if the disk is full or the folder read-only; `path` is then as it was.
    """
    with replaced_file(path) as beside:
        beside.touch()
        mode = beside.stat().st_mode & 0o777  # what the umask grants; safetensors leaves 0600 whatever it is
        ready = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        save_file(ready, beside, metadata={"format": "pt"})
        beside.chmod(mode)


def load_tensors(path: Path, beginning: str = "") -> dict[str, Tensor]:
    """Return the tensors of a safetensors file as they were saved. Raises: ModelError if it is damaged.

    Args: beginning: of the names of those that are read; "": all.
    """
    tensors: dict[str, Tensor] = {}
    with open_tensors(path) as file:
        for name, info in file.infos.items():
            if not name.startswith(beginning):
                continue
            if info.dtype is None:
                raise unreadable_type(path, name)
            tensors[name] = torch.empty(info.shape, dtype=info.dtype)
            file.read_into(name, tensors[name])
    return tensors


class _SafetensorsFile:
    """A safetensors file, read without a memory map: a file cut while it is mapped would kill the process."""

    def __init__(self, path: Path, handle: BinaryIO) -> None:
        self._path, self._handle = path, handle
        with reading(path):
            self.num_bytes = os.fstat(handle.fileno()).st_size
            start = handle.read(8)
            length = int.from_bytes(start, "little")
            if len(start) < 8 or (length > self.num_bytes - 8 and length <= MOST_JSON):
                raise _cut_short(path)
            if length > MOST_JSON:
                raise damaged(path, marked("engine", "its header claims {length} bytes"), length=length)
            header = handle.read(length)
        document = parse_json_object(header, path, kind=ModelError)
        self._start = 8 + length
        document.pop("__metadata__", None)
        self.infos: Mapping[str, TensorInfo] = {
            name: self._info(name, entry) for name, entry in document.items()
        }
        if max((info.end for info in self.infos.values()), default=0) != self.num_bytes - self._start:
            raise damaged(path, marked("engine", "it is longer than its header says"))

    def _info(self, name: str, entry: Any) -> TensorInfo:
        try:
            shape, (begin, end) = tuple(entry["shape"]), entry["data_offsets"]
            dtype = _DTYPES.get(entry["dtype"])
            good = all(type(n) is int and 0 <= n <= _MOST_IN_A_DIMENSION for n in shape)
            good = good and type(begin) is int and type(end) is int and 0 <= begin <= end
            if good and dtype is not None:
                good = end - begin == math.prod(shape) * dtype.itemsize
        except (KeyError, TypeError, ValueError):
            good = False
        if not good:
            raise damaged(
                self._path, marked("engine", "what it says of {name} cannot be true"), name=name[:60]
            )
        if end > self.num_bytes - self._start:
            raise _cut_short(self._path)
        return TensorInfo(shape, dtype, begin, end)

    def read_into(self, name: str, target: Tensor) -> None:
        info = self.infos[name]
        straight = info.dtype == target.dtype
        place = target if straight else torch.empty(info.shape, dtype=info.dtype)
        view = memoryview(place.view(-1).view(torch.uint8).numpy())  # type: ignore[arg-type]
        self._handle.seek(self._start + info.begin)
        if self._handle.readinto(view) != len(view):  # type: ignore[attr-defined]
            raise _cut_short(self._path)
        if not straight:
            target.copy_(place)


class _TorchFile:
    """A pytorch_model.bin: its table is looked through, then torch reads it, always with weights_only."""

    def __init__(self, path: Path) -> None:
        with reading(path):
            self.num_bytes = path.stat().st_size
            with open(path, "rb") as handle:
                zipped = (
                    handle.read(4) == b"PK\x03\x04"
                )  # so torch.load decides; older files are bare pickles
        look_through(path, zipped)
        try:
            table = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
        except Exception as error:  # torch promises no kinds; the cause stays attached
            raise damaged(path, marked("engine", "PyTorch cannot read it")) from error
        named = table.items() if isinstance(table, dict) else ()
        self._tensors = {
            name: value for name, value in named if isinstance(name, str) and isinstance(value, Tensor)
        }
        if not self._tensors:
            raise damaged(path, marked("engine", "it holds no plain table of weights"))
        self.infos: Mapping[str, TensorInfo] = {
            name: TensorInfo(tuple(value.shape), value.dtype) for name, value in self._tensors.items()
        }

    def read_into(self, name: str, target: Tensor) -> None:
        target.copy_(self._tensors[name].detach())


def _cut_short(path: Path) -> ModelError:
    return ModelError(marked("engine", "{path} is truncated. Copy or download it again."), path=path)


def unreadable_type(path: Path, name: str) -> ModelError:
    """Return the refusal of a tensor whose type (complex numbers, say) is not read."""
    return ModelError(
        marked("engine", "{name} in {path} is of a type that Cloze does not read."), name=name, path=path
    )
