"""The right side of the Fine-tune page: loss and accuracy, the confusion matrix, and what to watch.

It is fed lists of events, live from a run or read back from its files; it starts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from app.pages.finetune_watch import Outlook, Watch, accuracy_words, result_words
from app.pages.page_parts import save_icon, yield_to_layout
from app.pages.watching import WatchingCard
from app.plots.confusion import ConfusionPlot
from app.plots.curve import CurvePlot
from app.widgets import GAP, Card, label, set_role, tip
from app.words import decimal, duration, interval_help, number, scientific
from engine.events import Evaluated, Event, Step

NARROW = 560  # px; below, the cards stand in one column
LOW_CARD, LOW_PLOT = 228, 120  # px; heights below which a card and its plot say nothing


class Numbers(QWidget):
    """Four live numbers with a caption each, in fixed-width figures."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        self._values = {}
        for key, caption in (
            ("rate", self.tr("Tokens/s")),
            ("left", self.tr("Time left")),
            ("learning_rate", self.tr("Learning rate")),
            ("gradient", self.tr("Gradient")),
        ):
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addWidget(label(caption, "caption"))
            value = label("–", "mono")
            value.setObjectName(f"live_{key}")
            value.setAccessibleName(caption)
            column.addWidget(value)
            layout.addLayout(column, 1)
            self._values[key] = value

    def show_step(self, step: Step) -> None:
        """Show a step's numbers."""
        self._values["rate"].setText(number(step.tokens_per_s))
        self._values["left"].setText(duration(step.remaining_s))
        self._values["learning_rate"].setText(scientific(step.learning_rate, 2))
        self._values["gradient"].setText(decimal(step.gradient_norm, 2))


class LearningCard(WatchingCard):
    """Watches a model learn labels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.watch = Watch()
        super().__init__(self.watch, Numbers(), "", parent)
        self.onwards.setText(self.tr("Try it on a text"))
        self.result.setToolTip(tip(interval_help()))

    def result_words(self) -> str:
        return result_words(self.watch)


class Charts(QScrollArea):
    """Loss, accuracy, confusion and advice; two columns where there is room, one where there is not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        set_role(inner, "clear")
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._controls: list[QWidget] = []  # of the curves; nothing to control while they are empty
        self.loss = CurvePlot(self.tr("Loss"), kind="loss", names=(self.tr("train"), self.tr("validation")))
        self.accuracy = CurvePlot(
            self.tr("Accuracy"), kind="accuracy", names=(self.tr("train"), self.tr("validation"))
        )
        self.confusion = ConfusionPlot(self.tr("Confusion"))
        self.loss_card = self._plot_card(self.tr("Loss"), self.loss, "loss_plot")
        self.accuracy_card = self._plot_card(self.tr("Accuracy"), self.accuracy, "accuracy_plot")
        self.confusion_card = self._plot_card(self.tr("Confusion"), self.confusion, "confusion_plot")
        self.watching = LearningCard()
        self.confusion.cell_clicked.connect(self._cell_clicked)
        self._narrow: bool | None = None
        self.setWidget(inner)
        self._arrange(False)
        self.clear()

    def clear(self) -> None:
        """Empty everything for a new run."""
        self.loss.clear()
        self.accuracy.clear()
        self.confusion.clear()
        self.loss.set_empty_text(self.tr("The loss of every step appears here once training has begun."))
        self.accuracy.set_empty_text(
            self.tr("The share of right answers appears here, on training and validation rows.")
        )
        self.confusion.set_empty_text(self.tr("After each evaluation: which label was taken for which."))
        self.loss_card.set_hint("")
        self.accuracy_card.set_hint("")
        self.confusion_card.set_hint("")
        for controls in self._controls:
            controls.hide()
        self.watching.watch.start()
        self.watching.show_idle()

    def set_outlook(self, outlook: Outlook | None) -> None:
        """Give the advice what is known of the data before training."""
        self.watching.watch.outlook = outlook
        self.watching.refresh()

    def hear(self, events: Sequence[Event]) -> None:
        """Draw a list of a run's events."""
        steps = [event for event in events if isinstance(event, Step)]
        if steps:
            self._add_steps(steps)
            for controls in self._controls:
                controls.show()
        for event in events:
            if isinstance(event, Evaluated) and event.split == "validation":
                self._add_evaluation(event)
        self.watching.watch.hear(events)
        if any(not isinstance(event, Step) for event in events) or self.watching.watch.has_nan:
            self.watching.refresh()
        self._show_hints()

    def end(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Draw what is left, and say how the run ended."""
        self.loss.flush()
        self.accuracy.flush()
        self.watching.show_outcome(outcome, run_dir, seconds, has_model=has_model)

    def _add_steps(self, steps: Sequence[Step]) -> None:
        numbers = np.array([step.step for step in steps], dtype=np.float64)
        self.loss.append(numbers, np.array([step.loss for step in steps]))
        measured = [(step.step, step.accuracy) for step in steps if step.accuracy is not None]
        if measured:
            places, values = zip(*measured, strict=True)
            self.accuracy.append(np.array(places, dtype=np.float64), np.array(values))
        self.watching.show_step(steps[-1])

    def _add_evaluation(self, event: Evaluated) -> None:
        self.loss.append_validation(event.step, event.loss)
        if "accuracy" in event.metrics:
            self.accuracy.append_validation(event.step, event.metrics["accuracy"])
            text = self.tr("validation {accuracy}").format(accuracy=accuracy_words(event))
            self.accuracy_card.set_hint(text)
        if event.confusion is not None:
            self.confusion.set_confusion(event.labels, event.confusion)
            hint = self.tr("after step {step} · click a cell").format(step=number(event.step))
            self.confusion_card.set_hint(hint)

    def _show_hints(self) -> None:
        train, validation = self.loss.last_train, self.loss.last_validation
        parts = []
        if train is not None:
            parts.append(self.tr("train {loss}").format(loss=decimal(train)))
        if validation is not None:
            parts.append(self.tr("validation {loss}").format(loss=decimal(validation)))
        self.loss_card.set_hint("   ".join(parts))

    @Slot(int, int)
    def _cell_clicked(self, true: int, predicted: int) -> None:
        QToolTip.showText(
            QCursor.pos() + QPoint(8, 12), self.confusion.cell_words(true, predicted), self.confusion
        )

    def _plot_card(self, title: str, plot: CurvePlot | ConfusionPlot, name: str) -> Card:
        card = Card(title)
        plot.setObjectName(name)
        yield_to_layout(plot, LOW_PLOT)
        card.add_corner(save_icon(plot))
        card.add(plot, 1)
        if isinstance(plot, CurvePlot):
            controls = plot.controls()
            controls.hide()
            self._controls.append(controls)
            card.add(controls)
        card.setMinimumHeight(LOW_CARD)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(event.size().width() < NARROW)

    def _arrange(self, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        cards = (self.loss_card, self.accuracy_card, self.confusion_card, self.watching)
        places = ((0, 0), (1, 0), (3, 0), (2, 0)) if narrow else ((0, 0), (0, 1), (1, 0), (1, 1))
        for card, (row, column) in zip(cards, places, strict=True):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, row, column)
        for row, stretch in enumerate((1, 1, 1, 1) if narrow else (5, 4, 0, 0)):
            self._grid.setRowStretch(row, stretch)
        for column, stretch in enumerate((1, 0) if narrow else (1, 1)):
            self._grid.setColumnStretch(column, stretch)
