"""The Data page's table: its rows, how it was read and how else it could be, and what its columns are for."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QMenu, QSizePolicy, QWidget

from app import words
from app.inputs import ComboBox
from app.session import ROLES, Session
from app.table_model import TableModel
from app.table_view import TableView
from app.widgets import Card, button, label
from engine.text.examples import Roles

ENCODINGS = ("utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc_kr", "cp1252", "latin-1", "cp1251")
WIDEST = 200  # pixels for the label column at most
NARROW = 88  # for a column that is not used


class TableCard(Card):
    """Rows with line numbers; `lines_wanted` asks for the list of reported lines."""

    lines_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.setObjectName("table_card")
        self.reported_button = button("", "link", name="reported_lines")
        self.reported_button.setToolTip(self.tr("Read which lines are left out, and why"))
        self.reported_button.clicked.connect(self.lines_wanted)
        self.change_button = button(self.tr("change"), "link", name="change_reading")
        self.change_button.setToolTip(
            self.tr("Read the file another way: encoding, separator, quoting, header")
        )
        self.change_button.setCheckable(True)
        self.add_corner(self.reported_button)
        self.add_corner(self.change_button)
        self.reading = ReadingStrip(session)
        self.reading.hide()
        self.change_button.toggled.connect(self._show_reading)
        self.add(self.reading)
        self.roles = RolesStrip(session)
        self.add(self.roles)
        self.view = TableView()
        self.view.setObjectName("table_view")
        self.view.setAccessibleName(self.tr("Rows of the table"))
        self.model = TableModel(None, self)
        self.view.setModel(self.model)
        header = self.view.horizontalHeader()
        header.setSectionsClickable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.sectionClicked.connect(self._open_role_menu)
        header.customContextMenuRequested.connect(self._open_role_menu_at)
        header.setToolTip(self.tr("Click a column's name to say what it holds"))
        self.add(self.view, 1)
        session.table_changed.connect(self.show_table)
        session.roles_changed.connect(self._show_roles)
        session.study_changed.connect(self._show_hint)
        session.busy_changed.connect(self._show_hint)

    @Slot()
    def show_table(self) -> None:
        """Show the session's table from its first row."""
        table = self._session.table
        self.model.set_table(table)
        self.set_title(words.shorten(table.path.name, 48) if table else "")
        self.title_label.setToolTip(str(table.path) if table else "")
        self.view.scrollToTop()
        self._show_hint()

    @Slot()
    def _show_roles(self) -> None:
        self.model.set_roles(self._session.roles or Roles(text=""))
        self._fit_columns()

    @Slot()
    def _show_hint(self) -> None:
        table, study = self._session.table, self._session.study
        if table is None:
            return
        num_reported = len(table.reported) + (len(study.reported) if study else 0)
        rows = self.tr("{count} row kept") if table.num_rows == 1 else self.tr("{count} rows kept")
        kept = rows.format(count=words.number(table.num_rows))
        self.set_hint(" · ".join([kept, *map(words.say, table.format.parts())]))
        self.reported_button.setText(self.tr("{count} reported").format(count=words.number(num_reported)))
        self.reported_button.setEnabled(num_reported > 0)

    def _fit_columns(self) -> None:
        """Give the text columns the room and the others what their first rows need."""
        table, roles = self._session.table, self._session.roles
        if table is None or roles is None:
            return
        texts = [name for name in (roles.text, roles.text_pair) if name]
        room = max(360, self.view.viewport().width())
        widths = {}
        for place, name in enumerate(table.columns):
            if name not in texts:
                needed = max(
                    self.view.sizeHintForColumn(place), self.view.horizontalHeader().sectionSizeHint(place)
                )
                widths[place] = max(64, min(needed + 8, WIDEST if name == roles.label else NARROW))
        left = max(200, (room - sum(widths.values())) // max(1, len(texts)))
        for place in range(len(table.columns)):
            self.view.setColumnWidth(place, widths.get(place, left))

    @Slot(bool)
    def _show_reading(self, shown: bool) -> None:
        self.change_button.setText(self.tr("done") if shown else self.tr("change"))
        self.reading.setVisible(shown)
        if shown:
            self.reading.first.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(QPoint)
    def _open_role_menu_at(self, place: QPoint) -> None:
        self._open_role_menu(self.view.horizontalHeader().logicalIndexAt(place))

    @Slot(int)
    def _open_role_menu(self, section: int) -> None:
        table = self._session.table
        if table is None or not 0 <= section < len(table.columns):
            return
        header = self.view.horizontalHeader()
        menu = role_menu(self._session, table.columns[section], self)
        menu.popup(header.mapToGlobal(QPoint(header.sectionViewportPosition(section) + 4, header.height())))


def role_words(role: str) -> str:
    """Return what a column is for, as a person says it."""
    names = {
        "text": words.label_of("text"),
        "text_pair": words.label_of("text_pair"),
        "label": words.label_of("label"),
    }
    return names.get(role, words.translate("roles", "Not used"))


def role_menu(session: Session, column: str, parent: QWidget) -> QMenu:
    """Return the menu that says what a column holds; it deletes itself."""
    menu = QMenu(parent)
    menu.setObjectName("role_menu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    group = QActionGroup(menu)
    held = next((role for role in ROLES if getattr(session.roles, role, "") == column), "")
    for role in (*ROLES, ""):
        action = QAction(role_words(role), menu, checkable=True, checked=role == held)
        action.triggered.connect(lambda _checked=False, role=role: session.set_role(column, role))
        group.addAction(action)
        menu.addAction(action)
    return menu


class RolesStrip(QWidget):
    """Three choices from the real columns: text, second text, label."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self._boxes: dict[str, ComboBox] = {}
        for role in ROLES:
            box = ComboBox(minimumContentsLength=4)
            box.setObjectName(f"role_{role}")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setToolTip(words.tr_engine(words.settings()[role].help))
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.setMaximumWidth(200)
            box.activated.connect(self._choose)
            name = label(role_words(role), "muted")
            name.setBuddy(box)
            box.setAccessibleName(role_words(role))
            self._boxes[role] = box
            layout.addWidget(name)
            layout.addWidget(box, 100)
        layout.addStretch(1)
        session.table_changed.connect(self._show)
        session.roles_changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        table, roles = self._session.table, self._session.roles
        if table is None or roles is None:
            return
        for role, box in self._boxes.items():
            box.clear()
            box.addItem(self.tr("none"), "")
            for column in table.columns:
                box.addItem(words.shorten(column, 60), column)
            box.setCurrentIndex(max(0, box.findData(getattr(roles, role))))

    @Slot()
    def _choose(self) -> None:
        chosen = {role: str(box.currentData() or "") for role, box in self._boxes.items()}
        before = self._session.roles
        for role in ROLES:  # a column taken from another role leaves that role empty
            if before is not None and chosen[role] and chosen[role] != getattr(before, role):
                chosen = {
                    name: "" if name != role and held == chosen[role] else held
                    for name, held in chosen.items()
                }
        self._session.set_roles(Roles(**chosen))


class ReadingStrip(QWidget):
    """How the file is read, each part open to change; a change reads it again at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 4)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._boxes: dict[str, ComboBox] = {}
        self._labels: list[QLabel] = []
        for name in ("encoding", "separator", "quoting", "header"):
            self._add(name)
        self.first = self._boxes["encoding"]
        self.first.setEditable(True)
        self.first.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        typed = self.first.lineEdit()
        assert typed is not None  # it is editable
        typed.editingFinished.connect(self._choose)
        session.table_changed.connect(self._show)
        session.table_problem.connect(self._show)

    def _add(self, name: str) -> None:
        box = ComboBox(minimumContentsLength=4)
        box.setObjectName(f"reading_{name}")
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setToolTip(words.tr_engine(words.settings()[name].help))
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.setAccessibleName(words.label_of(name))
        box.activated.connect(self._choose)
        title = label(words.label_of(name), "muted")
        title.setBuddy(box)
        self._grid.addWidget(title, 0, len(self._boxes))
        self._grid.addWidget(box, 1, len(self._boxes))
        self._boxes[name] = box

    @Slot()
    def _show(self) -> None:
        table = self._session.table
        if table is None:
            return
        detected = {
            "encoding": table.format.encoding,
            "separator": words.choice_word("separator", table.format.separator)
            if table.format.separator
            else "",
            "quoting": words.choice_word("quoting", table.format.quoting),
            "header": words.choice_word("header", "yes" if table.format.has_header else "no"),
        }
        for name, box in self._boxes.items():
            chosen = self._session.table_overrides[name]
            box.clear()
            found = self.tr("auto: {value}").format(value=detected[name]) if not chosen else self.tr("auto")
            box.addItem(found, "")
            for value in ENCODINGS if name == "encoding" else words.settings()[name].choices[1:]:
                box.addItem(value if name == "encoding" else words.choice_word(name, value), value)
            if chosen and box.findData(chosen) < 0:
                box.addItem(chosen, chosen)
            box.setCurrentIndex(box.findData(chosen))
            box.setEnabled(table.format.kind == "csv" or name == "encoding")

    @Slot()
    def _choose(self) -> None:
        if self._session.table is None:
            return
        chosen = {name: str(box.currentData() or "") for name, box in self._boxes.items()}
        typed = self.first.currentText().strip()
        if typed != self.first.itemText(self.first.currentIndex()):
            chosen["encoding"] = typed
        if chosen != self._session.table_overrides:
            self._session.reread_table(**chosen)
