"""A task that answers once for each row of a table: all of it but its reading, its loss and its measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

from engine.errors import Sentence, UserError
from engine.events import Event, Steps
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.roles import Roles
from engine.text.table import Table, table_head
from engine.train.learned import HashedRows
from engine.train.prepare import about_split
from engine.train.tasks.kind import Kind, text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.predict import RowModel, predict_file
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
            return self.looks_like(_head(path, about.st_mtime_ns, about.st_size, **data.how), data)
        except (UserError, OSError):
            return None

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        """Return why the first rows of a table look like this task, None if they do not."""
        return None

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        return prepare(config, self.reading, self.setup)

    def apart(self, config: FineTuneConfig) -> Steps[tuple[dict[str, HashedRows], dict[str, Any]]]:
        rows = yield from reading_parts(config, self.reading)
        return (yield from rows.hashes()), about_split(config.data, rows.places)

    def predictor(self, folder: Path, device: str = "auto") -> RowModel:
        return RowModel.from_folder(self.reading, folder, device)

    def answer(self, predictor: RowModel, document: Mapping[str, Any]) -> dict[str, Any]:
        text = text_in(document, "text")
        assert text is not None
        pair = text_in(document, "text_pair", required=predictor.wants_pair)
        return predictor.task.said(predictor.predict(text, pair))

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def predict_file(
        self, model: Path, data: DataConfig, out: Path, *, raw: bool, device: str
    ) -> Iterator[Event]:
        opening = partial(self.predictor, model, device)
        columns = Roles.of(data)
        return predict_file(
            opening, Path(data.data), out, columns, raw=raw, adding=None, known={}, **data.how
        )


@lru_cache(maxsize=1)
def _head(path: Path, _written: int, _size: int, **how: str) -> Table:
    """Return the head of a file as it is now: every task looks at the same one. Raises: DataError."""
    return table_head(path, **how)
