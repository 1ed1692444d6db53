"""The steps of the feed-forward part: what a layer makes of each piece by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.step import TAKEN, AnatomyStep, NormStep, ResidualStep
from app.plots.vector_rows import VectorColumn
from engine.inspect.anatomy.changes import FEED_FORWARD
from engine.inspect.anatomy.steps import NORM_BEFORE_FEED_FORWARD
from engine.inspect.anatomy.vectors import Anatomy


class FeedForwardStep(AnatomyStep):
    formulas: ClassVar = {
        "feed_forward_in": f"<i>f</i> = {TAKEN} W<sub>1</sub> + <i>b</i>",
        "activation": "<i>g</i> = GELU(<i>f</i>) = <i>f</i> · Φ(<i>f</i>)",
        "feed_forward_gate": f"<i>m</i> = {TAKEN} V + <i>b</i>",
        "gated": "<i>n</i> = <i>g</i> × <i>m</i>",
        "feed_forward_out": "<i>u</i> = <i>g</i> W<sub>2</sub> + <i>b</i>",
    }
    is_straight = False

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        if _is_gated(anatomy, walk):
            said = words.translate(
                "anatomy",
                "Each piece by itself: two matrices make {inner} numbers each. Those of the first go through "
                "{activation} and are multiplied by those of the second. A third matrix makes {width} "
                "numbers again.",
            )
        else:
            said = words.translate(
                "anatomy",
                "Each piece by itself: one matrix makes {inner} numbers. {activation} keeps "
                "those above zero and little of the others. A second matrix makes {width} "
                "numbers again.",
            )
        return said.format(
            inner=words.number(anatomy.config.intermediate_size),
            width=anatomy.config.hidden_size,
            activation=vectors.activation_name(anatomy),
        )

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        formula = super().formula_of(anatomy, walk)
        return formula.replace("<i>g</i> W", "<i>n</i> W") if _is_gated(anatomy, walk) else formula

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        taken, inner, *found, out = rows.vectors(*("", *("→" for _ in rows.names[1:])))
        if len(found) > 1:  # what was made beside the inner ones is multiplied with them
            found[1], found[2] = replace(found[1], sign="×"), replace(found[2], sign="=")
        wide = [replace(one, stretch=1.3) for one in (inner, *found)]
        return each_scale(taken, *wide, out)


def _is_gated(anatomy: Anatomy, walk: Walk) -> bool:
    return f"layer.{walk.layer}.gated" in anatomy


FEED_FORWARD_STEPS = (
    NormStep(NORM_BEFORE_FEED_FORWARD, formula=f"<i>y</i> = ({TAKEN} − μ) / σ · γ + β"),
    FeedForwardStep("feed_forward", lambda: words.translate("anatomy", "Feed-forward")),
    ResidualStep(
        "residual",
        formula=f"<i>r′</i> = {TAKEN} + <i>u</i>",
        which=FEED_FORWARD,
        added=lambda: words.translate(
            "anatomy", "The input of the feed-forward part bypasses it, and is added to its output."
        ),
    ),
    NormStep("norm", formula=f"<i>x</i> = ({TAKEN} − μ) / σ · γ + β"),
)
