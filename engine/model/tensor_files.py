"""Files of tensors from strangers: what they hold is known, and has been checked, before any of it is read.

Nothing in them is ever run, and no memory map outlives the reading.
"""

from __future__ import annotations

import math
import os
import pickletools
import zipfile
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
from engine.files import MOST_JSON, open_regular, parse_json_object, reading

_MOST_PICKLE = 2 * 2**20  # bytes of the table in a .bin; real ones stay under 0.1 MB
_MOST_IN_A_DIMENSION = 2**40
_POINTER = b"version https://git-lfs"  # what a clone without Git LFS leaves in the place of a large file
_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_HARMLESS = {  # all that the table of a plain state dict calls for
    "collections.OrderedDict",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_tensor_v2",
    *(f"torch.{kind}Storage" for kind in ("Double", "Float", "Half", "BFloat16")),
    *(f"torch.{kind}Storage" for kind in ("Long", "Int", "Short", "Char", "Byte", "Bool")),
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
        if handle.read(len(_POINTER)) == _POINTER:
            raise ModelError(
                marked("engine", "{path} is only a Git LFS pointer. Fetch the file itself: git lfs pull."),
                path=path,
            )
        handle.seek(0)
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


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Return all tensors of a safetensors file as they were saved. Raises: ModelError if it is damaged."""
    tensors: dict[str, Tensor] = {}
    with open_tensors(path) as file:
        for name, info in file.infos.items():
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
                raise damaged(path, f"its header claims {length} bytes")
            header = handle.read(length)
        document = parse_json_object(header, path, kind=ModelError)
        self._start = 8 + length
        document.pop("__metadata__", None)
        self.infos: Mapping[str, TensorInfo] = {
            name: self._info(name, entry) for name, entry in document.items()
        }
        if max((info.end for info in self.infos.values()), default=0) != self.num_bytes - self._start:
            raise damaged(path, "it is longer than its header says")

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
            raise damaged(self._path, f"what it says of {name[:80]} cannot be")
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
        _look_through(path, zipped)
        try:
            table = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
        except Exception as error:  # torch promises no kinds; the cause stays attached
            raise damaged(path, "PyTorch cannot read it") from error
        if not isinstance(table, dict) or not any(isinstance(value, Tensor) for value in table.values()):
            raise damaged(path, "it holds no plain table of weights")
        self._tensors = {str(name): value for name, value in table.items() if isinstance(value, Tensor)}
        self.infos: Mapping[str, TensorInfo] = {
            name: TensorInfo(tuple(value.shape), value.dtype) for name, value in self._tensors.items()
        }

    def read_into(self, name: str, target: Tensor) -> None:
        target.copy_(self._tensors[name].detach())


def _look_through(path: Path, zipped: bool) -> None:
    """Refuse a .bin that would call anything but makers of tensors, or that unpacks to more than it is."""
    try:
        calls = _calls_in_zip(path) if zipped else _calls_in_pickles(path)
        bad = next((call for call in calls if call not in _HARMLESS), None)
    except ModelError:
        raise
    except Exception as error:  # zipfile and pickletools promise no kinds either
        raise damaged(path, "it is cut short or no PyTorch file") from error
    if bad is not None:
        raise ModelError(
            marked("engine", "{path} would run {call} when opened, so it was not: weights never need that."),
            path=path,
            call=bad[:80],
        )


def _calls_in_zip(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        total = sum(entry.file_size for entry in entries)
        if not stored or total > path.stat().st_size or len({e.filename for e in entries}) != len(entries):
            raise damaged(path, "its parts are not stored as PyTorch stores them")
        for entry in entries:
            if entry.filename.endswith(".pkl"):
                if entry.file_size > _MOST_PICKLE:
                    raise damaged(path, "its table of weights is too large")
                yield from _calls(path, pickletools.genops(archive.read(entry)))


def _calls_in_pickles(path: Path) -> Iterator[str]:
    with open(path, "rb") as handle:
        for _ in range(5):  # a magic number, the version, the system, the table, the keys; then bare numbers
            yield from _calls(path, pickletools.genops(handle))


def _calls(path: Path, operations: Iterator[tuple[pickletools.OpcodeInfo, Any, int | None]]) -> Iterator[str]:
    for operation, argument, place in operations:
        if (place or 0) > _MOST_PICKLE:
            raise damaged(path, "its table of weights is too large")
        if operation.name == "GLOBAL":
            yield str(argument).replace(" ", ".")
        elif operation.name in ("STACK_GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4"):
            yield "something unnamed"  # torch writes none of these


def _cut_short(path: Path) -> ModelError:
    return ModelError(marked("engine", "{path} is cut short. Copy or download it again."), path=path)


def damaged(path: Path, reason: str) -> ModelError:
    """Return the refusal of a file that is not what it should be."""
    return ModelError(
        marked("engine", "{path} is damaged or not what its name says: {reason}."), path=path, reason=reason
    )


def unreadable_type(path: Path, name: str) -> ModelError:
    """Return the refusal of a tensor whose type (8-bit floats, say) is not read."""
    return ModelError(
        marked("engine", "{name} in {path} is of a type that Cloze does not read."), name=name, path=path
    )
