"""How good is a model on labelled texts, and how sure is that?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from engine.errors import Sentence, marked
from engine.events import Event, Noted, Steps, retold
from engine.language import spoken
from engine.model.model_name import ModelName
from engine.questions.labelled import LabelledQuestion, rows_field
from engine.questions.question import Models, asked, json_field, out_field
from engine.questions.scores import report_document, report_lines, score_lines, scores_document, write_rows

if TYPE_CHECKING:
    from engine.evaluation.baselines import Baseline
    from engine.evaluation.report import ScoreReport
    from engine.evaluation.slices import Slice
    from engine.train.scored import ScoredTable

KEEP, FORGET = "keep", "forget"
NOT_TESTED = marked(
    "engine",
    "The model’s temperature was fitted on half of these texts, so its confidence "
    "has to be tested on others.",
)


@dataclass(frozen=True)
class Evaluation:
    """What is told of a model. num_tried: slices, of which some are weak. notes: said on the way."""

    report: ScoreReport
    baselines: list[Baseline]
    slices: tuple[Slice, ...]
    num_tried: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvaluationQuestion(
    LabelledQuestion["Evaluation"], command="evaluate", help="measure a model on a labelled file"
):
    """Scores with their intervals, what they are beside, how sure the model may be, and where it is weak."""

    lines_are_aside: ClassVar[bool] = True

    model: ModelName = asked(help="a model folder, or a run’s")
    out: Path | None = rows_field("a new CSV with every text, its true label and the prediction")
    report: Path | None = out_field(
        "a new file with the whole report: .md as Markdown, .html as one page to send"
    )
    quick: bool = asked(False, "skip TF-IDF and the search for weak slices", kw_only=True)
    meaning: bool = asked(
        False,
        "also look for weak slices among groups of similar meaning, by the model’s own vectors",
        kw_only=True,
    )
    near: bool = asked(
        False,
        "in each interval, draw near-duplicates together, as the doctor finds them",
        kw_only=True,
    )
    temperature: str = asked(
        "",
        "keep: write the fitted temperature into the model’s cloze.json, which scales "
        "its probabilities from then on. It is fitted on validation rows of the model’s "
        "run or, without one, on half of these texts. forget: remove it, and measure "
        "without it",
        choices=("", KEEP, FORGET),
        kw_only=True,
    )
    json: bool = json_field("print the figures as JSON on stdout")

    def outs(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.out, self.report) if path is not None)

    def answer(self, models: Models) -> Steps[Evaluation]:
        """Return what is found; the temperature that the model keeps may be another after it."""
        notes = list[str]()

        def keep(event: Event) -> Event:
            if isinstance(event, Noted):
                notes.append(str(event.sentence))
            return event

        found = yield from retold(self._measuring(), keep)
        return replace(found, notes=tuple(notes))

    def _measuring(self) -> Steps[Evaluation]:
        from engine.evaluation.meaning import groups_of_near
        from engine.evaluation.part import reporting
        from engine.evaluation.report import keep_fitted
        from engine.model.info import forget_temperature

        if self.temperature == FORGET:
            forget_temperature(self.folder)
        scored = yield from self.scoring()
        report = reporting(scored, self.folder, self.part)
        if self.near and len(scored.listed.texts):
            near = yield from groups_of_near(scored.listed.texts, scored.listed.pairs)
            report = replace(report, near=near)
        if self.temperature == KEEP:
            keep_fitted(report, self.folder, self.texts_name)
        baselines, slices, num_tried = list["Baseline"](), tuple["Slice", ...](), 0
        if report.is_of_classes:
            baselines = yield from self._baselines(scored)
            if not self.quick:
                slices, num_tried = yield from self._worse(report)
        if self._has_chosen(report):
            yield Noted(sentence=Sentence(NOT_TESTED))
        return Evaluation(report, baselines, slices, num_tried)

    def _baselines(self, scored: ScoredTable) -> Steps[list[Baseline]]:
        from engine.evaluation.baselines import can_count_words, counting_words, one_label

        found = list(one_label(scored, self.model.folder))
        if not self.quick and can_count_words(scored, self.model.folder):
            found.append((yield from counting_words(scored, self.model.folder, self.part)))
        return found

    def _worse(self, report: ScoreReport) -> Steps[tuple[tuple[Slice, ...], int]]:
        """Return slices that are worse than the rest, and how many were tried."""
        from engine.evaluation.slices import LANGUAGE, MEANING, finding_worse, languages

        scored, listed = report.scored, report.scored.listed
        columns = {LANGUAGE: (yield from languages(listed.texts))}
        if self.meaning:
            from engine.evaluation.meaning import groups_by_meaning

            columns[MEANING] = yield from groups_by_meaning(self.folder, listed)
        columns = {name: values for name, values in columns.items() if values}
        right, sizes = scored.each.right > 0.5, listed.sizes()
        return (yield from finding_worse(listed.texts, listed.pairs, right, sizes, columns, report.groups))

    def _has_chosen(self, report: ScoreReport) -> bool:
        """Whether texts have chosen the temperature that is kept, so that they do not test it."""
        warmth = report.temperature if self.temperature == KEEP and report.is_of_classes else None
        return report.has_chosen or (warmth is not None and not warmth.fitted_on)

    def write(self, found: Evaluation, out: Path) -> None:
        from engine.durable import write_text
        from engine.evaluation.markdown import report_markdown
        from engine.train.run.kept import name_of

        if out == self.out:
            write_rows(out, found.report.scored)
        if out == self.report:
            texts = self.texts_said
            name, told = name_of(self.model.folder), (found.baselines, found.slices, found.num_tried)
            if out.suffix.lower() == ".html":
                write_text(out, self._page(found))
            else:
                write_text(out, report_markdown(found.report, name, texts, *told))

    def _page(self, found: Evaluation) -> str:
        """Return all of it as one HTML page. Raises: ModelError."""
        from engine.events import result_of
        from engine.report.about import model_facts, versions
        from engine.report.html import html_of
        from engine.report.run import Reported, report_page
        from engine.report.scored import scored_of
        from engine.train.run.kept import name_of

        texts = self.texts_said
        told = found.baselines, found.slices, found.num_tried
        scored = result_of(scored_of(found.report, texts, *told))
        facts = (*result_of(model_facts(self.folder)), *versions())
        again = ((spoken(marked("engine", "Measure it again")), self.command()),)
        name = name_of(self.model.folder)
        return html_of(report_page(Reported(name, facts, (scored,), commands=again, notes=found.notes)))

    def document(self, found: Evaluation) -> Any:
        plain = scores_document(found.report.scored.evaluated, found.notes)
        return plain | report_document(found.report, found.baselines, found.slices, found.num_tried)

    def lines(self, found: Evaluation) -> Iterator[str]:
        yield "\n".join(score_lines(found.report.scored.evaluated))
        yield "\n".join(report_lines(found.report, found.baselines, found.slices, found.num_tried))
