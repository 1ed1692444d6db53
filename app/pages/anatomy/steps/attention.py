"""The steps of attention: what each piece takes from those that a head looks at."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale, full_colour
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.step import TAKEN, AnatomyStep, NormStep, ResidualStep
from app.pages.anatomy.vectors import quoted
from app.plots.layered import value_words
from app.plots.vector_rows import BAR, NUMBER, SHARE, VectorColumn
from engine.inspect.anatomy.changes import ATTENTION
from engine.inspect.anatomy.steps import NORM_BEFORE_ATTENTION
from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.attention.weights import Floats


class QkvStep(AnatomyStep):
    formulas: ClassVar = {
        "query": f"<i>q</i> = {TAKEN} W<sub>Q</sub> + <i>b</i>",
        "key": f"<i>k</i> = {TAKEN} W<sub>K</sub> + <i>b</i>",
        "value": f"<i>v</i> = {TAKEN} W<sub>V</sub> + <i>b</i>",
    }
    is_of_head = True
    is_straight = False

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        size = anatomy.config.hidden_size // anatomy.config.num_attention_heads
        return words.translate(
            "anatomy",
            "Head {head} makes three vectors of {size} numbers for each piece: what it "
            "asks, what it is found by, and what it passes on.",
        ).format(head=walk.head, size=size)

    def usual(self, anatomy: Anatomy, walk: Walk) -> str:
        return self.shown(anatomy, walk)[1]

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        taken, query, key, value = rows.vectors("", "→", "", "")
        return each_scale(replace(taken, stretch=1.3), query, key, value)


class RotationStep(AnatomyStep):
    is_of_head = True

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        size = anatomy.config.hidden_size // anatomy.config.num_attention_heads
        return words.translate(
            "anatomy",
            "Queries and keys are turned by their position, in pairs: number 1 with {first}, 2 with "
            "{second} … The first pair turns fastest. So a score depends on the distance between two pieces.",
        ).format(first=size // 2 + 1, second=size // 2 + 2)

    def usual(self, anatomy: Anatomy, walk: Walk) -> str:
        return self.shown(anatomy, walk)[1]

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        spot = self.spot(anatomy, walk)
        assert spot is not None  # there are queries
        made, own = vectors.symbol(spot.name), vectors.symbol(spot.name.removesuffix("_turned"))
        if made == own:  # it is still to be turned
            return ""
        half = anatomy[spot.name].shape[-1] // 2
        number, is_first = spot.number + 1, spot.number < half
        other, sign = (number + half, "−") if is_first else (number - half, "+")
        turned = f"<i>{own}</i><sub>{number}</sub> cos φ {sign} <i>{own}</i><sub>{other}</sub> sin φ"
        return f"<i>{made}</i><sub>{number}</sub> = {turned}"

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        return each_scale(*rows.vectors("", "→", "", "→"))


class ScoresStep(AnatomyStep):
    is_of_head = True
    looks_at_rows = True

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        query, key = map(vectors.symbol, anatomy.compared(walk.layer))
        formula = super().formula_of(anatomy, walk)
        formula = formula.replace("<i>q</i>", f"<i>{query}</i>").replace("<i>k</i>", f"<i>{key}</i>")
        return f"{formula} + <i>δ</i><sub>i</sub>" if _knows_distances(anatomy, walk) else formula

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        key = vectors.key_of(anatomy, walk)
        return words.translate(
            "anatomy",
            "The query of {piece} is compared with every key. With that of {key} it scores {score}.",
        ).format(
            piece=quoted(anatomy, walk.piece),
            key=quoted(anatomy, key),
            score=value_words(float(anatomy[f"layer.{walk.layer}.scores"][walk.head - 1, walk.piece, key])),
        )

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        anatomy, place = rows.anatomy, rows.walk.piece
        names = anatomy.compared(rows.walk.layer)
        q, k = map(vectors.symbol, names)
        query = anatomy[names[0]][rows.head, place]
        key = rows.vector(names[1])
        top = full_colour([], whole=anatomy[names[1]][rows.head])
        assert key.values is not None
        said = words.translate("anatomy", "{q} of {piece}").format(q=q, piece=anatomy.pieces[place])
        key = replace(key, name="", top=top, over=query, over_words=said)
        product = VectorColumn(
            f"{q} × {k}", values=key.values * query, sign="×", hint=words.translate("anatomy", "elementwise")
        )
        product = replace(product, top=full_colour([product]))
        if not _knows_distances(anatomy, rows.walk):
            return [key, product, _score_column(rows, "→")]
        numbers = anatomy[f"{rows.own}distances"][rows.head, place][rows.places]
        title = words.translate("anatomy", "distance δ")
        distance = VectorColumn(title, BAR, values=rows.of(numbers), sign="+")
        return [key, product, distance, _score_column(rows, "→")]


class SoftmaxStep(AnatomyStep):
    is_of_head = True
    looks_at_rows = True

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        said = words.translate(
            "anatomy", "The scores become shares that add up to 1. {piece} looks at {shares}."
        ).format(piece=quoted(anatomy, walk.piece), shares=_looked_at(anatomy, walk))
        rotation = anatomy.config.family.rotation(anatomy.config)
        reach = None if rotation is None else rotation.layer(walk.layer - 1).reach
        if reach is None:
            return said
        near = words.translate("anatomy", "In this layer, a piece sees no more than {reach} to each side.")
        return words.sentences([said, near.format(reach=words.number(reach))])

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        scores = rows.anatomy[f"{rows.own}scores"][rows.head, rows.walk.piece].astype(np.float64)
        seen = rows.anatomy.seen(rows.walk.layer, rows.walk.piece)
        powers = np.where(seen, np.exp(np.minimum(scores - scores[seen].max(), 0.0)), 0.0)
        power = VectorColumn(
            "e^s",
            NUMBER,
            words.translate("anatomy", "minus the largest"),
            values=_with_others(rows, powers),
            sign="→",
            foot=np.asarray(powers.sum()),
            foot_words="Σ",
        )
        return [_score_column(rows), power, _weight_column(rows, is_summed=True)]


class MixedStep(AnatomyStep):
    is_of_head = True

    def off_name(self, walk: Walk) -> str:
        is_off = walk.changes.scale(walk.layer, walk.head) == 0
        return words.translate("anatomy", "head off") if is_off else ""

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        scale = anatomy.changes.scale(walk.layer, walk.head)
        if scale == 0:
            return words.translate("anatomy", "Head {head} is off: it passes on nothing.").format(
                head=walk.head
            )
        return words.translate(
            "anatomy", "{piece} takes {shares}. Head {head} passes on their values, mixed."
        ).format(piece=quoted(anatomy, walk.piece), shares=_looked_at(anatomy, walk), head=walk.head)

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        anatomy, walk = rows.anatomy, rows.walk
        weights = anatomy[f"{rows.own}softmax"][rows.head, walk.piece]
        values = anatomy[f"{rows.own}value"][rows.head]
        scale = anatomy.changes.scale(walk.layer, walk.head)
        shown = _with_others(rows, weights[:, None] * values * scale)
        mixed = anatomy[f"{rows.own}heads"][rows.head, walk.piece]
        times = "" if scale == 1.0 else f" × {scale:g}"
        added = VectorColumn(
            f"a × v{times}",
            hint=words.translate("anatomy", "same scale as z"),
            name=f"{rows.own}heads",
            values=shown,
            top=full_colour([], whole=np.concatenate([shown, mixed[None]])),
            sign="=",
            foot=mixed,
            is_summed=True,
            foot_words=words.translate("anatomy", "z, passed on by head {head}").format(head=walk.head),
        )
        value = rows.vector(f"{rows.own}value", "×", top=full_colour([], whole=values))
        return [_score_column(rows), _weight_column(rows, is_summed=False), value, added]


def _knows_distances(anatomy: Anatomy, walk: Walk) -> bool:
    return f"layer.{walk.layer}.distances" in anatomy


def _looked_at(anatomy: Anatomy, walk: Walk, count: int = 3) -> str:
    weights = anatomy[f"layer.{walk.layer}.softmax"][walk.head - 1, walk.piece]
    largest = np.argsort(-weights, kind="stable")[:count]
    template = words.translate("anatomy", "{share} of {piece}")
    parts = (
        template.format(share=words.probability(float(weights[i])), piece=quoted(anatomy, int(i)))
        for i in largest
    )
    return words.phrases(parts)


def _score_column(rows: StepRows, sign: str = "") -> VectorColumn:
    q, k = map(vectors.symbol, rows.anatomy.compared(rows.walk.layer))
    size = rows.anatomy[f"{rows.own}query"].shape[-1]
    values = rows.of(rows.anatomy[f"{rows.own}scores"][rows.head, rows.walk.piece][rows.places])
    hint = f"{q} · {k} / √{size}" + (" + δ" if _knows_distances(rows.anatomy, rows.walk) else "")
    return VectorColumn(words.translate("anatomy", "score"), BAR, hint, values=values, sign=sign)


def _weight_column(rows: StepRows, *, is_summed: bool) -> VectorColumn:
    weights = rows.anatomy[f"{rows.own}softmax"][rows.head, rows.walk.piece]
    return VectorColumn(
        words.translate("anatomy", "weight a"),
        SHARE,
        words.translate("anatomy", "softmax, sum 1"),
        values=_with_others(rows, weights),
        sign="→",
        foot=np.asarray(weights.sum()) if is_summed else None,
    )


def _with_others(rows: StepRows, values: Floats) -> Floats:
    """Return values of the rows, and what those of all others add up to."""
    if not rows.others:
        return np.asarray(values[rows.places])
    return np.concatenate([values[rows.places], values[rows.others].sum(0, keepdims=True)])


class HeadsStep(AnatomyStep):
    is_of_head = True

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        heads = anatomy.config.num_attention_heads
        return words.translate(
            "anatomy",
            "What the {heads} heads pass on is placed side by side: {heads} × {size} = {width} numbers.",
        ).format(heads=heads, size=anatomy.config.hidden_size // heads, width=anatomy.config.hidden_size)

    def usual_number(self, vector: Floats, walk: Walk) -> int:
        size, head = len(vector) // walk.shape[1], walk.head - 1
        return head * size + super().usual_number(vector[head * size : (head + 1) * size], walk)

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        count = rows.walk.shape[1]
        hint = words.translate("anatomy", "heads 1 to {count} side by side").format(count=count)
        return each_scale(rows.vector(f"{rows.own}joined", hint=hint, parts=count, part=rows.head))


class OutputStep(AnatomyStep):
    is_straight = False

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        return words.translate(
            "anatomy",
            "One matrix mixes what all heads found: each number of o reads all {width} numbers of z.",
        ).format(width=anatomy.config.hidden_size)

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        joined, output = rows.vectors("", "→")
        return each_scale(replace(joined, parts=rows.walk.shape[1], part=rows.head), output)


ATTENTION_STEPS = (
    NormStep(NORM_BEFORE_ATTENTION, formula=f"<i>y</i> = ({TAKEN} − μ) / σ · γ + β"),
    QkvStep(
        "qkv",
        lambda: words.translate("anatomy", "Q, K, V"),
        f"<i>q, k, v</i> = {TAKEN} W<sub>Q, K, V</sub> + <i>b</i>",
    ),
    RotationStep("rotation", lambda: words.translate("anatomy", "Rotation")),
    ScoresStep(
        "scores",
        lambda: words.translate("anatomy", "Scores"),
        "<i>s</i><sub>i</sub> = <i>q</i> · <i>k</i><sub>i</sub> / √<i>d</i>",
    ),
    SoftmaxStep(
        "softmax",
        lambda: words.translate("anatomy", "Softmax"),
        "<i>a</i><sub>i</sub> = <i>e</i><sup><i>s</i>i</sup> / Σ<sub>j</sub> <i>e</i><sup><i>s</i>j</sup>",
    ),
    MixedStep(
        "mixed",
        lambda: words.translate("anatomy", "Weighted sum"),
        "<i>z</i> = Σ<sub>i</sub> <i>a</i><sub>i</sub> <i>v</i><sub>i</sub>",
    ),
    HeadsStep(
        "heads",
        lambda: words.translate("anatomy", "Heads joined"),
        "<i>z</i> = [<i>z</i><sup>1</sup>, <i>z</i><sup>2</sup>, … ]",
    ),
    OutputStep(
        "output", lambda: words.translate("anatomy", "Output"), "<i>o</i> = <i>z</i> W<sub>O</sub> + <i>b</i>"
    ),
    ResidualStep(
        "attention_residual",
        formula=f"<i>r</i> = {TAKEN} + <i>o</i>",
        which=ATTENTION,
        added=lambda: words.translate(
            "anatomy", "The input of attention bypasses it, and is added to its output."
        ),
    ),
    NormStep("attention_norm", formula=f"<i>y</i> = ({TAKEN} − μ) / σ · γ + β"),
)
