"""The window: a rail of pages, one page at a time, above it what is in hand, below it what runs.

Closing while a model trains asks first, and never leaves before the engine has saved. What trains on another
computer continues there, and is followed again at the next start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QMainWindow, QStyle, QWidget

from app import words
from app.dialogs import LEAST_SIZE, ClosingDialog, HelpDialog, SettingsButton, SettingsDialog
from app.lectures.lecture import SUFFIX
from app.lectures.menu import LectureButton
from app.look import theme
from app.look.banner import Banner
from app.look.copy_command import COPY_KEYS
from app.look.error_dialog import show_error
from app.look.labels import label
from app.look.layout import column, row
from app.look.page import Page
from app.look.share_menu import ON_PAGES, SHARE_KEYS
from app.look.widgets import PAGE_MARGIN, set_role
from app.page_stack import PAGES, PageStack, training_page
from app.pages.run.state import RunPageState
from app.places import Places
from app.rail import LECTURES, RAIL_PAGES, START, Rail, title_of
from app.remembered import keep_model, keep_table, reopen_model, reopen_table
from app.session import Session
from app.status_bar import StatusBar
from app.thread_bar import ThreadBar
from app.unread_banner import UnreadBanner
from app.work.job import Job
from app.work.later import later
from app.work.page_state import PageState
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import UserError
from engine.events import AnswerSoFar, Event
from engine.train.run.runs import RunState, read_config

if TYPE_CHECKING:
    from app.lectures.lectures import Lectures
    from app.palette import open_palette
    from app.share.sharing import Sharing
    from app.tour.steps import Tour
    from engine.device import describe_device, warm_up
else:
    Lectures = later("app.lectures.lectures", "Lectures")
    Sharing = later("app.share.sharing", "Sharing")
    Tour = later("app.tour.steps", "Tour")
    open_palette = later("app.palette", "open_palette")
    describe_device, warm_up = (later("engine.device", name) for name in ("describe_device", "warm_up"))

MOST_HEIGHT = 16_777_215  # Qt's own: no limit
TEXT_KEYS = "Ctrl+T"
BANNER_GAP = 6  # px below the bar
LOW = 700  # px of the window, below which a question about a run takes the place of the bar
NUM_KEYS = 10  # pages that a digit leads to
USUAL_SIZE = QSize(1280, 800)
FRAME_MS = 450  # after which a window manager has put its frame around a new window


class MainWindow(QMainWindow):
    """Rail, pages and status bar around one session."""

    language_chosen = (
        Signal()
    )  # a window says all in the language that it was made in: another takes its place

    def __init__(
        self, session: Session | None = None, *, warm_up: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("main_window")
        self.session = session if session is not None else Session(parent=self)
        self.setAcceptDrops(True)
        self.setMinimumSize(LEAST_SIZE)
        self._closing: ClosingDialog | None = None
        self._measuring = Job(_measure_device, self, name="warm-up")
        self._run_asked = Channel(self, self.session.workers.quick)
        self._framed = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._framed.timeout.connect(self.fit_to_screen)
        self._in_hand: tuple[Path | None, bool, tuple[str, str]] | None = None  # before a lecture or a tour
        self._has_followed = False  # whether runs of other computers were looked for
        self._starts_tour = False  # once the modules of all pages are there
        self._lectures: Lectures | None = None
        self._sharing: Sharing | None = None
        if warm_up:
            self.session.workers.hold()
        self._pages = PageStack(self.session, ahead=warm_up)
        self._places = Places(self._pages, self)
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
        name = label(self.tr("Cloze"), "card-title")
        name.setContentsMargins(10, 0, 0, 4)
        self._lecture_button = LectureButton(lambda: self.lectures)
        settings = SettingsButton()
        settings.clicked.connect(self.show_settings)
        self.rail = Rail(name, self._lecture_button, settings)
        self.rail.setObjectName("rail")
        self.rail.chosen.connect(self.show_page)

    def _lay_out(self) -> None:
        centre = QWidget()
        set_role(centre, "page")
        self.banner = Banner(name="crash_banner")
        self.unread = UnreadBanner(self.session)
        self._banner_row = row(self.banner, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 0))
        self.bar = ThreadBar(self.session)
        self.bar.palette_wanted.connect(self.open_palette)
        self.stage = column(self.bar, self._banner_row, self.unread.place, (self._pages, 1), gap=0)
        row(self.rail, (self.stage, 1), gap=0, parent=centre)
        self.setCentralWidget(centre)
        self.status = StatusBar(self.session)
        self.setStatusBar(self.status)

    def _add_actions(self) -> None:
        standard = QKeySequence.StandardKey
        for text, keys, call in (
            (self.tr("Open a table…"), QKeySequence(standard.Open), self._choose_file),
            (self.tr("Back"), QKeySequence(standard.Back), self._places.go_back),
            (self.tr("Forward"), QKeySequence(standard.Forward), self._places.go_forward),
            (self.tr("Send this page…"), QKeySequence(SHARE_KEYS), self.share_page),
            (self.tr("Take the tour"), QKeySequence(), self.start_tour),
            (self.tr("Settings"), QKeySequence("Ctrl+,"), self.show_settings),
            (self.tr("Keys and help"), QKeySequence(standard.HelpContents), self._show_help),
            (self.tr("Close the window"), QKeySequence(standard.Quit), self.close),
            (self.tr("Edit the text"), QKeySequence(TEXT_KEYS), self.bar.edit_text),
            ("", QKeySequence("Ctrl+P"), self.open_palette),
            ("", QKeySequence(COPY_KEYS), self._copy_command),
        ):
            self._add_action(text, keys, call)
        self._numbered = [key for key in RAIL_PAGES if key != START.key][:NUM_KEYS]
        for key in self._numbered:
            self._add_action("", QKeySequence(self.keys_of(key)), partial(self.show_page, key))
        self.addActions(self._lecture_button.actions_of_window)
        for action in self.actions():
            is_help = action.shortcut() == QKeySequence(standard.HelpContents)
            action.setProperty(ON_PAGES, is_help or action.objectName() == "lecture_keep")

    def _add_action(self, text: str, keys: QKeySequence, call: Callable[[], object]) -> None:
        """Add an action; without a text it stands in no list."""
        action = QAction(text, self, shortcut=keys)
        action.triggered.connect(lambda _checked=False: call())
        self.addAction(action)

    def keys_of(self, key: str) -> str:
        """Return the keys that lead to a page: the steps by their numbers, then what looks inside."""
        number = self._numbered.index(key) + 1 if key in self._numbered else 0
        return f"Ctrl+{number % 10}" if number else ""  # the tenth: 0

    def _copy_command(self) -> None:
        """Put the command for what the page in view shows on the clipboard, where it has one now."""
        page = self.page_in_view
        copying = page.header.copying if isinstance(page, Page) else None
        if copying is not None and not copying.isHidden():
            copying.click()

    def share_page(self) -> None:
        """Ask where to, and write what the page in view shows as one file that can be sent."""
        page = self.page_in_view
        if isinstance(page, Page):
            if self._sharing is None:
                self._sharing = Sharing(self.session, self)
            self._sharing.ask(page)

    def open_palette(self) -> None:
        """Offer whatever can be done or opened, to be found by a few letters."""
        open_palette(self, self)

    def _connect(self) -> None:
        session = self.session
        session.page_requested.connect(self.show_page)
        session.data.opened.connect(self._show_title)
        session.data.roles_changed.connect(self._show_steps)
        session.labels.changed.connect(self._show_steps)
        session.training.changed.connect(self._show_steps)
        for changed in (session.data.mends.changed, session.inspector.model_changed, session.library.changed):
            changed.connect(self._show_steps)
        session.workers.problem.connect(self.show_problem)
        session.queue.refused.connect(self.show_problem)
        session.training.failed.connect(self._training_failed)
        session.training.ended.connect(self._training_ended)
        session.runs.crashed_changed.connect(self._offer_crashed)
        session.runs.found.connect(self._follow_again)
        session.hosts.refused.connect(self._copying_refused)
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
        if key == self.current_page:
            self.bar.show_page(key, page)
            self.unread.show_page(page)
        page.header.share.page_wanted.connect(self.share_page)
        if key == "welcome":
            page.tour_wanted.connect(self.start_tour)
            page.open_wanted.connect(self._choose_file)
            page.sample_text_wanted.connect(self._take_sample_text)
            page.lecture_wanted.connect(self.show_lecture)
            page.own_text_wanted.connect(self._take_own_text)

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
            self._framed.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_bar()

    def _fit_bar(self) -> None:
        """Show the bar, but for a lecture, and for a low window while it asks about a run."""
        is_asking = not self.banner.isHidden() and self.height() < LOW
        self.bar.setVisible(not self._places.is_held and not is_asking)

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
        return {key: title_of(page) for key, page in RAIL_PAGES.items()}

    @property
    def pages(self) -> QWidget:
        """All pages, of which one is in view; they lie in `stage`."""
        return self._pages

    def set_bare(self, bare: bool) -> None:
        """Show the open page alone, without rail and bars, or all of the window again."""
        self._places.is_held = bare
        self._fit_bar()
        self._hold_again(bare)
        self.rail.setVisible(not bare)
        self.status.setVisible(not bare)
        for banner in (self.banner, self.unread):
            banner.setMaximumHeight(0 if bare else MOST_HEIGHT)

    def _hold_again(self, bare: bool) -> None:
        """Have the model and the text in hand again that were there before a lecture or the tour brought its
        own.
        """
        inspector = self.session.inspector
        if bare:
            texts = inspector.text, inspector.text_pair
            self._in_hand = self._in_hand or (inspector.folder, inspector.is_given, texts)
        elif self._in_hand is not None:
            (folder, is_given, texts), self._in_hand = self._in_hand, None
            inspector.set_text(*texts)
            inspector.is_given = is_given
            if folder is not None and folder != inspector.folder:
                inspector.hold(folder)

    # ---- pages

    @property
    def current_page(self) -> str:
        """The key of the page that is open."""
        return self._pages.current

    @property
    def page_in_view(self) -> QWidget | None:
        """The page that is open; None while its modules are still to come."""
        return self._pages.page_made(self.current_page)

    def page(self, key: str) -> QWidget:
        """Return a page by its key, one of `PAGES`."""
        return self._pages.page(key)

    def show_page(self, key: str, state: PageState | None = None) -> None:
        """Open a page. Args: state: what to show there; None: what it shows already."""
        if key == LECTURES:
            QTimer.singleShot(0, self._lecture_button, self._lecture_button.open_menu)
        elif key in PAGES:
            self._places.go(key, state)

    def _show_place(self, key: str) -> None:
        self.rail.set_current(key)
        self.bar.show_page(key, self._pages.page_made(key))
        self.unread.show_page(self._pages.page_made(key))

    def reopen(self) -> None:
        """Open the table and choose the model that were there when the last window closed."""
        reopen_model(self.session)
        reopen_table(self.session)

    def open_file(self, path: Path | str) -> None:
        """Open a table on the Data page, show a lecture, or choose a model when it is a model's folder."""
        if Path(path).suffix.lower() == SUFFIX:
            self.show_lecture(Path(path))
            return
        if (Path(path) / "config.json").is_file():
            self.show_page("finetune", RunPageState())
            self.session.model.choose(str(path))
            return
        self.show_page("data")
        self.session.data.open(path)

    def show_lecture(self, path: Path) -> None:
        """Show a lecture, from its first scene."""
        self.lectures.open(path, starts=True)

    def _take_own_text(self) -> None:
        self._pages.when_made("probe", lambda page: page.take_caret())

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

    def _show_steps(self) -> None:
        """Say in the rail how far each step is."""
        table, training = self.session.data.table, self.session.training
        one, many = self.tr("{count} row"), self.tr("{count} rows")
        self.rail.set_state("data", "" if table is None else words.counted(table.num_rows, one, many))
        self.rail.set_state("label", self._labels_said())
        score = self.session.library.score_of(self.session.inspector.folder)
        self.rail.set_state("evaluate", "" if score is None else words.share(score))
        step = training.state.step if training.is_running else None
        for key in ("finetune", "pretrain"):
            is_here = step is not None and training_page(training.config) == key
            said = self.tr("step {step}").format(step=words.number(step.step)) if is_here and step else ""
            self.rail.set_state(key, said, is_running=True)

    def _labels_said(self) -> str:
        """Return how many labels were given, else how many of the table were changed."""
        given, changed = self.session.labels.num_given, self.session.data.mends.num_relabelled
        if given:
            return words.counted(given, self.tr("{count} label"), self.tr("{count} labels"))
        return self.tr("{count} changed").format(count=words.number(changed)) if changed else ""

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

    def show_settings(self) -> None:
        """Open what belongs to no page."""
        dialog = SettingsDialog(self.session, self)
        dialog.help_wanted.connect(self._show_help)
        dialog.language_chosen.connect(self.language_chosen)
        dialog.open()

    def _show_help(self) -> None:
        dialog = HelpDialog(self)
        dialog.tour_wanted.connect(self.start_tour)
        dialog.open()

    def start_tour(self) -> None:
        """Lead a person through the window, once its pages can be made; nothing while that is under way."""
        self._starts_tour = not self._pages.is_ready
        if self._pages.is_ready and self.findChild(QWidget, "tour") is None:
            self._hold_again(True)
            tour = Tour(self)
            tour.ended.connect(partial(self._end_tour, self.session.training.last_model))
            tour.start()

    def _end_tour(self, trained: Path | None, _is_whole: bool) -> None:
        """Give back what was in hand, and offer what the tour has trained. Args: trained: the last before."""
        self._hold_again(False)
        last = self.session.training.last_model
        if last is not None and last != trained and last.absolute() != self.session.inspector.folder:
            self.session.inspector.offer(last)

    def _copying_refused(self, run_dir: Path, error: BaseException) -> None:
        if run_dir != getattr(self.page_in_view, "run_dir", None) and self.current_page != "runs":
            self.show_problem(error)  # else the page says it

    # ---- runs of other computers

    def _follow_again(self) -> None:
        """Follow, once after the start, the newest run that trains on another computer unheard."""
        if self._has_followed:
            return
        self._has_followed = True
        if self.session.runs.unfollowed and not self.session.training.is_running:
            path = self.session.runs.unfollowed[0]
            with suppress(UserError):  # its settings cannot be read, which Runs says
                key = training_page(read_config(path))
                self._pages.when_made(key, lambda _page: self._follow(path))

    def _follow(self, path: Path) -> None:
        if not self.session.training.is_running:
            self.session.training.follow(path)

    # ---- runs that were cut off

    def _offer_crashed(self) -> None:
        runs = () if self.session.training.is_busy else self.session.runs.crashed
        self._banner_row.setContentsMargins(PAGE_MARGIN, BANNER_GAP if runs else 0, PAGE_MARGIN, 0)
        if not runs:
            self.banner.hide()
            self._fit_bar()
            return
        run = runs[0]
        text = self.tr("The run {name} was interrupted at step {step} of {total}. Continue it?").format(
            name=run_title(run.path), step=words.number(run.step), total=words.number(run.num_steps)
        )
        if not run.num_steps:  # minutes or tokens bound it, or it had not begun
            template = self.tr("The run {name} was interrupted at step {step}. Continue it?")
            if not run.step:
                template = self.tr("The run {name} was interrupted before its first step. Continue it?")
            text = template.format(name=run_title(run.path), step=words.number(run.step))
        actions = [(self.tr("Resume"), self._resume_crashed), (self.tr("Not now"), self._dismiss_crashed)]
        self.banner.show_text("look", text, actions, closable=False)
        self._fit_bar()

    def open_run(self, path: Path) -> None:
        """Show a run on the page of its kind, which its settings tell."""
        self._run_asked.ask(
            path,
            partial(read_config, path),
            heard=lambda config: self.show_page(training_page(config), RunPageState(run=path)),
            refused=self.show_problem,
            again=True,
        )

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
        training = self.session.training
        self._closing = ClosingDialog(training.state, self, continues=training.may_leave)
        self._closing.stop_wanted.connect(self._end_training)
        self._closing.finished.connect(self._keep_open)
        self._closing.setWindowModality(Qt.WindowModality.WindowModal)
        self._closing.open()

    def _end_training(self) -> None:
        """Stop and keep what trains here; leave what trains elsewhere."""
        training = self.session.training
        (training.leave if training.may_leave else training.stop)()

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
