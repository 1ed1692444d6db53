"""For sentence-transformers: a folder for vectors of texts."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine.events import Steps
from engine.export.targets.target import ExportedTarget, ExportTarget, TargetFlag

if TYPE_CHECKING:
    from engine.settings.finetune import DataConfig


@dataclass(frozen=True)
class SentenceFolder(ExportTarget):
    """A folder with how pieces become one vector. pooling: ""; is_normed: None; for the model's own."""

    flag = TargetFlag(
        "sentence-transformers", "DIR", "a folder that sentence-transformers opens, for vectors of texts"
    )
    more = (
        TargetFlag(
            "pooling",
            "KIND",
            "mean, cls or max: how pieces become one vector; default: as the model says, or mean",
        ),
        TargetFlag("normalize", "", "scale each vector to length 1"),
    )

    pooling: str = ""
    is_normed: bool | None = None

    @classmethod
    def given_by(cls, options: Namespace, data: DataConfig | None) -> Self:
        return cls(options.model, cls.place_in(options), options.pooling, options.normalize or None)

    def writing(self) -> Steps[ExportedTarget]:
        from engine.export.folders import writing_sentence_folder

        found = yield from writing_sentence_folder(self.model, self.out, self.pooling, self.is_normed)
        return ExportedTarget(found.path, found.said)
