"""Labels in doubt, one by one: the text, what a model would have said, what is like it, and a key for each
answer.

R relabels, D leaves out, K keeps, U takes back; 1 to 9 choose a label; the next row follows at once. What is
decided is a step of the recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app import words
from app.look.boxes import ElidedBox
from app.look.inputs import TextEdit
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, button
from app.session import Session
from engine.text.recipe import DROP, KEEP, RELABEL, SUSPECTED, RecipeStep

if TYPE_CHECKING:
    from engine.doctor.suspected import DoubtfulLabels

NEIGHBOURS = 5  # shown
KEYS = 9  # labels that have a key of their own


class ReviewCard(Card):
    """The row that is looked at; `moved` asks for another, by how many rows further."""

    moved = Signal(int)
    ended = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Doubtful labels"), parent=parent)
        self.setObjectName("review_card")
        self._session = session
        self._found: DoubtfulLabels | None = None
        self._place = self._listed = 0
        self.reason = ElidedLabel("")
        self.reason.setObjectName("review_reason")
        self.text = TextEdit(readOnly=True, tabChangesFocus=True)
        self.text.setObjectName("review_text")
        self.text.setAccessibleName(self.tr("Text"))
        self.text.setMinimumHeight(48)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._neighbours = [(label("", "muted"), ElidedLabel("")) for _ in range(NEIGHBOURS)]
        for place, (name, text) in enumerate(self._neighbours):
            self._grid.addWidget(name, place, 0)
            self._grid.addWidget(text, place, 1)
        self.like = label(self.tr("Most similar"), "caption")
        close = button(self.tr("Done"), "link", name="review_done")
        close.clicked.connect(self.ended)
        self.add_corner(close)
        self.add(self.reason)
        self.body.addLayout(
            row((self.text, 3), (column(self.like, self._grid, STRETCH, gap=2), 4), gap=16), 1
        )
        self.body.addLayout(self._build_buttons())
        self._keys: list[QShortcut] = []
        session.data.mends.changed.connect(self._show)

    def _build_buttons(self) -> QHBoxLayout:
        self.relabel_button = button("", "primary", name="review_relabel")
        self.relabel_button.setToolTip(self.tr("Give the row the suggested label (R)"))
        self.drop_button = button(self.tr("Exclude (D)"), name="review_drop")
        self.keep_button = button(self.tr("Keep (K)"), name="review_keep")
        self.undo_button = button(self.tr("Undo (U)"), "link", name="review_undo")
        self.choice = ElidedBox(minimumContentsLength=4)
        self.choice.setObjectName("review_label")
        self.choice.setAccessibleName(self.tr("Another label"))
        self.choice.activated.connect(self._relabel_chosen)
        for press, call in (
            (self.relabel_button, self.relabel),
            (self.drop_button, self.drop),
            (self.keep_button, self.keep),
            (self.undo_button, self.undo),
        ):
            press.clicked.connect(call)
        return row(
            self.relabel_button, self.drop_button, self.keep_button, self.choice, STRETCH, self.undo_button
        )

    def set_keys(self, owner: QWidget) -> None:
        """Let keys be heard wherever the keyboard is in a widget."""
        keys: dict[str, Callable[[], None]] = {
            "R": self.relabel,
            "D": self.drop,
            "K": self.keep,
            "U": self.undo,
        }
        for number in range(1, KEYS + 1):
            keys[str(number)] = partial(self._relabel_as, number - 1)
        for key, call in keys.items():
            shortcut = QShortcut(QKeySequence(key), owner)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(partial(self._if_shown, call))
            shortcut.setEnabled(False)
            self._keys.append(shortcut)

    def hear_keys(self, *, are_heard: bool) -> None:
        """Let keys decide, or leave them to the table."""
        for key in self._keys:
            key.setEnabled(are_heard)

    def _if_shown(self, call: Callable[[], None]) -> None:
        if self.isVisible() and self._found is not None:
            call()

    def set_found(self, found: DoubtfulLabels, listed: int) -> None:
        """Take other rows in doubt. Args: listed: how many of them there are to look at."""
        self._found, self._place, self._listed = found, 0, listed
        self.choice.clear()
        for place, name in enumerate(found.names):
            key = f"{place + 1}  " if place < KEYS else ""
            self.choice.addItem(f"{key}{words.shorten(name, 40)}", name)
        self._show()

    def show_place(self, place: int) -> None:
        """Show one of the rows, by its rank from 0."""
        if self._found is not None and 0 <= place < len(self._found.rows):
            self._place = place
            self._show()

    @property
    def place(self) -> int:
        """The rank of the row that is looked at."""
        return self._place

    def relabel(self) -> None:
        """Give the row the suggested label."""
        assert self._found is not None
        suggested = self._found.names[int(self._found.suggested[self._place])]
        self._decide(RecipeStep(RELABEL, label=suggested, column=self._column(), reason=SUSPECTED))

    def drop(self) -> None:
        """Leave the row out."""
        self._decide(RecipeStep(DROP, reason=SUSPECTED))

    def keep(self) -> None:
        """Keep the row as it is."""
        self._decide(RecipeStep(KEEP, reason=SUSPECTED))

    def undo(self) -> None:
        """Take back what was decided of the row; of one that nothing was decided of, of the one before."""
        assert self._found is not None
        decided = self._decisions()
        place = self._place if int(self._found.rows[self._place]) in decided else self._place - 1
        if place >= 0 and int(self._found.rows[place]) in decided:
            self._session.data.mends.decide(int(self._found.rows[place]), None)
            self.moved.emit(place - self._place)

    def _relabel_as(self, place: int) -> None:
        assert self._found is not None
        if place < len(self._found.names):
            name = self._found.names[place]
            is_own = place == int(self._found.labels[self._place])
            self._decide(
                RecipeStep(KEEP, reason=SUSPECTED)
                if is_own
                else RecipeStep(RELABEL, label=name, column=self._column(), reason=SUSPECTED)
            )

    def _relabel_chosen(self, place: int) -> None:
        self._relabel_as(place)

    def _column(self) -> str:
        return self._session.data.roles.label if self._session.data.roles is not None else ""

    def _decide(self, step: RecipeStep) -> None:
        assert self._found is not None
        self._session.data.mends.decide(int(self._found.rows[self._place]), step)
        self.moved.emit(1)

    def _decisions(self) -> dict[int, RecipeStep]:
        recipe = self._session.data.mends.recipe
        return recipe.decided() if recipe is not None else {}

    def _show(self) -> None:
        found, table, roles = self._found, self._session.data.table, self._session.data.roles
        if found is None or table is None or roles is None or not len(found.rows):
            return
        place, at = self._place, int(found.rows[self._place])
        own, suggested = found.names[int(found.labels[place])], found.names[int(found.suggested[place])]
        texts = [table.frame[name].array[at] for name in roles.read]
        self.text.setPlainText("\n\n".join(map(str, texts)))
        values = {
            "line": words.number(int(table.lines[at])),
            "own": words.shorten(own, 40),
            "suggested": words.shorten(suggested, 40),
            "p": words.probability(float(found.own[place])),
            "q": words.probability(float(found.probabilities[place].max())),
        }
        said = self.tr("Line {line}: labelled {own} ({p}), but the other rows say {suggested} ({q})")
        if own == suggested:
            said = self.tr("Line {line}: labelled {own}, and the other rows agree ({p})")
        self.reason.setText(said.format(**values))
        self.relabel_button.setText(
            self.tr("Relabel as {label} (R)").format(label=words.shorten(suggested, 16))
        )
        self.relabel_button.setEnabled(own != suggested)
        self.choice.setCurrentIndex(self.choice.findData(own))
        self._show_neighbours(place)
        self._show_decided(at)

    def _show_neighbours(self, place: int) -> None:
        found, table, roles = self._found, self._session.data.table, self._session.data.roles
        assert found is not None and table is not None and roles is not None
        near = found.neighbours(place, NEIGHBOURS).tolist()
        self.like.setVisible(bool(near))
        cells = table.frame[roles.text].array
        for at, (name, text) in enumerate(self._neighbours):
            if at < len(near):
                said = " ".join(str(cells[int(found.rows[near[at]])]).split())
                name.setText(words.shorten(found.names[int(found.labels[near[at]])], 18))
                text.setText(words.shorten(said, 200))
                text.setToolTip(tip(words.shorten(said, 1000)))
            else:
                name.setText("")
                text.setText("")

    def _show_decided(self, at: int) -> None:
        found, decided = self._found, self._decisions()
        assert found is not None
        count = sum(row_ in decided for row_ in found.rows.tolist())
        hint = self.tr("{place} of {total}, about {wrong} wrong · {count} decided").format(
            place=words.number(self._place + 1),
            total=words.number(self._listed),
            wrong=words.number(found.expected.count if found.expected is not None else 0),
            count=words.number(count),
        )
        self.set_hint(hint)
        done = decided[at].do if at in decided else ""
        for press, do in ((self.drop_button, DROP), (self.keep_button, KEEP)):
            press.setCheckable(True)
            press.setChecked(done == do)
        self.undo_button.setEnabled(bool(decided))
