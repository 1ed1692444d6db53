"""From a doubtful table to a mended one, by clicks and keys: found, shown, mended, taken back, kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.data.page import DataPage
from app.pages.label.state import LabelState
from app.session import Session
from engine.text.recipe import DROP, RELABEL, SUSPECTED, RecipeStep, read_recipe
from engine.text.table import read_table, write_csv
from tests.app.hand import Hand, ShowPage
from tests.fakes import model_folder

SUBJECTS = (
    "river",
    "bakery",
    "minister",
    "novel",
    "moon",
    "bridge",
    "teacher",
    "garden",
    "engine",
    "singer",
    "harbour",
    "winter",
)
GOOD, BAD = ("wonderful", "warm", "brilliant", "lovely"), ("terrible", "dull", "boring", "awful")


@pytest.fixture
def page(show_page: ShowPage[DataPage], monkeypatch: pytest.MonkeyPatch) -> DataPage:
    monkeypatch.setattr(
        "app.pages.data.doctor.starter_model", lambda script: None
    )  # counted words suffice here
    return show_page(DataPage)


@pytest.fixture
def hand(page: DataPage, qtbot: QtBot) -> Hand:
    return Hand(page, qtbot)


@pytest.fixture
def rows(tmp_path: Path) -> list[tuple[str, str]]:
    """Write a table: row 5 has the wrong label, 96 repeats 0, 97 is nearly 1, 98 has a mistyped label."""
    made = [
        (f"{word} and {subject} in a {('short', 'long')[place % 2]} film about the {subject} {number}", label)
        for number, (label, words) in enumerate((("good", GOOD), ("bad", BAD)))
        for subject in SUBJECTS
        for place, word in enumerate(words)
    ]
    made[5] = (made[5][0], "bad")
    made += [made[0], (made[1][0].upper() + "!", made[1][1]), ("a lovely warm song of ships at sea", "goood")]
    write_csv(tmp_path / "films.csv", ("text", "label"), made)
    return made


def open_table(page: DataPage, path: Path) -> Session:
    session: Session = page.session
    session.data.open(path)
    assert session.wait_idle()
    return session


def links(page: DataPage, words: str) -> dict[str, QPushButton]:
    found = page.advice.findChildren(QPushButton)
    return {link.text(): link for link in found if words in link.accessibleDescription()}


def lines_shown(page: DataPage) -> list[int]:
    model = page.table_card.view.model()
    return [int(model.headerData(row, Qt.Orientation.Vertical)) for row in range(model.rowCount())]


def said(page: DataPage) -> str:
    return " ".join(page.advice.texts())


@pytest.mark.slow
def test_full_width_letters_are_written_half_width_by_one_click_and_come_back_by_another(
    page: DataPage, qtbot: QtBot, tmp_path: Path
) -> None:
    texts = ["住了５晚，ＷＩＦＩ很慢", "房间很大，住了5晚", "早餐很好，服务也好", "离车站很近，很方便"]
    rows = [(text, "好坏"[place % 2]) for place, text in enumerate(texts)]
    write_csv(tmp_path / "hotel.csv", ("text", "label"), rows)
    session = open_table(page, tmp_path / "hotel.csv")
    shown = page.table_card.view.model()
    links(page, "full-width")["Write half-width"].click()
    qtbot.waitUntil(lambda: "One text of hotel.csv" not in said(page), timeout=20_000)
    assert "Letters and digits of one text written half-width" in said(page)
    assert [shown.index(row, 0).data() for row in range(2)] == ["住了5晚，WIFI很慢", texts[1]]
    links(page, "written half-width")["Undo"].click()
    assert session.wait_idle() and shown.index(0, 0).data() == texts[0]


@pytest.mark.slow
def test_copies_are_left_out_by_one_click_and_come_back_by_another(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    links(page, "repeat")["Exclude"].click()
    assert session.wait_idle()
    assert "No text occurs twice" in said(page) and "One row excluded (duplicates)" in said(page)
    assert "98 of 99 rows can be used" in page.table_card.hint_label.text()
    recipe = Path(session.values()["recipe"])
    session.data.mends.save()
    assert read_recipe(recipe).steps[0].rows == (96,)
    links(page, "One row excluded")["Undo"].click()
    assert session.wait_idle()
    assert "repeats an earlier text" in said(page) and session.values()["recipe"] == ""


def test_a_mend_is_kept_though_the_window_closes_at_once(
    page: DataPage, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    links(page, "repeat")["Exclude"].click()
    session.close()
    assert Path(session.values()["recipe"]).is_file()


@pytest.mark.slow
def test_it_looks_again_after_a_mend_and_at_the_files_that_a_training_keeps_apart(
    page: DataPage, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    write_csv(tmp_path / "apart.csv", ("text", "label"), rows[10:13])
    write_csv(tmp_path / "other.csv", ("question", "answer"), rows[10:13])
    session = open_table(page, tmp_path / "films.csv")
    files = tmp_path / "other.csv", tmp_path / "apart.csv"  # the first has other columns
    session.doctor.set_apart(tuple((path, "") for path in files))
    assert session.wait_idle(60)
    assert "rows of films.csv are also in apart.csv" in said(page) and "other.csv" not in said(page)
    links(page, "also in apart.csv")["Exclude"].click()
    qtbot.waitUntil(lambda: not any(one.kind == "leaks" for one in session.doctor.findings), timeout=20_000)
    session.data.mends.undo()
    qtbot.waitUntil(lambda: any(one.kind == "leaks" for one in session.doctor.findings), timeout=20_000)


def test_near_copies_stand_beside_what_they_repeat_and_go_from_a_likeness_on(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    assert set(links(page, "near-duplicate of a row above")) == {"Show rows", "Keep in one split"}, (
        "none go by one click"
    )
    links(page, "near-duplicate of a row above")["Show rows"].click()
    alike, text, label, line, other, _label = hand.rows("found_view")[0]
    assert (alike, text, label, line, other) == ("100 %", rows[97][0], rows[97][1], "3", rows[1][0])
    assert page.found_card.model.headerData(0, Qt.Orientation.Vertical) == "99"
    hand.find("found_share").setValue(100)
    assert hand.said("found_drop") == "Exclude one row"
    hand.click("found_drop")
    assert session.data.mends.steps[0].rows == (97,) and page.table_card.isVisible()


def test_a_row_leads_to_what_it_repeats_where_either_can_be_excluded(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    menu = QMenu(page)
    page.table_card.hand.add_rows(menu, [1])
    said = [action.text() for action in menu.actions()]
    assert "Show its near-duplicates" in said and "Show its duplicates" not in said
    menu.actions()[said.index("Show its near-duplicates")].trigger()
    (shown,) = hand.rows("found_view")
    assert (shown[1], shown[4]) == (rows[97][0], rows[1][0])
    view = page.found_card.view
    view.setFocus()
    for column, row in ((4, 1), (1, 97)):
        view.setCurrentIndex(view.model().index(0, column))
        qtbot.keyClick(view, Qt.Key.Key_Delete)
        assert row in session.data.mends.recipe.left_out()
    assert session.data.mends.steps == (RecipeStep(DROP, (1, 97)),)


@pytest.mark.slow
def test_what_is_found_in_another_file_shows_its_rows_and_mends_nothing_here(
    page: DataPage, rows: list[tuple[str, str]], tmp_path: Path, hand: Hand
) -> None:
    copied = [("a wholly different opinion of it", "bad"), ("we saw nothing like this before", "good")]
    write_csv(tmp_path / "test.csv", ("text", "label"), [*copied, *copied, (copied[0][0] + "!", "badd")])
    session = open_table(page, tmp_path / "films.csv")
    page.advice_card.compare_with(tmp_path / "test.csv")
    assert session.wait_idle()
    for words, lines in (
        ("test.csv repeat", ["4", "5"]),
        ("test.csv say nearly", []),
        ("test.csv has a", ["6"]),
    ):
        found = links(page, words)
        assert set(found) <= {"Show rows"}, words
        if lines:
            found["Show rows"].click()
            model = page.found_card.model
            numbers = range(model.rowCount())
            assert [model.headerData(row, Qt.Orientation.Vertical) for row in numbers] == lines
    assert "Rows of test.csv" in page.found_card.title_label.text() and not session.data.mends.steps


@pytest.mark.slow
def test_a_leak_is_shown_beside_the_row_of_the_other_file(
    page: DataPage, rows: list[tuple[str, str]], tmp_path: Path, hand: Hand
) -> None:
    others = [
        ("nothing of the kind stands here", "bad"),
        rows[20],
        (rows[30][0].replace("the", "teh"), "bad"),
    ]
    write_csv(tmp_path / "test.csv", ("text", "label"), others)
    session = open_table(page, tmp_path / "films.csv")
    page.advice_card.compare_with(tmp_path / "test.csv")
    assert session.wait_idle()
    assert "Exclude" in links(page, "is also in test.csv, word") and "Exclude" not in links(page, "near-dup")
    for words, place in (("is also in test.csv", 1), ("near-duplicate in test.csv", 2)):
        links(page, words)["Show rows"].click()
        (shown,) = hand.rows("found_view")
        assert shown[3:5] == [str(place + 2), others[place][0]]


@pytest.mark.slow
def test_the_last_mend_is_taken_back_beside_the_title_and_mends_are_no_remarks(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    before = page.advice_card.hint_label.text()
    assert not page.advice_card.undo_button.isVisible()
    links(page, "repeat")["Exclude"].click()
    assert session.wait_idle()
    assert page.advice_card.hint_label.text() == before and "One row excluded" in said(page)
    hand.click("undo_mend")
    assert session.wait_idle()
    assert not session.data.mends.steps and page.advice_card.hint_label.text() == before


@pytest.mark.slow
def test_a_mistyped_label_is_merged_and_the_mend_is_there_when_the_file_is_opened_again(
    page: DataPage, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    assert {name for name, _count in page.labels_card.plot.bars} == {"good", "bad", "goood"}
    links(page, "may mean the same")["Merge"].click()
    assert session.wait_idle()
    assert {name for name, _count in page.labels_card.plot.bars} == {"good", "bad"}
    qtbot.waitUntil(lambda: any(session.runs.recipes_dir().glob("*.json")))
    open_table(page, tmp_path / "films.csv")
    assert {name for name, _count in page.labels_card.plot.bars} == {"good", "bad"}
    assert "“goood” read as “good”" in said(page)


@pytest.mark.slow
def test_label_errors_lead_to_label_and_the_mended_table_is_saved(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    led: list[tuple[str, object]] = []
    page.session.page_requested.connect(lambda key, state: led.append((key, state)))
    session = open_table(page, tmp_path / "films.csv")
    before = (tmp_path / "films.csv").read_bytes()
    hand.click("look_for_wrong_labels")
    assert session.wait_idle()
    hand.click("review_labels")
    assert led == [("label", LabelState(tmp_path / "films.csv", review=True))]
    session.data.mends.decide(5, RecipeStep(RELABEL, label="good", column="label", reason=SUSPECTED))
    assert "One row relabelled as “good” (suspected labels)" in said(page)
    assert "One of them is decided" in hand.said("doctor_told")
    hand.open_dialog("save_mended", tmp_path / "better.csv")
    qtbot.waitUntil((tmp_path / "better.csv").is_file)
    assert session.wait_idle()
    mended = read_table(tmp_path / "better.csv")
    assert mended.num_rows == len(rows) and mended.frame["label"].iloc[5] == "good"
    assert (tmp_path / "films.csv").read_bytes() == before


@pytest.mark.slow
def test_a_closer_look_has_a_model_taught_and_says_so(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    hand.click("look_for_wrong_labels")
    assert session.wait_idle()
    closer = page.advice_card.closer_button
    assert not closer.isVisible(), "without a model none can be taught"
    folder = model_folder(tmp_path / "tiny")
    monkeypatch.setattr("app.pages.data.doctor.starter_model", lambda script: folder)
    page.advice_card.refresh()
    first = session.doctor.suspected
    hand.click("look_closer")
    assert session.doctor.suspected is first, "what was found before stays meanwhile"
    assert session.wait_idle(60)
    assert session.doctor.suspected is not first and not closer.isVisible()
    how = (
        "which was trained on"
        if session.doctor.suspected.is_taught
        else "The closer look changed nothing: tiny"
    )
    assert how in hand.said("doctor_told")


@pytest.mark.slow
def test_what_stands_in_a_test_file_too_is_named_and_left_out(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    write_csv(tmp_path / "test.csv", ("text", "label"), [rows[20], ("something else stands here", "bad")])
    session = open_table(page, tmp_path / "films.csv")
    hand.open_dialog("compare_with_file", tmp_path / "test.csv")
    qtbot.waitUntil(lambda: bool(session.doctor.against))
    assert session.wait_idle()
    links(page, "in test.csv, word for word")["Exclude"].click()
    assert session.wait_idle()
    assert session.data.mends.steps[0].rows[0] == 20 and "excluded (leaks)" in said(page)


@pytest.mark.slow
def test_rows_are_searched_put_in_order_and_filtered_by_a_label(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path, qtbot: QtBot
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    hand.type("search_rows", "HARBOUR")
    qtbot.waitUntil(lambda: len(lines_shown(page)) == 8)
    assert "contains “HARBOUR”" in page.table_card.shown_rows.label.text()
    page.table_card.order_by("text", "down")
    assert session.wait_idle()
    cells = [cells[0] for cells in hand.rows("table_view")]
    assert cells == sorted(cells, reverse=True) and len(cells) == 8
    hand.click("show_all_rows")
    assert lines_shown(page) == [*range(2, len(rows) + 2)]
    place = [name for name, _count in page.labels_card.plot.bars].index("goood")
    page.labels_card.plot.chosen.emit(place)
    assert session.wait_idle()
    assert lines_shown(page) == [100]


@pytest.mark.slow
def test_labels_in_doubt_are_still_there_after_a_look_at_another_table(
    page: DataPage, hand: Hand, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    session = open_table(page, tmp_path / "films.csv")
    hand.click("look_for_wrong_labels")
    assert session.wait_idle()
    found = session.doctor.suspected
    write_csv(tmp_path / "others.csv", ("text", "label"), rows[:20])
    open_table(page, tmp_path / "others.csv")
    assert session.doctor.suspected is None
    open_table(page, tmp_path / "films.csv")
    assert (
        found is not None and session.doctor.suspected is found and page.advice_card.review_button.isVisible()
    )
