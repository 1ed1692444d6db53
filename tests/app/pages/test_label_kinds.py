"""The Label page with every kind of label: by keys and mouse, kept as given, trained by its own task."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.pages.label.page import LabelPage
from app.pages.label.typed import TypedNumber
from app.work.labels import journal_path, table_behind
from engine.labelling.entry import COLUMN
from engine.labelling.journal import LabelJournal
from engine.labelling.kinds import A_NUMBER, ONE_LABEL, SEVERAL_LABELS, TAGS_OF_WORDS, LabelKind
from engine.labelling.labelled import Labelled
from engine.labelling.order import NUM_SPREAD
from engine.text.recipe import DROP, RecipeStep
from engine.text.table import read_table
from tests.app.hand import ShowPage, come_to_rest
from tests.fakes import model_folder

TEXTS = [
    "Ada met Charles in London.",
    "中国的首都是北京。",
    *(f"Nothing of note, number {n}." for n in range(10)),
]
SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
NOTHING = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def page(show_page: ShowPage[LabelPage], no_models_ship: None) -> LabelPage:
    return show_page(LabelPage)


def open_table(page: LabelPage, path: Path, qtbot: QtBot, **columns: list[str]) -> None:
    """Open a table of the texts and these columns."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", *columns], *zip(TEXTS, *columns.values(), strict=True)])
    page.session.data.open(path)
    come_to_rest(page.session, qtbot)


def begin(page: LabelPage, tmp_path: Path, qtbot: QtBot, kind: LabelKind, *names: str) -> None:
    """Open a table, choose a kind, make labels, and bring the first text into view."""
    open_table(page, tmp_path / "towns.csv", qtbot)
    if kind is not ONE_LABEL:
        page.codebook.kind_box.chosen.emit(kind)
    for name in names:
        page.labels.define(name)
    come_to_rest(page.session, qtbot)
    go_to(page, 0)


def go_to(page: LabelPage, row: int) -> None:
    assert page.learner.texts is not None
    place = page.learner.texts.place(row)
    assert place is not None
    page.queue.wanted.emit(place)
    assert page.walk.row == row


def press(page: LabelPage, qtbot: QtBot, *keys: Qt.Key | str, held: Qt.KeyboardModifier = NOTHING) -> None:
    for key in keys:
        qtbot.keyClick(page.card.text_view, key, held)


def kept(page: LabelPage) -> Labelled:
    """Return what the journal on the disk comes to."""
    table = page.session.data.table
    assert table is not None
    path = journal_path(page.session.runs.recipes_dir(), table.sha256)
    return LabelJournal.read(path, table.path.name, table.sha256, table.num_rows).labelled


def test_of_nine_labels_each_has_a_key_and_of_forty_a_digit_waits_only_where_it_could_be_two() -> None:
    typed = TypedNumber()
    assert [typed.type(str(digit), 9) for digit in range(1, 10)] == [*range(9)]
    assert typed.type("5", 40) == 4 and typed.type("1", 40) is None
    assert typed.could_be(12) == [0, 9, 10, 11] and typed.type("2", 40) == 11
    assert typed.type("4", 40) is None and typed.type("1", 40) is None and typed.end() is None  # 41 is none
    assert typed.type("0", 40) is None and typed.end() is None
    assert typed.type("4", 40) is None and typed.end() == 3


def test_forty_labels_are_given_by_two_digits_by_enter_and_by_part_of_a_name(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, ONE_LABEL, *(f"label {number}" for number in range(1, 40)), "Wetter")
    press(page, qtbot, "1")
    assert page.walk.row == 0 and "label 1." in page.card.chosen.text()
    press(page, qtbot, "2")
    assert kept(page).given[0].label == 11
    go_to(page, 1)
    press(page, qtbot, "2", Qt.Key.Key_Return)
    go_to(page, 2)
    press(page, qtbot, "3", Qt.Key.Key_Escape, "7")
    go_to(page, 3)
    press(page, qtbot, "F")
    qtbot.keyClicks(page.codebook.finder, "wett")
    assert [row.key for row in page.codebook.rows.rows] == ["40"]
    qtbot.keyClick(page.codebook.finder, Qt.Key.Key_Return)
    assert {row: entry.label for row, entry in kept(page).given.items()} == {0: 11, 1: 1, 2: 6, 3: 39}
    assert len(page.codebook.rows.rows) == 40


def test_several_labels_are_chosen_by_keys_and_enter_goes_on(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, SEVERAL_LABELS, "a", "b", "c")
    press(page, qtbot, "3", "1", "2", "2")
    assert page.walk.row == 0 and page.codebook.rows.marked == {0, 2} and not kept(page).given
    page.codebook.hide()  # as in a narrow window, where the labels stand under the text
    page.work.show_suggestions()
    assert page.card.plot.marked == {0, 2} and [row.key for row in page.card.plot.rows] == ["1", "2", "3"]
    page.codebook.show()
    press(page, qtbot, Qt.Key.Key_Return)
    assert kept(page).given[0].labels == (0, 2) and page.walk.row != 0
    assert not page.tune_button.isEnabled()
    second = page.walk.row
    press(page, qtbot, Qt.Key.Key_Return)
    assert kept(page).given[second].labels == ()
    come_to_rest(page.session, qtbot)
    assert page.tune_button.isEnabled() and not page.codebook.kind_box.isVisible()
    press(page, qtbot, "Z", held=CTRL)
    assert page.walk.row == second and second not in kept(page).given
    press(page, qtbot, "2", "U")
    assert page.walk.answer is not None and page.walk.answer.chosen == ()
    assert 0 in kept(page).given  # the choice was undone, not the label before


def test_what_was_chosen_for_a_text_is_there_when_a_person_comes_back_to_it(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, SEVERAL_LABELS, "a", "b")
    press(page, qtbot, "2")
    go_to(page, 1)
    press(page, qtbot, "1", Qt.Key.Key_Return)
    assert page.walk.row == 0 and "b" in page.card.chosen.text()
    press(page, qtbot, Qt.Key.Key_Return)
    assert {row: entry.labels for row, entry in kept(page).given.items()} == {0: (1,), 1: (0,)}


@pytest.mark.usefixtures("styled")
def test_words_are_tagged_by_keys_and_by_the_mouse(page: LabelPage, tmp_path: Path, qtbot: QtBot) -> None:
    begin(page, tmp_path, qtbot, TAGS_OF_WORDS, "PER", "LOC")
    press(page, qtbot, "1", Qt.Key.Key_Right, Qt.Key.Key_Right)  # Ada; Charles
    press(page, qtbot, Qt.Key.Key_Right, held=SHIFT)
    press(page, qtbot, "2")  # Charles in
    plot = page.card.tags
    first, last = (plot.rect_of(place).center().toPoint() for place in (2, 4))
    qtbot.mousePress(plot.canvas(), Qt.MouseButton.LeftButton, pos=first)
    qtbot.mouseMove(plot.canvas(), last)
    qtbot.mouseRelease(plot.canvas(), Qt.MouseButton.LeftButton, pos=last)
    press(page, qtbot, "1")  # Charles in London, in the place of the tag before
    assert [stretch.true is not None for stretch in plot.words] == [True, False, True, True, True, False]
    qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=first + QPoint(1, 0))
    assert plot.selection == (2, 4)  # a click selects the whole tag
    press(page, qtbot, Qt.Key.Key_Delete, "U", "U", Qt.Key.Key_Return)
    assert kept(page).given[0].spans == ((0, 3, 0), (8, 18, 1))
    assert kept(page).given[0].text == TEXTS[0]


def test_chinese_characters_are_tagged_one_by_one(page: LabelPage, tmp_path: Path, qtbot: QtBot) -> None:
    begin(page, tmp_path, qtbot, TAGS_OF_WORDS, "地名")
    go_to(page, 1)
    press(page, qtbot, Qt.Key.Key_Right, held=SHIFT)
    press(page, qtbot, "1", Qt.Key.Key_Return)
    assert kept(page).given[1].spans == ((0, 2, 0),)


def test_a_number_is_typed_and_what_is_none_is_said(page: LabelPage, tmp_path: Path, qtbot: QtBot) -> None:
    begin(page, tmp_path, qtbot, A_NUMBER)
    press(page, qtbot, "-")
    qtbot.keyClick(page.card.number, Qt.Key.Key_Return)
    assert page.walk.row == 0 and "no number" in page.card.chosen.text() and not kept(page).given
    qtbot.keyClicks(page.card.number, "2.5")
    qtbot.keyClick(page.card.number, Qt.Key.Key_Return)
    assert kept(page).given[0].text == "-2.5" and page.card.number.text() == ""
    come_to_rest(page.session, qtbot)
    assert "−2.5" in page.codebook.numbers.text()


def test_the_texts_of_a_label_that_is_split_come_next_until_each_has_one_of_the_new_ones(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, ONE_LABEL, "a", "b")
    for row, key in ((0, "1"), (1, "2"), (2, "1")):
        go_to(page, row)
        press(page, qtbot, key)
    press(page, qtbot, "E")
    page.codebook.editor.split_line.setText("only one")
    qtbot.keyClick(page.codebook.editor.split_line, Qt.Key.Key_Return)
    assert page.codebook.editor.problem.text() and 0 in kept(page).names
    page.codebook.editor.split_line.setText("a1, a2，a3")
    qtbot.keyClick(page.codebook.editor.split_line, Qt.Key.Key_Return)
    assert [*kept(page).names.values()] == ["b", "a1", "a2", "a3"] and [*kept(page).asked] == [0, 2]
    asked = list[int]()
    page.walk.take_next()
    page.walk.take_next()
    for _ in range(2):
        page.work.show_text()
        asked.append(page.walk.row)
        assert "a1, a2, a3" in page.card.reason.text()
        assert [row.name for row in page.codebook.rows.rows] == ["a1", "a2", "a3"]
        press(page, qtbot, "3")
    assert asked == [0, 2] and not kept(page).asked and kept(page).count() == {1: 1, 2: 0, 3: 2, 4: 0}


def test_words_whose_tag_was_split_are_asked_for_one_after_the_other(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, TAGS_OF_WORDS, "NAME", "OTHER")
    page.labels.give(0, suggested=False, why="", text=TEXTS[0], spans=((0, 3, 0), (8, 15, 0), (19, 25, 1)))
    page.labels.split(0, ("PER", "ORG"))
    page.walk.take_next()
    page.walk.take_next()
    page.work.show_text()
    assert page.walk.row == 0 and page.card.tags.selection == (0, 0)
    press(page, qtbot, Qt.Key.Key_Return)  # nothing can be given yet
    press(page, qtbot, "2")
    assert page.card.tags.selection == (2, 2) and page.walk.row == 0
    press(page, qtbot, "3", Qt.Key.Key_Return)
    assert kept(page).given[0].spans == ((0, 3, 2), (8, 15, 3), (19, 25, 1)) and not kept(page).asked


def test_labels_of_a_column_are_offered_taken_over_and_told_by_where_they_come_from(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    open_table(page, tmp_path / "films.csv", qtbot, mood=["good", "bad", *["good", "bad"] * 4, "", ""])
    assert page.codebook.offer.isVisible() and "2 labels on 10 texts" in page.codebook.offer_words.text()
    page.codebook.offer_button.click()
    come_to_rest(page.session, qtbot)
    found = kept(page)
    assert {*found.names.values()} == {"good", "bad"} and len(found.given) == 10
    assert {(entry.who, entry.why) for entry in found.given.values()} == {("mood", COLUMN)}
    assert "mood" in page.banner.text() and not page.codebook.offer.isVisible()
    assert page.walk.row in (10, 11)
    given = page.learner.given(found)
    assert len(given.places) == 10 and {*given.places} <= {*given.skipped}  # no random sample of anything
    go_to(page, 0)
    assert "“mood”" in page.card.reason.text()
    press(page, qtbot, "U")
    assert not kept(page).given and not kept(page).names


ANSWERS: dict[LabelKind, Callable[[int], dict[str, Any]]] = {
    ONE_LABEL: lambda row: {"label": row % 2},
    SEVERAL_LABELS: lambda row: {"labels": ((0, 1), (0,), ())[row % 3]},
    TAGS_OF_WORDS: lambda row: {"text": TEXTS[row], "spans": ((0, 2, row % 2),)},
    A_NUMBER: lambda row: {"text": str(row)},
}


@pytest.mark.parametrize("kind", ANSWERS, ids=[kind.name for kind in ANSWERS])
def test_one_click_opens_what_was_labelled_for_the_kinds_own_task(
    kind: LabelKind, page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, kind, *(("a", "b") if kind.has_codebook else ()))
    for row in range(6):
        page.labels.give(row, suggested=False, why="", **ANSWERS[kind](row))
    come_to_rest(page.session, qtbot)
    before = page.labels.labelled
    page.tune_button.click()
    come_to_rest(page.session, qtbot)
    data = page.session.data
    assert (
        data.task_name == kind.name and data.path is not None and data.path.parent.parent.name == ".labelled"
    )
    if kind.is_of_rows:
        assert page.labels.labelled == before and data.table_summary is not None
        assert data.table_summary.refusal is None and data.table_summary.num_examples == 6
    else:
        assert data.file_summary is not None and data.file_summary.num_examples == 6


def test_mends_on_data_leave_the_labels_and_go_along_with_them(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(page, tmp_path, qtbot, ONE_LABEL, "a", "b")
    for row, key in ((0, "1"), (1, "2"), (2, "1"), (3, "2")):
        go_to(page, row)
        press(page, qtbot, key)
    before, data = kept(page), page.session.data
    go_to(page, 2)
    data.mends.decide(1, RecipeStep(DROP))
    data.mends.edit(2, "text", "Something else.")
    steps = data.mends.steps
    come_to_rest(page.session, qtbot)
    assert page.card.read.text.text() == "Something else." and kept(page) == before
    page.tune_button.click()
    come_to_rest(page.session, qtbot)
    assert (
        page.labels.labelled == before
        and data.path is not None
        and data.path.parent.parent.name == ".labelled"
    )
    assert data.mends.steps == steps and data.table_summary is not None
    assert data.table_summary.num_examples == 3  # one of the four is excluded
    assert page.learner.texts is not None and page.learner.texts.text(2) == "Something else."


def test_tables_of_one_name_in_two_folders_have_a_labelled_copy_each(
    page: LabelPage, tmp_path: Path, qtbot: QtBot
) -> None:
    copies = list[Path]()
    for name in ("spring", "autumn"):
        (tmp_path / name).mkdir()
        open_table(page, tmp_path / name / "towns.csv", qtbot, season=[name] * len(TEXTS))
        for label in (name, "other"):
            page.labels.define(label)
        for row, key in enumerate("1212"):
            go_to(page, row)
            press(page, qtbot, key)
        come_to_rest(page.session, qtbot)
        for _again in range(2):  # the second time from the copy, which stays the same one
            page.tune_button.click()
            come_to_rest(page.session, qtbot)
            assert page.session.data.path is not None
            copies.append(page.session.data.path)
    known = page.session.settings.recent_files
    assert copies[0] == copies[1] != copies[2] == copies[3] and copies[0].name == copies[2].name
    for copy, name in ((copies[0], "spring"), (copies[2], "autumn")):
        assert name in read_table(copy).frame["label"].tolist()
        assert table_behind(copy, known).parent == tmp_path / name


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SEVERAL_LABELS, A_NUMBER], ids=["several", "number"])
def test_a_model_learns_several_labels_and_numbers_along_and_suggests_them(
    kind: LabelKind, show_page: ShowPage[LabelPage], tmp_path: Path, qtbot: QtBot
) -> None:
    page = show_page(LabelPage)
    page.session.inspector.choose(model_folder(tmp_path / "model"))
    texts = [f"{('good', 'bad')[row % 2]} film play" for row in range(40)]
    (tmp_path / "films.csv").write_text("text\n" + "\n".join(texts) + "\n")
    page.session.data.open(tmp_path / "films.csv")
    come_to_rest(page.session, qtbot)
    page.codebook.kind_box.chosen.emit(kind)
    for name in ("good", "film"):
        page.labels.define(name)
    qtbot.waitUntil(lambda: page.learner.known is not None)
    for row in range(NUM_SPREAD):
        is_good = row % 2 == 0
        fields = (
            {"labels": (0, 1) if is_good else (1,)} if kind is SEVERAL_LABELS else {"text": f"{3 * is_good}"}
        )
        page.labels.give(row, suggested=False, why="", **fields)
    come_to_rest(page.session, qtbot)
    go_to(page, 30)
    if kind is SEVERAL_LABELS:
        likely = dict(page.work.suggested(page.walk.current))
        assert likely[0] > 0.7 and likely[1] > 0.7
        go_to(page, 31)
        assert dict(page.work.suggested(page.walk.current))[0] < 0.3
        press(page, qtbot, "2", Qt.Key.Key_Return)
    else:
        assert "suggests 2." in page.card.said.text() or "suggests 3" in page.card.said.text()
        go_to(page, 31)
        assert "suggests 0" in page.card.said.text()
        press(page, qtbot, "0")
        qtbot.keyClick(page.card.number, Qt.Key.Key_Return)
    assert kept(page).given[31].suggested and not page.work.accuracy.isVisible()
