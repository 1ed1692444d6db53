"""What the window shows of questions: scores live and from a run's files, and answers to what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.pages.tasks.known import views_of
from app.pages.tasks.questions.answers import QuestionAnswers
from app.pages.tasks.questions.scores import QuestionScores
from app.session import Session
from engine.events import Evaluated
from engine.train.finetune import fine_tune
from engine.train.run.runs import read_events
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_questions import question_config


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    list(fine_tune(question_config(folder, impossible=True, test_share=0.2), folder / "run"))
    return folder / "run"


def evaluations(run: Path) -> dict[str, Evaluated]:
    return {event.split: event for event in read_events(run) if isinstance(event, Evaluated)}


@pytest.mark.slow
def test_scores_of_a_run_that_is_opened_again_show_each_part_and_its_wrong_answers(
    qtbot: QtBot, run: Path
) -> None:
    card, found = QuestionScores(), evaluations(run)
    qtbot.addWidget(card)
    card.resize(700, 500)
    card.show()
    card.set_evaluations(found, {"validation": "best step 3", "test": "the same"})
    hand = Hand(card, qtbot)
    assert card.current is found["test"] and "Exact match" in hand.said("question_figures")
    hand.click("question_scores_split_validation")
    assert card.current is found["validation"]
    assert card.words.num_rows == len(found["validation"].details["words"])
    hand.click("question_scores_view_mistakes")
    rows = hand.rows("mistakes")
    assert len(rows) == len(found["validation"].details["mistakes"]) > 0
    assert hand.find("mistakes_passage").words
    assert "where there is none" in hand.said("question_figures") and "SQuAD 2.0" in hand.said(
        "question_rule"
    )
    card.clear()
    assert hand.rows("mistakes") == [] and card.words.is_empty


@pytest.mark.slow
def test_what_is_typed_is_answered_and_a_bad_model_says_why_not(
    session: Session, show_page: ShowPage[QuestionAnswers], qtbot: QtBot, run: Path, tmp_path: Path
) -> None:
    page = show_page(QuestionAnswers)
    hand = Hand(page, qtbot)
    page.set_model(run / "model")
    hand.find("passage").setPlainText("a b film good c d e f")
    hand.type("question", "film !")
    qtbot.waitUntil(lambda: hand.said("answer_text") != "")
    assert "%" in hand.said("answer_sureness") and hand.shown("answered_passage", "other_answers")
    total = sum(value for _, value in hand.find("other_answers").bars)
    assert total <= 1.0001 and hand.find("answered_passage").words[2].text == "film"
    page.set_model(tmp_path)  # an empty folder
    qtbot.waitUntil(lambda: str(tmp_path) in hand.said("answer_note"))
    hand.find("passage").setPlainText("")
    assert hand.said("answer_text") == "" and not hand.shown("other_answers")


def test_questions_have_a_name_for_each_of_their_measures() -> None:
    views = views_of("questions")
    assert views.title() == "Questions" and views.metric_title() == "F1 of answers"
    for name in ("exact_match", "has_answer_f1", "no_answer_exact_match"):
        assert views.metric(name) != name
