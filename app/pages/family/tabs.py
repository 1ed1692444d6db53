"""The five scenes as buttons, and a menu of all other questions; short words where room is short."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.look.inputs import ToolButton
from app.look.labels import tip
from app.look.layout import row
from app.look.widgets import named, set_role
from app.pages.family.kinds.known import KIND_OF, KINDS, SCENES

GAP = 4  # px
ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right)


class _SceneButton(ToolButton):
    """A button that leaves left and right to the page, which turns to another scene."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ARROWS:
            event.ignore()
        else:
            super().keyPressEvent(event)


class SceneTabs(QWidget):
    """A numbered button for each scene, and "More" for the kinds that are none."""

    chosen = Signal(str)  # the key of a kind

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("family_tabs")
        self.setAccessibleName(self.tr("Scenes"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._is_short, self._current = True, SCENES[0].key  # until it is known that longer words fit
        self._said = {kind.key: (kind.tab[0], kind.tab[1]) for kind in KINDS}
        self.buttons = {kind.key: self._made(f"family_scene_{kind.key}") for kind in SCENES}
        for key, made in self.buttons.items():
            made.clicked.connect(partial(self.chosen.emit, key))
            made.setToolTip(tip(self._said[key][0]))
        self.more = self._made("family_more")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        for kind in KINDS:
            if kind not in SCENES:
                menu.addAction(kind.tab[0], partial(self.chosen.emit, kind.key))
        self.more.setMenu(menu)
        row(*self.buttons.values(), self.more, gap=GAP, parent=self)
        self.show_kind(self._current)

    def _made(self, name: str) -> _SceneButton:
        made = named(_SceneButton(), name)
        made.setCheckable(True)
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        made.setMinimumHeight(30)
        set_role(made, "toggle")
        return made

    def show_kind(self, key: str) -> None:
        """Show which kind of question is asked; emits nothing."""
        self._current = key
        for number, (one, made) in enumerate(self.buttons.items(), 1):
            made.setText(f"{number} {self._said[one][self._is_short]}")
            made.setChecked(one == key)
        is_more = key not in self.buttons
        self.more.setText(KIND_OF[key].tab[0] if is_more else self.tr("More"))
        self.more.setChecked(is_more)
        self.more.setAccessibleName(self.tr("More questions"))

    def focus_current(self) -> None:
        """Give the keyboard to the button of the scene that is shown, if another of them has it."""
        made = self.buttons.get(self._current, self.more)
        if any(one.hasFocus() for one in (*self.buttons.values(), self.more)):
            made.setFocus(Qt.FocusReason.TabFocusReason)

    def fit(self, room: int) -> bool:
        """Take the longer words if they fit into so many px. Returns: whether what is taken now does."""
        for is_short in (False, True):
            self._is_short = is_short
            self.show_kind(self._current)
            if self.wanted_width <= room:
                return True
        return False

    @property
    def wanted_width(self) -> int:
        """px that all buttons take."""
        widths = [one.sizeHint().width() for one in (*self.buttons.values(), self.more)]
        return sum(widths) + GAP * (len(widths) - 1)
