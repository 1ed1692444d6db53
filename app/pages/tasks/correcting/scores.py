"""How well texts are corrected: SIGHAN’s scores with their intervals, and the texts that are not.

All of it is in an evaluation's details, so it is the same live, and from the files of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import label, tip
from app.look.layout import stacked
from app.look.widgets import button, named
from app.pages.tasks.listing import CellTable, RowsList
from app.pages.tasks.scores import TaskScores
from app.plots.corrected_words import CorrectedWordsPlot
from app.plots.tagged_words import PREDICTED, TRUE, TaggedStretch, tagged_words
from app.work.text_filter import MARK
from engine.events import Evaluated
from engine.train.run.records import count_of
from engine.train.scored import ERROR
from engine.train.tasks.correcting.details import ERRORS, WrongText, counts_in, interval_in, texts_in

LEVELS = ("correction", "detection", "place_correction", "place_detection")
FIGURES = ("f1", "precision", "recall")
LISTED = (  # of all scores
    *(f"correction_{name}" for name in FIGURES),
    *(f"detection_{name}" for name in FIGURES),
    *("false_positive_rate", "sentence_accuracy", "unchanged_accuracy"),
    *(f"place_correction_{name}" for name in FIGURES),
    *(f"place_detection_{name}" for name in FIGURES),
)


def kind_words(kind: str) -> str:
    """Return a kind of error in words."""
    return {
        "missed": words.translate("CorrectionScores", "Missed"),
        "other": words.translate("CorrectionScores", "Miscorrected"),
        "needless": words.translate("CorrectionScores", "Overcorrected"),
    }.get(kind, kind)


class CorrectionScores(TaskScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test texts."""

    name, turns_to_test = "correction_scores", True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self.set_title(self.tr("Scores"))
        self._rows: list[WrongText] = []
        self.words = named(
            CorrectedWordsPlot(self.tr("A text with its errors"), most_lines=2), "mistaken_words"
        )
        self.words.set_empty_text(self.tr("Texts with their errors after each evaluation."))
        self.add_choices(
            self.words,
            (
                ("scores", self.tr("Scores"), self.tr("All scores with their 95 % intervals")),
                (
                    "texts",
                    self.tr("Texts"),
                    self.tr("Texts with errors: above a place what is right, below what the model says"),
                ),
            ),
        )
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # as high as its lines
        self.figures = label("", wrap=True, name="correction_figures")
        self.figures.setToolTip(tip(self._rule()))
        self.baseline = label("", "muted", wrap=True, name="correction_baseline")
        self.links = {kind: button("", "link", name=f"correction_{kind}") for kind in ERRORS}
        self.add_told(self.figures, self.baseline)
        self.add_links(*self.links.values())
        for kind, link in self.links.items():
            link.clicked.connect(partial(self._want, kind))
        self.listed = CellTable("correction_listed", self.tr("All scores"), is_dense=True)
        view = CellTable("mistaken_texts", self.tr("Texts that are not corrected rightly"))
        for table in (view, self.listed):  # which take what the words leave
            table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
            table.setMinimumHeight(84)
        self.texts = RowsList(view, self.words)
        self.texts.row_chosen.connect(self._draw)
        self._views = {"scores": self.listed, "texts": self.texts}
        self._stack = stacked(*self._views.values())
        self.add(self._stack, 1)
        self.clear()

    def _rule(self) -> str:
        return self.tr(
            "As SIGHAN 2015 counts: a text is detected if just its wrong places are changed, and "
            "corrected if each also gets its right piece. Precision is of all texts with a change."
        )

    def split_words(self) -> tuple[str, str, str]:
        return (
            self.tr("Texts"),
            self.tr("Validation texts, also used to pick the checkpoint"),
            self.tr("Test texts, measured once at the end"),
        )

    def stand_beside_texts(self) -> None:
        self.open_view("scores")

    def _want(self, kind: str, _checked: bool = False) -> None:
        self.want_texts(MARK, ERROR, kind)

    @property
    def _details(self) -> Mapping[str, Any]:
        return self.current.details if self.current is not None else {}

    def show_evaluation(self, shown: Evaluated | None) -> None:
        self.set_hint(self.moment)
        if shown is not None:
            self.figures.setText(self._figures_of(shown))
            self.baseline.setText(self._baseline_of(shown))
            counts = counts_in(shown.details)
            for kind, link in self.links.items():
                link.setText(words.captioned(kind_words(kind), words.number(counts.get(kind, 0))))
                link.setEnabled(kind in counts)
        self._list_scores(shown)
        self._rows = [] if shown is None else texts_in(shown.details)
        names = (self.tr("Line"), self.tr("Text"), self.tr("Error"))
        self.texts.set_rows(names, len(self._rows), self._cell, wide=(1,), numbers=(0,))

    def show_view(self, key: str) -> None:
        is_texts = key == "texts" or self.current is None
        self._stack.setCurrentWidget(self._views["texts" if is_texts else "scores"])
        self.texts.view.setVisible(self.current is not None)
        self.save_button.setVisible(is_texts)

    def _figures_of(self, event: Evaluated) -> str:
        text = self.tr("Correction F1 {correction} · false positives {rate}")
        return text.format(
            correction=self._with(event, "correction_f1"), rate=self._with(event, "false_positive_rate")
        )

    def _baseline_of(self, event: Evaluated) -> str:
        total, wrong = (count_of(event.details, name) for name in ("num_examples", "num_wrong"))
        text = self.tr(
            "{texts} texts, {wrong} with an error. Right after correction: {right}. Changing nothing: "
            "{unchanged}, with F1 0."
        )
        return text.format(
            texts=words.number(total),
            wrong=words.number(wrong),
            right=words.share(event.metrics.get("sentence_accuracy")),
            unchanged=words.share(event.metrics.get("unchanged_accuracy")),
        )

    def _with(self, event: Evaluated, metric: str) -> str:
        """Return a metric with its interval."""
        value, between = words.share(event.metrics.get(metric)), self._between(event, metric)
        return self.tr("{value} ({between})").format(value=value, between=between) if between else value

    def _between(self, event: Evaluated, metric: str) -> str:
        """Return the interval of a metric; "" where it has none."""
        ends = interval_in(event.details, metric)
        if ends is None:
            return ""
        low, high = (words.decimal(100 * end, 1) for end in ends)
        return self.tr("{low} to {high}").format(low=low, high=high)

    def _list_scores(self, event: Evaluated | None) -> None:
        measures = (self.tr("F1"), self.tr("precision"), self.tr("recall"))
        levels = (
            self.tr("Correction, {measure}"),
            self.tr("Detection, {measure}"),
            self.tr("Correction by place, {measure}"),
            self.tr("Detection by place, {measure}"),
        )
        said = {
            f"{level}_{figure}": text.format(measure=measure)
            for level, text in zip(LEVELS, levels, strict=True)
            for figure, measure in zip(FIGURES, measures, strict=True)
        }
        said["false_positive_rate"] = self.tr("False positive rate")
        said["sentence_accuracy"] = self.tr("Texts right after correction")
        said["unchanged_accuracy"] = self.tr("Texts right when nothing is changed")

        def cell(row: int, place: int) -> str:
            assert event is not None
            metric = LISTED[row]
            if place:
                return self._between(event, metric) if place == 2 else words.share(event.metrics.get(metric))
            return said[metric]

        names = (self.tr("Score"), self.tr("Value"), self.tr("95 % interval"))
        self.listed.set_rows(names, 0 if event is None else len(LISTED), cell, numbers=(1, 2))

    def _cell(self, row: int, place: int) -> str:
        one = self._rows[row]
        if place == 0:
            return words.number(one.line) if one.line else str(row + 1)
        if place == 1:
            return f"… {one.text} …" if one.is_part else one.text
        return words.listed(map(kind_words, one.kinds))

    def _draw(self, row: int) -> None:
        one = self._rows[row]
        right = [TaggedStretch(each.start, each.stop, each.right.strip()) for each in one.places]
        found = [TaggedStretch(each.start, each.stop, each.said.strip()) for each in one.places]
        self.words.set_text(tagged_words(one.text, right, found), (), (TRUE, PREDICTED))
        self.words.show_first()
