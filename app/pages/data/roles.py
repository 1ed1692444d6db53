"""What the columns of a table are for: a box each above it, and a menu on each column's head.

A role moves only where a person chooses: keys that would walk through a closed box open its list, and the
wheel leaves it alone. Two columns that both have a role change places, and the last change can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QLabel, QMenu, QSizePolicy, QWidget

from app import words
from app.look.boxes import ElidedBox
from app.look.inputs import PushButton
from app.look.labels import label, tip
from app.look.layout import STRETCH, FoldingRow, row
from app.look.widgets import button, holder
from app.pages.tasks.known import row_views_of
from app.session import Session
from engine.text.roles import EVERY, Role, Roles, joined_names

_WALKING = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
)


def role_words(role: str, asked: Sequence[Role] = ()) -> str:
    """Return what a column is for, as a person says it. Args: asked: of the open table's task, which may call
    a role otherwise.
    """
    own = next((one for one in asked if one.name == role and one not in EVERY), None)
    if own is not None:
        said = words.tr_engine(own.word)
        return said[:1].upper() + said[1:]
    return words.label_of(role) if role else words.translate("roles", "Not used")


def roles_asked(session: Session) -> tuple[Role, ...]:
    """Return what columns of the open table can be for."""
    return row_views_of(session.data.task_name).roles


def role_menu(session: Session, column: str, parent: QWidget) -> QMenu:
    """Return the menu that says what a column holds; it deletes itself."""
    menu = QMenu(parent)
    menu.setObjectName("role_menu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    group = QActionGroup(menu)
    held = next((role for role, names in (session.data.roles or {}).items() if column in names), "")
    for role in (*(one.name for one in roles_asked(session)), ""):
        said = role_words(role, roles_asked(session))
        action = QAction(said, menu, checkable=True, checked=role == held)
        action.triggered.connect(lambda _checked=False, role=role: session.data.set_role(column, role))
        group.addAction(action)
        menu.addAction(action)
    return menu


class ListBox(ElidedBox):
    """A box that changes only by a choice from its open list; keys that would walk through it open that."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        typed = event.text() if event.text().isprintable() else ""
        if event.key() in _WALKING or typed.strip():
            self.showPopup()
            if typed.strip():
                self.view().keyboardSearch(typed)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _ColumnBox(ListBox):
    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideMiddle  # "column 1" and "column 2" differ at the end


class SeveralBox(PushButton):
    """Several columns of one role: its words are their names, its menu says for each whether it is one."""

    asked = Signal(str, bool)  # a column, and whether it is to have the role

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, autoDefault=False)
        self.setMenu(QMenu(self))

    def show_columns(self, columns: Sequence[str], chosen: Sequence[str], empty: str) -> None:
        """Show which of some columns are chosen. Args: empty: what stands there where none is."""
        self.setText(words.shorten(joined_names(chosen), 22).replace("&", "&&") or empty)
        self.setToolTip(tip(joined_names(chosen) or empty))
        if [action.data() for action in self.menu().actions()] != list(columns):
            self._fill(columns)
        for action in self.menu().actions():
            action.setChecked(action.data() in chosen)

    def _fill(self, columns: Sequence[str]) -> None:
        self.menu().clear()
        for name in columns:
            action = self.menu().addAction(words.shorten(name, 60).replace("&", "&&"))
            action.setToolTip(tip(name))
            action.setCheckable(True)
            action.setData(name)
            action.triggered.connect(lambda wanted, name=name: self.asked.emit(name, wanted))


class RolesStrip(QWidget):
    """Choices from the real columns for what the open table's task asks of them, such as text, second text
    and label; and a way back from the last one.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._boxes: dict[str, ListBox] = {}
        self._several: dict[str, SeveralBox] = {}
        self._shown: dict[str, tuple[QLabel, QWidget]] = {}  # what stands there for a role
        self._columns: tuple[str, ...] = ()
        pairs = FoldingRow(is_late=True)
        for role in EVERY:
            box = self._make_box(role.name) if role.most == 1 else self._make_several(role.name)
            box.setObjectName(f"role_{role.name}")
            box.setToolTip(words.tr_engine(words.settings()[role.name].help))
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.setMaximumWidth(200)
            name = label(role_words(role.name), "muted")
            name.setBuddy(box)
            box.setAccessibleName(role_words(role.name))
            self._shown[role.name] = (name, box)
            name.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
            pairs.put((row(name, (box, 100), STRETCH), 100))
        self.undo = button(self.tr("Undo"), "link", name="undo_roles")
        self.undo.clicked.connect(session.data.undo_roles)
        pairs.put((holder(row(self.undo, STRETCH)), 1))
        pairs.turned.connect(self._align)
        row(pairs, parent=self)
        session.data.opened.connect(self._show)
        session.data.roles_changed.connect(self._show)
        session.data.summary_changed.connect(self._show_asked)
        self._show()

    def _make_box(self, role: str) -> ListBox:
        box = _ColumnBox(minimumContentsLength=4)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.activated.connect(partial(self._choose, role))
        self._boxes[role] = box
        return box

    def _make_several(self, role: str) -> SeveralBox:
        box = self._several[role] = SeveralBox()
        box.asked.connect(partial(self._choose_one, role))
        return box

    def _align(self, is_under: bool) -> None:
        """Let the boxes begin at one line where they are under each other."""
        names = [name for name, _box in self._shown.values()]
        widest = max((name.sizeHint().width() for name in names if not name.isHidden()), default=0)
        for name in names:
            name.setMinimumWidth(widest if is_under else 0)

    def _show_asked(self) -> None:
        """Show a choice for each role that the open table's task knows."""
        if self._session.data.task_name or self._session.data.table is None:
            asked = roles_asked(self._session)
            names = {role.name for role in asked}
            for role, (name, box) in self._shown.items():
                name.setText(role_words(role, asked))
                box.setAccessibleName(role_words(role, asked))
                name.setVisible(role in names)
                box.setVisible(role in names)

    def _show(self) -> None:
        data = self._session.data
        table, roles, before = data.table, data.roles, data.roles_before
        self.undo.setVisible(before is not None)
        if before is not None:
            self.undo.setToolTip(tip(self.tr("Back to {roles} (Ctrl+Z)").format(roles=_told(before))))
        self._show_asked()
        if table is None or roles is None:
            return
        if table.columns != self._columns:
            self._fill(table.columns)
        for role, box in self._boxes.items():
            box.setCurrentIndex(max(0, box.findData(roles.column(role))))
        for role, several in self._several.items():
            several.show_columns(table.columns, roles.get(role, ()), self.tr("none"))

    def _fill(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        for box in self._boxes.values():
            box.clear()
            box.addItem(self.tr("none"), "")
            for column in columns:
                box.addItem(words.shorten(column, 60), column)

    def _choose(self, role: str, place: int) -> None:
        self._session.data.set_role(str(self._boxes[role].itemData(place) or ""), role)

    def _choose_one(self, role: str, column: str, is_wanted: bool) -> None:
        self._session.data.set_role(column, role if is_wanted else "")


def _told(roles: Roles) -> str:
    """Return "Text: story · Label: topic"."""
    held = ((role_words(role), joined_names(names)) for role, names in roles.items())
    return " · ".join(words.captioned(name, words.shorten(columns, 30)) for name, columns in held)
