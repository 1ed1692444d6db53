"""The two figures below the table: how often each label is there, and how long the texts are."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app import words
from app.look.inputs import SpinBox
from app.look.labels import tip
from app.look.widgets import Card, button
from app.pages.choose.model_box import FolderQuestion
from app.pages.run.state import RunPageState
from app.pages.tasks.known import views_of
from app.plots.bars import BarsPlot
from app.plots.buttons import yield_to_layout
from app.plots.histogram import HistogramPlot
from app.session import Session
from app.work.tables import TableSummary
from app.work.task_files import FileSummary

LEAST = 96  # px of a figure's height: the table above needs the rest
MOST_BARS = 200  # labels drawn; more are said in words
HEAD = 32  # px of both titles, one of which has a box beside it


class CountedCard(Card):
    """A figure of what was counted in the open data. A child class makes it, and draws it."""

    plot: BarsPlot | HistogramPlot

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.title_label.setMinimumHeight(HEAD)

    def show_summary(self) -> None:
        """Draw what is known of the open data, or say what is waited for."""
        data, plot = self._session.data, self.plot
        if data.summary is not None:
            plot.set_caption([(self.tr("table"), data.path.name)] if data.path else [])
            self.draw(data.summary)
            return
        plot.clear()
        plot.set_empty_text(
            self.tr("Counting…") if data.is_counting else self.tr("Choose the text column above.")
        )
        self.set_hint("")

    def draw(self, summary: TableSummary | FileSummary) -> None:
        """Draw what was counted."""
        raise NotImplementedError


class LabelsCard(CountedCard):
    """A bar for each label. chosen: a click on it; menu_opened: what a right click offers for a label;
    merge_wanted: a bar was dragged onto another; compare_wanted: with those of another column.
    """

    chosen = Signal(str)
    menu_opened = Signal(QMenu, str)
    merge_wanted = Signal(str, str)
    compare_wanted = Signal()
    plot: BarsPlot

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.set_title(self.tr("Labels"))
        self.plot = BarsPlot(self.tr("Labels"))
        self.plot.setObjectName("labels_plot")
        self.plot.is_door = True
        self.plot.on_drop = self._merge_words
        self.plot.dropped.connect(self._merge)
        yield_to_layout(self.plot, LEAST)
        self.add(self.plot, 1)
        self.compare_button = button(self.tr("Agreement…"), "link", name="compare_labels")
        self.compare_button.setToolTip(
            self.tr("Compare these labels with another column: those of a second person or of a model")
        )
        self.compare_button.clicked.connect(self.compare_wanted)
        self.add_corner(self.compare_button)
        self.plot.chosen.connect(self._choose)
        self.plot.menu_opened.connect(self._open_menu)
        session.data.summary_changed.connect(self.show_summary)
        self.show_summary()

    def show_summary(self) -> None:
        data = self._session.data
        table, roles = data.table, data.roles
        has_two = table is not None and roles is not None and len(table.columns) > len(roles.columns)
        self.compare_button.setVisible(has_two and data.has_label)
        super().show_summary()

    def draw(self, summary: TableSummary | FileSummary) -> None:
        of_table = self._session.data.table_summary
        views = views_of(self._session.data.task_name)
        bars = views.bars(summary)
        self.set_title(views.bars_title())
        self.plot.set_title(views.bars_title())
        lacking = self.tr("No label column is chosen. Choose one above the table, or label the texts.")
        if of_table is None:
            lacking = self.tr("This file has no labels to count.")
        elif not of_table.roles.label and (table := self._session.data.table) and len(table.columns) < 2:
            lacking = self.tr(
                "This file has no labels, only texts. Have them predicted on Predict, or label them on Label."
            )
        elif of_table.refusal is not None:
            lacking = self.tr("“{name}” cannot be the label. The data doctor says why.").format(
                name=words.shorten(of_table.roles.label, 40)
            )
        self.plot.set_empty_text(lacking)
        can_merge = of_table is not None and of_table.chooses_one and len(of_table.labels) > 1
        self.plot.drop_help = self.tr("Drag it onto another label to merge the two.") if can_merge else ""
        is_side_by_side = of_table is not None and of_table.is_side_by_side
        counted = summary.num_examples if is_side_by_side else sum(count for _label, count in bars)
        total, drawn = max(1, counted), bars[:MOST_BARS]
        self.plot.set_bars(drawn, shares=[count / total for _label, count in drawn])
        count = len(summary.labels)
        hint = words.counted(count, self.tr("{count} label"), self.tr("{count} labels")) if count else ""
        if len(bars) > MOST_BARS:
            hint = self.tr("the {shown} largest of {count}").format(
                shown=MOST_BARS, count=words.number(len(bars))
            )
        self.set_hint(hint)

    def _choose(self, place: int) -> None:
        if label := self._label_at(place):
            self.chosen.emit(label)

    def _open_menu(self, menu: QMenu, place: int) -> None:
        if label := self._label_at(place):
            self.menu_opened.emit(menu, label)

    def _merge_words(self, place: int, other: int) -> str:
        """Return what dragging one bar onto another does, where each row has one label."""
        summary = self._session.data.table_summary
        label, into = self._label_at(place), self._label_at(other)
        if summary is None or not summary.chooses_one or not label or not into:
            return ""
        return self.tr("Merge “{label}” into “{other}”").format(
            label=words.shorten(label, 30), other=words.shorten(into, 30)
        )

    def _merge(self, place: int, other: int) -> None:
        self.merge_wanted.emit(self._label_at(place), self._label_at(other))

    def _label_at(self, place: int) -> str:
        """Return the label of a bar; "" where it is none of a table."""
        summary = self._session.data.table_summary
        if summary is None or place >= len(self.plot.bars):
            return ""
        shown = self.plot.bars[place][0]
        return dict(zip(summary.shown_labels, summary.labels, strict=True)).get(shown, shown)


class LengthsCard(CountedCard):
    """How long texts are: in words, or with a model chosen in its pieces, and where they are cut then."""

    refused = Signal(object)
    plot: HistogramPlot

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.plot = HistogramPlot(self.tr("Length in words"))
        self.plot.setObjectName("lengths_plot")
        yield_to_layout(self.plot, LEAST)
        self.add(self.plot, 1)
        self._is_wide = True
        self.max_length_box = SpinBox(minimum=3, maximum=512)
        self.max_length_box.setObjectName("max_length")
        self.max_length_box.setKeyboardTracking(False)
        self.max_length_box.setToolTip(words.tr_engine(words.settings()["max_length"].help))
        self.max_length_box.setAccessibleName(words.label_of("max_length"))
        self.max_length_box.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.max_length_box.setFixedWidth(64)
        self.max_length_box.valueChanged.connect(session.model.set_max_length)
        self.model_button = button(self.tr("choose a model"), "link", name="choose_model")
        self.model_button.setToolTip(self.tr("Count in the pieces of a model’s vocabulary instead of words"))
        self.model_button.clicked.connect(self._offer_models)
        self.add_corner(self.model_button)
        self.add_corner(self.max_length_box)
        self.model_question = FolderQuestion(session, self, name="data_model_dialog")
        self.model_question.chosen.connect(session.model.choose)
        self.model_question.refused.connect(self.refused)
        for changed in (
            session.data.summary_changed,
            session.model.changed,
            session.model.max_length_changed,
        ):
            changed.connect(self.show_summary)
        self.show_summary()

    def show_summary(self) -> None:
        model = self._session.model
        in_pieces = model.chosen is not None
        self._show_title()
        self.max_length_box.setVisible(in_pieces)
        self.model_button.setVisible(not in_pieces)
        with QSignalBlocker(self.max_length_box):
            self.max_length_box.setMaximum(model.max_length_limit)
            self.max_length_box.setValue(model.max_length)
        super().show_summary()

    def draw(self, summary: TableSummary | FileSummary) -> None:
        counted = summary.unit == "pieces"
        is_cut = counted and (self._session.data.task_file is not None or not summary.reads_windows)
        self.plot.set_values(summary.lengths, self._session.model.max_length if is_cut else None)
        self.set_hint(self._cut_words(summary) if counted else "")

    def set_wide(self, is_wide: bool) -> None:
        """Know whether there is room for the whole title."""
        self._is_wide = is_wide
        self._show_title()

    def _show_title(self) -> None:
        in_pieces = self._session.model.chosen is not None
        title = self.tr("Length in pieces") if in_pieces else self.tr("Length in words")
        self.plot.set_title(title)
        short = self.tr("Pieces") if in_pieces else self.tr("Words")
        self.set_title(title if self._is_wide else short)

    def _cut_words(self, summary: TableSummary | FileSummary) -> str:
        """Return words that the box with the maximum length ends as a sentence."""
        if summary.reads_windows:
            return self.tr("windows of")
        cut = summary.cut_share(self._session.model.max_length)
        if not cut:
            return self.tr("none over")
        return self.tr("{share} over").format(share=words.share(cut, 0 if cut >= 0.095 else 1))

    def _offer_models(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("models_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in self._session.library.offered():
            path = str(entry.path)
            action = menu.addAction(words.shorten(entry.title, 70), partial(self.model_question.read, path))
            action.setToolTip(tip(path))
        menu.setToolTipsVisible(True)
        menu.addSeparator()
        menu.addAction(self.tr("Choose a folder…"), self.model_question.ask)
        lead = partial(self._session.show_page, "finetune", RunPageState())
        menu.addAction(self.tr("New model, from random weights…"), lead)
        menu.popup(self.model_button.mapToGlobal(QPoint(0, self.model_button.height())))
