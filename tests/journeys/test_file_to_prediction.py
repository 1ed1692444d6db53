"""From a CSV file to a prediction, through the real window, with mouse and keyboard."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from tests.looks.scenes import TWO, write_table, write_vocabulary


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = str(tmp_path / "runs")
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt", 2))])
    made = MainWindow(Session(settings), warm_up=False)
    qtbot.addWidget(made)
    made.show()
    yield made
    if made.session.is_training:
        made.session.stop_training()
        qtbot.waitUntil(lambda: not made.session.is_training)
    made.close()
    assert made.session.wait_idle()


class Hand:
    """What a person does: click a thing by its name, type, choose from a box."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot

    def find(self, name: str) -> Any:
        found = self.window.findChild(QWidget, name)
        assert found is not None, name
        return found

    def click(self, name: str) -> None:
        widget = self.find(name)
        self.qtbot.waitUntil(lambda: widget.isVisible() and widget.isEnabled())
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def type(self, name: str, text: str) -> None:
        widget = self.find(name)
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)
        widget.selectAll()
        self.qtbot.keyClicks(widget, text)
        self.qtbot.keyClick(widget, Qt.Key.Key_Tab)

    def choose(self, name: str, text: str) -> None:
        box: QComboBox = self.find(name)
        place = box.findText(text)
        assert place >= 0, [box.itemText(i) for i in range(box.count())]
        box.setFocus()
        box.showPopup()
        box.view().setCurrentIndex(box.model().index(place, 0))
        self.qtbot.keyClick(box.view(), Qt.Key.Key_Return)

    def open_dialog(self, name: str, path: Path) -> None:
        """Click what opens a file dialog, and type a path into it."""
        QTimer.singleShot(0, lambda: _type_path(path))
        self.click(name)


def _type_path(path: Path, tries: int = 100) -> None:
    dialog = QApplication.activeModalWidget()
    if not isinstance(dialog, QFileDialog):
        assert tries, "no file dialog has opened"
        QTimer.singleShot(50, lambda: _type_path(path, tries - 1))
        return
    edit = dialog.findChild(QLineEdit, "fileNameEdit")
    edit.setText(str(path))  # typed letter by letter, the completer's list would take the Return
    QTest.keyClick(edit, Qt.Key.Key_Return)
    if dialog.isVisible():
        dialog.reject()


def test_a_table_becomes_a_model_that_answers(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    table = write_table(tmp_path / "films.csv", TWO, rows_a_label=60)
    session, hand = window.session, Hand(window, qtbot)

    hand.open_dialog("empty_open", table)
    qtbot.waitUntil(lambda: session.study is not None)
    assert session.roles is not None and (session.roles.text, session.roles.label) == ("text", "label")
    hand.click("finetune_with_this")
    assert window.current_page == "finetune"

    hand.choose("model_choice", "Random weights")
    qtbot.waitUntil(lambda: session.model is not None and session.study is not None)
    hand.type("setting_learning_rate", "2e-3")
    hand.type("setting_num_epochs", "8")
    hand.type("setting_batch_size", "16")
    hand.click("start")
    qtbot.waitUntil(lambda: session.training.step is not None, timeout=20_000)
    hand.click("pause")
    hand.click("go_on")
    qtbot.waitUntil(lambda: not session.is_training, timeout=60_000)
    assert session.training.outcome == "finished", session.training.error
    assert session.training.evaluated is not None and session.training.evaluated.metrics["accuracy"] > 0.9

    hand.click("try_it")
    assert window.current_page == "predict"
    qtbot.keyClicks(hand.find("text"), "the film was good1 play1 good1 and bad1")
    qtbot.keyClick(hand.find("text"), Qt.Key.Key_Return)
    bars = hand.find("answer_bars")
    qtbot.waitUntil(lambda: not bars.is_empty, timeout=20_000)
    assert bars.highlight == "positive"

    hand.choose("file_choice", "films.csv")
    hand.click("predict_file")
    out = tmp_path / "films-predicted.csv"
    qtbot.waitUntil(lambda: out.exists() and not session.is_inspecting, timeout=20_000)
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert sum(row["prediction"] == row["label"] for row in rows) > 108
