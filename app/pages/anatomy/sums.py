"""What happens in a step, in one sentence, its formula, and one number worked out from this text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import answer_words
from app.pages.anatomy.requests import Found
from app.pages.anatomy.state import Walk
from app.plots.layered import value_words
from app.plots.worked_sum import Sum
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD
from engine.inspect.anatomy.effect import MASKED, heads_of, shares
from engine.inspect.anatomy.vectors import Anatomy, Product, products
from engine.inspect.anatomy.working import Spot, Working, row_of, working

NOTHING = Sum()


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """What is told of a step. formula: as HTML, ours; line: the same with this text's numbers, plain text.

    of: what the sum is of: "Number 24 of z". spot: the number; size: how many there are to choose from.
    weights: of each term of the sum, the row and column in `product`, where they are weights.
    """

    sentence: str
    formula: str = ""
    line: str = ""
    of: str = ""
    sum: Sum = NOTHING
    spot: Spot | None = None
    size: int = 0
    product: Product | None = None
    row: int = 0


def tell(found: Found, walk: Walk) -> Told:
    """Return what is told of the step that a walk stands at."""
    anatomy = found.now
    spot = vectors.spot_of(anatomy, walk)
    sentence = _SENTENCES[walk.step](anatomy, walk)
    formula = _FORMULAS[walk.step]
    if walk.step == "loss":
        return _tell_loss(anatomy, walk, sentence, formula)
    if walk.step == "answer" and vectors.answer_head(anatomy, walk) != MASKED:
        formula = _FROM_C
    if anatomy.changes.no_residual & {(walk.layer, _RESIDUALS.get(walk.step, ""))}:
        formula = formula.partition("=")[0] + "= " + formula.rpartition("+ ")[2]
    if walk.step in ("feed_forward", "qkv") and spot is not None:
        formula = _OF_VECTORS.get(spot.kind, formula)
        if (activation := vectors.activation_name(anatomy)) != "GELU":
            formula = formula.replace("GELU", activation).partition(" = <i>f</i> · Φ")[0]
    if walk.step == "ends" and spot is not None:
        formula = _OF_ENDS.get(spot.name, formula).replace("GELU", vectors.activation_name(anatomy))
    if spot is None:
        return Told(sentence, formula)
    done = working(anatomy, spot)
    shown = _SUMS[done.way](anatomy, spot, done)
    line = _LINES[done.way](anatomy, spot, done) if done.way in _LINES else ""
    row_vector = vectors.vectors_size(anatomy, spot)
    product, row = weights_of(anatomy, spot)
    return Told(sentence, formula, line, _of(anatomy, spot), shown, spot, row_vector, product, row)


def weights_of(anatomy: Anatomy, spot: Spot) -> tuple[Product | None, int]:
    """Return the matrix whose row makes a number, and the row; None where no single matrix does."""
    if spot.name == "masked_word.logits":
        return vectors.ON_TOP[spot.name], spot.key
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
        return words.translate("anatomy", "Score of “{key}”").format(key=answer_words(anatomy, head, key))
    return words.translate("anatomy", "Number {number} of {vector}").format(
        number=words.number(spot.number + 1), vector=letter
    )


# ---- one sentence


def _quoted(anatomy: Anatomy, place: int) -> str:
    return f"“{vectors.piece_names(anatomy)[place]}”"


def _say_text(anatomy: Anatomy, walk: Walk) -> str:
    count = words.number(anatomy.num_tokens)
    if anatomy.text_pair is None:
        return words.translate("anatomy", "One text; BERT will read it as {count} pieces.").format(
            count=count
        )
    return words.translate("anatomy", "Two texts, A and B; BERT will read them as {count} pieces.").format(
        count=count
    )


def _say_pieces(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy",
        "What stands in the vocabulary is a piece; other words are cut into pieces, of which all but the "
        "first "
        "begin with ##. [CLS] and [SEP] are added.",
    )


def _say_ids(anatomy: Anatomy, walk: Walk) -> str:
    template = words.translate(
        "anatomy",
        "{piece} is row {id} of the {count} words, stands in segment {segment}, at position {position}.",
    )
    place = walk.piece
    return template.format(
        piece=_quoted(anatomy, place),
        id=words.number(anatomy.ids[place]),
        count=words.number(anatomy.config.vocab_size),
        segment=anatomy.segments[place],
        position=anatomy.positions[place],
    )


def _say_vectors(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy",
        "Three rows are looked up for {piece}: of its word, its segment, its position, {width} numbers each.",
    ).format(piece=_quoted(anatomy, walk.piece), width=anatomy.config.hidden_size)


def _say_sum(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate("anatomy", "The three vectors are added, number by number.")


def _say_norm(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy",
        "Each vector is moved to mean 0 and spread 1; then each number has a scale γ and a shift β of its "
        "own, which "
        "were learned.",
    )


def _say_qkv(anatomy: Anatomy, walk: Walk) -> str:
    size = anatomy.config.hidden_size // anatomy.config.num_attention_heads
    return words.translate(
        "anatomy",
        "Head {head} makes three vectors of {size} numbers for each piece: what it asks, what it is found "
        "by, and "
        "what it hands on.",
    ).format(head=walk.head, size=size)


def _say_scores(anatomy: Anatomy, walk: Walk) -> str:
    key = vectors.key_of(anatomy, walk)
    return words.translate(
        "anatomy", "The query of {piece} is held against every key. With that of {key} it scores {score}."
    ).format(
        piece=_quoted(anatomy, walk.piece),
        key=_quoted(anatomy, key),
        score=value_words(float(anatomy[f"layer.{walk.layer}.scores"][walk.head - 1, walk.piece, key])),
    )


def _say_softmax(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy", "The scores become shares that add up to 1. {piece} looks at {shares}."
    ).format(piece=_quoted(anatomy, walk.piece), shares=_looked_at(anatomy, walk))


def _say_mixed(anatomy: Anatomy, walk: Walk) -> str:
    scale = anatomy.changes.scale(walk.layer, walk.head)
    if scale == 0:
        return words.translate("anatomy", "Head {head} is off: it hands on nothing.").format(head=walk.head)
    return words.translate(
        "anatomy", "{piece} takes {shares}; head {head} hands on their values, mixed."
    ).format(piece=_quoted(anatomy, walk.piece), shares=_looked_at(anatomy, walk), head=walk.head)


def _looked_at(anatomy: Anatomy, walk: Walk, count: int = 3) -> str:
    weights = anatomy[f"layer.{walk.layer}.softmax"][walk.head - 1, walk.piece]
    largest = np.argsort(-weights, kind="stable")[:count]
    template = words.translate("anatomy", "{share} of {piece}")
    parts = (
        template.format(share=words.probability(float(weights[i])), piece=_quoted(anatomy, int(i)))
        for i in largest
    )
    return ", ".join(parts)


def _say_heads(anatomy: Anatomy, walk: Walk) -> str:
    heads = anatomy.config.num_attention_heads
    return words.translate(
        "anatomy", "What the {heads} heads hand on stands side by side: {heads} × {size} = {width} numbers."
    ).format(heads=heads, size=anatomy.config.hidden_size // heads, width=anatomy.config.hidden_size)


def _say_output(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy", "One matrix mixes what all heads found: each number of o reads all {width} of z."
    ).format(width=anatomy.config.hidden_size)


def _say_residual(which: str) -> Callable[[Anatomy, Walk], str]:
    def say(anatomy: Anatomy, walk: Walk) -> str:
        if (walk.layer, which) in anatomy.changes.no_residual:
            return words.translate("anatomy", "What went in is left out: only what was found goes on.")
        if which == ATTENTION:
            return words.translate(
                "anatomy", "What went into attention goes round it, and is added to what attention found."
            )
        return words.translate(
            "anatomy", "What went into the feed-forward part goes round it, and is added to what it found."
        )

    return say


def _say_feed_forward(anatomy: Anatomy, walk: Walk) -> str:
    return words.translate(
        "anatomy",
        "Each piece by itself: one matrix makes {inner} numbers, {activation} keeps those above zero and "
        "little "
        "of the "
        "others, a second matrix makes {width} of them again.",
    ).format(
        inner=words.number(anatomy.config.intermediate_size),
        width=anatomy.config.hidden_size,
        activation=vectors.activation_name(anatomy),
    )


def _say_ends(anatomy: Anatomy, walk: Walk) -> str:
    said = words.translate("anatomy", "Each piece has its last vector T. This model has no C.")
    if "C" in anatomy:
        said = words.translate(
            "anatomy",
            "Each piece has its last vector T. C is made from that of [CLS], and stands for the whole text.",
        )
    if MASKED not in heads_of(anatomy):
        return said
    more = words.translate(
        "anatomy", "To guess words, T goes through one more matrix, {activation} and norm."
    )
    return f"{said} {more.format(activation=vectors.activation_name(anatomy))}"


def _say_answer(anatomy: Anatomy, walk: Walk) -> str:
    head = vectors.answer_head(anatomy, walk)
    if not head:
        return words.translate(
            "anatomy", "This model has no head on top that is known here: its vectors are all there is."
        )
    place = vectors.answer_place(anatomy, walk)
    found = shares(anatomy, head, place)
    best = int(found.argmax())
    said = {"best": answer_words(anatomy, head, best), "share": words.probability(float(found[best]))}
    if head != MASKED:
        return words.translate("anatomy", "From C: {best}, {share}.").format(**said)
    return words.translate(
        "anatomy", "In the place of {piece}, “{best}” is the likeliest of {count} words: {share}."
    ).format(piece=_quoted(anatomy, place), count=words.number(len(found)), **said)


def _say_loss(anatomy: Anatomy, walk: Walk) -> str:
    if not vectors.answer_head(anatomy, walk):
        return words.translate("anatomy", "This model guesses no words, so there is no word to learn from.")
    target = vectors.target_id(anatomy, walk)
    if target < 0:
        return words.translate(
            "anatomy",
            "“{word}” is no single piece of this vocabulary, and a [MASK] hides one. Type another word.",
        ).format(word=words.shorten(walk.target, 40))
    place = vectors.answer_place(anatomy, walk)
    return words.translate(
        "anatomy",
        "In training, the word that was hidden is known: say “{word}” at {piece}. The less likely it was "
        "held, the "
        "larger the loss.",
    ).format(word=anatomy.about.wordpiece.tokens[target], piece=_quoted(anatomy, place))


_SENTENCES: dict[str, Callable[[Anatomy, Walk], str]] = {
    "text": _say_text,
    "pieces": _say_pieces,
    "ids": _say_ids,
    "vectors": _say_vectors,
    "sum": _say_sum,
    "embedding_norm": _say_norm,
    "qkv": _say_qkv,
    "scores": _say_scores,
    "softmax": _say_softmax,
    "mixed": _say_mixed,
    "heads": _say_heads,
    "output": _say_output,
    "attention_residual": _say_residual(ATTENTION),
    "attention_norm": _say_norm,
    "feed_forward": _say_feed_forward,
    "residual": _say_residual(FEED_FORWARD),
    "norm": _say_norm,
    "ends": _say_ends,
    "answer": _say_answer,
    "loss": _say_loss,
}
_FORMULAS = {
    "text": "",
    "pieces": "",
    "ids": "",
    "vectors": "<i>w</i> = W<sub>id</sub>, <i>s</i> = S<sub>segment</sub>, <i>p</i> = P<sub>position</sub>",
    "sum": "<i>e</i> = <i>w</i> + <i>s</i> + <i>p</i>",
    "embedding_norm": "<i>x</i> = (<i>e</i> − μ) / σ · γ + β",
    "qkv": "<i>q, k, v</i> = <i>x</i> W<sub>Q, K, V</sub> + <i>b</i>",
    "scores": "<i>s</i><sub>i</sub> = <i>q</i> · <i>k</i><sub>i</sub> / √<i>d</i>",
    "softmax": "<i>a</i><sub>i</sub> = <i>e</i><sup><i>s</i>i</sup> / Σ<sub>j</sub> "
    "<i>e</i><sup><i>s</i>j</sup>",
    "mixed": "<i>z</i> = Σ<sub>i</sub> <i>a</i><sub>i</sub> <i>v</i><sub>i</sub>",
    "heads": "<i>z</i> = [<i>z</i><sup>1</sup>, <i>z</i><sup>2</sup>, … ]",
    "output": "<i>o</i> = <i>z</i> W<sub>O</sub> + <i>b</i>",
    "attention_residual": "<i>r</i> = <i>x</i> + <i>o</i>",
    "attention_norm": "<i>y</i> = (<i>r</i> − μ) / σ · γ + β",
    "feed_forward": "<i>u</i> = GELU(<i>y</i> W<sub>1</sub> + <i>b</i>) W<sub>2</sub> + <i>b</i>",
    "residual": "<i>r′</i> = <i>y</i> + <i>u</i>",
    "norm": "<i>x</i> = (<i>r′</i> − μ) / σ · γ + β",
    "ends": "<i>C</i> = tanh(<i>T</i><sub>[CLS]</sub> W + <i>b</i>)",
    "answer": "<i>p</i> = softmax(<i>h</i> Eᵀ + <i>b</i>)",
    "loss": "L = −ln <i>p</i><sub>word</sub>",
}
_FROM_C = "<i>p</i> = softmax(<i>C</i> Wᵀ + <i>b</i>)"
_RESIDUALS = {"attention_residual": ATTENTION, "residual": FEED_FORWARD}
_OF_VECTORS = {
    "query": "<i>q</i> = <i>x</i> W<sub>Q</sub> + <i>b</i>",
    "key": "<i>k</i> = <i>x</i> W<sub>K</sub> + <i>b</i>",
    "value": "<i>v</i> = <i>x</i> W<sub>V</sub> + <i>b</i>",
    "feed_forward_in": "<i>f</i> = <i>y</i> W<sub>1</sub> + <i>b</i>",
    "activation": "<i>g</i> = GELU(<i>f</i>) = <i>f</i> · Φ(<i>f</i>)",
    "feed_forward_out": "<i>u</i> = <i>g</i> W<sub>2</sub> + <i>b</i>",
}
_OF_ENDS = {
    "T": "<i>T</i> = <i>x</i>",
    "masked_word.dense": "<i>f</i> = <i>T</i> W + <i>b</i>",
    "masked_word.activation": "<i>g</i> = GELU(<i>f</i>)",
    "masked_word.norm": "<i>h</i> = (<i>g</i> − μ) / σ · γ + β",
}


# ---- one number


def _sum_of_parts(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    names = [vectors.title(anatomy, name) for name in done.names]
    return Sum(names, done.terms.tolist(), total=done.value, total_words=vectors.title(anatomy, spot.name))


def _sum_of_product(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    assert done.left is not None and done.right is not None
    letter = _taken(anatomy, spot)
    names = [f"{letter} {i}" for i in range(1, len(done.terms) + 1)]
    ends: tuple[tuple[str, str], ...] = ()
    bias = done.steps["bias"]
    if done.way == "pooled":
        ends = (("tanh", written(done.value)),)
    if not np.isfinite(done.terms).all():  # of a mean over all pieces
        return Sum(
            ends=((words.translate("anatomy", "made from all pieces together"), written(done.value)),),
            has_total=False,
        )
    return Sum(
        names,
        done.terms.tolist(),
        done.left.tolist(),
        done.right.tolist(),
        heads=(letter, words.translate("anatomy", "weight"), words.translate("anatomy", "product")),
        starts=((words.translate("anatomy", "bias b"), bias),),
        total=done.total + bias,
        ends=ends,
        can_click=weights_of(anatomy, spot)[0] is not None,
    )


def _taken(anatomy: Anatomy, spot: Spot) -> str:
    """Return the letter of what a matrix reads."""
    product, _row = weights_of(anatomy, spot)
    return "x" if product is None else vectors.symbol(product.taken)


def _sum_of_score(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    assert done.left is not None and done.right is not None
    names = [words.number(i) for i in range(1, len(done.terms) + 1)]
    root = done.steps["root"]
    divided = words.translate("anatomy", "divided by √{size} = {root}").format(
        size=len(names), root=words.decimal(root, 3)
    )
    return Sum(
        names,
        done.terms.tolist(),
        done.left.tolist(),
        done.right.tolist(),
        heads=("q", "k", "q × k"),
        total=done.total,
        ends=((divided, written(done.value)),),
    )


def _sum_of_share(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    names = vectors.piece_names(anatomy)
    own = float(done.terms[spot.key])
    said = words.translate("anatomy", "{power} / {total}").format(
        power=written(own), total=written(done.total)
    )
    return Sum(
        names,
        done.terms.tolist(),
        heads=("", "", "e^(s − {most})".format(most=value_words(done.steps["most"]))),
        total=done.total,
        ends=((said, written(done.value)),),
        strong=spot.key,
    )


def _sum_of_values(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    assert done.left is not None and done.right is not None
    scale = done.steps.get("scale")
    ends: tuple[tuple[str, str], ...] = ()
    if scale is not None:
        ends = (
            (
                words.translate("anatomy", "times the scale {scale}").format(scale=f"{scale:g}"),
                written(done.value),
            ),
        )
    return Sum(
        vectors.piece_names(anatomy),
        done.terms.tolist(),
        done.left.tolist(),
        done.right.tolist(),
        heads=("a", "v", "a × v"),
        total=done.total,
        ends=ends,
        strong=spot.place,
    )


def _sum_of_norm(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    steps = done.steps
    x, mean, spread, gamma, beta = (steps[name] for name in ("x", "mean", "deviation", "gamma", "beta"))
    middle = (x - mean) / spread
    lines = (
        (f"{vectors.symbol(done.names[0])}", x),
        (words.translate("anatomy", "less the mean μ {number}").format(number=written(mean)), x - mean),
        (words.translate("anatomy", "by the spread σ {number}").format(number=written(spread)), middle),
        (words.translate("anatomy", "times γ {number}").format(number=written(gamma)), middle * gamma),
        (words.translate("anatomy", "plus β {number}").format(number=written(beta)), done.value),
    )
    return Sum(ends=tuple((name, written(x)) for name, x in lines), has_total=False)


def _sum_of_activation(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    x = done.steps["x"]
    lines: list[tuple[str, str]] = [("f", written(x))]
    if anatomy.config.hidden_act == "gelu":
        lines.append(
            (words.translate("anatomy", "Φ(f), the share of a normal curve below it"), written(_below(x)))
        )
    lines.append((f"{vectors.activation_name(anatomy)}(f)", written(done.value)))
    return Sum(ends=tuple(lines), has_total=False)


def _below(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _sum_of_lookup(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    row = words.translate("anatomy", "row {row}, number {number}").format(
        row=words.number(done.steps["row"]), number=words.number(spot.number + 1)
    )
    return Sum(ends=((row, written(done.value)),), has_total=False)


def _sum_of_joined(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    said = words.translate("anatomy", "number {number} of head {head}").format(
        number=words.number(done.steps["number"] + 1), head=words.number(done.steps["head"] + 1)
    )
    return Sum(ends=((said, written(done.value)),), has_total=False)


def _sum_of_same(anatomy: Anatomy, spot: Spot, done: Working) -> Sum:
    said = words.translate("anatomy", "the last layer's own").format()
    return Sum(ends=((said, written(done.value)),), has_total=False)


def written(x: float, most: int = 4) -> str:
    """Return a number with three or four digits that count, at most so many, and no more than six behind
    the point.
    """
    if not x or not math.isfinite(x):
        return "0" if x == 0 else "–"
    digits = max(2, min(most + 2, most - 1 - math.floor(math.log10(abs(x)))))
    return ("−" if x < 0 else "") + words.decimal(abs(x), min(digits, 4) if abs(x) >= 0.01 else digits)


_SUMS: dict[str, Callable[[Anatomy, Spot, Working], Sum]] = {
    "sum": _sum_of_parts,
    "product": _sum_of_product,
    "pooled": _sum_of_product,
    "scored": _sum_of_product,
    "score": _sum_of_score,
    "share": _sum_of_share,
    "mixed": _sum_of_values,
    "norm": _sum_of_norm,
    "activation": _sum_of_activation,
    "lookup": _sum_of_lookup,
    "joined": _sum_of_joined,
    "same": _sum_of_same,
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


def _line_of_share(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    own = float(done.terms[spot.key])
    return f"= {written(own)} / {written(done.total)} = {value_words(done.value)}"


def _line_of_score(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    assert done.left is not None
    return f"= {written(done.total)} / √{len(done.left)} = {written(done.value)}"


def _line_of_parts(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    numbers = [value_words(float(x)) for x in done.terms]
    return "= " + " + ".join(numbers).replace("+ −", "− ") + f" = {value_words(done.value)}"


def _line_of_norm(anatomy: Anatomy, spot: Spot, done: Working) -> str:
    steps = done.steps
    names = ("x", "mean", "deviation", "gamma", "beta")
    x, mean, spread, gamma, beta = (written(float(steps[name]), 3) for name in names)
    return f"= ({x} − {mean}) / {spread} × {gamma} + {beta}".replace("− −", "+ ").replace("+ −", "− ")


_LINES: dict[str, Callable[[Anatomy, Spot, Working], str]] = {
    "sum": _line_of_parts,
    "score": _line_of_score,
    "share": _line_of_share,
    "mixed": _line_of_values,
    "norm": _line_of_norm,
}


def _tell_loss(anatomy: Anatomy, walk: Walk, sentence: str, formula: str) -> Told:
    if not vectors.answer_head(anatomy, walk) or vectors.target_id(anatomy, walk) < 0:
        return Told(sentence, formula)
    place, target = vectors.answer_place(anatomy, walk), vectors.target_id(anatomy, walk)
    share = float(shares(anatomy, MASKED, place)[target])
    loss = -math.log(share) if share > 0 else math.inf
    word = anatomy.about.wordpiece.tokens[target]
    lines = (
        (words.translate("anatomy", "probability of “{word}”").format(word=word), written(share)),
        ("−ln", written(loss)),
        (words.translate("anatomy", "slope of its score, p − 1"), written(share - 1)),
    )
    line = f"= −ln {written(share)} = {written(loss)}"
    of = words.translate("anatomy", "The loss")
    spot = vectors.answer_spot(anatomy, walk)
    return Told(sentence, formula, line, of, Sum(ends=lines, has_total=False), spot)
