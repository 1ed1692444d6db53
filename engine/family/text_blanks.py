"""Blanks of a text that a person names: the same ones to the members and to models that are no members.

The members read the words of their vocabulary; other models read the sentence as it is written. An answer is
right where it is the first guess among the family's words, whatever its capitals. Who reads a word as several
pieces cannot give it: how many of the right words are one piece to a model is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError, Sentence, UserError, bracketed, clauses, marked, spanned
from engine.evaluation.statistics import Difference, compared_hits, holm, p_words
from engine.events import AnswerSoFar, Progress, Steps
from engine.family.ask import Family, rank_of
from engine.family.blanks import LONGEST, MOST_BLANKS, SHORTEST
from engine.family.members import MASK, NUM_SPECIALS
from engine.family.other import AboutOther, ModelSize, about_other
from engine.family.other_guesses import NO_MEMORY, sizes
from engine.family.reached import ReachedScore, shares
from engine.text.corpus.corpus import Corpus
from engine.train.run.kept import name_of

# E blanks

MOST_READ = 20_000  # sentences, of which blanks are drawn
LEAST_BLANKS = 20
_AT_ONCE = 25  # blanks between two steps
_ASKING = marked("engine", "Asking the family")
ONE_PIECE = marked(
    "engine",
    "Added models read each sentence as it is written. An answer counts whatever its capitals. A word of "
    "several pieces is one they cannot give.",
)


@dataclass(frozen=True, slots=True)
class TextBlank:
    """A sentence of a text with a word hidden. words, place: as the members read it. text: with a [MASK]."""

    words: tuple[int, ...]
    place: int
    text: str

    @property
    def right(self) -> int:
        return self.words[self.place]


@dataclass(frozen=True, slots=True)
class OtherFilled:
    """What a model that is no member reached. one_piece: the share of right words that are one piece to it.
    against: how much more blanks it fills than the family's BERT, with its p-value among all that are
    compared; None without one. refusal: why it was not asked.
    """

    folder: Path
    about: AboutOther | None = None
    one_piece: float | None = None
    against: Difference | None = None
    refusal: Sentence | None = None
    is_whole: bool = False  # it has answered


@dataclass(frozen=True, slots=True)
class FilledBlanks:
    """What all reached on a text. source: its file. num_read: the sentences that blanks were drawn from.
    scores: by member, and by place among the others. others, sizes: as of a single blank.
    """

    source: str
    num_blanks: int
    num_read: int
    scores: Mapping[str, ReachedScore]
    others: tuple[OtherFilled, ...] = ()
    sizes: Mapping[str, ModelSize] = field(default_factory=dict)


def draw(family: Family, path: Path, seed: int = 7) -> Steps[tuple[list[TextBlank], int]]:
    """Return blanks of a text, each in a sentence of its own, the same for the same text; and of how many
    sentences they were drawn. Raises: DataError: no text, or too few sentences of words that are known.
    """
    found, seen, rng = list[TextBlank](), set[str](), np.random.default_rng(seed)
    for documents in Corpus((path,)).blocks():
        yield Progress(stage=marked("engine", "Reading"), done=len(found), total=MOST_READ)
        sentences = (one for document in documents for paragraph in document for one in paragraph)
        for sentence in sentences:
            if len(found) < MOST_READ and sentence not in seen:
                seen.add(sentence)
                found += _blanks(family, sentence, rng)
        if len(found) >= MOST_READ:
            break
    if len(found) < LEAST_BLANKS:
        raise DataError(
            marked(
                "engine",
                "{path} has {count} sentences of {shortest} to {longest} words with a word of this family. "
                "Choose a text with {least} or more.",
            ),
            path=path,
            count=len(found),
            shortest=SHORTEST,
            longest=LONGEST,
            least=LEAST_BLANKS,
        )
    order = rng.permutation(len(found))[:MOST_BLANKS]
    return [found[number] for number in order], len(found)


def _blanks(family: Family, sentence: str, rng: np.random.Generator) -> list[TextBlank]:
    """Return a blank of a sentence; none where it is short, long, or of unknown words alone."""
    encoding = family.wordpiece.encode(sentence)
    words = encoding.input_ids[1:-1]
    known = [place for place, word in enumerate(words) if word >= NUM_SPECIALS]
    if not SHORTEST <= len(words) <= LONGEST or not known or MASK in words:
        return []
    place = int(rng.choice(known))
    start, stop = encoding.offsets[place + 1]
    return [TextBlank(tuple(words), place, f"{sentence[:start]}[MASK]{sentence[stop:]}")]


def filled_blanks(family: Family, path: Path, folders: Sequence[Path]) -> Steps[FilledBlanks]:
    """Return how many blanks of a text all fill, member after member and model after model.

    Raises: DataError: as `draw`.
    """
    blanks, num_read = yield from draw(family, path)
    hits, before = dict[str, np.ndarray](), dict[str, np.ndarray]()
    total = len(blanks) * (2 * len(family.members) + len(folders))
    done = 0
    for one, kept in ((family, hits), (family.start, before)):
        for name in one.members:
            kept[name] = np.zeros(len(blanks), bool)
            for number, blank in enumerate(blanks):
                if number % _AT_ONCE == 0:
                    yield Progress(stage=_ASKING, done=done, total=total)
                scores = one.scores(name, blank.words, blank.place)
                kept[name][number] = rank_of(scores, blank.right) == 1
                done += 1
    others = [OtherFilled(folder) for folder in folders]
    found = FilledBlanks(
        path.name, len(blanks), num_read, {}, tuple(others), sizes(family, None) if folders else {}
    )
    for place in range(len(folders)):
        yield AnswerSoFar(value=_with_scores(found, hits, before))
        begun = done + place * len(blanks)
        others[place], filled = yield from _ask(family, others[place], blanks, begun, total)
        if filled is not None:
            hits[str(place)] = filled
        found = replace(found, others=tuple(others))
    return _with_scores(found, hits, before)


def _ask(
    family: Family, other: OtherFilled, blanks: Sequence[TextBlank], done: int, total: int
) -> Steps[tuple[OtherFilled, np.ndarray | None]]:
    """Return what a model is, and (E,) bool where it fills a blank; None where it cannot be asked.

    Args: done, total: blanks that were asked of all before, and that are to be.
    """
    other = replace(other, is_whole=True)
    yield Progress(stage=_ASKING, done=done, total=total)
    try:
        subject = family.open_model(other.folder)
        other = replace(other, about=about_other(subject))
        model, filled = family.other(subject), np.zeros(len(blanks), bool)
        for count, (number, said) in enumerate(model.blanks([blank.text for blank in blanks])):
            if count % _AT_ONCE == 0:
                yield Progress(stage=_ASKING, done=done + count, total=total)
            filled[number] = rank_of(said.among_words(), blanks[number].right) == 1
    except UserError as error:
        return replace(other, refusal=error.sentence), None
    except MemoryError:
        return replace(other, refusal=Sentence(NO_MEMORY)), None
    one_piece = float(np.mean([model.vocabulary.has(blank.right) for blank in blanks]))
    return replace(other, one_piece=one_piece), filled


def _with_scores(
    found: FilledBlanks, hits: Mapping[str, np.ndarray], before: Mapping[str, np.ndarray]
) -> FilledBlanks:
    """Return it with the scores of those who have answered, and how others compare with BERT."""
    asked = [place for place in range(len(found.others)) if str(place) in hits and "bert" in hits]
    tests = [compared_hits(hits["bert"], hits[str(place)]) for place in asked]
    corrected = holm([test.p_value for test in tests])
    against = {
        place: replace(test, p_value=float(p)) for place, test, p in zip(asked, tests, corrected, strict=True)
    }
    others = tuple(replace(one, against=against.get(place)) for place, one in enumerate(found.others))
    return replace(found, scores=shares(hits, starts=before), others=others)


def against_words(found: Difference | None) -> str:
    """Return how much more blanks a model fills than BERT, in points of per cent, for a terminal."""
    if found is None or found.interval is None:
        return "-"
    value, low, high = (f"{100 * one:+.1f}" for one in (found.value, *found.interval))
    return bracketed(value, clauses([spanned(low, high), f"p {p_words(found.p_value)}"]))


def other_document(found: OtherFilled, reached: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a model reached as JSON can hold it."""
    return {
        "model": str(found.folder),
        "name": name_of(found.folder),
        **({} if found.about is None else asdict(found.about)),
        "score": reached,
        "one_piece": found.one_piece,
        "against_bert": None if found.against is None else asdict(found.against),
        "why_not": None if found.refusal is None else str(found.refusal),
    }
