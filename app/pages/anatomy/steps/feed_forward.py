"""The steps of the feed-forward part: what a layer makes of each piece by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.step import AnatomyStep, NormStep, ResidualStep
from app.plots.vector_rows import VectorColumn
from engine.inspect.anatomy.changes import FEED_FORWARD
from engine.inspect.anatomy.vectors import Anatomy


class FeedForwardStep(AnatomyStep):
    formulas: ClassVar = {
        "feed_forward_in": "<i>f</i> = <i>y</i> W<sub>1</sub> + <i>b</i>",
        "activation": "<i>g</i> = GELU(<i>f</i>) = <i>f</i> · Φ(<i>f</i>)",
        "feed_forward_out": "<i>u</i> = <i>g</i> W<sub>2</sub> + <i>b</i>",
    }
    is_straight = False

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        return words.translate(
            "anatomy",
            "Each piece by itself: one matrix makes {inner} numbers. {activation} keeps "
            "those above zero and little of the others. A second matrix makes {width} "
            "numbers again.",
        ).format(
            inner=words.number(anatomy.config.intermediate_size),
            width=anatomy.config.hidden_size,
            activation=vectors.activation_name(anatomy),
        )

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        taken, inner, active, out = rows.vectors("", "→", "→", "→")
        return each_scale(taken, replace(inner, stretch=1.3), replace(active, stretch=1.3), out)


FEED_FORWARD_STEPS = (
    FeedForwardStep(
        "feed_forward",
        lambda: words.translate("anatomy", "Feed-forward"),
        "<i>u</i> = GELU(<i>y</i> W<sub>1</sub> + <i>b</i>) W<sub>2</sub> + <i>b</i>",
    ),
    ResidualStep(
        "residual",
        formula="<i>r′</i> = <i>y</i> + <i>u</i>",
        which=FEED_FORWARD,
        added=lambda: words.translate(
            "anatomy", "The input of the feed-forward part bypasses it, and is added to its output."
        ),
    ),
    NormStep("norm", formula="<i>x</i> = (<i>r′</i> − μ) / σ · γ + β"),
)
