"""A target of an export is a frozen value that can be written: by the command, and by the window's child.

Nothing here, nor in a file of a target, imports torch before it is written: `export --help` reads them all.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from engine.errors import Sentence
from engine.events import Steps

if TYPE_CHECKING:
    from engine.export.int8 import Small
    from engine.settings.finetune import DataConfig


@dataclass(frozen=True, slots=True)
class ExportedTarget:
    """What was written, and what was checked. small: 8-bit numbers that wait for an answer."""

    path: Path
    said: tuple[Sentence, ...]
    small: Small | None = None


@dataclass(frozen=True, slots=True)
class TargetFlag:
    """What `export` takes. value: what stands for its value in words; "" for yes or no."""

    name: str
    value: str
    help: str


@dataclass(frozen=True)
class ExportTarget:
    """A model, and where it goes. flag: which asks for it, named as the target; more: that belong to it."""

    flag: ClassVar[TargetFlag]
    more: ClassVar[tuple[TargetFlag, ...]] = ()

    model: Path
    out: Path

    @classmethod
    def given_by(cls, options: Namespace, data: DataConfig | None) -> Self:
        """Return what a command line asks for. Args: data: the file that it names."""
        return cls(options.model, cls.place_in(options))

    @classmethod
    def place_in(cls, options: Namespace) -> Any:
        """Return where a command line wants it, None: not at all."""
        return getattr(options, cls.flag.name.replace("-", "_"))

    def writing(self) -> Steps[ExportedTarget]:
        """Write and check it; yields Progress. Raises: UserError; nothing is left then."""
        raise NotImplementedError

    def to_line(self) -> dict[str, Any]:
        """Return it as a child process is told of it."""
        return {**asdict(self), "target": self.flag.name, "model": str(self.model), "out": str(self.out)}

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Self:
        """Return what `to_line` gave."""
        given = {name: value for name, value in line.items() if name != "target"}
        return cls(**{**given, "model": Path(line["model"]), "out": Path(line["out"])})
