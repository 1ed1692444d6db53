"""Dialogs for folders and files: they are found by name, wait for nobody, and tell what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.look.files import ask_file, ask_files, ask_folder, ask_save, beside


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def answer(parent: QWidget, name: str, path: Path) -> None:
    dialog = parent.findChild(QFileDialog, name)
    assert dialog is not None and dialog.isVisible()
    edit = dialog.findChild(QLineEdit, "fileNameEdit")
    assert edit is not None
    edit.setText(str(path))
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_what_was_chosen_is_told_and_the_dialog_goes(parent: QWidget, qtbot: QtBot, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("text,label\n", encoding="utf-8")
    told: list[object] = []
    asked: list[tuple[Callable[..., None], Path, object]] = [
        (ask_folder, tmp_path, str(tmp_path)),
        (ask_file, table, str(table)),
        (ask_files, table, [str(table)]),
        (ask_save, tmp_path / "new.csv", str(tmp_path / "new.csv")),
    ]
    for ask, path, expected in asked:
        ask(parent, "Choose", told.append, name="the_dialog")
        assert told == []  # nobody waited
        answer(parent, "the_dialog", path)
        assert told == [expected]
        told.clear()
        qtbot.waitUntil(lambda: parent.findChild(QFileDialog, "the_dialog") is None)


def test_a_dialog_that_is_left_tells_nothing(parent: QWidget, qtbot: QtBot, tmp_path: Path) -> None:
    told: list[str] = []
    ask_folder(parent, "Choose", told.append, name="the_dialog", start=tmp_path)
    dialog = parent.findChild(QFileDialog, "the_dialog")
    assert dialog is not None and Path(dialog.directory().absolutePath()) == tmp_path
    dialog.reject()
    qtbot.waitUntil(lambda: parent.findChild(QFileDialog, "the_dialog") is None)
    assert told == []


def test_a_suggested_name_stands_in_its_folder(parent: QWidget, tmp_path: Path) -> None:
    told: list[str] = []
    ask_save(parent, "Save", told.append, name="the_dialog", suggested=tmp_path / "vocab.txt", suffix="txt")
    dialog = parent.findChild(QFileDialog, "the_dialog")
    assert dialog is not None and dialog.selectedFiles() == [str(tmp_path / "vocab.txt")]
    answer(parent, "the_dialog", tmp_path / "mine")
    assert told == [str(tmp_path / "mine.txt")]


def test_dialogs_begin_beside_what_was_used_last_and_not_among_what_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.look.files.assets", lambda: tmp_path / "site-packages" / "assets")
    shipped = tmp_path / "site-packages" / "assets" / "models" / "starter"
    own = tmp_path / "mine" / "model"
    for folder in (shipped, own):
        folder.mkdir(parents=True)
    assert beside([str(shipped), str(own)]) == tmp_path / "mine"
    assert beside([str(shipped), str(tmp_path / "gone" / "model")]) == Path.home()
