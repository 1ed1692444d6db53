"""The Data page's table: which of its rows are shown, in which order, and the ways to all else of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QMenu,
    QWidget,
)  # fmt: skip

from app import words
from app.look.inputs import LineEdit
from app.look.labels import ElidedLabel, tip
from app.look.layout import STRETCH, row
from app.look.table_model import TableModel
from app.look.table_view import TableView
from app.look.widgets import Card, button
from app.pages.data.hand import KEYS, TableMenus
from app.pages.data.lines import LinesDialog
from app.pages.data.reading import ReadingStrip
from app.pages.data.roles import RolesStrip, role_menu, roles_asked
from app.pages.data.state import DOWN, LONGEST_FIRST, UP, ColumnOrder
from app.session import Session
from app.work.found_rows import found_rows, rows_with_label
from app.work.table_rows import Rows
from app.work.worker import Channel
from engine.text.examples import reported_lines
from engine.text.roles import Roles

LEAST_ROWS = 44  # px of the table
TYPED_MS = 200  # after the last letter
MOST_SEARCHED = 20  # columns
MOST_RULED = 5000  # rows of which those of one text are ruled off
WIDEST = 200  # pixels for the label column at most
NARROW = 88  # for a column that is not used
MOST_MEASURED = 50  # rows that tell how wide a column is
MOST_FITTED = 100  # columns that are measured; of more, the rest are narrow


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """Rows that are shown alone. rows: in their order; None: all. what: these in words. label, remark: whose
    they are, as a `DataState` has it.
    """

    rows: Rows | None = None
    what: str = ""
    label: str = ""
    remark: str = ""


class TableCard(Card):
    """Rows with line numbers, and the way to those that are left out.

    compare_wanted: a column's labels are to be compared with those that are learned.
    """

    compare_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.setObjectName("table_card")
        self.reported_button = button("", "link", name="reported_lines")
        self.reported_button.setToolTip(self.tr("See which lines are excluded, and why"))
        self.reported_button.clicked.connect(self.show_lines)
        self.change_button = button(self.tr("change"), "link", name="change_reading")
        self.change_button.setToolTip(
            self.tr("Read the file another way: encoding, separator, quoting, sheet, header")
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
        self.view.setMinimumHeight(LEAST_ROWS)
        self._texts: list[int] = []  # places of the columns with texts
        self._given = self._others = 0
        self._was_shown = False
        self.model = TableModel(None, self)
        self.view.setModel(self.model)
        self.view.resized.connect(self._refit_texts)
        self.view.selectionModel().selectionChanged.connect(self._show_selected)
        self.model.modelReset.connect(self._show_selected)
        header = self.view.horizontalHeader()
        header.setResizeContentsPrecision(MOST_MEASURED)
        header.setSectionsClickable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.sectionClicked.connect(self._open_role_menu)
        header.customContextMenuRequested.connect(self._open_role_menu_at)
        header.setToolTip(self.tr("Click a column’s name to set its role"))
        numbers = self.view.verticalHeader()
        numbers.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        numbers.customContextMenuRequested.connect(self._open_line_menu)
        numbers.setToolTip(self.tr("Right-click a line number to make that line the header"))
        self.hand = TableMenus(session, self)
        self.view.menu_asked.connect(self._open_rows_menu)
        self.rows_button = button(self.tr("Fix rows…"), name="mend_rows")
        self.rows_button.setToolTip(
            self.tr(
                "Change, relabel or exclude the selected rows. You can also right-click them, or press F2, "
                "1 to 9 or Delete"
            )
        )
        self.rows_button.clicked.connect(self._open_rows_menu_below)
        self.view.doubleClicked.connect(self._change_cell)
        self._key("F2", self._change_cell)
        self._key("Del", self._exclude)
        for place in range(KEYS):
            self._key(str(place + 1), partial(self._relabel_as, place))
        self.shown_rows = ShownRows()
        self.shown_rows.all_wanted.connect(self.show_all)
        self.search = LineEdit(placeholderText=self.tr("Search the rows"), clearButtonEnabled=True)
        self.search.setObjectName("search_rows")
        self.search.setAccessibleName(self.tr("Search the rows"))
        self.search.setMaximumWidth(220)
        self._typed = QTimer(self, singleShot=True, interval=TYPED_MS)
        self._typed.timeout.connect(self._look_for)
        self.search.textChanged.connect(self._typed.start)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._begin_search)
        self._looking = Channel(self, session.workers.files)
        self.chosen = ChosenRows()
        self.order: ColumnOrder | None = None
        self.add_layout(row(self.search, STRETCH, self.rows_button, gap=12))
        self.add(self.shown_rows)
        self.add(self.view, 1)
        session.data.opened.connect(self.show_table)
        session.data.roles_changed.connect(self._show_roles)
        session.data.summary_changed.connect(self._say_roles)
        session.data.roles_changed.connect(self.show_all)
        session.data.mends.changed.connect(self._show_mends)
        session.data.summary_changed.connect(self._show_hint)
        session.busy.changed.connect(self._show_hint)
        self.show_table()
        self._show_roles()
        self._show_selected()

    def show_table(self) -> None:
        """Show the session's table from its first row."""
        table = self._session.data.table
        self.model.set_table(table)
        self._choose(ChosenRows())
        self._looking.drop()
        self.shown_rows.clear()
        self._show_mends()
        self.set_title(words.shorten(table.path.name, 48) if table else "")
        self.title_label.setToolTip(tip(str(table.path)) if table else "")
        self.view.scrollToTop()
        self._show_hint()

    def _show_roles(self) -> None:
        self._say_roles()
        self._fit_columns()

    def _say_roles(self) -> None:
        """Say in the header what the columns are for, as the table's task calls that once it is known."""
        roles = self._session.data.roles or Roles(text="")
        self.model.set_roles(roles, roles_asked(self._session))

    def show_only(self, chosen: ChosenRows, search: str = "", order: ColumnOrder | None = None) -> None:
        """Show these rows alone, those that hold what is looked for, in their order or that of a column."""
        if self._session.data.table is not None:
            self._choose(chosen, search, order)
            self._look_for()

    def _choose(self, chosen: ChosenRows, search: str = "", order: ColumnOrder | None = None) -> None:
        self.chosen, self.order = chosen, order
        self.search.setText(search)
        self._typed.stop()

    def show_label(self, label: str, search: str = "", order: ColumnOrder | None = None) -> None:
        """Show the rows of a label alone. Args: as `show_only`."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or roles.label not in table.columns:
            return
        what = self.tr("label {label}").format(label=words.shorten(label, 40))
        self._looking.ask(
            (table, label, self._session.data.mends.recipe),
            partial(rows_with_label, table, roles.label, label, self._session.data.mends.recipe),
            heard=lambda rows: self.show_only(ChosenRows(rows, what, label=label), search, order),
            again=True,
        )

    def show_all(self) -> None:
        """Show all rows again, where some were shown alone."""
        if self.chosen.rows is not None or self.search.text() or self.order is not None:
            self.show_only(ChosenRows())

    def order_by(self, column: str, how: str) -> None:
        """Put the rows that are shown in the order of a column, one of ORDERS; "" as they stand."""
        self.order = ColumnOrder(column, how) if how else None
        self._look_for()

    @property
    def is_looking(self) -> bool:
        """Whether the rows to be shown are still looked for."""
        return self._typed.isActive() or self._looking.is_asking

    def _begin_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _look_for(self) -> None:
        """Find the rows that are to be shown, on a worker where anything has to be looked for."""
        table, roles = self._session.data.table, self._session.data.roles
        rows, query = self.chosen.rows, self.search.text().strip()
        order = None if self.order is None else (self.order.column, self.order.how)
        self._looking.drop()
        if table is None:
            return
        if not query and order is None:
            self._show_found(rows)
            return
        used = list(roles.read) if roles is not None else []
        columns = [*used, *(name for name in table.columns if name not in used)][:MOST_SEARCHED]
        self._looking.ask(
            (table, query, order, self._session.data.mends.recipe),
            partial(found_rows, table, rows, query, columns, order, self._session.data.mends.recipe),
            heard=self._show_found,
        )

    def _show_found(self, rows: Rows | None) -> None:
        table = self._session.data.table
        if table is None:
            return
        base, what = self.chosen.rows, self.chosen.what
        self.model.show_only(rows)
        self.view.set_ruled(self._alike_from(rows) if rows is not None and rows is base else ())
        self.view.scrollToTop()
        if rows is None:
            self.shown_rows.clear()
            return
        query = self.search.text().strip()
        if query:
            holds = self.tr("contains “{query}”").format(query=words.shorten(query, 30))
            what = f"{what} · {holds}" if what else holds
        self.shown_rows.say(len(rows), table.num_rows, what or self.tr("in another order"))

    def _alike_from(self, rows: Rows) -> set[int]:
        """Return where another text begins among rows of which those of one text lie together; else none."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or not roles.text or len(rows) > MOST_RULED:
            return set()
        texts = list(map(str.strip, table.frame[roles.text].array.take(rows).tolist()))
        begins = {place for place in range(1, len(texts)) if texts[place] != texts[place - 1]}
        return begins if len(begins) + 1 < len(texts) else set()

    def _show_mends(self) -> None:
        """Show what becomes of rows and cells by the recipe."""
        if self._session.data.table is None:
            return
        recipe = self._session.data.mends.recipe
        if recipe is None:
            self.model.set_mends((), {})
        else:
            changed = {name: recipe.changing(name) for name in recipe.columns}
            self.model.set_mends(set(recipe.left_out()), changed)
        self.view.viewport().update()

    def show_lines(self) -> None:
        """Open the list of lines and rows that are left out."""
        data, recipe = self._session.data, self._session.data.mends.recipe
        if data.table is not None:
            mended = reported_lines(data.table, recipe.left_out()) if recipe else ()
            LinesDialog(data.table, data.table_summary, mended, self).open()

    def _show_hint(self) -> None:
        table, summary = self._session.data.table, self._session.data.table_summary
        if table is None:
            return
        num_unread, num_unused = len(table.reported), len(summary.reported) if summary else 0
        num_mended = summary.num_mended_out if summary else 0
        rows = words.counted(table.num_rows, self.tr("{count} row"), self.tr("{count} rows"))
        if num_unread or num_unused or num_mended:
            rows = self.tr("{used} of {all} rows can be used").format(
                used=words.number(table.num_rows - num_unused - num_mended),
                all=words.number(table.num_rows + num_unread),
            )
        self.set_hint(" · ".join([rows, *map(words.say, table.format.parts())]))
        self.reported_button.setText(
            self.tr("{count} excluded").format(count=words.number(num_unread + num_unused + num_mended))
        )
        self.reported_button.setVisible(num_unread + num_unused + num_mended > 0)

    def _fit_columns(self) -> None:
        """Give the text columns the room and the others what their first rows need."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None:
            return
        header = self.view.horizontalHeader()
        needed = [
            max(self.view.sizeHintForColumn(place), header.sectionSizeHint(place)) + 8
            for place in range(min(len(table.columns), MOST_FITTED))
        ]
        texts = [table.columns.index(name) for name in roles.read]
        if not texts:  # nobody has said which: whatever is long
            texts = [place for place, width in enumerate(needed) if width > WIDEST]
        widths = {
            place: max(64, min(width, WIDEST if table.columns[place] == roles.label else NARROW))
            for place, width in enumerate(needed)
            if place not in texts
        }
        header.setStretchLastSection(False)  # with it, each width that is set costs a look at all columns
        for place in range(len(table.columns)):
            wanted = widths.get(place, NARROW)
            if place not in texts and header.sectionSize(place) != wanted:
                header.resizeSection(place, wanted)
        header.setStretchLastSection(True)
        self._texts, self._others = texts, sum(widths.values())
        self._fit_texts()

    def _fit_texts(self) -> None:
        """Share what room the other columns leave among those with texts."""
        room = max(360, self.view.viewport().width())
        self._given = max(200, (room - self._others) // max(1, len(self._texts)))
        for place in self._texts:
            self.view.setColumnWidth(place, self._given)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._was_shown:  # what was measured before had not its style yet
            self._was_shown = True
            self._fit_columns()

    def _refit_texts(self) -> None:
        """Share the room anew, unless somebody has drawn a column wider or narrower."""
        last = self.model.columnCount() - 1  # which takes what is left
        texts = [place for place in self._texts if place < last]
        if self._texts and all(self.view.columnWidth(place) == self._given for place in texts):
            self._fit_texts()

    def _show_reading(self, shown: bool) -> None:
        self.change_button.setText(self.tr("done") if shown else self.tr("change"))
        self.reading.setVisible(shown)
        if shown:
            self.reading.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_role_menu_at(self, place: QPoint) -> None:
        self._open_role_menu(self.view.horizontalHeader().logicalIndexAt(place))

    def _open_line_menu(self, place: QPoint) -> None:
        """Offer to make a line the header."""
        table, row = self._session.data.table, self.view.verticalHeader().logicalIndexAt(place)
        if table is None or table.format.kind != "csv" or row < 0:
            return
        line = str(self.model.headerData(row, Qt.Orientation.Vertical))
        menu = QMenu(self)
        menu.setObjectName("line_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(self.tr("Line {line} names the columns").format(line=line))
        action.triggered.connect(lambda: self._session.data.reread(header=line))
        menu.popup(self.view.verticalHeader().mapToGlobal(place))

    def _key(self, key: str, call: Callable[[], None]) -> None:
        """Let a key be heard while the rows have the keyboard."""
        shortcut = QShortcut(QKeySequence(key), self.view, call)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)

    def _cell(self) -> tuple[int, str, str] | None:
        """Return the table's row, the column and the text of the current cell; None where there is none."""
        table, index = self._session.data.table, self.view.currentIndex()
        if table is None or not index.isValid() or index.column() >= len(table.columns):
            return None
        text = str(index.data(Qt.ItemDataRole.UserRole))
        return self.model.table_row(index.row()), table.columns[index.column()], text

    def _change_cell(self) -> None:
        if (cell := self._cell()) is not None:
            self.hand.change_cell(*cell)

    def _exclude(self) -> None:
        if rows := self.selected_rows():
            self.hand.exclude(rows)

    def _relabel_as(self, place: int) -> None:
        self.hand.relabel_as(self.selected_rows(), place)

    def selected_rows(self) -> list[int]:
        """Return the rows of the table that are selected, from the top."""
        chosen = self.view.selectionModel().selectedIndexes()
        return [self.model.table_row(shown) for shown in sorted({index.row() for index in chosen})]

    def _open_rows_menu_below(self) -> None:
        self._open_rows_menu(self.rows_button.mapToGlobal(QPoint(0, self.rows_button.height())))

    def _open_rows_menu(self, at: QPoint) -> None:
        """Offer what can be done with the rows that are selected."""
        rows = self.selected_rows()
        if not rows:
            return
        menu = QMenu(self)
        menu.setObjectName("rows_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if len(rows) == 1 and (cell := self._cell()) is not None:
            self.hand.add_cell(menu, *cell)
        self.hand.add_rows(menu, rows)
        menu.popup(at)

    def _show_selected(self) -> None:
        self.rows_button.setEnabled(self.view.selectionModel().hasSelection())

    def _open_role_menu(self, section: int) -> None:
        table = self._session.data.table
        if table is None or not 0 <= section < len(table.columns):
            return
        header = self.view.horizontalHeader()
        name = table.columns[section]
        menu = role_menu(self._session, name, self)
        roles = self._session.data.roles
        if roles is not None and name not in roles.read and len(table.columns) > len(roles.read) + 1:
            menu.addSeparator()
            other = "" if name == roles.label else name
            menu.addAction(
                self.tr("Compare with another label column…"), partial(self.compare_wanted.emit, other)
            )
        menu.addSeparator()
        orders = {UP: self.tr("A to Z"), DOWN: self.tr("Z to A"), LONGEST_FIRST: self.tr("Longest first")}
        for how, said in {**orders, "": self.tr("In the order of the file")}.items():
            menu.addAction(said, partial(self.order_by, name, how))
        menu.popup(header.mapToGlobal(QPoint(header.sectionViewportPosition(section) + 4, header.height())))


class ShownRows(QWidget):
    """Says that some rows are shown alone, and which; a click on "Show all rows" leads back."""

    all_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shown_rows")
        self.label = ElidedLabel("")
        self.label.setObjectName("shown_rows_words")
        self.back = button(self.tr("Show all rows"), "link", name="show_all_rows")
        self.back.clicked.connect(self.all_wanted)
        row((self.label, 1), self.back, parent=self)
        self.clear()

    def clear(self) -> None:
        """Say nothing: all rows are shown."""
        self.label.setText("")
        self.hide()

    def say(self, count: int, total: int, what: str) -> None:
        """Say how many of the table's rows are shown, and what they are."""
        text = self.tr("{count} of {total} rows: {what}")
        self.label.setText(text.format(count=words.number(count), total=words.number(total), what=what))
        self.show()
