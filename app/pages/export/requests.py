"""What the export dialog asks a worker: one export of one kind, and what becomes of 8-bit numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from app.work.worker import Steps
from engine.child import asking, events
from engine.errors import Sentence

if TYPE_CHECKING:
    from engine.export.int8 import Small

PATIENCE_S = 10.0  # that an export is given to take back what it began
TRANSFORMERS, SENTENCES, ONNX, ZIP = KINDS = ("transformers", "sentence-transformers", "onnx", "zip")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One export.

    pooling: "" for the model's own. data: a labelled file to measure 8-bit numbers on, or "".
    """

    kind: str
    model: Path
    out: Path
    pooling: str = ""
    is_normed: bool | None = None
    with_int8: bool = False
    data: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was written, and what was checked. small: 8-bit numbers that wait for an answer."""

    path: Path
    said: tuple[Sentence, ...]
    small: Small | None = None


def has_onnx() -> bool:
    """Whether the packages for ONNX are installed; none of them is imported."""
    return all(map(find_spec, ("onnx", "onnxscript", "onnxruntime")))


def export(wanted: Wanted) -> Steps[Outcome]:
    """Write a model for another tool; yields Progress. Raises: UserError; nothing is left then.

    In a process of its own: torch's exporter keeps Python's lock for up to a second, and the window would
    wait for it.
    """
    from engine.export.int8 import Small  # here: it brings torch's exporter, and most sessions need none

    question = {
        **asdict(wanted),
        "model": str(wanted.model),
        "out": str(wanted.out),
    }
    found = yield from events(asking("engine.export", question, patience_s=PATIENCE_S))
    small = found["small"] and Small(
        Path(found["small"]["path"]), Path(found["path"]), tuple(found["small"]["said"])
    )
    return Outcome(Path(found["path"]), tuple(found["said"]), small)


def answer(small: Small, is_kept: bool) -> Path | None:
    """Keep 8-bit numbers or leave nothing of them; return where they are. Raises: UserError."""
    if is_kept:
        return small.keep()
    small.drop()
    return None
