"""Which share of a table has each label? The model's counts, corrected for its errors, with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, marked, sentences
from engine.events import Steps
from engine.language import heads, said
from engine.model.model_name import ModelName
from engine.questions.fields import device_field
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import aligned
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.labelling.table_shares import LabelShares


@dataclass(frozen=True)
class PrevalenceQuestion(
    Question["LabelShares"],
    command="prevalence",
    help="estimate the share of each label in a table, corrected for the model’s errors",
):
    """Shares that a survey can publish, of a table without labels: engine/labelling/table_shares.py."""

    model: ModelName = asked(help="a run’s folder, or its model’s")
    data: Path = asked(help=A_TABLE, kw_only=True)
    text: str = asked("", "the column with the text, where it is not that of the training data", kw_only=True)
    seed: int = asked(42, "of the random draws", minimum=0, kw_only=True)
    json: bool = json_field("print the figures as JSON on stdout")
    device: str = device_field()
    how: ReadSettings = how_field()

    def answer(self, models: Models) -> Steps[LabelShares]:
        from engine.evaluation.part import run_behind
        from engine.labelling.table_shares import NO_RUN, answered_texts, sharing
        from engine.text.roles import Roles
        from engine.text.table import reading_table
        from engine.train.run.runs import MODEL
        from engine.train.tasks.rows.predict import table_answers

        run = run_behind(self.model.folder)
        if run is None:
            raise UserError(NO_RUN, path=self.model.folder)
        table = yield from reading_table(self.data, **self.how.named())
        predictor = models.predictor(ModelName(run / MODEL))
        roles = predictor.roles(table, Roles(text=self.text))
        rows, answers = yield from table_answers(predictor, table, roles)
        texts = yield from answered_texts(table, roles, rows, answers)
        return (yield from sharing(run, predictor.labels, texts, self.device, self.seed))

    def document(self, found: LabelShares) -> Any:
        made = found.found
        columns = zip(found.labels, made.counted, made.shares, made.low, made.high, strict=True)
        return {
            "shares": {
                label: {
                    "share": float(share),
                    "interval": [float(low), float(high)],
                    "counted": float(counted),
                }
                for label, counted, share, low, high in columns
            },
            "rows": made.num_texts,
            "held_out": {"part": found.part, "rows": made.num_held_out, "at_random": found.is_sampled},
            "labelled": found.num_known,
            "left_out": found.num_left_out,
            "sentence": " ".join(map(str, found.sentences())),
            "seed": self.seed,
        }

    def lines(self, found: LabelShares) -> Iterator[str]:
        made = found.found
        rows = [
            heads(
                marked("table", "label"),
                marked("table", "share"),
                marked("table", "95 % interval"),
                marked("table", "as counted"),
            )
        ]
        for place in found.order:
            ends = {"low": made.low[place], "high": made.high[place]}
            between = said(marked("engine", "{low:.1%} to {high:.1%}"), **ends)
            rows.append(
                (found.labels[place], f"{made.shares[place]:.1%}", between, f"{made.counted[place]:.1%}")
            )
        yield from aligned(rows)
        yield ""
        yield sentences(map(str, found.sentences()))
