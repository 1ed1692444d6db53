"""How good several labels a row are: label by label with its threshold, and the curve of each."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QWidget

from app import words
from app.look.widgets import named
from app.pages.tasks.classification.scores import LabelView
from app.pages.tasks.multi_label.labels import SideBySide, ThresholdScores, curve_of
from app.pages.tasks.scores import LabelledScores
from app.pages.tasks.tile import ScoreTile
from app.plots.plane import PlanePlot
from app.work.text_filter import LABEL
from engine.events import Evaluated
from engine.train.tasks.multi_label.details import set_details


class MultiLabelScores(LabelledScores):
    """The scores of one evaluation, or of the two of a run. A click on a label shows its curve."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = ""
        self.set_title(self.tr("Scores"))
        self.labels = LabelView(ThresholdScores())
        self.curve = named(PlanePlot(self.tr("Precision and recall")), "precision_recall")
        self.curve.set_empty_text(self.tr("After each evaluation: precision and recall at each threshold."))
        self.add_choices(
            self.curve,
            (
                ("labels", self.tr("By label"), self.tr("Precision, recall, F1 and threshold of each label")),
                ("curve", self.tr("Curve"), self.tr("The effect of each threshold of a label")),
            ),
        )
        self.micro, self.macro = ScoreTile("score_micro_f1"), ScoreTile("score_macro_f1")
        self.subset = ScoreTile("score_subset_accuracy")
        self.add_tiles(self.micro, self.macro, self.subset, gap=16)
        self.add_views(self.labels, self.curve)
        self.labels.selectionModel().currentRowChanged.connect(self._choose_row)
        self.labels.row_wanted.connect(self._row_wanted)
        self.clear()

    def show_evaluation(self, shown: Evaluated | None) -> None:
        scores = self.labels.scores
        if shown is None:
            scores.set_scores((), None)
        else:
            scores.set_scores(shown.labels, SideBySide.of(shown))
            self.labels.fit()
            self._show_tiles(shown)
            self.remark.setText(self._threshold_words(shown))
            self.remark.setVisible(bool(self.remark.text()))
        self._show_curve()

    def _show_tiles(self, shown: Evaluated) -> None:
        rows = set_details(shown.details, shown.labels).num_examples
        caption = self.with_moment(self.tr("Micro F1"), self.tr("Micro F1, {moment}"))
        meaning = self.tr("F1 over all labels of all rows together.")
        measured = self.measured_words(rows)
        self.micro.put(
            caption, words.score(shown.metrics.get("micro_f1")), words.sentences([meaning, measured])
        )
        self.macro.put(
            self.tr("Macro F1"),
            words.score(shown.metrics.get("macro_f1")),
            self.tr("The mean of the labels’ F1: a rare label counts as much as a common one."),
        )
        self.subset.put(
            self.tr("All labels right"),
            words.score(shown.metrics.get("subset_accuracy")),
            self.tr("The share of rows with exactly the true labels: {value}").format(
                value=words.with_interval(shown.metrics.get("subset_accuracy"), rows)
            ),
        )

    def _choose_row(self, index: QModelIndex) -> None:
        model = self.labels.scores
        assert isinstance(model, ThresholdScores)
        if index.isValid() and model.label_at(index.row()):
            self.choose(model.label_at(index.row()))

    def set_door(self, is_door: bool) -> None:
        self.labels.set_door(is_door)

    def _row_wanted(self, row: int) -> None:
        model = self.labels.scores
        assert isinstance(model, ThresholdScores)
        if model.label_at(row):
            self.want_texts(LABEL, model.label_at(row))

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

    def _threshold_words(self, shown: Evaluated) -> str:
        """Return what thresholds do to the figures."""
        is_validation = shown.split == "validation"
        chosen = set_details(shown.details, shown.labels).chosen if is_validation else None
        if chosen is not None:
            text = self.tr(
                "Scored at 0.5. Thresholds chosen on half of these rows give {chosen} on the other half, 0.5 "
                "gives {usual}: {end}"
            )
            kept = self.tr("they will be kept.")
            not_kept = self.tr("0.5 stays.")
            values = {"chosen": words.score(chosen.micro_f1), "usual": words.score(chosen.micro_f1_at_half)}
            return text.format(**values, end=kept if chosen.helps else not_kept)
        if "micro_f1_at_half" in shown.metrics:
            text = self.tr("With the thresholds from validation. At 0.5, micro F1 is {usual}.")
            if is_validation:
                text = self.tr(
                    "With the thresholds chosen on half of these rows. At 0.5, micro F1 is {usual}."
                )
            return text.format(usual=words.score(shown.metrics["micro_f1_at_half"]))
        return ""
