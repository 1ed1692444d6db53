"""One question over many texts of the open table: are their words foreseen, which of two is likelier?

What is shown always belongs to the model, table and columns that stand above it; when one of them changes,
it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.cells import CellsModel
from app.look.files import ask_save
from app.look.labels import label, tip
from app.look.layout import STRETCH, column, row
from app.look.pending import say_progress
from app.look.segmented_buttons import SegmentedButtons
from app.look.table_view import TableView
from app.look.widgets import GAP, Card, button, keep_private, named
from app.pages.probe.draft import ProbeDraft
from app.session import Session
from app.work.texts_read import TableTexts
from app.work.worker import Channel
from engine.questions.cloze import ClozeQuestion
from engine.questions.how_read import ReadSettings
from engine.questions.pairs import PairsQuestion
from engine.text.table import Table, write_csv

if TYPE_CHECKING:
    from engine.evaluation.inside.cloze import Cloze
    from engine.evaluation.inside.pairs import PairRows

CLOZE, PAIRS = "cloze", "pairs"
COUNTS = (50, 200, 1000, 0)  # texts that are asked about; 0: all
MOST_REASONS = 12  # why lines are left out, in a tooltip
Listed = tuple[Sequence[str], Callable[[int, int], str], np.ndarray]


class OverTableView(QWidget):
    """What to ask above, what came out of it in a line, and every text below, the least foreseen first.

    sentence_wanted: a text to be looked at alone. asked_changed: another question stands there.
    """

    sentence_wanted = Signal(str)
    asked_changed = Signal()

    def __init__(self, session: Session, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._draft = session, draft
        self._answers = Channel(self, session.workers.models)
        self._files = Channel(self, session.workers.files)
        self._answered: ClozeQuestion | PairsQuestion | None = None  # what the rest is of
        self._foreseen: Cloze | None = None
        self._likelier: PairRows | None = None
        self._order: list[int] = []
        column(self._make_question(), (self._make_texts(), 1), gap=GAP, parent=self)
        session.data.opened.connect(self._fill)
        session.data.roles_changed.connect(self._fill)
        self._fill()

    def _make_question(self) -> Card:
        card = named(Card(self.tr("Over the open table")), "probe_over_table")
        self.kind = SegmentedButtons(
            "probe_over",
            (
                (
                    CLOZE,
                    self.tr("Predicted words"),
                    self.tr("Each word of each text is masked in turn"),
                ),
                (
                    PAIRS,
                    self.tr("Pairs of sentences"),
                    self.tr("Of two columns, which sentence is more likely"),
                ),
            ),
        )
        self.kind.chosen.connect(self._change)
        card.add_corner(self.kind)
        self.first = self._box("probe_over_first", self.tr("Column of the texts"))
        self.second = self._box("probe_over_second", self.tr("Column of the second sentences"))
        self.first_label, self.second_label = label("", "muted"), label(self.tr("less likely"), "muted")
        self.count = self._box("probe_over_count", self.tr("How many texts"))
        for count in COUNTS:
            said = (self.tr("{count} texts") if count else self.tr("all texts")).format(
                count=words.number(count)
            )
            self.count.addItem(said, count)
        self.count.setCurrentIndex(COUNTS.index(200))
        self.run = button(self.tr("Measure"), "primary", name="probe_over_run", call=self.measure)
        self.stop = button(self.tr("Stop"), name="probe_over_stop", call=self._clear)
        self.stop.hide()
        card.body.addLayout(
            row(
                self.first_label,
                self.first,
                self.second_label,
                self.second,
                self.count,
                STRETCH,
                self.stop,
                self.run,
            )
        )
        self.value = label("", "big", name="probe_over_value")
        self.said = label("", "muted", wrap=True, name="probe_over_said")
        card.body.addLayout(row(self.value, (self.said, 1), gap=GAP))
        return card

    def _box(self, name: str, accessible: str) -> ChoiceBox:
        box = ChoiceBox(name, accessible)
        box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        box.setMinimumWidth(96)
        box.setMaximumWidth(200)
        box.activated.connect(self._change)
        return box

    def _make_texts(self) -> Card:
        card = Card(self.tr("Texts"))
        keep_private(card)
        self.save = button(self.tr("Save CSV…"), name="probe_over_save", call=self._save_dialog)
        card.add_corner(self.save)
        self.rows = CellsModel(self)
        self.list = named(TableView(), "probe_over_list", self.tr("Texts"))
        self.list.setModel(self.rows)
        self.list.choose_rows(is_one=True)
        self.list.activated.connect(self._open)
        self.list.doubleClicked.connect(self._open)
        card.add(self.list, 1)
        self.texts_card = card
        return card

    @property
    def _columns(self) -> tuple[str, ...]:
        """What Measure would ask about; none where it cannot be asked."""
        boxes = [self.first, self.second] if self.kind.current == PAIRS else [self.first]
        columns = tuple(str(box.currentData() or "") for box in boxes)
        is_whole = self._session.data.table is not None and all(columns) and len(set(columns)) == len(boxes)
        return columns if is_whole else ()

    @property
    def asked(self) -> ClozeQuestion | PairsQuestion | None:
        """What Measure would ask; None where it cannot be asked."""
        about, data, columns = self._draft.about, self._session.data, self._columns
        if about is None or data.table is None or not columns:
            return None
        table, how = data.table, ReadSettings.of(data.overrides)
        if self.kind.current == PAIRS:
            first, second = columns
            return PairsQuestion(about.named, table.path, first, second, how=how, table=table)
        limit = int(self.count.currentData())
        return ClozeQuestion(about.named, table.path, columns[0], limit=limit, how=how, table=table)

    @property
    def texts(self) -> TableTexts | None:
        """What the model would read; None where there is nothing yet."""
        table, columns = self._session.data.table, self._columns
        return None if table is None or not columns else TableTexts(table, columns[0])

    def refresh(self) -> None:
        """Show what belongs to the model as it is now; nothing is asked before Measure is pressed."""
        about, answered = self._draft.about, self._answered
        if answered is not None and (about is None or answered.model.fingerprint != about.fingerprint):
            self._clear()

    def _fill(self) -> None:
        """Offer the columns of the open table."""
        table, roles = self._session.data.table, self._session.data.roles
        names = list(table.columns) if table is not None else []
        text = roles.text if roles is not None and roles.text else (names[0] if names else "")
        others = [name for name in names if name != text]
        pair = roles.text_pair if roles is not None and roles.text_pair else (others[0] if others else "")
        for box, chosen in ((self.first, text), (self.second, pair)):
            box.clear()
            for name in names:
                box.addItem(name, name)
            box.choose(chosen)
        self._change()

    def _change(self) -> None:
        """Ask another thing: what was found was of the last."""
        are_pairs = self.kind.current == PAIRS
        self.second.setVisible(are_pairs)
        self.second_label.setVisible(are_pairs)
        self.count.setVisible(not are_pairs)
        self.first_label.setText(self.tr("more likely") if are_pairs else self.tr("text"))
        self._clear()
        self.asked_changed.emit()

    def _clear(self) -> None:
        self._answers.drop()
        self._answered = self._foreseen = self._likelier = None
        self._show_busy(False)
        self.run.setEnabled(bool(self._columns))
        self.value.hide()
        if self._session.data.table is None:
            said = self.tr("Open a table on the Data page first.")
        elif not self._columns:
            said = self.tr("Choose two columns: the sentence that should be more likely, and the other.")
        elif self.kind.current == PAIRS:
            said = self.tr("Each word of both sentences is masked in turn. The larger sum of logs wins.")
        else:
            said = self.tr(
                "Each word is masked in turn, with the rest of its text in view: one pass per word."
            )
        self.said.setText(said)
        self.said.setToolTip("")
        self._show_rows()

    def measure(self) -> None:
        """Ask; takes a pass through the model for each word."""
        asked = self.asked
        if asked is None:
            return
        self._clear()
        self._show_busy(True)
        ask = cast(Callable[..., bool], self._answers.ask)  # of either
        ask(
            asked,
            heard=partial(self._show, asked),
            refused=self._refuse,
            progress=partial(say_progress, self.said),
            ended=partial(self._show_busy, False),
        )

    def _show_busy(self, busy: bool) -> None:
        self.stop.setVisible(busy)
        self.run.setVisible(not busy)

    def _refuse(self, error: BaseException) -> None:
        self.said.setText(words.say_error(error))

    def _show(self, asked: ClozeQuestion | PairsQuestion, answer: tuple[Table, Cloze | PairRows]) -> None:
        self._answered = asked
        if isinstance(asked, ClozeQuestion):
            self._foreseen = cast("Cloze", answer[1])
            self._tell_foreseen(self._foreseen)
        else:
            self._likelier = cast("PairRows", answer[1])
            self._tell_likelier(self._likelier)
        self.value.show()
        self._show_rows()

    def _tell_foreseen(self, found: Cloze) -> None:
        self.value.setText(words.share(found.accuracy))
        said = self.tr(
            "of {count} masked pieces are the first guess{interval}, {among} among the first "
            "five; pseudo-perplexity {perplexity}{spread} over {texts}"
        )
        one, many = self.tr("1 text"), self.tr("{count} texts")
        self.said.setText(
            said.format(
                count=words.number(int(found.tokens.sum())),
                interval=_between(found.accuracy_interval, words.share),
                among=words.share(found.accuracy_among),
                perplexity=words.decimal(found.perplexity, 1),
                spread=_between(found.perplexity_interval, partial(words.decimal, digits=1)),
                texts=words.counted(len(found.rows), one, many),
            )
        )
        self.said.setToolTip(
            tip(
                self.tr(
                    "The intervals are over texts. Both numbers are per piece, so they compare "
                    "only models with the same vocabulary. (Salazar et al. 2020)"
                )
            )
        )

    def _tell_likelier(self, found: PairRows) -> None:
        self.value.setText(words.share(found.share))
        one = self.tr("of 1 pair the sentence in {column} is more likely{interval}")
        many = self.tr("of {count} pairs the sentence in {column} is more likely{interval}")
        said = words.counted(len(found.rows), one, many)
        said = said.format(column=self.first.currentText(), interval=_between(found.interval, words.share))
        count, reasons = len(found.left_out), list(found.left_out.values())[:MOST_REASONS]
        left = words.counted(count, self.tr("1 line is excluded"), self.tr("{count} lines are excluded"))
        self.said.setText(words.clauses((said, left)) if count else said)
        self.said.setToolTip(tip("\n".join(words.say(sentence) for sentence in reasons)))

    @property
    def _found(self) -> Cloze | PairRows | None:
        return self._foreseen if self._foreseen is not None else self._likelier

    def _show_rows(self) -> None:
        found, table = self._found, self._session.data.table
        self.save.setEnabled(found is not None)
        if found is None or table is None:
            self._order = []
            self.rows.set_rows((), 0, lambda _row, _column: "")
            self.texts_card.set_hint("")
            return
        names, cells, keys = self._cells(found, table)
        self._order = np.argsort(keys, kind="stable").tolist()
        order = self._order
        self.rows.set_rows(
            names, len(order), lambda at, place: cells(order[at], place), range(1, len(names) - 1)
        )
        self.texts_card.set_hint(self.tr("the hardest first · double-click to open one"))
        header = self.list.horizontalHeader()
        for place in range(len(names)):
            fits = place < len(names) - 1
            mode = QHeaderView.ResizeMode.ResizeToContents if fits else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(place, mode)

    def _cells(self, found: Cloze | PairRows, table: Table) -> Listed:
        """Return the headings, what stands in the cells of a text, and what the texts are sorted by."""
        lines = table.lines[found.rows].tolist()
        texts = [table.frame[name].array for name in self._columns]
        rows = found.rows.tolist()

        def text(place: int) -> str:
            return "  |  ".join(str(cells[rows[place]]) for cells in texts)

        foreseen, likelier = self._foreseen, self._likelier
        if foreseen is not None:
            perplexities = foreseen.perplexities
            names = (
                self.tr("Line"),
                self.tr("Pieces"),
                self.tr("Right"),
                self.tr("Perplexity"),
                self.tr("Text"),
            )

            def cell(place: int, at: int) -> str:
                return (
                    str(lines[place]),
                    words.number(int(foreseen.tokens[place])),
                    words.share(float(foreseen.right[place]) / float(foreseen.tokens[place]), 0),
                    words.decimal(float(perplexities[place]), 1),
                    text(place),
                )[at]

            return names, cell, -perplexities
        assert likelier is not None  # else there is nothing
        differences = likelier.differences
        of_pairs = (self.tr("Line"), self.tr("Difference"), self.tr("Sentences"))

        def of_pair(place: int, at: int) -> str:
            apart = f"{differences[place]:+.2f}".replace("-", "−")
            return (str(lines[place]), apart, text(place))[at]

        return of_pairs, of_pair, differences

    def _open(self, index: QModelIndex) -> None:
        """Look at one text alone."""
        table, found = self._session.data.table, self._found
        if table is not None and found is not None and index.isValid():
            at = int(found.rows[self._order[index.row()]])
            self.sentence_wanted.emit(str(table.frame[self._columns[0]].array[at]))

    def _save_dialog(self) -> None:
        ask_save(
            self,
            self.tr("Save every text’s numbers"),
            self.save_file,
            name="probe_over_save_dialog",
            suggested="foreseen.csv" if self.kind.current == CLOZE else "pairs.csv",
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
        )

    def save_file(self, path: str) -> None:
        """Write every text's numbers into a CSV file, in the order of the table."""
        found, table = self._found, self._session.data.table
        if found is None or table is None:
            return
        if self._foreseen is not None:
            one = self._foreseen
            names = ["pieces", "right", "pseudo-perplexity"]
            numbers = [one.tokens, one.right, one.perplexities]
        else:
            assert self._likelier is not None  # as `found` is
            names = ["log of first", "log of second", "difference"]
            numbers = [*self._likelier.logs.T, self._likelier.differences]
        rows = zip(table.lines[found.rows].tolist(), *(one.tolist() for one in numbers), strict=True)
        work = partial(write_csv, Path(path), ["line", *names], list(rows), exempt=["line", *names])
        self._files.ask(path, work, again=True, heard=partial(self._saved, Path(path)), refused=self._refuse)

    def _saved(self, path: Path, _nothing: None) -> None:
        self.texts_card.set_hint(self.tr("Saved as {name}.").format(name=path.name))


def _between(interval: tuple[float, float] | None, said: Callable[[float], str]) -> str:
    """Return " (95 %: 0.3 to 0.4)", "" where there is no interval."""
    if interval is None:
        return ""
    template = words.translate("probe", " (95 %: {low} to {high})")
    return template.format(low=said(interval[0]), high=said(interval[1]))
