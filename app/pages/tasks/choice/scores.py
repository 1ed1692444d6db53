"""How often the right ending was chosen: accuracy with its interval, and by where the right one stands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app import words
from app.look.columns import of
from app.look.rows_model import TableColumn
from app.look.widgets import named
from app.pages.tasks.classification.scores import ConfusionScores, LabelScores, LabelView
from app.pages.tasks.tile import ScoreTile
from app.plots.confusion import ConfusionPlot
from engine.events import Evaluated
from engine.train.metrics import ClassScores, scores_of


class PositionScores(LabelScores):
    """A row for each column of endings, in the order of these."""

    def make_columns(self) -> tuple[TableColumn, ...]:
        return (
            TableColumn(self.tr("Right ending in"), of("name"), longest=120, told=self._told),
            self.figure(
                self.tr("Accuracy"),
                "recall",
                self.tr("Of the rows with the right ending here, the share where it was chosen."),
            ),
            self.figure(self.tr("Rows"), "support", self.tr("Rows with the right ending here.")),
            self.figure(self.tr("Chosen"), "predicted", self.tr("Rows where the ending here was chosen.")),
        )

    def set_scores(self, names: Sequence[str], scores: ClassScores | None) -> None:
        places = range(len(names)) if scores is not None else ()
        self._labels = [self.row_of(names[place], place, scores) for place in places if scores is not None]
        self._means = []
        self.put(self.columns, self._ordered())


class EndingScores(ConfusionScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Scores"))
        self.confusion = named(ConfusionPlot(self.tr("Right and chosen endings")), "ending_confusion")
        self.confusion.set_empty_text(self.tr("Confusion matrix after each evaluation."))
        self.labels = LabelView(PositionScores())
        self.add_choices(
            self.confusion,
            (
                (
                    "confusion",
                    self.tr("Endings"),
                    self.tr("Confusion matrix: true endings against predicted ones"),
                ),
                (
                    "labels",
                    self.tr("By position"),
                    self.tr("How often it is right, by the place of the right ending"),
                ),
            ),
        )
        self.accuracy, self.loss = ScoreTile("score_accuracy"), ScoreTile("score_loss")
        self.chance, self.baseline = ScoreTile("score_chance"), ScoreTile("score_baseline")
        self.add_tiles(self.accuracy, self.loss, self.chance, self.baseline, gap=16)
        self.add_views(self.confusion, self.labels)
        self.make_doors()
        self.clear()

    def show_evaluation(self, shown: Evaluated | None) -> None:
        scores = scores_of(shown, shown.labels) if shown is not None else None
        self.show_labels(shown, scores)
        self.remark.hide()
        if shown is not None and scores is not None:
            self._show_tiles(shown, scores)

    def _show_tiles(self, shown: Evaluated, scores: ClassScores) -> None:
        rows, (most, majority) = int(scores.support.sum()), scores.majority
        caption = self.with_moment(self.tr("Accuracy"), self.tr("Accuracy, {moment}"))
        measured = words.sentences([words.closed(caption), self.measured_words(rows), words.interval_help()])
        self.accuracy.put(caption, words.with_interval(shown.metrics.get("accuracy", 0.0), rows), measured)
        self.loss.put(
            self.tr("Loss"), words.decimal(shown.loss), self.tr("The mean cross-entropy on these rows.")
        )
        self.chance.put(
            self.tr("By chance"),
            words.score(1 / len(shown.labels)),
            self.tr("The accuracy of choosing an ending at random."),
        )
        self.baseline.put(
            self.tr("Always “{name}”").format(name=words.shorten(shown.labels[most], 24)),
            words.score(majority),
            self.tr(
                "The accuracy of always choosing the column that most often has the right "
                "ending. Any model must beat it."
            ),
        )
