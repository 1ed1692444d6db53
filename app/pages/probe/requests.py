"""What the Probe page asks of the worker: plain Python that touches no Qt object.

Each answer carries the question it is to, so that the page never shows one to an older text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.pages.probe.question import Question
from app.work.inspector import Bench
from app.work.worker import Answer
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.inspect.masked.follows import Follows, Influence, follows, influence
from engine.inspect.masked.grid import Grid, TemplateRequest, score_templates
from engine.inspect.masked.joint import BEAM, Joint, fill_jointly
from engine.inspect.masked.lens import Lens, lens
from engine.inspect.masked.masked import Masked, mask
from engine.inspect.masked.perplexity import PseudoPerplexity, pseudo_perplexity
from engine.inspect.masked.probe import Probed, probe, score_words
from engine.inspect.masked.score import WordScore
from engine.inspect.masked.side_by_side import CheckpointProbed, over_checkpoints
from engine.inspect.masked.template_table import read_templates, write_grids
from engine.inspect.subject import Subject
from engine.train.run.history import Kept

NUM_JOINT = 8  # joint fillings that are shown
MOST_JOINT = 12  # [MASK]s that are filled together: each is another pass over the whole beam


@dataclass(frozen=True, slots=True)
class GapsAnswer:
    """The guesses of one model, and of the one beside it. yours: gap -> the score of a word, or why not."""

    question: Question
    probed: Probed
    beside: Probed | UserError | None = None
    yours: Mapping[int, WordScore | UserError | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """All gaps filled together."""

    question: Question
    joint: Joint


@dataclass(frozen=True, slots=True)
class WordAnswer:
    """How probable a word is in a gap, or why that cannot be said."""

    question: Question
    gap: int
    word: str
    score: WordScore | UserError


@dataclass(frozen=True, slots=True)
class LearnedAnswer:
    """One checkpoint's answer."""

    question: Question
    step: int
    probed: Probed


@dataclass(frozen=True, slots=True)
class LensAnswer:
    question: Question
    lens: Lens


@dataclass(frozen=True, slots=True)
class SurpriseAnswer:
    question: Question
    found: PseudoPerplexity


@dataclass(frozen=True, slots=True)
class NextAnswer:
    """Whether B follows A, by one model and the one beside it."""

    texts: tuple[str, str]
    found: Follows
    beside: Follows | UserError | None = None


@dataclass(frozen=True, slots=True)
class InfluenceAnswer:
    texts: tuple[str, str]
    found: Influence


def gaps_task(
    bench: Bench,
    *,
    folder: Path,
    beside: Path | None,
    question: Question,
    yours: Mapping[int, str],
    top_k: int,
) -> Iterator[Event]:
    """Guess every gap, then score the words a person asked for, then fill all gaps together."""
    yield _begun()
    subject = bench.subject(folder)
    probed = _probe(subject, question, top_k)
    answer = GapsAnswer(question, probed)
    if beside is None and not yours:
        yield Answer(value=answer)
    else:
        scores = {gap: _score(bench, folder, probed.masked, gap, word) for gap, word in yours.items()}
        other = None if beside is None else _beside(bench, folder, beside, question, top_k)
        yield Answer(value=GapsAnswer(question, probed, other, scores))
    if can_fill_jointly(probed.masked):
        whole = any(gap.is_word and len(gap.places) > 1 for gap in probed.masked.gaps)
        joint = yield from fill_jointly(subject, probed.masked, beam=BEAM, top_k=NUM_JOINT, whole_words=whole)
        yield Answer(value=JointAnswer(question, joint))


def can_fill_jointly(masked: Masked) -> bool:
    """Whether there are several gaps, and not so many that filling them together takes minutes."""
    return len(masked.gaps) > 1 and len(masked.places) <= MOST_JOINT


def word_task(bench: Bench, *, folder: Path, question: Question, gap: int, word: str) -> Iterator[Event]:
    """Score a word of the person's own in one gap."""
    yield _begun()
    about = bench.subject(folder).about
    masked = mask(about, question.text, question.pair, words=question.words, pieces=question.pieces)
    yield Answer(value=WordAnswer(question, gap, word, _score(bench, folder, masked, gap, word)))


def learned_task(bench: Bench, *, kept: Sequence[Kept], question: Question) -> Iterator[Event]:
    """Ask the weights that a run kept, one after the other."""
    yield _begun()
    steps = {one.path: one.step for one in kept}
    asked = over_checkpoints(
        [one.path for one in kept],
        question.text,
        question.pair,
        words=question.words,
        pieces=question.pieces,
        top_k=1,
    )
    for event in asked:
        if isinstance(event, CheckpointProbed):
            yield Answer(value=LearnedAnswer(question, steps[event.folder], event.probed))


def lens_task(bench: Bench, *, folder: Path, question: Question) -> Iterator[Event]:
    """Ask every layer for the gaps."""
    yield _begun()
    subject = bench.subject(folder)
    masked = mask(subject.about, question.text, question.pair, words=question.words, pieces=question.pieces)
    yield Answer(value=LensAnswer(question, lens(subject, masked)))


def surprise_task(bench: Bench, *, folder: Path, question: Question) -> Iterator[Event]:
    """Hide each token in turn."""
    yield _begun()
    found = yield from pseudo_perplexity(bench.subject(folder), question.text, question.pair)
    yield Answer(value=SurpriseAnswer(question, found))


def next_task(
    bench: Bench, *, folder: Path, beside: Path | None, a: str, b: str, others: Sequence[str]
) -> Iterator[Event]:
    """Ask whether B follows A; then which words say so."""
    yield _begun()
    subject = bench.subject(folder)
    found = follows(subject, a, b, others=others)
    other: Follows | UserError | None = None
    if beside is not None:
        try:
            other = follows(bench.subject(beside), a, b, others=others)
        except UserError as error:
            other = error
    yield Answer(value=NextAnswer((a, b), found, other))
    pull = yield from influence(subject, a, b)
    yield Answer(value=InfluenceAnswer((a, b), pull))


def templates_task(bench: Bench, *, folder: Path, requests: Sequence[TemplateRequest]) -> Iterator[Event]:
    """Score templates; the answer is a tuple of grids."""
    yield _begun()
    grids: tuple[Grid, ...] = yield from score_templates(bench.subject(folder), requests)
    yield Answer(value=grids)


def read_templates_task(_bench: Bench, *, path: Path) -> Iterator[Event]:
    """Read templates from a CSV file; the answer is a tuple of requests."""
    yield _begun()
    yield Answer(value=read_templates(path))


def write_grids_task(_bench: Bench, *, path: Path, grids: Sequence[Grid]) -> Iterator[Event]:
    """Write scores into a CSV file; the answer is its path."""
    yield _begun()
    write_grids(path, grids)
    yield Answer(value=path)


def _begun() -> Progress:
    return Progress(stage=marked("engine", "Asking"), done=0, total=0)


def _probe(subject: Subject, question: Question, top_k: int) -> Probed:
    return probe(
        subject, question.text, question.pair, words=question.words, pieces=question.pieces, top_k=top_k
    )


def _score(bench: Bench, folder: Path, masked: Masked, gap: int, word: str) -> WordScore | UserError:
    try:
        return score_words(bench.subject(folder), masked, gap, [word])[0]
    except UserError as error:
        return error


def _beside(bench: Bench, folder: Path, beside: Path, question: Question, top_k: int) -> Probed | UserError:
    """Ask the other model; single pieces are the same ones only where the vocabularies are."""
    try:
        subject = bench.subject(beside)
        if question.pieces and subject.wordpiece.tokens != bench.subject(folder).wordpiece.tokens:
            raise UserError(
                marked(
                    "engine",
                    "The two models have different pieces. Mask whole words to compare them.",
                )
            )
        return _probe(subject, question, top_k)
    except UserError as error:
        return error
