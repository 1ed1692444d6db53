"""How probable are words in templates such as '{he|she} is a [MASK]'?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import heads, said
from engine.questions.flags import Flag
from engine.questions.over_table import MOST_LINES
from engine.questions.question import Models, Question, asked, given, json_field, out_field
from engine.questions.writing import aligned, padded

if TYPE_CHECKING:
    from engine.evaluation.inside.contrasts import Contrast
    from engine.inspect.masked.grid import TemplateSettings, TemplateTable
else:
    TemplateSettings = Any  # it brings torch


@dataclass(frozen=True)
class TemplatesQuestion(
    Question["tuple[TemplateTable, ...]"],
    command="templates",
    help="score words in templates such as '{he|she} is a [MASK]'",
):
    """The scores of words in every sentence of a template, or of a file's. requests: the window's."""

    template: str | None = asked(
        None, "alternatives in braces, one [MASK]", flag=Flag(group="what"), kw_only=True
    )
    data: Path | None = asked(
        None, "a table with the columns template and targets (a|b|c)", flag=Flag(group="what"), kw_only=True
    )
    targets: str = asked("", "with --template: words to score, as a|b|c", kw_only=True)
    top_k: int = asked(10, "without targets: guesses for each sentence", kw_only=True)
    out: Path | None = out_field("a new CSV with every score")
    json: bool = json_field("print the effect of the alternatives on each word, over templates, as JSON")
    requests: tuple[TemplateSettings, ...] = given(())

    def answer(self, models: Models) -> Steps[tuple[TemplateTable, ...]]:
        from engine.inspect.masked.grid import score_templates

        requests = self._requests()  # before a model is opened
        return (yield from score_templates(models.subject(self.model), requests, top_k=self.top_k))

    def _requests(self) -> tuple[TemplateSettings, ...]:
        from engine.inspect.masked.grid import TemplateSettings
        from engine.inspect.masked.template import Template
        from engine.inspect.masked.template_table import read_templates

        if self.requests:
            return self.requests
        if self.data is not None:
            return read_templates(self.data)
        targets = tuple(word.strip() for word in self.targets.split("|") if word.strip())
        return (TemplateSettings(Template.parse(self.template or ""), targets),)

    def write(self, found: tuple[TemplateTable, ...], out: Path) -> None:
        from engine.inspect.masked.template_table import write_grids

        write_grids(out, found)

    def document(self, found: tuple[TemplateTable, ...]) -> Any:
        from engine.evaluation.inside.contrasts import contrasts

        names = ("target", "first", "second", "mean", "interval", "spread", "p_value", "templates")
        return {"contrasts": [{name: getattr(one, name) for name in names} for one in contrasts(found)]}

    def lines(self, found: tuple[TemplateTable, ...]) -> Iterator[str]:
        from engine.evaluation.inside.contrasts import contrasts

        for grid in () if self.out is not None else found:
            for cell, row in zip(grid.cells, grid.scores, strict=True):
                yield cell.text
                for target, one in zip(grid.targets, row, strict=True):
                    template = marked("engine", "{value:+8.2f} compared with its prior")
                    corrected = "" if one.corrected is None else said(template, value=one.corrected)
                    yield f"  {padded(target, 20)}{one.score.probability:8.4f}  {corrected}".rstrip()
        compared = contrasts(found)
        if any(one.templates > 1 for one in compared):
            yield from contrast_lines(compared)


def contrast_lines(found: Sequence[Contrast]) -> list[str]:
    """Return what alternatives do to words, as lines of a table."""
    lines: list[Sequence[str]] = [
        heads(
            marked("table", "word"),
            marked("table", "alternatives"),
            marked("table", "mean log ratio"),
            marked("table", "from"),
            marked("table", "to"),
            marked("table", "by chance"),
            marked("table", "templates"),
        )
    ]
    for one in found[:MOST_LINES]:
        low, high = (f"{end:+.2f}" for end in one.interval) if one.interval else ("", "")
        lines.append(
            [one.target, f"{one.first} / {one.second}", f"{one.mean:+.2f}", low, high, f"{one.p_value:.2g}"]
            + [str(one.templates)]
        )
    return aligned(lines)
