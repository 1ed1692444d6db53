"""The Evaluate page by clicks and keys: from any number to its texts, and to what their answers rest on."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.widgets import LevelMark
from app.pages.attention.state import AttentionState
from app.pages.evaluate.page import EvaluatePage
from app.pages.evaluate.requests import choose, fitted
from app.pages.evaluate.state import FILE, EvaluateState, Listing
from app.pages.evaluate.texts_model import TEXT
from app.session import Session
from app.work.text_filter import ANY, DIFFER, LABEL, ONE, WORD, Filter
from app.work.titles import model_title
from engine.evaluation.calibration import tempered
from engine.evaluation.part import scoring_part
from engine.events import result_of
from engine.model.info import keep_temperature
from engine.model.weights import save_model
from engine.questions.labelled import LabelledTexts
from engine.text.listed import ListedRows
from engine.train.finetune import fine_tune
from engine.train.metrics import wilson_interval
from engine.train.scored import F1, ScoredTable, ScoreRows, coded
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.engine.train.tasks.token_labels.tiny_words import tags_config
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

pytestmark = pytest.mark.slow

MORE = {"validation_share": 0.3, "test_share": 0.2, "num_epochs": 2, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that are good, but not perfect."""
    folder = tmp_path_factory.mktemp("evaluate")
    for seed in (1, 2):
        for _ in fine_tune(tiny_config(folder, seed=seed, **MORE), folder / "runs" / f"run-{seed}"):
            pass
    return folder


@pytest.fixture
def page(
    made: Path, session: Session, show_page: ShowPage[EvaluatePage], no_models_ship: None
) -> EvaluatePage:
    shutil.copytree(made / "runs", session.runs.root)
    page = show_page(EvaluatePage)
    page.show_state(EvaluateState(session.runs.root / "run-1" / "model"))
    settle(page)
    return page


def settle(page: EvaluatePage) -> None:
    assert page.session.wait_idle()
    QApplication.processEvents()
    assert page.session.wait_idle()


def scored_of(page: EvaluatePage) -> ScoredTable:
    assert page.opened is not None
    return page.opened.scored


def listed(page: EvaluatePage) -> set[int]:
    return set(page.texts.rows.places.tolist())


def new_reviews(count: int) -> list[tuple[str, str]]:
    """Return reviews of which no model here has learned from any."""
    return [(f"{text} new {number}", label) for number, (text, label) in enumerate(reviews(count, seed=6))]


def mark(page: EvaluatePage) -> str:
    found = page.score.findChild(LevelMark)
    return found.accessibleName() if found is not None else ""


def click_at(page: EvaluatePage, qtbot: QtBot, plot: object, target: object) -> None:
    """Click the middle of a thing in a picture."""
    place = plot.rect_of(target).center().toPoint()  # type: ignore[attr-defined]
    qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=place)  # type: ignore[attr-defined]
    settle(page)


def test_a_run_opens_with_its_score_and_its_interval(page: EvaluatePage, hand: Hand) -> None:
    each = scored_of(page).each
    low, high = wilson_interval(float(each.right.sum()), len(each))
    assert hand.said("evaluate_score") == f"{100 * each.right.mean():.1f} %"
    assert hand.said("evaluate_interval") == f"{100 * low:.1f} to {100 * high:.1f}"
    assert hand.said("evaluate_part").startswith("reviews.csv · validation rows")
    assert page.texts.rows.rowCount() == len(each) == 16
    hand.choose("evaluate_part", "reviews.csv · test rows")
    settle(page)
    assert (
        len(scored_of(page).each) == 11 and "not used in training" in page.facts.toolTip() + page.facts.text()
    )


def test_a_click_on_a_cell_lists_its_texts_and_again_lists_all(
    page: EvaluatePage, hand: Hand, qtbot: QtBot
) -> None:
    each = scored_of(page).each
    for cell in ((0, 0), (0, 1), (1, 0)):
        click_at(page, qtbot, page.confusion, cell)
        wanted = np.flatnonzero((each.true == cell[0]) & (each.predicted == cell[1]))
        assert listed(page) == set(wanted.tolist())
        names = each.names[cell[0]], each.names[cell[1]]
        assert hand.said("evaluate_chip_0").startswith(f"true {names[0]}, predicted {names[1]}")
    hand.click("evaluate_chip_0")
    settle(page)
    assert len(listed(page)) == 16


def test_a_temperature_is_kept_by_a_click_said_and_taken_back(page: EvaluatePage, hand: Hand) -> None:
    hand.click("evaluate_by_confidence")
    assert page.by.keep.isHidden()  # 16 texts are too few
    keep_temperature(page.session.runs.root / "run-1" / "model", 2.0, 50)
    before = scored_of(page).each.probabilities
    page.show_state(EvaluateState(page.session.runs.root / "run-1" / "model"))
    settle(page)
    assert scored_of(page).each.probabilities == pytest.approx(tempered(before, 2.0), abs=1e-5)
    assert "temperature of 2" in hand.said("evaluate_mended")
    hand.click("evaluate_keep_temperature")
    settle(page)
    assert scored_of(page).each.probabilities == pytest.approx(before)
    assert page.by.keep.isHidden() and "temperature" not in hand.said("evaluate_mended")


def test_a_test_is_not_called_unseen_by_the_temperature_that_half_of_it_has_chosen(
    page: EvaluatePage, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "engine.evaluation.calibration.LEAST_TO_FIT", 14
    )  # of 11 and 16 texts: the test is small
    hand.click("evaluate_by_confidence")
    hand.choose("evaluate_part", "reviews.csv · test rows")
    settle(page)
    assert "fitted on half of the validation rows" in page.by.mended.text()
    hand.click("evaluate_keep_temperature")
    settle(page)
    assert "It was fitted on half of the validation rows." in page.by.mended.text()
    assert "not used in training" in page.facts.toolTip() + page.facts.text()
    hand.click("evaluate_keep_temperature")
    settle(page)
    monkeypatch.setattr("engine.evaluation.calibration.LEAST_TO_FIT", 8)
    copy = page.session.runs.root / "copy"
    shutil.copytree(page.session.runs.root / "run-1" / "model", copy)
    path = write_table(page.session.runs.root / "new.csv", new_reviews(30))
    page.show_state(EvaluateState(copy))
    settle(page)
    page.open_file(path)
    settle(page)
    assert page.by.keep.text().endswith("from these") or page.by.keep.text().endswith("from these texts")
    assert "no longer test the model’s confidence" in page.by.mended.text()
    hand.click("evaluate_keep_temperature")
    settle(page)
    assert "half of them also used to fit the temperature" in page.facts.toolTip() + page.facts.text()
    assert "they do not test its confidence" in page.by.mended.text()


def test_texts_are_grouped_by_meaning_and_near_copies_are_drawn_together(
    page: EvaluatePage, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.evaluation.meaning.LEAST_TEXTS", 10)
    hand.click("evaluate_by_slice")
    settle(page)
    hand.choose("evaluate_column", "Group by meaning…")
    settle(page)
    assert page.by.values.currentText() == "By meaning" and len(page.by.slices.rows) == 2
    name = page.by.slices.rows[0].name
    page.by.slices.chosen.emit(0)
    settle(page)
    assert hand.said("evaluate_chip_0").startswith(f"about “{name}”")
    assert len(listed(page)) == page.by.slices.rows[0].count
    hand.click("evaluate_near")
    settle(page)
    assert page.score.level.text() in ("95 %, grouped", "95 %, singly") and page.score.near.isHidden()


def test_filters_add_up_and_escape_takes_them_off(page: EvaluatePage, hand: Hand, qtbot: QtBot) -> None:
    each, texts = scored_of(page).each, scored_of(page).listed.texts
    click_at(page, qtbot, page.by.classes, 1)
    good = set(np.flatnonzero(each.true == 1).tolist())
    assert listed(page) == good
    hand.click("evaluate_by_slice")
    settle(page)
    hand.type("evaluate_word", "film")
    hand.click("evaluate_word_go")
    settle(page)
    assert listed(page) == {place for place in good if "film" in texts[place].split()}
    assert len(page.texts.listing.filters) == 2
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Escape)
    settle(page)
    assert listed(page) == good
    hand.type("evaluate_search", "PLAY")
    qtbot.waitUntil(lambda: page.texts.listing.search == "PLAY")
    settle(page)
    assert listed(page) == {place for place in good if "play" in texts[place]}


def test_a_bin_and_a_length_are_doors_too(page: EvaluatePage, hand: Hand, qtbot: QtBot) -> None:
    assert page.opened is not None
    each, sizes = scored_of(page).each, page.opened.sizes
    hand.click("evaluate_by_confidence")
    click_at(page, qtbot, page.by.bins, 0)
    first = page.opened.report.calibration.bins[0]
    inside = (each.sure >= first.low - 1e-6) & (each.sure <= first.high + 1e-6)
    assert listed(page) == set(np.flatnonzero(inside).tolist()) and inside.sum() == first.count
    assert "Calibration error" in hand.said("evaluate_calibrated")
    click_at(page, qtbot, page.by.bins, 0)
    hand.click("evaluate_sure_threshold")
    click_at(page, qtbot, page.by.coverage, 3)
    point = page.by.coverage.points[3]
    assert len(listed(page)) == round(point.share * len(each))
    assert np.mean([each.right[place] for place in listed(page)]) == pytest.approx(point.accuracy)
    hand.click("evaluate_chip_0")
    settle(page)
    hand.click("evaluate_by_length")
    click_at(page, qtbot, page.by.lengths, 1)
    one = page.opened.lengths[1]
    assert listed(page) == set(np.flatnonzero((sizes >= one.low) & (sizes <= one.high)).tolist())


def test_an_open_text_shows_what_its_answer_rests_on_and_leads_on(
    page: EvaluatePage, hand: Hand, qtbot: QtBot
) -> None:
    page.texts.view.setFocus()
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Down)
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Return)
    settle(page)
    detail = page.texts.detail
    assert detail is not None and detail.words.words and "for “" in detail.said.text()
    place = page.texts.rows.place(page.texts.rows.opened)
    text = scored_of(page).listed.texts[place]
    assert [one.text for one in detail.words.words] == text.split()
    asked: list[tuple[str, Any]] = []
    page.session.page_requested.connect(lambda *led: asked.append(led))
    for name in ("attention", "tokenizer", "embeddings", "attribution"):
        hand.click(f"evaluate_to_{name}")
    places = ["attention", "tokenizer", "embeddings", "attention"]
    assert [key for key, _state in asked] == places and page.session.inspector.text == text
    assert asked[-1][1] == AttentionState.why(page.folder, text)
    assert page.session.inspector.folder == page.folder
    row = page.texts.rows.opened
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Return)
    assert page.texts.rows.opened == -1 and page.texts.view.rowHeight(row) < 40
    rect = page.texts.view.visualRect(page.texts.rows.index(1, TEXT))
    qtbot.mouseClick(page.texts.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    settle(page)
    assert page.texts.rows.opened == 1


def test_the_slash_leads_to_the_search(page: EvaluatePage, hand: Hand, qtbot: QtBot) -> None:
    page.texts.view.setFocus()
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Slash)
    qtbot.waitUntil(lambda: page.texts.search.hasFocus())
    page.texts.order.setCurrentIndex(page.texts.order.findData(FILE))
    page.texts.order.activated.emit(page.texts.order.currentIndex())
    settle(page)
    lines = [int(row[4]) for row in hand.rows("evaluate_texts")]
    assert lines == sorted(lines) and len(lines) == 16


def test_baselines_stand_beside_the_score(page: EvaluatePage, hand: Hand) -> None:
    assert len(page.score.scale.lines) == 2
    hand.click("evaluate_tfidf")
    settle(page)
    assert [one.name for one in page.score.scale.lines] == ["this model", "TF-IDF", "majority class"]
    assert "TF-IDF" in hand.said("evaluate_sentence")


def test_the_distance_is_told_from_the_largest_class_of_these_texts(
    page: EvaluatePage, hand: Hand, tmp_path: Path
) -> None:
    rows, names = new_reviews(80), list[str]()
    for most, least in (("bad", "good"), ("good", "bad")):
        some = [row for row in rows if row[1] == most][:30] + [row for row in rows if row[1] == least][:10]
        page.open_file(write_table(tmp_path / f"{most}.csv", some))
        settle(page)
        lines = page.score.scale.lines
        assert (lines[1].name, lines[1].value) == ("majority class", 0.75) and f"“{most}”" in lines[1].note
        apart = abs(100 * scored_of(page).each.right.mean() - 75)
        said = hand.said("evaluate_sentence")
        assert f"{apart:.1f} points" in said if apart else said.startswith("No difference from the majority")
        assert "(0.0 to 0.0)" not in said
        names += [f"{one.name} {one.value}" for one in lines[2:]]
    assert names in (["always “good” 0.25"], ["always “bad” 0.25"])  # where training has another largest one


def test_a_second_model_is_asked_about_the_same_texts(page: EvaluatePage, hand: Hand, qtbot: QtBot) -> None:
    hand.click("evaluate_compare")
    page.compare(page.session.runs.root / "run-2" / "model")
    settle(page)
    other = result_of(scoring_part(page.session.runs.root / "run-2", "validation")).each
    own = scored_of(page).each
    assert hand.said("evaluate_verdict").endswith(".") and page.both is not None
    only = np.flatnonzero((own.right == 1) & (other.right == 0))
    assert hand.said("evaluate_differ_first") == f"only the first right: {len(only)}"
    hand.click("evaluate_differ_first")
    settle(page)
    assert listed(page) == set(only.tolist())
    assert all(row[1] for row in hand.rows("evaluate_texts"))
    hand.click("evaluate_compare_end")
    settle(page)
    assert page.texts.listing.of(DIFFER) is None and len(listed(page)) == 16


def test_listed_texts_are_exported(page: EvaluatePage, hand: Hand, tmp_path: Path) -> None:
    page.filter(Filter(WORD, ("film",)))
    settle(page)
    hand.open_dialog("evaluate_export", tmp_path / "some.csv")
    settle(page)
    with (tmp_path / "some.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(listed(page)) > 0 and all("film" in row["text"].split() for row in rows)


def test_all_of_it_is_saved_as_a_report(page: EvaluatePage, hand: Hand, tmp_path: Path) -> None:
    hand.click("evaluate_tfidf")
    settle(page)
    hand.open_dialog("evaluate_save", tmp_path / "report.md")
    settle(page)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| TF-IDF with logistic regression |" in text and "## Calibration" in text
    assert f"accuracy {scored_of(page).each.right.mean():.4f} (" in text
    assert text.startswith("# run-1 · start on reviews.csv · validation rows")


def test_a_file_is_scored_and_its_columns_make_slices(
    page: EvaluatePage, hand: Hand, tmp_path: Path, qtbot: QtBot
) -> None:
    rows = [(text, label, ("web", "book")[number % 2]) for number, (text, label) in enumerate(reviews(30, 8))]
    path = write_table(tmp_path / "more.csv", rows, "text,label,source")
    page.open_file(path)
    settle(page)
    assert len(scored_of(page).each) == 30 and hand.said("evaluate_part") == "more.csv"
    hand.click("evaluate_by_slice")
    settle(page)
    hand.choose("evaluate_column", "Column source")
    assert [row.name for row in page.by.slices.rows] == ["source is “book”", "source is “web”"]
    click_at(page, qtbot, page.by.slices, 0)
    assert listed(page) == set(range(1, 30, 2))
    hand.click("copy_evaluate_command")
    command = QApplication.clipboard().text()
    assert command.startswith("python -m engine evaluate --model ") and f"--data {path}" in command


def test_texts_that_were_learned_from_get_no_verdict_and_those_new_to_the_model_a_score_of_their_own(
    page: EvaluatePage, hand: Hand, made: Path, tmp_path: Path
) -> None:
    page.open_file(made / "reviews.csv")
    settle(page)
    seen, each = scored_of(page).seen, scored_of(page).each
    said = hand.said("evaluate_sentence")
    assert said.startswith(f"The model was trained on {seen.sum()} of these 53 texts") and seen.sum() > 20
    right = each.right[~seen]
    low = 100 * wilson_interval(float(right.sum()), len(right))[0]
    assert f"On the other {len(right)} it reaches {100 * right.mean():.1f} % ({low:.1f} to" in said
    assert page.score.scale.lines[1].value == right.mean() and mark(page) == "Wrong"
    learned = [row for row, is_seen in zip(reviews(), seen, strict=True) if is_seen]
    page.open_file(write_table(tmp_path / "learned.csv", learned))
    settle(page)
    assert "what it remembers" in hand.said("evaluate_sentence") and mark(page) == "Wrong"
    page.open_file(write_table(tmp_path / "new.csv", new_reviews(30)))
    settle(page)
    assert "learned" not in hand.said("evaluate_sentence")
    assert page.score.scale.lines[1].name == "majority class"


def test_what_cannot_be_scored_is_refused_in_a_sentence(
    page: EvaluatePage, hand: Hand, tmp_path: Path
) -> None:
    page.open_file(write_table(tmp_path / "bare.csv", [("good film",)], "text"))
    settle(page)
    assert "label" in hand.said("evaluate_refusal") and page.opened is None
    hand.choose("evaluate_part", "reviews.csv · test rows")
    settle(page)
    assert page.opened is not None and hand.said("evaluate_refusal") == ""


def test_what_these_texts_have_not_is_refused_where_it_is_asked_for_and_left_out_where_it_was_kept(
    page: EvaluatePage, hand: Hand, tmp_path: Path
) -> None:
    model, gone = page.folder, LabelledTexts(data=str(tmp_path / "gone.csv"))
    others = (("answer", (0, 7)), ("place", (16,)), ("off", ("inside", 0, 1)), ("mark", ("type", "PER")))
    wanted = [Listing((Filter(kind, values),)) for kind, values in (*others, (DIFFER, (ONE,)))]
    for state in (EvaluateState(model, gone), *(EvaluateState(model, listing=one) for one in wanted)):
        page.show_state(state)
        settle(page)
        assert hand.said("evaluate_refusal").endswith(".") and page.is_state_shown
        page.restore_state(state)
        settle(page)
        assert hand.said("evaluate_refusal") == "" and len(listed(page)) == 16


def test_every_task_has_its_score_with_an_interval_and_its_texts(
    session: Session, show_page: ShowPage[EvaluatePage], tmp_path: Path, no_models_ship: None
) -> None:
    page = show_page(EvaluatePage)
    for task, config_of in (("words", tags_config), ("questions", question_config)):
        (tmp_path / task).mkdir()
        run = tmp_path / f"run-{task}"
        for _ in fine_tune(config_of(tmp_path / task, validation_share=0.3), run):
            pass
        page.show_state(EvaluateState(run / "model"))
        settle(page)
        assert page.opened is not None and page.score.between.text()
        assert page.texts.rows.rowCount() == len(page.opened.scored.each) > 0
        page.filter(Filter("right", (0,)))
        settle(page)
        assert not any(map(page.texts.rows.is_right, page.texts.rows.places))
        page.filter(Filter("right", (0,)))
        settle(page)
        page.texts.toggle_row(0)
        settle(page)
        assert page.texts.detail is not None and page.texts.detail.text.text()


def test_a_label_among_several_lists_the_texts_that_have_it_or_were_given_it() -> None:
    names, (true, predicted) = coded(["a; b", "b", "", "ab"], ["a", "a; b", "b", "ab"])
    each = ScoreRows(names, true, predicted, *(np.ones(4, np.float32),) * 2, np.ones((4, 3)), F1)
    scored = ScoredTable("multi-label", "micro_f1", None, ListedRows(*(np.arange(4),) * 3), each)  # type: ignore[arg-type]
    opened = SimpleNamespace(scored=scored, sizes=np.arange(4))
    for label, wanted in (("a", [0, 1]), ("b", [0, 1, 2]), ("ab", [3]), ("c", [])):
        listing = Listing((Filter(LABEL, (label,)),), order=FILE)
        found = result_of(choose(opened, listing, {}, None))  # type: ignore[arg-type]
        assert found.tolist() == wanted


def test_where_no_text_is_right_or_wrong_two_models_can_only_differ() -> None:
    opened = SimpleNamespace(scored=SimpleNamespace(each=None))
    for only_first, wanted in ((None, ANY), (0, ONE)):
        both = SimpleNamespace(compared=SimpleNamespace(difference=SimpleNamespace(only_first=only_first)))
        found = fitted(Listing((Filter(DIFFER, (ONE,)),)), opened, (), both)  # type: ignore[arg-type]
        assert found == Listing((Filter(DIFFER, (wanted,)),))


def test_nothing_is_scored_where_there_is_no_model(
    session: Session, show_page: ShowPage[EvaluatePage], no_models_ship: None
) -> None:
    page = show_page(EvaluatePage)
    settle(page)
    assert page.stack.currentIndex() == 0 and page.no_model.isVisible()


def test_a_wrong_label_is_marked_by_a_key_and_taken_back_by_it(
    page: EvaluatePage, made: Path, qtbot: QtBot
) -> None:
    wrong = next(place for place, right in enumerate(scored_of(page).each.right) if not right)
    each, listed = scored_of(page).each, scored_of(page).listed
    row = page.texts.rows.places.tolist().index(wrong)
    page.texts.view.setCurrentIndex(page.texts.rows.index(row, TEXT))
    qtbot.keyClick(page.texts.view, Qt.Key.Key_W)
    assert "on the Data page first" in page.said.text()  # the recipe is kept with the open table
    assert page.opened is not None and page.opened.file is not None
    page.session.data.open(page.opened.file)
    settle(page)
    page.texts.view.setCurrentIndex(page.texts.rows.index(row, TEXT))
    qtbot.keyClick(page.texts.view, Qt.Key.Key_W)
    [step] = page.session.data.mends.steps
    assert (step.do, step.rows, step.label) == (
        "relabel",
        (int(listed.rows[wrong]),),
        each.names[each.predicted[wrong]],
    )
    assert "The file stays unchanged" in page.said.text()
    qtbot.keyClick(page.texts.view, Qt.Key.Key_W)
    assert not page.session.data.mends.steps and "undone" in page.said.text()
    right = next(place for place, one in enumerate(each.right) if one)
    page.texts.toggle_row(page.texts.rows.places.tolist().index(right))
    assert page.texts.detail is not None
    qtbot.mouseClick(page.texts.detail.doubt, Qt.MouseButton.LeftButton)
    assert [one.do for one in page.session.data.mends.steps] == ["drop"]


def test_texts_that_training_has_seen_all_the_same_are_not_said_to_be_unseen(
    session: Session, show_page: ShowPage[EvaluatePage], no_models_ship: None, tmp_path: Path
) -> None:
    write_table(tmp_path / "test.csv", reviews())  # the rows that are learned, once more
    config = tiny_config(tmp_path, validation_share=0.3, num_epochs=1, test_data=str(tmp_path / "test.csv"))
    for _ in fine_tune(config, session.runs.root / "run"):
        pass
    page = show_page(EvaluatePage)
    page.show_state(EvaluateState(session.runs.root / "run" / "model", LabelledTexts(part="test")))
    settle(page)
    assert page.opened is not None and page.opened.num_seen
    said = page.facts.toolTip() + page.facts.text()
    assert "the model was trained on" in said and "not used in training" not in said
    assert page.part_box.currentText() == "test.csv · test file"  # and no part of the training file


def test_what_is_read_stays_when_a_training_ends_and_its_model_is_offered(
    page: EvaluatePage, hand: Hand, made: Path
) -> None:
    newest = page.session.runs.root / "run-2" / "model"
    hand.choose("evaluate_part", "reviews.csv · test rows")
    settle(page)
    before, shown = page.opened, page.facts.text()
    page.session.training.last_model = newest
    page.session.training.result_changed.emit()
    page.session.training.left.emit(newest)
    settle(page)
    assert page.opened is before and page.folder != newest and page.facts.text() == shown
    assert page.session.inspector.trained == newest
    page.session.inspector.hold(newest)
    settle(page)
    assert page.folder == newest and scored_of(page) and page.session.inspector.trained is None


def test_beside_a_model_that_predicts_nothing_the_one_trained_last_is_offered_as_trainings_end(
    page: EvaluatePage, hand: Hand, tmp_path: Path
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    page.session.inspector.hold(tmp_path / "lm")
    settle(page)
    assert page.no_model.isVisible() and "predicts no labels" in page.no_model.label.text()
    for run in ("run-2", "run-1", "run-2"):
        newest = page.session.runs.root / run / "model"
        page.session.library.remember(newest, trained=True)
        settle(page)
        assert page.no_model.isVisible() and page.no_model.button.text() == f"Use {model_title(newest)}"
    page.no_model.button.click()
    settle(page)
    assert page.folder == newest and scored_of(page)


def test_models_that_share_no_rows_are_called_as_in_the_boxes_and_what_is_advised_works(
    page: EvaluatePage, hand: Hand, tmp_path: Path
) -> None:
    shouted = [(text, name.upper()) for text, name in reviews(60, 3)]
    for name, rows in (("same", reviews(60, 3)), ("other", shouted)):
        data = write_table(tmp_path / f"{name}.csv", rows)
        start = model_folder(tmp_path / f"start-{name}", labels=tuple(sorted({row[1] for row in rows})))
        config = tiny_config(tmp_path, data=str(data), model=str(start), validation_share=0.3, num_epochs=1)
        for _ in fine_tune(config, page.session.runs.root / name):
            pass
    page.compare(page.session.runs.root / "same" / "model")
    settle(page)
    said = hand.said("evaluate_refusal")
    assert said.startswith(
        "run-1 · start and same · start-same did not hold out the same validation rows. Score both on one"
    )
    page.compare(page.session.runs.root / "other" / "model")
    settle(page)
    assert hand.said("evaluate_refusal").startswith(
        "run-1 · start and other · start-other have no label in common"
    )
    page.open_file(write_table(tmp_path / "fresh.csv", reviews(40, 9)))
    settle(page)
    page.compare(page.session.runs.root / "same" / "model")
    settle(page)
    assert page.both is not None and hand.said("evaluate_refusal") == ""


def test_a_difference_is_one_count_on_the_page_and_in_its_list(page: EvaluatePage, hand: Hand) -> None:
    first, second = (page.session.runs.root / f"run-{seed}" / "model" for seed in (1, 2))
    one_right = Listing((Filter(DIFFER, (ONE,)),))
    page.show_state(EvaluateState(first, LabelledTexts(part="validation"), one_right, second))
    settle(page)
    assert page.both is not None
    own, other = scored_of(page).each, page.both.compared.second.each
    assert listed(page) == set(np.flatnonzero(own.right != other.right).tolist())
    answered = int((own.predicted != other.predicted).sum())
    assert hand.said("evaluate_differ_any") == f"{answered} of 16 answered differently"
