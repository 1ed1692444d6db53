"""The right side of the Pretrain page while a model learns: tiles, one curve drawn large, pins and advice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app.look.layout import STRETCH, row
from app.look.widgets import GAP, Card
from app.pages.pretrain.advice import PretrainAdvice
from app.pages.pretrain.metrics import Metric, make_metrics
from app.pages.pretrain.pins import PinnedCard
from app.pages.run.charts import RunCharts
from app.plots.buttons import controls_icon, save_icon, yield_to_layout
from app.plots.curve import CurvePlot
from app.plots.lines import LinesPlot
from app.plots.readings import split_gap
from app.plots.tile import Tile
from app.words import probability, shorten
from engine.events import Evaluated, Event, Pinned, Progress, Step

TICK_MS = 250  # numbers are told four times a second, whatever the pace of the steps
CURVE_TICKS = 4  # of these, after which the small curves are drawn again
YOUNG = 30  # steps that are all news
NARROW = 600  # px; below, the cards stand in one column
LEAST_TILE = 84
TILE_GAP = 8
LOW_CARD, LOW_PINNED, LOW_PLOT = 214, 330, 110
SCALE = 1000


class PretrainCharts(RunCharts):
    """Tiles above; the chosen curve beside the advice; the pinned sentences below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.advice = PretrainAdvice()
        super().__init__(self.advice, self.tr("Fine-tune it"), parent)
        self.metrics = make_metrics()
        self.right_words = LinesPlot(self.tr("Probability of the right word"))
        self.right_words.setObjectName("right_words_plot")
        self.right_tile = Tile(
            "tile_right_words",
            self.tr("Pinned"),
            self.tr("The mean probability of the right words of the pinned sentences."),
        )
        self.curve_card = self._curve_card()
        self.pinned = PinnedCard()
        self.pinned.setMinimumHeight(LOW_PINNED)
        self._newest: Step | None = None
        self._num_steps = self._ticks = 0
        self._tick = QTimer(self, singleShot=True, interval=TICK_MS)
        self._tick.timeout.connect(self._told)
        self._shape: tuple[bool, int] | None = None
        self._absent: set[str] = set()  # tiles that have nothing to say in this run
        self._lay_out()
        self.clear()

    @property
    def tiles(self) -> list[Tile]:
        return [*(metric.tile for metric in self.metrics), self.right_tile]

    def measure(self, key: str) -> Metric:
        """Return one of what is measured: "loss", "accuracy", ..."""
        return next(metric for metric in self.metrics if metric.key == key)

    def clear(self) -> None:
        """Empty everything for a new run."""
        for metric in self.metrics:
            metric.clear()
            metric.plot.set_empty_text(self.tr("A curve appears here once training has begun."))
        self.right_words.clear()
        self.right_words.set_empty_text(
            self.tr("The probability of each right word appears here during training.")
        )
        self.right_tile.show_value("–")
        self.right_tile.show_curve(np.zeros(0))
        self._newest, self._num_steps, self._ticks = None, 0, 0
        self._means: list[float] = []
        self.pinned.clear()
        super().clear()
        self._show_tiles({"memory"})
        self.choose("loss")

    def hear(self, events: Sequence[Event]) -> None:
        """Draw a list of a run's events."""
        steps = [event for event in events if isinstance(event, Step)]
        if steps:
            self._add_steps(steps)
        for event in events:
            if isinstance(event, Evaluated):
                for metric in self.metrics:
                    metric.add_evaluation(event)
            elif isinstance(event, Pinned):
                self._add_readings(event)
        super().hear(events)
        if self.advice.has_nan or not all(isinstance(event, Step | Progress) for event in events):
            self._show_hint()

    def end(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Draw what is left, and say how the run ended."""
        self._tick.stop()
        self._ticks = 0
        self._told()
        self._all_plots()[self._plots.currentIndex()].flush()  # the others when they are chosen
        super().end(outcome, run_dir, seconds, has_model=has_model)

    def _add_steps(self, steps: Sequence[Step]) -> None:
        for metric in self.metrics:
            metric.add(steps)
        self._show_tiles({key for key in ("memory", "pairs") if not self.measure(key).has_points})
        self._newest = steps[-1]
        self._num_steps += len(steps)
        self._soon()

    def _soon(self) -> None:
        if not self._tick.isActive():
            self._tick.start()

    def _add_readings(self, event: Pinned) -> None:
        self.pinned.hear(event)
        if event.is_question:
            return
        known = {r.sentence: r.probability for r in event.readings if r.probability is not None}
        said = {r.sentence: shorten(r.right or split_gap(r.sentence)[1], 16) for r in event.readings}
        if known:
            self.right_words.append(event.step, known, said)
            self._means.append(sum(known.values()) / len(known))
            self.right_tile.show_value(probability(self._means[-1]))

    def _told(self) -> None:
        """Show the newest numbers; the small curves now and then."""
        if not self.isVisible():
            return  # shown when the page is
        if self._newest is None:
            return
        with_curves = self._ticks % CURVE_TICKS == 0 or self._num_steps <= YOUNG
        self._ticks += 1
        for metric in self.metrics:
            metric.show_tile(with_curve=with_curves)
        if with_curves:
            self.right_tile.show_curve(np.array(self._means))
        self._show_hint()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ticks = 0
        self._told()

    def choose(self, key: str) -> None:
        """Draw one of the numbers large: "loss", "accuracy", ..., "right_words"."""
        tile = next(tile for tile in self.tiles if tile.objectName() == f"tile_{key}")
        tile.setChecked(True)
        self._show_chosen()

    def _curve_card(self) -> Card:
        card = Card()
        card.setMinimumHeight(LOW_CARD)
        self._group = QButtonGroup(self)
        self._plots, self._corners = QStackedWidget(), QStackedWidget()
        self._corners.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
        for tile, plot in zip(self.tiles, self._all_plots(), strict=True):
            self._group.addButton(tile)
            yield_to_layout(plot, LOW_PLOT)
            self._plots.addWidget(plot)
            corner = QWidget()
            controls = [controls_icon(plot)] if isinstance(plot, CurvePlot) else []
            row(STRETCH, *controls, save_icon(plot), gap=2, parent=corner)
            self._corners.addWidget(corner)
        self._group.buttonToggled.connect(self._toggled)
        card.add_corner(self._corners)
        card.add(self._plots, 1)
        return card

    def _all_plots(self) -> list[CurvePlot | LinesPlot]:
        return [*(metric.plot for metric in self.metrics), self.right_words]

    def _toggled(self) -> None:
        self._show_chosen()

    def _show_chosen(self) -> None:
        place = next((i for i, tile in enumerate(self.tiles) if tile.isChecked()), 0)
        for stack in (self._plots, self._corners):
            stack.setCurrentIndex(place)
        self.curve_card.set_title(self._all_plots()[place].title)
        self._show_hint()

    def _show_hint(self) -> None:
        place = self._plots.currentIndex()
        if place < len(self.metrics):
            self.curve_card.set_hint(self.metrics[place].hint())
        else:
            self.curve_card.set_hint("")

    def _lay_out(self) -> None:
        self._grid = QGridLayout(self.inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._strip = QWidget()
        self._tile_grid = QGridLayout(self._strip)
        self._tile_grid.setContentsMargins(0, 0, 0, 0)
        self._tile_grid.setSpacing(TILE_GAP)
        self.arrange(1000)

    def arrange(self, width: int) -> None:
        narrow = width < NARROW
        columns = max(1, (width + TILE_GAP) // (LEAST_TILE + TILE_GAP))
        if (narrow, columns) == self._shape:
            return
        self._shape = narrow, columns
        self._place_tiles()
        cards: tuple[QWidget, ...] = (self._strip, self.curve_card, self.watching, self.pinned)
        spots = ((0, 0, 1, 5), (1, 0, 1, 3), (1, 3, 1, 2), (2, 0, 1, 5))
        if narrow:
            spots = ((0, 0, 1, 5), (2, 0, 1, 5), (1, 0, 1, 5), (3, 0, 1, 5))  # the verdict before the fold
        for card, spot in zip(cards, spots, strict=True):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, *spot)
        for line, stretch in enumerate((0, 0, 1, 1) if narrow else (0, 1, 0, 0)):
            self._grid.setRowStretch(line, stretch)
        for column in range(5):
            self._grid.setColumnStretch(column, 1)

    def _show_tiles(self, absent: set[str]) -> None:
        """Leave out the tiles that have nothing to say."""
        if absent != self._absent:
            self._absent = absent
            self._place_tiles()

    def _place_tiles(self) -> None:
        """Put the tiles that say something in as few rows as there is room for, all of one width."""
        if self._shape is None:
            return
        for metric in self.metrics:
            metric.tile.setParent(self._strip)
            metric.tile.setVisible(metric.key not in self._absent)
        shown = [metric.tile for metric in self.metrics if metric.key not in self._absent]
        shown.append(self.right_tile)
        rows = -(-len(shown) // self._shape[1])
        columns = -(-len(shown) // rows)
        for tile in self.tiles:
            self._tile_grid.removeWidget(tile)
        for place, tile in enumerate(shown):
            self._tile_grid.addWidget(tile, place // columns, place % columns)
        for column in range(len(self.tiles)):
            self._tile_grid.setColumnStretch(column, 1 if column < columns else 0)
