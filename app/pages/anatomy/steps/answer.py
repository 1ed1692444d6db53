"""The steps behind the last layer: its vectors, what a head on top answers, and the loss of that answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import ClassVar

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale
from app.pages.anatomy.requests import ChangedAnatomy
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.step import TAKEN, AnatomyStep, NormStep
from app.pages.anatomy.sums import StepSum, written
from app.pages.anatomy.vectors import answer_words, quoted
from app.plots.vector_rows import BAR, NUMBER, SHARE, VectorColumn, VectorPicture, VectorRowHeader
from app.plots.worked_sum import WorkedTerms
from engine.inspect.anatomy.effect import MASKED, heads_of, largest, shares
from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.anatomy.working import Spot

LARGEST = 10  # answers, of so many that not all have room


class EndsStep(AnatomyStep):
    formulas: ClassVar = {
        "T": "<i>T</i> = <i>x</i>",
        "masked_word.dense": "<i>f</i> = <i>T</i> W + <i>b</i>",
        "masked_word.activation": "<i>g</i> = GELU(<i>f</i>)",
        "masked_word.norm": "<i>h</i> = (<i>g</i> − μ) / σ · γ + β",
    }
    is_straight = False
    foot = "C"

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        said = words.translate("anatomy", "Each piece has its last vector T. This model has no C.")
        if "C" in anatomy:
            said = words.translate(
                "anatomy",
                "Each piece has its last vector T. C is made from that of {first}, and "
                "represents the whole text.",
            )
            if anatomy.about.labels and anatomy.config.pooling:
                said = words.translate(
                    "anatomy",
                    "Each piece has its last vector T. C is made from the mean of them all, and "
                    "represents the whole text.",
                )
            if anatomy.about.labels and anatomy.config.layer_mix:
                said = words.translate(
                    "anatomy",
                    "Each piece has its last vector T. C is made from a mix of what all layers gave for "
                    "{first}, and represents the whole text.",
                )
        said = said.format(first=anatomy.pieces[0])
        if MASKED not in heads_of(anatomy):
            return said
        more = words.translate(
            "anatomy", "To guess words, T goes through one more matrix, {activation} and norm."
        )
        return words.sentences(
            [said, more.format(activation=vectors.activation_name(anatomy, "masked_word."))]
        )

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        spot = self.spot(anatomy, walk)
        if spot is not None and spot.name == "T" and walk.plan.norms_first:
            return FINAL_NORM.formula_of(anatomy, walk.at(FINAL_NORM.key))
        if spot is None or spot.name != "C":
            return super().formula_of(anatomy, walk)
        bias = " + <i>b</i>" if "pooler.dense.bias" in anatomy.weights else ""
        read = escape(anatomy.pieces[0])
        if anatomy.about.labels and anatomy.config.pooling:
            read = words.translate("anatomy", "mean")
        made = f"{vectors.activation_name(anatomy, 'C')}(<i>T</i><sub>{read}</sub> W{bias})"
        return f"<i>C</i> = {f'norm({made})' if 'pooler.activation' in anatomy else made}"

    def usual(self, anatomy: Anatomy, walk: Walk) -> str:
        return "C" if walk.piece == 0 and "C" in anatomy else "T"

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        anatomy = rows.anatomy
        last = rows.vector("T", hint=words.translate("anatomy", "a vector for each piece"))
        if "C" in anatomy:
            last = replace(last, foot=anatomy["C"], foot_words="C")
        names = [name for name in rows.names if name.startswith("masked_word.")]
        return each_scale(last, *(rows.vector(name, "→") for name in names))


class OnTopStep(AnatomyStep):
    """A step of the head on top: its rows are what it can say, the likeliest first."""

    is_on_top = True

    def answer(self, anatomy: Anatomy, walk: Walk) -> int:
        """Return the answer that is worked out, by its key: the chosen one, else the likeliest."""
        found = shares(anatomy, self.head_on_top(anatomy, walk), vectors.answer_place(anatomy, walk))
        return walk.said if 0 <= walk.said < len(found) else int(found.argmax())

    def spot(self, anatomy: Anatomy, walk: Walk) -> Spot | None:
        """Return the score of the answer; None where the model has no head for it."""
        head = self.head_on_top(anatomy, walk)
        if not head:
            return None
        key = self.answer(anatomy, walk)
        if head == MASKED:
            return Spot("masked_word.logits", vectors.answer_place(anatomy, walk), key=key)
        return Spot(f"{head}.logits", number=key)

    def is_changed(self, found: ChangedAnatomy, walk: Walk) -> bool:
        return any(name.endswith("logits") for name in found.changed)

    def picture(self, anatomy: Anatomy, walk: Walk, most: int) -> VectorPicture:
        head = self.head_on_top(anatomy, walk)
        if not head:
            return VectorPicture()
        place, chosen = vectors.answer_place(anatomy, walk), self.answer(anatomy, walk)
        found = shares(anatomy, head, place)
        logits = anatomy.logits_at(place)[: len(found)] if head == MASKED else anatomy[f"{head}.logits"]
        keys = largest(found, min(LARGEST, most - 1))
        if chosen not in keys:
            keys[-1] = chosen
        rows = [VectorRowHeader(answer_words(anatomy, head, key), key, key == chosen) for key in keys]
        if others := len(found) - len(keys):
            said = words.translate("anatomy", "{count} others").format(count=words.number(others))
            rows.append(VectorRowHeader(said, -1, is_quiet=True))
        rest = max(0.0, float(1.0 - found[keys].sum()))
        score = VectorColumn(
            words.translate("anatomy", "score"),
            BAR,
            "h · e + b" if head == MASKED else "C · w + b",
            values=np.array([*logits[keys], *([np.nan] if others else [])]),
        )
        share = VectorColumn(
            words.translate("anatomy", "probability"),
            SHARE,
            words.translate("anatomy", "softmax, sum 1"),
            values=np.array([*found[keys], *([rest] if others else [])]),
        )
        columns = self.answer_columns(anatomy, walk, keys, score, share)
        return VectorPicture(tuple(rows), columns, framed_row=keys.index(chosen))

    def answer_columns(
        self, anatomy: Anatomy, walk: Walk, keys: Sequence[int], score: VectorColumn, share: VectorColumn
    ) -> tuple[VectorColumn, ...]:
        """Return what is shown of the answers with these keys, and of all others below them."""
        raise NotImplementedError


class AnswerStep(OnTopStep):
    chooses_head = True

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        head = self.head_on_top(anatomy, walk)
        if not head:
            return words.translate(
                "anatomy", "This model has no head that Cloze knows, so its vectors are the result."
            )
        place = vectors.answer_place(anatomy, walk)
        found = shares(anatomy, head, place)
        best = int(found.argmax())
        said = {"best": answer_words(anatomy, head, best), "share": words.probability(float(found[best]))}
        if head != MASKED:
            return words.translate("anatomy", "From C: {best}, {share}.").format(**said)
        return words.translate(
            "anatomy", "At {piece}, “{best}” is the most likely of {count} words: {share}."
        ).format(piece=quoted(anatomy, place), count=words.number(len(found)), **said)

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        is_word = self.head_on_top(anatomy, walk) == MASKED
        return self.formula if is_word else "<i>p</i> = softmax(<i>C</i> Wᵀ + <i>b</i>)"

    def answer_columns(
        self, anatomy: Anatomy, walk: Walk, keys: Sequence[int], score: VectorColumn, share: VectorColumn
    ) -> tuple[VectorColumn, ...]:
        return score, replace(share, sign="→")

    def choose_row(self, anatomy: Anatomy, walk: Walk, key: int) -> Walk:
        return walk.changed(said=key)


class LossStep(OnTopStep):
    wants_target = True

    def head_on_top(self, anatomy: Anatomy, walk: Walk) -> str:
        return MASKED if MASKED in heads_of(anatomy) else ""

    def answer(self, anatomy: Anatomy, walk: Walk) -> int:
        """Return the word that stood there; else what is worked out of the answer."""
        target = vectors.target_id(anatomy, walk)
        return target if target >= 0 else super().answer(anatomy, walk)

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        if not self.head_on_top(anatomy, walk):
            return words.translate(
                "anatomy", "This model does not guess words, so there is no word to learn from."
            )
        target = vectors.target_id(anatomy, walk)
        if target < 0:
            return words.translate(
                "anatomy",
                "“{word}” is not a single piece of this vocabulary, and a [MASK] hides one "
                "piece. Type another word.",
            ).format(word=words.shorten(walk.target, 40))
        return words.translate(
            "anatomy",
            "In training, the hidden word is known: for example “{word}” at {piece}. The "
            "less likely the model finds it, the larger the loss.",
        ).format(
            word=anatomy.about.wordpiece.as_word((target,)),
            piece=quoted(anatomy, vectors.answer_place(anatomy, walk)),
        )

    def tell(self, anatomy: Anatomy, walk: Walk) -> StepSum:
        sentence = self.sentence(anatomy, walk)
        if not self.head_on_top(anatomy, walk) or vectors.target_id(anatomy, walk) < 0:
            return StepSum(sentence, self.formula)
        place, target = vectors.answer_place(anatomy, walk), vectors.target_id(anatomy, walk)
        share = float(shares(anatomy, MASKED, place)[target])
        loss = -math.log(share) if share > 0 else math.inf
        word = anatomy.about.wordpiece.as_word((target,))
        lines = (
            (words.translate("anatomy", "probability of “{word}”").format(word=word), written(share)),
            ("−ln", written(loss)),
            (words.translate("anatomy", "slope of its score, p − 1"), written(share - 1)),
        )
        line = f"= −ln {written(share)} = {written(loss)}"
        of = words.translate("anatomy", "The loss")
        shown = WorkedTerms(ends=lines, has_total=False)
        return StepSum(sentence, self.formula, line, of, shown, self.spot(anatomy, walk))

    def answer_columns(
        self, anatomy: Anatomy, walk: Walk, keys: Sequence[int], score: VectorColumn, share: VectorColumn
    ) -> tuple[VectorColumn, ...]:
        """Return the answers beside what is wanted."""
        assert share.values is not None
        target = vectors.target_id(anatomy, walk)
        wanted = np.array([float(key == target) for key in keys] + [0.0] * (len(share.values) - len(keys)))
        return (
            share,
            VectorColumn(
                words.translate("anatomy", "target"),
                NUMBER,
                words.translate("anatomy", "original word"),
                values=wanted,
                texts=tuple("1" if one else "0" for one in wanted),
                sign="−",
            ),
            VectorColumn(
                words.translate("anatomy", "slope"),
                BAR,
                words.translate("anatomy", "of the loss by the score"),
                values=share.values - wanted,
                sign="=",
            ),
        )

    def choose_row(self, anatomy: Anatomy, walk: Walk, key: int) -> Walk:
        return walk.changed(target=anatomy.about.wordpiece.as_word((key,)))


FINAL_NORM = NormStep("final_norm", formula=f"<i>T</i> = ({TAKEN} − μ) / σ · γ + β")
ANSWER_STEPS = (
    FINAL_NORM,
    EndsStep(
        "ends",
        lambda: words.translate("anatomy", "T and C"),
    ),
    AnswerStep(
        "answer", lambda: words.translate("anatomy", "Answer"), "<i>p</i> = softmax(<i>h</i> Eᵀ + <i>b</i>)"
    ),
    LossStep("loss", lambda: words.translate("anatomy", "Loss"), "L = −ln <i>p</i><sub>word</sub>"),
)
