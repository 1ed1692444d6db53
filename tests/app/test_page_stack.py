"""Pages are made when they are visited, and show what those would that had been there from the start."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QLabel, QTableView, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.page_stack import AT_ONCE, PAGES
from app.pages.attention.state import AttentionState
from app.session import Session
from app.settings import AppSettings
from app.work import training as training_module
from app.work.job import Job
from engine.events import Event, Progress, Step
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from tests.app.hand import OpenWindow
from tests.fakes import tiny_pretraining, tiny_wordpiece

ROOT = Path(__file__).parents[2]
AT_FIRST_USE = ("scipy.stats", "sklearn", "pandas", "huggingface_hub", "gensim", "onnx", "onnxruntime")
HEAVY = ("torch", "pandas", "pyqtgraph", "tokenizers", "safetensors")


@pytest.fixture
def window(open_window: OpenWindow, settings: AppSettings) -> MainWindow:
    return open_window(settings)


@pytest.fixture
def ahead(settings: AppSettings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A window that gets its pages ready on a thread, as the command opens it."""
    monkeypatch.setattr("app.main_window.warm_up", lambda: None)
    made = MainWindow(Session(settings))
    yield made
    made.close()
    qtbot.waitUntil(lambda: not any(job.is_running for job in made.findChildren(Job)))
    assert made.session.wait_idle()
    made.deleteLater()


def in_a_process_of_its_own(code: str) -> str:
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip()


def a_table(path: Path) -> Path:
    path.write_text("text,label\n" + "".join(f"a film {n},{n % 2}\n" for n in range(40)), encoding="utf-8")
    return path


def a_step(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    yield Progress(stage="Reading", done=0, total=1)
    yield Step(
        step=120, epoch=0.3, loss=0.7, accuracy=0.5, learning_rate=1e-4, gradient_norm=1.0, num_tokens=99,
        tokens_per_s=1480.0, elapsed_s=1.0, remaining_s=180.0,
    )  # fmt: skip


@pytest.mark.slow
def test_the_window_is_painted_before_anything_that_takes_long_is_imported(tmp_path: Path) -> None:
    table, ini = a_table(tmp_path / "films.csv"), tmp_path / "settings.ini"
    code = f"""
import os, sys
import app.__main__
from PySide6.QtCore import QEvent, QObject
from app.application import make_application
from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from app.work.job import Job

class Eye(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and watched.objectName() == "{AT_ONCE}_page":
            print(*[name for name in {HEAVY} if name in sys.modules], flush=True)
            os._exit(0)
        return False

settings, eye = AppSettings({str(ini)!r}), Eye()
application = make_application(["cloze"], settings)
application.installEventFilter(eye)
window = MainWindow(Session(settings))
window.session.data.open({str(table)!r})
window.show()
application.exec()"""
    assert in_a_process_of_its_own(code) == ""


@pytest.mark.slow
def test_the_modules_of_the_pages_bring_nothing_that_is_loaded_at_its_first_use() -> None:
    code = f"""
import sys
from app.qt_import import import_qt
import_qt()
from importlib import import_module
from app.page_stack import PAGES, import_libraries, modules_of
list(import_libraries())
for key in PAGES:
    list(map(import_module, modules_of(key)))
print(*[name for name in {AT_FIRST_USE} if name in sys.modules])"""
    assert in_a_process_of_its_own(code) == ""


WATCH_QT_CLASSES = """
import builtins, sys, threading
from app.qt_import import import_qt
import_qt()
from shiboken6 import Shiboken
plain, elsewhere, num_here = builtins.__build_class__, [], 0

def build_class(function, name, *bases, **values):
    global num_here
    made = plain(function, name, *bases, **values)
    if isinstance(made, type) and issubclass(made, Shiboken.Object):
        if threading.current_thread() is threading.main_thread():
            num_here += 1
        else:
            elsewhere.append(f"{threading.current_thread().name}: {made.__module__}.{name}")
    return made

builtins.__build_class__ = build_class
"""


@pytest.mark.slow
def test_qt_classes_are_made_on_the_thread_of_the_window_alone(tmp_path: Path) -> None:
    """As the command opens the window, with a table and a run to be found; each page is visited at once."""
    table, ini = a_table(tmp_path / "films.csv"), tmp_path / "settings.ini"
    code = f"""{WATCH_QT_CLASSES}
import os, time
from app.application import make_application
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.session import Session
from app.settings import AppSettings

settings = AppSettings({str(ini)!r})
application = make_application(["cloze"], settings)
window = MainWindow(Session(settings))
window.session.data.open({str(table)!r})
window.show()
end = time.monotonic() + 240
for key in PAGES:
    window.show_page(key)
    while window.findChild(object, key + "_page") is None and time.monotonic() < end:
        application.processEvents()
while not (window.is_ready and window.session.wait_idle()) and time.monotonic() < end:
    application.processEvents()
print(num_here > 400, window.is_ready, elsewhere, flush=True)
os._exit(0)"""
    assert in_a_process_of_its_own(code) == "True True []"


@pytest.mark.slow
def test_what_workers_import_at_their_first_call_makes_no_qt_class() -> None:
    named = {
        module
        for path in (ROOT / "app").rglob("*.py")
        for module in re.findall(r'later\("([\w.]+)"', path.read_text(encoding="utf-8"))
    }
    on_the_window = {
        *("app.lectures.lectures", "app.share.sharing", "app.tour.steps"),
        *("app.pages.tasks.known", "app.palette"),
    }
    assert on_the_window < named
    code = f"""{WATCH_QT_CLASSES}
from importlib import import_module
import app.session
for module in {sorted(named - on_the_window)}:
    thread = threading.Thread(target=import_module, args=(module,), name=module)
    thread.start()
    thread.join()
print(elsewhere)"""
    assert in_a_process_of_its_own(code) == "[]"


def test_importing_qt_leaves_python_its_own_import() -> None:
    code = """
import builtins
plain = builtins.__import__
from app.qt_import import import_qt
import_qt()
print(builtins.__import__ is plain)"""
    assert in_a_process_of_its_own(code) == "True"


def test_a_page_is_made_at_its_first_visit(window: MainWindow) -> None:
    assert window.findChild(QWidget, "models_page") is None
    window.show_page("models")
    assert window.findChild(QWidget, "models_page").isVisible()


@pytest.mark.slow
def test_no_page_shows_a_window_of_its_own_while_it_is_made(window: MainWindow, qapp: QApplication) -> None:
    class Eye(QObject):
        seen: list[str] = []  # noqa: RUF012

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                self.seen.append(f"{type(watched).__name__} {watched.objectName()}")
            return False

    eye = Eye()
    qapp.installEventFilter(eye)
    for key in PAGES:
        window.page(key)
    qapp.removeEventFilter(eye)
    assert not eye.seen


def test_a_page_asked_for_before_its_modules_are_there_comes_with_them(
    ahead: MainWindow, qtbot: QtBot
) -> None:
    ahead.show_page("data")
    assert ahead.current_page == "data"
    ahead.show()
    assert ahead.findChild(QLabel, "page_soon").isVisible()
    assert ahead.findChild(QWidget, "data_page") is None
    qtbot.waitUntil(lambda: ahead.findChild(QWidget, "data_page") is not None)
    assert ahead.findChild(QWidget, "data_page").isVisible()
    assert not ahead.findChild(QLabel, "page_soon").isVisible()


@pytest.mark.slow
def test_the_tour_begins_once_all_pages_can_be_made(ahead: MainWindow, qtbot: QtBot) -> None:
    ahead.start_tour()
    assert ahead.findChild(QWidget, "tour") is None
    ahead.show()
    qtbot.waitUntil(lambda: ahead.findChild(QWidget, "tour") is not None)
    ahead.findChild(QWidget, "tour").leave()


@pytest.mark.slow
def test_a_training_begun_from_elsewhere_is_heard_from_its_beginning(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    heard: list[Event] = []
    monkeypatch.setattr(
        "app.pages.finetune.charts.FineTuneCharts.hear", lambda _, events: heard.extend(events)
    )
    monkeypatch.setattr(training_module, "fine_tune", a_step)
    config = {"data": "films.csv", "text": "text", "label": "label", "model": "new:tiny", "vocab": "v.txt"}
    window.session.training.start(with_values(FineTuneConfig(), config))
    qtbot.waitUntil(lambda: not window.session.training.is_running)
    assert [type(event) for event in heard] == [Progress, Step]
    assert window.page("finetune").run_dir == window.session.training.run_dir


def test_a_table_opened_before_shows_on_the_data_page(window: MainWindow, tmp_path: Path) -> None:
    window.session.data.open(a_table(tmp_path / "films.csv"))
    assert window.session.wait_idle()
    window.show_page("data")
    view = window.findChild(QTableView, "table_view")
    assert view.isVisible()
    assert view.model().rowCount() == 40
    assert not window.page("data").labels_card.plot.is_empty


@pytest.mark.usefixtures("styled")
def test_columns_of_a_table_opened_before_are_as_wide_as_their_names_in_bold(
    window: MainWindow, tmp_path: Path
) -> None:
    window.session.data.open(a_table(tmp_path / "films.csv"))
    assert window.session.wait_idle()
    window.show_page("data")
    header = window.findChild(QTableView, "table_view").horizontalHeader()
    assert all(header.sectionSize(place) >= header.sectionSizeHint(place) for place in range(2))


def test_a_table_that_was_refused_before_is_told_on_the_data_page(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    window.session.data.open(tmp_path / "empty.csv")
    assert window.session.wait_idle()
    window.show_page("data")
    assert window.page("data").banner.isVisible()


def test_a_model_that_was_refused_before_is_told_beside_its_field(window: MainWindow, tmp_path: Path) -> None:
    window.session.model.choose(str(tmp_path / "none"))
    assert window.session.wait_idle()
    window.show_page("finetune")
    assert window.page("finetune").setup.chooser.refusal.isVisible()


@pytest.mark.slow
def test_a_page_that_is_led_to_before_it_is_made_shows_that_state(window: MainWindow, tmp_path: Path) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    state = AttentionState.why(tmp_path / "lm", "good film")
    window.show()
    window.session.show_page("attention", state)
    page = window.page("attention")
    assert window.session.wait_idle() and page.is_state_shown
    assert page.chosen.picture == "attribution" and page.inspector.text == "good film"


@pytest.mark.slow
def test_what_the_window_does_for_a_page_waits_until_that_is_made(
    ahead: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Callable[[], None]] = []
    monkeypatch.setattr("app.pages.pretrain.page.PretrainPage.take_sample", lambda page: done.append(page))
    ahead.page("welcome").sample_text_wanted.emit()
    assert not done
    ahead.show()
    qtbot.waitUntil(lambda: len(done) == 1)
    assert done[0] is ahead.page("pretrain")
