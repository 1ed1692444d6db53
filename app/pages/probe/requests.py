"""What the Probe page asks of the models worker: plain Python that touches no Qt object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.pages.probe.masked_text import MaskedText
from app.shipped import sample_passages
from app.stories.known import story_read_by
from app.work.models import OpenModels
from engine.errors import UserError, marked
from engine.events import AnswerSoFar, Event, Steps
from engine.inspect.loaded_model import LoadedModel, ModelSummary
from engine.inspect.masked.follows import Follows, Influence, follows, influence
from engine.inspect.masked.game import Round, Verdict, deal, play
from engine.inspect.masked.grid import TemplateSettings, TemplateTable, score_templates
from engine.inspect.masked.joint import BEAM, Joint, fill_jointly
from engine.inspect.masked.masked import GappedText, mask
from engine.inspect.masked.probe import CheckpointAnswer, GapTable, over_checkpoints, probe, score_words
from engine.inspect.masked.score import WordScore
from engine.model.model_name import ModelName
from engine.questions.question import Models, Question, asked
from engine.train.run.kept import KeptWeights

if TYPE_CHECKING:
    from engine.evaluation.inside.contrasts import Contrast

SPELLED = 40  # passages that tell which language a vocabulary is for
NUM_JOINT = 8  # joint fillings that are shown
MOST_JOINT = 12  # [MASK]s that are filled together: each is another pass over the whole beam


@dataclass(frozen=True, slots=True)
class GapsAnswer:
    """The guesses of one model, and of the one beside it. yours: gap -> the score of a word, or why not."""

    question: MaskedText
    probed: GapTable
    beside: GapTable | UserError | None = None
    yours: Mapping[int, WordScore | UserError | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """All gaps filled together."""

    question: MaskedText
    joint: Joint


@dataclass(frozen=True, slots=True)
class LearnedAnswer:
    """One checkpoint's answer."""

    question: MaskedText
    step: int
    probed: GapTable


@dataclass(frozen=True, slots=True)
class NextAnswer:
    """Whether B follows A, by one model and the one beside it."""

    found: Follows
    beside: Follows | UserError | None = None


@dataclass(frozen=True)
class GuessGaps(Question["GapsAnswer | JointAnswer"]):
    """Every gap guessed, then the words that a person asked for scored, then all gaps filled together.

    yours: gap -> word; it is asked anew by itself.
    """

    question: MaskedText = asked()
    beside: ModelName | None = asked(None)
    top_k: int = asked(6)
    yours: Mapping[int, str] = asked(None, compare=False)

    def answer(self, models: Models) -> Iterator[Event]:
        subject = models.subject(self.model)
        probed = _probe(subject, self.question, self.top_k)
        answer = GapsAnswer(self.question, probed)
        if self.beside is None and not self.yours:
            yield AnswerSoFar(value=answer)
        else:
            scores = {gap: _score(subject, probed.masked, gap, word) for gap, word in self.yours.items()}
            other = None if self.beside is None else self._answer_of(models, self.beside, subject)
            yield AnswerSoFar(value=GapsAnswer(self.question, probed, other, scores))
        if can_fill_jointly(probed.masked):
            whole = any(gap.is_word and len(gap.places) > 1 for gap in probed.masked.gaps)
            joint = yield from fill_jointly(
                subject, probed.masked, beam=BEAM, top_k=NUM_JOINT, whole_words=whole
            )
            yield AnswerSoFar(value=JointAnswer(self.question, joint))

    def _answer_of(self, models: Models, beside: ModelName, subject: LoadedModel) -> GapTable | UserError:
        """Ask the other model; single pieces are the same ones only where the vocabularies are."""
        try:
            other = models.subject(beside)
            if self.question.pieces and other.wordpiece.tokens != subject.wordpiece.tokens:
                raise UserError(
                    marked(
                        "engine",
                        "The two models have different pieces. Mask whole words to compare them.",
                    )
                )
            return _probe(other, self.question, self.top_k)
        except UserError as error:
            return error


def can_fill_jointly(masked: GappedText) -> bool:
    """Whether there are several gaps, and not so many that filling them together takes minutes."""
    return len(masked.gaps) > 1 and len(masked.places) <= MOST_JOINT


def score_word(
    models: OpenModels, *, folder: Path, question: MaskedText, gap: int, word: str
) -> WordScore | UserError:
    """Return how probable a word of the person's own is in one gap, or why that cannot be said."""
    subject = models.subject(folder)
    masked = mask(subject.about, question.text, question.pair, words=question.words, pieces=question.pieces)
    return _score(subject, masked, gap, word)


def ask_kept(kept: Sequence[KeptWeights], question: MaskedText) -> Iterator[Event]:
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
        if isinstance(event, CheckpointAnswer):
            yield AnswerSoFar(value=LearnedAnswer(question, steps[event.folder], event.probed))


def ask_next(models: OpenModels, *, folder: Path, beside: Path | None, a: str, b: str) -> Steps[Influence]:
    """Answer with a `NextAnswer`, whether B follows A; return which words say so. B is compared with the
    second sentences of the samples that the model can read.
    """
    subject = models.subject(folder)
    others = tuple(one.pair for one in story_read_by(subject.wordpiece).texts if one.pair)
    found = follows(subject, a, b, others=others)
    other: Follows | UserError | None = None
    if beside is not None:
        try:
            other = follows(models.subject(beside), a, b, others=others)
        except UserError as error:
            other = error
    yield AnswerSoFar(value=NextAnswer(found, other))
    return (yield from influence(subject, a, b))


def score_grids(
    models: OpenModels, folder: Path, requests: Sequence[TemplateSettings]
) -> Steps[tuple[tuple[TemplateTable, ...], tuple[Contrast, ...]]]:
    """Return the scores of templates, and what their alternatives do to each word over all of them."""
    from engine.evaluation.inside.contrasts import contrasts  # here, on the worker: it brings scipy with it

    grids = yield from score_templates(models.subject(folder), requests)
    return grids, contrasts(grids)


def _probe(subject: LoadedModel, question: MaskedText, top_k: int) -> GapTable:
    return probe(
        subject, question.text, question.pair, words=question.words, pieces=question.pieces, top_k=top_k
    )


def _score(subject: LoadedModel, masked: GappedText, gap: int, word: str) -> WordScore | UserError:
    try:
        return score_words(subject, masked, gap, [word])[0]
    except UserError as error:
        return error


def deal_rounds(models: OpenModels, folder: Path, seed: int) -> tuple[Round, ...]:
    """Return rounds of the guessing game, in the language that the model spells best. Raises: UserError."""
    about = models.about(folder)
    passages = [texts for texts in sample_passages() if texts]
    if not passages:
        raise UserError(marked("engine", "The passages for the game are missing here."))
    return deal(about, max(passages, key=lambda texts: _known(about, texts[:SPELLED])), seed)


def _known(about: ModelSummary, texts: Sequence[str]) -> float:
    """Return the share of pieces that the vocabulary has."""
    ids = [number for one in about.wordpiece.encode_ids(list(texts)) for number in one.tolist()]
    return 1 - ids.count(about.wordpiece.unk_id) / max(1, len(ids))


def play_round(models: OpenModels, folder: Path, one: Round, said: str) -> Verdict:
    """Return what the model makes of a round after a person has guessed. Raises: UserError, ModelError."""
    return play(models.subject(folder), one, said)
