"""The Data page's table: its rows and those left out, how it was read, and what its columns are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QWidget,
)  # fmt: skip

from app import words
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import STRETCH, column, dialog_buttons, row
from app.look.table_model import TableModel
from app.look.table_view import TableView
from app.look.widgets import PAGE_MARGIN, Card, button
from app.pages.choose.encoding_box import EncodingBox
from app.pages.data.hand import TableMenus
from app.pages.data.roles import ListBox, RolesStrip, role_menu
from app.session import Session
from app.work.found_rows import found_rows, rows_with_label
from app.work.table_rows import Rows
from app.work.tables import TableSummary
from app.work.worker import Channel
from engine.text.examples import reported_lines
from engine.text.recipe import DROP, RELABEL
from engine.text.roles import Roles
from engine.text.table import BadLine, Table

TYPED_MS = 200  # after the last letter
MOST_SEARCHED = 20  # columns
BESIDE = 88  # pixels of a column that stands beside the table's own
MOST_LINES = 5000  # in the list of those left out
HEADER_LINES = 12  # that may be chosen; any line can by a click on its number
WIDEST = 200  # pixels for the label column at most
NARROW = 88  # for a column that is not used
MOST_MEASURED = 50  # rows that tell how wide a column is
MOST_FITTED = 100  # columns that are measured; of more, the rest are narrow


class TableCard(Card):
    """Rows with line numbers, and the way to those that are left out."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.setObjectName("table_card")
        self.reported_button = button("", "link", name="reported_lines")
        self.reported_button.setToolTip(self.tr("Read which lines are left out, and why"))
        self.reported_button.clicked.connect(self.show_lines)
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
        header.setToolTip(self.tr("Click a column's name to say what it holds"))
        numbers = self.view.verticalHeader()
        numbers.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        numbers.customContextMenuRequested.connect(self._open_line_menu)
        numbers.setToolTip(self.tr("A right click on a line's number makes that line the header"))
        self.hand = TableMenus(session, self)
        self.view.menu_asked.connect(self._open_rows_menu)
        self.rows_button = button(self.tr("Mend rows…"), name="mend_rows")
        self.rows_button.setToolTip(
            self.tr("Give the selected rows another label, or leave them out: also by a right click on them")
        )
        self.rows_button.clicked.connect(self._open_rows_menu_below)
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
        self._filter: tuple[Rows | None, str] = (None, "")  # rows that a remark is about, and what they are
        self._beside: dict[str, Sequence[str]] = {}
        self._order: tuple[str, str] | None = None  # a column, and how
        self._labels: dict[int, str] = {}  # of relabelled rows
        self.add_layout(row(self.search, STRETCH, self.rows_button, gap=12))
        self.add(self.shown_rows)
        self.add(self.view, 1)
        session.data.opened.connect(self.show_table)
        session.data.roles_changed.connect(self._show_roles)
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
        self._filter, self._order, self._beside = (None, ""), None, {}
        self.search.clear()
        self._typed.stop()
        self._looking.drop()
        self.shown_rows.clear()
        self._show_mends()
        self.set_title(words.shorten(table.path.name, 48) if table else "")
        self.title_label.setToolTip(tip(str(table.path)) if table else "")
        self.view.scrollToTop()
        self._show_hint()

    def _show_roles(self) -> None:
        self.model.set_roles(self._session.data.roles or Roles(text=""))
        self._fit_columns()

    def show_only(self, rows: Rows, what: str, beside: Mapping[str, Sequence[str]] | None = None) -> None:
        """Show these rows alone, in this order, and say what they are. Args: beside: more columns of them."""
        if self._session.data.table is not None:
            self._filter, self._order, self._beside = (rows, what), None, dict(beside or {})
            self.search.clear()
            self._typed.stop()
            self._look_for()

    def show_label(self, label: str) -> None:
        """Show the rows of a label alone."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or roles.label not in table.columns:
            return
        what = self.tr("label {label}").format(label=words.shorten(label, 40))
        self._looking.ask(
            (table, label, self._session.data.mends.recipe),
            partial(rows_with_label, table, roles.label, label, self._session.data.mends.recipe),
            heard=lambda rows: self.show_only(rows, what),
            again=True,
        )

    def show_all(self) -> None:
        """Show all rows again, where some were shown alone."""
        if self._filter[0] is not None or self.search.text() or self._order is not None:
            self._filter, self._order, self._beside = (None, ""), None, {}
            self.search.clear()
            self._typed.stop()
            self._look_for()

    def order_by(self, column: str, how: str) -> None:
        """Put the rows that are shown in the order of a column: "up", "down" or "long"; "" as they stand."""
        self._order = (column, how) if how else None
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
        rows, _what = self._filter
        query = self.search.text().strip()
        self._looking.drop()
        if table is None:
            return
        if not query and self._order is None:
            self._show_found(rows)
            return
        used = list(roles.read) if roles is not None else []
        columns = [*used, *(name for name in table.columns if name not in used)][:MOST_SEARCHED]
        self._looking.ask(
            (table, query, self._order),
            partial(found_rows, table, rows, query, columns, self._order, self._labels),
            heard=self._show_found,
        )

    def _show_found(self, rows: Rows | None) -> None:
        table = self._session.data.table
        if table is None:
            return
        base, what = self._filter
        num_columns = self.model.columnCount()
        self.model.show_only(rows, self._beside if rows is base else {})
        if self.model.columnCount() != num_columns:
            self._fit_columns()
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
        if table is None or roles is None or not roles.text or len(rows) > MOST_LINES:
            return set()
        texts = list(map(str.strip, table.frame[roles.text].array.take(rows).tolist()))
        begins = {place for place in range(1, len(texts)) if texts[place] != texts[place - 1]}
        return begins if len(begins) + 1 < len(texts) else set()

    def _show_mends(self) -> None:
        """Show what becomes of rows and labels by the recipe."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None:
            return
        left_out: set[int] = set()
        self._labels = {}
        for step in self._session.data.mends.steps:
            if step.do == DROP:
                left_out.update(step.rows)
            elif step.do == RELABEL:
                self._labels.update(dict.fromkeys(step.rows, step.label))
        self.model.set_mends(left_out, self._labels, roles.label)
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
            self.tr("{count} left out").format(count=words.number(num_unread + num_unused + num_mended))
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
        beside = range(len(table.columns), self.model.columnCount())
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
        for place in beside:
            header.resizeSection(place, BESIDE)
        header.setStretchLastSection(True)
        self._texts, self._others = texts, sum(widths.values()) + BESIDE * len(beside)
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
        menu.addSeparator()
        orders = {"up": self.tr("A to Z"), "down": self.tr("Z to A"), "long": self.tr("Longest first")}
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


class ReadingStrip(QWidget):
    """How the file is read, each part open to change; a change reads it again at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 4)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._boxes: dict[str, ListBox] = {}
        self._labels: list[QLabel] = []
        self.first = EncodingBox("reading_encoding")
        self.first.chosen.connect(self._choose)
        self._place("encoding", self.first)
        for name in ("separator", "quoting", "header"):
            self._add(name)
        session.data.opened.connect(self._show)
        session.data.refused.connect(self._show)
        self._show()

    def _add(self, name: str) -> None:
        box = ListBox(minimumContentsLength=4)
        box.setObjectName(f"reading_{name}")
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setToolTip(words.tr_engine(words.settings()[name].help))
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.setAccessibleName(words.label_of(name))
        box.activated.connect(self._choose)
        self._boxes[name] = box
        self._place(name, box)

    def _place(self, name: str, box: QWidget) -> None:
        title = label(words.label_of(name), "muted")
        title.setBuddy(box)
        place = len(self._boxes)  # the encoding, which is none of them, comes first
        self._grid.addWidget(title, 0, place)
        self._grid.addWidget(box, 1, place)

    def _show(self) -> None:
        table = self._session.data.table
        if table is None:
            return
        overrides = self._session.data.overrides
        self.first.show_read(overrides["encoding"], table.format.encoding)
        detected = {
            "separator": words.choice_word("separator", table.format.separator)
            if table.format.separator
            else "",
            "quoting": words.choice_word("quoting", table.format.quoting),
            "header": words.choice_word("header", str(table.format.header_line or "no")),
        }
        for name, box in self._boxes.items():
            chosen = overrides[name]
            box.clear()
            found = self.tr("auto: {value}").format(value=detected[name]) if not chosen else self.tr("auto")
            box.addItem(found, "")
            for value in self._choices(name):
                box.addItem(words.choice_word(name, value), value)
            if chosen and box.findData(chosen) < 0:
                box.addItem(words.choice_word(name, chosen), chosen)
            box.setCurrentIndex(box.findData(chosen))
            box.setEnabled(table.format.kind == "csv")

    def _choices(self, name: str) -> Sequence[str]:
        """Return what a box offers beside what is detected: for the header no line, or one of the first."""
        if name == "header":
            return ("no", *(str(number) for number in range(1, HEADER_LINES + 1)))
        return words.settings()[name].choices[1:]

    def _choose(self) -> None:
        if self._session.data.table is None:
            return
        chosen = {name: str(box.currentData() or "") for name, box in self._boxes.items()}
        chosen["encoding"] = self.first.value
        if chosen != self._session.data.overrides:
            self._session.data.reread(**chosen)


class LinesDialog(QDialog):
    """Reported lines with their reasons; deletes itself when closed. Args: mended: left out by mends."""

    def __init__(
        self,
        table: Table,
        summary: TableSummary | None,
        mended: Sequence[BadLine] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("lines_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Lines left out of {name}").format(name=table.path.name))
        self.resize(640, 400)
        rows = summary.reported if summary else ()
        unread = words.counted(
            len(table.reported),
            self.tr("One line could not be read"),
            self.tr("{count} lines could not be read"),
        )
        unused = words.counted(
            len(rows),
            self.tr("one row lacks a text or a label"),
            self.tr("{count} rows lack a text or a label"),
        )
        said = [unread, unused]
        if mended:
            said.append(
                words.counted(
                    len(mended),
                    self.tr("one row was left out here"),
                    self.tr("{count} rows were left out here"),
                )
            )
        self._text = TextEdit(readOnly=True, tabChangesFocus=True)
        self._text.setObjectName("lines_text")
        self._text.setAccessibleName(self.windowTitle())
        self._text.setPlainText(
            self._lines(sorted((*table.reported, *rows, *mended), key=lambda bad: bad.line))
        )
        copy = button(self.tr("Copy all"), name="lines_copy", icon="copy")
        copy.clicked.connect(self._copy)
        close = button(self.tr("Close"), "primary", name="lines_close")
        close.clicked.connect(self.accept)
        column(
            label(f"{'; '.join(said)}.", wrap=True),
            (self._text, 1),
            dialog_buttons(copy, reject=close),
            gap=12,
            margins=(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 16),
            parent=self,
        )

    def _lines(self, reported: list[BadLine]) -> str:
        lines = [words.say(bad.sentence) for bad in reported[:MOST_LINES]]
        if len(reported) > MOST_LINES:
            more = self.tr("… and {count} more").format(count=words.number(len(reported) - MOST_LINES))
            lines.append(more)
        return "\n".join(lines)

    def _copy(self) -> None:
        QApplication.clipboard().setText(self._text.toPlainText())
