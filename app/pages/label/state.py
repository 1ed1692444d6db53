"""Where a person is on the Label page, as an immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.work.page_state import PageState, limited
from engine.labelling.order import RANDOM_SHARE


@dataclass(frozen=True, slots=True)
class LabelState(PageState):
    """table: the file that is labelled; None: whichever is open. row: of the text in view; -1: the next.

    suggestions: whether what the model suggests is shown. keys: whether the line of keys is.
    random_share: of the texts that come next, how many are drawn at random. review: whether the suspected
    labels are gone through alone, `row` being one of them; all texts are where none are known.
    """

    table: Path | None = None
    row: int = limited(-1, minimum=-1)
    suggestions: bool = True
    keys: bool = True
    random_share: float = limited(RANDOM_SHARE, minimum=0.01, maximum=1)
    review: bool = False
