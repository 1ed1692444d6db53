"""What each member cannot do, shown on the sentence that is asked: an example in which it fails.

Nothing is taken for granted: each example is asked of the member itself, and is told only where it comes out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import Sentence, marked
from engine.family.ask import Family
from engine.family.bert import BertMember
from engine.family.elmo import ELMo
from engine.family.members import ABOUT, ALL, LEFT, MASK, NEAR, NUM_SPECIALS, UNK

_STOPS = " .,;:!?。，；：！？"
SAME = 1e-5  # two answers that differ by less are one
MOST_TRIED = 8  # neighbours that are hidden too
_LEFT = marked("engine", "Without “{rest}” its guess is the same: “{word}”.")
_BAG = marked("engine", "Backwards, “{text}”, its guess is the same: “{word}”.")
_SIDES = marked("engine", "Left alone gives “{left}”, right alone “{right}”. Neither has read the other.")
_APART = marked(
    "engine",
    "With “{hidden}” masked too, it guesses “{first}” and “{second}”. With “{first}” "
    "filled in, the second guess is “{then}”.",
)


def limits(family: Family, text: str) -> dict[str, Sentence]:
    """Return an example for each member that fails at this text with one [MASK]; others are not in it.

    Raises: UserError, as `Family.words`.
    """
    words = family.words(text)
    place = words.index(MASK)
    found = {name: _limit(family, name, words, place) for name in family.members}
    return {name: one for name, one in found.items() if one is not None}


def _limit(family: Family, name: str, words: list[int], place: int) -> Sentence | None:
    member, sees = family.members[name], ABOUT[name].sees
    if sees == LEFT:
        return _without(family, name, words, place)
    if sees in (NEAR, ALL):
        return _backwards(family, name, words, place)
    if isinstance(member, ELMo):
        left, right = (_best(one.numpy()) for one in member.sides(_plain(words), place))
        return Sentence(_SIDES, {"left": family.token(left), "right": family.token(right)})
    return _apart(family, member, words, place) if isinstance(member, BertMember) else None


def _without(family: Family, name: str, words: list[int], place: int) -> Sentence | None:
    """Leave out what it cannot see: all that follows, else what stands too far before."""
    reach = ABOUT[name].reach
    rest, kept, at = words[place + 1 :], words[: place + 1], place
    if not any(word >= NUM_SPECIALS for word in rest) or not family.said(rest).strip(_STOPS):
        if not reach or place <= reach:
            return None
        rest, kept, at = words[: place - reach], words[place - reach :], reach
    before, after = family.scores(name, words, place), family.scores(name, kept, at)
    if np.abs(before - after).max() > SAME:
        return None
    return Sentence(_LEFT, {"rest": family.said(rest).strip(_STOPS), "word": family.token(_best(before))})


def _backwards(family: Family, name: str, words: list[int], place: int) -> Sentence | None:
    turned = words[::-1]
    before = family.scores(name, words, place)
    after = family.scores(name, turned, len(words) - 1 - place)
    if turned == words or np.abs(before - after).max() > SAME:
        return None
    return Sentence(_BAG, {"text": family.said(turned).strip(_STOPS), "word": family.token(_best(before))})


def _apart(family: Family, bert: BertMember, words: list[int], place: int) -> Sentence | None:
    """Hide a second word: what fits each blank alone need not fit together."""
    near = sorted(range(len(words)), key=lambda other: abs(other - place))
    others = [other for other in near if other != place and words[other] >= NUM_SPECIALS][:MOST_TRIED]
    if not others:
        return None
    plain = _plain(words)
    pairs = [tuple(sorted((place, other))) for other in others]
    alone = [tuple(map(_best, p)) for p in bert.blanks([(plain, pair) for pair in pairs])]
    filled = [
        [*plain[: pair[0]], guesses[0], *plain[pair[0] + 1 :]]
        for pair, guesses in zip(pairs, alone, strict=True)
    ]
    after = bert.blanks([(text, (pair[1],)) for text, pair in zip(filled, pairs, strict=True)])
    for other, guesses, p in zip(others, alone, after, strict=True):
        if len(guesses) == 2 and (then := _best(p[0])) != guesses[1]:
            return Sentence(
                _APART,
                {
                    "hidden": family.token(words[other]),
                    "first": family.token(guesses[0]),
                    "second": family.token(guesses[1]),
                    "then": family.token(then),
                },
            )
    return None


def _plain(words: Sequence[int]) -> list[int]:
    return [UNK if word == MASK else word for word in words]


def _best(scores: np.ndarray) -> int:
    """Return the word that is guessed first."""
    return NUM_SPECIALS + int(np.argmax(scores[NUM_SPECIALS:]))
