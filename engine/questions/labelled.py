"""What the questions share that are asked of labelled texts: a file, or what a run kept apart."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, marked, rows_of
from engine.events import Steps
from engine.language import said
from engine.questions.fields import device_field
from engine.questions.flags import Flag
from engine.questions.how_read import ReadSettings, data_config, how_field
from engine.questions.question import Found, Question, asked
from engine.settings.finetune import DataConfig

if TYPE_CHECKING:
    from engine.train.scored import ScoredTable

PARTS = ("validation", "test")


def column_field() -> Any:
    """Return the field of a column that the training data had, too."""
    return asked("", "a column, if its name differs from the training data", kw_only=True)


def rows_field(help: str) -> Any:
    """Return the field of a table of texts that is written."""
    return asked(None, help, flag=Flag("ROWS", name="rows"), compare=False, kw_only=True)


@dataclass(frozen=True)
class LabelledTexts:
    """A labelled file and how it is read, or a part of a model's run. scheme: of tags in a file of them; "":
    found out.
    """

    data: str = asked("", "a labelled file", kw_only=True)
    part: str = asked("", "instead: the rows that the run held out", choices=("", *PARTS), kw_only=True)
    text: str = column_field()
    text_pair: str = column_field()
    choices: str = column_field()
    label: str = column_field()
    how: ReadSettings = how_field()
    scheme: str = asked("", flag=None, kw_only=True)

    @property
    def config(self) -> DataConfig:
        """The file as settings name it. Raises: ConfigError."""
        return data_config(self)

    @property
    def texts_said(self) -> str:
        """What the texts are called in a sentence: "validation rows"."""
        if self.part:
            return rows_of(self.part)
        return said(marked("engine", "texts of {file}"), file=self.texts_name)

    @property
    def texts_name(self) -> str:
        """What the texts are called."""
        return self.part or Path(self.data).name

    def named(self) -> dict[str, Any]:
        """Return it as arguments of a question, by name."""
        return {field.name: getattr(self, field.name) for field in fields(LabelledTexts)}


@dataclass(frozen=True)
class LabelledQuestion(LabelledTexts, Question[Found]):
    """A question over labelled texts."""

    device: str = device_field()

    @property
    def run(self) -> Path | None:
        """The run behind the model; None: there is none."""
        from engine.evaluation.part import run_behind

        return run_behind(self.model.folder)

    @property
    def folder(self) -> Path:
        """The model folder that is named, or that of the result of a run that is."""
        from engine.train.run.runs import MODEL

        named = self.model.folder
        return named / MODEL if self.run == named.absolute() else named

    def check(self) -> None:
        if bool(self.data) == bool(self.part):
            raise UserError(
                marked("engine", "Give either --data, a file, or --part, rows of the run itself.")
            )

    def scoring(self) -> Steps[ScoredTable]:
        """Return what the model answers, and how good that is. Raises: UserError."""
        from engine.evaluation.part import scoring_part
        from engine.train.tasks.known import evaluate_file

        if not self.part:
            return (yield from evaluate_file(self.folder, self.config, self.device))
        if self.run is None:
            template = marked("engine", "{path} is not a run or the result of one, so it has no {part} part.")
            raise UserError(template, path=self.model.folder, part=self.part)
        return (yield from scoring_part(self.run, self.part, self.device))
