"""The pages of the window: each is made at its first visit, of modules that were imported before.

What takes long and knows no Qt is imported on a thread; the pages' own modules on the window's thread, a few
milliseconds at a time. A Qt class that is made on another thread while the window works off its events ends
the program now and then.

A page hears nothing before it is made. So what it shows, it has to read from the session then, and not only
to hear of; a training is the one exception: its page is made as it begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.look.labels import label
from app.pages.stated_page import StatedPage
from app.remembered import keep_state, kept_state
from app.session import Session
from app.work import garbage
from app.work.job import Job
from engine.errors import UserError
from engine.events import Beat, Event
from engine.settings.family import FamilyConfig
from engine.settings.pretrain import PretrainConfig

PAGES = {  # folder in app/pages -> class in its page.py; in the order of the rail
    "welcome": "WelcomePage",
    "data": "DataPage",
    "label": "LabelPage",
    "finetune": "FineTunePage",
    "evaluate": "EvaluatePage",
    "predict": "PredictPage",
    "tokenizer": "TokenizerPage",
    "probe": "ProbePage",
    "attention": "AttentionPage",
    "embeddings": "EmbeddingsPage",
    "anatomy": "AnatomyPage",
    "family": "FamilyPage",
    "models": "ModelsPage",
    "runs": "RunsPage",
    "pretrain": "PretrainPage",
}
START_MS = 150  # after the first paint began: what is on screen comes first
AT_ONCE = "welcome"  # stands on nothing that takes long to import
LIBRARIES = (  # what takes longest of all that the pages stand on; none of them knows Qt
    "torch",
    "safetensors.torch",
    "tokenizers",
    "engine.train.resume",
    "engine.family.train",
    "engine.evaluation.report",
    "engine.inspect.anatomy.effect",
    "engine.inspect.attention.views",
    "engine.runs.index",
)
SLICE_S = 0.008  # the window's thread imports for so long, and a module more, before it looks at its events


class PageStack(QStackedWidget):
    """The pages that have been visited, one of them in view.

    Args: ahead: import the modules of all pages once the window is on screen; a page that is asked for before
    has a word in its place. Without, a page's modules are imported as it is made.
    """

    made = Signal(str, QWidget)
    painted = Signal()  # a moment after the first paint, where modules are imported ahead
    shown = Signal(str)  # the key of the page that was asked for, whether it stands there yet or not
    imported = Signal()  # the modules of all pages
    failed = Signal(object)

    def __init__(self, session: Session, *, ahead: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._pages: dict[str, QWidget] = {}
        self._ready = {AT_ONCE} if ahead else set(PAGES)  # whose modules are there
        self._waiting: list[tuple[str, Callable[[Any], object]]] = []
        self._wanted: list[str] = []  # whose modules are to come first
        self._left: dict[str, list[str]] = {}  # page -> modules that are still to be imported
        self._no_garbage = ExitStack()
        self.current = ""  # the key of the page that was asked for last
        self._soon = label(self.tr("One moment…"), "muted", name="page_soon")
        self._soon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.addWidget(self._soon)
        self._imports = Job(import_libraries, self, name="imports")
        self._imports.failed.connect(self._fail)
        self._imports.ended.connect(self._begin_modules)
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._import_some)
        self._rest = QTimer(self, singleShot=True, interval=START_MS)
        self._rest.timeout.connect(self.painted)
        self._rest.timeout.connect(self._imports.start)
        session.training.started.connect(self._make_training_page)

    @property
    def is_ready(self) -> bool:
        """Whether the modules of all pages are there."""
        return self._ready == set(PAGES)

    def page(self, key: str) -> QWidget:
        """Return a page by its key, made now where nobody has been there yet."""
        if key not in self._pages:
            made = cast(QWidget, getattr(import_module(module_of(key)), PAGES[key])(self._session))
            self._pages[key] = made
            self._restore(key, made)
            self._ready.add(key)
            self.addWidget(made)
            self.made.emit(key, made)
            if key == self.current:
                self.setCurrentWidget(made)
            waiting, self._waiting = self._waiting, []
            for wanted, call in waiting:
                self.when_made(wanted, call)
        return self._pages[key]

    def page_made(self, key: str) -> QWidget | None:
        """Return a page that was visited; None for one that is not made yet."""
        return self._pages.get(key)

    def show_page(self, key: str) -> None:
        """Show a page, or a word in its place until it can be made.

        The focus of the page that goes does not jump to what happens to come first on the new one.
        """
        self.current = key
        focused = QApplication.focusWidget()
        if focused is not None and self.isAncestorOf(focused):
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        if key in self._ready:
            self.setCurrentWidget(self.page(key))
        else:
            self.setCurrentWidget(self._soon)
            self._wanted.append(key)
        self.shown.emit(key)

    def when_made(self, key: str, call: Callable[[Any], object]) -> None:
        """Call with a page as soon as it is there: now, where its modules are."""
        if key in self._ready:
            call(self.page(key))
        else:
            self._wanted.append(key)
            self._waiting.append((key, call))

    def keep_states(self) -> None:
        """Keep what each page that was visited shows, for the next start."""
        for key, page in self._pages.items():
            if isinstance(page, StatedPage) and page.is_state_shown:
                with suppress(UserError):  # there is nothing yet: what was kept before stays, too
                    keep_state(self._session.settings, key, page.state)

    def _restore(self, key: str, page: QWidget) -> None:
        if isinstance(page, StatedPage):
            kept = kept_state(self._session.settings, key, page.state_kind)
            if kept is not None:
                page.restore_state(kept)

    def close_imports(self) -> None:
        """Import nothing more."""
        self._rest.stop()
        self._end_modules()
        if self._imports.is_running:
            self._imports.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.is_ready and self._imports.state == "new" and not self._rest.isActive():
            self._rest.start()

    def _begin_modules(self) -> None:
        if self._imports.outcome == "finished":
            self._left = {key: modules_of(key) for key in PAGES if key not in self._ready}
            self._no_garbage.enter_context(garbage.put_off())  # looking through all that comes: half a second
            self._slices.start()

    def _import_some(self) -> None:
        """Import modules of pages for a moment, those of a page that is wanted first."""
        try:
            end = time.perf_counter() + SLICE_S
            while self._left and time.perf_counter() < end:
                key = next((key for key in self._wanted if key in self._left), next(iter(self._left)))
                import_module(self._left[key].pop(0))
                if not self._left[key]:
                    del self._left[key]
                    self._take(key)
        except Exception as error:
            self._end_modules()
            self._fail(error)
        else:
            if not self._left:
                self._end_modules()
                self.imported.emit()

    def _take(self, key: str) -> None:
        self._ready.add(key)
        if key == self.current or key in [wanted for wanted, _call in self._waiting]:
            self.page(key)

    def _end_modules(self) -> None:
        self._slices.stop()
        self._no_garbage.close()

    def _fail(self, error: BaseException) -> None:
        self._ready = set(PAGES)  # who visits a page that cannot be made is told so again
        self.failed.emit(error)

    def _make_training_page(self) -> None:
        """Let the page be there that hears of this training from its beginning."""
        config = self._session.training.config
        if config is not None:
            self.page(training_page(config))


def training_page(config: object) -> str:
    """Return the key of the page that shows runs of this kind of settings."""
    if isinstance(config, FamilyConfig):
        return "family"
    return "pretrain" if isinstance(config, PretrainConfig) else "finetune"


def module_of(key: str) -> str:
    """Return the module of a page."""
    return f"app.pages.{key}.page"


def is_kept(key: str) -> bool:
    """Whether there is such a page, and what it shows can be kept as a scene; imports its module."""
    from app.pages.inside.kept_page import KeptPage  # here: it brings the pictures with it

    return key in PAGES and issubclass(getattr(import_module(module_of(key)), PAGES[key]), KeptPage)


def modules_of(key: str) -> list[str]:
    """Return what is imported for a page, step by step: what charts stand on, charts, its folder, itself."""
    page = module_of(key)
    folders = ("app.plots", page.removesuffix(".page"))
    names = [f"{name}.{one.name}" for name in folders for one in iter_modules(import_module(name).__path__)]
    return ["pyqtgraph", *(name for name in names if name != page), page]


def import_libraries() -> Iterator[Event]:
    """Import what the pages stand on, knows no Qt, and takes long."""
    for name in LIBRARIES:
        import_module(name)
        yield Beat()
