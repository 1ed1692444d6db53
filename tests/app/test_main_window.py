"""The window: keys, drops, closing while it trains, runs that were cut off, and where no window can open."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app import __main__ as command
from app import application, system_check
from app.application import SCALE
from app.dialogs import HelpDialog, SettingsDialog
from app.look import theme
from app.main_window import MainWindow, fitted
from app.page_stack import PAGES
from app.rail import RAIL_PAGES
from app.session import Session
from app.settings import AppSettings
from app.work import training as training_module
from app.work.titles import run_title
from engine.events import Event, Started, Step
from engine.model.weights import save_model
from engine.settings.config import to_toml, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from tests.app.hand import OpenWindow
from tests.fakes import tiny_pretraining, tiny_wordpiece

ROOT = Path(__file__).parents[2]


@pytest.fixture
def window(
    settings: AppSettings, open_window: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MainWindow:
    monkeypatch.setattr(training_module, "fine_tune", endless)
    cut_off(tmp_path / "runs" / "20260101-120000-films")
    return open_window(settings)


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text("label,text\n" + "good,a film\nbad,another\n" * 13, encoding="utf-8")
    return path


def endless(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    yield Started(
        run_dir=run_dir, task="classification", device="CPU", num_steps=400, first_step=1, num_epochs=1,
        steps_per_epoch=400, num_train=30, num_validation=7, num_test=0, labels=("bad", "good"),
        metric="accuracy", num_parameters=7, learning_rate=1e-4, cut_share=0.0,
    )  # fmt: skip
    while True:
        yield Step(
            step=120, epoch=0.3, loss=0.7, accuracy=0.5, learning_rate=1e-4, gradient_norm=1.0, num_tokens=99,
            tokens_per_s=1480.0, elapsed_s=1.0, remaining_s=180.0,
        )  # fmt: skip


def cut_off(run_dir: Path) -> None:
    """Leave what a killed process leaves: settings, a status that says running, and no lock."""
    run_dir.mkdir(parents=True)
    (run_dir / "config.toml").write_text(to_toml(with_values(FineTuneConfig(), {"data": "films.csv"})))
    (run_dir / "status.json").write_text('{"state": "running", "step": 120, "num_steps": 400}')


def start(qtbot: QtBot, window: MainWindow) -> None:
    config = {"data": "films.csv", "text": "text", "label": "label", "model": "new:tiny", "vocab": "v.txt"}
    window.session.training.start(with_values(FineTuneConfig(), config))
    qtbot.waitUntil(lambda: window.session.training.state.step is not None)


def child(window: MainWindow, kind: type, name: str) -> object:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def test_the_keys_of_a_page_work_when_it_was_opened_by_its_number(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    window.session.inspector.choose(tmp_path / "lm")
    page = window.page("attention")
    window.rail.findChild(QWidget, "rail_welcome").setFocus()
    qtbot.keyClick(window, Qt.Key.Key_8, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.has_maps and window.session.inspector.workers.is_idle)
    assert window.current_page == "attention"
    qtbot.keyClicks(window.focusWidget(), "]")
    assert page.chosen.current == (0, 1)
    window.bar.edit_text()
    editor = window.bar.editor
    qtbot.keyClicks(editor.text, "]")  # typing stays typing
    editor.close()
    assert page.chosen.current == (0, 1)


@pytest.mark.slow
def test_keys_lead_to_the_pages_and_the_rail_follows(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.rail.findChild(QWidget, "rail_welcome").setFocus()
    numbered = [(one.number, one.key) for one in RAIL_PAGES.values() if one.number and one.key in PAGES]
    inside = [*enumerate(("tokenizer", "probe", "attention", "embeddings", "anatomy"), start=6)]
    for number, page in [*numbered, *inside]:
        key = Qt.Key(Qt.Key.Key_0 + number % 10)
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda page=page: window.current_page == page)
        assert window.page(page).isVisible()
        held = window.rail.findChild(QWidget, f"rail_{page}").hasFocus()
        assert held or page == "anatomy"  # which is walked by keys from the first moment


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (QRect(0, 0, 1280, 823), QRect(0, 30, 1280, 770)),  # a usual window and its title bar under a panel
        (QRect(100, 60, 1280, 700), QRect(0, 60, 1280, 700)),
        (QRect(17, 41, 1013, 707), QRect(17, 41, 1013, 707)),
    ],
)
def test_a_window_is_fitted_into_the_screen_with_its_title_bar(frame: QRect, expected: QRect) -> None:
    assert fitted(frame, QRect(0, 30, 1280, 770)) == expected


@pytest.mark.slow
def test_the_keyboard_is_on_the_page_that_is_open_after_the_start(qtbot: QtBot, tmp_path: Path) -> None:
    settings = AppSettings(tmp_path / "last.ini")
    settings.last_page = "models"
    settings.runs_root = tmp_path / "runs"
    made = MainWindow(Session(settings), warm_up=False)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    assert made.rail.findChild(QWidget, "rail_models").hasFocus()
    assert made.session.wait_idle()
    made.close()
    assert made.session.wait_idle()


def test_a_file_dropped_anywhere_is_opened(window: MainWindow, table_file: Path) -> None:
    window.show_page("predict")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(table_file))])
    none, copy = Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
    entering = QDragEnterEvent(QPoint(9, 9), copy, mime, Qt.MouseButton.LeftButton, none)
    window.dragEnterEvent(entering)
    assert entering.isAccepted()
    window.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, Qt.MouseButton.LeftButton, none))
    assert window.session.wait_idle()
    assert window.current_page == "data" and window.windowTitle() == "films.csv – Cloze"
    assert window.bar.shown() == {"data": "films.csv"}


@pytest.mark.slow
def test_the_status_bar_tells_the_running_job(qtbot: QtBot, window: MainWindow) -> None:
    assert not window.status.bar.isVisible()
    start(qtbot, window)
    words = "Fine-tuning films · step 120 of 400 · 1,480 tokens/s · 3 min left"
    qtbot.waitUntil(lambda: window.status.job.text() == words)
    assert window.status.bar.isVisible() and window.status.bar.value() == 300
    window.session.training.pause()
    assert window.status.job.text().startswith("Paused: films")


@pytest.mark.slow
def test_closing_while_training_asks_and_closes_only_when_saved(qtbot: QtBot, window: MainWindow) -> None:
    start(qtbot, window)
    window.close()
    assert window.isVisible() and window.session.training.is_running
    text = child(window, QLabel, "closing_text").text()  # type: ignore[attr-defined]
    assert "step 120 of 400" in text
    child(window, QPushButton, "closing_stop").click()  # type: ignore[attr-defined]
    assert window.isVisible()  # it is saving
    qtbot.waitUntil(lambda: not window.isVisible())
    assert not window.session.training.is_running


def test_a_window_that_is_closed_is_gone_before_its_workers_are_waited_for(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    close = window.session.close
    monkeypatch.setattr(window.session, "close", lambda: (seen.append(window.isVisible()), close()))
    window.close()
    assert seen == [False]


@pytest.mark.slow
def test_keep_training_keeps_the_window_and_the_training(qtbot: QtBot, window: MainWindow) -> None:
    start(qtbot, window)
    window.close()
    child(window, QPushButton, "closing_keep").click()  # type: ignore[attr-defined]
    assert window.isVisible() and window.session.training.state.state == "running"
    window.close()
    child(window, QPushButton, "closing_keep").click()  # type: ignore[attr-defined]
    assert window.isVisible() and window.session.training.is_running


@pytest.mark.slow
def test_a_run_that_was_cut_off_is_offered_once(window: MainWindow) -> None:
    assert "interrupted at step 120 of 400" in window.banner.text()
    child(window, QPushButton, "crash_banner_action_2").click()  # type: ignore[attr-defined]
    assert window.banner.text() == ""
    window.session.runs.find()
    assert window.session.wait_idle()
    assert window.banner.text() == ""


@pytest.mark.slow
def test_resume_goes_on_with_the_run_that_was_cut_off(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(training_module, "resume", lambda run_dir, **_: endless(FineTuneConfig(), run_dir))
    child(window, QPushButton, "crash_banner_action_1").click()  # type: ignore[attr-defined]
    assert window.session.training.is_running and window.current_page == "finetune"
    assert window.session.training.run_dir == tmp_path / "runs" / "20260101-120000-films"
    assert window.banner.text() == ""


@pytest.mark.slow
def test_a_language_model_that_was_cut_off_goes_on_where_it_belongs(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_dir = tmp_path / "runs" / "20260102-120000-story"
    run_dir.mkdir()
    settings = to_toml(with_values(PretrainConfig(), {"text": "story.txt", "minutes": 5}))
    (run_dir / "config.toml").write_text(
        settings.replace("schema_version", 'task = "pretrain"\nschema_version')
    )
    (run_dir / "status.json").write_text('{"state": "running", "step": 7, "num_steps": 0}')
    monkeypatch.setattr(training_module, "resume", lambda run_dir, **_: endless(FineTuneConfig(), run_dir))
    window.session.runs.find()
    assert window.session.wait_idle()
    assert f"{run_title(run_dir)} was interrupted at step 7. Continue" in window.banner.text()
    child(window, QPushButton, "crash_banner_action_1").click()  # type: ignore[attr-defined]
    assert window.current_page == "pretrain" and window.session.training.state.is_pretraining
    fine_tuning = window.page("finetune")
    assert not fine_tuning.start_button.isEnabled()  # type: ignore[attr-defined]


def test_the_page_and_the_size_are_remembered(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("predict")
    window.resize(1030, 660)
    window.close()
    again = MainWindow(Session(window.session.settings), warm_up=False)
    qtbot.addWidget(again)
    assert again.current_page == "predict"
    if again.screen().availableGeometry().width() >= 1030:
        assert (again.width(), again.height()) == (1030, 660)
    assert again.session.wait_idle()
    again.close()


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_every_page_fits_a_small_window(window: MainWindow, table_file: Path, qapp: QApplication) -> None:
    window.open_file(table_file)
    assert window.session.wait_idle()
    window.resize(1024, 640)
    for page in PAGES:
        window.show_page(page)
        qapp.processEvents()  # what gives way to little room does so as it is shown
        smallest = window.minimumSizeHint()
        assert smallest.width() <= 1024 and smallest.height() <= 640, page


def test_the_theme_is_switched_and_remembered(window: MainWindow) -> None:
    dialog = settings_of(window)
    for mode, found in (("dark", theme.DARK), ("contrast", theme.CONTRAST_LIGHT), ("light", theme.LIGHT)):
        dialog.findChild(QToolButton, f"theme_{mode}").click()
        assert theme.current() is found and window.session.settings.theme == mode


def settings_of(window: MainWindow) -> SettingsDialog:
    """Open the settings by the rail."""
    window.rail.findChild(QToolButton, "rail_settings").click()
    dialog = window.findChild(SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    return dialog


def test_text_size_is_kept_for_the_next_start_and_said_so(window: MainWindow) -> None:
    dialog = settings_of(window)
    box, later = dialog.findChild(QComboBox, "settings_size"), dialog.findChild(QLabel, "settings_size_later")
    assert not later.isVisible() and box.currentData() == 100
    box.setCurrentIndex(box.findData(90))
    assert later.isVisible() and window.session.settings.text_size == 90
    box.setCurrentIndex(box.findData(100))
    assert not later.isVisible()


def test_text_size_reaches_qt_and_no_program_that_is_started_from_here(
    settings: AppSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []
    monkeypatch.setattr(application, "QApplication", lambda _arguments: seen.append(os.environ.get(SCALE)))
    for outside, size, wanted in ((None, 125, "1.25"), (None, 100, None), ("2", 125, "2")):
        monkeypatch.delenv(SCALE, raising=False)
        if outside:
            monkeypatch.setenv(SCALE, outside)
        settings.text_size = size
        with pytest.raises(AttributeError):  # what is made is none
            application.make_application([], settings)
        assert seen[-1] == wanted and os.environ.get(SCALE) == outside


def test_offline_is_one_setting_in_both_places(window: MainWindow) -> None:
    page = window.page("models")
    there = page.findChild(QCheckBox, "models_offline")
    here = settings_of(window).findChild(QCheckBox, "settings_offline")
    here.click()
    assert there.isChecked() and window.session.hub.way.offline
    there.click()
    assert not window.session.hub.way.offline


def test_help_and_version_need_neither_qt_nor_torch() -> None:
    code = (
        "import sys\nfrom app.__main__ import main\n"
        "try:\n    main([sys.argv[1]])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "assert not {'torch', 'PySide6', 'numpy'} & set(sys.modules)"
    )
    for option in ("--version", "--help"):
        done = subprocess.run([sys.executable, "-c", code, option], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "loze" in done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_one_sentence_names_what_works_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert command.main(["films.csv"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "display" in said
    assert "python -m engine finetune" in said and "cloze demo" in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere Qt brings all that it needs")
def test_a_missing_system_library_is_named_with_its_install_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(system_check, "lacking", lambda files: ["libxcb-cursor.so.0", "libEGL.so.1"])
    monkeypatch.setattr(system_check, "_has_dnf", lambda: False)
    assert command.main([]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "sudo apt-get install -y libegl1 libxcb-cursor0" in said
    error = ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    assert system_check.missing_from_error(error) == ["libEGL.so.1"]
    line = system_check.install_line(["libEGL.so.1", "libxcb-shape.so.0", "libodd.so.7"], fedora=True)
    assert line == "sudo dnf install -y libglvnd-egl libodd.so.7 libxcb"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an X server is asked")
def test_a_display_that_does_not_answer_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("DISPLAY", ":4321")
    monkeypatch.setattr(system_check, "lacking", lambda files: [])
    assert command.main([]) == 2
    assert "The display “:4321” cannot be reached" in capsys.readouterr().err


def test_the_tour_starts_from_welcome_and_from_help_and_escape_leaves_it(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.show_page("welcome")
    qtbot.mouseClick(window.findChild(QPushButton, "welcome_tour"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(QWidget, "tour") is not None)
    window.start_tour()  # nothing: it is under way
    assert len(window.findChildren(QWidget, "tour")) == 1
    qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(QWidget, "tour") is None)
    dialog = HelpDialog(window)
    dialog.tour_wanted.connect(window.start_tour)
    dialog.open()
    qtbot.mouseClick(dialog.findChild(QPushButton, "help_tour"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(QWidget, "tour") is not None)
    tour = window.findChild(QWidget, "tour")
    tour.leave()
    qtbot.waitUntil(lambda: window.findChild(QWidget, "tour") is None)


@pytest.mark.slow
def test_columns_fit_a_window_that_was_resized_while_another_page_was_in_view(
    settings: AppSettings, open_window: OpenWindow, tmp_path: Path
) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(
        "text,label\n" + "".join(f"film {n} {'and so on ' * 20},{n % 2}\n" for n in range(40)),
        encoding="utf-8",
    )
    window = open_window(settings)
    window.session.data.open(path)
    assert window.session.wait_idle()
    view, widths = window._pages.page("data").table_card.view, []
    for width in (1280, 1024, 1920, 1280):
        window.show_page("welcome")
        window.resize(width, 800)
        QApplication.processEvents()
        window.show_page("data")
        QApplication.processEvents()
        assert view.horizontalHeader().length() == view.viewport().width(), width
        widths.append((view.columnWidth(0), view.columnWidth(1)))
    assert widths[0] == widths[3]
    assert max(label for _text, label in widths) < 120, "the text has the room that there is"
