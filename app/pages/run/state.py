"""What a training page shows as a plain value: a run, or the form for a new one and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.work.page_state import PageState, other_model


@dataclass(frozen=True, slots=True)
class RunPageState(PageState):
    """run: the folder of the one that is shown; None: the form, whose values are kept apart.

    comparison: the folder of ways to adapt that stand beside the form of the Fine-tune page. chain: that of a
    pipeline which does. adapts: whether a pipeline is planned beside it.
    """

    run: Path | None = other_model("run")
    comparison: Path | None = other_model("comparison")
    chain: Path | None = other_model("chain")
    adapts: bool = False
