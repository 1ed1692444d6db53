"""Scores of entities from true and predicted tags, as conlleval.pl has them or strictly; and what went wrong.

conlleval is what papers report: it reads entities leniently, an I- that continues nothing begins one. Strict
takes an entity of IOB2 only if it begins with B- and goes on with I- of its type, as seqeval's strict mode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from engine.text.tagged.texts import Entity, entities_of

KINDS = ("boundary", "type", "boundary and type", "missed", "invented")


@dataclass(frozen=True, slots=True)
class TypeScores:
    """`support` true entities, `predicted` ones, and how many are both. All shares are 0 to 1."""

    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        both = self.support + self.predicted
        return 2 * self.correct / both if both else 0.0


@dataclass(frozen=True, slots=True)
class EntityError:
    """An entity of a text that is wrong: what is true there and what was predicted, None where nothing is."""

    text: int
    kind: str  # one of KINDS
    true: Entity | None
    predicted: Entity | None


@dataclass(frozen=True, slots=True, eq=False)
class EntityScores:
    """What predicted tags are worth. types: those that are true or predicted somewhere, sorted.

    confusion: (K + 1, K + 1) entities, a row for each true type, a column for each predicted one; the last
    of both is "no entity". Each is set against the one it overlaps most, so the diagonal also holds those of
    which the bounds alone are wrong.
    """

    mode: str
    overall: TypeScores
    per_type: Mapping[str, TypeScores]
    num_tokens: int
    num_tokens_right: int
    types: tuple[str, ...]
    confusion: np.ndarray
    errors: tuple[EntityError, ...]

    @property
    def token_accuracy(self) -> float:
        return self.num_tokens_right / self.num_tokens if self.num_tokens else 0.0

    @property
    def num_errors(self) -> dict[str, int]:
        """How many errors there are of each kind."""
        counts = Counter(error.kind for error in self.errors)
        return {kind: counts[kind] for kind in KINDS}


def score_entities(
    true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], mode: str = "conlleval"
) -> EntityScores:
    """Compare the tags of texts, each as many words long in both.

    Args: mode: "conlleval" for tags of any scheme it knows, "strict" for IOB2.
    """
    spans_of = _SPANS_OF[mode]
    support, answered, correct = Counter[str](), Counter[str](), Counter[str]()
    errors: list[EntityError] = []
    pairs = Counter[tuple[str | None, str | None]]()  # types; None: no entity there
    num_tokens = right = 0
    for place, (ours, theirs) in enumerate(zip(true, predicted, strict=True)):
        num_tokens += len(ours)
        right += sum(a == b for a, b in zip(ours, theirs, strict=True))
        wanted, found = spans_of(ours), spans_of(theirs)
        support.update(kind for _, _, kind in wanted)
        answered.update(kind for _, _, kind in found)
        wrong: list[EntityError] = []
        for kind, one, other in compared_entities(wanted, found):
            pairs[one and one.type, other and other.type] += 1
            if kind:
                wrong.append(EntityError(place, kind, one, other))
            elif one:
                correct[one.type] += 1
        errors += sorted(wrong, key=lambda error: (error.true or error.predicted or ())[:2])
    types = tuple(sorted(support.keys() | answered.keys()))
    names = [*types, None]
    confusion = np.array([[pairs[a, b] for b in names] for a in names], np.int64)
    per_type = {kind: TypeScores(support[kind], answered[kind], correct[kind]) for kind in types}
    overall = TypeScores(support.total(), answered.total(), correct.total())
    return EntityScores(mode, overall, per_type, num_tokens, right, types, confusion, tuple(errors))


def lenient_spans(tags: Sequence[str]) -> list[Entity]:
    """Return the entities of a text's tags by conlleval's rules for any scheme (B after E and S after S of
    one type begin no other).
    """
    found: list[Entity] = []
    before, before_type, first = "O", "", -1
    for place, tag in enumerate([*tags, "O"]):
        letter, dash, kind = tag.partition("-")
        kind = kind if dash else ""
        if first >= 0 and _ends(before, letter, before_type, kind):
            found.append(Entity(first, place, before_type))
            first = -1
        if _begins(before, letter, before_type, kind):
            first = place
        before, before_type = letter, kind
    return found


def _ends(before: str, letter: str, before_type: str, kind: str) -> bool:
    """Whether an entity ends between two words: conlleval's endOfChunk."""
    if before + letter in ("BB", "BO", "IB", "IO", "EE", "EI", "EO") or before in ("[", "]"):
        return True
    return before not in ("O", ".") and before_type != kind


def _begins(before: str, letter: str, before_type: str, kind: str) -> bool:
    """Whether an entity begins with the second of two words: conlleval's startOfChunk."""
    if before + letter in ("BB", "IB", "OB", "OI", "EE", "EI", "OE") or letter in ("[", "]"):
        return True
    return letter not in ("O", ".") and before_type != kind


_SPANS_OF: dict[str, Callable[[Sequence[str]], Sequence[Entity]]] = {
    "conlleval": lenient_spans,
    "strict": partial(entities_of, is_strict=True),
}


def compared_entities(
    wanted: Sequence[Entity], found: Sequence[Entity]
) -> Iterator[tuple[str, Entity | None, Entity | None]]:
    """Yield each true entity with the predicted one that stands for it, and what is wrong ("": nothing)."""
    right = set(wanted) & set(found)
    for span in wanted:
        if span in right:
            yield "", span, span
    open_wanted = [span for span in wanted if span not in right]
    open_found = [span for span in found if span not in right]
    shared = []
    begin = 0
    for one in open_wanted:  # both stand in order, and none overlaps its neighbour
        while begin < len(open_found) and open_found[begin][1] <= one[0]:
            begin += 1
        for other in islice(open_found, begin, None):
            if other[0] >= one[1]:
                break
            num_words = min(one[1], other[1]) - max(one[0], other[0])
            shared.append((num_words, one[2] == other[2], -one[0], -other[0], one, other))
    taken: set[tuple[bool, Entity]] = set()
    for *_, one, other in sorted(shared, reverse=True):  # most words in common, then of one type
        if (True, one) not in taken and (False, other) not in taken:
            taken |= {(True, one), (False, other)}
            yield _kind(one, other), one, other
    for span in open_wanted:
        if (True, span) not in taken:
            yield "missed", span, None
    for span in open_found:
        if (False, span) not in taken:
            yield "invented", None, span


def _kind(one: Entity, other: Entity) -> str:
    if one[:2] == other[:2]:
        return "type"
    return "boundary" if one[2] == other[2] else "boundary and type"
