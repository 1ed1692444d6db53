"""The Tokenizer page, asked of a very small vocabulary: one text step by step, and a whole table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from app.look import theme
from app.pages.tokenizer.learn import LearnDialog
from app.pages.tokenizer.page import TokenizerPage
from app.pages.tokenizer.requests import MOST_CHARACTERS, MOST_COLUMNS
from engine.events import Progress
from tests.app.hand import ShowPage
from tests.fakes import TOKENS, model_folder

CASED = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "Good", "film", "p", "##l", "##aying")


def write_vocab(path: Path, tokens: tuple[str, ...] = TOKENS) -> Path:
    path.write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def page(show_page: ShowPage[TokenizerPage], tmp_path: Path, qtbot: QtBot) -> TokenizerPage:
    page = show_page(TokenizerPage)
    small = write_vocab(tmp_path / "small.txt")
    page.bar.choose(small)  # instead of one that ships, which the page opens by itself
    qtbot.waitUntil(lambda: page.bar.first is not None and page.bar.first.path == small)
    qtbot.waitUntil(lambda: page.text_view.found is not None and page.session.workers.is_idle)
    return page


def test_while_the_first_vocabulary_is_read_the_page_says_so(
    no_models_ship: None, show_page: ShowPage[TokenizerPage], tmp_path: Path, qtbot: QtBot
) -> None:
    page = show_page(TokenizerPage)
    page.bar.choose(write_vocab(tmp_path / "small.txt"))
    page.text_view.ask()
    assert page.text_view.plot.empty_text == "Reading the vocabulary…"
    qtbot.waitUntil(lambda: page.text_view.found is not None or page.bar.first is not None)
    assert page.session.wait_idle() and page.text_view.plot.empty_text.startswith("Type a text above")


def summary(page: TokenizerPage, text: str, pair: str = "") -> None:
    page.session.inspector.set_text(text, pair)
    assert page.session.wait_idle()


def pieces(page: TokenizerPage) -> list[str]:
    view = page.text_view.rows_view
    model = view.model()
    return [model.index(row, 1).data() for row in range(model.rowCount())]


def said(page: TokenizerPage, name: str) -> str:
    found = page.findChild(QLabel, name)
    assert isinstance(found, QLabel)
    return found.text()


def marked(page: TokenizerPage, box: Any) -> list[str]:
    return [mark.cursor.selectedText() for mark in box.extraSelections()]


def test_a_vocab_txt_alone_is_enough(page: TokenizerPage) -> None:
    summary(page, "Good playing!")
    assert page.session.inspector.about is None
    assert pieces(page) == ["[CLS]", "good", "play", "##ing", "!", "[SEP]"]
    assert page.text_view.strip.buttons["match"].text() == "3  Pieces · 4"
    assert page.banner.text() == ""


def test_the_model_that_is_looked_into_gives_the_vocabulary(page: TokenizerPage, tmp_path: Path) -> None:
    page.session.inspector.choose(model_folder(tmp_path / "model"))
    assert page.session.wait_idle()
    assert page.bar.first is not None
    assert page.bar.first.path == tmp_path / "model"
    assert page.text_view.max_length.value() == 41  # its positions


def test_a_piece_is_tied_to_its_row_its_characters_and_its_search(page: TokenizerPage, qtbot: QtBot) -> None:
    summary(page, "😀 Good playing", "bad film")
    view = page.text_view
    plot = view.plot
    place = plot.rect_of(4).center().toPoint()
    qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=place)
    assert view.rows_view.currentIndex().row() == 4
    assert marked(page, view.texts.box_a) == ["ing"]
    assert view.detail.ladder.numbers()[-1] == [4, "##ing", "yes", TOKENS.index("##ing")]
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert view.rows_view.currentIndex().row() == 6
    assert (marked(page, view.texts.box_a), marked(page, view.texts.box_b)) == ([], ["bad"])
    qtbot.keyClick(view.rows_view, Qt.Key.Key_Down)
    assert plot.current == 7
    assert marked(page, view.texts.box_b) == ["film"]


def test_the_cursor_in_the_text_chooses_the_piece(page: TokenizerPage) -> None:
    summary(page, "😀 Good playing")
    box = page.text_view.texts.box_a
    box.setFocus()
    cursor = QTextCursor(box.document())
    cursor.setPosition(len("😀😀 Good pla"))  # in Qt's units, of which 😀 takes two
    box.setTextCursor(cursor)
    assert page.text_view.plot.current == pieces(page).index("play")


def test_the_pointer_on_characters_marks_them_in_the_box(page: TokenizerPage, qtbot: QtBot) -> None:
    summary(page, "Good playing")
    plot = page.text_view.plot
    canvas = plot.canvas()
    qtbot.mouseMove(canvas, plot.text_rect_of(3).center().toPoint())
    qtbot.waitUntil(lambda: marked(page, page.text_view.texts.box_a) == ["ing"])
    qtbot.mouseMove(canvas, QPoint(1, 1))
    qtbot.waitUntil(lambda: marked(page, page.text_view.texts.box_a) != ["ing"])


def test_the_characters_of_the_marked_piece_are_the_coloured_ones(page: TokenizerPage) -> None:
    summary(page, "playing playing")
    page.text_view.choose_row(4)
    plot, whole = page.text_view.plot, page.text_view.pieces_card
    image = whole.grab().toImage()
    ground = QColor(theme.current().card)

    def is_coloured(row: int) -> bool:
        room = plot.text_rect_of(row).toRect()
        spots = [QPoint(x, room.top() + 3) for x in range(room.left() + 1, room.right())]
        seen = [
            image.pixelColor(plot.canvas().mapTo(whole, spot) * image.devicePixelRatio()) for spot in spots
        ]
        far = [abs(one.red() - ground.red()) + abs(one.blue() - ground.blue()) > 40 for one in seen]
        return sum(far) > len(far) / 2

    assert [is_coloured(row) for row in (1, 2, 3, 4)] == [False, False, False, True]


def test_an_unknown_word_is_explained(page: TokenizerPage) -> None:
    summary(page, "good playx")
    page.text_view.choose_row(2)
    assert pieces(page)[2] == "[UNK]"
    assert "no piece ##x" in said(page, "tokenizer_why_match")
    assert page.text_view.pieces_card.hint_label.text() == "2 pieces, 1 unknown"


def test_every_step_says_what_it_did(page: TokenizerPage, qtbot: QtBot) -> None:
    summary(page, "GÉood\u200b [SEP] 我")
    view = page.text_view
    for key in ("clean", "split", "match", "frame", "rows"):
        entry = page.findChild(QToolButton, f"tokenizer_step_{key}")
        assert entry is not None
        qtbot.mouseClick(entry, Qt.MouseButton.LeftButton)
        why = page.findChild(QLabel, f"tokenizer_why_{key}")
        assert why is not None and why.isVisible() and why.text()
    cells = [view.detail.changes.index(row, 2).data() for row in range(view.detail.changes.rowCount())]
    assert cells == [
        "lower case",
        "accent off, lower case",
        "invisible, removed",
        "Chinese, spaces around",
    ]
    kinds = [view.detail.split.index(row, 1).data() for row in range(view.detail.split.rowCount())]
    assert kinds == ["word", "token written out", "Chinese character"]


def test_what_is_cut_stays_in_the_rows_and_padding_fills_up(page: TokenizerPage) -> None:
    summary(page, "a b c d e f g")
    view = page.text_view
    view.max_length.setValue(5)
    view.padding.setCurrentIndex(1)
    view.ask()
    assert page.session.wait_idle()
    positions = [view.rows.index(row, 0).data() for row in range(view.rows.rowCount())]
    assert positions == ["0", "1", "2", "3", *["truncated"] * 4, "4", "5", "6", "7"]
    assert view.rows_card.hint_label.text() == "4 truncated"
    assert view.rows.row_at(11).mask == 0


def test_two_vocabularies_stand_under_the_same_words(page: TokenizerPage, tmp_path: Path) -> None:
    page.bar.choose_second(write_vocab(tmp_path / "cased.txt", CASED))
    summary(page, "Good playing")
    words = [column for column in page.text_view.plot.columns if column.text]
    assert [[chip.text for chip in column.chips] for column in words] == [["good"], ["play", "##ing"]]
    assert [[chip.text for chip in column.beside] for column in words] == [["Good"], ["p", "##l", "##aying"]]
    assert page.text_view.pieces_card.hint_label.text() == "3 pieces · second vocabulary: 4 pieces"
    page.bar.choose_second(None)
    assert page.session.wait_idle()
    assert not page.text_view.plot.has_beside


def test_a_broken_vocabulary_is_refused_in_place_and_the_old_one_stays(
    page: TokenizerPage, tmp_path: Path
) -> None:
    page.bar.choose(write_vocab(tmp_path / "broken.txt", ("a", "b")))
    assert page.session.wait_idle()
    assert "lacks" in page.banner.text()
    assert page.bar.first is not None
    assert page.bar.first.path == tmp_path / "small.txt"


def test_an_empty_text_says_what_to_do(page: TokenizerPage) -> None:
    summary(page, "")
    assert page.text_view.plot.is_empty
    assert "Type a text" in page.text_view.plot.empty_text
    assert pieces(page) == []


@pytest.mark.slow
def test_a_very_long_text_is_drawn_in_part_and_listed_whole(page: TokenizerPage) -> None:
    summary(page, "good playing " * 2500)
    assert len(page.text_view.plot.columns) <= MOST_COLUMNS + 3
    assert len(pieces(page)) == 7502
    assert "more words" in page.text_view.pieces_card.hint_label.text()


@pytest.mark.slow
def test_of_a_text_without_end_only_the_beginning_is_looked_at(page: TokenizerPage) -> None:
    summary(page, "good " * 50_000)
    assert len(pieces(page)) == MOST_CHARACTERS // 5 + 2
    assert "only the first" in page.text_view.pieces_card.hint_label.text()


def open_table(page: TokenizerPage, tmp_path: Path, qtbot: QtBot) -> None:
    rows = ["good film", "bad film, 9 9", "zz9 good good good good good", ""]
    lines = "\n".join(f'"{text}",x' for text in rows)
    (tmp_path / "table.csv").write_text(f"text,label\n{lines}\n", encoding="utf-8")
    page.session.data.open(tmp_path / "table.csv")
    qtbot.waitUntil(lambda: page.session.data.roles is not None)


def test_the_open_table_is_measured_and_its_cut_rows_named(
    page: TokenizerPage, tmp_path: Path, qtbot: QtBot
) -> None:
    open_table(page, tmp_path, qtbot)
    qtbot.mouseClick(page.findChild(QToolButton, "tokenizer_view_table"), Qt.MouseButton.LeftButton)
    view = page.table_view
    qtbot.waitUntil(lambda: bool(view.found))
    view.max_length.setValue(5)
    cells = [
        [view.cut.index(row, column).data() for column in range(3)] for row in range(view.cut.rowCount())
    ]
    assert cells[0] == ["4", "8", "3"]
    assert page.session.model.max_length == 5
    assert ("9", 2.0) in view.unknown.bars
    page.bar.choose_second(write_vocab(tmp_path / "cased.txt", CASED))
    qtbot.waitUntil(lambda: len(view.found) == 2)


def test_measuring_a_table_can_be_stopped(
    page: TokenizerPage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def endless(*_args: object) -> Iterator[Progress]:
        while not gate.wait(0.01):
            yield Progress(stage="Tokenizing", done=1, total=9)

    monkeypatch.setattr("app.pages.tokenizer.requests.measure_table", endless)
    open_table(page, tmp_path, qtbot)
    page.show_view("table")
    view = page.table_view
    qtbot.waitUntil(view.stop_button.isVisible)
    qtbot.mouseClick(view.stop_button, Qt.MouseButton.LeftButton)
    assert view.again_button.isVisible() and not view.stop_button.isVisible()
    assert page.session.wait_idle()  # it ended, and nobody let it
    assert not view.found
    gate.set()


def test_a_learned_vocabulary_is_saved_and_stands_beside(
    page: TokenizerPage, tmp_path: Path, qtbot: QtBot
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the good film was playing all day long\n" * 30, encoding="utf-8")
    page.learn_button.click()
    dialog = page.findChild(LearnDialog)
    assert dialog is not None
    assert not dialog.learn_button.isEnabled()
    dialog.set_files([str(text)])
    dialog.pieces.setValue(128)
    dialog.learn(tmp_path / "learned.txt")
    qtbot.waitUntil(lambda: not dialog.learn_button.isEnabled() or bool(dialog.said.text()))
    assert page.session.wait_idle()
    assert "WordPieces" in dialog.said.text() or "characters of this text alone" in dialog.said.text()
    dialog.pieces.setValue(300)
    with qtbot.waitSignal(dialog.learned):
        dialog.learn(tmp_path / "learned.txt")
    assert page.session.wait_idle()
    assert page.bar.second is not None
    assert page.bar.second.path == tmp_path / "learned.txt"
