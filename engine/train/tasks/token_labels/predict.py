"""Answers of a model to words: one text at once, a file measured, or a file of texts into a file of tags.

The tags that are written are the model's own, word by word; entities are what conlleval takes for ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from engine.device import Device, open_device
from engine.durable import check_writable, replaced_file
from engine.errors import DataError, Sentence, marked
from engine.events import Event, Finished, Noted, Progress, Steps, result_of
from engine.model.fastest import fastest
from engine.model.heads import TokenClassifier
from engine.model.info import length_in, read_info
from engine.model.weights import check_weights, load_headed
from engine.settings.finetune import USUAL_LENGTH, DataConfig
from engine.settings.shared import DeviceConfig
from engine.text.reading.lines import Numbers
from engine.text.table import reading_table
from engine.text.tagged.read import looks_tagged
from engine.text.tagged.texts import Entity, Store, TaggedTexts
from engine.text.tagged.untagged import UntaggedTexts, one_text, reading_column, reading_lines
from engine.text.wordpiece import WordPiece
from engine.train import data_notes
from engine.train.entity_scores import lenient_spans
from engine.train.evaluate import answers_of
from engine.train.learned import telling_seen
from engine.train.loop import evaluated
from engine.train.prepare import check_fit
from engine.train.scored import Scored
from engine.train.task import Measures, scored
from engine.train.tasks.kind import StandIn
from engine.train.tasks.token_labels.answers import FoundEntity, TaggedAnswer
from engine.train.tasks.token_labels.cutting import cutting
from engine.train.tasks.token_labels.kept import TaggedSet
from engine.train.tasks.token_labels.prepare import on_unknown, part_of
from engine.train.tasks.token_labels.reading import on_file, opening
from engine.train.tasks.token_labels.task import PlainTags, TokenLabels, task_for
from engine.train.tasks.token_labels.writing import check_ending, writer_for

_TAGGED = (".conll", ".conllu", ".iob", ".bio")  # where little text tells nothing
_TABLES = (".csv", ".jsonl", ".ndjson", ".json")


@dataclass(frozen=True)
class TokenPredictor:
    """A model of words ready to answer. folder: that it was read from. info: its cloze.json, or nothing."""

    folder: Path
    model: TokenClassifier
    wordpiece: WordPiece
    task: TokenLabels
    info: dict[str, Any]
    device: Device

    @classmethod
    def from_folder(cls, folder: Path, device: str = "auto") -> TokenPredictor:
        """Load a model folder; takes seconds. Raises: ModelError if it holds no head for tags."""
        ready = open_device(DeviceConfig(device=device))
        info = read_info(Path(folder))
        check_weights(folder)  # before a vocabulary of the size that config.json names is built
        wordpiece = WordPiece.from_folder(folder)
        model, _ = load_headed(Path(folder), TokenClassifier)
        check_fit(model.config, wordpiece, with_pair=False)
        ready = fastest(ready, DeviceConfig(precision="float32"), model.config)
        task = task_for(model.config.id2label)
        return cls(Path(folder), model.to(ready.device), wordpiece, task, info, ready)

    @property
    def is_plain(self) -> bool:
        """Whether its tags make no entities."""
        return isinstance(self.task, PlainTags)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of entities; where tags are plain, the tags."""
        if self.is_plain:
            return tuple(sorted(self.task.labels))
        return tuple(sorted({label[2:] for label in self.task.labels if label != "O"}))

    @property
    def each_mark(self) -> bool:
        """Whether each mark of a text is a word of its own, as in the spans it has learned from."""
        return self.info.get("kind") == "spans"

    @property
    def max_length(self) -> int:
        """WordPieces of a window, as in training."""
        return length_in(self.info, self.model.config.max_position_embeddings, USUAL_LENGTH)

    def answer(self, text: str) -> TaggedAnswer:
        """Return the words of a text with their tags, and the entities in it."""
        store = one_text(text, each_mark=self.each_mark)
        if store is None:
            return TaggedAnswer(text, (), (), (), ())
        return next(result_of(self.answers(store, "")))

    def answers(self, store: Store, stage: str) -> Steps[Iterator[TaggedAnswer]]:
        """Ask the model for the words of all texts; what is returned makes the answer to each, in order."""
        data = yield from cutting(
            store,
            np.arange(len(store)),
            lambda words: np.zeros(len(words), np.int16),
            len(self.task.labels),
            self.wordpiece,
            self.max_length,
            is_measured=True,
        )
        found = yield from answers_of(self.model, self.task, data, self.device, stage)
        return self.of(store, data, found)

    def of(self, store: Store, data: TaggedSet, answers: np.ndarray) -> Iterator[TaggedAnswer]:
        """Yield the answer to each text. Args: answers: (A, C) probabilities of the words of `data`."""
        names = (*self.task.labels, self.task.unasked)
        codes = np.full(data.num_words, len(names) - 1)
        sure = np.zeros(data.num_words)
        codes[data.decided], sure[data.decided] = answers.argmax(-1), answers.max(-1, initial=0)
        bounds = data.firsts.tolist()
        for place in range(len(store)):
            words = slice(bounds[place], bounds[place + 1])
            text, spans = store.text(place)
            tags = tuple(names[code] for code in codes[words].tolist())
            entities = [] if self.is_plain else lenient_spans(tags)
            own = tuple(sure[words].tolist())
            yield TaggedAnswer(text, spans, tags, own, tuple(_found(one, spans, own) for one in entities))


def _found(entity: Entity, spans: tuple[tuple[int, int], ...], sure: tuple[float, ...]) -> FoundEntity:
    first, stop, kind = entity
    return FoundEntity(spans[first][0], spans[stop - 1][1], kind, min(sure[first:stop]))


def evaluate_file(
    model: Path, data: DataConfig, device: str = "auto", stand_in: StandIn | None = None
) -> Steps[Scored]:
    """Measure a model folder on a file of tagged words: Progress, Noted, one Evaluated, Finished.

    Args: data: the file and how to read it; columns that are not named are those of the training data, where
    the file has them. stand_in: makes what is measured in the model's place.
    """
    start = time.perf_counter()
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    predictor = TokenPredictor.from_folder(model, device)
    texts = yield from _opened(predictor, data)
    yield from on_file(texts)
    measured = predictor.model if stand_in is None else stand_in(predictor.model)
    return (yield from _measured(predictor, texts, start, measured))


def _opened(predictor: TokenPredictor, data: DataConfig) -> Steps[TaggedTexts]:
    if predictor.is_plain and not data.scheme:
        data = replace(data, scheme="none")
    return (yield from opening(data, data.data, info=predictor.info))


def _measured(predictor: TokenPredictor, texts: TaggedTexts, start: float, model: nn.Module) -> Steps[Scored]:
    tags = tuple(dict.fromkeys((*predictor.task.labels, *texts.tags)))
    if unknown := tags[len(predictor.task.labels) :]:
        yield Noted(sentence=on_unknown(texts.path.name, unknown))
    task = replace(predictor.task, tags=tags)
    part = part_of(texts, tags)
    seen = yield from telling_seen(predictor.folder, part.blocks(), len(part), texts.sha256)
    encoded = yield from part.encoded(
        len(task.labels), predictor.wordpiece, predictor.max_length, is_measured=True
    )
    stage = marked("engine", "Evaluating")
    answers = yield from answers_of(model, task, encoded, predictor.device, stage)
    measures: Measures = yield from task.measure(answers, encoded)
    for note, level in task.remarks(measures, "test"):
        yield Noted(sentence=note, level=level)
    event = evaluated(0, 1, "test", measures, task)
    yield event
    yield Finished(path=None, seconds=time.perf_counter() - start, metrics=event.metrics)
    return scored(task, event, encoded.listed, measures, seen)


def predict_file(model: Path, data: DataConfig, out: Path, device: str = "auto") -> Iterator[Event]:
    """Write what a model folder says of the words of a file: Progress, Noted, Finished.

    The file may be one of tagged words, whose tags are not looked at unless `data.label` names their column
    (then one Evaluated says how good the answers are); a table, where `data.text` names the column of texts;
    or a plain text, of which every line is a text.

    Args: out: .conll, .txt or .tsv: a word and its tag a line; .jsonl: a text a line with its entities.
    Raises: DataError if `out` ends otherwise or is the data itself.
    """
    start = time.perf_counter()
    out = Path(out)
    check_ending(out)
    check_writable(out, Path(data.data))
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    predictor = TokenPredictor.from_folder(model, device)
    texts = yield from _asked(predictor, data)
    if isinstance(texts, TaggedTexts):
        yield from on_file(texts)
    else:
        for note in texts.notes:
            yield Noted(sentence=note)
        yield from data_notes.on_lines(texts.reported)
    answers = yield from predictor.answers(texts.store, marked("engine", "Predicting"))
    lines: Numbers = texts.store.first_lines
    unseen = num_words = num_entities = 0
    with replaced_file(out) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        write = writer_for(out, _separator(out, texts), is_plain=predictor.is_plain)
        for number, answer in enumerate(answers):
            file.write(write(answer, int(lines[number])))
            unseen += answer.probabilities.count(0.0)
            num_words, num_entities = num_words + len(answer.tags), num_entities + len(answer.entities)
            if number % 1024 == 0:
                yield Progress(stage=marked("engine", "Writing"), done=number, total=len(texts.store))
    yield from _on_answers(predictor, unseen, num_words, num_entities)
    if isinstance(texts, TaggedTexts) and data.label:
        for event in _measured(predictor, texts, start, predictor.model):
            if not isinstance(event, Finished):
                yield event
    yield Finished(path=out, seconds=time.perf_counter() - start)


def _asked(predictor: TokenPredictor, data: DataConfig) -> Steps[TaggedTexts | UntaggedTexts]:
    """Read the texts of a file of whatever kind."""
    path, each_mark = Path(data.data), predictor.each_mark
    if data.label or path.suffix.lower() in _TAGGED or looks_tagged(path):
        return (yield from _opened(predictor, data))
    if data.text or path.suffix.lower() in _TABLES:
        table = yield from reading_table(
            path, encoding=data.encoding, separator=data.separator, quoting=data.quoting, header=data.header
        )
        if not data.text:
            raise DataError(
                marked("engine", "Which column holds the text? The columns of {name} are: {columns}."),
                name=path.name,
                columns=list(table.columns),
            )
        return (yield from reading_column(table, data.text, each_mark=each_mark))
    return (yield from reading_lines(path, data.encoding, each_mark=each_mark))


def _separator(out: Path, texts: TaggedTexts | UntaggedTexts) -> str:
    """Return what stands between word and tag: a space, as in CoNLL's own files, where no word holds one."""
    by_spaces = isinstance(texts, UntaggedTexts) or texts.format.separator == " "
    return " " if by_spaces and out.suffix.lower() != ".tsv" else "\t"


def _on_answers(predictor: TokenPredictor, unseen: int, num_words: int, num_entities: int) -> Iterator[Event]:
    """Tell what was found, and how many words the model did not see."""
    if unseen:
        template = marked(
            "engine",
            "Words that have no piece, so that the model does not see them: {count:,}. They get {tag}.",
        )
        yield Noted(sentence=Sentence(template, {"count": unseen, "tag": predictor.task.unasked}))
    if not predictor.is_plain:
        template = marked("engine", "Entities that are found: {entities:,} in {words:,} words.")
        values = {"entities": num_entities, "words": num_words}
        yield Noted(sentence=Sentence(template, values), level="fine")
