"""Answers of a model to words: one text at once, a file measured, or a file of texts into a file of tags.

The tags that are written are the model's own, word by word; entities are what conlleval takes for ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.durable import check_writable, replaced_file
from engine.errors import Sentence, marked
from engine.events import Event, Finished, Noted, Progress, Steps, result_of
from engine.model.heads import TokenClassifier
from engine.model.info import length_in
from engine.settings.finetune import USUAL_LENGTH, DataConfig
from engine.text.reading.kinds import SHEET_SUFFIXES
from engine.text.reading.lines import Numbers
from engine.text.table import reading_table
from engine.text.tagged.read import looks_tagged
from engine.text.tagged.texts import Entity, TaggedTable, WordTable
from engine.text.tagged.untagged import UntaggedTable, one_text, reading_column, reading_lines
from engine.train import data_notes
from engine.train.entity_scores import lenient_spans
from engine.train.evaluate import answers_of, evaluate
from engine.train.learned import telling_seen
from engine.train.tasks.kind import HeadedModel, ToMeasure, telling_measures
from engine.train.tasks.token_labels.answers import FoundEntity, TaggedAnswer
from engine.train.tasks.token_labels.cutting import cutting
from engine.train.tasks.token_labels.kept import TaggedRows
from engine.train.tasks.token_labels.prepare import on_unknown, part_of
from engine.train.tasks.token_labels.reading import on_file, opening
from engine.train.tasks.token_labels.task import PlainTags, TokenLabels, task_for
from engine.train.tasks.token_labels.writing import check_ending, writer_for

_TAGGED = (".conll", ".conllu", ".iob", ".bio")  # where little text tells nothing
_TABLES = (".csv", ".jsonl", ".ndjson", ".json", *SHEET_SUFFIXES)


@dataclass(frozen=True)
class TokenModel(HeadedModel[TokenClassifier]):
    """A model of words ready to answer."""

    task: TokenLabels

    @classmethod
    def from_folder(cls, folder: Path, device: str = "auto") -> TokenModel:
        """Load a model folder; takes seconds. Raises: ModelError if it holds no head for tags."""
        found = HeadedModel.opened(folder, TokenClassifier, device)
        return cls(**vars(found), task=task_for(found.model.config.id2label))

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

    def answers(self, store: WordTable, stage: str) -> Steps[Iterator[TaggedAnswer]]:
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

    def of(self, store: WordTable, data: TaggedRows, answers: np.ndarray) -> Iterator[TaggedAnswer]:
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

    def measuring(self, data: DataConfig) -> Steps[ToMeasure]:
        texts = yield from _opened(self, data)
        yield from on_file(texts)
        return (yield from _to_measure(self, texts))


def _found(entity: Entity, spans: tuple[tuple[int, int], ...], sure: tuple[float, ...]) -> FoundEntity:
    first, stop, kind = entity
    return FoundEntity(spans[first][0], spans[stop - 1][1], kind, min(sure[first:stop]))


def _opened(predictor: TokenModel, data: DataConfig) -> Steps[TaggedTable]:
    if predictor.is_plain and not data.scheme:
        data = replace(data, scheme="none")
    return (yield from opening(data, data.data, info=predictor.info))


def _to_measure(predictor: TokenModel, texts: TaggedTable) -> Steps[ToMeasure]:
    tags = tuple(dict.fromkeys((*predictor.task.labels, *texts.tags)))
    if unknown := tags[len(predictor.task.labels) :]:
        yield Noted(sentence=on_unknown(texts.path.name, unknown))
    task = replace(predictor.task, tags=tags)
    part = part_of(texts, tags)
    seen = yield from telling_seen(predictor.folder, part.blocks(), len(part), texts.sha256)
    encoded = yield from part.encoded(
        len(task.labels), predictor.wordpiece, predictor.max_length, is_measured=True
    )
    return task, encoded, seen


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
    predictor = TokenModel.from_folder(model, device)
    texts = yield from _asked(predictor, data)
    if isinstance(texts, TaggedTable):
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
    if isinstance(texts, TaggedTable) and data.label:
        task, encoded, _ = yield from _to_measure(predictor, texts)
        measures = yield from evaluate(predictor.model, task, encoded, predictor.device)
        yield from telling_measures(task, measures)
    yield Finished(path=out, seconds=time.perf_counter() - start)


def _asked(predictor: TokenModel, data: DataConfig) -> Steps[TaggedTable | UntaggedTable]:
    """Read the texts of a file of whatever kind."""
    path, each_mark = Path(data.data), predictor.each_mark
    if data.label or path.suffix.lower() in _TAGGED or looks_tagged(path):
        return (yield from _opened(predictor, data))
    if data.text or path.suffix.lower() in _TABLES:
        table = yield from reading_table(path, **data.how)
        if not data.text:
            raise table.no_text()
        return (yield from reading_column(table, data.text, each_mark=each_mark))
    return (yield from reading_lines(path, data.encoding, each_mark=each_mark))


def _separator(out: Path, texts: TaggedTable | UntaggedTable) -> str:
    """Return what stands between word and tag: a space, as in CoNLL's own files, where no word holds one."""
    by_spaces = isinstance(texts, UntaggedTable) or texts.format.separator == " "
    return " " if by_spaces and out.suffix.lower() != ".tsv" else "\t"


def _on_answers(predictor: TokenModel, unseen: int, num_words: int, num_entities: int) -> Iterator[Event]:
    """Tell what was found, and how many words the model did not see."""
    if unseen:
        template = marked(
            "engine",
            "Words without a piece, which the model does not see: {count:,}. They get {tag}.",
        )
        yield Noted(sentence=Sentence(template, {"count": unseen, "tag": predictor.task.unasked}))
    if not predictor.is_plain:
        template = marked("engine", "Entities found: {entities:,} in {words:,} words.")
        values = {"entities": num_entities, "words": num_words}
        yield Noted(sentence=Sentence(template, values), level="fine")
