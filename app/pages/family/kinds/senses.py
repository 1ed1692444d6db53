"""A word in sentences: whether its vector changes, layer by layer, and whether senses lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app import words
from app.pages.family.kinds.kind import (
    SENTENCES,
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    TypedExample,
    TypedQuestion,
    no_vectors,
)
from app.pages.family.kinds.others import (
    about_words,
    head_of,
    member_cells,
    size_cells,
    size_heads,
    titles_of,
    waiting_or,
)
from app.pages.family.scores import cell, shares_line
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore, WordEntry
from app.plots.sense_planes import SenseDot
from app.stories.story import FamilyTexts
from app.words import translate
from engine.family import senses
from engine.family.members import PLACE_VECTORS, About
from engine.family.questions.senses import SensesAnswer, WordSenses
from engine.family.reached import share


class SensesKind(FamilyKind[SensesAnswer]):
    """A word and its sentences."""

    key = "senses"
    fields = (SENTENCES,)
    can_practice = True
    picks_members = True
    takes_others = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "“bank” and “bank”"), translate("family", "“bank”")

    @property
    def label(self) -> str:
        return translate("family", "Word")

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return self.examples(texts)[0].typed

    def examples(self, texts: FamilyTexts) -> tuple[TypedExample, ...]:
        return tuple(
            TypedExample(
                word, TypedQuestion(word, sentences="\n\n".join("\n".join(group) for group in groups))
            )
            for word, groups in texts.senses.items()
        )

    def question(self, given: GivenQuestion) -> WordSenses:
        grouped = tuple(senses.read_groups(given.typed.sentences))
        return WordSenses(given.folder, given.typed.text, grouped, bert=given.bert, others=given.others)

    def reached(self, answer: FamilyAnswer[SensesAnswer], name: str) -> str:
        apart = answer.value.apart.get(name)
        return "" if apart is None else _hits(apart)

    def otherwise(self, answer: FamilyAnswer[SensesAnswer], given: str) -> str:
        own = answer.value.own
        if own is None:
            return ""
        said = translate(
            "family",
            "With {given}, this family’s BERT has {hits} sentences next to one of the same sense.",
        )
        return said.format(given=given, hits=_hits(own))

    def column(
        self, answer: FamilyAnswer[SensesAnswer], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        told = answer.value
        found = told.senses.get(about.name)
        sizes = member_cells(about.name, told.sizes) if told.others else ()
        cells = (*_cells(told, told.apart.get(about.name)), *sizes)
        if found is None:
            return MemberColumn(**{**head, "scores": cells}, cannot=no_vectors())
        one_point = translate("family", "One point: the sentence changes nothing.")
        return MemberColumn(
            **{**head, "scores": cells},
            **_seen_flat(told, found),
            is_likeness=True,
            cannot="" if about.age == PLACE_VECTORS else one_point,
        )

    def other_columns(self, answer: FamilyAnswer[SensesAnswer]) -> tuple[MemberColumn, ...]:
        told, columns = answer.value, list[MemberColumn]()
        titles = titles_of([one.folder for one in told.others])
        for one, title in zip(told.others, titles, strict=True):
            kind, size = ("", None) if one.about is None else (one.about.family, one.about.size)
            flat = {} if one.senses is None else _seen_flat(told, one.senses)
            columns.append(
                MemberColumn(
                    **head_of(title, one.about),
                    **flat,
                    is_likeness=True,
                    cannot=waiting_or(one.refusal, is_whole=one.is_whole),
                    scores=(*_cells(told, one.apart), *size_cells(kind, size)),
                )
            )
        return tuple(columns)

    def about_other(self, answer: FamilyAnswer[SensesAnswer], place: int) -> list[str]:
        one = answer.value.others[place]
        return about_words(one.about, one.folder, one.refusal)

    def labels(self, answer: FamilyAnswer[SensesAnswer]) -> FamilyLabels:
        told = answer.value
        layers = max((len(one.likeness) for one in _every(told)), default=0)
        kept = _kept_layers(told, layers)
        rows = (
            (translate("family", "Similarity, one sense"), ""),
            (translate("family", "Similarity, two senses"), ""),
            (translate("family", "Nearest has its sense"), _by_chance(told)),
        )
        groups = sorted(set(told.groups)) if _is_apart(told) else []
        return FamilyLabels(
            says=(translate("family", "Similarity"), translate("family", "of two sentences")),
            planes=tuple(_layer(layer, layers) for layer in kept),
            groups=tuple(translate("family", "sense {number}").format(number=one + 1) for one in groups),
            scores=(*(rows if _is_apart(told) else ()), *(size_heads() if told.others else ())),
        )


def _by_chance(told: SensesAnswer) -> str:
    """Return the unit of the share, with what a neighbour drawn at random reaches."""
    others = max(1, len(told.groups) - 1)
    chance = float(np.mean([(told.groups.count(one) - 1) / others for one in told.groups]))
    return translate("family", "%, by chance {share}").format(share=words.decimal(100 * chance, 1))


def _is_apart(told: SensesAnswer) -> bool:
    return any(one is not None for one in (*told.apart.values(), *(other.apart for other in told.others)))


def _every(told: SensesAnswer) -> list[senses.MemberSenses]:
    """Return the vectors of members and other models."""
    others = (one.senses for one in told.others)
    return [*told.senses.values(), *(one for one in others if one is not None)]


def _seen_flat(told: SensesAnswer, found: senses.MemberSenses) -> dict[str, Any]:
    """Return the sentences in the plane of each layer that is shown, and how similar they are there."""
    kept = _kept_layers(told, len(found.points))
    planes = tuple(
        tuple(
            SenseDot(float(x), float(y), group, text)
            for (x, y), group, text in zip(found.points[layer], told.groups, told.texts, strict=True)
        )
        for layer in kept
    )
    count = len(found.likeness)
    entries = tuple(WordEntry(_layer(layer, count), found.likeness[layer]) for layer in kept)
    return {"planes": planes, "entries": entries}


def _cells(told: SensesAnswer, apart: senses.SenseSeparation | None) -> tuple[MemberScore, ...]:
    if apart is None:
        return (MemberScore(""), MemberScore(""), MemberScore("")) if _is_apart(told) else ()
    ways = (words.decimal(one, 2) for one in (apart.within, apart.between))
    return (*map(MemberScore, ways), cell(shares_line({"it": share(np.array(apart.hits))}), "it"))


def _hits(apart: senses.SenseSeparation) -> str:
    said = translate("family", "{hits} of {count}")
    return said.format(hits=words.number(sum(apart.hits)), count=words.number(len(apart.hits)))


def _kept_layers(told: SensesAnswer, count: int) -> tuple[int, ...]:
    """Return which of a member's layers are shown: of members with unlike many, the first and the last."""
    counts = {len(one.likeness) for one in _every(told) if len(one.likeness) > 1}
    return tuple(range(count)) if len(counts) < 2 or count < 2 else (0, count - 1)


def _layer(number: int, count: int) -> str:
    if not number:
        return translate("family", "input")
    if number == count - 1:
        return translate("family", "last layer")
    return translate("family", "layer {number}").format(number=number)
