"""All of it in one zip, to hand on or to keep."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from engine.events import Steps
from engine.export.targets.target import ExportedTarget, ExportTarget, TargetFlag

if TYPE_CHECKING:
    from engine.settings.finetune import DataConfig


@dataclass(frozen=True)
class OneFile(ExportTarget):
    """A zip. data: whose texts its graph is tried on."""

    flag = TargetFlag("zip", "FILE", "everything in one file")

    data: DataConfig | None = field(default=None, compare=False)

    @classmethod
    def given_by(cls, options: Namespace, data: DataConfig | None) -> Self:
        return cls(options.model, cls.place_in(options), data)

    def writing(self) -> Steps[ExportedTarget]:
        from engine.export.archive import writing_zip
        from engine.export.tried import texts_for

        texts = yield from texts_for(self.model, self.data)
        found = yield from writing_zip(self.model, self.out, texts)
        return ExportedTarget(found.path, found.said)
