"""Is one model better than another on the same texts?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, captioned, marked
from engine.events import Steps
from engine.language import metric_name
from engine.model.model_name import ModelName
from engine.questions.flags import Flag
from engine.questions.labelled import LabelledQuestion, rows_field
from engine.questions.question import Models, asked, json_field
from engine.questions.scores import ends
from engine.settings.setting import Setting

if TYPE_CHECKING:
    from engine.evaluation.comparing import ComparedModels


@dataclass(frozen=True, slots=True)
class FirstOfTwo(Flag):
    """A flag that is given twice; its first value."""

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        """Let a parser read both."""
        how = {"metavar": self.metavar, "help": about.help, "type": Path}
        place.add_argument(self._flag(name), required=True, action="append", **how)

    def given(self, options: Namespace, name: str) -> Path:
        """Return the first. Raises: UserError: there are not two."""
        first, _second = self._both(options)
        return first

    def _both(self, options: Namespace) -> Sequence[Path]:
        if len(options.model) != 2:
            raise UserError(marked("engine", "Name two models: --model A --model B."))
        both: Sequence[Path] = options.model
        return both


@dataclass(frozen=True, slots=True)
class SecondOfTwo(FirstOfTwo):
    """Its second value, which its first one's field has the parser read."""

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        """Leave the parser as it is."""

    def given(self, options: Namespace, name: str) -> Path:
        """Return the second. Raises: UserError: there are not two."""
        return self._both(options)[1]


@dataclass(frozen=True)
class ComparisonQuestion(
    LabelledQuestion["ComparedModels"],
    command="compare",
    help="compare two models on the same texts",
):
    """The second model less the first."""

    model: ModelName = asked(help="a model folder; given twice", flag=FirstOfTwo("MODEL"))
    other: ModelName = asked(flag=SecondOfTwo(name="model"))
    out: Path | None = rows_field("a new CSV with the texts that the two answer differently")
    json: bool = json_field("print the figures as JSON on stdout")

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called: their folders' names, or A and B where these are the same."""
        from engine.train.run.kept import name_of

        first, second = name_of(self.model.folder), name_of(self.other.folder)
        return (first, second) if first != second else ("A", "B")

    def answer(self, models: Models) -> Steps[ComparedModels]:
        from engine.evaluation.comparing import compare_scored
        from engine.evaluation.part import check_same_rows

        if self.part:
            check_same_rows(self.model.folder, self.other.folder, self.part)
        first = yield from self.scoring()
        second = yield from replace(self, model=self.other).scoring()
        return compare_scored(first, second)

    def write(self, found: ComparedModels, out: Path) -> None:
        from engine.text.table import write_table

        first, second, listed = found.first.each, found.second.each, found.first.listed
        has_texts = len(listed.texts) == len(listed)
        rows = []
        for place in found.differing.tolist():
            i, j = int(found.first_rows[place]), int(found.second_rows[place])
            answers = first.names[first.predicted[i]], second.names[second.predicted[j]]
            text, true = listed.said(i) if has_texts else "", first.names[first.true[i]]
            rows.append([int(listed.rows[i]), int(listed.lines[i]), true, *answers, text])
        write_table(out, ["row", "line", "true", *self.names, "text"], rows, exempt=("row", "line"))

    def document(self, found: ComparedModels) -> Any:
        less, names = found.difference, self.names
        return {
            "metric": found.first.metric,
            "num_examples": len(found),
            "copies_count_once": found.repeat,
            "models": [
                {"name": name, "score": score, "learned_from": count}
                for name, score, count in zip(names, found.scores, found.num_seen, strict=True)
            ],
            "difference": less.value,
            "interval": ends(less.interval),
            "p_value": less.p_value,
            "test": less.test,
            "is_sure": less.is_sure,
            "only_first_right": less.only_first,
            "only_second_right": less.only_second,
            "num_differing": len(found.differing),
            "differing_rows": found.first.listed.rows[found.first_rows[found.differing]].tolist(),
            "sentence": str(found.sentence(*names)),
        }

    def lines(self, found: ComparedModels) -> Iterator[str]:
        for name, value in zip(self.names, found.scores, strict=True):
            yield captioned(name, f"{metric_name(found.first.metric)} {value:.4f}")
        yield str(found.sentence(*self.names))
