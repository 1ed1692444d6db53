"""Which tokens of two texts are the same ones, so that two matrices can be compared cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from engine.errors import UserError, marked

Pairs = tuple[list[int], list[int]]  # places in the one, and those in the other that belong to them


def line_up(ours: Sequence[tuple[int, str]], theirs: Sequence[tuple[int, str]]) -> Pairs:
    """Return the places of tokens that belong together, in order; letter case does not count.

    Each segment is lined up by itself: place by place where both have equally many tokens; otherwise equal
    stretches, and stretches of one length between them.

    Args:   ours, theirs: (segment, token) each.
    Raises: UserError: fewer than half of the longer text's tokens belong together.
    """
    pairs: Pairs = ([], [])
    for segment in (0, 1):
        mine, others = (
            [place for place, (own, _) in enumerate(side) if own == segment] for side in (ours, theirs)
        )
        labels = [ours[place][1].casefold() for place in mine]
        other_labels = [theirs[place][1].casefold() for place in others]
        for first, second, count in _stretches(labels, other_labels):
            pairs[0].extend(mine[first : first + count])
            pairs[1].extend(others[second : second + count])
    longer = max(len(ours), len(theirs))
    if 2 * len(pairs[0]) < longer:
        raise UserError(
            marked(
                "engine",
                "The two texts have too little in common to be compared cell by cell: of {count} tokens, "
                "{common} can be lined up. Compare texts that differ in a few words, or whole words instead "
                "of pieces.",
            ),
            count=longer,
            common=len(pairs[0]),
        )
    return pairs


def _stretches(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return (start, start of the others, length) of what is lined up."""
    if len(ours) == len(theirs):
        return [(0, 0, len(ours))]
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return [(a, b, stop - a) for _, a, stop, b, other_stop in codes if stop - a == other_stop - b]
