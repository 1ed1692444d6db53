"""The bar over every page: the model, the table and the text in hand, the running job, the way to all else.

There is one of each for the whole window. A page says which it uses (`RailPage.uses`) and where it shows
something else than what is in hand (`StatedPage.in_bar`); the bar names what the page shows. Nothing here
changes by itself: the model of a training that has ended is offered.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QProgressBar, QSizePolicy, QWidget

from app import words
from app.look import theme
from app.look.files import ask_file
from app.look.inputs import PushButton, ToolButton
from app.look.labels import PART, ElidedLabel, label, tip
from app.look.layout import STRETCH, row
from app.look.widgets import PAGE_MARGIN, button, named, set_role
from app.page_stack import training_page
from app.pages.choose.model_box import FolderQuestion
from app.pages.run.state import RunPageState
from app.pages.stated_page import InBar, StatedPage
from app.rail import DATA, MODEL, RAIL_PAGES, TEXT
from app.running_job import RunningJob, running_job
from app.session import Session
from app.text_editor import TextEditor
from app.work.later import later
from app.work.library import ModelEntry
from app.work.titles import about_words, model_title, shape_words

if TYPE_CHECKING:
    from app.pages.models.state import ModelsState
else:  # which knows how large a model is, and brings torch
    ModelsState = later("app.pages.models.state", "ModelsState")

HEIGHT = 44  # px
NARROW = 900  # px of the bar, below which the field says less
FIELD, NARROW_FIELD = 244, 132
JOB_WIDTH, LEAST = 64, 92
WIDEST = {MODEL: 400, DATA: 400, TEXT: 480}
MOST_MODELS, MOST_TABLES, LONGEST = 12, 8, 60


def _in_full(made: ElidedLabel, name: str) -> ElidedLabel:
    """Return a label that asks for the room of its words, and is elided where there is less."""
    made.setObjectName(name)
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return made


class ThreadButton(ToolButton):
    """A caption, what is in hand, and a sign that there is a menu. Args: name: of the object."""

    def __init__(self, name: str, caption: str, widest: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caption = caption
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(30)
        self.setMaximumWidth(widest)
        set_role(self, "thread")
        self.value = _in_full(ElidedLabel("", "strong"), f"{name}_value")
        self.mark, sign = QLabel(), QLabel()
        self.mark.hide()
        theme.on_theme_change(
            sign, lambda: sign.setPixmap(theme.icon("chevron-down", "muted").pixmap(14, 14))
        )
        theme.on_theme_change(
            self.mark, lambda: self.mark.setPixmap(theme.icon("look", "look").pixmap(14, 14))
        )
        self._parts = row(
            label(caption, "muted"),
            (self.value, 1),
            self.mark,
            sign,
            gap=7,
            margins=(8, 0, 6, 0),
            parent=self,
        )
        for part in self.findChildren(QLabel):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_value(self, text: str, more: str, *, is_wrong: bool = False) -> None:
        """Say what is in hand. Args: more: said where the mouse rests. is_wrong: it cannot be used."""
        self.value.setText(text)
        self.mark.setVisible(is_wrong)
        self.setMinimumWidth(max(LEAST, self._parts.minimumSize().width()))
        self.setAccessibleName(words.captioned(self._caption, text))
        self.setToolTip(tip(more))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._parts.sizeHint().width(), 30).boundedTo(self.maximumSize())


class JobButton(PushButton):
    """The running job, slim: its name and how far it is; a click leads to its page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("thread_job")
        self.setFixedHeight(30)
        self.setMaximumWidth(220)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(100)
        set_role(self, "thread")
        self.name = _in_full(ElidedLabel("", "accent"), "thread_job_name")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(JOB_WIDTH)
        self._parts = row((self.name, 1), self.bar, gap=10, margins=(8, 0, 8, 0), parent=self)
        for part in (self.name, self.bar):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_job(self, job: RunningJob | None) -> None:
        self.setVisible(job is not None)
        if job is not None:
            self.name.setText(job.name)
            job.show_in(self.bar)
            self.setAccessibleName(job.words)
            self.setToolTip(tip(job.words))
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._parts.sizeHint().width(), 30).boundedTo(self.maximumSize())


class SearchField(PushButton):
    """What looks like a field and opens the palette."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("thread_search")
        self.setAccessibleName(self.tr("Search or do anything"))
        self.setToolTip(self.tr("Search or do anything (Ctrl+P)"))
        self.setFixedHeight(28)
        set_role(self, "search")
        self._said, self._keys = label("", "muted"), label(self.tr("Ctrl+P"), "muted")
        self._parts = row(self._said, STRETCH, self._keys, margins=(10, 0, 9, 0), parent=self)
        for part in (self._said, self._keys):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_narrow(self, is_narrow: bool) -> None:
        """Say less where there is less room, by the width of the words."""
        width = NARROW_FIELD if is_narrow else FIELD
        self.setFixedWidth(width)
        whole, short = self.tr("Search or do anything"), self.tr("Search")
        for text, has_keys in ((whole, True), (short, True), (short, False))[int(is_narrow) :]:
            self._said.setText(text)
            self._keys.setVisible(has_keys)
            if self._parts.minimumSize().width() <= width:
                break


class ThreadBar(QFrame):
    """Names what the page in view shows; each name is a menu to show another."""

    palette_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("thread_bar")
        self.setFixedHeight(HEIGHT)
        set_role(self, "thread-bar")
        self._session, self._inspector = session, session.inspector
        self._page: StatedPage | None = None  # type: ignore[type-arg]  # of whatever state
        self._key = ""
        self._in_order: tuple[str, ...] | None = None
        self._is_opening = False  # a table that was chosen here
        self.buttons = {
            key: ThreadButton(f"thread_{key}", caption, WIDEST[key], self)
            for key, caption in (
                (MODEL, self.tr("Model")),
                (DATA, self.tr("Data")),
                (TEXT, self.tr("Text")),
            )
        }
        self.newer = button(self.tr("Use the new model"), "link", name="thread_newer", call=self._take_newer)
        self.job, self.search = JobButton(), SearchField()
        self.editor: TextEditor | None = None
        self.question = FolderQuestion(session, self, name="thread_model_dialog")
        self._places = row(gap=6)
        row(
            self._places, self.newer, STRETCH, self.job, self.search, gap=10,
            margins=(PAGE_MARGIN - 8, 0, PAGE_MARGIN, 0), parent=self,
        )  # fmt: skip
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        session = self._session
        for key, call in ((MODEL, self.open_models), (DATA, self.open_tables), (TEXT, self.edit_text)):
            self.buttons[key].clicked.connect(call)
        self.search.clicked.connect(self.palette_wanted)
        self.job.clicked.connect(self._show_job)
        self.question.chosen.connect(self._inspector.hold)
        self.question.refused.connect(session.workers.problem)
        self._inspector.model_changed.connect(self.refresh)
        self._inspector.text_changed.connect(self.refresh)
        self._inspector.offered.connect(self.refresh)
        session.data.opened.connect(self._table_opened)
        session.data.refused.connect(self._table_refused)
        for signal in (session.busy.changed, session.training.changed, session.queue.changed):
            signal.connect(self._refresh_job)
        session.hub.changed.connect(self._refresh_job)
        self._refresh_job()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.search.set_narrow(event.size().width() < NARROW)

    # ---- which page

    def show_page(self, key: str, page: QWidget | None) -> None:
        """Name what a page shows from now on. Args: page: None: it is not made yet."""
        if self._page is not None:
            self._page.in_bar_changed.disconnect(self.refresh)
        self._page = page if isinstance(page, StatedPage) else None
        if self._page is not None:
            self._page.in_bar_changed.connect(self.refresh)
        self._key = key
        self.refresh()

    @property
    def uses(self) -> tuple[str, ...]:
        """What the page in view uses of the thread, in the order of its work; rows where it shows any."""
        uses = RAIL_PAGES[self._key].uses if self._key else ()
        return (*uses, DATA) if self.in_bar.data and DATA not in uses else uses

    def _put_in_order(self) -> None:
        if self._in_order == self.uses:
            return
        self._in_order = self.uses
        for one in self.buttons.values():
            self._places.removeWidget(one)
            one.setVisible(False)
        for key in self.uses:
            self._places.addWidget(self.buttons[key])
            self.buttons[key].setVisible(True)

    # ---- what is named

    @property
    def in_bar(self) -> InBar:
        return InBar() if self._page is None else self._page.in_bar

    def refresh(self) -> None:
        """Name what the page in view shows now."""
        shown = self.in_bar
        self._put_in_order()
        self._show_model(shown)
        data, inspector = self._session.data, self._inspector
        name = data.path.name if data.path is not None else ""
        said = shown.data if shown.data is not None else name
        self.buttons[DATA].show_value(
            words.shorten(said, LONGEST) or self.tr("none yet"),
            said if shown.data is not None else str(data.path or ""),
        )
        texts = [inspector.text if shown.has_text else "", inspector.text_pair if shown.with_pair else ""]
        lines = [words.shorten(text, LONGEST) for text in texts if text.strip()]
        self.buttons[TEXT].show_value(
            "  +  ".join(lines) or self.tr("none yet"),
            "\n".join(words.shorten(text, 300) for text in texts if text) or self.tr("Type a text (Ctrl+T)"),
        )
        offered = inspector.trained
        self.newer.setVisible(offered is not None and MODEL in self.uses)
        if offered is not None:
            said = self.tr("Training has ended. New model: {name}")
            self.newer.setToolTip(tip(said.format(name=model_title(offered))))

    def _show_model(self, shown: InBar) -> None:
        inspector = self._inspector
        folder, refusal = inspector.folder, inspector.refusal
        name = shown.model or ("" if folder is None else model_title(folder))
        more = "" if folder is None or shown.model else str(folder)
        if shown.other:
            name = self.tr("{one} vs {other}").format(one=name, other=shown.other)
        if inspector.about is not None and not shown.model:
            more = f"{about_words(inspector.about)}\n{more}"
        elif inspector.is_opening and not shown.model:
            more = self.tr("Opening…")
        if refusal is not None and not shown.model:
            more = words.say_error(refusal)
        self.buttons[MODEL].show_value(
            name or self.tr("none yet"), more, is_wrong=refusal is not None and not shown.model
        )

    def shown(self) -> dict[str, str]:
        """Return what the bar says of each that it shows."""
        return {key: self.buttons[key].value.text() for key in self.uses}

    # ---- the model

    def open_models(self) -> None:
        """Open the menu of models."""
        menu, wanted = self._menu("thread_models"), self.in_bar.wanted
        offered = self._inspector.trained
        if offered is not None:
            said = self.tr("Just trained: {name}").format(name=words.shorten(model_title(offered), LONGEST))
            menu.addAction(said.replace("&", "&&"), self._take_newer)
            menu.addSeparator()
        entries = self._session.library.offered(wanted, chosen=self._inspector.folder)
        for entry in entries[:MOST_MODELS]:
            self._add_model(menu, entry)
        if len(entries) > MOST_MODELS:
            more = menu.addMenu(self.tr("More models"))
            for entry in entries[MOST_MODELS:]:
                self._add_model(more, entry)
        if entries:
            menu.addSeparator()
        menu.addAction(self.tr("Choose a folder…"), self.question.ask)
        folder = self._inspector.folder
        if folder is not None:
            state = ModelsState(model=folder)
            menu.addAction(self.tr("See its contents"), partial(self._session.show_page, "models", state))
        self._pop_up(menu, MODEL)

    def _add_model(self, menu: QMenu, entry: ModelEntry) -> None:
        title = words.shorten(entry.title, LONGEST).replace("&", "&&")
        parts = [] if entry.inventory is None else [shape_words(entry.inventory.config)]
        if entry.score is not None:
            parts.append(words.share(entry.score))
        action = menu.addAction(f"{title}\t{PART.join(parts)}", partial(self._take_model, entry.path))
        action.setToolTip(tip(str(entry.path)))
        action.setCheckable(True)
        action.setChecked(entry.path == self._inspector.folder)

    def _take_model(self, folder: Path) -> None:
        self._inspector.hold(folder)

    def _take_newer(self) -> None:
        if self._inspector.trained is not None:
            self._inspector.hold(self._inspector.trained)

    # ---- the table

    def open_tables(self) -> None:
        """Open the menu of tables, and of the rows that the page can show."""
        menu, shown, data = self._menu("thread_tables"), self.in_bar, self._session.data
        for one in shown.choices:
            action = menu.addAction(words.shorten(one.title, LONGEST).replace("&", "&&"), one.take)
            action.setCheckable(True)
            action.setChecked(one.is_current)
        if shown.choices:
            menu.addSeparator()
        for name in self._session.settings.recent_files[:MOST_TABLES]:
            path = Path(name)
            action = menu.addAction(path.name.replace("&", "&&"), partial(self._take_table, path))
            action.setToolTip(tip(str(path)))
            action.setCheckable(True)
            action.setChecked(path == data.path and shown.data is None)
        menu.addSeparator()
        menu.addAction(self.tr("Open a table…"), self._ask_table)
        if data.path is not None and self._key != "data":
            menu.addAction(self.tr("Show on the Data page"), partial(self._session.show_page, "data"))
        self._pop_up(menu, DATA)

    def _ask_table(self) -> None:
        recent = self._session.settings.recent_files
        ask_file(
            self,
            self.tr("Open a table"),
            lambda path: self._take_table(Path(path)),
            name="thread_table_dialog",
            start=recent[0] if recent else "",
        )

    def _take_table(self, path: Path) -> None:
        take_file = self.in_bar.take_file
        if path != self._session.data.path:
            self._is_opening = True
            self._session.data.open(path)
        if take_file is not None:
            take_file(path)

    def _table_opened(self) -> None:
        self._is_opening = False
        self.refresh()

    def _table_refused(self) -> None:
        if self._is_opening:  # which says why
            self._is_opening = False
            self._session.show_page("data")

    # ---- the text

    def edit_text(self) -> None:
        """Open the boxes for the text, the caret in the first; nothing where the page has no text."""
        if TEXT not in self.uses:
            return
        self.editor = TextEditor(self._session, with_pair=self.in_bar.with_pair, parent=self)
        self.editor.open_below(self.buttons[TEXT])

    # ---- the job

    def _refresh_job(self) -> None:
        job = running_job(self._session)
        self.job.show_job(job if job is not None and job.page else None)

    def _show_job(self) -> None:
        job = running_job(self._session)
        training = self._session.training
        if job is not None and job.page:  # a page may show another run while one elsewhere is followed
            is_led = training.may_leave and job.page == training_page(training.config)
            self._session.show_page(job.page, RunPageState(run=training.run_dir) if is_led else None)

    # ---- menus

    def _menu(self, name: str) -> QMenu:
        menu = named(QMenu(self), name)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        return menu

    def _pop_up(self, menu: QMenu, key: str) -> None:
        under = self.buttons[key]
        menu.setMinimumWidth(min(under.width(), 240))
        menu.popup(under.mapToGlobal(QPoint(0, under.height() + 4)))
