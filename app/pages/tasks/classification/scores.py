"""How good a classifier is: accuracy with its interval and the baseline, every label's scores, the confusion.

All figures follow from the confusion matrix of an evaluation, so they are the same live, from the files of a
run, and for a predicted file. It draws evaluations and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget

from app import words
from app.look.columns import RIGHT, of
from app.look.labels import tip
from app.look.rows_model import RowsModel, TableColumn
from app.look.table_view import TableView
from app.look.widgets import named, set_role
from app.pages.tasks.scores import LEAST_PICTURE, LabelledScores
from app.pages.tasks.tile import ScoreTile
from app.plots.confusion import ConfusionPlot
from app.plots.figure import Numbers
from app.work.text_filter import ANSWER
from engine.events import Evaluated
from engine.train.metrics import ONE_ANSWER, ClassScores, notes_on, scores_of

LABEL, PRECISION, RECALL, F1, ROWS, PREDICTED = range(6)
NUM_COLUMNS = 6
MOST_BASELINE = 120  # px of the caption of the baseline that are never cut
LEAST_NAME = 104  # px of the column of names
FULL_DIGITS = 6  # of a figure that is copied


@dataclass(frozen=True, slots=True)
class LabelRow:
    """The scores of a label, or a mean of all. place: of the label; -1 of a mean."""

    name: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    place: int = -1
    threshold: float | str = ""

    @property
    def is_mean(self) -> bool:
        return self.place < 0

    @property
    def is_lost(self) -> bool:
        """Whether it occurs and is never predicted."""
        return not self.is_mean and bool(self.support) and not self.predicted


class LabelScores(RowsModel):
    """A row for each label, then the two means, which stay at the end however the labels are sorted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._labels: list[LabelRow] = []
        self._means: list[LabelRow] = []
        self._sorted: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)
        self.put(self.make_columns(), ())

    def make_columns(self) -> tuple[TableColumn, ...]:
        """Return the columns from left to right."""
        return (
            TableColumn(
                self.tr("Label"),
                of("name"),
                help=tip(self.tr("Click a heading to sort. Ctrl+C copies the selection.")),
                longest=120,
                told=self._told,
            ),
            self.figure(
                self.tr("Precision"),
                "precision",
                self.tr("Of the rows predicted as this label, the share that has it."),
            ),
            self.figure(
                self.tr("Recall"),
                "recall",
                self.tr("Of the rows with this label, the share predicted as it."),
            ),
            self.figure(
                self.tr("F1"),
                "f1",
                self.tr("The harmonic mean of precision and recall. It is high only where both are."),
            ),
            self.figure(self.tr("Rows"), "support", self.tr("Rows with this label (support).")),
            self.figure(self.tr("Predicted"), "predicted", self.tr("Rows predicted as this label.")),
        )

    def figure(self, head: str, name: str, said: str) -> TableColumn:
        """Return the column of a figure: a score of 0 to 1, or a count."""
        value = of(name)
        return TableColumn(
            head,
            value,
            _shown,
            help=tip(said),
            side=RIGHT,
            whole=lambda row: _whole(value(row)),
            told=self._told,
        )

    def set_scores(self, names: Sequence[str], scores: ClassScores | None) -> None:
        """Show other scores, in the order that was chosen."""
        self._labels, self._means = [], []
        if scores is not None:
            self._labels = [self.row_of(names[place], place, scores) for place in range(len(names))]
            summary = scores.summary()
            for kind, name in (
                ("macro", self.tr("macro average")),
                ("weighted", self.tr("weighted average")),
            ):
                precision, recall, f1 = (
                    summary[f"{kind}_{figure}"] for figure in ("precision", "recall", "f1")
                )
                self._means.append(LabelRow(name, precision, recall, f1, *self.sums(scores)))
        self.put(self.columns, self._ordered())

    def row_of(self, name: str, place: int, scores: ClassScores) -> LabelRow:
        """Return the row of a label."""
        precision, recall, f1 = (
            float(values[place]) for values in (scores.precision, scores.recall, scores.f1)
        )
        support, predicted = int(scores.support[place]), int(scores.num_predicted[place])
        return LabelRow(name, precision, recall, f1, support, predicted, place)

    def sums(self, scores: ClassScores) -> tuple[int, int]:
        """Return how many rows the means are of: that carry a label, that got one."""
        return int(scores.support.sum()), int(scores.support.sum())

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the labels in order of a column; -1: as the model has them."""
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order)
        self.rows = self._ordered()
        self.layoutChanged.emit()

    def _ordered(self) -> list[LabelRow]:
        (at, order), labels = self._sorted, list(self._labels)
        if at >= 0:
            labels.sort(key=lambda row: _key(self.columns[at].value(row)))
            labels = labels[::-1] if order == Qt.SortOrder.DescendingOrder else labels
        return [*labels, *self._means]

    def place_at(self, row: int) -> int:
        """Return the place of a row's label; -1 of a mean."""
        return self.rows[row].place if 0 <= row < len(self.rows) else -1

    def label_at(self, row: int) -> str:
        """Return the label of a row; "" of a mean."""
        return self.rows[row].name if self.place_at(row) >= 0 else ""

    def is_bold(self, row: LabelRow, column: TableColumn) -> bool:
        return row.is_mean

    def ink_of(self, row: LabelRow, column: TableColumn) -> str:
        """Mark what is never predicted; there its figures are 0 by agreement."""
        return "look" if row.is_lost and column is not self.columns[LABEL] else ""

    def _told(self, row: LabelRow) -> str:
        if row.is_mean:
            if row is self._means[0]:
                return self.tr("Every label that occurs or is predicted counts equally, however rare it is.")
            return self.tr("A label counts as often as it occurs.")
        if row.is_lost:
            text = self.tr("{name} is never predicted, so its precision counts as 0, as in scikit-learn.")
            return text.format(name=words.shorten(row.name, 200))
        if not row.support:
            text = self.tr("No row has {name}, so its recall counts as 0, as in scikit-learn.")
            return text.format(name=words.shorten(row.name, 200))
        return words.shorten(row.name, 2000)

    def numbers(self) -> Numbers:
        """Return the table with all digits, as it is sorted, its header first."""
        columns = self.columns[:NUM_COLUMNS]
        rows = [[column.value(row) for column in columns] for row in self.rows]
        return [[column.head for column in columns], *rows]


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return words.score(value) if isinstance(value, float) else words.number(value)


def _whole(value: float | str) -> str:
    return f"{value:.{FULL_DIGITS}f}" if isinstance(value, float) else str(value)


def _key(value: float | str) -> float | str:
    return value.casefold() if isinstance(value, str) else value


class LabelView(TableView):
    """The table of labels: names take what room the figures leave."""

    def __init__(self, scores: LabelScores | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("label_scores")
        self.setAccessibleName(self.tr("Scores of each label"))
        self.scores = scores or LabelScores(self)
        self.setModel(self.scores)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(23)
        header = self.horizontalHeader()
        for part in (self, header):
            set_role(part, "dense")
        header.setMinimumHeight(24)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(30)
        header.setSectionResizeMode(LABEL, QHeaderView.ResizeMode.Fixed)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setMinimumSize(120, LEAST_PICTURE)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def fit(self) -> None:
        """Make the figures' columns as wide as they need and give the rest to the names."""
        header, widths = self.horizontalHeader(), dict[int, int]()
        for column in range(1, self.scores.columnCount()):
            title = str(self.scores.headerData(column, Qt.Orientation.Horizontal))
            widths[column] = max(
                self.sizeHintForColumn(column), header.fontMetrics().horizontalAdvance(title) + 16
            )
        room = self.viewport().width()
        is_tight = PREDICTED in widths and room - sum(widths.values()) < LEAST_NAME
        if PREDICTED in widths:
            self.setColumnHidden(PREDICTED, is_tight)  # the sums of the matrix's columns say it too
        if is_tight:
            del widths[PREDICTED]
        for column, width in widths.items():
            self.setColumnWidth(column, width)
        least = LEAST_NAME if len(widths) < NUM_COLUMNS - 1 else LEAST_NAME // 2  # beside one figure more
        self.setColumnWidth(LABEL, max(least, room - sum(widths.values())))


class ConfusionScores(LabelledScores):
    """A card with a matrix of true and predicted labels, and a table of the labels beside it."""

    confusion: ConfusionPlot
    labels: LabelView

    def make_doors(self) -> None:
        """Let a cell of the matrix and a row of the table lead to the texts they count."""
        self.confusion.chosen.connect(self._cell_chosen)
        self.labels.row_wanted.connect(self._row_chosen)

    def set_door(self, is_door: bool) -> None:
        self.confusion.is_door = is_door
        self.labels.set_door(is_door)

    def show_labels(self, shown: Evaluated | None, scores: ClassScores | None) -> None:
        """Show the matrix and the table of an evaluation, or none."""
        self.confusion.clear()
        if shown is None or scores is None:
            self.labels.scores.set_scores((), None)
            return
        if shown.confusion is not None:
            self.confusion.set_confusion(shown.labels, shown.confusion)
        else:
            self.confusion.refuse()
        self.labels.scores.set_scores(shown.labels, scores)
        self.labels.fit()

    def _cell_chosen(self, true: int, predicted: int) -> None:
        self.want_texts(ANSWER, true, predicted)

    def _row_chosen(self, row: int) -> None:
        place = self.labels.scores.place_at(row)
        if place >= 0:
            self.want_texts(ANSWER, place, -1)


class ScoresCard(ConfusionScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_part = False
        self.confusion = named(ConfusionPlot(self.tr("Confusion")), "confusion_plot")
        self.confusion.set_empty_text(self.tr("Confusion matrix after each evaluation."))
        self.labels = LabelView()
        self.add_choices(
            self.confusion,
            (
                (
                    "confusion",
                    self.tr("Confusion"),
                    self.tr("Confusion matrix: true labels against predicted ones"),
                ),
                ("labels", self.tr("By label"), self.tr("Precision, recall and F1 of each label")),
            ),
        )
        menu = self.save_button.menu()
        menu.addSeparator()
        menu.addAction(self.tr("Copy the scores of each label"), self.copy_labels)
        self.accuracy, self.macro_f1 = ScoreTile("score_accuracy"), ScoreTile("score_macro_f1")
        self.baseline, self.loss = ScoreTile("score_baseline"), ScoreTile("score_loss")
        tiles = (self.accuracy, self.macro_f1, self.loss, self.baseline)
        self.add_tiles(*tiles, gap=12, longest=self.baseline)  # its name may be long
        self.add_views(self.confusion, self.labels)
        self.make_doors()
        self.clear()

    def be_part(self) -> None:
        """Stand inside another card, which chooses the view: without a border and a title of its own."""
        super().be_part()
        self._is_part = True
        self.tiles.addWidget(self.save_button)
        self._head.hide()

    def set_evaluations(self, evaluations: Mapping[str, Evaluated], moments: Mapping[str, str]) -> None:
        of_classes = (name for name, one in evaluations.items() if scores_of(one, one.labels) is not None)
        super().set_evaluations({name: evaluations[name] for name in of_classes}, moments)

    def show_evaluation(self, shown: Evaluated | None) -> None:
        self.loss.setVisible(self.is_wide)  # else it stands with the losses
        is_crowded = len(self._evaluations) > 1 and not self.is_wide
        if not self._is_part:  # there what stands around it has the title
            self.set_title("" if is_crowded else self.tr("Scores"))
        scores = scores_of(shown, shown.labels) if shown is not None else None
        self.show_labels(shown, scores)
        if shown is not None and scores is not None:
            self._show_tiles(shown, scores)
        self._show_remark(shown, scores)

    def width_changed(self) -> None:
        self._show()

    def _show_tiles(self, shown: Evaluated, scores: ClassScores) -> None:
        summary, rows = scores.summary(), int(scores.support.sum())
        most, chance = scores.majority
        name = words.shorten(shown.labels[most], 40)
        caption = self.with_moment(self.tr("Accuracy"), self.tr("Accuracy, {moment}"))
        self.accuracy.put(
            caption,
            words.with_interval(summary["accuracy"], rows),
            words.sentences([words.closed(caption), self.measured_words(rows), words.interval_help()]),
        )
        self.macro_f1.put(
            self.tr("Macro F1"),
            words.score(summary["macro_f1"]),
            self.tr("The mean of the labels’ F1: a rare label counts as much as a common one."),
        )
        self.baseline.put(
            self.tr("Always “{name}”").format(name=name),
            words.score(chance),
            self.tr(
                "The accuracy of always answering “{name}”, the most frequent label of these "
                "rows. Any model must beat it."
            ).format(name=name),
        )
        self.baseline.keep_whole(MOST_BASELINE)
        self.loss.put(
            self.tr("Loss"), words.decimal(shown.loss), self.tr("The mean cross-entropy on these rows.")
        )

    def _show_remark(self, shown: Evaluated | None, scores: ClassScores | None) -> None:
        """Say what the figures hide, where no card beside it does."""
        found = []
        if self._is_part and shown is not None and scores is not None:
            found = notes_on(shown.labels, scores, shown.split)
        self.remark.setText(words.sentences(words.say(note) for note in found))
        set_role(self.remark, "wrong" if any(note.template == ONE_ANSWER for note in found) else "look")
        self.remark.setVisible(bool(found))

    def copy_labels(self) -> None:
        """Put the scores of each label on the clipboard, tab-separated, with all digits."""
        lines = ("\t".join(str(cell) for cell in row) for row in self.labels.scores.numbers())
        QGuiApplication.clipboard().setText("\n".join(lines))
