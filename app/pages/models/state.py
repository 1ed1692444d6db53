"""What the Models page shows as a plain value: a model of the list or a planned one, and which view of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from app.work.page_state import PageState, limited, other_model
from engine.model.arithmetic import HeadsConfig, sizes_of
from engine.model.config import BertConfig

FIELDS = {  # letter of a size -> the largest that is offered, and the step of an arrow key
    "L": (96, 1),
    "H": (8_192, 64),
    "A": (512, 1),
    "V": (2_000_000, 1_000),
    "P": (65_536, 128),
    "C": (100_000, 1),
}
WIDEST_INNER = 4 * FIELDS["H"][0]
FOLDER, WEIGHTS, HEADS = TABS = ("folder", "weights", "heads")


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """The sizes of a model that is planned, and what stands on its encoder."""

    config: BertConfig
    heads: HeadsConfig

    @classmethod
    def of(cls, config: BertConfig, heads: HeadsConfig) -> PlannedModel:
        """Return what is planned, without what only a model's own folder says of it."""
        return cls(replace(config, id2label=(), extra={}), heads)

    @property
    def is_offered(self) -> bool:
        """Whether it is no larger than what a person can plan."""
        config, sizes = self.config, sizes_of(self.config, self.heads)
        is_narrow = max(config.intermediate_size, config.type_vocab_size) <= WIDEST_INNER
        return is_narrow and all(sizes[letter] <= most for letter, (most, _step) in FIELDS.items())


@dataclass(frozen=True, slots=True)
class ModelsState(PageState):
    """model: of the list; None: the planned one, and without that whichever the page begins with.

    is_getting: the models to get are in view, in the place of what is known of this one.
    """

    model: Path | None = other_model("model")
    plan: PlannedModel | None = None
    tab: str = limited(FOLDER, choices=TABS)
    is_getting: bool = False

    def misfit(self) -> str:
        if self.plan is None:
            return ""
        if self.model is not None or not self.plan.is_offered:
            return "plan"
        return "tab" if self.tab == FOLDER else ""
