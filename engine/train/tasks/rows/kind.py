"""A task that answers once for each row of a table: all of it but its reading, its loss and its measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

from engine.errors import Sentence, UserError
from engine.events import Event, Steps
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.roles import Roles
from engine.text.table import Table, table_head
from engine.train.learned import HashedPart
from engine.train.prepare import about_split
from engine.train.scored import Scored
from engine.train.tasks.kind import Kind, StandIn, text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.predict import Predictor, evaluate_file, predict_file
from engine.train.tasks.rows.prepare import prepare, reading_parts
from engine.train.tasks.rows.program import program_of
from engine.train.tasks.rows.reading import RowReading


class OfRows(Kind):
    """A label, several or a number for a text or a pair of texts."""

    reads_windows = False
    setup: ClassVar[type[RowSetup]] = RowSetup
    reading: ClassVar[RowReading]

    def __init_subclass__(cls) -> None:
        cls.head = cls.reading.head

    def looks(self, path: Path, data: DataConfig) -> Sentence | None:
        """Look at the first rows of the table, as `looks_like`; what is no table is none of this task."""
        try:
            about = path.stat()
            how = (data.encoding, data.separator, data.quoting, data.header)
            return self.looks_like(_head(path, about.st_mtime_ns, about.st_size, *how), data)
        except (UserError, OSError):
            return None

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        """Return why the first rows of a table look like this task, None if they do not."""
        return None

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        return prepare(config, self.reading, self.setup)

    def apart(self, config: FineTuneConfig) -> Steps[tuple[dict[str, HashedPart], dict[str, Any]]]:
        rows = yield from reading_parts(config, self.reading)
        return (yield from rows.hashes()), about_split(config.data, rows.places)

    def predictor(self, folder: Path, device: str = "auto") -> Predictor:
        """Return a model folder ready to answer texts. Raises: ModelError if it holds no such head."""
        return Predictor.from_folder(self.reading, folder, device)

    def answering(self, folder: Path, device: str = "auto") -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        return self.answering_by(self.predictor(folder, device))

    def answering_by(self, predictor: Predictor) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """Return what answers by a model that is open, as `answering`."""
        return partial(self.answer, predictor)

    def answer(self, predictor: Predictor, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a model answers to a document, both as JSON has them. Raises: UserError."""
        text = text_in(document, "text")
        assert text is not None
        pair = text_in(document, "text_pair", required=predictor.wants_pair)
        return predictor.task.said(predictor.predict(text, pair))

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def evaluate_file(
        self, model: Path, data: DataConfig, device: str, stand_in: StandIn | None = None
    ) -> Steps[Scored]:
        return evaluate_file(partial(self.predictor, model, device), data, stand_in)

    def predict_file(
        self, model: Path, data: DataConfig, out: Path, *, raw: bool, device: str
    ) -> Iterator[Event]:
        return predict_file(
            partial(self.predictor, model, device),
            Path(data.data),
            out,
            Roles.of(data),
            raw=raw,
            encoding=data.encoding,
            separator=data.separator,
            quoting=data.quoting,
            header=data.header,
        )


@lru_cache(maxsize=1)
def _head(
    path: Path, _written: int, _size: int, encoding: str, separator: str, quoting: str, header: str
) -> Table:
    """Return the head of a file as it is now: every task looks at the same one. Raises: DataError."""
    return table_head(path, encoding=encoding, separator=separator, quoting=quoting, header=header)
