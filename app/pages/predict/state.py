"""What the Predict page shows as a plain value: the model that is asked, what is typed, the file below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.work.page_state import PageState, limited, other_model
from engine.questions.how_read import ReadSettings
from engine.text.roles import ROLE_NAMES


@dataclass(frozen=True, slots=True)
class PredictedFile:
    """A file to be answered; where the answers go is a free name beside it.

    how: as a person said it is read. columns: of a table, by role; none: those that the model was trained on,
    else a guess.
    """

    path: Path
    how: ReadSettings = field(default_factory=ReadSettings)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PredictState(PageState):
    """model: that is asked. texts: what is typed, in the order of the boxes; not the pages' shared text, for
    these are asked of a trained model alone. file: that is answered. What is missing stays as it stands.
    """

    model: Path | None = other_model("model")
    texts: tuple[str, ...] = limited((), most=2)
    file: PredictedFile | None = None

    def misfit(self) -> str:
        return "" if self.file is None or self.file.columns.keys() <= set(ROLE_NAMES) else "file"
