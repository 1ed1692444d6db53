"""How far do few labels carry? Labelling, simulated by labels that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError, Sentence, UserError, marked
from engine.events import Noted, Steps
from engine.language import heads, said
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, json_field
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.labelling.simulate import Simulation

ORDERS = ("active", "random")


@dataclass(frozen=True)
class LabelSimulation:
    """A simulation and the table it was made on. rows: with a text and a label."""

    found: Simulation
    rows: int
    labels: tuple[tuple[str, int], ...]  # and how many rows have each, the commonest first


@dataclass(frozen=True)
class LabellingQuestion(
    Question["LabelSimulation"],
    command="label",
    help="simulate labelling a table whose labels are known: accuracy after each ten labels",
):
    """What a regression on a frozen model's vectors reaches while labels are added: `simulate`."""

    simulate: bool = asked(False, "take the labels from --label, as a person would give them", kw_only=True)
    data: Path = asked(help=A_TABLE, kw_only=True)
    text: str = asked(help="the column with the text", kw_only=True)
    label: str = asked(help="the column with the true labels", kw_only=True)
    budget: int = asked(100, "labels to be given", minimum=2, kw_only=True)
    order: str = asked("active", "active: as Cloze asks for them; random", choices=ORDERS, kw_only=True)
    seed: int = asked(42, "of the random draws", minimum=0, kw_only=True)
    max_length: int | None = asked(None, "Pieces of each text that are read", kw_only=True)
    json: bool = json_field("print the figures as JSON on stdout")
    how: ReadSettings = how_field()

    def check(self) -> None:
        if not self.simulate:
            template = marked(
                "engine",
                "Labelling by hand needs the window. To simulate it with known labels, add --simulate.",
            )
            raise UserError(template)

    def answer(self, models: Models) -> Steps[LabelSimulation]:
        from engine.inspect.embeddings.table import notes_of
        from engine.inspect.embeddings.vectors import PoolingConfig, embed, usual_kind
        from engine.labelling.features import features
        from engine.labelling.simulate import simulate
        from engine.text.table import reading_table
        from engine.train.learned import blocks_of, hashes_of

        table = yield from reading_table(self.data, **self.how.named())
        texts = table.frame[table.column(self.text)].tolist()
        cells = [cell.strip() for cell in table.frame[table.column(self.label)].tolist()]
        subject = models.subject(self.model)
        rows = [row for row, cell in enumerate(cells) if cell]
        pooling = PoolingConfig(usual_kind(subject.about)).of(subject.about)
        vectors = yield from embed(
            subject, [texts[row] for row in rows], [pooling], max_length=self.max_length
        )
        yield from notes_of(vectors)
        found = [cells[rows[place]] for place in vectors.places]
        counts = Counter(found).most_common()
        if len(counts) < 2:
            template = marked("engine", "{label} holds fewer than two labels, so there is nothing to learn.")
            raise DataError(template, label=self.label)
        if len(rows) < len(cells):
            note = marked("engine", "Rows excluded because they have no label: {count:,}.")
            yield Noted(sentence=Sentence(note, {"count": len(cells) - len(rows)}))
        targets = np.unique(np.array(found, object), return_inverse=True)[1].astype(np.int64)
        used = [texts[rows[place]] for place in vectors.places]
        known, same = features(vectors.vectors[0], used), (yield from hashes_of(blocks_of(used)))
        made = yield from simulate(known, targets, self.budget, self.order, self.seed, same)
        return LabelSimulation(made, len(found), tuple(counts))

    def document(self, found: LabelSimulation) -> Any:
        made = found.found
        return {
            "curve": [list(point) for point in made.curve],
            "full_accuracy": made.full,
            "order": self.order,
            "seed": self.seed,
            "rows": found.rows,
            "labels": dict(found.labels),
            "random_sample": {"rows": made.num_sampled, "accuracy": made.sampled},
        }

    def lines(self, found: LabelSimulation) -> Iterator[str]:
        made = found.found
        yield "  ".join(heads(marked("table", "labels"), marked("table", "accuracy on the rest")))
        for count, accuracy in made.curve:
            yield f"{count:6,}  {accuracy:.4f}"
        template = marked("engine", "With all {count:,} labels, cross-validated: {accuracy:.4f}.")
        yield said(template, count=found.rows, accuracy=made.full)
