"""The right side of the Fine-tune page: loss and the task's metric, its scores, and the advice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.look.labels import tip
from app.look.widgets import GAP, Card
from app.pages.advice.remark import AdviceLine
from app.pages.finetune.advice import FineTuneAdvice
from app.pages.finetune.ways import WaysCard
from app.pages.run.charts import RunCharts
from app.pages.tasks.known import CLASSIFICATION, views_of
from app.pages.tasks.scores import TaskScores
from app.pages.tasks.views import TaskViews
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.curve import CurvePlot
from app.words import captioned, decimal, interval_help, number, score
from engine.events import Evaluated, Event, Judged, Started, Step
from engine.train.ways.names import AUTO, FINE_TUNED

NARROW, WIDE = 560, 1080  # px; below, the cards stand in one column; above, in three
MOST_CARDS = 5  # under each other
Placed = Sequence[Sequence[tuple[Card, int]]]  # rows of cards, each with its share of the width
LOW_CARD, LOW_PLOT = 228, 120  # px; heights below which a card and its plot say nothing


class FineTuneCharts(RunCharts):
    """Loss, metric, scores and advice; two columns where there is room, one where there is not.

    texts_wanted: of a split, those that a `Filter` says.
    """

    texts_wanted = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.advice = FineTuneAdvice()
        super().__init__(self.advice, self.tr("Try it"), parent)
        self.watching.result.setToolTip(tip(interval_help()))
        self._column = QVBoxLayout(self.inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP)
        self._rows = [QHBoxLayout() for _ in range(MOST_CARDS)]
        for row in self._rows:
            row.setSpacing(GAP)
            self._column.addLayout(row)
        self._controls: list[QWidget] = []  # of the curves; nothing to control while they are empty
        self.loss = CurvePlot(self.tr("Loss"), kind="loss", names=(self.tr("train"), self.tr("validation")))
        self.accuracy = CurvePlot(
            self.tr("Accuracy"), kind="accuracy", names=(self.tr("train"), self.tr("validation"))
        )
        self.loss_card = self._plot_card(self.tr("Loss"), self.loss, "loss_plot")
        self.accuracy_card = self._plot_card(self.tr("Accuracy"), self.accuracy, "accuracy_plot")
        self.views: TaskViews = CLASSIFICATION
        self._metric = CLASSIFICATION.main_metric
        self._scores: dict[str, TaskScores] = {}  # by task, made when first needed
        self.ways = WaysCard(self.inner)
        self._way, self._has_curves, self._has_scores = FINE_TUNED, True, True
        self.scores_card = self._scores_of(CLASSIFICATION)
        self._width = NARROW
        self._arranged: tuple[object, ...] = ()
        self._is_over = False
        self.arrange(NARROW)
        self.clear()

    def _scores_of(self, views: TaskViews) -> TaskScores:
        if views.name not in self._scores:
            card = self._scores[views.name] = views.scores()
            card.setObjectName("scores_card")
            card.setMinimumHeight(LOW_CARD)
            card.texts_wanted.connect(self.texts_wanted)
        return self._scores[views.name]

    def set_task(self, name: str, metric: str = "") -> None:
        """Show the metric and the scores of a task. Args: metric: "" for its usual one."""
        views = views_of(name)
        metric = metric or views.main_metric
        if views is self.views and metric == self._metric:
            return
        self._metric = metric
        self.views = views
        self.scores_card.hide()
        self.scores_card = self._scores_of(views)
        self.scores_card.show()
        self.accuracy_card.set_title(views.metric_title(metric))
        self.accuracy.set_title(views.metric_title(metric))
        self.accuracy.set_lowest(views.lowest)
        self.accuracy.set_empty_text(views.curve_words())
        self.arrange(self._width)

    def set_way(self, way: str, ways: Sequence[str] = ()) -> None:
        """Make room for what a run of this way shows. Args: ways: that it is going to judge, before it."""
        self._way = way
        self._has_curves, self._has_scores = way == FINE_TUNED, way != AUTO
        if self.ways.judged is None or ways:
            self.ways.show_plan(ways)
        self.arrange(self._width)

    def clear(self) -> None:
        """Empty everything for a new run."""
        self.loss.clear()
        self.accuracy.clear()
        self._is_over = False
        self.ways.show_plan(())
        self.scores_card.clear()
        self.scores_card.set_door(False)
        self.loss.set_empty_text(self.tr("The loss of every step appears here once training has begun."))
        self.accuracy.set_empty_text(self.views.curve_words())
        self.loss_card.set_hint("")
        self.accuracy_card.set_hint("")
        for controls in self._controls:
            controls.hide()
        super().clear()

    def show_before(self, remarks: Sequence[AdviceLine]) -> None:
        """Show what is known of the data before a run."""
        if self.advice.before != remarks:
            self.advice.before = remarks
            self.watching.refresh()

    def hear(self, events: Sequence[Event]) -> None:
        """Draw a list of a run's events."""
        for event in events:
            if isinstance(event, Started):
                self._has_curves = event.num_steps > 0
                self._has_scores = event.num_validation + event.num_test > 0 or self._way != AUTO
                self.set_task(event.task, event.metric)
                self.arrange(self._width)
            elif isinstance(event, Judged):
                self.ways.show_judged(event)
        steps = [event for event in events if isinstance(event, Step)]
        if steps:
            self._add_steps(steps)
            for controls in self._controls:
                controls.show()
        evaluations = [event for event in events if isinstance(event, Evaluated)]
        for event in evaluations:
            if event.split == "validation":
                self._add_evaluation(event)
        super().hear(events)
        if evaluations:
            self._show_scores()
        self._show_hints()

    def end(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Draw what is left, and say how the run ended."""
        self.loss.flush()
        self.accuracy.flush()
        super().end(outcome, run_dir, seconds, has_model=has_model)
        self._is_over = outcome != "running"
        self.ways.offer_others(self._is_over)
        self.scores_card.set_door(self._is_over and has_model)
        self._show_scores()
        self._show_hints()

    def _add_steps(self, steps: Sequence[Step]) -> None:
        numbers = np.array([step.step for step in steps], dtype=np.float64)
        sizes = np.array([max(1, step.num_tokens) for step in steps], dtype=np.float64)
        self.loss.append(numbers, np.array([step.loss for step in steps]), sizes)
        is_measured = np.array([step.accuracy is not None for step in steps])
        if is_measured.any():
            values = np.array([step.accuracy for step in steps if step.accuracy is not None])
            self.accuracy.append(numbers[is_measured], values, sizes[is_measured])

    def _add_evaluation(self, event: Evaluated) -> None:
        self.loss.append_validation(event.step, event.loss)
        if self._metric in event.metrics:
            self.accuracy.append_validation(event.step, event.metrics[self._metric])

    def _show_scores(self) -> None:
        """Show the model as it is measured now; once the run is over, the one that is kept."""
        advice, found, moments = self.advice, dict[str, Evaluated](), dict[str, str]()
        shown = advice.kept if self._is_over else advice.last
        if shown is not None:
            found["validation"] = shown
            moments["validation"] = self._moment(shown)
        if advice.test is not None:
            found["test"] = advice.test
            moments["test"] = self._moment(advice.test)
        self.scores_card.set_evaluations(found, moments)

    def _moment(self, event: Evaluated) -> str:
        """Return on which rows which weights were measured."""
        best, part = self.advice.best, self.advice.part_words(event.split)
        is_kept = self._is_over or event.split == "test"
        if not event.step:  # no step has changed them
            return part
        said = self.tr("{rows}, after step {step}")
        if is_kept and best is not None and best.step == event.step:
            said = self.tr("{rows}, best step {step}")
        return said.format(rows=part, step=number(event.step))

    def _show_hints(self) -> None:
        train, validation = self.loss.last_train, self.loss.last_validation
        shown = self.advice.kept if self._is_over else self.advice.last
        parts = []
        if self._is_over and shown is not None:
            parts.append(captioned(self._moment(shown), decimal(shown.loss)))
            if self.advice.test is not None:
                parts.append(self.tr("test {loss}").format(loss=decimal(self.advice.test.loss)))
        else:
            if train is not None:
                parts.append(self.tr("train {loss}").format(loss=decimal(train)))
            if validation is not None:
                parts.append(self.tr("validation {loss}").format(loss=decimal(validation)))
        self.loss_card.set_hint("   ".join(parts))
        if shown is not None and self._metric in shown.metrics:
            said = self.tr("{moment}: {accuracy}")
            accuracy = score(shown.metrics[self._metric])
            self.accuracy_card.set_hint(said.format(accuracy=accuracy, moment=self._moment(shown)))

    def _plot_card(self, title: str, plot: CurvePlot, name: str) -> Card:
        card = Card(title)
        plot.setObjectName(name)
        yield_to_layout(plot, LOW_PLOT)
        card.add_corner(save_icon(plot))
        card.add(plot, 1)
        controls = plot.controls()
        controls.hide()
        self._controls.append(controls)
        card.add(controls)
        card.setMinimumHeight(LOW_CARD)
        return card

    def arrange(self, width: int) -> None:
        columns = 1 if width < NARROW else 2 if width < WIDE else 3
        self._width, has_ways = width, self._way == AUTO
        arranged = (columns, has_ways, self._has_curves, self._has_scores, self.scores_card)
        if arranged == self._arranged:
            return
        self._arranged = arranged
        rows, heights = self._all_cards(columns)
        if has_ways or not self._has_curves:
            rows, heights = self._fewer_cards(columns)
        for row in self._rows:
            for card in (
                self.ways,
                self.loss_card,
                self.accuracy_card,
                self.watching,
                *self._scores.values(),
            ):
                row.removeWidget(card)
        for place, row in enumerate(self._rows):
            for card, stretch in rows[place] if place < len(rows) else ():
                row.addWidget(card, stretch)
            self._column.setStretch(place, heights[place])
        # only now that all have a parent: a card without one would be a window of its own
        for card in (self.loss_card, self.accuracy_card):
            card.setVisible(self._has_curves)
        self.scores_card.setVisible(self._has_scores)
        self.ways.setVisible(has_ways)

    def _all_cards(self, columns: int) -> tuple[Placed, Sequence[int]]:
        """Return the rows of cards of a run that steps, and how high each is beside the others."""
        loss, accuracy, scores = self.loss_card, self.accuracy_card, self.scores_card
        rows: Placed = {
            1: (((loss, 1),), ((self.watching, 1),), ((accuracy, 1),), ((scores, 1),)),
            2: (((loss, 1), (accuracy, 1)), ((scores, 3), (self.watching, 2))),
            3: (((loss, 1), (accuracy, 1), (self.watching, 1)), ((scores, 1),)),
        }[columns]
        return rows, {1: (1, 1, 1, 1, 1), 2: (11, 10, 0, 0, 0), 3: (4, 5, 0, 0, 0)}[columns]

    def _fewer_cards(self, columns: int) -> tuple[Placed, Sequence[int]]:
        """Return those of a run that compares ways first, or whose head is fitted without a step."""
        curves = [(self.loss_card, 1), (self.accuracy_card, 1)] if self._has_curves else []
        cards: list[tuple[Card, int]] = [(self.ways, 3)] if self._way == AUTO else []
        cards += [*curves, *([(self.scores_card, 3)] if self._has_scores else [])]
        if columns == 1:
            found: list[list[tuple[Card, int]]] = [
                cards[:1],
                [(self.watching, 1)],
                *([one] for one in cards[1:]),
            ]
        else:
            found = [[*cards[:1], (self.watching, 2)], *([cards[1:]] if cards[1:] else [])]
        return found, (1,) * len(found) + (0,) * (MOST_CARDS - len(found))
