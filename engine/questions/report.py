"""What a model or a run came to, as one HTML page that can be sent to anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import Sentence, UserError, marked
from engine.events import Steps
from engine.language import said, spoken
from engine.model.model_name import ModelName
from engine.questions.evaluate import EvaluationQuestion
from engine.questions.flags import Flag
from engine.questions.labelled import LabelledQuestion, LabelledTexts
from engine.questions.question import Models, asked

if TYPE_CHECKING:
    from engine.report.run import Reported
    from engine.report.scored import Scored

NO_EVALUATION = marked(
    "engine",
    "No evaluation is kept with {name}: it was not fine-tuned here, or held out no rows. To measure it, name "
    "a labelled file with --data.",
)
MEASURE = marked("engine", "Measure it on the {texts}")
NO_RESULT = marked(
    "engine", "{path} is no run with a result, and no model folder, so there is nothing to report."
)


@dataclass(frozen=True)
class ReportQuestion(
    LabelledQuestion["Reported"], command="report", help="write a run or a model as one HTML page to send"
):
    """The rows that a run held out are reported, where no file is named; without an evaluation, the model."""

    model: ModelName = asked(help="a run, or a model folder")
    html: Path | None = asked(
        None,
        "the HTML file to write, which opens in any browser and loads nothing",
        flag=Flag("FILE", is_needed=True),
        compare=False,
        kw_only=True,
    )
    quick: bool = asked(False, "skip TF-IDF and the search for weak slices", kw_only=True)
    with_texts: bool = asked(
        False, "also list the misclassified texts, word for word: they may be private", kw_only=True
    )

    def outs(self) -> tuple[Path, ...]:
        return () if self.html is None else (self.html,)

    def check(self) -> None:
        if self.data and self.part:
            raise UserError(marked("engine", "Give either --data, a file, or --part, of a run’s own rows."))

    def answer(self, models: Models) -> Steps[Reported]:
        """Return what is known of the model and its run. Raises: UserError."""
        from engine.report.about import is_model, model_facts, versions
        from engine.report.run import Reported, reading_curves, run_folder
        from engine.report.scored import scored_of
        from engine.runs.facts import read_facts

        run_dir, named = run_folder(self.model.folder), self.model.folder
        folder = self.folder if is_model(self.folder) else (run_dir / "model" if run_dir else named)
        if not is_model(folder) and run_dir is None:
            raise UserError(NO_RESULT, path=named)
        facts = () if not is_model(folder) else (yield from model_facts(folder))
        scored, notes = list["Scored"](), list[str]()
        for question in self._questions() if is_model(folder) else ():
            found = yield from question.answer(models)
            texts = question.texts_said
            told = found.baselines, found.slices, found.num_tried
            scored.append((yield from scored_of(found.report, texts, *told)))
            notes += [note for note in found.notes if note not in notes]
        run = None if run_dir is None else read_facts(run_dir, run_dir.parent)
        curves = None if run_dir is None else (yield from reading_curves(run_dir))
        return Reported(
            title=_title(named),
            model=(*facts, *versions()),
            scored=scored,
            run=run,
            curves=curves,
            commands=tuple(self._commands()),
            lacking="" if scored else str(Sentence(NO_EVALUATION, {"name": _title(named)})),
            notes=notes,
            with_texts=self.with_texts,
        )

    def _questions(self) -> Iterator[EvaluationQuestion]:
        """Yield what is asked: of the file that is named, else of each part that the run held out."""
        from engine.evaluation.part import parts_of

        named = LabelledTexts.named(self)
        parts = [self.part] if self.part else []
        if not self.data and not parts and self.run is not None:
            parts = sorted(parts_of(self.run), key=lambda part: part != "test")
        for part in ["", *parts] if self.data else parts:
            yield EvaluationQuestion(
                self.model, **{**named, "part": part}, device=self.device, quick=self.quick
            )

    def _commands(self) -> Iterator[tuple[str, str]]:
        for question in self._questions():
            yield said(MEASURE, texts=question.texts_said), question.command()
        yield spoken(marked("engine", "Write this page again")), self.command()

    def write(self, found: Reported, out: Path) -> None:
        from engine.durable import write_text
        from engine.report.html import html_of
        from engine.report.run import report_page

        write_text(out, html_of(report_page(found)))

    def lines(self, found: Reported) -> Iterator[str]:
        for one in found.scored:
            yield one.sentence
        if not found.scored:
            from engine.report.run import sentence_of

            yield sentence_of(found)


def _title(folder: Path) -> str:
    """Return what a model or a run is called."""
    from engine.train.run.kept import name_of

    return name_of(folder)
