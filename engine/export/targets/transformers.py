"""For transformers: a folder that AutoModel opens."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Steps
from engine.export.targets.target import ExportedTarget, ExportTarget, TargetFlag


@dataclass(frozen=True)
class TransformersFolder(ExportTarget):
    """A folder in transformers' own layout."""

    flag = TargetFlag("transformers", "DIR", "a folder that transformers opens")

    def writing(self) -> Steps[ExportedTarget]:
        from engine.export.folders import writing_folder

        found = yield from writing_folder(self.model, self.out)
        return ExportedTarget(found.path, found.said)
