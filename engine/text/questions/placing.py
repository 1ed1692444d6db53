"""Where an answer stands in its passage, also when the file says the wrong place.

Offsets are counted in characters of the passage as it is. An offset is believed only if the answer stands
there; else the nearest place counts where it does, and where it stands nowhere, one that differs in spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

_MOST_PLACES = 10_000  # of one answer in one passage that are compared


def place_of(passage: str, answer: str, start: int | None) -> tuple[int, int] | None:
    """Return the (start, stop) in the passage of an answer, nearest to where it is said to be.

    Args:   start: as the file gives it, whatever number that is; None: not said, so the first place counts.
    Returns: None if the answer, spaces apart, does not stand in the passage or is empty.
    """
    answer = answer.strip() or ""
    if not answer:
        return None
    wanted = 0 if start is None else start
    places = list(_exact(passage, answer)) or list(_whatever_spaces(passage, answer))
    return min(places, key=lambda place: abs(place[0] - wanted), default=None)


def stands_at(passage: str, answer: str, start: int | None) -> bool:
    """Whether an answer stands, character for character, where the file says."""
    return start is not None and start >= 0 and passage.startswith(answer, start)


def _exact(passage: str, answer: str) -> Iterator[tuple[int, int]]:
    place = passage.find(answer)
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        yield place, place + len(answer)
        place = passage.find(answer, place + 1)


def _whatever_spaces(passage: str, answer: str) -> Iterator[tuple[int, int]]:
    """Yield where the answer stands if neither text had any spaces."""
    filled = [place for place, char in enumerate(passage) if not char.isspace()]
    tight = "".join(passage[place] for place in filled)
    for start, stop in _exact(tight, "".join(answer.split())):
        yield filled[start], filled[stop - 1] + 1
