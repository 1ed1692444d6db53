"""How a table is learned on the Fine-tune page: preset where labels are few, compared in view, told later."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.pages.evaluate.requests import parts_of_model
from app.pages.finetune.page import FineTunePage
from app.pages.finetune.ways import WaysCard
from app.words import score
from engine.events import Judged, JudgedWay
from engine.settings.finetune import FineTuneConfig
from engine.train.ways.names import AUTO, CONTRASTIVE, FINE_TUNED, REGRESSION, SAID, TFIDF
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import reviews, tiny_config, write_table


@pytest.fixture
def page(show_page: ShowPage[FineTunePage], tmp_path: Path) -> FineTunePage:
    """The page with fourteen labelled reviews and a small model."""
    page, config = show_page(FineTunePage), tiny_config(tmp_path)
    page.session.runs.set_root(tmp_path / "runs")
    page.session.data.open(write_table(tmp_path / "few.csv", reviews(14)))
    page.session.model.choose(config.model.model)
    assert page.session.wait_idle()
    page.setup.check()
    return page


def link(page: FineTunePage, said: str) -> QPushButton:
    """Return the button in view that says this."""
    found = [one for one in page.findChildren(QPushButton) if one.text() == said and one.isVisible()]
    assert len(found) == 1, said
    return found[0]


def test_few_labels_have_their_method_chosen_unless_a_person_has(
    page: FineTunePage, hand: Hand, tmp_path: Path
) -> None:
    assert page.setup.form.values()["way"] == AUTO and hand.said("hint_way")
    assert "7 examples on average" in hand.find("hint_way").toolTip()
    assert page.setup.plan is not None and page.setup.plan.ways == (REGRESSION, TFIDF)
    assert page.setup.plan.num_steps == 0 == page.setup.plan.num_validation
    hand.choose("setting_way", "Fine-tune all weights")
    page.setup.check()
    assert page.setup.plan.num_steps == 3
    link(page, "Let Cloze choose the method").click()
    assert page.setup.form.values()["way"] == AUTO and not page.setup.way.remarks(page.setup.plan)
    few, many = tmp_path / "few.csv", write_table(tmp_path / "many.csv", reviews(120))
    page.setup.set_values({"way": FINE_TUNED})
    for table, way in ((many, FINE_TUNED), (few, FINE_TUNED)):
        page.session.data.open(table)
        assert page.session.wait_idle()
        page.setup.check()
        assert page.setup.form.values()["way"] == way
    assert page.setup.config().adapt.way == FINE_TUNED


def test_a_run_shows_each_method_as_it_is_judged_and_the_same_after_reopening(
    page: FineTunePage, hand: Hand, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.click("start")
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert page.session.wait_idle()
    card, run = page.charts.ways, page.run_dir
    shown, taken = card.plot.numbers(), hand.said("way_taken")
    assert run is not None and [row[0] for row in shown[1:]] == [
        "Regression on vectors",
        "TF-IDF, without BERT",
    ]
    assert taken.startswith("Taken: Regression on vectors. Cross-validated accuracy")
    assert not page.charts.loss_card.isVisible() and not page.charts.scores_card.isVisible()
    assert "Cross-validated accuracy" in hand.said("result")
    judged = parts_of_model(run / "model").judged  # as Evaluate asks
    assert judged is not None and score(judged.value) in taken
    page.leave_run()
    page.show_run(run)
    assert page.session.wait_idle()
    assert card.plot.numbers() == shown and hand.said("way_taken") == taken
    begun = list[FineTuneConfig]()
    monkeypatch.setattr(page.session.training, "start", lambda config, _host: begun.append(config))
    hand.click("take_fine-tuning")
    assert [(one.adapt.way, one.adapt.take) for one in begun] == [(AUTO, FINE_TUNED)]


def test_what_is_told_of_the_method_taken_is_what_the_run_says(qtbot: QtBot) -> None:
    card = WaysCard()
    qtbot.addWidget(card)
    ways = tuple(JudgedWay(way=name, said=said) for name, said in SAID.items())
    card.show_judged(Judged(ways=ways, rows=64))
    assert card.others.text().count("still to be judged") == 4 and card.taken.isHidden()
    known = JudgedWay(way=CONTRASTIVE, said="", accuracy=0.7, interval=(0.5, 0.84))
    card.show_judged(
        Judged(ways=(*ways[:2], known), rows=64, taken=CONTRASTIVE, accuracy=0.68, interval=(0.48, 0.83))
    )
    assert (
        card.taken.text()
        == "Taken: Contrastive pairs. Cross-validated accuracy 68.0 % (95 %: 48.0 % to 83.0 %)."
    )
    assert "excludes what choosing the best" in card.about.text()
    card.offer_others(True)
    offered = [one.objectName() for one in card.findChildren(QPushButton) if one.text().startswith("Take “")]
    assert offered == [f"take_{REGRESSION}", f"take_{FINE_TUNED}"]
