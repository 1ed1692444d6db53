"""Where a run is trained, in the form: this computer or a host; what is there, and Cloze put there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.finetune.page import FineTunePage
from app.pages.pretrain.page import PretrainPage
from app.session import Session
from app.settings import AppSettings
from engine.errors import UserError
from engine.remote.computer import Computer
from engine.remote.hosts import HostSettings
from tests.app.fake_host import GPU1, FakeHost
from tests.app.hand import Hand, ShowPage, come_to_rest
from tests.looks.scenes import FIVE, write_table, write_vocabulary

UNREACHED = UserError("{host} cannot be reached. ssh says: Connection refused", host="desk")


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return FakeHost(monkeypatch)


@pytest.fixture
def page(
    there: FakeHost, settings: AppSettings, show_page: ShowPage[FineTunePage], tmp_path: Path
) -> FineTunePage:
    """The page with five labels and new weights to learn them with."""
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt"))])
    page = show_page(FineTunePage)
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    page.setup.chooser.start_from_random_weights()
    assert session.wait_idle()
    page.setup.check()
    return page


def choices(page: FineTunePage | PretrainPage) -> list[str]:
    box = page.setup.where.box
    return [box.itemText(place) for place in range(box.count())]


def dialog(page: FineTunePage, name: str) -> QDialog:
    (found,) = (one for one in page.window().findChildren(QDialog, f"{name}_dialog") if one.isVisible())
    return found


def test_a_run_is_trained_on_this_computer_unless_a_host_is_chosen(page: FineTunePage, hand: Hand) -> None:
    assert choices(page) == ["This computer", "gpu1", "desk", "Another host…"]
    assert hand.said("where_choice") == "This computer"
    assert hand.shown("where_slurm", "where_check", "where_install", "where_said", "where_host") == []
    assert "--on" not in page.command(page.asked())


def test_the_keyboard_comes_to_where_before_the_settings(page: FineTunePage, hand: Hand) -> None:
    hand.choose("where_choice", "gpu1")
    widget, names = hand.find("setting_test_data"), list[str]()
    while "setting_way" not in names:
        widget = widget.nextInFocusChain()
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            names.append(widget.objectName())
    assert names == ["where_choice", "where_slurm", "where_check", "setting_way"]


def test_a_host_is_checked_in_one_line(
    page: FineTunePage, hand: Hand, session: Session, qtbot: QtBot
) -> None:
    hand.choose("where_choice", "gpu1")
    come_to_rest(session, qtbot)
    assert hand.shown("where_slurm", "where_check", "where_said") == ["where_slurm", "where_check"]
    hand.click("where_check")
    assert session.wait_idle()
    assert hand.said("where_said") == (
        "16 cores · 2 × NVIDIA A100 · torch 2.13.0 · 119 GB of memory · 289 GB free. "
        "The same Cloze as here is installed."
    )
    assert hand.shown("where_install") == [] and "on gpu1" in hand.said("prediction")
    assert page.command(page.asked()).endswith("--on gpu1")


def test_while_a_host_is_asked_nobody_has_to_wait_for_it(
    page: FineTunePage, hand: Hand, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.choose("where_choice", "gpu1")
    hand.click("where_check")
    assert hand.said("where_check") == "Cancel" and "onnecting" in hand.said("where_said")
    hand.click("where_check")
    assert session.wait_idle()
    assert hand.said("where_check") == "Check" and hand.said("where_said") == ""


def test_a_host_that_is_not_reached_says_so_in_the_words_of_ssh(
    page: FineTunePage, hand: Hand, session: Session, there: FakeHost
) -> None:
    there.refusal = UNREACHED
    hand.choose("where_choice", "desk")
    hand.click("where_check")
    assert session.wait_idle()
    assert hand.said("where_said") == "desk cannot be reached. ssh says: Connection refused"


@pytest.mark.parametrize(
    ("computer", "said"),
    [
        (Computer(name="gpu1", python="3.12.1"), "Cloze is not installed yet."),
        (replace(GPU1, program="another"), "Another version of Cloze is installed."),
    ],
)
def test_cloze_is_put_on_a_host_once_a_person_says_so(
    page: FineTunePage,
    hand: Hand,
    session: Session,
    there: FakeHost,
    qtbot: QtBot,
    computer: Computer,
    said: str,
) -> None:
    there.computer = computer
    hand.choose("where_choice", "gpu1")
    hand.click("where_check")
    assert session.wait_idle()
    assert said in hand.said("where_said")
    hand.click("start")
    assert "Install it there first" in page.failure.text() and not there.runs
    hand.click("where_install")
    asked = dialog(page, "install")
    asked.reject()
    assert there.installed == []
    hand.click("where_install")
    qtbot.mouseClick(dialog(page, "install").findChild(QPushButton, "install_go"), Qt.MouseButton.LeftButton)
    assert session.wait_idle()
    assert there.installed == ["gpu1"] and "The same Cloze" in hand.said("where_said")
    assert hand.shown("where_install") == []


def test_where_there_is_no_python_nothing_is_offered(
    page: FineTunePage, hand: Hand, session: Session, there: FakeHost
) -> None:
    there.computer = Computer(name="gpu1", num_cores=1)
    hand.choose("where_choice", "gpu1")
    hand.click("where_check")
    assert session.wait_idle()
    assert hand.said("where_said") == "1 core · no GPU. It has no Python 3.11 or newer, which Cloze needs."
    assert hand.shown("where_install") == []


def test_options_of_slurm_are_remembered_for_each_host(
    page: FineTunePage, hand: Hand, there: FakeHost
) -> None:
    hand.choose("where_choice", "gpu1")
    hand.type("where_slurm", "--gpus=2")
    hand.choose("where_choice", "desk")
    assert hand.said("where_slurm") == "" and there.settings == {"gpu1": HostSettings(slurm="--gpus=2")}
    hand.choose("where_choice", "gpu1")
    assert hand.said("where_slurm") == "--gpus=2"


def test_what_is_no_option_of_slurm_is_refused_before_anything_is_sent(
    page: FineTunePage, hand: Hand, there: FakeHost
) -> None:
    hand.choose("where_choice", "gpu1")
    hand.type("where_slurm", "two gpus")
    assert "options of sbatch" in hand.said("refusal_where")
    hand.click("start")
    assert "options of sbatch" in page.failure.text() and not there.runs and not there.settings


def test_a_cluster_asks_for_options_and_another_computer_for_none(
    page: FineTunePage, hand: Hand, session: Session, there: FakeHost
) -> None:
    there.computer = replace(GPU1, has_slurm=True)
    hand.choose("where_choice", "gpu1")
    hand.click("where_check")
    assert session.wait_idle()
    assert "usually needs options" in hand.said("where_said")
    hand.type("where_slurm", "--gpus=2")
    assert "usually needs options" not in hand.said("where_said")
    there.computer = GPU1
    hand.click("where_check")
    assert session.wait_idle()
    assert "There is no SLURM on gpu1" in hand.said("where_said")


def test_another_host_is_typed_and_offered_from_then_on(
    page: FineTunePage, hand: Hand, qtbot: QtBot, show_page: ShowPage[PretrainPage]
) -> None:
    page.setup.where.box.setFocus()
    hand.choose("where_choice", "Another host…")
    typed = hand.find("where_host")
    assert typed.isVisible() and QApplication.focusWidget() is typed
    qtbot.keyClicks(typed, "-oProxyCommand=x")
    qtbot.keyClick(typed, Qt.Key.Key_Return)
    assert "is not the name of a host" in hand.said("refusal_where") and page.setup.where.host == ""
    typed.selectAll()
    qtbot.keyClicks(typed, "ana@lab")
    qtbot.keyClick(typed, Qt.Key.Key_Return)
    assert hand.said("where_choice") == "ana@lab" and hand.shown("where_host", "refusal_where") == []
    assert "ana@lab" in choices(show_page(PretrainPage))


def test_what_trains_here_only_is_refused_in_one_sentence(
    page: FineTunePage, hand: Hand, there: FakeHost
) -> None:
    hand.choose("where_choice", "gpu1")
    page.compare()
    assert page.failure.text() == (
        "A comparison of methods trains on this computer only. Choose it under Where."
    )
    page._show_chain(plans=True)
    hand.click("start")
    assert "trains on this computer only" in hand.said("refusal_chain") and not there.runs


@pytest.mark.slow
def test_pretraining_goes_where_a_person_chooses_too(
    there: FakeHost, show_page: ShowPage[PretrainPage], session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    page = show_page(PretrainPage)
    text = tmp_path / "text.txt"
    text.write_text("A river flows into the sea.\n" * 40)
    page.take([str(text)])
    assert session.wait_idle()
    page.setup.where.choose("gpu1")
    page.setup.check()
    assert session.wait_idle()
    assert page.command(page.asked()).endswith("--on gpu1")
    page.start()
    qtbot.waitUntil(lambda: bool(there.runs))
    ((config, _, host),) = there.runs
    assert host == "gpu1" and config == page.asked()
    session.training.stop()


def test_while_a_model_trains_here_a_run_for_a_host_goes_into_the_queue(
    page: FineTunePage, hand: Hand, session: Session, there: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(session.queue, "add", lambda _configs, _name, on: queued.append(on))
    there.is_sent = False  # a run that is still being sent is waited for, as one of this computer
    session.training.start(page.asked(), "desk")
    hand.click("back_to_form")
    hand.choose("where_choice", "gpu1")
    page.refresh()
    assert hand.said("start") == "Add to the queue" and "on gpu1" in hand.find("start").toolTip()
    hand.click("start")
    assert queued == ["gpu1"] and "begins on gpu1 when the queue is free" in page.failure.text()
