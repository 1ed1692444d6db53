"""How good several labels a row are: label by label with its threshold, and the curve of each."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app import words
from app.look.labels import label
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import set_role
from app.pages.tasks.classification.scores import WIDE, LabelView
from app.pages.tasks.multi_label.labels import SideBySide, ThresholdScores, curve_of
from app.pages.tasks.tile import ScoreTile
from app.pages.tasks.views import ROOM, TaskScores, split_buttons
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.plane import PlanePlot
from app.work.text_filter import LABEL, Filter
from engine.events import Evaluated
from engine.train.tasks.multi_label.details import set_details

LEAST_PICTURE = 110  # px


class MultiLabelScores(TaskScores):
    """The scores of one evaluation, or of the two of a run. A click on a label shows its curve."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._evaluations: dict[str, Evaluated] = {}
        self._moments: dict[str, str] = {}
        self._label = ""
        self.set_title(self.tr("Scores"))
        self.view_choice = FoldingButtons(
            "scores_view",
            self.tr("View"),
            (
                ("labels", self.tr("By label"), self.tr("Precision, recall, F1 and threshold of each label")),
                ("curve", self.tr("Curve"), self.tr("What each threshold of a label would give")),
            ),
            room=ROOM,
        )
        self.split_choice = split_buttons()
        self.micro, self.macro = ScoreTile("score_micro_f1"), ScoreTile("score_macro_f1")
        self.subset = ScoreTile("score_subset_accuracy")
        self.labels = LabelView(ThresholdScores())
        self.picture = self.curve = PlanePlot(self.tr("Precision and recall"))
        self.curve.setObjectName("precision_recall")
        self.curve.set_empty_text(self.tr("After each evaluation: precision and recall at each threshold."))
        self.remark = label("", "muted", wrap=True)
        self.remark.setObjectName("scores_remark")
        yield_to_layout(self.curve, LEAST_PICTURE)
        for widget in (self.view_choice, self.split_choice, save_icon(self.curve)):
            self.add_corner(widget)
        self._lay_out()
        self.view_choice.chosen.connect(self._show_view)
        self.split_choice.chosen.connect(self._show)
        self.labels.selectionModel().currentRowChanged.connect(self._choose_row)
        self.labels.row_wanted.connect(self._row_wanted)
        self.clear()

    def _lay_out(self) -> None:
        self._tiles = QWidget()
        set_role(self._tiles, "clear")
        tiles = QHBoxLayout(self._tiles)
        tiles.setContentsMargins(0, 0, 0, 0)
        tiles.setSpacing(16)
        for tile in (self.micro, self.macro, self.subset):
            tiles.addWidget(tile)
        tiles.addStretch(1)
        self.add(self._tiles)
        self.add(self.remark)
        self._views = QGridLayout()
        self._views.setSpacing(16)
        self._views.addWidget(self.labels, 0, 0)
        self._views.addWidget(self.curve, 0, 1)
        self.body.addLayout(self._views, 1)

    @property
    def current(self) -> Evaluated | None:
        """The evaluation that is shown."""
        if len(self._evaluations) > 1:
            return self._evaluations[self.split_choice.current]
        return next(iter(self._evaluations.values()), None)

    def set_evaluations(self, evaluations: Mapping[str, Evaluated], moments: Mapping[str, str]) -> None:
        self._evaluations, self._moments = dict(evaluations), dict(moments)
        has_both = len(self._evaluations) > 1
        if not has_both:
            self.split_choice.set_current("validation")
        self.split_choice.setVisible(has_both)
        self._show()

    @Slot()
    def _show(self) -> None:
        shown = self.current
        self._tiles.setVisible(shown is not None)
        self.remark.setVisible(shown is not None)
        scores = self.labels.scores
        if shown is None:
            scores.set_scores((), None)
        else:
            scores.set_scores(shown.labels, SideBySide.of(shown))
            self.labels.fit()
            self._show_tiles(shown)
            self.remark.setText(_threshold_words(shown))
            self.remark.setVisible(bool(self.remark.text()))
        self._show_curve()
        self._show_view()

    def _show_tiles(self, shown: Evaluated) -> None:
        moment, rows = (
            self._moments.get(shown.split, ""),
            set_details(shown.details, shown.labels).num_examples,
        )
        caption = self.tr("Micro F1, {moment}").format(moment=moment) if moment else self.tr("Micro F1")
        measured = words.counted(rows, self.tr("Measured on 1 row."), self.tr("Measured on {count} rows."))
        meaning = self.tr("F1 over all labels of all rows together.")
        self.micro.put(caption, words.score(shown.metrics.get("micro_f1")), f"{meaning} {measured}")
        self.macro.put(
            self.tr("Macro F1"),
            words.score(shown.metrics.get("macro_f1")),
            self.tr("The mean of the labels' F1: a rare label counts as much as a common one."),
        )
        self.subset.put(
            self.tr("All labels right"),
            words.score(shown.metrics.get("subset_accuracy")),
            self.tr("The share of rows whose labels are all right and none too many: {value}").format(
                value=words.with_interval(shown.metrics.get("subset_accuracy"), rows)
            ),
        )

    @Slot(QModelIndex)
    def _choose_row(self, index: QModelIndex) -> None:
        model = self.labels.scores
        assert isinstance(model, ThresholdScores)
        if index.isValid() and model.label_at(index.row()):
            self.choose(model.label_at(index.row()))

    def set_door(self, is_door: bool) -> None:
        self.labels.set_door(is_door)

    @Slot(int)
    def _row_wanted(self, row: int) -> None:
        model, shown = self.labels.scores, self.current
        assert isinstance(model, ThresholdScores)
        if shown is not None and model.label_at(row):
            self.texts_wanted.emit(shown.split, Filter(LABEL, (model.label_at(row),)))

    def choose(self, name: str) -> None:
        """Show a label's curve."""
        self._label = name
        self._show_curve()

    def _show_curve(self) -> None:
        shown = self.current
        curves = set_details(shown.details, shown.labels).curves if shown is not None else {}
        name = self._label if self._label in curves else next(iter(curves), "")
        found = curve_of(shown, name) if shown is not None and name else None
        if shown is None or found is None:
            self.curve.clear()
            return
        points, said, special = found
        area = words.score(curves[name].average_precision)
        title = self.tr("{label}: average precision {area}").format(label=words.shorten(name, 24), area=area)
        self.curve.set_title(self.tr("Precision and recall of {label}").format(label=words.shorten(name, 40)))
        unit = (0.0, 1.0)
        names = (self.tr("Recall · {title}").format(title=title), self.tr("Precision"))
        self.curve.set_points(points, said, names, (unit, unit), is_joined=True, special=special)

    @Slot()
    def _show_view(self) -> None:
        shown, is_wide = self.current is not None, self.width() >= WIDE
        is_curve = self.view_choice.current == "curve" or not shown
        self.view_choice.setVisible(shown and not is_wide)
        self.curve.setVisible(is_wide or is_curve)
        self.labels.setVisible(shown and (is_wide or not is_curve))
        for column, stretch in enumerate((5, 4) if is_wide and shown else (0, 1) if is_curve else (1, 0)):
            self._views.setColumnStretch(column, stretch)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= WIDE) != (event.size().width() >= WIDE):
            self._show_view()


def _threshold_words(shown: Evaluated) -> str:
    """Return what thresholds do to the figures."""
    is_validation = shown.split == "validation"
    chosen = set_details(shown.details, shown.labels).chosen if is_validation else None
    if chosen is not None:
        text = words.translate(
            "MultiLabelScores",
            "Scored at 0.5. Thresholds chosen on half of these rows give {chosen} on the other half, 0.5 "
            "gives {usual}: {end}",
        )
        kept = words.translate("MultiLabelScores", "they will be kept.")
        not_kept = words.translate("MultiLabelScores", "0.5 stays.")
        values = {"chosen": words.score(chosen.micro_f1), "usual": words.score(chosen.micro_f1_at_half)}
        return text.format(**values, end=kept if chosen.helps else not_kept)
    if "micro_f1_at_half" in shown.metrics:
        text = words.translate(
            "MultiLabelScores", "With the thresholds of validation; at 0.5 micro F1 {usual}."
        )
        if is_validation:
            text = words.translate(
                "MultiLabelScores",
                "With the thresholds that half of these rows chose; at 0.5 micro F1 {usual}.",
            )
        return text.format(usual=words.score(shown.metrics["micro_f1_at_half"]))
    return ""
