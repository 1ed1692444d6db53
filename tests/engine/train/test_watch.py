"""A model that is asked while it learns: pins and questions, and that asking changes nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.events import Finished, Pinned, Step
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.watch import WatchQuestions
from engine.train.run.records import event_from_record
from engine.train.run.runs import read_metrics
from tests.engine.tiny_texts import (
    notes,
    of,
    promised,
    text_config,
    word_vocabulary,
)

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


PINS = "the [cat] eats fish .\nthe king rules the [MASK] ."


@pytest.mark.slow
def test_pinned_sentences_are_answered_and_logged_from_the_first_step_to_the_last(tmp_path: Path) -> None:
    config = text_config(tmp_path, pins=PINS, vocab=str(word_vocabulary(tmp_path / "vocab.txt")))
    events = list(pretrain(config, tmp_path / "run"))
    pinned = of(Pinned, events)
    assert {1, 2, 4, 8, 12} <= {event.step for event in pinned} and pinned[-1].progress == 1.0
    for event in pinned:
        cat, mask = event.readings
        assert (cat.sentence, mask.sentence) == tuple(PINS.split("\n")) and not event.is_question
        assert cat.right == "cat" and 0 < cat.probability < 1 and 1 <= cat.rank <= 80
        assert mask.right is None and mask.probability is None and len(mask.guesses) == 5
    logged = [record for record in read_metrics(tmp_path / "run") if record["event"] == "pinned"]
    assert [event_from_record(record) for record in logged] == pinned


@pytest.mark.slow
def test_asking_changes_nothing_of_what_is_learned(tmp_path: Path) -> None:
    settings = {"hidden_dropout": 0.2, "steps": 6}
    list(pretrain(text_config(tmp_path, **settings), tmp_path / "plain"))
    questions = WatchQuestions()
    for event in pretrain(
        text_config(tmp_path, pins=PINS, **settings), tmp_path / "asked", questions=questions
    ):
        if isinstance(event, Step):
            questions.ask("the [dog] sees milk .")
            questions.pin([f"the [cat] eats {event.step} ."])
    assert promised(tmp_path / "plain") == promised(tmp_path / "asked")


@pytest.mark.slow
def test_questions_of_another_thread_are_answered_between_two_steps(tmp_path: Path) -> None:
    questions = WatchQuestions(["the [cat] eats ."])
    asking, asked = threading.Event(), threading.Event()

    def ask() -> None:
        assert asking.wait(60)
        questions.ask("the [queen] rules .")
        questions.pin(["the [ship] leaves the port ."])
        asked.set()

    thread = threading.Thread(target=ask)
    thread.start()
    events = []
    for event in pretrain(text_config(tmp_path), tmp_path / "run", questions=questions):
        events.append(event)
        if isinstance(event, Step) and event.step == 5:
            asking.set()
            assert asked.wait(60)
    thread.join()
    (answer,) = [event for event in of(Pinned, events) if event.is_question]
    assert answer.step == 5 and answer.readings[0].sentence == "the [queen] rules ."
    pinned = {event.step: event.readings[0].sentence for event in of(Pinned, events) if not event.is_question}
    assert pinned[4] == "the [cat] eats ." and pinned[5] == pinned[12] == "the [ship] leaves the port ."


def test_a_sentence_that_cannot_be_asked_is_told_and_training_goes_on(tmp_path: Path) -> None:
    too_long = "the " * 60 + "[cat] eats ."
    questions = WatchQuestions(["no gap", "the [cat] eats .", too_long])
    questions.ask(too_long)
    questions.ask("")
    events = list(pretrain(text_config(tmp_path, steps=3), tmp_path / "run", questions=questions))
    said = notes(events)
    assert said.count("needs one mask") == 2 and said.count("this model reads at most 41") == 2
    assert isinstance(events[-1], Finished) and not [
        event for event in of(Pinned, events) if event.is_question
    ]
    assert all(len(event.readings) == 1 for event in of(Pinned, events)) and of(Pinned, events)
