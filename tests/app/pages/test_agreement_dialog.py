"""Two columns of labels are compared in a dialog, and what they differ in is settled there."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.pages.data.agreement import AgreementDialog
from app.pages.data.page import DataPage
from engine.text.recipe import DISAGREEMENT, DROP, KEEP, RELABEL, SECOND, RecipeStep
from engine.text.table import write_csv
from tests.app.hand import Hand, ShowPage

LABELS = ["good", "bad", "fair"]


@pytest.fixture
def page(show_page: ShowPage[DataPage], tmp_path: Path) -> DataPage:
    """The page with a table of which lines 2, 3 and 4 differ."""
    page = show_page(DataPage)
    rows = [(f"film number {at}", str(at), LABELS[at % 3], LABELS[(at + (at < 3)) % 3]) for at in range(60)]
    write_csv(tmp_path / "films.csv", ("text", "number", "me", "llm"), [*rows, ("alone", "61", "good", "")])
    page.session.data.open(tmp_path / "films.csv")
    assert page.session.wait_idle()
    page.session.data.set_role("me", "label")
    assert page.session.wait_idle()
    return page


def opened(page: DataPage, qtbot: QtBot) -> tuple[AgreementDialog, Hand]:
    Hand(page, qtbot).click("compare_labels")
    dialog = page.findChild(AgreementDialog)
    assert dialog is not None and page.session.wait_idle()
    return dialog, Hand(dialog, qtbot)


def test_figures_are_those_of_the_column_that_looks_like_the_labels(page: DataPage, qtbot: QtBot) -> None:
    dialog, hand = opened(page, qtbot)
    assert (dialog.first.currentData(), dialog.other.currentData()) == ("me", "llm")
    assert hand.said("agreement_rows").startswith("60 rows have both labels (60 different texts); 1 have")
    raw, _kappa, alpha = dialog.measures.rows
    assert raw.value == pytest.approx(57 / 60) and alpha.interval is not None
    assert [row.counts for row in dialog.by_label.rows] == [(20, 20)] * 3
    (verdict,) = dialog.verdict.texts()
    assert ("good enough" in verdict) == (alpha.interval[0] >= 0.8)
    dialog.other.setCurrentIndex(dialog.other.findData("me"))
    dialog.compare()
    assert page.session.wait_idle() and "cannot be compared with itself" in dialog.empty.label.text()


def test_disagreements_are_settled_into_the_recipe_and_leave_the_figures(
    page: DataPage, qtbot: QtBot
) -> None:
    dialog, hand = opened(page, qtbot)
    mends, before = page.session.data.mends, dialog.measures.rows
    assert [dialog.model.row_head(at) for at in range(3)] == ["3", "4", "2"], "by pairs of labels"
    hand.click("agreement_take_other")
    hand.click("agreement_take_first")
    hand.click("agreement_drop")
    assert dialog.list_card.hint_label.text() == "3 of 3 settled"
    assert mends.steps == (
        RecipeStep(RELABEL, (1,), label="fair", column="me", reason=DISAGREEMENT),
        RecipeStep(KEEP, (2,), reason=DISAGREEMENT),
        RecipeStep(DROP, (0,), reason=DISAGREEMENT),
    )
    assert [cells[2] for cells in hand.rows("agreement_view")] == ["fair", "fair", "excluded"]
    assert page.session.wait_idle()
    dialog.compare()
    assert page.session.wait_idle() and dialog.measures.rows == before, "settling makes nobody agree more"
    for times in (2, 1):
        for _ in range(times):
            hand.click("agreement_undo")
    assert mends.steps == () and dialog.list_card.hint_label.text() == "0 of 3 settled"
    assert not dialog.findChild(QWidget, "agreement_undo").isEnabled()


def test_second_labels_may_teach_only_where_the_two_agree_well_enough(
    page: DataPage, qtbot: QtBot, tmp_path: Path
) -> None:
    for places, may_teach in ((2, True), (120, False)):
        rows = [(f"film {at}", LABELS[at % 3], LABELS[(at + (at < places)) % 3]) for at in range(300)]
        write_csv(tmp_path / "two.csv", ("text", "me", "llm"), [*rows, ("a play", "", "fair")])
        page.session.data.open(tmp_path / "two.csv")
        assert page.session.wait_idle()
        page.session.data.set_role("me", "label")
        assert page.session.wait_idle()
        page.compare_labels("llm")
        dialog = page.findChildren(AgreementDialog)[-1]
        assert page.session.wait_idle() and dialog.teach.text() == "Use 1 second label"
        assert dialog.teach.isEnabled() == may_teach
        if may_teach:
            dialog.teach.click()
            step = RecipeStep(RELABEL, (300,), label="fair", column="me", reason=SECOND)
            assert page.session.data.mends.steps == (step,) and not dialog.teach.isEnabled()
            page.session.data.mends.undo()


def test_the_menu_of_a_column_compares_its_labels(page: DataPage, qtbot: QtBot) -> None:
    page.table_card.compare_wanted.emit("llm")
    dialog = page.findChild(AgreementDialog)
    assert dialog is not None and page.session.wait_idle()
    assert (dialog.first.currentData(), dialog.other.currentData()) == ("me", "llm")
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_what_the_second_labels_cost_is_measured_on_request_and_can_be_stopped(
    page: DataPage, qtbot: QtBot
) -> None:
    dialog, hand = opened(page, qtbot)
    hand.click("agreement_train")
    assert hand.said("agreement_train") == "Stop"
    hand.click("agreement_train")
    assert page.session.wait_idle() and not dialog.cost.isVisible()
    hand.click("agreement_train")
    assert page.session.wait_idle()
    (cost,) = dialog.cost.texts()
    assert cost.startswith(("With the second labels the model gets", "No difference can be shown."))
    assert dialog.cost.isVisible() and not dialog.train.isVisible() and not dialog.progress.isVisible()
