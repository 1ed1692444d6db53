"""What do a model's answers cost here, and how far do they agree with a person's labels?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError
from engine.events import Steps
from engine.model.model_name import ModelName
from engine.questions.fields import device_field
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, given, json_field
from engine.text.reading.kinds import A_TABLE
from engine.text.table import Table

if TYPE_CHECKING:
    from engine.labelling.answering_cost import WhyNot

WATTS = 10.0  # of a core


@dataclass(frozen=True)
class CostQuestion(
    Question["WhyNot"],
    command="cost",
    help="measure rows per second and energy, and the agreement with your labels",
):
    """What there is to say to who asks why not a large language model: engine/labelling/answering_cost.py."""

    data: Path = asked(help=A_TABLE, kw_only=True)
    text: str = asked("", "the column with the text, where it is not that of the training data", kw_only=True)
    other: str = asked(
        "", "a column with a language model’s answers, to be compared too; found by its labels", kw_only=True
    )
    watts: float = asked(
        WATTS,
        "of one core at work, assumed where the processor’s meter cannot be read",
        minimum=0.1,
        maximum=1000.0,
        kw_only=True,
    )
    json: bool = json_field("print the figures as JSON on stdout")
    device: str = device_field()
    how: ReadSettings = how_field()
    table: Table | None = given()

    def answer(self, models: Models) -> Steps[WhyNot]:
        from engine.evaluation.part import run_behind
        from engine.labelling.answering_cost import WhyNot, agreeing, costing
        from engine.labelling.table_shares import NO_RUN
        from engine.text.roles import Roles
        from engine.text.table import reading_table
        from engine.train.run.runs import MODEL

        run = run_behind(self.model.folder)
        folder = self.model.folder if run is None else run / MODEL
        table = self.table or (yield from reading_table(self.data, **self.how.named()))
        predictor = models.predictor(ModelName(folder))
        label = predictor.known_label() if predictor.known_label() in table.columns else ""
        roles = predictor.roles(table, Roles(text=self.text), label)
        cost = yield from costing(predictor, table, roles, self.watts)
        try:
            if run is None:
                raise UserError(NO_RUN, path=folder)
            found = yield from agreeing(run, predictor.labels, table, roles, self.other, self.device)
        except UserError as error:
            return WhyNot(cost, (), error.sentence)
        return WhyNot(cost, found)

    def document(self, found: WhyNot) -> Any:
        cost = found.cost
        return {
            **asdict(cost),
            "rows_per_s": cost.rows_per_s,
            "watt_hours_per_1000": cost.watt_hours,
            "agreement": [asdict(one) for one in found.agreements],
        }

    def lines(self, found: WhyNot) -> Iterator[str]:
        yield from map(str, found.sentences())
