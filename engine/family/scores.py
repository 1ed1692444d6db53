"""What each member reaches on the text that was kept apart: blanks filled, how well words are foreseen, and
whether one sentence follows another.

Perplexity from the left and pseudo-perplexity from both sides are two scores, which are never compared: one
foresees a word from what stands before it, the other from all the rest of the sentence. Both are of known
words. From the left, [UNK] and the ends of sentences are foreseen too, so easily that they would hide what
is reached on words: they have scores of their own. The words of the blanks are one question to all who give
probabilities, each from what it may see.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from engine.errors import marked
from engine.events import Progress, Steps
from engine.family.ask import Family, rank_of
from engine.family.bert import BertMember
from engine.family.blanks import BLANKS, LONGEST, SHORTEST, Blank, draw_blanks
from engine.family.members import ABOUT, NUM_SPECIALS, PROBABILITY, SEP, UNK, Continues
from engine.family.reached import ReachedScore, beats, over_trainings, perplexities, shares
from engine.family.trainings import Trainings

# S sentences, N words, H hidden words, P pairs

IN_BLANKS, BOTH_SIDES, FOLLOWS = "blank_perplexity", "pseudo_perplexity", "follows"
FROM_LEFT, KNOWN = "perplexity", "perplexity_known"  # of all that is foreseen from the left; of known words
UNKNOWN, ENDS = "perplexity_unknown", "perplexity_ends"
FORESEEN = 20_000  # words scored from the left
HIDDEN = 1_500  # words hidden one by one
PAIRS = 400  # of sentences, half of which follow one another
LEARNED = math.log(2)  # above the logs of word frequencies: nearer to them, a member shows its start
_SCORING = marked("engine", "Asking the family")


@dataclass(frozen=True, slots=True)
class Scores:
    """What members reached. by_name: name of the score -> member -> score; who cannot is not in it. at_start:
    members that guess the words of the blanks hardly better than the frequencies of words do, as
    `is_learned` says. chance: the share of blanks that are the commonest word, and of pairs that follow.
    """

    by_name: Mapping[str, Mapping[str, ReachedScore]]
    at_start: tuple[str, ...]
    chance: Mapping[str, float]


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


@dataclass(frozen=True)
class _HeldOut:
    """The questions on the held-out text, the same for whoever is asked."""

    words: np.ndarray
    blanks: Sequence[Blank]
    pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...], bool]]

    @property
    def rights(self) -> np.ndarray:
        """(S,) the words of the blanks."""
        return np.array([blank.right for blank in self.blanks], np.int64)


@dataclass(frozen=True)
class _Answers:
    """What members answered, each by its name. filled: (S,) of blanks. logs: (S,) of the words in them. left:
    (N,) logs of words after those before them. both: (H,) logs of words hidden one by one, of_both whose
    sentence each is. follows: (P,) which pairs are told rightly.
    """

    filled: dict[str, np.ndarray] = field(default_factory=dict)
    logs: dict[str, np.ndarray] = field(default_factory=dict)
    left: dict[str, np.ndarray] = field(default_factory=dict)
    both: dict[str, np.ndarray] = field(default_factory=dict)
    of_both: dict[str, np.ndarray] = field(default_factory=dict)
    follows: dict[str, np.ndarray] = field(default_factory=dict)


def scores(trainings: Trainings, held_out: np.ndarray, counts: np.ndarray) -> Steps[Scores]:
    """Return what each member reaches: the scores of the first training, with what each other one reached.

    Args: counts: (V,), how often each word stands in what was trained on.
    """
    asked = _HeldOut(held_out[:FORESEEN], draw_blanks(held_out), draw_pairs(held_out))
    families = [one for family in trainings.families for one in (family, family.start)]
    total, done = sum(len(family.members) for family in families), 0
    answers = list[_Answers]()
    for family in families:
        answers.append(_Answers())
        for name in family.members:
            yield Progress(stage=_SCORING, done=done, total=total)
            _answer(family, name, asked, answers[-1])
            done += 1
    every = [
        _scores(asked, now, before, counts)
        for now, before in zip(*(answers[k::2] for k in (0, 1)), strict=True)
    ]
    by_name = {name: over_trainings([one.by_name[name] for one in every]) for name in every[0].by_name}
    return replace(every[0], by_name=by_name)


def _answer(family: Family, name: str, asked: _HeldOut, answers: _Answers) -> None:
    """Ask a member everything that it can be asked."""
    member, blanks = family.members[name], asked.blanks
    given = [family.scores(name, blank.words, blank.place) for blank in blanks]
    of_blanks = list(zip(given, blanks, strict=True))
    answers.filled[name] = np.array([rank_of(one, blank.right) == 1 for one, blank in of_blanks], bool)
    if ABOUT[name].says == PROBABILITY:
        answers.logs[name] = np.array([known_log(one, blank.right) for one, blank in of_blanks])
    if isinstance(member, Continues):
        answers.left[name] = member.logs(asked.words)
    if isinstance(member, BertMember) and blanks:
        answers.both[name], answers.of_both[name] = pseudo_logs(member, blanks)
        hits = [(member.follows(a, b) > 0.5) == does for a, b, does in asked.pairs]
        answers.follows[name] = np.array(hits, bool)


def _scores(asked: _HeldOut, now: _Answers, before: _Answers, counts: np.ndarray) -> Scores:
    """Return scores of what members answer now, beside what they answered before they were trained."""
    shares_of_text = (counts + 1.0) / (counts + 1.0).sum()
    frequency = np.log(shares_of_text)
    among_known = frequency - np.log(shares_of_text[NUM_SPECIALS:].sum())
    words, rights = asked.words, asked.rights
    each, sentence = np.arange(len(rights)), np.cumsum(words == SEP)
    common = NUM_SPECIALS + int(np.argmax(counts[NUM_SPECIALS:]))
    parts = {FROM_LEFT: words >= 0, KNOWN: words >= NUM_SPECIALS, UNKNOWN: words == UNK, ENDS: words == SEP}
    chance = {BLANKS: float(np.mean(rights == common)) if len(rights) else 0.0, FOLLOWS: 0.5}
    of_both = next(iter(now.of_both.values()), each)
    found = {
        BLANKS: shares(now.filled, chance[BLANKS], before.filled),
        IN_BLANKS: perplexities(now.logs, each, among_known[rights], before.logs),
        **{
            kind: perplexities(
                _some(now.left, of), sentence[of], frequency[words[of]], _some(before.left, of)
            )
            for kind, of in parts.items()
        },
        BOTH_SIDES: perplexities(now.both, of_both, None, before.both),
        FOLLOWS: shares(now.follows, chance[FOLLOWS], before.follows),
    }
    at_start = tuple(
        name
        for name, logs in now.logs.items()
        if len(logs) and not is_learned(logs, among_known[rights], each)
    )
    return Scores(found, at_start, chance)


def _some(logs: Mapping[str, np.ndarray], of: np.ndarray) -> dict[str, np.ndarray]:
    return {name: one[of] for name, one in logs.items()}


def is_learned(logs: np.ndarray, frequencies: np.ndarray, groups: np.ndarray) -> bool:
    """Whether words are guessed better than by their frequencies: surely, and at half their perplexity."""
    return beats(logs, frequencies, groups, LEARNED)


def known_log(given: np.ndarray, right: int) -> float:
    """Return the log of a word's probability among the known words: a blank never hides another."""
    return float(np.log(max(given[right], 1e-30)) - np.log(max(given[NUM_SPECIALS:].sum(), 1e-30)))


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
