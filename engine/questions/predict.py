"""What does a fine-tuned model answer to every row of a file?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.durable import check_writable
from engine.errors import UserError, marked
from engine.events import Event, Finished, Predicted, Steps
from engine.questions.fields import device_field
from engine.questions.how_read import ReadSettings, data_config, how_field
from engine.questions.question import Models, Question, asked, given, out_field
from engine.settings.finetune import DataConfig
from engine.settings.setting import settings_of
from engine.text.reading.kinds import A_TABLE
from engine.text.roles import Roles
from engine.text.small_sheet import Sheet
from engine.text.table import Table, reading_table

_HELP = {name: about.help for name, about in settings_of(DataConfig()).items()}


@dataclass(frozen=True)
class PredictionQuestion(
    Question[None], command="predict", help="write a copy of a table with predictions, or answer lines"
):
    """A new file with an answer to each row. table: the file as it is open in the window."""

    data: str = asked("", f"{A_TABLE}, or a file of the model’s task", kw_only=True)
    text: str = asked("", _HELP["text"], kw_only=True)
    text_pair: str = asked("", _HELP["text_pair"], kw_only=True)
    choices: str = asked("", _HELP["choices"], kw_only=True)
    device: str = device_field()
    how: ReadSettings = how_field(is_last=False)
    out: Path | None = out_field(
        "the new file: CSV, or .tsv with tabs, or .xlsx; for other tasks also .json, .jsonl"
    )
    label: str = asked("", "a column with the true labels, to show the score too", kw_only=True)
    raw: bool = asked(False, "keep cells that a spreadsheet would run as formulas", kw_only=True)
    stream: bool = asked(
        False,
        'instead of files: answer JSON lines on stdin, such as {"text": "..."}, on stdout',
        kw_only=True,
    )
    shares: bool = asked(
        False,
        "also write the share of each label with its interval, to a second sheet or a file of its own; the "
        "model must come from a run of fine-tuning",
        kw_only=True,
    )
    journal: Path | None = asked(
        None,
        "the labels that were given to this table by hand, as the window keeps them: rows with one keep it",
        kw_only=True,
    )
    recipe: Path | None = asked(
        None, "with --journal: the fixes of the labelled table, as the window keeps them", kw_only=True
    )
    table: Table | None = given()

    def check(self) -> None:
        has_out = self.out not in (None, Path())
        if self.stream and (self.data or has_out):
            raise UserError(marked("engine", "Texts come on stdin with --stream: omit --data and --out."))
        if self.recipe is not None and self.journal is None:
            raise UserError(marked("engine", "A recipe fixes labels: name their file with --journal."))
        if not self.stream and not (self.data and has_out):
            raise UserError(
                marked("engine", "Name the file to predict with --data, and the new one with --out.")
            )

    def outs(self) -> tuple[Path, ...]:
        return ()  # it is written on the way, step by step

    def answer(self, models: Models) -> Iterator[Event]:
        from engine.train.tasks.known import predict_file

        assert self.out is not None
        if self.table is not None or self.shares or self.journal is not None:
            return self._rows(models)
        config = data_config(self)
        return predict_file(self.model.folder, config, self.out, raw=self.raw, device=self.device)

    def _rows(self, models: Models) -> Iterator[Event]:
        """Predict rows, whose known labels stay, and tell the shares too, or why they cannot be told."""
        from engine.labelling.known_labels import known_labels
        from engine.labelling.table_shares import SharesFound, sharing_answers, sheet_of
        from engine.train.tasks.rows.predict import KnownLabels
        from engine.train.tasks.rows.predict import predict_file as predict_rows

        found: SharesFound | None = None

        def adding(table: Table, roles: Roles, predicted: Predicted) -> Steps[Sheet | None]:
            nonlocal found
            found = yield from sharing_answers(self.model.folder, table, roles, predicted, self.device)
            return None if found.shares is None else sheet_of(found.shares)

        out, columns = self.out or Path(), Roles.of(self)
        check_writable(out, Path(self.data))
        opened, table = models.predictor(self.model), self.table
        if table is None:
            table = yield from reading_table(Path(self.data), **self.how.named())
        known: KnownLabels = {}
        if self.journal is not None:
            given = known_labels(self.journal, table, opened.reading.name, opened.labels, self.recipe)
            known = yield from given
        added = adding if self.shares else None
        for event in predict_rows(opened, table, out, columns, raw=self.raw, adding=added, known=known):
            if isinstance(event, Finished) and found is not None:
                yield found
            yield event
