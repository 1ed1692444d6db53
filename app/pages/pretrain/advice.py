"""What a careful colleague would say of a text, and of a model that learns from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.pages.advice.remark import AdviceLine, in_order
from app.pages.run.advice import RunAdvice
from app.words import counted, decimal, number, phrases, say, share, shorten
from engine.errors import Sentence
from engine.events import Evaluated, Pinned, Step
from engine.text.corpus.corpus import CorpusReport
from engine.train.watchdog import OVERFITTING

translate = QCoreApplication.translate

MUCH_REPEATED = 0.01  # share of lines
MANY_REPEATED = 1_000  # lines
FEW_SENTENCES = 1.5  # in a document, on average
MANY_TIMES = 40.0  # epochs after which a text is known by heart
FIRST_STEPS = 20  # their mean loss is where a run begins
ENOUGH_STEPS = 200  # before which nothing is said of a plateau
LATE = 0.25  # share of the run by which the plateau of word frequencies should be behind
FALLEN = 0.35  # nats below the beginning, at least, where context is used
BLIND = 0.5  # nats below ln V, at most, where nothing at all is learned
PAIRS_LEARNED = 0.7  # accuracy of next sentence
KNOWS_MUCH = 0.25  # accuracy at the beginning of a model that is trained further
RISES = 1.02  # of the lowest validation loss so far; smaller rises are noise
KEEP = 0.98  # of the past, in the smoothed loss
DROP_REPEATED, PAIRS = "drop_repeated", "next_sentence"  # settings that a click can mend


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """What is known of a text, and what the settings ask of it."""

    report: CorpusReport | None = None  # None while it is not known
    asks_pairs: bool = True
    drops_repeated: bool = False
    epochs: float = 0.0  # 0 while it is not known


class PretrainAdvice(RunAdvice):
    """Advice on a model that learns from text."""

    def __init__(self) -> None:
        self.vocab_size = 0  # WordPieces of a model that starts from random weights
        self.is_new = True  # starts from random weights
        super().__init__()

    def clear(self) -> None:
        super().clear()
        self.last: Evaluated | None = None  # on held-out text
        self._first: list[float] = []
        self._first_accuracy = 0.0
        self._loss = math.nan  # smoothed
        self._step: Step | None = None
        self._pinned: Pinned | None = None
        self._lowest = math.inf

    def loss_of(self, step: Step) -> float:
        return step.measures.get("mlm_loss", step.loss)

    def take_evaluation(self, event: Evaluated) -> None:
        self.last = event
        self._lowest = min(self._lowest, event.metrics.get("mlm_loss", event.loss))

    def take_pinned(self, event: Pinned) -> None:
        if not event.is_question:
            self._pinned = event

    def notes(self) -> Sequence[AdviceLine]:
        """Return what the run has said of itself; good news of its beginning fades."""
        is_young = self._step is None or self._step.step < FIRST_STEPS
        return [note for note in super().notes() if is_young or note.level != "fine"]

    def on_learning(self) -> Iterator[AdviceLine]:
        yield from self._on_loss()
        yield from self._on_validation()

    def take_step(self, step: Step) -> None:
        self._step = step
        loss = self.loss_of(step)
        if not math.isfinite(loss):
            return
        if len(self._first) < FIRST_STEPS:
            self._first.append(loss)
            self._first_accuracy = max(self._first_accuracy, step.accuracy or 0.0)
        keep = min(KEEP, step.step / (step.step + 1))  # young means are no more than means
        self._loss = loss if math.isnan(self._loss) else keep * self._loss + (1 - keep) * loss

    @property
    def _beginning(self) -> float:
        return sum(self._first) / len(self._first) if self._first else math.nan

    def _on_loss(self) -> Iterator[AdviceLine]:
        step = self._step
        if step is None or self.has_nan:
            return
        blind = math.log(self.vocab_size) if self.vocab_size > 1 else math.inf
        if not self.is_new or self._first_accuracy > KNOWS_MUCH:
            yield from self._on_context()
        elif step.step >= ENOUGH_STEPS and self._loss > blind - BLIND:
            text = translate(
                "PretrainAdvice",
                "After {steps} steps the loss is still {loss}, near the {blind} that blind guessing among "
                "{pieces} WordPieces costs. Try another learning rate, and look at the text for repeats.",
            )
            said = text.format(
                steps=number(step.step),
                loss=decimal(self._loss, 2),
                blind=decimal(blind, 2),
                pieces=number(self.vocab_size),
            )
            yield AdviceLine("look", said)
        else:
            yield from self._on_plateau(step, blind)

    def _on_plateau(self, step: Step, blind: float) -> Iterator[AdviceLine]:
        """Say whether it has begun to use what stands around a gap."""
        begins_at_frequencies = self._beginning < blind - BLIND
        stuck = begins_at_frequencies and self._loss > self._beginning - FALLEN
        if not (stuck or self._guesses_alike()):
            yield from self._on_context()
        elif step.step < ENOUGH_STEPS or step.progress < LATE:
            text = translate(
                "PretrainAdvice",
                "So far it guesses the most frequent words, whatever surrounds a mask. The "
                "easiest thing to learn comes first.",
            )
            yield AdviceLine("note", text)
        else:
            text = translate(
                "PretrainAdvice",
                "After {share} of the run it still guesses by word frequency only: loss {loss}, "
                "at the start {begin}. Fewer tokens a step, shorter first examples or a smaller "
                "model get past this sooner.",
            )
            loss, begin = decimal(self._loss, 2), decimal(self._beginning, 2)
            yield AdviceLine("look", text.format(share=share(step.progress, 0), loss=loss, begin=begin))
            yield from self._on_pairs()

    def _on_context(self) -> Iterator[AdviceLine]:
        if self._guesses_alike() is False:
            text = translate(
                "PretrainAdvice",
                "It uses context: its guesses differ from one pinned sentence to the next.",
            )
            yield AdviceLine("fine", text)

    def _guesses_alike(self) -> bool | None:
        """Whether most pinned sentences get one and the same guess; None with too few of them to tell."""
        readings = self._pinned.readings if self._pinned is not None else ()
        first = [reading.guesses[0][0].split()[0] for reading in readings if reading.guesses]
        if len(first) < 3:
            return None
        return max(map(first.count, first)) >= 0.8 * len(first)

    def _on_pairs(self) -> Iterator[AdviceLine]:
        accuracy = self.last.metrics.get("nsp_accuracy", 0.0) if self.last is not None else 0.0
        if accuracy >= PAIRS_LEARNED:
            text = translate(
                "PretrainAdvice",
                "Next sentences are learned ({share} right), masked words are not. "
                "Distinguishing two topics is the easier task. Turn next sentence off to learn "
                "words first.",
            )
            yield AdviceLine("look", text.format(share=share(accuracy, 0)))

    def _on_validation(self) -> Iterator[AdviceLine]:
        if self.started is not None and not self.started.num_validation:
            text = translate(
                "PretrainAdvice",
                "No text is held out, so nothing will show whether it learns or memorises. Set a "
                "validation share.",
            )
            yield AdviceLine("look", text)
            return
        if self.has_noted(OVERFITTING):
            return
        loss = self.last.metrics.get("mlm_loss", self.last.loss) if self.last is not None else math.nan
        if loss > RISES * self._lowest and self._loss < self._lowest:
            text = translate(
                "PretrainAdvice",
                "The validation loss rises ({low} to {high}) while the training loss falls, so "
                "it learns this text by heart. Use more text, or fewer steps.",
            )
            yield AdviceLine("look", text.format(low=decimal(self._lowest), high=decimal(loss)))

    def result_words(self) -> str:
        """Return the line about the last look at held-out text."""
        if self.last is None:
            return ""
        metrics = self.last.metrics
        text = translate(
            "PretrainAdvice", "Held-out text at step {step}: {share} of words right, perplexity {perplexity}"
        )
        perplexity = metrics.get("perplexity", math.exp(min(700.0, metrics.get("mlm_loss", self.last.loss))))
        line = text.format(
            step=number(self.last.step),
            share=share(metrics.get("mlm_accuracy")),
            perplexity=number(perplexity) if perplexity >= 100 else decimal(perplexity, 1),
        )
        if "nsp_accuracy" not in metrics:
            return line
        pairs = translate("PretrainAdvice", "{share} of pairs right")
        return phrases((line, pairs.format(share=share(metrics["nsp_accuracy"]))))


def on_text(facts: TextFacts) -> list[AdviceLine]:
    """Return what to say of a text before a run, once it is known."""
    if facts.report is None:
        return []
    return in_order(remark for check in CHECKS for remark in check(facts.report, facts))


def _on_documents(report: CorpusReport, facts: TextFacts) -> Iterator[AdviceLine]:
    if not facts.asks_pairs:
        return
    if report.num_documents == 1:
        text = translate(
            "PretrainAdvice",
            "This is only one document, so wrong next sentences cannot be drawn from "
            "another. Put blank lines between documents, or turn next sentence off.",
        )
        yield AdviceLine("wrong", text, mend=(PAIRS, False))
    elif report.num_sentences < FEW_SENTENCES * report.num_documents:
        text = translate(
            "PretrainAdvice",
            "Most documents are a single sentence with nothing after it, so nearly every "
            "pair would be a wrong one. Turn next sentence off.",
        )
        yield AdviceLine("look", text, mend=(PAIRS, False))


def _on_repeats(report: CorpusReport, facts: TextFacts) -> Iterator[AdviceLine]:
    if not report.num_repeated:
        yield AdviceLine("fine", translate("PretrainAdvice", "No line repeats an earlier one."))
        return
    count, part = number(report.num_repeated), share(report.repeated_share)
    if facts.drops_repeated:
        text = counted(
            report.num_repeated,
            translate("PretrainAdvice", "One repeated line ({share}) is excluded."),
            translate("PretrainAdvice", "{count} repeated lines ({share}) are excluded."),
        )
        yield AdviceLine("fine", text.format(count=count, share=part), mend=(DROP_REPEATED, False))
        return
    text = counted(
        report.num_repeated,
        translate("PretrainAdvice", "One line ({share}) repeats an earlier one almost exactly."),
        translate("PretrainAdvice", "{count} lines ({share}) repeat an earlier one almost exactly."),
    )
    if report.most_repeated:
        line, times = report.most_repeated[0]
        often = translate("PretrainAdvice", "Most often, {times} times: “{line}”")
        text = f"{text} {often.format(times=number(times), line=_plain(shorten(line, 60)))}"
    much = report.repeated_share >= MUCH_REPEATED or report.num_repeated >= MANY_REPEATED
    said = text.format(count=count, share=part)
    yield AdviceLine("look" if much else "note", said, mend=(DROP_REPEATED, True))


def _on_notes(report: CorpusReport, _facts: TextFacts) -> Iterator[AdviceLine]:
    for note in report.notes:
        if not _is_said_here(note):
            yield AdviceLine("note", say(note))


def _on_length(_report: CorpusReport, facts: TextFacts) -> Iterator[AdviceLine]:
    """Say how often the text is read, where that is too often."""
    if facts.epochs > MANY_TIMES:
        text = translate(
            "PretrainAdvice",
            "The text will be read about {times} times. The model will know it by heart long "
            "before. Give more text, or a smaller budget.",
        )
        yield AdviceLine("look", text.format(times=number(facts.epochs)))


def _plain(text: str) -> str:
    """Return a person's text so that it stands in a template as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _is_said_here(note: Sentence) -> bool:
    """Whether a note of the engine is said above, with what a click could mend."""
    return set(note.values) == {"count", "share"} or note.template.startswith("There is only one document.")


Check = Callable[[CorpusReport, TextFacts], Iterator[AdviceLine]]
CHECKS: tuple[Check, ...] = (_on_documents, _on_repeats, _on_length, _on_notes)  # a new sentence: an entry
