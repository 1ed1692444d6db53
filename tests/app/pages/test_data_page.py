"""From an empty page to a table that can be trained on, as a person sees it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.pages.advice.table import on_table
from app.pages.data.page import DataPage
from app.pages.data.table import ChosenRows
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.texts_read import TableTexts
from engine.text.recipe import DROP, EDIT, MERGE, RELABEL, RecipeStep
from engine.text.roles import Roles
from tests.app.hand import ShowPage

ROWS = "".join(f"{'sport' if i % 3 else 'tech'};a café number {i}\n" for i in range(36))


@pytest.fixture
def page(show_page: ShowPage[DataPage]) -> DataPage:
    return show_page(DataPage)


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "news.csv"
    text = f"topic;story\n{ROWS}tech;a café number 1\n;a row without a label\n"
    path.write_bytes(text.encode("cp1252"))
    return path


def wheel(target: QWidget) -> None:
    middle = QPointF(target.rect().center())
    turn = QWheelEvent(
        middle, target.mapToGlobal(middle), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(target, turn)


def links(page: DataPage, words: str) -> dict[str, QPushButton]:
    """Return what can be clicked beside the remark that says these words, by what it says."""
    found = page.advice.findChildren(QPushButton)
    return {link.text(): link for link in found if words in link.accessibleDescription()}


def take(page: DataPage, qtbot: QtBot, words: str, offered: str) -> None:
    """Do what a remark offers, by the keyboard: soon after remarks have moved, a click counts for what stood
    there before, so that on a slow computer it may do nothing.
    """
    qtbot.keyClick(links(page, words)[offered], Qt.Key.Key_Return)


def remark(page: DataPage, words: str) -> str:
    return next(text for text in page.advice.texts() if words in text)


def together(texts: dict[str, list[tuple[int, str]]]) -> list[int]:
    return [line for found in texts.values() for line, _label in found]


def lines_shown(page: DataPage) -> list[int]:
    model = page.table_card.view.model()
    return [int(model.headerData(row, Qt.Orientation.Vertical)) for row in range(model.rowCount())]


def open_file(page: DataPage, path: Path, **overrides: str) -> Session:
    session: Session = page.session
    session.data.open(path, **overrides)
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
    assert page.labels_card.plot.numbers()[1][0] == "sport"


def test_reported_rows_are_listed_with_their_reason(qtbot: QtBot, page: DataPage, table_file: Path) -> None:
    open_file(page, table_file, encoding="cp1252")
    assert page.table_card.reported_button.text() == "1 excluded"
    qtbot.mouseClick(page.table_card.reported_button, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QDialog, "lines_dialog")
    assert dialog is not None
    text = dialog.findChild(QPlainTextEdit, "lines_text")
    assert text is not None and "39" in text.toPlainText() and "topic" in text.toPlainText()
    dialog.close()


@pytest.mark.slow
def test_changing_the_encoding_reads_the_file_again(page: DataPage, table_file: Path) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    assert session.data.table is not None and "café" in session.data.table.frame["story"].iloc[0]
    page.table_card.change_button.click()
    box = page.findChild(QComboBox, "reading_encoding")
    assert box is not None and box.isVisible() and box.currentText() == "cp1252"
    box.setCurrentIndex(box.findData("cp1251"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    assert session.data.overrides["encoding"] == "cp1251"
    assert "cafй" in session.data.table.frame["story"].iloc[0]


def test_walking_through_how_a_file_is_read_reads_it_no_other_way(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    page.table_card.change_button.click()
    for name in ("reading_separator", "reading_header"):
        box = page.findChild(QComboBox, name)
        assert box is not None
        qtbot.keyClick(box, Qt.Key.Key_Down)
        assert box.view().isVisible()
        box.hidePopup()
    others = dict.fromkeys(("separator", "quoting", "header", "sheet"), "")
    assert session.data.overrides == {"encoding": "cp1252", **others}
    assert not session.busy.words


def test_an_unknown_encoding_is_refused_in_place_and_the_table_stays(
    page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    session.data.reread(encoding="klingon")
    assert session.wait_idle()
    assert "klingon" in page.banner.text() and "stays open" in page.banner.text()
    assert page.table_card.view.model().rowCount() == 38


@pytest.mark.slow
def test_the_label_can_be_chosen_and_training_asks_for_it(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    box = page.findChild(QComboBox, "role_label")
    assert box is not None
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert session.wait_idle()
    assert session.data.roles == Roles("story", "", "")
    assert not page.next_button.isVisible()
    with qtbot.waitSignal(session.page_requested) as asked:
        qtbot.mouseClick(page.label_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["label", None]
    box.setCurrentIndex(box.findData("topic"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    with qtbot.waitSignal(session.page_requested) as asked:
        qtbot.mouseClick(page.next_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["finetune", RunPageState()]


@pytest.mark.slow
def test_two_columns_change_their_roles_and_undo_changes_them_back(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    box, undo = page.findChild(QComboBox, "role_text"), page.findChild(QPushButton, "undo_roles")
    assert box is not None and undo is not None and not undo.isVisible()
    box.setCurrentIndex(box.findData("topic"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    assert session.data.roles == Roles("topic", "", "story"), "neither column is left without a role"
    assert undo.isVisible() and "Text: story · Label: topic" in undo.toolTip()
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
    assert session.wait_idle()
    assert session.data.roles == Roles("story", "", "topic") and not undo.isVisible()
    session.data.set_role("story", "")
    page.activateWindow()
    page.table_card.view.setFocus()
    qtbot.keyClick(page.table_card.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.wait_idle()
    assert session.data.roles == Roles("story", "", "topic")


def test_walking_through_a_role_box_with_the_keyboard_takes_no_column(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    box = page.findChild(QComboBox, "role_label")
    assert box is not None
    box.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_End, Qt.Key.Key_S):
        qtbot.keyClick(box, key)
        assert box.view().isVisible(), "the list is open to choose from"
        box.hidePopup()
        assert session.data.roles == Roles("story", "", "topic") and box.currentText() == "topic"
    wheel(box)
    assert session.data.roles == Roles("story", "", "topic")
    qtbot.keyClick(box, Qt.Key.Key_Down)
    qtbot.keyClick(box.view(), Qt.Key.Key_Down)
    qtbot.keyClick(box.view(), Qt.Key.Key_Return)
    assert session.wait_idle()
    assert session.data.roles == Roles("topic", "", "story"), "what is chosen from the list counts"


def test_the_maximum_length_is_set_here_and_the_cut_share_follows(
    page: DataPage, table_file: Path, tmp_path: Path
) -> None:
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nnumber\n", encoding="utf-8")
    session = open_file(page, table_file, encoding="cp1252")
    assert not page.lengths_card.max_length_box.isVisible() and page.lengths_card.model_button.isVisible()
    session.model.choose("new:tiny", str(vocab))
    assert session.wait_idle()
    assert page.lengths_card.max_length_box.isVisible() and not page.lengths_card.model_button.isVisible()
    page.lengths_card.max_length_box.setValue(5)
    assert session.model.max_length == 5
    assert page.lengths_card.hint_label.text() == "100 % over"
    (read,) = page.texts_read
    assert read.max_length == 5, "what is counted is what is left of each text"


def test_a_recent_file_that_is_gone_is_said_and_forgotten(
    qtbot: QtBot, page: DataPage, table_file: Path
) -> None:
    session: Session = page.session
    session.settings.add_recent_file(table_file)
    page.empty.show_recent()
    entry = page.empty.findChild(QPushButton, "recent_1")
    assert entry is not None and entry.text() == "news.csv"
    table_file.unlink()
    page.open_path(table_file)
    assert "no longer exists" in page.banner.text()
    assert session.settings.recent_files == []


WIDE = [("x", "text", "label"), *((str(n), f"a film of number {n} or so", "ab"[n % 2]) for n in range(9))]


def write(path: Path, rows: Iterable[tuple[str, str]]) -> None:
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows), encoding="utf-8")


def planted(path: Path) -> list[tuple[str, str]]:
    """Write a table with 7 repeats, 3 contradictions, 5 empty cells and 6 odd spellings; return its rows."""
    rows = [(f"film {n} of the week", ("good", "bad", "dull")[n % 3]) for n in range(60)]
    rows += [rows[3], rows[9], rows[9], rows[30]]  # 4 repeats
    rows += [(rows[n][0], "dull") for n in (0, 1, 4)]  # 3 more that contradict
    rows += [("", "good"), (" ", "bad"), ("a film", ""), ("another", "  "), ("", "")]
    odd = ("Good", "GOOD", "Good", "b\u0430d", "dull\u200b", " Bad ")
    rows += [(f"odd film {n}", label) for n, label in enumerate(odd)]
    write(path, rows)
    return rows


@pytest.mark.slow
def test_what_is_said_of_rows_is_what_a_script_counts_and_a_click_shows_those_rows(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    rows = planted(tmp_path / "planted.csv")
    session = open_file(page, tmp_path / "planted.csv")
    numbered = ((line, text.strip(), label.strip()) for line, (text, label) in enumerate(rows, 2))
    usable = [(line, text, label) for line, text, label in numbered if text and label]
    by_text: dict[str, list[tuple[int, str]]] = {}
    for line, text, label in usable:
        by_text.setdefault(text, []).append((line, label))
    copies = {text: found for text, found in by_text.items() if len(found) > 1}
    torn = {text: found for text, found in copies.items() if len({label for _line, label in found}) > 1}
    odd = [line for line, _text, label in usable if label not in ("good", "bad", "dull")]
    lacking = {*range(2, len(rows) + 2)} - {line for line, *_ in usable}
    expected = {
        f"{len(lacking)} rows have no text or no label": sorted(lacking),
        f"{sum(len(found) - 1 for found in copies.values())} rows repeat an earlier text": together(copies),
        f"{len(torn)} texts have more than one label": together(torn),
        f"{len(odd)} rows have a label that is nearly equal": odd,
    }
    back = page.findChild(QPushButton, "show_all_rows")
    assert back is not None and not back.isVisible()
    for words, lines in expected.items():
        assert remark(page, words), words
        take(page, qtbot, words, "Show rows")
        assert sorted(lines_shown(page)) == sorted(lines), words
        assert lines_shown(page) == lines or lines is odd, "rows of one text stand together"
        assert page.table_card.shown_rows.label.text().startswith(f"{len(lines)} of {len(rows)} rows: ")
        assert back.isVisible()
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert lines_shown(page) == [*range(2, len(rows) + 2)] and not back.isVisible()
    assert f"{len(usable)} of {len(rows)} rows can be used" in page.table_card.hint_label.text()
    assert page.table_card.reported_button.text() == f"{len(rows) - len(usable)} excluded"
    assert session.data.summary is not None and session.data.summary.counts.sum() == len(usable)


@pytest.mark.slow
def test_one_click_merges_nearly_equal_labels_and_one_takes_it_back(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    planted(tmp_path / "planted.csv")
    session = open_file(page, tmp_path / "planted.csv")
    words = "nearly equal to a more frequent one"
    assert "b‹U+0430›d for bad in line 77" in remark(page, words)
    before = dict(page.labels_card.plot.bars)
    assert len(before) == 8 and session.values()["merge_labels"] is False
    take(page, qtbot, words, "Merge")
    assert session.wait_idle()
    assert session.values()["merge_labels"] is True
    merged = dict(page.labels_card.plot.bars)
    assert set(merged) == {"good", "bad", "dull"} and sum(merged.values()) == sum(before.values())
    assert "6 rows changed" in remark(page, "count as one")
    session.model.choose("new:nowhere")  # whatever else is studied anew, it stays
    session.data.reread(quoting="csv")
    assert session.wait_idle() and session.data.label_choices["merge_labels"]
    take(page, qtbot, "count as one", "Undo")
    assert session.wait_idle()
    assert dict(page.labels_card.plot.bars) == before and not session.data.label_choices["merge_labels"]


def test_two_labels_that_look_alike_are_told_apart_wherever_one_is_named(
    page: DataPage, tmp_path: Path
) -> None:
    labels = ["sport"] * 30 + ["tech"] * 15 + ["sp\u043ert"]
    write(tmp_path / "alike.csv", [(f"film {n}", label) for n, label in enumerate(labels)])
    open_file(page, tmp_path / "alike.csv")
    assert [name for name, _count in page.labels_card.plot.bars] == ["sport", "tech", "sp‹U+043E›rt"]
    assert "“sp‹U+043E›rt” has one row, “sport” 65.2 % of all" in remark(page, "far from balanced")
    assert "never measured: sp‹U+043E›rt." in remark(page, "occurs in one row only")


@pytest.mark.slow
def test_a_merge_was_said_of_one_table_and_one_label_column(
    page: DataPage, tmp_path: Path, table_file: Path
) -> None:
    planted(tmp_path / "planted.csv")
    session = open_file(page, tmp_path / "planted.csv")
    session.data.choose_for_labels("merge_labels", True)
    session.data.set_roles(Roles("text"))
    assert session.wait_idle() and not session.data.label_choices["merge_labels"]
    assert remark(page, "3 rows have no text and are excluded")
    session.data.undo_roles()
    assert session.data.roles == Roles("text", "", "label") and session.data.label_choices["merge_labels"]
    open_file(page, table_file, encoding="cp1252")
    assert not session.data.label_choices["merge_labels"]
    choices, roles = {"merge_labels": True}, Roles("text", "", "label")
    session.data.open(tmp_path / "planted.csv", roles=roles, label_choices=choices)  # as a run was made
    assert session.wait_idle() and session.data.label_choices["merge_labels"]
    assert session.data.summary is not None and session.data.summary.labels == ("bad", "dull", "good")


def test_a_label_that_cannot_be_one_is_said_everywhere_and_training_waits(
    page: DataPage, tmp_path: Path
) -> None:
    path = tmp_path / "ids.csv"
    path.write_text(
        "id,text,label\n" + "".join(f"{n},film {n},{'ab'[n % 2]}\n" for n in range(30)), encoding="utf-8"
    )
    session = open_file(page, path)
    assert page.next_button.isEnabled()
    session.data.set_role("id", "label")
    assert session.wait_idle()
    assert "30 different values in 30 rows" in remark(page, "different values")
    assert not page.next_button.isEnabled() and "different values" in page.next_button.toolTip()
    assert "“id” cannot be the label" in page.labels_card.plot.empty_text


@pytest.mark.parametrize(
    ("counts", "said", "level"),
    [
        ((50, 50), "Labels are balanced: each has 50.0 % of the rows.", "fine"),
        ((55, 45), "Labels are balanced: each has 45.0 % to 55.0 % of the rows.", "fine"),
        (
            (675, 325),
            "“a” has 67.5 % of the rows, “b” 32.5 %. Always predicting “a” would be right as often.",
            "note",
        ),
        ((200, 100), "“a” has 66.7 % of the rows, “b” 33.3 %.", "note"),
        ((99, 9), "far from balanced: “b” has 9 rows, “a” 91.7 % of all rows. Look at F1", "look"),
        ((99, 1), "far from balanced: “b” has one row, “a” 99.0 % of all rows. Look at F1", "look"),
    ],
)
def test_labels_are_called_balanced_only_where_they_are(
    page: DataPage, tmp_path: Path, counts: tuple[int, int], said: str, level: str
) -> None:
    path = tmp_path / "films.csv"
    labels = "a" * counts[0] + "b" * counts[1]
    path.write_text(
        "text,label\n" + "".join(f"film {n},{label}\n" for n, label in enumerate(labels)), encoding="utf-8"
    )
    session = open_file(page, path)
    assert session.data.table is not None and session.data.roles is not None
    found = {
        each.text: each.level
        for each in on_table(session.data.table, session.data.roles, session.data.summary, 128)
    }
    assert [found[text] for text in found if said in text] == [level], found


def test_one_of_anything_is_said_in_the_singular(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    rows = [f"film {n},{'ab'[n % 2]}" for n in range(9)] + ["film 0,a", ",b", "Film,A", "film 1,a"]
    path.write_text("text,label\n" + "\n".join(rows[:10]) + "\n", encoding="utf-8")
    open_file(page, path)
    assert remark(page, "One row repeats an earlier text.")
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    open_file(page, path)
    assert remark(
        page, ("One row has a label that is nearly equal to a more frequent one: A for a in line 13.")
    )
    assert remark(page, "The row in line 12 has no text or no label and is excluded.")
    assert remark(page, "One text has more than one label.")
    assert remark(page, "One label occurs in one row only, so it is trained on but never measured: A.")
    assert not [text for text in page.advice.texts() if text.startswith("1 ")]


@pytest.mark.slow
def test_what_was_wrong_with_a_file_goes_with_the_next_file_or_page(
    page: DataPage, table_file: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    for go_on in (lambda: open_file(page, table_file, encoding="cp1252"), lambda: (page.hide(), page.show())):
        open_file(page, empty)
        assert page.banner.isVisible()
        go_on()
        assert not page.banner.isVisible()


def test_the_text_column_is_wide_whether_or_not_it_has_its_role(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    row = "a question that takes a good many words until it has been asked,{label}\n"
    path.write_text(
        "question,topic\n" + "".join(row.format(label="ab"[n % 2]) for n in range(20)), encoding="utf-8"
    )
    session = open_file(page, path)
    with_role = page.table_card.view.columnWidth(0)
    session.data.set_role("question", "")
    assert session.wait_idle()
    assert session.data.roles == Roles("", "", "topic")
    assert page.table_card.view.columnWidth(0) == with_role > 400


@pytest.mark.slow
def test_five_thousand_columns_do_not_hold_the_window(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    lines = [",".join(f"{cell}{n}" for n in range(4998)) + f",{text},{label}" for cell, text, label in WIDE]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    session = open_file(page, path)
    assert session.data.table is not None and session.data.roles == Roles("text", "", "label")
    start = time.thread_time()
    session.data.set_role("x7", "label")
    assert time.thread_time() - start < 2, "seconds of the window's thread; 12 when each width moves the rest"
    assert page.table_card.view.columnWidth(4998) >= 200


def test_the_columns_fit_the_window_also_when_it_becomes_smaller(page: DataPage, tmp_path: Path) -> None:
    write(tmp_path / "films.csv", [(f"film {n} " + "and so on " * 20, "ab"[n % 2]) for n in range(40)])
    page.resize(1500, 900)
    open_file(page, tmp_path / "films.csv")
    view = page.table_card.view
    page.resize(1000, 700)
    QApplication.processEvents()
    assert view.horizontalHeader().length() <= view.viewport().width() + 1
    view.setColumnWidth(0, 900)  # by hand, and so it stays
    page.resize(1100, 700)
    QApplication.processEvents()
    assert view.columnWidth(0) == 900


def test_the_line_of_the_header_can_be_chosen_and_is_shown(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "titled.csv"
    path.write_text(f"Reviews, 2020\nof one year\ntopic;story\n{ROWS}", encoding="utf-8")
    session = open_file(page, path)
    page.table_card.change_button.click()
    box = page.findChild(QComboBox, "reading_header")
    assert box is not None and box.currentText() == "auto: Line 3"
    assert "Lines above it are not read as rows" in remark(page, "The header is line 3")
    box.setCurrentIndex(box.findData("4"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle() and box.currentText() == "Line 4"
    assert session.values()["header"] == "4" and session.data.table is not None
    assert session.data.table.columns == tuple(ROWS.split("\n")[0].split(";"))


@pytest.mark.slow
def test_a_right_click_on_a_line_makes_it_the_header(qtbot: QtBot, page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("a;b\nc;d\ntopic;story\nx;y\n", encoding="utf-8")
    session = open_file(page, path, separator=";", header="no")
    numbers = page.table_card.view.verticalHeader()
    numbers.customContextMenuRequested.emit(QPoint(4, numbers.sectionViewportPosition(2) + 4))
    menu = page.findChild(QMenu, "line_menu")
    assert menu is not None
    [action] = menu.actions()
    assert action.text() == "Line 3 names the columns"
    action.trigger()
    assert (
        session.wait_idle()
        and session.data.table is not None
        and session.data.table.columns == ("topic", "story")
    )
    menu.close()


def test_a_file_of_tagged_words_is_opened_as_one(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("EU\tB-ORG\nrejects\tO\nGerman\tB-MISC\ncall\tO\n\nPeter\tB-PER\n", encoding="utf-8")
    session = open_file(page, path)
    assert session.data.table is None and session.data.task_name == "token-labels"
    assert session.data.task_file is not None and session.data.task_file.content.num_examples == 2
    assert "IOB2" in page.findChild(QWidget, "token_how").text()  # type: ignore[union-attr]


@pytest.mark.slow
def test_combinations_of_labels_are_refused_until_they_are_taken_as_classes(
    page: DataPage, tmp_path: Path
) -> None:
    path = tmp_path / "several.csv"
    labels = ["a", "b", "c", "a|b", "b|c", "a|c"] * 6
    rows = [f"text number {number},{label}\n" for number, label in enumerate(labels)]
    path.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    session = open_file(page, path)
    session.data.set_task("classification")
    assert session.wait_idle()
    said = "look like several in one"
    assert session.wait_idle() and said in remark(page, said)
    links(page, said)["Use as classes"].click()
    assert session.wait_idle() and session.values()["whole_labels"] is True
    assert len(page.labels_card.plot.bars) == 6
    links(page, "as written")["Undo"].click()
    assert session.wait_idle() and session.values()["whole_labels"] is False


@pytest.mark.slow
def test_more_labels_than_are_usual_are_learned_at_a_click(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    write(tmp_path / "many.csv", [(f"a request {n}", f"intent {n % 1001}") for n in range(2002)])
    session = open_file(page, tmp_path / "many.csv")
    take(page, qtbot, "1,001 different labels", "Learn all 1,001")
    assert session.wait_idle()
    assert session.values()["max_labels"] == 1001 and len(session.data.table_summary.labels) == 1001
    assert page.next_button.isEnabled()


def test_a_header_that_does_not_fit_the_cells_is_told(page: DataPage, tmp_path: Path) -> None:
    lines = [f"how do I return parcel {n}\tcan parcel {n} be sent back\t{n % 2}" for n in range(30)]
    path = tmp_path / "atec.tsv"
    path.write_text("label\tquestion\tsyn_question\n" + "\n".join(lines), encoding="utf-8")
    session = open_file(page, path)
    assert session.data.roles == Roles("label", "question", "syn_question")
    said = remark(page, "The header does not fit the cells")
    assert "column label holds sentences" in said and "column syn_question the 2 values that repeat" in said


def test_the_keyboard_is_on_the_way_on_once_a_file_is_open_and_stays_while_it_is_read_otherwise(
    page: DataPage, table_file: Path
) -> None:
    session = open_file(page, table_file, encoding="cp1252")
    assert page.focusWidget() is page.next_button
    page.table_card.search.setFocus()
    session.data.reread(quoting="none")
    assert session.wait_idle() and page.focusWidget() is page.table_card.search


def shown_menu(page: DataPage, name: str) -> QMenu:
    QApplication.processEvents()
    return next(menu for menu in page.findChildren(QMenu, name) if menu.isVisible())


def choose(menu: QMenu, *path: str) -> None:
    """Click what a menu, or one within it, says."""
    menu.close()
    for step in path[:-1]:
        menu = next(action.menu() for action in menu.actions() if action.text() == step)
    next(action for action in menu.actions() if action.text() == path[-1]).trigger()


def ask_menu(target: QWidget, at: QPoint, *, by_key: bool = False) -> None:
    reason = QContextMenuEvent.Reason.Keyboard if by_key else QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(target, QContextMenuEvent(reason, at, target.mapToGlobal(at)))


@pytest.mark.slow
def test_rows_are_relabelled_and_left_out_by_hand_and_both_can_be_undone(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    write(tmp_path / "films.csv", [(f"film {n}", ("good", "bad", "gud")[n % 3]) for n in range(30)])
    session = open_file(page, tmp_path / "films.csv")
    view = page.table_card.view
    view.setCurrentIndex(view.model().index(2, 0))  # "gud"
    ask_menu(view.viewport(), view.visualRect(view.currentIndex()).center())
    choose(shown_menu(page, "rows_menu"), "Give it another label", "good")
    assert session.wait_idle()
    assert session.data.mends.steps == (RecipeStep(RELABEL, (2,), label="good", column="label"),)
    assert dict(page.labels_card.plot.bars) == {"good": 11, "bad": 10, "gud": 9}
    view.selectionModel().select(
        QItemSelection(view.model().index(3, 0), view.model().index(5, 1)),
        QItemSelectionModel.SelectionFlag.ClearAndSelect,
    )
    ask_menu(view, QPoint(0, 0), by_key=True)
    choose(shown_menu(page, "rows_menu"), "Exclude 3 rows")
    assert session.wait_idle()
    assert (
        session.data.mends.steps[1] == RecipeStep(DROP, (3, 4, 5)) and session.data.summary.num_examples == 27
    )
    qtbot.mouseClick(page.table_card.rows_button, Qt.MouseButton.LeftButton)
    choose(shown_menu(page, "rows_menu"), "Restore 3 rows")
    assert session.wait_idle() and len(session.data.mends.steps) == 1
    page.table_card.view.setFocus()
    for _ in range(3):
        qtbot.keyClick(page.table_card.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.wait_idle() and not session.data.mends.steps


@pytest.mark.slow
def test_a_label_is_renamed_merged_and_left_out_by_hand(qtbot: QtBot, page: DataPage, tmp_path: Path) -> None:
    write(tmp_path / "films.csv", [(f"film {n}", ("good", "bad", "gud")[n % 3]) for n in range(30)])
    session = open_file(page, tmp_path / "films.csv")

    def on(label: str, *path: str) -> None:
        plot = page.labels_card.plot
        plot.go_to([name for name, _ in plot.bars].index(label))
        ask_menu(plot, QPoint(4, 4), by_key=True)
        menu = next(menu for menu in plot.findChildren(QMenu) if menu.isVisible())
        choose(menu, *path)
        assert session.wait_idle()

    on("gud", "Merge “gud” into", "good")
    assert dict(page.labels_card.plot.bars) == {"good": 20, "bad": 10}
    on("bad", "Rename “bad”…")
    dialog = page.findChild(QDialog, "label_dialog")
    dialog.label.setText("poor")
    qtbot.keyClick(dialog.label, Qt.Key.Key_Return)
    assert session.wait_idle() and dict(page.labels_card.plot.bars) == {"good": 20, "poor": 10}
    page.labels_card.plot.chosen.emit(0)
    qtbot.waitUntil(lambda: not page.table_card.is_looking)
    assert len(lines_shown(page)) == 20, "those that are called good now"
    on("poor", "Exclude the rows of “poor”")
    qtbot.waitUntil(lambda: len(session.data.mends.steps) == 3)
    assert session.wait_idle() and session.data.mends.steps[2].rows == tuple(range(1, 30, 3))


def test_a_bar_that_is_dragged_onto_another_merges_their_labels(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    write(tmp_path / "films.csv", [(f"film {n}", ("good", "bad", "gud")[n % 3]) for n in range(30)])
    session = open_file(page, tmp_path / "films.csv")
    plot = page.labels_card.plot

    def drag(label: str, onto: QPoint) -> None:
        bar = plot.rect_of([name for name, _ in plot.bars].index(label)).center().toPoint()
        qtbot.mousePress(plot.canvas(), Qt.MouseButton.LeftButton, pos=bar)
        qtbot.mouseMove(plot.canvas(), onto)
        qtbot.mouseRelease(plot.canvas(), Qt.MouseButton.LeftButton, pos=onto)
        assert session.wait_idle()

    good = plot.rect_of([name for name, _ in plot.bars].index("good")).center().toPoint()
    assert "Drag it onto another label" in plot.tip_at(QPointF(good))
    drag("gud", QPoint(good.x(), plot.canvas().height() - 2))
    assert not session.data.mends.steps, "beside all bars"
    drag("gud", good)
    assert session.data.mends.steps == (RecipeStep(MERGE, label="good", labels=("gud",), column="label"),)
    assert dict(plot.bars) == {"good": 20, "bad": 10}
    session.data.mends.undo()
    assert session.wait_idle() and len(plot.bars) == 3


def test_copies_in_a_file_of_tagged_words_are_told(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "words.conll"
    texts = [f"Anna B-PER\nsees O\nLyon{n % 10} B-LOC\n" for n in range(13)]
    path.write_text("\n".join(texts), encoding="utf-8")
    open_file(page, path)
    assert "3 examples repeat an earlier one word for word" in remark(page, "repeat an earlier one")


def test_what_is_left_out_is_counted_and_listed_with_mends_told_apart(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    rows = [(f"film {n}", "ab"[n % 2]) for n in range(30)]
    write(tmp_path / "films.csv", [*rows, ("", "a"), ("", "b")])
    session = open_file(page, tmp_path / "films.csv")
    session.data.mends.add(RecipeStep(DROP, (3, 4), reason="exact_duplicates"), RecipeStep(DROP, (7,)))
    assert session.wait_idle()
    assert page.table_card.hint_label.text().startswith("27 of 32 rows can be used")
    assert page.table_card.reported_button.text() == "5 excluded"
    qtbot.mouseClick(page.table_card.reported_button, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QDialog, "lines_dialog")
    said = dialog.findChild(QPlainTextEdit, "lines_text").toPlainText().splitlines()
    assert len(said) == 5 and "Line 5" in said[0] and "repeats an earlier row" in said[0]
    heads = [one.text() for one in dialog.findChildren(QLabel)]
    assert any("2 rows have no text or no label; 3 rows were excluded here." in one for one in heads)
    dialog.close()


def test_rows_of_one_text_are_ruled_off_from_those_of_the_next(page: DataPage, tmp_path: Path) -> None:
    texts = ["a film", "a play", "a film", "a book", "a play", "another", "a play"]
    write(tmp_path / "films.csv", [(text, "ab"[n % 2]) for n, text in enumerate(texts * 2)])
    open_file(page, tmp_path / "films.csv")
    card = page.table_card
    card.show_only(ChosenRows(np.array([0, 2, 1, 4, 6, 3]), "next to each other"))
    assert page.session.wait_idle()
    assert card.view.ruled == {2, 5}
    card.show_all()
    assert page.session.wait_idle() and not card.view.ruled


def test_texts_that_a_vocabulary_does_not_hold_are_left_to_the_banner(page: DataPage, tmp_path: Path) -> None:
    write(tmp_path / "films.csv", [(f"这部电影很好看 {n}", "ab"[n % 2]) for n in range(20)])
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n1\n2\n3\n", encoding="utf-8")
    session = open_file(page, tmp_path / "films.csv")
    session.model.choose("new:tiny", str(tmp_path / "vocab.txt"))
    assert session.wait_idle()
    assert "[UNK]" not in " ".join(page.advice.texts())
    (read,) = page.texts_read
    assert isinstance(read.texts, TableTexts) and read.texts.table is session.data.table


def test_a_workbook_offers_its_sheets_in_the_place_of_separators(page: DataPage, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name in ("First", "Second"):
            sheet = book.add_worksheet(name)
            for number, row in enumerate([("text", "label"), (name, "good"), ("dull", "bad")]):
                sheet.write_row(number, 0, row)
    session = open_file(page, path)
    page.table_card.change_button.click()
    separator, box = (page.findChild(QComboBox, f"reading_{name}") for name in ("separator", "sheet"))
    assert separator is not None and box is not None
    assert separator.isHidden() and not box.isHidden() and "First" in box.currentText()
    box.setCurrentIndex(box.findData("Second"))
    box.activated.emit(box.currentIndex())
    assert session.wait_idle()
    assert session.data.overrides["sheet"] == "Second"
    assert session.data.table is not None and session.data.table.format.sheet == "Second"


@pytest.mark.slow
def test_cells_and_rows_are_changed_by_keys_undone_and_done_again(
    qtbot: QtBot, page: DataPage, tmp_path: Path
) -> None:
    write(tmp_path / "films.csv", [(f"film {n}", ("good", "bad", "good")[n % 3]) for n in range(30)])
    session = open_file(page, tmp_path / "films.csv")
    view, mends = page.table_card.view, session.data.mends
    view.setFocus()

    def press(row: int, column: int, key: Qt.Key) -> None:
        view.setCurrentIndex(view.model().index(row, column))
        qtbot.keyClick(view, key)

    press(4, 1, Qt.Key.Key_1)
    assert session.wait_idle() and mends.steps[0] == RecipeStep(RELABEL, (4,), label="good", column="label")
    assert dict(page.labels_card.plot.bars) == {"good": 21, "bad": 9}
    press(7, 0, Qt.Key.Key_Delete)
    assert mends.steps[1] == RecipeStep(DROP, (7,))
    press(7, 0, Qt.Key.Key_Delete)
    assert len(mends.steps) == 1, "a second time takes the row back"
    for held, left in ((Qt.KeyboardModifier.NoModifier, 0), (Qt.KeyboardModifier.ShiftModifier, 1)):
        for _ in range(4):
            qtbot.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | held)
        assert len(mends.steps) == left
    qtbot.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    press(2, 0, Qt.Key.Key_F2)
    dialog = page.findChild(QDialog, "cell_dialog")
    dialog.text.setPlainText("a play")
    qtbot.mouseClick(dialog.findChild(QPushButton, "cell_take"), Qt.MouseButton.LeftButton)
    assert mends.steps[-1] == RecipeStep(EDIT, (2,), label="a play", column="text") and not mends.can_redo
    assert view.model().index(2, 0).data() == "a play"
    page.table_card.search.setText("a play")
    qtbot.waitUntil(lambda: not page.table_card.is_looking)
    assert session.wait_idle() and lines_shown(page) == [4], "the text as it is now is found"
