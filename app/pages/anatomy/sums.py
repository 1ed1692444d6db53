"""What is told of a step, and one number of it worked out from this text, by the way it was calculated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.plots.layered import value_words
from app.plots.worked_sum import WorkedTerms
from engine.inspect.anatomy.effect import MASKED
from engine.inspect.anatomy.vectors import Anatomy, Product, products
from engine.inspect.anatomy.working import Spot, Working, row_of, working

NOTHING = WorkedTerms()


@dataclass(frozen=True, eq=False, slots=True)
class StepSum:
    """What is told of a step. formula: as HTML, ours; line: the same with this text's numbers, plain text.

    of: what the sum is of: "Number 24 of z". spot: the number; size: how many there are to choose from.
    weights: of each term of the sum, the row and column in `product`, where they are weights.
    """

    sentence: str
    formula: str = ""
    line: str = ""
    of: str = ""
    sum: WorkedTerms = NOTHING
    spot: Spot | None = None
    size: int = 0
    product: Product | None = None
    row: int = 0


def worked_out(anatomy: Anatomy, spot: Spot, sentence: str, formula: str) -> StepSum:
    """Return what is told of a step whose number at a spot is worked out."""
    done = working(anatomy, spot)
    shown = _SUMS[done.way](anatomy, spot, done)
    line = _LINES[done.way](anatomy, spot, done) if done.way in _LINES else ""
    size = vectors.vectors_size(anatomy, spot)
    product, row = weights_of(anatomy, spot)
    return StepSum(sentence, formula, line, _of(anatomy, spot), shown, spot, size, product, row)


def weights_of(anatomy: Anatomy, spot: Spot) -> tuple[Product | None, int]:
    """Return the matrix whose row makes a number, and the row; None where no single matrix does."""
    if spot.name == "masked_word.logits":
        return vectors.ON_TOP[spot.name], spot.key
    if spot.name == "C" and spot.number >= anatomy.config.hidden_size:  # which no matrix has made
        return None, 0
    product = vectors.ON_TOP.get(spot.name) or products(anatomy.config).get(spot.name)
    return product, row_of(anatomy, spot) if product is not None else 0


def _of(anatomy: Anatomy, spot: Spot) -> str:
    """Return which number is worked out."""
    names = vectors.piece_names(anatomy)
    letter = vectors.symbol(spot.name)
    if spot.kind in vectors.MATRICES:
        template = (
            words.translate("anatomy", "Score of “{key}”")
            if spot.kind == "scores"
            else words.translate("anatomy", "Weight of “{key}”")
        )
        return template.format(key=names[spot.key])
    if spot.name.endswith(".logits"):
        head = spot.name.partition(".")[0]
        key = spot.key if head == MASKED else spot.number
        return words.translate("anatomy", "Score of “{key}”").format(
            key=vectors.answer_words(anatomy, head, key)
        )
    return words.translate("anatomy", "Number {number} of {vector}").format(
        number=words.number(spot.number + 1), vector=letter
    )


def _sum_of_parts(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    names = [vectors.title(anatomy, name) for name in done.names]
    return WorkedTerms(
        names, done.terms.tolist(), total=done.value, total_words=vectors.title(anatomy, spot.name)
    )


def _products(names: Sequence[str], done: Working, **how: Any) -> WorkedTerms:
    """Return a sum of products. Args: how: it ends, as of `WorkedTerms`."""
    assert done.left is not None and done.right is not None
    return WorkedTerms(names, done.terms.tolist(), done.left.tolist(), done.right.tolist(), **how)


def _sum_of_product(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    letter = _taken(anatomy, spot)
    names = [f"{letter} {i}" for i in range(1, len(done.terms) + 1)]
    bias = done.steps.get("bias")
    if not np.isfinite(done.terms).all():  # of a mean over all pieces
        return _taken_over(words.translate("anatomy", "made from all pieces together"), done)
    return _products(
        names,
        done,
        heads=(letter, words.translate("anatomy", "weight"), words.translate("anatomy", "product")),
        starts=() if bias is None else ((words.translate("anatomy", "bias b"), bias),),
        total=done.total + (bias or 0.0),
        ends=((vectors.activation_name(anatomy, "C"), written(done.value)),) if done.way == "pooled" else (),
        can_click=weights_of(anatomy, spot)[0] is not None,
    )


def _taken(anatomy: Anatomy, spot: Spot) -> str:
    """Return the letter of what a matrix reads."""
    product, _row = weights_of(anatomy, spot)
    return "x" if product is None else vectors.symbol(product.taken)


def _sum_of_score(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    names = [words.number(i) for i in range(1, len(done.terms) + 1)]
    root = done.steps["root"]
    q, k = map(vectors.symbol, anatomy.compared(spot.layer))
    divided = words.translate("anatomy", "by √{size} = {root}").format(
        size=len(names), root=words.decimal(root, 3)
    )
    ends = [(divided, written(done.total / root))]
    if "distance" in done.steps:
        said = words.translate("anatomy", "plus distance {number}")
        ends.append((said.format(number=written(done.steps["distance"])), written(done.value)))
    return _products(names, done, heads=(q, k, f"{q} × {k}"), total=done.total, ends=tuple(ends))


def _sum_of_turned(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    letter = vectors.symbol(spot.name).rstrip("′")
    places = (spot.number, round(done.steps["other"]))
    names = [f"{letter} {place + 1}" for place in places]
    sine = "−sin φ" if places[0] < places[1] else "sin φ"
    heads = (letter, f"cos φ, {sine}", words.translate("anatomy", "product"))
    return _products(names, done, heads=heads, total=done.value)


def _sum_of_gated(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    assert done.left is not None and done.right is not None
    activation = f"{vectors.activation_name(anatomy)} g"
    lines = ((activation, written(float(done.left[0]))), ("× m", written(float(done.right[0]))))
    return WorkedTerms(ends=(*lines, ("n", written(done.value))), has_total=False)


def _sum_of_share(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    names = vectors.piece_names(anatomy)
    own = float(done.terms[spot.key])
    said = words.translate("anatomy", "{power} / {total}").format(
        power=written(own), total=written(done.total)
    )
    return WorkedTerms(
        names,
        done.terms.tolist(),
        heads=("", "", "e^(s − {most})".format(most=value_words(done.steps["most"]))),
        total=done.total,
        ends=((said, written(done.value)),),
        strong=spot.key,
    )


def _sum_of_values(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    scale, times = done.steps.get("scale"), words.translate("anatomy", "times the scale {scale}")
    ends = () if scale is None else ((times.format(scale=f"{scale:g}"), written(done.value)),)
    return _products(
        vectors.piece_names(anatomy),
        done,
        heads=("a", "v", "a × v"),
        total=done.total,
        ends=ends,
        strong=spot.place,
    )


def _sum_of_norm(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    x, mean, spread, gamma = (done.steps[name] for name in ("x", "mean", "deviation", "gamma"))
    middle, beta = (x - mean) / spread, done.steps.get("beta")
    lines = [
        (f"{vectors.symbol(done.names[0])}", x),
        (words.translate("anatomy", "minus the mean μ {number}").format(number=written(mean)), x - mean),
        (words.translate("anatomy", "by the spread σ {number}").format(number=written(spread)), middle),
        (words.translate("anatomy", "times γ {number}").format(number=written(gamma)), middle * gamma),
    ]
    if beta is not None:
        lines.append((words.translate("anatomy", "plus β {number}").format(number=written(beta)), done.value))
    return WorkedTerms(ends=tuple((name, written(x)) for name, x in lines), has_total=False)


def _sum_of_activation(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    x = done.steps["x"]
    lines: list[tuple[str, str]] = [("f", written(x))]
    if _is_exact_gelu(anatomy, spot):
        lines.append(
            (words.translate("anatomy", "Φ(f), the share of a normal curve below it"), written(_below(x)))
        )
    lines.append((f"{vectors.activation_name(anatomy, spot.name)}(f)", written(done.value)))
    return WorkedTerms(ends=tuple(lines), has_total=False)


def _is_exact_gelu(anatomy: Anatomy, spot: Spot) -> bool:
    """Return whether an activation is GELU by the normal curve, not one of its approximations."""
    pooling, guessing = anatomy.config.family.acts_of_heads(anatomy.config)
    of_heads = {"masked_word.activation": guessing, "pooler.activation": pooling}
    return of_heads.get(spot.name, anatomy.config.hidden_act) == "gelu"


def _below(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _taken_over(said: str, done: Working) -> WorkedTerms:
    """Return a number that is no sum, and where it is from."""
    return WorkedTerms(ends=((said, written(done.value)),), has_total=False)


def _sum_of_lookup(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    row = words.translate("anatomy", "row {row}, number {number}").format(
        row=words.number(done.steps["row"]), number=words.number(spot.number + 1)
    )
    return _taken_over(row, done)


def _sum_of_joined(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    said = words.translate("anatomy", "number {number} of head {head}").format(
        number=words.number(done.steps["number"] + 1), head=words.number(done.steps["head"] + 1)
    )
    return _taken_over(said, done)


def _sum_of_same(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    return _taken_over(words.translate("anatomy", "the last layer’s output"), done)


def _sum_of_taken(anatomy: Anatomy, spot: Spot, done: Working) -> WorkedTerms:
    return _taken_over(words.translate("anatomy", "the mean of all pieces after the embeddings"), done)


def written(x: float, most: int = 4) -> str:
    """Return a number with three or four digits that count, at most so many, and no more than six behind
    the point.
    """
    if not x or not math.isfinite(x):
        return "0" if x == 0 else "–"
    digits = max(2, min(most + 2, most - 1 - math.floor(math.log10(abs(x)))))
    return ("−" if x < 0 else "") + words.decimal(abs(x), min(digits, 4) if abs(x) >= 0.01 else digits)


_SUMS: dict[str, Callable[[Anatomy, Spot, Working], WorkedTerms]] = {
    "sum": _sum_of_parts,
    "product": _sum_of_product,
    "pooled": _sum_of_product,
    "scored": _sum_of_product,
    "turned": _sum_of_turned,
    "gated": _sum_of_gated,
    "score": _sum_of_score,
    "share": _sum_of_share,
    "mixed": _sum_of_values,
    "norm": _sum_of_norm,
    "activation": _sum_of_activation,
    "lookup": _sum_of_lookup,
    "joined": _sum_of_joined,
    "same": _sum_of_same,
    "taken": _sum_of_taken,
}


def _line_of_values(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    assert done.left is not None
    names = vectors.piece_names(anatomy)
    largest = np.argsort(-done.left, kind="stable")[:2]
    parts = [f"{value_words(float(done.left[i]))} v({names[i]})" for i in largest]
    rest = anatomy.num_tokens - len(parts)
    said = " + ".join(parts)
    if rest <= 0:
        return f"= {said}"
    return words.translate("anatomy", "= {terms} + {count} others").format(
        terms=said, count=words.number(rest)
    )


def _line_of_turned(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    assert done.left is not None and done.right is not None
    parts = [f"{written(x)} × {written(y)}" for x, y in zip(done.left, done.right, strict=True)]
    return f"= {' + '.join(parts)} = {written(done.value)}".replace("+ −", "− ")


def _line_of_share(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    own = float(done.terms[spot.key])
    return f"= {written(own)} / {written(done.total)} = {value_words(done.value)}"


def _line_of_score(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    assert done.left is not None
    added = f" + {written(done.steps['distance'])}" if "distance" in done.steps else ""
    said = f"= {written(done.total)} / √{len(done.left)}{added} = {written(done.value)}"
    return said.replace("+ −", "− ")


def _line_of_parts(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    numbers = [value_words(float(x)) for x in done.terms]
    return "= " + " + ".join(numbers).replace("+ −", "− ") + f" = {value_words(done.value)}"


def _line_of_norm(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    names = ("x", "mean", "deviation", "gamma")
    x, mean, spread, gamma = (written(float(done.steps[name]), 3) for name in names)
    shift = f" + {written(float(done.steps['beta']), 3)}" if "beta" in done.steps else ""
    return f"= ({x} − {mean}) / {spread} × {gamma}{shift}".replace("− −", "+ ").replace("+ −", "− ")


_LINES: dict[str, Callable[[Anatomy, Spot, Working], str]] = {
    "sum": _line_of_parts,
    "turned": _line_of_turned,
    "score": _line_of_score,
    "share": _line_of_share,
    "mixed": _line_of_values,
    "norm": _line_of_norm,
}
