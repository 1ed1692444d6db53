"""What a PyTorch file of weights would do when it is opened, told from its table without running any of it.

Not to be broken: nothing is called but the makers of tensors, and what is read takes neither much time nor
memory.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from engine.errors import ModelError, marked
from engine.files import damaged

_MOST_BYTES = 2 * 2**20  # of the table in a .bin; real ones stay under 0.1 MB
_MOST_OPERATIONS = 300_000  # in it; some 30 make a tensor
_MOST_IN_A_TUPLE = 10_000  # values, those of tuples within it included; real ones hold a shape
_PUTS, _GETS = ("PUT", "BINPUT", "LONG_BINPUT"), ("GET", "BINGET", "LONG_BINGET")
_HARMLESS = {  # all that the table of a plain state dict calls for
    "collections.OrderedDict",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_tensor_v2",
    *(f"torch.{kind}Storage" for kind in ("Double", "Float", "Half", "BFloat16")),
    *(f"torch.{kind}Storage" for kind in ("Long", "Int", "Short", "Char", "Byte", "Bool")),
}

_Operations: TypeAlias = Iterator[tuple[pickletools.OpcodeInfo, Any, int | None]]


def look_through(path: Path, zipped: bool) -> None:
    """Refuse a .bin that would call anything but makers of tensors, or that unpacks to more than it is.

    Raises: ModelError.
    """
    try:
        calls = _calls_in_zip(path) if zipped else _calls_in_pickles(path)
        bad = next((call for call in calls if call not in _HARMLESS), None)
    except ModelError:
        raise
    except Exception as error:  # zipfile and pickletools promise no kinds
        raise damaged(path, marked("engine", "it is truncated or not a PyTorch file")) from error
    if bad is not None:
        raise ModelError(
            marked(
                "engine",
                "{path} would run {call} when opened, so it was not opened. Weights never need that.",
            ),
            path=path,
            call=bad,
        )


def _directory_bytes(path: Path) -> int:
    """Return how long the list of parts in a zip is; each makes an object of 700 bytes."""
    with open(path, "rb") as handle:
        handle.seek(max(0, path.stat().st_size - 2**17))  # its end, with the longest comment there can be
        tail = handle.read()
    short, long = tail.rfind(b"PK\x05\x06"), tail.rfind(b"PK\x06\x06")
    sizes = [int.from_bytes(tail[short + 12 : short + 16], "little") % (2**32 - 1)] if short >= 0 else []
    return max([*sizes, int.from_bytes(tail[long + 40 : long + 48], "little") if long >= 0 else 0])


def _calls_in_zip(path: Path) -> Iterator[str]:
    if _directory_bytes(path) > _MOST_BYTES:
        raise damaged(path, marked("engine", "it has too many parts"))
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        total = sum(entry.file_size for entry in entries)
        if not stored or total > path.stat().st_size or len({e.filename for e in entries}) != len(entries):
            raise damaged(path, marked("engine", "its parts are not stored as PyTorch stores them"))
        for entry in entries:
            if entry.filename.endswith(".pkl"):
                if entry.file_size > _MOST_BYTES:
                    raise _too_large(path)
                yield from _calls(path, pickletools.genops(archive.read(entry)))


def _calls_in_pickles(path: Path) -> Iterator[str]:
    with open(path, "rb") as handle:
        for _ in range(5):  # a magic number, the version, the system, the table, the keys; then bare numbers
            yield from _calls(path, pickletools.genops(handle))


def _calls(path: Path, operations: _Operations) -> Iterator[str]:
    """Give the name of all that a pickle would call. Raises: ModelError if it would take long to read."""
    stack: list[int] = []  # how many values each object holds, those of tuples within it included
    marks: list[int] = []  # where the stack was marked
    kept: dict[Any, int] = {}
    for number, (operation, argument, place) in enumerate(operations):
        if (place or 0) > _MOST_BYTES or number > _MOST_OPERATIONS:
            raise _too_large(path)
        name = operation.name
        if name == "GLOBAL":
            yield str(argument).replace(" ", ".")
        elif name in ("STACK_GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4", "MEMOIZE", "DUP"):
            yield "something unnamed"  # torch writes none of these
        if name == "MARK":
            marks.append(len(stack))
        elif name in _PUTS:
            kept[argument] = stack[-1]
        elif name in _GETS:
            stack.append(kept[argument])
        else:
            start = marks.pop() if pickletools.markobject in operation.stack_before else len(stack)
            if pickletools.stackslice not in operation.stack_before:
                start -= len(operation.stack_before)
            elif operation.stack_before[0] is not pickletools.markobject:
                start -= 1  # the list or dict that takes what stands behind the mark
            taken = sum(stack[start:])
            if name.startswith("TUPLE") and taken > _MOST_IN_A_TUPLE:  # to look one up would take for ever
                raise _too_large(path)
            stack[start:] = [1 + taken if name.startswith("TUPLE") else 1] * len(operation.stack_after)


def _too_large(path: Path) -> ModelError:
    return damaged(path, marked("engine", "its table of weights is too large"))
