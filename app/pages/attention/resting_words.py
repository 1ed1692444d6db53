"""A window of its own: which words a classifier's answers rest on, over many texts of the open table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.cells import CellsModel
from app.look.files import ask_save
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.table_view import TableView
from app.look.widgets import GAP, button, keep_private, named
from app.pages.attention import requests
from app.session import Session
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.inspect.attribution.gradients import GRADIENT, INTEGRATED, METHODS
from engine.inspect.loaded_model import ModelSummary
from engine.text.roles import Roles
from engine.text.table import Table, write_csv

if TYPE_CHECKING:
    from engine.evaluation.inside.words import RestingWordRows

COUNTS = (50, 200, 1000, 0)  # texts; 0: all
SIZE = (640, 560)


class RestingWordsDialog(QDialog):
    """Asks for a label, a method and how many texts; lists the words, those for the label first."""

    def __init__(
        self, session: Session, about: ModelSummary, table: Table, roles: Roles, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("resting_words")
        self.setWindowTitle(self.tr("Words that drive the answers"))
        self.resize(*SIZE)
        self._models, self._about, self._table, self._roles = (
            session.inspector.open_models,
            about,
            table,
            roles,
        )
        self._answers = Channel(self, session.workers.models)
        self._files = Channel(self, session.workers.files)
        self._found: RestingWordRows | None = None
        self.label_box = self._box("resting_label", self.tr("Label"))
        for name in about.labels:
            self.label_box.addItem(name, name)
        self.label_box.setCurrentIndex(len(about.labels) - 1)
        self.method = self._box("resting_method", self.tr("Method"))
        for name in (GRADIENT, INTEGRATED):
            self.method.addItem(words.tr_engine(METHODS[name]), name)
        self.method.setToolTip(
            self.tr("Integrated gradients sum to the answer. Gradient × input is quicker and rougher.")
        )
        self.count = self._box("resting_count", self.tr("How many texts"))
        for count in COUNTS:
            said = self.tr("{count} texts") if count else self.tr("all texts")
            self.count.addItem(said.format(count=words.number(count)), count)
        self.count.setCurrentIndex(COUNTS.index(200))
        self.run = button(self.tr("Measure"), "primary", name="resting_run", call=self.measure)
        self.stop = button(self.tr("Stop"), name="resting_stop", call=self.clear)
        self.save = button(self.tr("Save CSV…"), name="resting_save", call=self._save_dialog)
        self.close_button = button(self.tr("Close"), name="resting_close")
        self.said = label("", "muted", wrap=True, name="resting_said")
        self.rows = CellsModel(self)
        self.list = named(TableView(), "resting_list", self.tr("Words"))
        keep_private(self.list)
        self.list.setModel(self.rows)
        self.list.choose_rows()
        self._lay_out()
        for box in (self.label_box, self.method, self.count):
            box.activated.connect(self.clear)
        self.close_button.clicked.connect(self.close)
        self.clear()

    def _box(self, name: str, accessible: str) -> ChoiceBox:
        box = ChoiceBox(name, accessible)
        box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        box.setMaximumWidth(180)
        return box

    def _lay_out(self) -> None:
        named = self.tr("{model} on {table}").format(
            model=words.shorten(self._about.name, 40), table=words.shorten(self._table.path.name, 40)
        )
        asked = (label(self.tr("for"), "muted"), self.label_box, label(self.tr("by"), "muted"), self.method)
        column(
            label(named, "strong"),
            row(*asked, self.count, STRETCH, self.stop, self.run),
            self.said,
            (self.list, 1),
            label(
                self.tr(
                    "A mean over the texts that contain a word. In a single text its effect may be "
                    "the opposite."
                ),
                "muted",
                wrap=True,
            ),
            row(STRETCH, self.save, self.close_button),
            gap=GAP,
            margins=(20, 16, 20, 16),
            parent=self,
        )

    def clear(self) -> None:
        """Forget what was found: it was of another question."""
        self._answers.drop()
        self._found = None
        self._show_busy(False)
        self.said.setText(self.tr("What each word adds to the label’s log-odds, summed word by word."))
        self._show_rows()

    def measure(self) -> None:
        """Ask; takes a pass back through the model for each text, or some 20."""
        asked = (self.label_box.currentData(), self.method.currentData(), int(self.count.currentData()))
        work = partial(
            requests.find_resting_words, self._models, self._about.folder, self._table, self._roles, *asked
        )
        self.clear()
        self._show_busy(True)
        self._answers.ask(
            asked,
            work,
            heard=self._show,
            refused=lambda error: self.said.setText(words.say_error(error)),
            progress=self._hear_progress,
            ended=partial(self._show_busy, False),
        )

    def _show_busy(self, busy: bool) -> None:
        self.stop.setVisible(busy)
        self.run.setVisible(not busy)

    def _hear_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total > 1:
            self.said.setText(words.event_words(event))

    def _show(self, found: RestingWordRows) -> None:
        self._found = found
        said = self.tr("{common} of {all} different words occur in at least 3 of {texts} texts.")
        self.said.setText(
            said.format(
                common=words.number(len(found.words)),
                all=words.number(found.num_words),
                texts=words.number(found.num_texts),
            )
        )
        self._show_rows()

    def _show_rows(self) -> None:
        found = self._found
        self.save.setEnabled(found is not None)
        if found is None:
            self.rows.set_rows((), 0, lambda _row, _column: "")
            return
        between = self.tr("{low} to {high}")

        def cell(at: int, place: int) -> str:
            one = found.words[at]
            ends = between.format(low=_signed(one.low), high=_signed(one.high))
            return (one.word, _signed(one.mean), ends, words.number(one.texts))[place]

        names = (self.tr("Word"), self.tr("Mean share"), self.tr("95 % over texts"), self.tr("Texts"))
        self.rows.set_rows(names, len(found.words), cell, range(1, 4))
        self.list.resizeColumnsToContents()

    def _save_dialog(self) -> None:
        ask_save(
            self,
            self.tr("Save the words"),
            self.save_file,
            name="resting_save_dialog",
            suggested="words.csv",
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
        )

    def save_file(self, path: str) -> None:
        """Write every word's numbers into a CSV file."""
        if self._found is None:
            return
        numbers = ["mean", "low", "high", "total", "texts"]
        rows = [[one.word, *(getattr(one, name) for name in numbers)] for one in self._found.words]
        work = partial(write_csv, Path(path), ["word", *numbers], rows, exempt=numbers)
        saved = self.tr("Saved as {name}.").format(name=Path(path).name)
        self._files.drop()
        self._files.ask(
            path,
            work,
            heard=lambda _nothing: self.said.setText(saved),
            refused=lambda error: self.said.setText(words.say_error(error)),
        )

    def closeEvent(self, event: QCloseEvent) -> None:
        self._answers.drop()
        super().closeEvent(event)


def _signed(value: float) -> str:
    """Return a number with its sign."""
    return f"{value:+.3f}".replace("-", "−")
