"""What the Probe page asks of the models worker: plain Python that touches no Qt object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.pages.probe.question import Question
from app.work.models import OpenModels
from app.work.worker import Answer, Steps
from engine.errors import UserError, marked
from engine.events import Event
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import Follows, Influence, follows, influence
from engine.inspect.masked.grid import Grid, TemplateRequest, score_templates
from engine.inspect.masked.joint import BEAM, Joint, fill_jointly
from engine.inspect.masked.lens import Lens, lens
from engine.inspect.masked.masked import Masked, mask
from engine.inspect.masked.perplexity import PseudoPerplexity, pseudo_perplexity
from engine.inspect.masked.probe import Probed, probe, score_words
from engine.inspect.masked.score import WordScore
from engine.inspect.masked.side_by_side import CheckpointProbed, over_checkpoints
from engine.train.run.kept import Kept

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
class LearnedAnswer:
    """One checkpoint's answer."""

    question: Question
    step: int
    probed: Probed


@dataclass(frozen=True, slots=True)
class NextAnswer:
    """Whether B follows A, by one model and the one beside it."""

    found: Follows
    beside: Follows | UserError | None = None


def ask_gaps(
    models: OpenModels,
    *,
    folder: Path,
    beside: Path | None,
    question: Question,
    yours: Mapping[int, str],
    top_k: int,
) -> Iterator[Event]:
    """Guess every gap, then score the words a person asked for, then fill all gaps together."""
    subject = models.subject(folder)
    probed = _probe(subject, question, top_k)
    answer = GapsAnswer(question, probed)
    if beside is None and not yours:
        yield Answer(value=answer)
    else:
        scores = {gap: _score(models, folder, probed.masked, gap, word) for gap, word in yours.items()}
        other = None if beside is None else _beside(models, folder, beside, question, top_k)
        yield Answer(value=GapsAnswer(question, probed, other, scores))
    if can_fill_jointly(probed.masked):
        whole = any(gap.is_word and len(gap.places) > 1 for gap in probed.masked.gaps)
        joint = yield from fill_jointly(subject, probed.masked, beam=BEAM, top_k=NUM_JOINT, whole_words=whole)
        yield Answer(value=JointAnswer(question, joint))


def can_fill_jointly(masked: Masked) -> bool:
    """Whether there are several gaps, and not so many that filling them together takes minutes."""
    return len(masked.gaps) > 1 and len(masked.places) <= MOST_JOINT


def score_word(
    models: OpenModels, *, folder: Path, question: Question, gap: int, word: str
) -> WordScore | UserError:
    """Return how probable a word of the person's own is in one gap, or why that cannot be said."""
    about = models.about(folder)
    masked = mask(about, question.text, question.pair, words=question.words, pieces=question.pieces)
    return _score(models, folder, masked, gap, word)


def ask_kept(kept: Sequence[Kept], question: Question) -> Iterator[Event]:
    """Ask the weights that a run kept, one after the other: a `LearnedAnswer` each."""
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


def ask_layers(models: OpenModels, folder: Path, question: Question) -> Lens:
    """Return what every layer would put into the gaps."""
    subject = models.subject(folder)
    masked = mask(subject.about, question.text, question.pair, words=question.words, pieces=question.pieces)
    return lens(subject, masked)


def measure_surprise(models: OpenModels, folder: Path, question: Question) -> Steps[PseudoPerplexity]:
    """Hide each token in turn; return how probable each was, and what that comes to."""
    return (yield from pseudo_perplexity(models.subject(folder), question.text, question.pair))


def ask_next(
    models: OpenModels, *, folder: Path, beside: Path | None, a: str, b: str, others: Sequence[str]
) -> Steps[Influence]:
    """Answer with a `NextAnswer`, whether B follows A; return which words say so."""
    subject = models.subject(folder)
    found = follows(subject, a, b, others=others)
    other: Follows | UserError | None = None
    if beside is not None:
        try:
            other = follows(models.subject(beside), a, b, others=others)
        except UserError as error:
            other = error
    yield Answer(value=NextAnswer(found, other))
    return (yield from influence(subject, a, b))


def score_grids(
    models: OpenModels, folder: Path, requests: Sequence[TemplateRequest]
) -> Steps[tuple[Grid, ...]]:
    """Return the scores of templates."""
    return (yield from score_templates(models.subject(folder), requests))


def _probe(subject: LoadedModel, question: Question, top_k: int) -> Probed:
    return probe(
        subject, question.text, question.pair, words=question.words, pieces=question.pieces, top_k=top_k
    )


def _score(models: OpenModels, folder: Path, masked: Masked, gap: int, word: str) -> WordScore | UserError:
    try:
        return score_words(models.subject(folder), masked, gap, [word])[0]
    except UserError as error:
        return error


def _beside(
    models: OpenModels, folder: Path, beside: Path, question: Question, top_k: int
) -> Probed | UserError:
    """Ask the other model; single pieces are the same ones only where the vocabularies are."""
    try:
        subject = models.subject(beside)
        if question.pieces and subject.wordpiece.tokens != models.subject(folder).wordpiece.tokens:
            raise UserError(
                marked(
                    "engine",
                    "The two models have different pieces. Mask whole words to compare them.",
                )
            )
        return _probe(subject, question, top_k)
    except UserError as error:
        return error
