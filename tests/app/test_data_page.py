"""From an empty page to a table that can be trained on, as a person sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.data import DataPage
from app.session import Session
from app.settings import AppSettings
from engine.text.examples import Roles

ROWS = "".join(f"{'sport' if i % 3 else 'tech'};a café number {i}\n" for i in range(36))


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[DataPage]:
    session = Session(AppSettings(tmp_path / "settings.ini"))
    made = DataPage(session)
    made.session = session  # type: ignore[attr-defined]
    made.resize(1104, 772)
    qtbot.addWidget(made)
    made.show()
    yield made
    session.close()
    assert session.wait_idle()


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "news.csv"
    text = f"topic;story\n{ROWS}tech;a café number 1\n;a row without a label\n"
    path.write_bytes(text.encode("cp1252"))
    return path


def open_file(page: DataPage, path: Path, **overrides: str) -> Session:
    session: Session = page.session  # type: ignore[attr-defined]
    session.open_table(path, **overrides)
    assert session.wait_idle()
    return session


def test_an_empty_page_offers_a_file_and_the_sample(page: DataPage) -> None:
    assert page.empty.isVisible() and page.empty.sample.isVisible()
    assert not page.next_button.isVisible()


def test_a_table_shows_its_lines_its_reading_and_advice(page: DataPage, table_file: Path) -> None:
    open_file(page, table_file, encoding="cp1252")
    view = page.table_card.view
    assert view.isVisible() and view.model().rowCount() == 38
    assert view.model().headerData(0, Qt.Orientation.Vertical) == "2"
    hint = page.table_card.hint_label.text()
    assert "38 rows" in hint and "semicolon" in hint and "line 1" in hint
    said = " ".join(page.advice.texts())
    assert "repeat an earlier text" in said or "more than one label" in said
    assert page.labels_plot.numbers()[1][0] == "sport"


def test_reported_rows_are_listed_with_their_reason(qtbot: QtBot, page: DataPage, table_file: Path) -> None:
    open_file(page, table_file, encoding="cp1252")
    assert page.table_card.reported_button.text() == "1 reported"
    qtbot.mouseClick(page.table_card.reported_button, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QDialog, "lines_dialog")
    assert dialog is not None
    text = dialog.findChild(QPlainTextEdit, "lines_text")
    assert text is not None and "39" in text.toPlainText() and "topic" in text.toPlainText()
    dialog.close()


def test_changing_the_encoding_reads_the_file_again(page: DataPage, table_file: Path) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    assert session.table is not None and "café" in session.table.frame["story"].iloc[0]
    page.table_card.change_button.click()
    box = page.findChild(QComboBox, "reading_encoding")
    assert box is not None and box.isVisible() and box.currentText() == "cp1252"
    box.setCurrentIndex(box.findData("cp1251"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    assert session.table_overrides["encoding"] == "cp1251"
    assert "cafй" in session.table.frame["story"].iloc[0]


def test_an_unknown_encoding_is_refused_in_place_and_the_table_stays(
    page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    session.reread_table(encoding="klingon")
    assert session.wait_idle()
    assert "klingon" in page.banner.text() and "stays open" in page.banner.text()
    assert page.table_card.view.model().rowCount() == 38


def test_the_label_can_be_chosen_and_training_asks_for_it(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    box = page.findChild(QComboBox, "role_label")
    assert box is not None
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert session.wait_idle()
    assert session.roles == Roles("story", "", "")
    assert not page.next_button.isEnabled() and "label" in page.next_button.toolTip()
    box.setCurrentIndex(box.findData("topic"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    with qtbot.waitSignal(session.page_requested) as asked:
        qtbot.mouseClick(page.next_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["finetune"]


def test_a_column_that_takes_a_role_gives_up_its_own(page: DataPage, table_file: Path) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    box = page.findChild(QComboBox, "role_text")
    assert box is not None
    box.setCurrentIndex(box.findData("topic"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    assert session.roles == Roles("topic", "", "")


def test_the_maximum_length_is_set_here_and_the_cut_share_follows(
    page: DataPage, table_file: Path, tmp_path: Path
) -> None:
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nnumber\n", encoding="utf-8")
    session = open_file(page, table_file, encoding="cp1252")
    assert not page.max_length_box.isVisible() and page.model_button.isVisible()
    session.set_model("new:tiny", str(vocab))
    assert session.wait_idle()
    assert page.max_length_box.isVisible() and not page.model_button.isVisible()
    page.max_length_box.setValue(5)
    assert session.max_length == 5
    assert page.lengths_card.hint_label.text() == "100 % cut at"
    assert "[UNK]" in " ".join(page.advice.texts())


def test_a_recent_file_that_is_gone_is_said_and_forgotten(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session: Session = page.session  # type: ignore[attr-defined]
    session.settings.add_recent_file(table_file)
    page.empty.show_recent()
    entry = page.empty.findChild(QPushButton, "recent_1")
    assert entry is not None and entry.text() == "news.csv"
    table_file.unlink()
    page.open_path(table_file)
    assert "not there any more" in page.banner.text()
    assert session.settings.recent_files == []
