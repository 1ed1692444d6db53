"""Files that are no tables but a task's own, such as words with tags: plain Python without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from app.work.tables import CHUNK, ModelInfo, count_words
from engine.errors import Sentence, marked
from engine.events import Progress, Steps
from engine.settings.finetune import DataConfig
from engine.text.languages import script_of_texts
from engine.text.table import BadLine
from engine.train.tasks.kind import OpenedFile
from engine.train.tasks.known import TASKS, guess_task


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file of a task's own as it was read. reason: why it is taken for one; None where a person said so."""

    task: str
    reason: Sentence | None
    content: OpenedFile
    max_length: int  # WordPieces of an example, where a person asks for no other length

    @property
    def path(self) -> Path:
        return self.content.path


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What is known of such a file, as `TableSummary` says it of a table.

    lengths: (E,) int64, of its texts; what is too long is read in windows, so nothing is lost. unit: "pieces"
    or "words".
    """

    task: str
    num_examples: int
    reported: tuple[BadLine, ...]
    notes: tuple[Sentence, ...]
    labels: tuple[str, ...]
    counts: np.ndarray
    lengths: np.ndarray
    unit: str
    unknown_share: float | None
    is_pair: bool
    script: str
    refusal: Sentence | None = None
    num_leaking: int | None = None
    num_duplicates: int = 0
    reads_windows: ClassVar[bool] = True

    def cut_share(self, max_length: int) -> float:
        """Return 0: long texts are read in windows."""
        return 0.0

    def num_tokens(self, max_length: int) -> int:
        """Return the tokens of one pass over all examples, about."""
        return int(self.lengths.sum())


def open_task_file(path: Path, task: str, said: Mapping[str, str] | None = None) -> Steps[TaskFile | None]:
    """Return a file of a task's own; None for a table.

    Args: task: what a person said it is for; "": a guess. said: of how it is read, settings of `DataConfig`.

    Raises: DataError.
    """
    kind, reason = (TASKS[task], None) if task else guess_task(DataConfig(data=str(path)))
    if kind.reads_tables:
        return None
    settings: dict[str, Any] = dict(said or {})
    content = yield from kind.open(DataConfig(data=str(path), task=task, **settings))
    return TaskFile(kind.name, reason, content, kind.max_length)


def file_summary(file: TaskFile, model: ModelInfo | None) -> Steps[FileSummary]:
    """Return what is known of a file, its texts measured by the model's vocabulary, or in words."""
    content, lengths = file.content, list[int]()
    unknown, is_pair, different = 0, False, set[int]()
    examples = content.texts()
    while some := list(islice(examples, CHUNK)):
        texts, pairs = [text for text, _ in some], [pair for _, pair in some if pair is not None]
        is_pair = is_pair or bool(pairs)
        different.update(map(hash, some))
        if model is None:
            seconds = [count_words(pair) for pair in pairs] or [0] * len(texts)
            lengths += [count_words(text) + second for text, second in zip(texts, seconds, strict=True)]
        else:
            pieces = model.wordpiece.encode_ids(texts + pairs)
            unknown += sum(int((one == model.wordpiece.unk_id).sum()) for one in pieces)
            sizes = [len(one) for one in pieces]
            more = model.wordpiece.num_between
            seconds = [size + more for size in sizes[len(texts) :]] or [0] * len(texts)
            lengths += [size + 2 + second for size, second in zip(sizes[: len(texts)], seconds, strict=True)]
        yield Progress(stage=marked("engine", "Tokenizing"), done=len(lengths), total=content.num_examples)
    counts = content.label_counts
    return FileSummary(
        task=file.task,
        num_examples=content.num_examples,
        reported=tuple(content.reported),
        notes=tuple(content.notes),
        labels=tuple(counts),
        counts=np.array(list(counts.values()), np.int64),
        lengths=np.array(lengths, np.int64),
        unit="words" if model is None else "pieces",
        unknown_share=None if model is None else unknown / max(1, sum(lengths)),
        is_pair=is_pair,
        script=script_of_texts(text for text, _ in content.texts()),
        num_duplicates=len(lengths) - len(different),
    )
