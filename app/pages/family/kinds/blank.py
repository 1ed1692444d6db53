"""Fill the blank: what each member guesses, what it may see, and what it cannot do on this sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import (
    ANSWER,
    GAP,
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    TypedExample,
    TypedQuestion,
    bars,
    bold_note,
)
from app.plots.member_column import (
    BLANK,
    OTHER_SIDE,
    SEEN_BAG,
    SEEN_FILL,
    UNSEEN,
    FamilyLabels,
    MemberColumn,
    WordEntry,
)
from app.words import tr_engine, translate
from engine.family.card import ON_BLANKS, CardLine, lines
from engine.family.members import ALL, LEFT, LIKENESS, NEAR, SIDES, About
from engine.family.questions.blank import BlankGuesses, FillBlank

BLANKS = {  # by whether a family is Chinese: sentences and the right word
    False: (
        TypedQuestion("The ____ flows into the sea.", "river"),
        TypedQuestion("He was born in ____ and moved to London.", "england"),
        TypedQuestion("She is the ____ of the king.", "queen"),
        TypedQuestion("The capital of France is ____.", "paris"),
    ),
    True: (
        TypedQuestion("中华人民共____国", "和"),
        TypedQuestion("本条例由国务____负责解释。", "院"),
        TypedQuestion("依法追究刑事责____。", "任"),
        TypedQuestion("县级以上地方人民政____", "府"),
    ),
}


class BlankKind(FamilyKind[BlankGuesses]):
    """A sentence with a blank, and the right word."""

    key = "fill"
    fields = (ANSWER,)

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Fill the blank"), translate("family", "Blank")

    @property
    def hint(self) -> str:
        return translate("family", "Click to put it into the blank")

    def begun(self, is_chinese: bool) -> TypedQuestion:
        return BLANKS[is_chinese][0]

    def examples(self, is_chinese: bool) -> tuple[TypedExample, ...]:
        return tuple(TypedExample(one.question, one) for one in BLANKS[is_chinese])

    def taken(self, question: str, word: str) -> str:
        """Return the sentence with a guess in its blank; it then ends with the next one."""
        gap = GAP if GAP in question else "[MASK]"
        filled = question.replace(gap, word, 1)
        if GAP in filled or "[MASK]" in filled:
            return filled
        tokens = filled.split(" ")
        after = next((n + 1 for n, token in enumerate(tokens) if token.strip(".,;") == word), len(tokens))
        if after < len(tokens):
            tail = tokens[after][len(tokens[after].rstrip(".,;")) :]
            tokens[after] = GAP + tail
        else:
            tokens.append(GAP)
        return " ".join(tokens)

    def caption(self, typed: TypedQuestion) -> tuple[str, str]:
        return typed.text, typed.answer.strip().lower()

    def question(self, given: GivenQuestion) -> FillBlank:
        return FillBlank(given.folder, given.typed.text, given.typed.answer.strip().lower())

    def lines(self, answer: FamilyAnswer[BlankGuesses]) -> list[CardLine]:
        return [line for line in lines(answer.report) if line.name in ON_BLANKS]

    def column(
        self, answer: FamilyAnswer[BlankGuesses], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        found, right = answer.value, _right(answer)
        filled, shown = found.filled[about.name], found.limits.get(about.name)
        return MemberColumn(
            **head,
            seen=tr_engine(about.seen),
            blocks=_blocks(about, found.words, found.place),
            entries=tuple(
                WordEntry(one.word, one.value, bool(right) and one.word == right) for one in filled.guesses
            ),
            is_likeness=about.says == LIKENESS,
            rank="" if filled.rank is None else _ordinal(filled.rank),
            is_first=filled.rank == 1,
            cannot=tr_engine(about.cannot),
            shown="" if shown is None else words.say(shown),
        )

    def labels(self, answer: FamilyAnswer[BlankGuesses]) -> FamilyLabels:
        right = _right(answer)
        return FamilyLabels(
            seen=(translate("family", "May see"), translate("family", "of the sentence")),
            says=(translate("family", "Guesses"), bars()),
            rank=translate("family", "“{word}” is").format(word=right) if right else "",
            shown=translate("family", "Shown here"),
            scores=self.said(answer),
            note=bold_note(),
            legend=(translate("family", "probability"), translate("family", "similarity")),
        )


def _right(answer: FamilyAnswer[BlankGuesses]) -> str:
    assert isinstance(answer.question, FillBlank)
    return answer.question.right


def _blocks(about: About, tokens: tuple[str, ...], place: int) -> tuple[tuple[float, str], ...]:
    """Return how each word of the sentence is seen, each as long as the word."""
    lengths = [len(token) if number != place else 4 for number, token in enumerate(tokens)]
    total = max(1, sum(lengths))
    return tuple(
        (length / total, BLANK if number == place else _seen(about, number, place))
        for number, length in enumerate(lengths)
    )


def _seen(about: About, number: int, place: int) -> str:
    is_near = not about.reach or abs(number - place) <= about.reach
    if not is_near or (about.sees == LEFT and number > place):
        return UNSEEN
    if about.sees in (NEAR, ALL):
        return SEEN_BAG
    return OTHER_SIDE if about.sees == SIDES and number > place else SEEN_FILL


def _ordinal(rank: int) -> str:
    return translate("family", "no. {rank}").format(rank=words.number(rank))
