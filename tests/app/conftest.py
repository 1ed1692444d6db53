"""For every test of the window: no screen needed, and nothing may be left running or open."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["CLOZE_FONT"] = "inter"  # in the box: words are as wide on every machine

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.look import theme
from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from app.shipped import assets
from app.work import job
from app.work.job import Job
from engine.inspect.loaded_model import LoadedModel
from tests.app.hand import Hand, OpenWindow, Page, ShowPage

job.INTERVAL_MS = 5  # what a training says is heard sooner than in the window: most tests wait for it
PATIENCE_MS = 180_000  # ends at once where things go well; on a busy computer they take their time


class PatientBot(QtBot):
    """pytest-qt's hand, whose waits last as long as a busy computer needs."""

    def waitUntil(self, callback: Callable[[], object], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    return PatientBot(request)


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["cloze-tests"]


@pytest.fixture(scope="session", autouse=True)
def box_is_read_once() -> Iterator[None]:
    """Open each model in the box once for all tests: each window opens one, and none changes it."""
    box, opened = assets(), LoadedModel.open
    once = cache(opened)

    def open_model(folder: Path | str, device: str = "auto", *, name: str = "") -> LoadedModel:
        return (once if Path(folder).is_relative_to(box) else opened)(folder, device, name=name)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LoadedModel, "open", staticmethod(open_model))
        yield


@pytest.fixture(autouse=True)
def nothing_is_left(qapp: QApplication) -> Iterator[None]:
    """Fail a test that leaves a thread, a running job or timer, or a top-level widget alive."""
    theme.apply_theme(qapp, "light")
    gc.disable()  # as in the window: a worker that collects would destroy what is Qt's
    gc.collect()  # the test before let go of its page after it was looked through; frozen it would stay
    gc.freeze()  # timers and jobs found later are new, and finding them is quick
    threads, windows = set(threading.enumerate()), _windows()
    yield
    gc.enable()
    deadline = time.monotonic() + 2  # a thread that is told to end may need a moment
    while time.monotonic() < deadline:
        _let_go(qapp)
        left = [f"thread {thread.name}" for thread in threading.enumerate() if thread not in threads]
        left += [name for key, name in _windows().items() if key not in windows] + _running()
        if not left:
            return
        time.sleep(0.001)
    pytest.fail(f"left alive: {', '.join(left)}")


@pytest.fixture(autouse=True)
def unstyled(qapp: QApplication, nothing_is_left: None) -> None:
    """Take the style sheet off: to style a page takes as long as to make it. Looks and journeys keep it."""
    theme.watcher().sheet = ""
    qapp.setStyleSheet("")


@pytest.fixture
def styled(qapp: QApplication, unstyled: None) -> None:
    """Put the style sheet on, for a test that judges how things look or how much room they take."""
    theme.apply_theme(qapp, "light")


def _let_go(qapp: QApplication) -> None:
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.processEvents()


def _running() -> list[str]:
    """Return the jobs and timers that go on, of those made since the freeze."""
    # to ask each of some 45,000 new objects for its base classes, too, takes as long as many a test
    found = (thing for thing in gc.get_objects() if type(thing) in (Job, QTimer))
    things = [thing for thing in found if shiboken6.isValid(thing)]
    jobs = [f"job {thing.state}" for thing in things if isinstance(thing, Job) and thing.is_running]
    return jobs + [
        f"timer of {thing.parent()}" for thing in things if isinstance(thing, QTimer) and thing.isActive()
    ]


def _windows() -> dict[int, str]:
    """Return the parentless windows; a tooltip belongs to Qt and stays."""
    found = (widget for widget in QApplication.topLevelWidgets() if shiboken6.isValid(widget))
    return {_key(widget): f"window {_class(widget)}" for widget in found if _counts(widget)}


def _counts(widget: QWidget) -> bool:
    return widget.parent() is None and _class(widget) not in ("QTipLabel", "QDesktopWidget")


def _class(widget: QWidget) -> str:
    return widget.metaObject().className()


def _key(thing: object) -> int:
    return int(shiboken6.getCppPointer(thing)[0])


@pytest.fixture
def no_models_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be in the box, so that no page opens a model by itself."""
    monkeypatch.setattr("app.shipped.assets", lambda: tmp_path / "assets")


@pytest.fixture
def settings(tmp_path: Path) -> AppSettings:
    """What is remembered: nothing yet, and runs lie in the test's own folder."""
    made = AppSettings(tmp_path / "settings.ini")
    made.runs_root = str(tmp_path / "runs")
    return made


@pytest.fixture
def session(settings: AppSettings, qtbot: PatientBot) -> Iterator[Session]:
    """A session of its own, put to rest at the end."""
    made = Session(settings)
    yield made
    _put_to_rest(made, qtbot)


def _put_to_rest(session: Session, qtbot: PatientBot) -> None:
    if session.training.is_running:
        session.training.stop()
        qtbot.waitUntil(lambda: not session.training.is_running)
    session.close()
    assert session.wait_idle(PATIENCE_MS / 1000)


@pytest.fixture
def show_page(session: Session, qapp: QApplication, qtbot: PatientBot) -> ShowPage[Any]:
    """Return what makes a page and shows it, as large as it stands in the window."""

    def show(kind: Callable[[Session], Page]) -> Page:
        qapp.setStyleSheet("")  # the page wears it
        made = kind(session)
        theme.dress(made)
        made.resize(1104, 772)
        qtbot.addWidget(made)
        made.show()
        return made

    return show


@pytest.fixture
def hand(page: QWidget, qtbot: PatientBot) -> Hand:
    """A person at the test's own `page`."""
    return Hand(page, qtbot)


@pytest.fixture
def open_window(qtbot: PatientBot) -> Iterator[OpenWindow]:
    """Return what opens the whole window with some settings, and waits until it has found what there is."""
    opened: list[MainWindow] = []

    def start(settings: AppSettings) -> MainWindow:
        opened.append(MainWindow(Session(settings), warm_up=False))
        opened[-1].show()
        assert opened[-1].session.wait_idle(PATIENCE_MS / 1000)
        return opened[-1]

    yield start
    for window in opened:
        session = window.session
        session.training.stop()
        qtbot.waitUntil(lambda session=session: not session.training.is_running)  # type: ignore[misc]
        window.close()
        assert session.wait_idle(PATIENCE_MS / 1000)
        window.deleteLater()
        vars(window).clear()  # pytest holds the window a little longer; its pictures must not wait for that
