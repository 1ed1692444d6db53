"""The members that are not among the first three: a click adds one, another puts it away again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.look.layout import STRETCH, column, row
from app.look.widgets import CARD_X, CARD_Y, Card, button, holder, set_role
from app.pages.family.kinds.kind import first_three
from engine.family.members import ABOUT


class MoreMembers(Card):
    """A button for each further member, with its year and what it reached."""

    chosen = Signal(object)  # tuple of names besides the first three; None: all side by side
    fair_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("family_members")
        self.all_button = button("", "link", name="family_all_members", call=self._turn)
        self.add_corner(self.all_button)
        self.low_all_button = button("", "link", name="family_all_members_low", call=self._turn)
        self.fair_button = button(
            self.tr("Is that fair?"), "link", name="family_fair", call=self.fair_wanted.emit
        )
        self._links = holder(column(self.low_all_button, self.fair_button, gap=0))
        self._links.hide()
        self._buttons: QHBoxLayout = row(STRETCH, gap=8)
        self.add_layout(row((self._buttons, 1), self._links, gap=8))
        self.body.addStretch(1)
        self._names, self._shown, self._is_all = tuple[str, ...](), tuple[str, ...](), False

    def set_low(self, is_low: bool) -> None:
        """Take one line where the window is low: then a link leads to whether it is fair."""
        self._head.setVisible(not is_low)
        self._links.setVisible(is_low)
        layout, margin = self.layout(), 6 if is_low else CARD_Y
        if layout is not None:
            layout.setContentsMargins(CARD_X, margin, CARD_X, margin)

    def show_members(self, names: Sequence[str], shown: Sequence[str], reached: Mapping[str, str]) -> None:
        """Show who else there is. Args: names: of the family. shown: of these; all of them: side by side.
        reached: in words, "" for nothing.
        """
        first = first_three(names)
        rest = [name for name in names if name not in first]
        self._names, self._is_all = tuple(rest), len(shown) == len(names)
        self._shown = tuple(name for name in rest if name in shown)
        is_low = not self._links.isHidden()
        self.set_title(self.tr("{count} more").format(count=len(rest)))
        self.set_low(is_low)
        self.all_button.setText(
            self.tr("Show the first three") if self._is_all else self.tr("Show all side by side")
        )
        self.low_all_button.setText(self.tr("First three") if self._is_all else self.tr("Show all"))
        focused = self.focusWidget()
        had = focused.objectName() if focused is not None else ""
        while self._buttons.count() > 1:
            item = self._buttons.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for place, name in enumerate(rest):
            self._buttons.insertWidget(place, self._made(name, reached.get(name, "")), 1)
        again = self.findChild(QWidget, had) if had else None
        if again is not None:
            again.setFocus()

    def _made(self, name: str, reached: str) -> QWidget:
        about, is_shown = ABOUT[name], name in self._shown
        sign = "−" if is_shown else "+"
        parts = " · ".join(part for part in (str(about.year), reached) if part)
        made = button(f"{sign} {about.said}\n{parts}", name=f"family_add_{name}")
        made.setCheckable(True)
        made.setChecked(is_shown)
        set_role(made, "member")
        said = self.tr("Hide {member}") if is_shown else self.tr("Add {member}")
        made.setAccessibleName(said.format(member=about.said) + (f", {reached}" if reached else ""))
        made.clicked.connect(lambda _on=False, one=name: self._toggle(one))
        return made

    def _toggle(self, name: str) -> None:
        shown = self._shown
        kept = [one for one in self._names if (one in shown) != (one == name)]
        self.chosen.emit(tuple(kept))

    def _turn(self) -> None:
        self.chosen.emit(() if self._is_all else None)
