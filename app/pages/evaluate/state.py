"""What the Evaluate page shows as a plain value: a model that is scored, on which texts, and those listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from app.work.page_state import PageState, limited, other_model
from app.work.text_filter import Filter
from engine.questions.labelled import LabelledTexts

SURE, UNSURE, LONG, SHORT, FILE = ORDERS = ("surest", "least sure", "longest", "shortest", "file")
VIEWS = ("class", "confidence", "length", "slice")  # what scores are told by
HOW_SURE = ("calibration", "threshold")  # what of confidence
KEPT_APART = LabelledTexts()  # what the model's run has


@dataclass(frozen=True)
class Listing:
    """Which texts are listed, and in which order."""

    filters: tuple[Filter, ...] = limited((), most=100)
    search: str = limited("", longest=10_000)
    order: str = limited(SURE, choices=ORDERS)

    def toggled(self, wanted: Filter) -> Listing:
        """Return with a filter, in the place of one of its kind; without it where it was there."""
        if wanted in self.filters:
            return self.without(wanted)
        others = tuple(one for one in self.filters if one.place != wanted.place)
        return replace(self, filters=(*others, wanted))

    def without(self, unwanted: Filter) -> Listing:
        """Return without a filter."""
        return replace(self, filters=tuple(one for one in self.filters if one != unwanted))

    def of(self, kind: str) -> Filter | None:
        """Return the filter of a kind."""
        return next((one for one in self.filters if one.kind == kind), None)


@dataclass(frozen=True, slots=True)
class EvaluateState(PageState):
    """model: None: the one that is shown, and without that the first there is. beside: one that is compared.

    by, sure: what stands above the list, "": as it stands. place: of the text that is open, -1: none.
    """

    model: Path | None = other_model("model")
    texts: LabelledTexts = KEPT_APART
    listing: Listing = Listing()
    beside: Path | None = other_model("beside")
    by: str = limited("", choices=("", *VIEWS))
    sure: str = limited("", choices=("", *HOW_SURE))
    place: int = limited(-1, minimum=-1)

    def misfit(self) -> str:
        if self.texts.data and self.texts.part:
            return "texts"
        return "" if all(one.is_whole for one in self.listing.filters) else "listing"
