"""Templates: a sentence with alternatives and a gap, scored for a few words, as a table and a slope chart."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QWidget,
)

from app import words
from app.look.boxes import ChoiceBox
from app.look.cells import CellsModel
from app.look.files import ask_file, ask_save
from app.look.inputs import LineEdit
from app.look.labels import label, tip
from app.look.layout import column, form_rows, row
from app.look.pending import say_progress
from app.look.segmented_buttons import SegmentedButtons
from app.look.table_view import TableView
from app.look.widgets import GAP, Card, button, named
from app.pages.inside.model_bar import model_caption
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.grid import CORRECTED, PROBABILITY, GridDelegate, GridModel, row_name
from app.pages.probe.requests import score_grids
from app.plots.buttons import save_icon
from app.plots.slope import SlopePlot
from app.stories.known import story
from app.work.inspector import Inspector
from app.work.worker import Channel
from engine.errors import UserError
from engine.evaluation.statistics import p_words
from engine.inspect.masked.grid import TemplateSettings, TemplateTable
from engine.inspect.masked.template import Template
from engine.inspect.masked.template_table import read_templates, write_grids

if TYPE_CHECKING:
    from engine.evaluation.inside.contrasts import Contrast

OVER_ALL = "over_all"
SETTLE_MS = 400
MOST_LINES, MOST_VARIANTS = 6, 8  # of the slope chart


class TemplatesView(QWidget):
    """The template above, its scores below: a table at the left, slopes at the right.

    `shown` when other scores are on screen, or none. path: the file that the templates were read from.
    """

    shown = Signal()

    def __init__(self, inspector: Inspector, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector, self._draft = inspector, draft
        self._scores = Channel(self, inspector.workers.models)
        self._files = Channel(self, inspector.workers.files)
        self._scored: tuple[TemplateSettings, ...] = ()
        self._file: tuple[TemplateSettings, ...] = ()
        self.path: Path | None = None
        self.grids: tuple[TemplateTable, ...] = ()
        self.contrasts: tuple[Contrast, ...] = ()
        self._rest = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._rest.timeout.connect(self.refresh)
        # four words fit beside their sentences at 1,024 px
        below = row((self._make_table(), 6), (self._make_slopes(), 5), gap=GAP)
        column(self._make_form(), (below, 1), gap=GAP, parent=self)

    # ---- building

    def _make_form(self) -> Card:
        card = named(Card(self.tr("Template")), "probe_template_card")
        card.set_hint(self.tr("{a|b}, one [MASK]"), self.tr("alternatives in braces, one [MASK]"))
        self.open_button = button(self.tr("Open CSV…"), name="probe_template_open", call=self._open_dialog)
        self.open_button.setToolTip(
            self.tr("A table with the columns template and targets (he|she), one template per line")
        )
        self.save_button = button(self.tr("Save CSV…"), name="probe_template_save", call=self._save_dialog)
        self.save_button.setToolTip(self.tr("Every sentence and word with probability, rank and scores"))
        card.add_corner(self.open_button, self.save_button)
        self.template = self._field("probe_template", story().template[0], self.tr("Template"))
        self.targets = self._field("probe_targets", story().template[1], self.tr("Words to score"))
        self.targets.setPlaceholderText(
            self.tr("Words to score, separated by commas; empty: the model’s own guesses")
        )
        self.choice = ChoiceBox("probe_template_choice", self.tr("Template of the file"))
        self.choice.activated.connect(self._show)
        self.choice.hide()
        fields = ((self.tr("Sentence"), self.template), (self.tr("Words"), self.targets))
        card.body.addLayout(form_rows(*fields, role="muted", caption_gap=8))
        card.add(self.choice)
        self.status = label("", "muted", wrap=True, name="probe_template_status")
        card.add(self.status)
        return card

    def _field(self, name: str, text: str, accessible: str) -> QLineEdit:
        field = named(LineEdit(text), name, accessible)
        field.textEdited.connect(self._typed)
        field.returnPressed.connect(self.refresh)
        return field

    def _make_table(self) -> Card:
        card = Card(self.tr("Scores"))
        self.model = GridModel(self)
        self.table = named(TableView(), "probe_template_table", self.tr("Scores"))
        self.table.setModel(self.model)
        self._delegate = GridDelegate(self.table)
        self.table.setItemDelegate(self._delegate)
        self._plain = QStyledItemDelegate(self.table)
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.verticalHeader().setMinimumWidth(44)
        for words_of_lines in self.table.findChildren(QLabel):  # rows are no lines of a file here
            words_of_lines.setText("")
        corrected = self.tr(
            "log p(word | sentence) − log p(word | alternatives masked too), natural: how "
            "much the alternative itself makes the word more (+) or less likely (−). What "
            "the mask prefers anyway is removed. (Kurita et al. 2019)"
        )
        over_all = self.tr(
            "The effect of one alternative on a word compared with another: the log ratio of "
            "its probabilities. Shown are its mean over the templates of a file and its "
            "p-value, corrected for the number of tests."
        )
        self.over_all = CellsModel(self)
        self.what = named(
            SegmentedButtons(
                "probe",
                (
                    (PROBABILITY, self.tr("Probability"), self.tr("Of the word in the sentence")),
                    (CORRECTED, self.tr("Prior-corrected"), tip(corrected)),
                    (OVER_ALL, self.tr("Over templates"), tip(over_all)),
                ),
            ),
            "probe_score",
        )
        self.what.buttons[OVER_ALL].hide()
        self.what.buttons[OVER_ALL].setEnabled(False)
        self.what.chosen.connect(self._show)
        card.add_corner(self.what)
        card.add(self.table, 1)
        self.scores_card = card
        return card

    def _make_slopes(self) -> Card:
        card = Card(self.tr("From one alternative to the next"))
        self.slopes = named(SlopePlot(self.tr("From one alternative to the next")), "probe_slopes")
        self.slopes.set_empty_text(self.tr("One line per word appears here."))
        card.add_corner(save_icon(self.slopes))
        card.add(self.slopes, 1)
        self.slope_card = card
        return card

    # ---- asking

    def refresh(self) -> None:
        """Score what is typed, or what was read from a file, if that has not been done."""
        self._rest.stop()
        about = self._draft.about
        if about is None:
            return
        try:
            requests = self._file or (self._typed_request(),)
        except UserError as error:
            self._refuse(error)
            return
        asked = (about.fingerprint, about.folder, requests)
        work = partial(score_grids, self._inspector.open_models, about.folder, requests)
        if self._scores.ask(
            asked, work, heard=self._hear, refused=self._refuse, progress=partial(say_progress, self.status)
        ):
            self._scored = requests
            self.status.setText(self.tr("Scoring…"))
            self.status.show()

    def put(self, template: str, targets: str, score: str) -> None:
        """Score a template as if it had been typed. Args: score: which of its scores is shown."""
        self._file, self.path = (), None
        self.choice.hide()
        self.template.setText(template)
        self.targets.setText(targets)
        self.what.set_current(score if score in (PROBABILITY, CORRECTED) else PROBABILITY)
        self._show()
        if self.isVisible():
            self.refresh()

    @property
    def written(self) -> tuple[str, str, str]:
        """Template, words and which score, as `put` takes them."""
        return self.template.text(), self.targets.text(), self.what.current

    @property
    def scored(self) -> tuple[TemplateSettings, ...]:
        """The templates whose scores are on screen; none while others are typed."""
        return () if self._rest.isActive() else self._scored

    def _typed_request(self) -> TemplateSettings:
        targets = self.targets.text().replace("，", ",").split(",")
        return TemplateSettings(
            Template.parse(self.template.text()), tuple(word.strip() for word in targets if word.strip())
        )

    def _typed(self) -> None:
        self._file, self.path = (), None
        self.choice.hide()
        self._rest.start()
        self.shown.emit()

    def _hear(self, found: tuple[tuple[TemplateTable, ...], tuple[Contrast, ...]]) -> None:
        self.grids, self.contrasts = grids, _ = found
        self.status.hide()
        self.choice.clear()
        for grid in grids:
            self.choice.addItem(grid.template.text)
        self.choice.setVisible(bool(self._file))
        self._show()

    def _refuse(self, error: BaseException) -> None:
        self._scores.drop()
        self._scored, self.grids, self.contrasts = (), (), ()
        self.status.setText(words.say_error(error))
        self.status.show()
        self._show()

    # ---- showing

    def _show(self) -> None:
        self.shown.emit()
        self.save_button.setEnabled(bool(self.grids))
        has_several = any(one.templates > 1 for one in self.contrasts)
        self.what.buttons[OVER_ALL].setVisible(has_several)
        self.what.buttons[OVER_ALL].setEnabled(has_several)  # the arrow keys pass over it
        if not has_several and self.what.current == OVER_ALL:
            self.what.set_current(PROBABILITY)
        place = max(0, self.choice.currentIndex())
        grid = self.grids[place] if place < len(self.grids) else None
        what = self.what.current
        if what == OVER_ALL:
            self._show_over_all()
            what = PROBABILITY  # the slopes are of one template
        elif self.table.model() is not self.model:
            self.scores_card.set_hint("")
            self.table.setModel(self.model)
            self.table.setItemDelegate(self._delegate)
            self.table.verticalHeader().show()
        self.model.set_grid(grid, what)
        self.table.resizeColumnsToContents()
        if grid is None:
            self.slopes.clear()
            return
        if self._file:
            self.template.setText(grid.template.text)
            self.targets.setText(", ".join(grid.targets) if grid.are_given else "")
        values = self.model.values()
        columns = most_moved(values, MOST_LINES)
        variants = [row_name(grid, one, "\n") for one in range(min(MOST_VARIANTS, len(grid.cells)))]
        self.slopes.set_values(
            variants,
            [grid.targets[column] for column in columns],
            values[: len(variants), columns],
            in_percent=what == PROBABILITY,
        )
        is_whole = len(columns) == values.shape[1] and len(variants) == values.shape[0]
        hint = "" if is_whole else self.tr("the {count} words that change most").format(count=len(columns))
        self.slope_card.set_hint(hint)
        about = self._draft.about
        lines = model_caption(about.name, about.fingerprint) if about is not None else []
        self.slopes.set_caption([*lines, (self.tr("template"), grid.template.text), (self.tr("score"), what)])

    def _show_over_all(self) -> None:
        """Show in the table what alternatives do to words over all templates."""
        found = self.contrasts
        ratio, many = self.tr("Log ratio"), self.tr("of {count} templates")
        names = (self.tr("Word"), self.tr("Alternatives"), ratio, self.tr("95 %"), self.tr("p"))

        def cell(at: int, place: int) -> str:
            one = found[at]
            if one.interval is None:
                return (one.target, f"{one.first} / {one.second}", _signed(one.mean), "", "")[place]
            between = self.tr("{low} to {high}").format(
                low=_signed(one.interval[0]), high=_signed(one.interval[1])
            )
            return (
                one.target,
                f"{one.first} / {one.second}",
                _signed(one.mean),
                between,
                p_words(one.p_value),
            )[place]

        most = max((one.templates for one in found), default=0)
        self.scores_card.set_hint(many.format(count=words.number(most)))
        self.over_all.set_rows(names, len(found), cell, range(2, 5))
        if self.table.model() is not self.over_all:
            self.table.setModel(self.over_all)
            self.table.setItemDelegate(self._plain)
            self.table.verticalHeader().hide()

    # ---- files

    def _open_dialog(self) -> None:
        filters = [self.tr("Tables (*.csv *.tsv)")]
        name = "probe_template_open_dialog"
        ask_file(self, self.tr("Open templates"), self.open_file, name=name, filters=filters)

    def open_file(self, path: str) -> None:
        """Read templates from a CSV file and score them."""
        work, take = partial(read_templates, Path(path)), partial(self._take_file, Path(path))
        # the file may have changed
        self._files.ask(path, work, again=True, heard=take, refused=self._refuse_file)

    def _take_file(self, path: Path, requests: tuple[TemplateSettings, ...]) -> None:
        self._file, self.path = requests, path.absolute()
        self.refresh()

    def _save_dialog(self) -> None:
        ask_save(
            self,
            self.tr("Save scores"),
            self.save_file,
            name="probe_template_save_dialog",
            suggested="template-scores.csv",
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
        )

    def save_file(self, path: str) -> None:
        """Write all scores into a CSV file."""
        work = partial(write_grids, Path(path), self.grids)
        self._files.ask(
            path, work, again=True, heard=partial(self._saved, Path(path)), refused=self._refuse_file
        )

    def _saved(self, path: Path, _nothing: None) -> None:
        self.status.setText(self.tr("Saved as {name}.").format(name=path.name))
        self.status.show()

    def _refuse_file(self, error: BaseException) -> None:
        """Say it; the scores on screen still belong to the template above them."""
        self.status.setText(words.say_error(error))
        self.status.show()


def _signed(value: float) -> str:
    """Return a number with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def most_moved(values: np.ndarray, count: int) -> list[int]:
    """Return the columns whose values differ most between the rows, at most `count`, in their order."""
    if values.shape[1] <= count or not values.shape[0]:
        return list(range(values.shape[1]))
    known = np.nan_to_num(values)
    spread = known.max(axis=0) - known.min(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:count].tolist())
