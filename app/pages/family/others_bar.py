"""The models next to the family: a chip for each, which a click removes, and a box that adds another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import words
from app.look.inputs import ToolButton
from app.look.labels import PART, label, set_or_hide, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import named, set_role
from app.pages.choose.model_box import ModelBox
from app.pages.family.kinds.others import titles_of
from app.pages.family.state import MOST_OTHERS
from app.session import Session

LONGEST = 28  # characters of a chip
BOX = 190  # px


class OthersBar(QWidget):
    """Which models answer next to the members."""

    chosen = Signal(object)  # tuple of their folders

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("family_others")
        self._folders = tuple[Path, ...]()
        self.said = label(self.tr("Other models"), "muted")
        self.box = ModelBox(
            "family_others_box", self.tr("Add a model"), session, wanted="masked_words", parent=self
        )
        self.box.setFixedWidth(BOX)
        self.box.setPlaceholderText(self.tr("Add a model…"))
        self.box.chosen.connect(self._add)
        self.gone = label("", "look", wrap=True, name="family_others_gone")
        self._chips: QHBoxLayout = row(gap=6)
        column(
            row(self.said, self._chips, self.box, STRETCH, gap=8), self.box.refusal, self.gone,
            gap=4, parent=self,
        )  # fmt: skip
        self.show_others(())

    def show_others(self, folders: Sequence[Path], gone: Sequence[str] = ()) -> None:
        """Show which there are. Args: gone: what those are called that were asked before and are not here."""
        self._folders = tuple(folders)
        while self._chips.count():
            item = self._chips.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for number, (folder, title) in enumerate(zip(folders, titles_of(folders), strict=True)):
            self._chips.addWidget(self._made(number, folder, title))
        self.box.set_choice(None)
        self.box.setVisible(len(folders) < MOST_OTHERS)
        said = self.tr("Not on this computer any more: {names}. Add them again from where they are now.")
        set_or_hide(self.gone, said.format(names=words.listed(gone)) if gone else "")

    def _made(self, number: int, folder: Path, title: str) -> QWidget:
        chip = named(ToolButton(), f"family_other_{number}")
        chip.setText(words.shorten(title, LONGEST) + "  ×")
        said = self.tr("Remove {model}").format(model=title)
        chip.setToolTip(tip(PART.join((said, str(folder)))))
        chip.setAccessibleName(said)
        chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_role(chip, "chip")
        chip.clicked.connect(partial(self._remove, folder))
        return chip

    def _add(self, folder: object) -> None:
        self.box.set_choice(None)
        self.chosen.emit(tuple(dict.fromkeys((*self._folders, Path(str(folder))))))

    def _remove(self, folder: Path, *_: object) -> None:
        self.chosen.emit(tuple(one for one in self._folders if one != folder))
