"""What a careful colleague would say of a text, and of a model that learns from it: from events alone.

It draws nothing and knows no session, so that every remark can be tested without a window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.pages.run.advice import Remark, in_order
from app.words import counted, decimal, number, say, share, shorten
from engine.errors import Sentence
from engine.events import Evaluated, Event, Noted, Pinned, Started, Step
from engine.text.corpus.corpus import CorpusReport

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
DROP_REPEATED, NO_PAIRS = "drop_repeated", "no_pairs"  # what a click can mend


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known before training."""

    report: CorpusReport | None = None
    asks_pairs: bool = True
    drops_repeated: bool = False
    epochs: float = 0.0  # 0 while it is not known
    vocab_size: int = 0
    is_new: bool = True  # starts from random weights


class Watch:
    """Hears a run's events and keeps the remarks that follow from them."""

    def __init__(self) -> None:
        self.outlook = Outlook()
        self.start()

    def start(self) -> None:
        """Forget the run before."""
        self.started: Started | None = None
        self.last: Evaluated | None = None  # on held-out text
        self._first: list[float] = []
        self._first_accuracy = 0.0
        self._loss = math.nan  # smoothed
        self._step: Step | None = None
        self._pinned: Pinned | None = None
        self._lowest = math.inf
        self._notes: dict[str, Remark] = {}
        self._nan_step = 0

    @property
    def has_nan(self) -> bool:
        """Whether the loss has ceased to be a number."""
        return bool(self._nan_step)

    def hear(self, events: Sequence[Event]) -> None:
        """Take in what a run says."""
        for event in events:
            match event:
                case Step():
                    self._take_step(event)
                case Evaluated():
                    self.last = event
                    self._lowest = min(self._lowest, event.metrics.get("mlm_loss", event.loss))
                case Pinned() if not event.is_question:
                    self._pinned = event
                case Started():
                    self.started = event
                case Noted():
                    self._notes[str(event.sentence)] = Remark(event.level, say(event.sentence))

    def remarks(self) -> list[Remark]:
        """Return all remarks, the most pressing first."""
        is_young = self._step is None or self._step.step < FIRST_STEPS
        notes = (note for note in self._notes.values() if is_young or note.level != "fine")
        found = [*self._on_loss(), *self._on_validation(), *notes]
        outlook = self.outlook
        if outlook.report is not None:
            pressing = (remark for remark in on_text(outlook) if remark.level in ("look", "wrong"))
            found += [Remark(remark.level, remark.text) for remark in pressing]
        return in_order([*found, *on_length(outlook)])

    def _take_step(self, step: Step) -> None:
        self._step = step
        loss = step.measures.get("mlm_loss", step.loss)
        if not math.isfinite(loss):
            self._nan_step = self._nan_step or step.step
            return
        if len(self._first) < FIRST_STEPS:
            self._first.append(loss)
            self._first_accuracy = max(self._first_accuracy, step.accuracy or 0.0)
        keep = min(KEEP, step.step / (step.step + 1))  # young means are no more than means
        self._loss = loss if math.isnan(self._loss) else keep * self._loss + (1 - keep) * loss

    @property
    def _beginning(self) -> float:
        return sum(self._first) / len(self._first) if self._first else math.nan

    def _on_loss(self) -> list[Remark]:
        step = self._step
        if self._nan_step:
            text = translate(
                "PretrainWatch",
                "The loss is no longer a number since step {step}. Try a smaller learning rate; the last "
                "good checkpoint is kept.",
            )
            return [Remark("wrong", text.format(step=number(self._nan_step)))]
        if step is None:
            return []
        if not self.outlook.is_new or self._first_accuracy > KNOWS_MUCH:
            return self._on_context()
        blind = math.log(self.outlook.vocab_size) if self.outlook.vocab_size > 1 else math.inf
        if step.step >= ENOUGH_STEPS and self._loss > blind - BLIND:
            text = translate(
                "PretrainWatch",
                "After {steps} steps the loss is still {loss}, near the {blind} that blind guessing among "
                "{pieces} WordPieces costs. Try another learning rate, and look at the text for repeats.",
            )
            said = text.format(
                steps=number(step.step),
                loss=decimal(self._loss, 2),
                blind=decimal(blind, 2),
                pieces=number(self.outlook.vocab_size),
            )
            return [Remark("look", said)]
        return self._on_plateau(step, blind)

    def _on_plateau(self, step: Step, blind: float) -> list[Remark]:
        """Say whether it has begun to use what stands around a gap."""
        begins_at_frequencies = self._beginning < blind - BLIND
        stuck = begins_at_frequencies and self._loss > self._beginning - FALLEN
        same = self._guesses_alike()
        if not (stuck or same):
            return self._on_context()
        if step.step < ENOUGH_STEPS or step.progress < LATE:
            text = translate(
                "PretrainWatch",
                "So far it guesses the most frequent words, whatever stands around a gap. Every BERT begins "
                "like this.",
            )
            return [Remark("note", text)]
        text = translate(
            "PretrainWatch",
            "After {share} of the run it still guesses by word frequency alone: loss {loss}, at the start "
            "{begin}. Fewer tokens a step, shorter first examples or a smaller model get past this sooner.",
        )
        said = text.format(
            share=share(step.progress, 0), loss=decimal(self._loss, 2), begin=decimal(self._beginning, 2)
        )
        return [Remark("look", said), *self._on_pairs()]

    def _on_context(self) -> list[Remark]:
        if self._guesses_alike() is not False:
            return []
        text = translate(
            "PretrainWatch", "It uses context: its guesses differ from one pinned sentence to the next."
        )
        return [Remark("fine", text)]

    def _guesses_alike(self) -> bool | None:
        """Whether most pinned sentences get one and the same guess; None with too few of them to tell."""
        readings = self._pinned.readings if self._pinned is not None else ()
        first = [reading.guesses[0][0].split()[0] for reading in readings if reading.guesses]
        if len(first) < 3:
            return None
        return max(map(first.count, first)) >= 0.8 * len(first)

    def _on_pairs(self) -> list[Remark]:
        accuracy = self.last.metrics.get("nsp_accuracy", 0.0) if self.last is not None else 0.0
        if accuracy < PAIRS_LEARNED:
            return []
        text = translate(
            "PretrainWatch",
            "Next sentences are learned ({share} right) and masked words are not: telling two topics apart "
            "is the easier task. Switch next sentence off to learn words first.",
        )
        return [Remark("look", text.format(share=share(accuracy, 0)))]

    def _on_validation(self) -> list[Remark]:
        if self.started is not None and not self.started.num_validation:
            text = translate(
                "PretrainWatch",
                "No text is kept apart: nothing will show whether it learns or memorises. Set a validation "
                "share.",
            )
            return [Remark("look", text)]
        loss = self.last.metrics.get("mlm_loss", self.last.loss) if self.last is not None else math.nan
        if not loss > RISES * self._lowest or not self._loss < self._lowest:
            return []
        text = translate(
            "PretrainWatch",
            "The validation loss rises ({low} to {high}) while the training loss falls: it learns this text "
            "by heart. More text, or fewer steps.",
        )
        return [Remark("look", text.format(low=decimal(self._lowest), high=decimal(loss)))]


def on_text(outlook: Outlook) -> list[Remark]:
    """Return the remarks on a text, each with what a click could mend."""
    report = outlook.report
    assert report is not None
    found = [*_on_documents(report, outlook.asks_pairs), *_on_repeats(report, outlook.drops_repeated)]
    found += [Remark("note", say(note)) for note in report.notes if not _is_said_here(note)]
    return in_order(found)


def on_length(outlook: Outlook) -> list[Remark]:
    """Return the remark on how often the text is read."""
    if outlook.epochs <= MANY_TIMES:
        return []
    text = translate(
        "PretrainWatch",
        "The text will be read about {times} times. It will be known by heart long before: give more text, "
        "or a smaller budget.",
    )
    return [Remark("look", text.format(times=number(outlook.epochs)))]


def result_words(last: Evaluated | None) -> str:
    """Return the line about the last look at held-out text; empty before there was one."""
    if last is None:
        return ""
    metrics = last.metrics
    text = translate(
        "PretrainWatch", "Held-out text at step {step}: {share} of words right, perplexity {perplexity}"
    )
    perplexity = metrics.get("perplexity", math.exp(min(700.0, metrics.get("mlm_loss", last.loss))))
    line = text.format(
        step=number(last.step),
        share=share(metrics.get("mlm_accuracy")),
        perplexity=number(perplexity) if perplexity >= 100 else decimal(perplexity, 1),
    )
    if "nsp_accuracy" not in metrics:
        return line
    pairs = translate("PretrainWatch", "{share} of pairs right").format(share=share(metrics["nsp_accuracy"]))
    return f"{line}, {pairs}"


def _on_documents(report: CorpusReport, asks_pairs: bool) -> list[Remark]:
    if not asks_pairs:
        return []
    if report.num_documents == 1:
        text = translate(
            "PretrainWatch",
            "This is one document only, so there is no other one to take wrong next sentences from. Put "
            "blank lines between documents, or do without next sentence.",
        )
        return [Remark("wrong", text, NO_PAIRS)]
    if report.num_sentences < FEW_SENTENCES * report.num_documents:
        text = translate(
            "PretrainWatch",
            "Most documents are a single sentence, after which nothing follows: nearly every pair would be a "
            "wrong one. Do without next sentence.",
        )
        return [Remark("look", text, NO_PAIRS)]
    return []


def _on_repeats(report: CorpusReport, drops: bool) -> list[Remark]:
    if not report.num_repeated:
        text = translate("PretrainWatch", "No line repeats an earlier one.")
        return [Remark("fine", text)]
    count, part = number(report.num_repeated), share(report.repeated_share)
    if drops:
        text = counted(
            report.num_repeated,
            translate("PretrainWatch", "One repeated line ({share}) is left out."),
            translate("PretrainWatch", "{count} repeated lines ({share}) are left out."),
        )
        return [Remark("fine", text.format(count=count, share=part), DROP_REPEATED)]
    text = counted(
        report.num_repeated,
        translate("PretrainWatch", "One line ({share}) repeats an earlier one nearly exactly."),
        translate("PretrainWatch", "{count} lines ({share}) repeat an earlier one nearly exactly."),
    )
    if report.most_repeated:
        line, times = report.most_repeated[0]
        often = translate("PretrainWatch", "Most often, {times} times: “{line}”")
        text = f"{text} {often.format(times=number(times), line=_plain(shorten(line, 60)))}"
    much = report.repeated_share >= MUCH_REPEATED or report.num_repeated >= MANY_REPEATED
    return [Remark("look" if much else "note", text.format(count=count, share=part), DROP_REPEATED)]


def _plain(text: str) -> str:
    """Return a person's text so that it stands in a template as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _is_said_here(note: Sentence) -> bool:
    """Whether a note of the engine is said above, with what a click could mend."""
    return set(note.values) == {"count", "share"} or note.template.startswith("There is one document")
