"""Arabic, Hebrew and Persian are read from the right where the window shows them, and turn nothing else."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QLabel

from app.look.columns import LEFT, RIGHT, WordsCell
from app.look.direction import TO_LEFT, in_one_line, in_sentence, is_right_to_left, paint_text
from app.look.inputs import TextEdit
from app.look.labels import ElidedLabel, label
from app.look.table_model import TableModel
from app.look.table_view import TableView
from app.plots.word_flow import flow
from engine.text.table import read_table, write_csv

ARABIC, HEBREW, PERSIAN = "هذا الفيلم جميل", "הסרט היה טוב", "کتاب خوبی بود"
WIDTH = 400


def ink(image: QImage, top: int = 0, bottom: int = 0) -> tuple[int, int]:
    """Return where, from left to right, an image is not as in its corner."""
    ground = image.pixel(0, top)
    rows = range(top, bottom or image.height())
    columns = [x for x in range(image.width()) if any(image.pixel(x, y) != ground for y in rows)]
    return columns[0], columns[-1]


def painted(paint, direction: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight) -> tuple[int, int]:
    image = QImage(WIDTH, 24, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setLayoutDirection(direction)
    paint(painter, QRectF(0, 0, WIDTH, 24))
    painter.end()
    return ink(image)


@pytest.mark.parametrize("text", [ARABIC, HEBREW, PERSIAN, f"12: {HEBREW} Tom", "## שלום"])
def test_a_text_runs_as_its_first_letter(text: str) -> None:
    assert is_right_to_left([text]) and is_right_to_left(["", "12", text, "Tom"])
    assert not is_right_to_left([f"Tom {text}"]) and not is_right_to_left(["", "12 !"])


@pytest.mark.parametrize("text", [ARABIC, HEBREW, PERSIAN])
def test_a_line_that_runs_to_the_left_stands_at_the_right_and_others_stay(qapp, text: str) -> None:
    left, right = painted(WordsCell(text).paint)
    assert left > WIDTH / 2 and right > WIDTH - 20
    assert painted(WordsCell("a film of 12 %").paint)[0] < 20
    assert painted(WordsCell(text, side=RIGHT).paint)[1] > WIDTH - 20


@pytest.mark.parametrize("text", [ARABIC, "Tom Hanks", "12 · 5 %"])
@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, TO_LEFT])
def test_in_a_picture_words_of_any_direction_stand_where_others_do(
    qapp, text: str, direction: Qt.LayoutDirection
) -> None:
    left, right = painted(lambda painter, room: paint_text(painter, room, LEFT, text), direction)
    assert (right < WIDTH / 2) if direction != TO_LEFT else (left > WIDTH / 2)


def test_the_full_stop_of_a_hebrew_text_is_at_its_left(qapp) -> None:
    plain = painted(lambda painter, room: paint_text(painter, room, RIGHT, "שלום"))
    stopped = painted(lambda painter, room: paint_text(painter, room, RIGHT, "שלום."))
    assert stopped[0] < plain[0] and stopped[1] == plain[1]


def test_each_row_of_a_table_stands_where_its_text_begins(qtbot, tmp_path) -> None:
    write_csv(tmp_path / "rows.csv", ("text",), [(ARABIC,), ("a film",), (HEBREW,)])
    view = TableView()
    qtbot.addWidget(view)
    view.setModel(TableModel(read_table(tmp_path / "rows.csv", header="yes")))
    view.resize(WIDTH + 60, 160)
    view.show()
    image = view.viewport().grab().toImage()
    places = [view.rowViewportPosition(row) + 6 for row in range(3)]
    found = [ink(image, top, top + 18) for top in places]
    assert found[0][0] > image.width() / 2 and found[2][0] > image.width() / 2
    assert found[1][1] < image.width() / 2


def test_in_a_window_that_runs_to_the_left_latin_texts_stand_as_others_and_are_read_as_they_run(
    qtbot, tmp_path
) -> None:
    write_csv(tmp_path / "rows.csv", ("text",), [("film.",), ("film",), (HEBREW,)])
    view = TableView()
    qtbot.addWidget(view)
    view.setLayoutDirection(TO_LEFT)
    view.setModel(TableModel(read_table(tmp_path / "rows.csv", header="yes")))
    view.resize(WIDTH + 60, 160)
    view.show()
    image = view.viewport().grab().toImage()
    tops = [view.rowViewportPosition(row) + 6 for row in range(3)]
    assert all(ink(image, top, top + 18)[0] > image.width() / 2 for top in tops)
    stopped, plain = (ink(image, top, top + 9)[1] for top in tops[:2])  # above the full stop
    assert stopped < plain  # which stands at the right of its word


@pytest.mark.parametrize("is_told", [True, False])
def test_a_box_of_lines_stands_where_its_text_begins_while_it_is_typed(qtbot, is_told: bool) -> None:
    box = TextEdit()
    qtbot.addWidget(box)
    assert box.document().defaultTextOption().alignment() == Qt.AlignmentFlag.AlignLeft
    box.blockSignals(not is_told)
    for text, side in ((ARABIC, Qt.AlignmentFlag.AlignRight), ("Tom", Qt.AlignmentFlag.AlignLeft)):
        box.setPlainText(text)
        assert box.document().defaultTextOption().alignment() == side


def test_a_name_in_a_sentence_turns_no_word_around_it() -> None:
    assert in_sentence("“סרט” has 12.5 % of the rows") == "“\u2068סרט\u2069” has 12.5 % of the rows"
    assert in_sentence("label: סרט 12 %") == "label: \u2068סרט\u2069 12 %"
    assert in_sentence("a plain “word”, 12 %") == "a plain “word”, 12 %"
    assert in_sentence(f"{HEBREW}, 12 Tom.") == f"{HEBREW}, 12 Tom."  # a person's own text
    once = in_sentence("“סרט” is a label")
    assert in_sentence(once) == once


def test_a_label_says_what_it_was_given(qtbot) -> None:
    for made in (label(wrap=True), label(), ElidedLabel()):
        qtbot.addWidget(made)
        made.resize(WIDTH, 40)
        made.setText("“סרט” has 12 %")
        assert made.text() == "“סרט” has 12 %" and "\u2068" in QLabel.text(made)


def lefts(words: list[str], width: float = WIDTH) -> list[float]:
    return [room.left() for room in flow([(word, 0, 40.0) for word in words], width, 30, 24)]


def test_words_flow_as_the_text_runs_and_names_in_it_as_they_do() -> None:
    one, two, tom, hanks, last = lefts(["הסרט", "עם", "Tom", "Hanks", "."])
    assert one > two > hanks > tom > last
    the, peace, upon, means = lefts(["The", "السلام", "عليكم", "means"])
    assert the < upon < peace < means
    one, tom, number, hanks, two = lefts(["הסרט", "Tom", "2", "Hanks", "עם"])
    assert one > hanks > number > tom > two


def test_names_that_wrap_stay_on_their_lines() -> None:
    rooms = flow([(word, 0, 40.0) for word in ("הסרט", "Tom", "and", "Jerry")], 140, 30, 24)
    assert [room.top() for room in rooms] == [2, 2, 2, 32]
    assert rooms[0].left() > rooms[2].left() > rooms[1].left() and rooms[3].left() > 80


def test_the_parts_of_a_sentence_follow_one_another_as_it_runs() -> None:
    assert in_one_line(("The ", "bank", " is"), (30, 40, 20), 10) == [10, 40, 80]
    assert in_one_line(("הבנק ", "Tom", " היה"), (30, 40, 20), 10) == [70, 30, 10]
