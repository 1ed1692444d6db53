"""The palette (Ctrl+P): whatever can be done or opened, found by a few letters of its name.

What stands in it is gathered as it opens, from what is declared elsewhere: the pages of the rail, the buttons
that the page in view has in its header, the actions of the window, and the models, runs, tables and lectures
that are known. Opened without a letter it shows what fits the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHeaderView, QTableView, QWidget

from app import shipped, words
from app.look.columns import RIGHT, Row, of
from app.look.copy_command import COPY_KEYS, CopyCommandButton
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.rows_model import RowsModel, TableColumn
from app.look.table_view import TableView
from app.look.widgets import named, primary_buttons, set_role
from app.pages.models.state import ModelsState
from app.pages.run.state import RunPageState
from app.rail import LECTURES, RAIL_PAGES, TEXT, title_of
from app.session import Session
from app.work.page_state import PageState

MOST_SHOWN, ROW, WIDTH, TOP = 10, 30, 680, 56  # lines, px
SHARES = (0.46, 0.2, 0.34)  # of the width: name, kind, hint


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """Something that can be done. kind: what it is, in grey. hint: its key, or where it lives.

    is_able: whether it can be done now; what it lacks is said by `hint`.
    """

    title: str
    kind: str
    do: Callable[[], object]
    hint: str = ""
    is_able: bool = True


def found(entries: Iterable[PaletteEntry], typed: str) -> list[PaletteEntry]:
    """Return what is meant by some letters: names that begin so, words that do, what stands within, and last
    names whose words begin with them. Within each, the order stays as it was.
    """
    wanted = typed.casefold().split()
    ranked = [(_rank(f"{one.title} {one.kind}".casefold(), wanted), one) for one in entries]
    return [one for rank, one in sorted(((r, o) for r, o in ranked if r >= 0), key=lambda pair: pair[0])]


def _rank(name: str, wanted: list[str]) -> int:
    """Return how well a name is met, 0 the best; -1: not at all."""
    if name.startswith(" ".join(wanted)):
        return 0
    if all(any(word.startswith(part) for word in name.split()) for part in wanted):
        return 1
    if all(part in name for part in wanted):
        return 2
    return 3 if "".join(word[0] for word in name.split()).startswith("".join(wanted)) else -1


class EntriesModel(RowsModel):
    """Entries as lines; what cannot be done now is grey."""

    def ink_of(self, row: Row, column: TableColumn) -> str:
        return super().ink_of(row, column) if row.is_able else "muted"


class Palette(QFrame):
    """One line to type in, the ten best lines under it. Enter does the chosen one, Esc changes nothing.

    It lies over the page in view, which stays as it is, and goes as soon as the keyboard is elsewhere.
    """

    def __init__(self, entries: list[PaletteEntry], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        set_role(self, "card")
        self._entries = entries
        self._before = parent.focusWidget()
        self.line = named(LineEdit(), "palette_line", self.tr("Search or do anything"))
        self.line.setPlaceholderText(self.tr("Search or do anything"))
        self.line.setMaxLength(200)
        self.line.installEventFilter(self)
        self.count = label("", "muted", name="palette_count")
        self.rows, self.view = EntriesModel(self), TableView()
        self.view.setObjectName("palette_rows")
        self.view.setModel(self.rows)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.view.horizontalHeader().hide()
        self.view.verticalHeader().hide()
        self.view.set_door(True)
        self.view.row_wanted.connect(self.do)
        keys = label(self.tr("↑ ↓ choose · Enter runs it · Esc closes"), "muted")
        foot = row(keys, STRETCH, self.count)
        column(self.line, self.view, foot, gap=8, margins=(12, 12, 12, 10), parent=self)
        self.setFixedWidth(min(WIDTH, parent.width() - 40))
        self.line.textChanged.connect(self._show)
        self._show("")

    @property
    def shown(self) -> list[PaletteEntry]:
        """The lines in view, the best first."""
        return list(self.rows.rows)

    def _show(self, typed: str) -> None:
        met = found(self._entries, typed)
        shown = met[:MOST_SHOWN]
        hint = TableColumn("", of("hint"), ink="muted", side=RIGHT)
        self.rows.put((TableColumn("", of("title")), TableColumn("", of("kind"), ink="muted"), hint), shown)
        header, width = self.view.horizontalHeader(), self.width() - 26
        for place, share in enumerate(SHARES):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(place, int(share * width))
        self.view.setFixedHeight(max(1, len(shown)) * ROW + 2)
        counted = self.tr("{shown} of {count}")
        self.count.setText(counted.format(shown=words.number(len(shown)), count=words.number(len(met))))
        self.view.selectRow(0)
        self.adjustSize()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.close()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._press(Qt.Key(event.key()))
        return False

    def _press(self, key: Qt.Key) -> bool:
        """Do what a key means here; False where it means nothing."""
        move = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)
        if move and self.rows.rowCount():
            self.view.selectRow((self.view.currentIndex().row() + move) % self.rows.rowCount())
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.do(self.view.currentIndex().row())
        elif key == Qt.Key.Key_Escape:
            self._give_back()
        return bool(move) or key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape)

    def _give_back(self) -> None:
        """Close, and leave the keyboard where it was."""
        before = self._before
        self.close()
        if before is not None and before.isVisible():
            before.setFocus()

    def do(self, place: int) -> None:
        """Do what stands in a line, after this is closed; nothing where it cannot be done now."""
        if 0 <= place < self.rows.rowCount() and self.rows.rows[place].is_able:
            QTimer.singleShot(0, self.window(), self.rows.rows[place].do)
            self._give_back()


class SearchedWindow(Protocol):
    """What of a window the palette offers."""

    session: Session

    @property
    def current_page(self) -> str: ...
    @property
    def page_in_view(self) -> QWidget | None: ...
    def show_page(self, key: str, state: PageState | None = None) -> None: ...
    def keys_of(self, key: str) -> str: ...
    def open_file(self, path: Path | str) -> None: ...
    def open_run(self, path: Path) -> None: ...
    def show_lecture(self, path: Path) -> None: ...
    def actions(self) -> Sequence[QAction]: ...


def open_palette(window: SearchedWindow, parent: QWidget) -> Palette:
    """Open it over the page in view. Args: parent: the window as a widget."""
    before = parent.findChild(Palette, "palette")
    if before is not None and before.isVisible():
        before.line.setFocus()
        return before
    made = Palette(entries_of(window), parent)
    made.move((parent.width() - made.width()) // 2, TOP)
    made.show()
    made.raise_()
    made.line.setFocus()
    return made


def entries_of(window: SearchedWindow) -> list[PaletteEntry]:
    """Return all that can be done in a window now: on its page first, then pages, what is yours, the rest."""
    return [*_of_page(window), *_pages(window), *_yours(window), *_lectures(window), *_of_window(window)]


def _of_page(window: SearchedWindow) -> Iterable[PaletteEntry]:
    """The buttons in the header of the page in view, and the blue one below: what it can do."""
    page = window.page_in_view
    header = getattr(page, "header", None)
    title = title_of(RAIL_PAGES[window.current_page])
    found = header.findChildren(QAbstractButton) if header is not None else []
    below = primary_buttons(page) if page is not None else []
    for one in (*found, *(one for one in below if one not in found)):
        name = one.text().replace("&", "").strip() or one.accessibleName()
        if name and not one.isHidden():
            keys = COPY_KEYS if isinstance(one, CopyCommandButton) else one.shortcut().toString()
            hint = keys if one.isEnabled() else words.shorten(one.toolTip(), 60)
            yield PaletteEntry(name, title, one.click, hint, one.isEnabled())


def _of_window(window: SearchedWindow) -> Iterable[PaletteEntry]:
    kind = words.translate("palette", "action")
    for action in window.actions():
        name = action.text().replace("&", "").strip()
        if name:
            keys = action.shortcut().toString()
            yield PaletteEntry(name, kind, action.trigger, keys, action.isEnabled())


def _pages(window: SearchedWindow) -> Iterable[PaletteEntry]:
    kind = words.translate("palette", "page")
    for key, page in RAIL_PAGES.items():
        yield PaletteEntry(title_of(page), kind, partial(window.show_page, key), window.keys_of(key))
    yield PaletteEntry(words.translate("rail", "Lectures"), kind, partial(window.show_page, LECTURES))
    adapt, plan = words.translate("palette", "Adapt to your texts first"), RunPageState(adapts=True)
    where = title_of(RAIL_PAGES["finetune"])
    yield PaletteEntry(adapt, where, partial(window.show_page, "finetune", plan))


def _yours(window: SearchedWindow) -> Iterable[PaletteEntry]:
    """Runs, tables and models that are known."""
    session = window.session
    for path, title in session.runs.titles.items():
        kind, hint = words.translate("palette", "run"), words.translate("palette", "show its curves")
        yield PaletteEntry(title, kind, partial(window.open_run, path), hint)
    for text, pair in session.inspector.recent_texts:
        kind, hint = words.translate("palette", "text"), words.translate("palette", "look at it")
        said = words.shorten("  +  ".join(part for part in (text, pair) if part), 60)
        yield PaletteEntry(said, kind, partial(_look_at, window, text, pair), hint)
    for name in session.settings.recent_files:
        kind, hint = words.translate("palette", "table"), words.translate("palette", "open")
        yield PaletteEntry(Path(name).name, kind, partial(window.open_file, name), hint)
    for entry in session.library.offered():
        kind, hint = words.translate("palette", "model"), words.translate("palette", "see its contents")
        state = ModelsState(model=entry.path)
        yield PaletteEntry(entry.title, kind, partial(window.show_page, "models", state), hint)


def _look_at(window: SearchedWindow, text: str, pair: str) -> None:
    """Have a text in hand again; on a page that shows it."""
    window.session.inspector.set_text(text, pair)
    if TEXT not in RAIL_PAGES[window.current_page].uses:
        window.show_page("probe")


def _lectures(window: SearchedWindow) -> Iterable[PaletteEntry]:
    kind, hint = words.translate("palette", "lecture"), words.translate("palette", "watch")
    for one in (*shipped.lectures(), *shipped.other_lectures()):
        yield PaletteEntry(one.title, kind, partial(window.show_lecture, one.path), hint)
