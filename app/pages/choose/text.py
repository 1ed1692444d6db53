"""Choosing the text to learn from: files, a folder, something dropped, or a column of the open table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_files, ask_folder
from app.look.labels import label, tip
from app.session import Session
from app.shipped import home_text
from app.work.worker import Channel
from engine.errors import bare_column
from engine.events import Steps
from engine.settings.pretrain import TextConfig
from engine.settings.setting import settings_of
from engine.text.examples import guess_roles
from engine.text.reading.kinds import TABLE_SUFFIXES, patterns
from engine.text.table import reading_table

MOST_RECENT, MOST_COLUMNS = 8, 8
FILES, FOLDER, MORE, COLUMN, RECENT = "files", "folder", "more", "column", "recent"


class TextChooser(QObject):
    """The row for the text; `changed` when another one is chosen."""

    changed = Signal()

    def __init__(
        self, session: Session, parent: QWidget, name: str = "text", *, opens_tables: bool = True
    ) -> None:
        """Args: name: of its setting, which the box and its refusal are named after. opens_tables: whether a
        table that is chosen becomes the open one.
        """
        super().__init__(parent)
        self._opens_tables, self._asked = opens_tables, Channel(self, session.workers.files)
        self._session, self._parent = session, parent
        self.places: tuple[str, ...] = ()
        self.column = ""
        self._awaits_table = False  # a table was dropped here; its text column is wanted
        self.box = ChoiceBox(f"{name}_choice", self.tr("Text"))
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName(f"refusal_{name}")
        self.refusal.hide()
        self.box.activated.connect(self._chosen)
        session.data.opened.connect(self.refresh)
        session.data.roles_changed.connect(self._roles_changed)
        self.refresh()

    def rows(self) -> list[tuple[QLabel | None, QWidget]]:
        """Return the rows in order, each a caption and its widget; a sentence has no caption."""
        caption = label(self.tr("Text"))
        caption.setBuddy(self.box)
        caption.setToolTip(tip(words.tr_engine(settings_of(TextConfig)["text"].help)))
        return [(caption, self.box), (None, self.refusal)]

    @property
    def has_text(self) -> bool:
        return bool(self.places)

    @property
    def name(self) -> str:
        """What is chosen, short: a file's name, how many files, or a column of a table."""
        return _short_name(self.places, self.column)

    def values(self) -> dict[str, str]:
        """Return the settings that are chosen here."""
        return {"text": "\n".join(self.places), "column": self.column}

    def choose(self, places: Sequence[str | Path], column: str = "", *, remember: bool = True) -> None:
        """Take files and folders, or a table with a column."""
        self.places, self.column = tuple(map(str, places)), column
        if self.places and remember:
            newest = "\n".join([column, *self.places])
            others = [entry for entry in self._recent() if entry != newest]
            self._session.settings.set_value("pretrain_texts", [newest, *others][:MOST_RECENT])
        self.show_refusal("")
        self.refresh()
        self.changed.emit()

    def take(self, paths: Sequence[str]) -> None:
        """Take what was dropped: text at once; of a table, the text column when it has been read."""
        tables = [path for path in paths if path.lower().endswith(TABLE_SUFFIXES)]
        if tables and len(paths) == 1 and not self._opens_tables:
            work, take = partial(text_column, Path(tables[0])), partial(self._take_column, tables[0])
            self._asked.ask(tables[0], work, heard=take, refused=self._refuse, again=True)
        elif tables and len(paths) == 1:
            self._awaits_table = True
            self._session.data.open(tables[0])
        elif paths:
            self.choose(paths)

    def take_sample(self) -> None:
        """Take the sentences that ship with Cloze."""
        path, column = home_text()
        self.choose([path], column)

    def show_refusal(self, text: str) -> None:
        """Say below the box why this text cannot be taken."""
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))

    def refresh(self) -> None:
        """Fill the box with what can be taken, the chosen text first."""
        box = self.box
        box.clear()
        if self.has_text:
            box.addItem(self.name, (RECENT, "\n".join([self.column, *self.places])))
            box.setItemData(0, tip("\n".join(self.places)), Qt.ItemDataRole.ToolTipRole)
        for entry in self._recent():
            column, *places = entry.split("\n")
            if (column, tuple(places)) != (self.column, self.places) and all(
                Path(place).exists() for place in places
            ):
                box.addItem(_short_name(places, column), (RECENT, entry))
                box.setItemData(box.count() - 1, tip("\n".join(places)), Qt.ItemDataRole.ToolTipRole)
        self._add_columns()
        if box.count():
            box.insertSeparator(box.count())
        box.addItem(self.tr("Choose files…"), (FILES, ""))
        box.addItem(self.tr("Choose a folder…"), (FOLDER, ""))
        if self.has_text and not self.column:
            box.addItem(self.tr("Add more files…"), (MORE, ""))
        box.setPlaceholderText(self.tr("Choose text"))
        box.setCurrentIndex(0 if self.has_text else -1)

    def _add_columns(self) -> None:
        table, roles = self._session.data.table, self._session.data.roles
        if table is None:
            return
        first = [roles.text] if roles is not None and roles.text else []
        for column in [*first, *(name for name in table.columns if name not in first)][:MOST_COLUMNS]:
            if (self.column, self.places) != (column, (str(table.path),)):
                said = self.tr("Column {column} of {table}").format(
                    column=bare_column(column), table=table.path.name
                )
                self.box.addItem(said, (COLUMN, column))

    def _recent(self) -> list[str]:
        found: list[str] = self._session.settings.value("pretrain_texts", list[str]())
        return found

    def _chosen(self, index: int) -> None:
        kind, value = self.box.itemData(index) or (None, "")
        self.box.setCurrentIndex(0 if self.has_text else -1)
        table = self._session.data.table
        if kind == FILES:
            self.browse_files()
        elif kind == MORE:
            self._browse(self._add)
        elif kind == FOLDER:
            self.browse_folder()
        elif kind == COLUMN and table is not None:
            self.choose([table.path], value)
        elif kind == RECENT:
            column, *places = value.split("\n")
            if (column, tuple(places)) != (self.column, self.places):
                self.choose(places, column)

    def browse_files(self) -> None:
        """Open the dialog for text files."""
        self._browse(self._take_files)

    def browse_folder(self) -> None:
        """Open the dialog for a folder of text."""
        title, name = self.tr("Choose a folder of text"), "text_folder_dialog"
        ask_folder(self._parent, title, self._take_folder, name=name, start=self._start())

    def _browse(self, chosen: Callable[[list[str]], None]) -> None:
        texts = self.tr("Text (*.txt *.text *.md *.gz *.xz)")
        tables = self.tr("Tables ({endings})").format(endings=patterns(TABLE_SUFFIXES))
        ask_files(
            self._parent,
            self.tr("Choose text"),
            chosen,
            name="text_dialog",
            start=self._start(),
            filters=[texts, tables, self.tr("All files (*)")],
        )

    def _take_folder(self, path: str) -> None:
        self.take([path])

    def _take_files(self, paths: list[str]) -> None:
        self.take(paths)

    def _add(self, paths: list[str]) -> None:
        self.choose(tuple(dict.fromkeys([*self.places, *paths])))

    def _roles_changed(self) -> None:
        table, roles = self._session.data.table, self._session.data.roles
        if self._awaits_table and table is not None and roles is not None:
            self._awaits_table = False
            if roles.text:
                self.choose([table.path], roles.text)
                return
        self.refresh()

    def _take_column(self, table: str, column: str) -> None:
        self.choose([table], column)

    def _refuse(self, error: BaseException) -> None:
        self.show_refusal(words.say_error(error))

    def _start(self) -> Path:
        return Path(self.places[0]).parent if self.places else Path.home()


def text_column(path: Path) -> Steps[str]:
    """Return the column of a table that looks as if it held its texts. Raises: DataError."""
    table = yield from reading_table(str(path))
    return guess_roles(table).text or table.columns[0]


def _short_name(places: Sequence[str], column: str) -> str:
    """Return a file's name, how many files, or the column of a table."""
    name = (Path(places[0]).name or places[0]) if places else ""
    if column:
        return words.translate("TextChooser", "{column} of {table}").format(column=column, table=name)
    if len(places) > 1:
        more = words.translate("TextChooser", "{first} and {count} more")
        return more.format(first=name, count=words.number(len(places) - 1))
    return name
