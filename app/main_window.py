"""The window: a rail of pages, one page at a time, a status bar that always tells what is open and what runs.

Closing while a model trains asks first, and never leaves before the engine has saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QShowEvent,
)
from PySide6.QtWidgets import QMainWindow, QStyle, QWidget

from app import words
from app.dialogs import ClosingDialog, HelpDialog, SettingsButton
from app.lectures.menu import LectureButton
from app.look import theme
from app.look.banner import Banner
from app.look.error_dialog import show_error
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import GAP, PAGE_MARGIN, Rail, set_role
from app.page_stack import PAGES, PageStack, training_page
from app.pages.run.state import RunPageState
from app.remembered import keep_model, keep_table, reopen_model, reopen_table
from app.session import Session
from app.status_bar import StatusBar
from app.work.job import Job
from app.work.later import later
from app.work.page_state import PageState
from app.work.titles import run_title
from engine.errors import UserError
from engine.events import AnswerSoFar, Event
from engine.train.run.runs import RunState, read_config

if TYPE_CHECKING:
    from app.lectures.lectures import Lectures
    from app.tour.steps import Tour
    from engine.device import describe_device, warm_up
else:
    Lectures = later("app.lectures.lectures", "Lectures")
    Tour = later("app.tour.steps", "Tour")
    describe_device, warm_up = (later("engine.device", name) for name in ("describe_device", "warm_up"))

MOST_HEIGHT = 16_777_215  # Qt's own: no limit
NUM_KEYS = 10  # pages that a digit leads to
USUAL_SIZE = QSize(1280, 800)
FRAME_MS = 400  # after which a window manager has put its frame around a new window
LOOKING = ("tokenizer", "probe", "attention", "embeddings", "anatomy")


class MainWindow(QMainWindow):
    """Rail, pages and status bar around one session."""

    def __init__(
        self, session: Session | None = None, *, warm_up: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("main_window")
        self.session = session if session is not None else Session(parent=self)
        self.setAcceptDrops(True)
        self.setMinimumSize(QSize(960, 600))
        self._closing: ClosingDialog | None = None
        self._measuring = Job(_measure_device, self, name="warm-up")
        self._starts_tour = False  # once the modules of all pages are there
        self._lectures: Lectures | None = None
        if warm_up:
            self.session.workers.hold()
        self._pages = PageStack(self.session, ahead=warm_up)
        theme.dress(self)
        self._build_rail()
        self._lay_out()
        self._add_actions()
        self._connect()
        self._restore()
        self._show_title()
        self.session.runs.find()

    # ---- building

    def _build_rail(self) -> None:
        self.rail = Rail()
        self.rail.setObjectName("rail")
        name = label(self.tr("Cloze"), "card-title")
        name.setContentsMargins(10, 0, 0, 0)
        self.rail.add_widget(name)
        for group, pages in self._groups():
            if group:
                self.rail.add_group(group)
            for key, title in pages.items():
                self.rail.add_page(key, title, icon_name=key)
        self.rail.add_stretch()
        self._lecture_button = LectureButton(lambda: self.lectures)
        self.rail.add_widget(self._lecture_button)
        settings = SettingsButton(self.session)
        settings.help_wanted.connect(self._show_help)
        self.rail.add_widget(settings)
        self.rail.chosen.connect(self.show_page)

    def _groups(self) -> list[tuple[str, dict[str, str]]]:
        """Return the headings of the rail, each with the keys and titles of its pages."""
        return [
            ("", {"welcome": self.tr("Welcome")}),
            (self.tr("Data"), {"data": self.tr("Data"), "tokenizer": self.tr("Tokenizer")}),
            (self.tr("Train"), {"pretrain": self.tr("Pretrain"), "finetune": self.tr("Fine-tune")}),
            (self.tr("Use"), {"predict": self.tr("Predict"), "evaluate": self.tr("Evaluate")}),
            (
                self.tr("Look inside"),
                {
                    "probe": self.tr("Probe"),
                    "attention": self.tr("Attention"),
                    "embeddings": self.tr("Embeddings"),
                    "anatomy": self.tr("Anatomy"),
                },
            ),
            (
                self.tr("Library"),
                {"models": self.tr("Models"), "runs": self.tr("Runs"), "family": self.tr("Family")},
            ),
        ]

    def _lay_out(self) -> None:
        centre = QWidget()
        set_role(centre, "page")
        self.banner = Banner(name="crash_banner")
        self._banner_row = row(self.banner, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 0))
        self.stage = column(self._banner_row, (self._pages, 1), gap=0)
        row(self.rail, (self.stage, 1), gap=0, parent=centre)
        self.setCentralWidget(centre)
        self.status = StatusBar(self.session)
        self.setStatusBar(self.status)

    def _add_actions(self) -> None:
        for keys, call in (
            (QKeySequence(QKeySequence.StandardKey.Open), self._choose_file),
            (QKeySequence(QKeySequence.StandardKey.Quit), self.close),
            (QKeySequence(QKeySequence.StandardKey.HelpContents), self._show_help),
        ):
            self._add_action(keys, call)
        for number, key in enumerate([*PAGES][:NUM_KEYS], start=1):
            self._add_action(QKeySequence(f"Ctrl+{number % 10}"), partial(self._go_to, key))  # the tenth: 0
        self.addActions(self._lecture_button.actions_of_window)

    def _add_action(self, keys: QKeySequence, call: object) -> None:
        action = QAction(self, shortcut=keys)
        action.triggered.connect(call)
        self.addAction(action)

    def _connect(self) -> None:
        session = self.session
        session.page_requested.connect(self.show_page)
        session.data.opened.connect(self._show_title)
        session.workers.problem.connect(self.show_problem)
        session.queue.refused.connect(self.show_problem)
        session.training.failed.connect(self._training_failed)
        session.training.ended.connect(self._training_ended)
        session.runs.crashed_changed.connect(self._offer_crashed)
        session.training.started.connect(self._offer_crashed)
        self.banner.closed.connect(self._dismiss_crashed)
        self._pages.made.connect(self._connect_page)
        self._pages.shown.connect(self._show_place)
        self._pages.painted.connect(self.session.workers.let_go)
        self._pages.imported.connect(self._go_on)
        self._pages.failed.connect(self.show_problem)
        self._measuring.heard.connect(self._take_device)
        self._measuring.failed.connect(self.show_problem)

    def _go_on(self) -> None:
        """Do what had to wait for the modules of the pages, torch among them."""
        self._measuring.start()
        if self._starts_tour:
            self.start_tour()

    @property
    def is_ready(self) -> bool:
        """Whether all is there that is made ready beside the window."""
        return self._pages.is_ready and not self._measuring.is_running

    def _connect_page(self, key: str, page: Any) -> None:
        if key == "welcome":
            page.tour_wanted.connect(self.start_tour)
            page.open_wanted.connect(self._choose_file)
            page.sample_text_wanted.connect(self._take_sample_text)
            page.lecture_wanted.connect(self._show_lecture)

    def _restore(self) -> None:
        settings = self.session.settings
        if not (settings.geometry and self.restoreGeometry(QByteArray(settings.geometry))):
            title = self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
            room = QGuiApplication.primaryScreen().availableGeometry().size()
            self.resize(USUAL_SIZE.boundedTo(room - QSize(0, title)))
        self._first_size = self.size()
        self.show_page(settings.last_page if settings.last_page in PAGES else "welcome")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            QTimer.singleShot(FRAME_MS, self, self.fit_to_screen)

    def fit_to_screen(self) -> None:
        """Shrink and move a window that opened too large for its screen, its title bar counted."""
        if self.isMaximized() or self.isFullScreen() or self.size() != self._first_size:
            return
        frame = self.frameGeometry()
        wanted = fitted(frame, self.screen().availableGeometry())
        if wanted != frame:
            self.resize(self.size() + wanted.size() - frame.size())
            self.move(wanted.topLeft())

    # ---- lectures

    @property
    def lectures(self) -> Lectures:
        """Scenes and lectures: made at the first wish, for it stands on what takes long to import."""
        if self._lectures is None:
            self._lectures = Lectures(self)
        return self._lectures

    @property
    def titles(self) -> dict[str, str]:
        """What the pages are called, by their keys."""
        return {key: title for _group, pages in self._groups() for key, title in pages.items()}

    @property
    def pages(self) -> QWidget:
        """All pages, of which one is in view; they lie in `stage`."""
        return self._pages

    def set_bare(self, bare: bool) -> None:
        """Show the open page alone, without rail and status bar, or all of the window again."""
        self.rail.setVisible(not bare)
        self.status.setVisible(not bare)
        self.banner.setMaximumHeight(0 if bare else MOST_HEIGHT)

    # ---- pages

    @property
    def current_page(self) -> str:
        """The key of the page that is open."""
        return self._pages.current

    def page(self, key: str) -> QWidget:
        """Return a page by its key, one of `PAGES`."""
        return self._pages.page(key)

    def show_page(self, key: str, state: PageState | None = None) -> None:
        """Open a page. Args: state: what to show there; None: what it shows already."""
        if key in PAGES:
            self._pages.show_page(key)
            if state is not None:
                self._pages.when_made(key, lambda page: page.show_state(state))

    def _show_place(self, key: str) -> None:
        self.rail.set_current(key)
        self.status.set_looking(key in LOOKING)

    def _go_to(self, key: str, _checked: bool = False) -> None:
        self.show_page(key)

    def reopen(self) -> None:
        """Open the table and choose the model that were there when the last window closed."""
        reopen_model(self.session)
        reopen_table(self.session)

    def open_file(self, path: Path | str) -> None:
        """Open a table on the Data page, or choose a model when it is a model's folder."""
        if (Path(path) / "config.json").is_file():
            self.show_page("finetune", RunPageState())
            self.session.model.choose(str(path))
            return
        self.show_page("data")
        self.session.data.open(path)

    def _show_lecture(self, path: Path) -> None:
        self.lectures.open(path, starts=True)

    def _take_sample_text(self) -> None:
        self._pages.when_made("pretrain", lambda page: page.take_sample())

    def _choose_file(self) -> None:
        self.show_page("data")
        self._pages.when_made("data", lambda page: page.choose_file())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            if self.current_page == "pretrain":
                self._pages.when_made("pretrain", lambda page: page.take(paths))
            else:
                self.open_file(paths[0])

    # ---- telling

    def _show_title(self) -> None:
        path = self.session.data.path
        name = self.tr("Cloze")
        self.setWindowTitle(f"{words.shorten(path.name, 80)} – {name}" if path else name)

    def show_problem(self, error: BaseException) -> None:
        """Show an error in the one dialog."""
        show_error(error, self)

    def _training_failed(self, error: BaseException) -> None:
        if not isinstance(error, UserError) or self._closing is not None:  # the page says what can be mended
            show_error(error, self)

    def _take_device(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, AnswerSoFar):
                self.status.show_device(event.value)

    def _show_help(self) -> None:
        dialog = HelpDialog(self)
        dialog.tour_wanted.connect(self.start_tour)
        dialog.open()

    def start_tour(self) -> None:
        """Lead a person through the window, once its pages can be made; nothing while that is under way."""
        self._starts_tour = not self._pages.is_ready
        if self._pages.is_ready and self.findChild(QWidget, "tour") is None:
            Tour(self).start()

    # ---- runs that were cut off

    def _offer_crashed(self) -> None:
        runs = () if self.session.training.is_running else self.session.runs.crashed
        self._banner_row.setContentsMargins(PAGE_MARGIN, GAP if runs else 0, PAGE_MARGIN, 0)
        if not runs:
            self.banner.hide()
            return
        run = runs[0]
        text = self.tr("The run {name} was cut off at step {step} of {total}. Go on with it?").format(
            name=run_title(run.path), step=words.number(run.step), total=words.number(run.num_steps)
        )
        if not run.num_steps:  # minutes or tokens bound it, or it had not begun
            template = self.tr("The run {name} was cut off at step {step}. Go on with it?")
            if not run.step:
                template = self.tr("The run {name} was cut off before its first step. Go on with it?")
            text = template.format(name=run_title(run.path), step=words.number(run.step))
        actions = [(self.tr("Resume"), self._resume_crashed), (self.tr("Not now"), self._dismiss_crashed)]
        self.banner.show_text("look", text, actions, closable=False)

    def _resume_crashed(self) -> None:
        run = self.session.runs.crashed[0]
        try:
            key = training_page(read_config(run.path))
        except UserError as error:
            self._refuse_crashed(run, error)
        else:
            self._pages.when_made(key, lambda _page: self._resume(run, key))

    def _resume(self, run: RunState, page: str) -> None:
        try:
            self.session.training.resume(run.path)
        except UserError as error:
            self._refuse_crashed(run, error)
        else:
            self.show_page(page)

    def _refuse_crashed(self, run: RunState, error: UserError) -> None:
        self.session.runs.dismiss(run.path)
        self.show_problem(error)

    def _dismiss_crashed(self) -> None:
        if self.session.runs.crashed:
            self.session.runs.dismiss(self.session.runs.crashed[0].path)

    # ---- closing

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.session.training.is_running:
            event.ignore()
            self._ask_to_close()
            return
        if self._lectures is not None:
            self._lectures.close()  # which gives the window its size and its page back
        settings = self.session.settings
        settings.geometry = bytes(self.saveGeometry().data())
        settings.last_page = self.current_page
        keep_table(self.session)
        keep_model(self.session)
        self._pages.keep_states()
        settings.sync()
        self.hide()  # a worker may be importing torch, and is waited for
        self.session.close()
        self._pages.close_imports()
        if self._measuring.is_running:
            self._measuring.stop()
        event.accept()

    def _ask_to_close(self) -> None:
        if self._closing is not None:
            self._closing.raise_()
            return
        self._closing = ClosingDialog(self.session.training.state, self)
        self._closing.stop_wanted.connect(self.session.training.stop)
        self._closing.finished.connect(self._keep_open)
        self._closing.setWindowModality(Qt.WindowModality.WindowModal)
        self._closing.open()

    def _keep_open(self) -> None:
        self._closing = None

    def _training_ended(self) -> None:
        self._offer_crashed()
        closing, self._closing = self._closing, None
        if closing is None:
            return
        leave = closing.is_saving and self.session.training.state.outcome != "failed"
        closing.done(0)
        if leave:
            self.close()


def fitted(frame: QRect, room: QRect) -> QRect:
    """Return a window's place, its frame included, made smaller and moved so that it lies within the room."""
    size = frame.size().boundedTo(room.size())
    left = max(room.left(), min(frame.left(), room.right() + 1 - size.width()))
    top = max(room.top(), min(frame.top(), room.bottom() + 1 - size.height()))
    return QRect(QPoint(left, top), size)


def _measure_device() -> Iterator[Event]:
    """Answer with the device in words, and find out how fast it is."""
    yield AnswerSoFar(value=describe_device())
    warm_up()
