"""What each member reaches on the text that was kept apart: blanks filled, how well words are foreseen, and
whether one sentence follows another.

Perplexity from the left and pseudo-perplexity from both sides are two scores, which are never compared: one
foresees a word from what stands before it, the other from all the rest of the sentence. Both are of known
words. From the left, [UNK] and the ends of sentences are foreseen too, so easily that they would hide what
is reached on words: they have scores of their own. The words of the blanks are one question to all who give
probabilities, each from what it may see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.errors import marked
from engine.events import Progress, Steps
from engine.family.ask import Family, rank_of
from engine.family.bert import BertMember
from engine.family.members import ABOUT, NUM_SPECIALS, PROBABILITY, SEP, UNK, Continues
from engine.family.reached import ReachedScore, beats, perplexities, shares

# S sentences

BLANKS, IN_BLANKS, BOTH_SIDES, FOLLOWS = "blanks", "blank_perplexity", "pseudo_perplexity", "follows"
FROM_LEFT, KNOWN = "perplexity", "perplexity_known"  # of all that is foreseen from the left; of known words
UNKNOWN, ENDS = "perplexity_unknown", "perplexity_ends"
MOST_BLANKS = 500
SHORTEST, LONGEST = 6, 40  # words of a sentence that is asked about
FORESEEN = 20_000  # words scored from the left
HIDDEN = 1_500  # words hidden one by one
PAIRS = 400  # of sentences, half of which follow one another
_SCORING = marked("engine", "Asking the family")


@dataclass(frozen=True, slots=True)
class Scores:
    """What members reached. by_name: name of the score -> member -> score; who cannot is not in it. at_start:
    members that guess the words of the blanks no better than the frequencies of words do. chance: the share
    of blanks that are the commonest word, and of pairs that follow.
    """

    by_name: Mapping[str, Mapping[str, ReachedScore]]
    at_start: tuple[str, ...]
    chance: Mapping[str, float]


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


def scores(family: Family, held_out: np.ndarray, counts: np.ndarray) -> Steps[Scores]:
    """Return what each member reaches. Args: counts: (V,), how often each word stands in what was learned."""
    shares_of_text = (counts + 1.0) / (counts + 1.0).sum()
    frequency = np.log(shares_of_text)
    among_known = frequency - np.log(shares_of_text[NUM_SPECIALS:].sum())
    blanks, pairs, words = draw_blanks(held_out), draw_pairs(held_out), held_out[:FORESEEN]
    rights = np.array([blank.right for blank in blanks], np.int64)
    hits, blank_logs = dict[str, np.ndarray](), dict[str, np.ndarray]()
    left, both, follows = dict[str, np.ndarray](), dict[str, np.ndarray](), dict[str, np.ndarray]()
    for number, (name, member) in enumerate(family.members.items()):
        yield Progress(stage=_SCORING, done=number, total=len(family.members))
        given = [family.scores(name, blank.words, blank.place) for blank in blanks]
        hits[name] = np.array(
            [rank_of(one, blank.right) == 1 for one, blank in zip(given, blanks, strict=True)], bool
        )
        if ABOUT[name].says == PROBABILITY:
            blank_logs[name] = np.array(
                [known_log(one, blank.right) for one, blank in zip(given, blanks, strict=True)]
            )
        if isinstance(member, Continues):
            left[name] = member.logs(words)
        if isinstance(member, BertMember) and blanks:
            both[name], of_both = pseudo_logs(member, blanks)
            follows[name] = np.array([(member.follows(a, b) > 0.5) == does for a, b, does in pairs], bool)
    each, sentence = np.arange(len(blanks)), np.cumsum(words == SEP)
    common = NUM_SPECIALS + int(np.argmax(counts[NUM_SPECIALS:]))
    parts = {FROM_LEFT: words >= 0, KNOWN: words >= NUM_SPECIALS, UNKNOWN: words == UNK, ENDS: words == SEP}
    chance = {BLANKS: float(np.mean(rights == common)) if blanks else 0.0, FOLLOWS: 0.5}
    found = {
        BLANKS: shares(hits, chance[BLANKS]),
        IN_BLANKS: perplexities(blank_logs, each, among_known[rights]),
        **{
            kind: perplexities(
                {name: logs[of] for name, logs in left.items()}, sentence[of], frequency[words[of]]
            )
            for kind, of in parts.items()
        },
        BOTH_SIDES: perplexities(both, of_both) if both else {},
        FOLLOWS: shares(follows, chance[FOLLOWS]),
    }
    at_start = tuple(
        name for name, logs in blank_logs.items() if len(logs) and not beats(logs, among_known[rights], each)
    )
    return Scores(found, at_start, chance)


def known_log(given: np.ndarray, right: int) -> float:
    """Return the log of a word's probability among the known words: a blank never hides another."""
    return float(np.log(max(given[right], 1e-30)) - np.log(max(given[NUM_SPECIALS:].sum(), 1e-30)))


def rank(family: Family, name: str, blank: Blank) -> int:
    """Return where the right word stands among a member's guesses of words, 1: the first."""
    return rank_of(family.scores(name, blank.words, blank.place), blank.right)


def pseudo_logs(bert: BertMember, blanks: Sequence[Blank]) -> tuple[np.ndarray, np.ndarray]:
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


def document_of(found: Scores) -> dict[str, Any]:
    """Return scores as JSON can hold them."""
    return {score: {name: asdict(one) for name, one in by.items()} for score, by in found.by_name.items()}
