"""For onnxruntime: one graph, with a program that answers by it, and in 8-bit numbers."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from engine.events import Steps
from engine.export.targets.target import ExportedTarget, ExportTarget, TargetFlag

if TYPE_CHECKING:
    from engine.settings.finetune import DataConfig


@dataclass(frozen=True)
class GraphFolder(ExportTarget):
    """A folder in ONNX. with_int8: also in 8-bit numbers, which wait for an answer. measured_on: the labelled
    file that shows what they cost, "" for what the run kept. data: whose texts the graph is tried on.
    """

    flag = TargetFlag(
        "onnx",
        "DIR",
        "one graph for any batch and length, checked in onnxruntime, and a program that uses it",
    )
    more = (
        TargetFlag("int8", "", "also in 8-bit numbers, much smaller; the cost is measured and shown"),
        TargetFlag("keep", "", "keep the 8-bit numbers without asking"),
        TargetFlag("data", "FILE", "measured on this labelled file instead of the run’s validation rows"),
    )

    with_int8: bool = False
    measured_on: str = ""
    data: DataConfig | None = field(default=None, compare=False)

    @classmethod
    def given_by(cls, options: Namespace, data: DataConfig | None) -> Self:
        return cls(options.model, cls.place_in(options), data=data)

    def writing(self) -> Steps[ExportedTarget]:
        from engine.export.int8 import quantizing
        from engine.export.onnx import exporting
        from engine.export.tried import texts_for
        from engine.settings.config import with_values
        from engine.settings.finetune import FineTuneConfig

        texts = yield from texts_for(self.model, self.data)
        graph, small = (yield from exporting(self.model, self.out, texts)), None
        if self.with_int8:
            config = with_values(FineTuneConfig(), {"data": self.measured_on})
            measured = config.data if self.measured_on else None
            small = yield from quantizing(self.model, self.out, texts, measured)
        return ExportedTarget(graph.folder, graph.said, small)
