"""The suspected labels one by one: the text, the label that the table has, what the other rows say of it, and
a key for each decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from app import words
from app.look.inputs import EnteredLine
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row
from app.look.rows_model import RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import GAP, Card, button, keep_private, named
from app.pages.label.codebook import NUM_KEYS, key_of
from app.pages.label.keys import ENTER, KeysLine, PageKey, press
from app.pages.label.learner import Learner
from app.pages.label.requests import NUM_NEAREST
from app.pages.label.suspects import SuspectedRows
from app.pages.label.text import NearText, TextCard
from app.pages.label.typed import TypedNumber
from app.plots.label_rows import LabelRow
from app.session import Session
from engine.text.recipe import DROP, KEEP

if TYPE_CHECKING:
    from engine.doctor.suspected import DoubtfulLabels

LIST_WIDTH, CHANGE_WIDTH, ROW = 330, 136, 28  # px
LONGEST, LONGEST_NAME, LONGEST_LISTED = (
    300,
    40,
    9,
)  # characters of a text in the list, of a label, of one there
LEAST = QSize(752, 470)  # px that it needs at most


class Review(QWidget):
    """`ended`: a person wants all texts again."""

    ended = Signal()

    def __init__(self, session: Session, learner: Learner, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._labels, self._learner = session, session.labels, learner
        self.walk: SuspectedRows | None = None  # None: nothing is reviewed
        self._typed = TypedNumber()
        self._shown: list[int] = []  # labels in the card, from top to bottom
        self.chip = label("", "pill", name="review_chip")
        self.about = ElidedLabel("", "muted")
        self.about.setObjectName("review_about")
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.end_button = button(self.tr("Show all texts"), "link", name="review_end", call=self.ended)
        self.card, self.keys = TextCard("review"), KeysLine("review")
        self.card.given.connect(lambda place: self.give(self._shown[place]))
        self.card.noted.connect(self._keep_note)
        self.finder = self._make_finder()
        self._keys = self._declared_keys()
        self.list = self._make_list()
        for each in (self.card, self.list):
            keep_private(each)
        column(
            row(self.chip, self.end_button, (self.about, 1), gap=12),
            (row((column((self.card, 1), self.finder, self.keys, gap=10), 1), self.list, gap=GAP), 1),
            gap=10,
            parent=self,
        )
        session.data.mends.changed.connect(self.show_row)
        self._labels.changed.connect(self.show_row)
        learner.mended.connect(self.show_row)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(LEAST)

    def _make_finder(self) -> EnteredLine:
        made = named(EnteredLine(), "review_find", self.tr("Find a label (F)"))
        made.setPlaceholderText(self.tr("Find a label (F)"))
        made.setToolTip(self.tr("Part of its name. Enter gives the first one to the text."))
        made.setMaxLength(LONGEST_NAME)
        made.textChanged.connect(self.show_row)
        made.returnPressed.connect(self._take_found)
        return made

    def _make_list(self) -> Card:
        made = Card(self.tr("Suspected labels"))
        made.setObjectName("review_list")
        made.setFixedWidth(LIST_WIDTH)
        self.rows, self.view = RowsModel(self), TableView()
        self.view.setObjectName("review_rows")
        self.view.setAccessibleName(self.tr("Suspected labels"))
        self.view.setModel(self.rows)
        self.view.choose_rows(ROW, is_one=True)
        self.view.horizontalHeader().hide()
        self.view.set_door(True)
        self.view.row_wanted.connect(self.go_to)
        made.add(self.view, 1)
        return made

    def _declared_keys(self, count: int = NUM_KEYS) -> tuple[PageKey, ...]:
        """Return the keys. Args: count: labels."""
        digits = self.tr("1–{last}").format(last=max(NUM_KEYS, count))
        finds = self.tr("find label") if count > NUM_KEYS else ""
        return (
            PageKey("label", digits, self.tr("label"), self.take_keys),
            PageKey("find", "F", finds, self.finder.setFocus, ("F",)),
            PageKey("accept", self.tr("Enter"), self.tr("take the answer"), self.accept, (*ENTER, "R")),
            PageKey("keep", "K", self.tr("keep"), self.keep, ("K",)),
            PageKey("exclude", "D", self.tr("exclude"), self.exclude, ("D",)),
            PageKey("skip", "S", self.tr("skip"), self.skip, ("S",)),
            PageKey("undo", "U", self.tr("undo"), self.undo, ("U", "Ctrl+Z"), is_repeated=True),
            PageKey("back", "B", self.tr("back"), self.go_back, ("B",)),
            PageKey("note", "N", self.tr("note"), self.card.begin_note, ("N",)),
            PageKey("let_go", "Esc", "", self._go_on, ("Esc",)),
        )

    # ---- which rows

    @property
    def is_on(self) -> bool:
        """Whether suspected labels are in view, and not all texts."""
        return self.walk is not None

    def begin(self, found: DoubtfulLabels | None) -> bool:
        """Go through suspected labels of the open table, or through none. Returns: whether there are any."""
        data = self._session.data
        self.walk = None
        self.rows.put((), ())
        if found is None or not found.count or data.table is None or data.roles is None:
            return False
        if data.roles.label in data.table.columns:
            self.walk = SuspectedRows(found, data.table, data.roles.label, data.mends)
            self._keys = self._declared_keys(len(found.names))
            self.keys.show_keys(self._keys)
            self.finder.setVisible(len(found.names) > NUM_KEYS)
            self._show_about(found)
            self._show_list(len(self.walk.rows))
            self.show_row()
        return self.is_on

    def go_to(self, rank: int) -> None:
        """Have the row of a rank in view."""
        if self.walk is not None:
            self.walk.rank = rank
            self._go_on()

    def go_to_row(self, wanted: int) -> None:
        """Have a row in view where it is among them."""
        if self.walk is not None and wanted in self.walk.rows:
            self.go_to(self.walk.rows.index(wanted))

    # ---- what a person does

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key does; False: it is none of these."""
        typed, held = event.text(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if typed and typed in "0123456789" and not held:
            if not event.isAutoRepeat() and self.walk is not None:
                place = self._typed.type(typed, len(self.walk.names()))
                self.give(place) if place is not None else self.show_row()
            return True
        return press(self._keys, event)

    def give(self, place: int) -> None:
        """Give the row in view a label, by its number."""
        if self.walk is not None and self.walk.rank is not None:
            self.walk.give(self.walk.names()[place])
            self._go_on()

    def _take_found(self) -> None:
        """Give the row in view the first label that was found by its name."""
        if self.finder.text().strip() and self._shown:
            self.give(self._shown[0])
        else:
            self._go_on()

    def accept(self) -> None:
        """Give the row in view the label that was typed, else the one that the other rows say."""
        place = self._typed.end()
        if self.walk is not None and self.walk.rank is not None:
            self.give(int(self.walk.found.suggested[self.walk.rank]) if place is None else place)

    def keep(self) -> None:
        """Leave the row in view the label that it has."""
        if self.walk is not None and self.walk.rank is not None:
            self.walk.give(self.walk.label_of(self.walk.rank))
            self._go_on()

    def exclude(self) -> None:
        """Leave the row in view out of the table."""
        if self.walk is not None and self.walk.rank is not None:
            self.walk.exclude()
            self._go_on()

    def skip(self) -> None:
        """Pass over the row in view for now."""
        if self.walk is not None:
            self.walk.skip()
            self._go_on()

    def go_back(self) -> None:
        """Show the row before this one."""
        if self.walk is not None:
            self.walk.go_back()
            self._go_on()

    def undo(self) -> None:
        """Undo what was decided last, and show its row."""
        if self._typed.end() is None and self.walk is not None:
            self.walk.undo()
        self._go_on()

    def _keep_note(self, note: str) -> None:
        if self.walk is not None and self.walk.row >= 0 and self._labels.is_ready:
            self._labels.note(self.walk.row, note.strip())
        self.take_keys()

    def _go_on(self) -> None:
        self._typed.end()
        self.finder.clear()
        self.show_row()
        self.take_keys()

    def take_keys(self) -> None:
        """Give the keyboard to the text."""
        self.card.read.setFocus()

    # ---- what is shown

    def _show_about(self, found: DoubtfulLabels) -> None:
        if (expected := found.expected) is not None:
            said = self.tr("About {count} labels ({low} to {high}) are expected to be wrong")
            low, high = words.number(expected.low), words.number(expected.high)
            self.about.setText(said.format(count=words.number(expected.count), low=low, high=high))
            self.about.setToolTip(tip(self.about.text()))

    def show_row(self) -> None:
        """Show the row in view, what is decided of it, and how many are left."""
        walk, texts = self.walk, self._learner.texts
        if walk is None or texts is None:
            return
        one = self.tr("Reviewing one suspected label: {left} left")
        said = words.counted(len(walk.rows), one, self.tr("Reviewing {count} suspected labels: {left} left"))
        self.chip.setText(said.replace("{left}", words.number(walk.num_left)))
        self.rows.touch(1)
        place = texts.place(walk.row) if walk.rank is not None else None
        if walk.rank is None or place is None:
            self.view.clearSelection()
            self.card.show_done(self._done_words(walk))
            return
        self.view.setCurrentIndex(self.rows.index(walk.rank, 0))
        line = self.tr("Line {line}").format(line=words.number(texts.line(place)))
        labelled = self._labels.labelled
        note = labelled.notes.get(walk.row, "") if labelled is not None else ""
        why = self._decision(walk.rank) or self.tr("suspected")
        self.card.show_text(line, texts.text(place), self._wrong_words(walk), why, note)
        self.card.show_chosen(self._typed_words(walk) or self._label_words(walk, walk.rank))
        self._show_answer(walk, walk.rank)
        self._show_nearest(walk, walk.rank)

    def _done_words(self, walk: SuspectedRows) -> str:
        if walk.num_left:
            return words.counted(
                walk.num_left,
                self.tr("One suspected label was skipped. B goes back to it."),
                self.tr("{count} suspected labels were skipped. B goes back to them."),
            )
        return self.tr("All suspected labels are decided. What you changed is listed on Data as fixed.")

    def _wrong_words(self, walk: SuspectedRows) -> str:
        assert walk.rank is not None and walk.found.expected is not None
        share = words.share(float(walk.found.expected.wrong[walk.rank]), 0)
        return self.tr("Error probability: {share}").format(share=share)

    def _label_words(self, walk: SuspectedRows, rank: int) -> str:
        now, before = walk.label_of(rank), walk.names()[int(walk.found.labels[rank])]
        said = (
            self.tr("In the table: {label}")
            if now == before
            else self.tr("In the table: {label}, was {before}")
        )
        return said.format(label=words.shorten(now, LONGEST_NAME), before=words.shorten(before, LONGEST_NAME))

    def _typed_words(self, walk: SuspectedRows) -> str:
        names = walk.names()
        could_be = self._typed.could_be(len(names))
        return self.card.typed_words(self._typed.digits, names[could_be[0]]) if could_be else ""

    def _show_answer(self, walk: SuspectedRows, rank: int) -> None:
        """Show how probable each label is by the other rows."""
        found, names = walk.found, walk.names()
        said = self.tr("Word counts, fitted without this row")
        if found.vectors is not None:
            said = self.tr("Word counts and {model}, fitted without this row")
        if found.is_taught:
            said = self.tr("Word counts and {model}, both trained without this row")
        by = words.shorten(self._session.doctor.suspected_by, LONGEST_NAME)
        shares = found.probabilities[rank].tolist()
        sought = self.finder.text().strip().casefold()
        named_so = (one for one in range(len(names)) if sought in names[one].casefold())
        self._shown = sorted(named_so, key=lambda one: -shares[one])
        counts = np.bincount(found.labels, minlength=len(names)).tolist()
        rows = [
            LabelRow(key_of(one), names[one], count=counts[one], share=shares[one]) for one in self._shown
        ]
        self.card.show_suggestions(said.format(model=by), rows, has_counts=False, toggle="")
        now = walk.label_of(rank)
        self.card.plot.mark_rows([at for at, one in enumerate(self._shown) if names[one] == now])

    def _show_nearest(self, walk: SuspectedRows, rank: int) -> None:
        found, texts, names, near = walk.found, self._learner.texts, walk.names(), list[NearText]()
        assert texts is not None
        for one in found.neighbours(rank, NUM_NEAREST).tolist():
            place = texts.place(int(found.rows[one]))
            if place is not None and found.vectors is not None:
                cosine = float(found.vectors[one] @ found.vectors[rank])
                near.append(NearText(names[int(found.labels[one])], texts.text(place), cosine))
        self.card.show_nearest(near)

    def _decision(self, rank: int) -> str:
        """Return what was decided of a row in a word; "": nothing."""
        assert self.walk is not None
        step = self.walk.decided.get(self.walk.rows[rank])
        if step is None:
            return ""
        return {KEEP: self.tr("kept"), DROP: self.tr("excluded")}.get(step.do, self.tr("changed"))

    def _show_list(self, count: int) -> None:
        columns = (
            text_column("", self._text, longest=LONGEST, longest_tip=1000),
            TableColumn("", self._decision_or_change, told=self._change, ink="muted"),
        )
        self.rows.put(columns, range(count))
        header = self.view.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, CHANGE_WIDTH)

    def _text(self, rank: int) -> str:
        texts = self._learner.texts
        place = texts.place(self.walk.rows[rank]) if texts is not None and self.walk is not None else None
        return " ".join(texts.text(place)[:2000].split()) if texts is not None and place is not None else ""

    def _decision_or_change(self, rank: int) -> str:
        return self._decision(rank) or self._change(rank, LONGEST_LISTED)

    def _change(self, rank: int, longest: int = LONGEST_NAME) -> str:
        """Return the label that the table had, and the one that the other rows say."""
        assert self.walk is not None
        found, names = self.walk.found, self.walk.names()
        own, said = names[int(found.labels[rank])], names[int(found.suggested[rank])]
        return f"{words.shorten(own, longest)} → {words.shorten(said, longest)}"
