"""Which share of a table has each label? The model's counts, corrected for its errors, with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import Sentence, UserError, marked
from engine.events import Noted, Steps
from engine.model.model_name import ModelName
from engine.questions.fields import device_field
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import aligned
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.labelling.prevalence import Prevalence
    from engine.train.scored import ScoredTable

FEW_HELD_OUT = 10  # held-out texts of a label below which its errors are hardly known
SHIFT = marked(
    "engine",
    "The correction assumes that a label’s texts look the same in this table as in the {part} rows. Only the "
    "shares may differ.",
)
SEEN = marked(
    "engine",
    "The model was trained on {count:,} of these {total:,} texts and errs less on them, so the shares are "
    "off. Ask about texts that are new to it.",
)


@dataclass(frozen=True)
class LabelShares:
    """The shares of a table. part: of the run, whose rows say how the model errs."""

    found: Prevalence
    labels: tuple[str, ...]
    part: str


@dataclass(frozen=True)
class PrevalenceQuestion(
    Question["LabelShares"],
    command="prevalence",
    help="estimate the share of each label in a table, corrected for the model’s errors",
):
    """Shares that a survey can publish, of a table without labels: `prevalence` of engine/labelling."""

    model: ModelName = asked(help="a run’s folder, or its model’s")
    data: Path = asked(help=A_TABLE, kw_only=True)
    text: str = asked("", "the column with the text, where it is not that of the training data", kw_only=True)
    seed: int = asked(42, "of the random draws", minimum=0, kw_only=True)
    json: bool = json_field("print the figures as JSON on stdout")
    device: str = device_field()
    how: ReadSettings = how_field()

    def answer(self, models: Models) -> Steps[LabelShares]:
        from engine.evaluation.part import parts_of, run_behind, scoring_part
        from engine.labelling.prevalence import prevalence
        from engine.text.roles import Roles
        from engine.text.table import reading_table
        from engine.train.run.runs import MODEL
        from engine.train.tasks.rows.predict import table_answers

        run = run_behind(self.model.folder)
        if run is None:
            template = marked(
                "engine",
                "{path} is no run, nor the result of one. The shares need rows that the model was not "
                "trained on. Name a run of fine-tuning.",
            )
            raise UserError(template, path=self.model.folder)
        part = next((one for one in ("test", "validation") if one in parts_of(run)), "validation")
        scored = yield from scoring_part(run, part, self.device)
        table = yield from reading_table(self.data, **self.how.named())
        predictor = models.predictor(ModelName(run / MODEL))
        answers, num_seen = yield from table_answers(predictor, table, Roles(text=self.text))
        if not len(answers):
            raise UserError(marked("engine", "{path} holds no text that can be read."), path=self.data)
        confusion = _confusion(scored, predictor.labels)
        counts = np.bincount(answers.argmax(1), minlength=len(predictor.labels))
        yield Noted(sentence=Sentence(SHIFT, {"part": part}))
        if num_seen:
            seen = Sentence(SEEN, {"count": num_seen, "total": len(answers)})
            yield Noted(sentence=seen, level="wrong")
        yield from _on_few(confusion, predictor.labels)
        return LabelShares(prevalence(confusion, counts, self.seed), predictor.labels, part)

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
            "held_out": {"part": found.part, "rows": made.num_held_out},
            "seed": self.seed,
        }

    def lines(self, found: LabelShares) -> Iterator[str]:
        made, rows = found.found, [("label", "share", "95 % interval", "as counted")]
        for place in np.argsort(-made.shares, kind="stable"):
            between = f"{made.low[place]:.1%} to {made.high[place]:.1%}"
            rows.append(
                (found.labels[place], f"{made.shares[place]:.1%}", between, f"{made.counted[place]:.1%}")
            )
        yield from aligned(rows)


def _confusion(scored: ScoredTable, labels: tuple[str, ...]) -> Any:
    """Return (C, C) counts of held-out texts, by label and answer. Raises: UserError: of no labels."""
    if scored.task != "classification":
        template = marked("engine", "Shares need a model that chooses one label for each text.")
        raise UserError(template)
    each = scored.each
    place_of = np.array([labels.index(name) for name in each.names])
    found = np.zeros((len(labels), len(labels)), np.int64)
    np.add.at(found, (place_of[each.true], place_of[each.predicted]), 1)
    return found


def _on_few(confusion: Any, labels: tuple[str, ...]) -> Iterator[Noted]:
    """Say which labels have too few held-out texts to know how the model errs on them."""
    few = [label for label, count in zip(labels, confusion.sum(1), strict=True) if count < FEW_HELD_OUT]
    if few:
        template = marked(
            "engine",
            "Fewer than {least} held-out texts have these labels, so their intervals are rough: {labels}.",
        )
        yield Noted(sentence=Sentence(template, {"least": FEW_HELD_OUT, "labels": ", ".join(few[:8])}))
