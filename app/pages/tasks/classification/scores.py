"""How good a classifier is: accuracy with its interval and the baseline, every label's scores, the confusion.

All figures follow from the confusion matrix of an evaluation, so they are the same live, from the files of a
run, and for a predicted file. It draws evaluations and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QColor, QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.table_view import TableView
from app.look.widgets import set_role
from app.pages.tasks.scores import LEAST_PICTURE, LabelledScores
from app.pages.tasks.tile import ScoreTile
from app.plots.confusion import ConfusionPlot
from app.plots.figure import Numbers
from app.work.text_filter import ANSWER
from engine.events import Evaluated
from engine.train.metrics import ONE_ANSWER, ClassScores, notes_on, scores_of

Index = QModelIndex | QPersistentModelIndex
MIDDLE = Qt.AlignmentFlag.AlignVCenter
LABEL, PRECISION, RECALL, F1, ROWS, PREDICTED = range(6)
NUM_COLUMNS = 6
MOST_BASELINE = 120  # px of the caption of the baseline that are never cut
LEAST_NAME = 104  # px of the column of names
FULL_DIGITS = 6  # of a figure that is copied


class LabelScores(QAbstractTableModel):
    """A row for each label, then the two means, which stay at the end however the labels are sorted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._scores: ClassScores | None = None
        self._order: np.ndarray = np.zeros(0, np.int64)
        self._sorted: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def set_scores(self, names: Sequence[str], scores: ClassScores | None) -> None:
        """Show other scores, in the order that was chosen."""
        self.beginResetModel()
        self._names, self._scores = tuple(names), scores
        self._order = np.arange(len(self._names))
        self._put_in_order()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the labels in order of a column; -1: as the model has them."""
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order)
        self._put_in_order()
        self.layoutChanged.emit()

    def _put_in_order(self) -> None:
        column, order = self._sorted
        places = np.arange(len(self._names))
        if column == LABEL:
            places = np.array(sorted(places.tolist(), key=lambda i: self._names[i].casefold()), np.int64)
        elif column > LABEL and self._scores is not None:
            places = places[np.argsort(self._column(column), kind="stable")]
        self._order = places[::-1] if order == Qt.SortOrder.DescendingOrder and column >= 0 else places

    def place_at(self, row: int) -> int:
        """Return the place of a row's label; -1 of a mean."""
        return int(self._order[row]) if 0 <= row < len(self._names) else -1

    def _column(self, column: int) -> np.ndarray:
        assert self._scores is not None
        found = self._scores
        return (found.precision, found.recall, found.f1, found.support, found.num_predicted)[column - 1]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() or self._scores is None else len(self._names) + 2

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else NUM_COLUMNS

    def value(self, row: int, column: int) -> str | float | int:
        """Return a cell as it is: a name, a score of 0 to 1 or a count."""
        assert self._scores is not None
        if row < len(self._names):
            place = int(self._order[row])
            if column == LABEL:
                return self._names[place]
            return self._column(column)[place].item()  # type: ignore[no-any-return]
        kind = ("macro", "weighted")[row - len(self._names)]
        if column == LABEL:
            return {"macro": self.tr("macro mean"), "weighted": self.tr("weighted mean")}[kind]
        if column >= ROWS:
            return int(self._scores.support.sum())
        name = {PRECISION: "precision", RECALL: "recall", F1: "f1"}[column]
        return self._scores.summary()[f"{kind}_{name}"]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self._scores is None:
            return None
        row, column = index.row(), index.column()
        is_mean = row >= len(self._names)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                value = self.value(row, column)
                if isinstance(value, float):
                    return words.score(value)
                return words.shorten(value, 120) if isinstance(value, str) else words.number(value)
            case Qt.ItemDataRole.UserRole:
                value = self.value(row, column)
                return f"{value:.{FULL_DIGITS}f}" if isinstance(value, float) else str(value)
            case Qt.ItemDataRole.TextAlignmentRole:
                left = column == LABEL
                return (Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight) | MIDDLE
            case Qt.ItemDataRole.FontRole:
                return theme.ui_font(bold=is_mean)
            case Qt.ItemDataRole.ForegroundRole:
                return self._color(row, column) if not is_mean else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(row, is_mean)
        return None

    def _color(self, row: int, column: int) -> QColor | None:
        """Mark what is never predicted; there its figures are 0 by agreement."""
        assert self._scores is not None
        place = int(self._order[row])
        is_lost = self._scores.support[place] and not self._scores.num_predicted[place]
        return QColor(theme.current().look) if is_lost and column != LABEL else None

    def _tip(self, row: int, is_mean: bool) -> str:
        assert self._scores is not None
        if is_mean:
            text = self.tr("Every label that occurs or is predicted counts alike, however rare it is.")
            if row > len(self._names):
                text = self.tr("A label counts as often as it occurs.")
            return tip(text)
        place = int(self._order[row])
        name, support = self._names[place], int(self._scores.support[place])
        if support and not self._scores.num_predicted[place]:
            text = self.tr("{name} is never predicted: its precision counts as 0, as in scikit-learn.")
            return tip(text.format(name=words.shorten(name, 200)))
        if not support:
            text = self.tr("No row carries {name}: its recall counts as 0, as in scikit-learn.")
            return tip(text.format(name=words.shorten(name, 200)))
        return tip(words.shorten(name, 2000))

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < NUM_COLUMNS:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                self.tr("Label"), self.tr("Precision"), self.tr("Recall"), self.tr("F1"), self.tr("Rows"),
                self.tr("Predicted"),
            )[section]  # fmt: skip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return (Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft) | MIDDLE
        if role == Qt.ItemDataRole.ToolTipRole:
            meanings = (
                self.tr("Click a heading to sort; Ctrl+C copies what is chosen."),
                self.tr("Of the rows that got this label, the share that carries it."),
                self.tr("Of the rows that carry this label, the share that got it."),
                self.tr("The harmonic mean of precision and recall: high only where both are."),
                self.tr("Rows that carry this label (support)."),
                self.tr("Rows that got this label from the model."),
            )
            return tip(meanings[section])
        return None

    def numbers(self) -> Numbers:
        """Return the table with all digits, as it is sorted, its header first."""
        header = [self.headerData(column, Qt.Orientation.Horizontal) for column in range(NUM_COLUMNS)]
        rows = [[self.value(row, column) for column in range(NUM_COLUMNS)] for row in range(self.rowCount())]
        return [header, *rows]


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
        is_tight = room - sum(widths.values()) < LEAST_NAME
        self.setColumnHidden(PREDICTED, is_tight)  # the sums of the matrix's columns say it too
        if is_tight:
            del widths[PREDICTED]
        for column, width in widths.items():
            self.setColumnWidth(column, width)
        least = LEAST_NAME if len(widths) < NUM_COLUMNS - 1 else LEAST_NAME // 2  # beside one figure more
        self.setColumnWidth(LABEL, max(least, room - sum(widths.values())))


class ScoresCard(LabelledScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_part = False
        self.confusion = ConfusionPlot(self.tr("Confusion"))
        self.confusion.setObjectName("confusion_plot")
        self.confusion.set_empty_text(self.tr("After each evaluation: which label was taken for which."))
        self.labels = LabelView()
        self.add_choices(
            self.confusion,
            (
                ("confusion", self.tr("Confusion"), self.tr("Which label was taken for which")),
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
        self.confusion.chosen.connect(self._cell_chosen)
        self.labels.row_wanted.connect(self._row_chosen)
        self.clear()

    def set_door(self, is_door: bool) -> None:
        self.confusion.is_door = is_door
        self.labels.set_door(is_door)

    @Slot(int, int)
    def _cell_chosen(self, true: int, predicted: int) -> None:
        self.want_texts(ANSWER, true, predicted)

    @Slot(int)
    def _row_chosen(self, row: int) -> None:
        place = self.labels.scores.place_at(row)
        if place >= 0:
            self.want_texts(ANSWER, place, -1)

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
        self.confusion.clear()
        if shown is None or scores is None:
            self.labels.scores.set_scores((), None)
        else:
            if shown.confusion is not None:
                self.confusion.set_confusion(shown.labels, shown.confusion)
            else:
                self.confusion.refuse()
            self.labels.scores.set_scores(shown.labels, scores)
            self.labels.fit()
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
            f"{caption}. {self.measured_words(rows)} {words.interval_help()}",
        )
        self.macro_f1.put(
            self.tr("Macro F1"),
            words.score(summary["macro_f1"]),
            self.tr("The mean of the labels' F1: a rare label counts as much as a common one."),
        )
        self.baseline.put(
            self.tr("Always “{name}”").format(name=name),
            words.score(chance),
            self.tr(
                "The accuracy of always answering “{name}”, the commonest label of these rows: what any "
                "model must beat."
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
        self.remark.setText(" ".join(words.say(note) for note in found))
        set_role(self.remark, "wrong" if any(note.template == ONE_ANSWER for note in found) else "look")
        self.remark.setVisible(bool(found))

    @Slot()
    def copy_labels(self) -> None:
        """Put the scores of each label on the clipboard, tab-separated, with all digits."""
        lines = ("\t".join(str(cell) for cell in row) for row in self.labels.scores.numbers())
        QGuiApplication.clipboard().setText("\n".join(lines))
