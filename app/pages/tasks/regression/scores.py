"""How near predicted numbers are: true against predicted, what is left over, and the correlations."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app import words
from app.look.widgets import button, named
from app.pages.tasks.scores import TaskScores
from app.pages.tasks.tile import ScoreTile
from app.plots.plane import PlanePlot
from app.work.text_filter import INSIDE, OFF, OUTSIDE, PLACE
from engine.events import Evaluated
from engine.train.tasks.regression.details import number_details, places_of_points


class RegressionScores(TaskScores):
    """The scores of one evaluation, or of the two of a run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Scores"))
        self.plane = named(PlanePlot(self.tr("True and predicted")), "true_predicted")
        self.plane.set_empty_text(self.tr("After each evaluation: true and predicted numbers."))
        self.add_choices(
            self.plane,
            (
                ("points", self.tr("Predicted"), self.tr("The prediction for each true number")),
                (
                    "errors",
                    self.tr("Errors"),
                    self.tr("How far each prediction is off, and in which direction"),
                ),
            ),
        )
        self.pearson, self.spearman = ScoreTile("score_pearson"), ScoreTile("score_spearman")
        self.r2, self.error = ScoreTile("score_r2"), ScoreTile("score_mae")
        self.add_tiles(self.pearson, self.spearman, self.r2, self.error, gap=10)
        self.half = button(self.tr("Middle half"), "link", name="score_half")
        self.tenth = button(self.tr("Outer tenth"), "link", name="score_tenth")
        self.half.clicked.connect(lambda: self._want_off(INSIDE, 2, 4))
        self.tenth.clicked.connect(lambda: self._want_off(OUTSIDE, 1, 5))
        self.add_links(self.half, self.tenth)
        self.add(self.plane, 1)
        self.plane.chosen.connect(self._point_chosen)
        self.clear()

    def set_door(self, is_door: bool) -> None:
        self.plane.is_door = is_door
        super().set_door(is_door)

    def _point_chosen(self, point: int) -> None:
        if self.current is None:
            return
        places = places_of_points(number_details(self.current.details).num_examples)
        if point < len(places):
            self.want_texts(PLACE, int(places[point]))

    def _want_off(self, side: str, low: int, high: int) -> None:
        """Ask for the rows that are off by what lies between two of the quantiles, or outside."""
        found = number_details(self.current.details).residuals if self.current is not None else []
        if found:
            self.want_texts(OFF, side, found[low], found[high])

    def show_evaluation(self, shown: Evaluated | None) -> None:
        if shown is not None:
            self._show_tiles(shown)
            self.remark.setText(self._error_words(shown))

    def show_view(self, key: str) -> None:
        if self.current is None:
            self.plane.clear()
            return
        points = np.array(number_details(self.current.details).points, float).reshape(-1, 2)
        if key == "errors":
            self._show_errors(points)
        else:
            self._show_points(points)

    def _show_tiles(self, shown: Evaluated) -> None:
        measured = self.measured_words(number_details(shown.details).num_examples)
        caption = self.with_moment(self.tr("Pearson"), self.tr("Pearson, {moment}"))
        meaning = self.tr("How closely predictions follow a straight line over the true numbers, −1 to 1.")
        about = f"{meaning} {measured} {words.interval_help()}"
        self.pearson.put(caption, correlation_words(shown, "pearson", is_short=True), about)
        self.spearman.put(
            self.tr("Spearman"),
            correlation_words(shown, "spearman", is_short=True),
            self.tr("The same for their ranks: whether larger numbers get larger predictions."),
        )
        self.r2.put(
            self.tr("R²"),
            words.decimal(shown.metrics.get("r2")),
            self.tr(
                "How much of the variance of the true numbers is predicted. 1 is all of it, 0 "
                "what always answering their mean reaches, and below 0 is worse than that."
            ),
        )
        self.error.put(
            self.tr("Mean error"),
            words.quantity(shown.metrics.get("mae"), _spread(shown)),
            self.tr("How far predictions are off on average, in either direction."),
        )

    def _said(self, points: np.ndarray) -> list[str]:
        template = self.tr("true {true}, predicted {predicted}")
        spread = float(np.ptp(points[:, 0])) if len(points) else 0.0
        return [
            template.format(
                true=words.quantity(true, spread, 3), predicted=words.quantity(predicted, spread, 3)
            )
            for true, predicted in points.tolist()
        ]

    def _show_points(self, points: np.ndarray) -> None:
        (left, right), (low, high) = _range(points[:, 0]), _range(points.ravel())
        said = self._said(points)
        self.plane.set_title(self.tr("True and predicted"))
        names = (self.tr("True"), self.tr("Predicted"))
        ranges = ((left, right), (low, high))
        self.plane.set_points(points, said, names, ranges, line=((left, left), (right, right)))

    def _show_errors(self, points: np.ndarray) -> None:
        errors = np.column_stack([points[:, 0], points[:, 1] - points[:, 0]])
        (left, right), most = _range(points[:, 0]), float(np.abs(errors[:, 1]).max(initial=0.0)) * 1.05 or 1.0
        said = self._said(points)
        self.plane.set_title(self.tr("Errors"))
        names = (self.tr("True"), self.tr("Predicted minus true"))
        ranges = ((left, right), (-most, most))
        self.plane.set_points(errors, said, names, ranges, line=((left, 0.0), (right, 0.0)))

    def _error_words(self, event: Evaluated) -> str:
        """Return between which errors half of the predictions lie."""
        found = number_details(event.details).residuals
        if not found:
            return ""
        text = self.tr(
            "Half of the predictions are between {low} and {high} off, nine in ten between {least} and "
            "{most}."
        )
        least, low, high, most = (words.quantity(found[place], _spread(event), 3) for place in (1, 2, 4, 5))
        return text.format(low=low, high=high, least=least, most=most)


def _spread(event: Evaluated) -> float:
    """Return the standard deviation of the true numbers, 0 where it is not known."""
    return next(iter(number_details(event.details).spreads), 0.0)


def correlation_words(event: Evaluated, name: str, *, is_short: bool = False) -> str:
    """Return a correlation with its 95 % interval, or that there is no spread.

    Args: is_short: leave out which interval it is.
    """
    details = number_details(event.details)
    if details.no_spread:
        return words.translate("RegressionScores", "no spread")
    value, interval = event.metrics.get(name), details.intervals.get(name)
    if value is None or not interval:
        return words.decimal(value)
    text = words.translate("RegressionScores", "{value} (95 %: {low} to {high})")
    if is_short:
        text = words.translate("RegressionScores", "{value} ({low} to {high})")
    low, high = (words.decimal(end) for end in interval)
    return text.format(value=words.decimal(value), low=low, high=high)


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return a little more than all values take."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room
