"""What each member reaches on the text that was kept apart: blanks filled, how well words are foreseen, and
whether one sentence follows another.

Perplexity from the left and pseudo-perplexity from both sides are two scores, which are never compared: one
foresees a word from what stands before it, the other from all the rest of the sentence. From the left
[UNK] and the ends of sentences are words too; BERT is never taught to guess them, so it is not asked to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.errors import marked
from engine.evaluation.statistics import Tallies, interval_of, share_of
from engine.events import Progress, Steps
from engine.family.ask import Family, rank_of
from engine.family.bert import Bert
from engine.family.members import NUM_SPECIALS, SEP, Continues
from engine.train.metrics import wilson_interval

# S sentences

BLANKS, FROM_LEFT, BOTH_SIDES, FOLLOWS = "blanks", "perplexity", "pseudo_perplexity", "follows"
MOST_BLANKS = 500
SHORTEST, LONGEST = 6, 40  # words of a sentence that is asked about
FORESEEN = 20_000  # words scored from the left
HIDDEN = 1_500  # words hidden one by one
PAIRS = 400  # of sentences, half of which follow one another
_SCORING = marked("engine", "Asking the family")


@dataclass(frozen=True, slots=True)
class Score:
    """What a member reached, its 95 % interval and over how many blanks or words."""

    value: float
    low: float
    high: float
    count: int


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


def draw_pairs(
    words: np.ndarray, count: int = PAIRS, seed: int = 7
) -> list[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """Return pairs of held-out sentences: half of the second ones follow, half are drawn from all."""
    every = [tuple(map(int, part[part != SEP])) for part in np.split(words, np.flatnonzero(words == SEP))]
    is_fit = [SHORTEST <= len(one) <= LONGEST for one in every]
    firsts = [number for number in range(len(every) - 1) if is_fit[number] and is_fit[number + 1]]
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(firsts)[:count].tolist() if len(firsts) > 2 else []
    found = []
    for number, at in enumerate(drawn):
        other = int(rng.choice(firsts)) + 1
        does = number % 2 == 0 or other == at + 1
        found.append((every[at], every[at + 1 if does else other], does))
    return found


def scores(family: Family, held_out: np.ndarray) -> Steps[dict[str, dict[str, Score]]]:
    """Return name of the score -> member -> what it reached; a member that cannot is not in it."""
    found: dict[str, dict[str, Score]] = {BLANKS: {}, FROM_LEFT: {}, BOTH_SIDES: {}, FOLLOWS: {}}
    blanks = draw_blanks(held_out)
    for number, (name, member) in enumerate(family.members.items()):
        yield Progress(stage=_SCORING, done=number, total=len(family.members))
        ranks = np.array([rank(family, name, blank) for blank in blanks])
        found[BLANKS][name] = share(ranks == 1)
        if isinstance(member, Continues) and len(held_out):
            words = held_out[:FORESEEN]
            found[FROM_LEFT][name] = perplexity(member.logs(words), np.cumsum(words == SEP))
        if isinstance(member, Bert) and blanks:
            logs, groups = pseudo_logs(member, blanks)
            found[BOTH_SIDES][name] = perplexity(logs, groups)
            pairs = draw_pairs(held_out)
            if pairs:
                found[FOLLOWS][name] = share(
                    np.array([(member.follows(a, b) > 0.5) == does for a, b, does in pairs])
                )
    return found


def rank(family: Family, name: str, blank: Blank) -> int:
    """Return where the right word stands among a member's guesses of words, 1: the first."""
    return rank_of(family.scores(name, blank.words, blank.place), blank.right)


def share(hits: np.ndarray) -> Score:
    """Return the share of hits."""
    count = len(hits)
    low, high = wilson_interval(int(hits.sum()), count)
    return Score(float(hits.mean()) if count else 0.0, low, high, count)


def perplexity(logs: np.ndarray, groups: np.ndarray) -> Score:
    """Return exp of minus the mean log; its interval is of sentences drawn anew. Args: groups: (N,)."""
    tallies = Tallies.of(np.stack([-logs, np.ones(len(logs))], 1), groups)
    interval = interval_of(tallies, share_of)
    mean = float(share_of(tallies.total))
    low, high = interval or (mean, mean)
    value, low, high = (float(np.exp(min(one, 700.0))) for one in (mean, low, high))
    return Score(value, low, high, len(logs))


def pseudo_logs(bert: Bert, blanks: Sequence[Blank]) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probability of each known word of some sentences, hidden alone, and whose it is."""
    asked, groups = list[tuple[tuple[int, ...], tuple[int, ...]]](), list[int]()
    for number, blank in enumerate(blanks):
        if len(asked) >= HIDDEN:
            break
        known = [place for place, word in enumerate(blank.words) if word >= NUM_SPECIALS]
        asked += [(blank.words, (place,)) for place in known]
        groups += [number] * len(known)
    given = bert.blanks(asked)
    logs = [np.log(max(p[0][words[place]], 1e-30)) for p, (words, (place,)) in zip(given, asked, strict=True)]
    return np.array(logs), np.array(groups)


def document_of(found: dict[str, dict[str, Score]]) -> dict[str, Any]:
    """Return scores as JSON can hold them."""
    return {score: {name: asdict(one) for name, one in by.items()} for score, by in found.items()}
