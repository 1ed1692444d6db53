"""All steps: by their keys, on the strip, on the buttons that lead to them, and over their pictures."""

from __future__ import annotations

from collections.abc import Callable

from app import words
from app.pages.anatomy.requests import ChangedAnatomy
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.answer import ANSWER_STEPS
from app.pages.anatomy.steps.attention import ATTENTION_STEPS
from app.pages.anatomy.steps.embeddings import EMBEDDING_STEPS
from app.pages.anatomy.steps.feed_forward import FEED_FORWARD_STEPS
from app.pages.anatomy.steps.step import AnatomyStep
from app.plots.step_chips import StepChip
from engine.inspect.anatomy.steps import NORM_BEFORE_ATTENTION, NORM_BEFORE_FEED_FORWARD

ALL_STEPS = (*EMBEDDING_STEPS, *ATTENTION_STEPS, *FEED_FORWARD_STEPS, *ANSWER_STEPS)
_BY_KEY = {step.key: step for step in ALL_STEPS}


def step_at(walk: Walk) -> AnatomyStep:
    """Return the step that a walk stands at."""
    return _BY_KEY[walk.step]


def title_of(walk: Walk) -> str:
    """Return what a step's picture is called, with its layer and head where they count."""
    step = step_at(walk)
    if not walk.is_in_layer:
        return step.name()
    if step.is_of_head:
        return words.translate("anatomy", "{step}, layer {layer}, head {head}").format(
            step=step.name(), layer=walk.layer, head=walk.head
        )
    return words.translate("anatomy", "{step}, layer {layer}").format(step=step.name(), layer=walk.layer)


GROUPS: dict[str, Callable[[], str]] = {  # by the step that a group begins with
    "text": lambda: words.translate("anatomy", "Pieces"),
    "vectors": lambda: words.translate("anatomy", "Embeddings"),
    **dict.fromkeys((NORM_BEFORE_ATTENTION, "qkv"), lambda: words.translate("anatomy", "Attention")),
    **dict.fromkeys(
        (NORM_BEFORE_FEED_FORWARD, "feed_forward"), lambda: words.translate("anatomy", "Feed-forward")
    ),
    **dict.fromkeys(("final_norm", "ends"), lambda: words.translate("anatomy", "Answer")),
}
FIRST_STEP = "vectors"  # where one begins


def can_change(walk: Walk) -> bool:
    """Whether a part can be switched off where a walk stands, or one is off already."""
    order = walk.plan.order
    return walk.place >= order.index(walk.plan.of_layer[0]) or bool(walk.changes)


def chips(walk: Walk, found: ChangedAnatomy) -> tuple[StepChip, ...]:
    """Return the model’s steps as they stand on the strip: what is off, and what is otherwise than before."""
    made, group = list[StepChip](), ""
    for step in (_BY_KEY[key] for key in walk.plan.order):
        off = step.off_name(walk)
        group = GROUPS[step.key]() if step.key in GROUPS else group
        changed = bool(found.changed) and step.is_changed(found, walk)
        made.append(StepChip(off or step.name(), group, bool(off), changed))
    return tuple(made)


def neighbours(walk: Walk) -> tuple[str, str]:
    """Return the names of the steps before and after; "" where there is none."""
    before = step_at(walk.stepped(-1)).name() if walk.place else ""
    after = step_at(walk.stepped(1)).name() if walk.place < len(walk.plan.order) - 1 else ""
    return before, after
