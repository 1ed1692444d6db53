"""Blanks: a word of a held-out sentence is hidden, and each member, whatever it may see, is asked for it.

It is the one question that all members can be asked, also while they are trained.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import nn

from engine.errors import marked
from engine.events import Event, Progress, Steps
from engine.family.ask import rank_of
from engine.family.members import NUM_SPECIALS, SEP, Member
from engine.train.loop import Loop
from engine.train.task import Measures

MOST_BLANKS = 500
SHORTEST, LONGEST = 6, 40  # words of a sentence that is asked about
BLANKS = "blanks"  # what a report calls the score
FILLED = "blanks_filled"  # what an evaluation calls the share
_AT_ONCE = 50  # blanks between two steps


@dataclass(frozen=True, slots=True)
class Blank:
    """A held-out sentence and the place of the word that is asked for."""

    words: tuple[int, ...]
    place: int

    @property
    def right(self) -> int:
        return self.words[self.place]


def sentences(words: np.ndarray) -> list[tuple[int, ...]]:
    """Return the sentences of a stream that are neither short nor long."""
    found = (part[part != SEP] for part in np.split(words, np.flatnonzero(words == SEP)))
    return [tuple(map(int, one)) for one in found if SHORTEST <= len(one) <= LONGEST]


def draw_blanks(words: np.ndarray, count: int = MOST_BLANKS, seed: int = 7) -> list[Blank]:
    """Return the same blanks for the same held-out text, each in a sentence of its own."""
    rng, every = np.random.default_rng(seed), sentences(words)
    found = []
    for number in rng.permutation(len(every)):
        known = [place for place, word in enumerate(every[number]) if word >= NUM_SPECIALS]
        if known:
            found.append(Blank(every[number], int(rng.choice(known))))
        if len(found) == count:
            break
    return found


def filled(member: Member, blanks: Sequence[Blank]) -> np.ndarray:
    """Return (E,) bool, where the right word is a member's first guess among all words."""
    found = [rank_of(member.blank(blank.words, blank.place), blank.right) == 1 for blank in blanks]
    return np.array(found, bool)


def share_filled(member: Member, blanks: Sequence[Blank]) -> Steps[float]:
    """Return the share of blanks that a member fills, step by step."""
    hits = 0
    for begin in range(0, len(blanks), _AT_ONCE):
        yield Progress(stage=marked("engine", "Evaluating"), done=begin, total=len(blanks))
        hits += int(filled(member, blanks[begin : begin + _AT_ONCE]).sum())
    return hits / max(1, len(blanks))


def watch_blanks(loop: Loop, blanks: Sequence[Blank], member: Callable[[nn.Module], Member]) -> None:
    """Let each evaluation of a loop tell the share of blanks filled; no budget of minutes pays for that.

    Args: member: what a copy of the network, on the CPU, is asked as.
    """
    measure = loop.evaluation
    if measure is None or not blanks:
        return

    def evaluation() -> Generator[Event, None, Measures]:
        found = yield from measure()
        began = time.perf_counter()
        steps = share_filled(member(copy.deepcopy(loop.model).cpu().eval()), blanks)
        while True:
            try:
                event = next(steps)
            except StopIteration as end:
                share: float = end.value
                break
            finally:
                loop.at.used_s -= time.perf_counter() - began
            yield event
            began = time.perf_counter()
        return replace(found, metrics={**found.metrics, FILLED: share})

    loop.evaluation = evaluation
