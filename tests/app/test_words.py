"""Sentences, numbers and times as a person reads them; no text can make them fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton

from app import status_bar as status
from app import words
from app.look import error_dialog
from app.pages.embeddings import page as embeddings
from app.pages.tasks.classification.remarks import accuracy_words
from app.work.training_state import TrainingState
from engine import events
from engine.errors import ConfigError, DataError, Sentence


class Broken(QTranslator):
    """A translation with braces that nobody fills."""

    def translate(self, context, text, disambiguation=None, n=-1) -> str | None:
        return {"Line {line} is bad.": "{zeile} ist {falsch", "Good {x}.": "Gut: {x}!"}.get(text)

    def isEmpty(self) -> bool:
        return False


@pytest.fixture
def translator(qapp: QApplication):
    translator = Broken()
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def test_a_sentence_is_translated_and_filled(translator) -> None:
    assert words.say(Sentence("Good {x}.", {"x": "{braces}"})) == "Gut: {braces}!"


def test_what_people_have_named_is_not_translated(translator) -> None:
    assert words.say(Sentence("{column} is empty.", {"column": "Good {x}."})) == "Good {x}. is empty."


def test_a_broken_translation_falls_back_to_english(translator) -> None:
    assert words.say(Sentence("Line {line} is bad.", {"line": 7})) == "Line 7 is bad."


def test_a_template_that_cannot_be_filled_is_still_said() -> None:
    assert words.say(Sentence("Line {line} is bad.", {})) == "Line {line} is bad."


def test_a_sentence_within_a_sentence_is_said_whole_and_a_megabyte_within_it_is_not() -> None:
    inner = Sentence(
        "Line {line} holds the word {word}, which is not one of the 7 that may stand there.",
        {"line": 7, "word": "x" * 10**6},
    )
    text = words.say(Sentence("Not used: {reason}", {"reason": inner}))
    assert text.endswith("which is not one of the 7 that may stand there.") and len(text) < 200


def test_a_refused_setting_is_called_by_its_label() -> None:
    error = ConfigError("{field} is {value!r}.", field="batch_size", value=0)
    assert words.say_error(error) == "Batch size is 0."


def test_a_fault_of_ours_is_said_to_be_ours() -> None:
    assert "error in Cloze" in words.say_error(KeyError("x"))
    assert "memory" in words.say_error(MemoryError()).lower()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.2, "1 s"),
        (45, "45 s"),
        (59.7, "1 min"),
        (170, "3 min"),
        (7500, "2 h 05 min"),
        (1e6, "12 days"),
    ],
)
def test_times_are_coarser_the_longer(seconds: float, said: str) -> None:
    assert words.duration(seconds) == said


def test_times_that_nobody_knows_are_not_invented() -> None:
    assert words.time_left(float("inf")) == "" and words.time_left(float("nan")) == ""
    assert words.time_left(170) == "3 min left"
    assert words.duration(float("nan")) == "–"


def test_numbers_are_grouped_and_short() -> None:
    assert words.number(1480) == "1,480"
    assert words.number(np.int64(2_225_000)) == "2,225,000"
    assert words.share(0.123) == "12.3 %" and words.share(0.123, 0) == "12 %"
    assert words.decimal(float("nan")) == "–" and words.decimal(None) == "–"
    assert words.decimal(-0.284, 2) == "\u22120.28" and words.decimal(-0.001, 2) == "0.00"
    assert [words.scientific(x) for x in (5e-5, 2.1e-5, 0.01, 0, 1.5e6)] == [
        "5e-5",
        "2.1e-5",
        "0.01",
        "0",
        "1.5e6",
    ]
    assert words.rate(1480.4) == "1,480 tokens/s"


def test_a_long_text_is_one_short_line() -> None:
    assert words.shorten("a\n\tb  c") == "a b c"
    assert len(words.shorten("word " * 10**5, 40)) <= 40
    assert words.shorten(" " * 10**6 + "x", 10).endswith("…")


EVENTS = [
    events.Progress(stage="Reading", done=1480, total=2225),
    events.Progress(stage="Reading", done=1480, total=0),
    events.Noted(sentence=Sentence("All {n} labels occur.", {"n": 5}), level="fine"),
    events.Started(
        run_dir=Path("r"), task="t", device="cpu", num_steps=336, first_step=1, num_epochs=3.0,
        steps_per_epoch=112,
        num_train=9, num_validation=3, num_test=0, labels=("a", "b"), metric="accuracy", num_parameters=7,
        learning_rate=2e-4, cut_share=0.1,
    ),
    events.Step(
        step=214, epoch=1.9, loss=0.1, accuracy=None, learning_rate=1e-5, gradient_norm=1.8, num_tokens=9,
        tokens_per_s=1480.0, elapsed_s=9.0, remaining_s=170.0,
    ),
    events.Evaluated(
        step=112, epoch=1.0, split="validation", loss=0.118, metrics={"accuracy": 0.972}, labels=("a",),
        confusion=None, per_label={},
    ),
    events.Pinned(
        step=9, progress=0.1, readings=(events.Reading(sentence="a [b]", guesses=(("the", 0.2), ("b", 0.1))),)
    ),
    events.Gained(
        stage="domain", seeds_done=3, metric="accuracy", values=(0.93, 0.94, 0.92), mean=0.93, spread=0.01,
        split="validation",
    ),
    events.Judged(
        ways=(events.JudgedWay(way="a", said="A", accuracy=0.9), events.JudgedWay(way="b", said="B")), rows=60
    ),
    events.Saved(step=112, path=Path("c"), is_best=True),
    events.Predicted(rows=np.arange(3), predictions=("a",) * 3, probabilities=np.ones((3, 1)), labels=("a",)),
    events.Fetched(file="model.safetensors", done=805_000, total=2_900_000, fetched=805_000, speed=21e4),
    events.Finished(path=None, seconds=170.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (0.9967, 0, "99.7 %"),
        (0.9996, 1, "99.96 %"),
        (0.999999, 0, "> 99.999 %"),
        (1.0, 0, "100 %"),
        (1 / 3 + 1 / 3 + 1 / 3 - 2e-16, 1, "100.0 %"),
        (0.003, 0, "0.3 %"),
        (0.00001, 0, "0.001 %"),
        (1e-9, 1, "< 0.001 %"),
        (0.0, 0, "0 %"),
        (0.005, 0, "0.5 %"),
        (0.995, 0, "99.5 %"),
    ],
)
def test_a_share_is_called_all_or_nothing_only_where_it_is(value: float, digits: int, said: str) -> None:
    assert words.share(value, digits) == said


def test_a_share_and_a_score_of_the_same_rows_are_rounded_alike_halves_away_from_nothing() -> None:
    assert (words.score(183 / 240), words.share(183 / 240)) == ("76.3 %", "76.3 %")
    assert (words.score(71 / 80), words.share(71 / 80)) == ("88.8 %", "88.8 %")
    assert (words.decimal(-0.0125, 3), words.decimal(0.5, 0), words.decimal(2.5, 0)) == ("−0.013", "1", "3")
    assert (words.decimal(-0.0004, 3), words.decimal(1e300, 1)[:2]) == ("0.000", "1,")
    for rows in (80, 240, 400, 999):
        for right in range(1, rows):
            said, per_cent = words.decimal(right / rows, 3), words.decimal(100 * right / rows, 1)
            assert float(said) == pytest.approx(float(per_cent) / 100, abs=1e-9), (right, rows)


def test_a_probability_near_certainty_is_not_called_certain() -> None:
    assert words.probability(0.9967) == "99.7 %" and words.probability(0.99999999) == "> 99.999 %"
    assert words.probability(1.0) == "100 %" and words.probability(0.0) == "< 0.001 %"


def test_a_range_of_time_names_its_unit_once() -> None:
    ends = ((40, 41.9 * 60), (90, 300), (59, 59.2), (3000, 9000))
    said = ["40 s to 42 min", "2 to 5 min", "about 59 s", "50 min to 2 h 30 min"]
    assert [words.duration_range(*one) for one in ends] == said


def test_a_share_carries_its_interval_in_the_same_words_everywhere() -> None:
    said = "90.0 % (95 %: 82.6 to 94.5 %)"
    assert words.with_interval(0.9, 100) == said and words.with_interval(0.9, 0) == "90.0 %"
    confusion = np.array([[45, 5], [5, 45]])
    event = replace(EVENTS[5], metrics={"accuracy": 0.9}, confusion=confusion)  # type: ignore[type-var]
    assert words.event_words(event).endswith(f"accuracy {said}")
    assert accuracy_words(event) == said  # type: ignore[arg-type]
    assert "95 times in a hundred" in words.interval_help()


def test_every_event_has_words() -> None:
    said = [words.event_words(event, num_steps=336) for event in EVENTS]
    assert said[0] == "Reading: 1,480 of 2,225"
    assert said[4] == "step 214 of 336 · 1,480 tokens/s · 3 min left"
    assert said[5] == "Validation at step 112: loss 0.118 · accuracy 97.2 %"
    assert said[6] == "Guesses at step 9: the"
    assert said[7] == "Stage domain, 3 runs: accuracy 93.0 % (95 %: 90.5 to 95.5 %)"
    assert said[8] == "Methods judged: 1 of 2"
    assert all(said) and not any("{" in line for line in said)
    for silent in (events.Beat(), events.AnswerSoFar(value=7)):
        assert words.event_words(silent) == ""
    covered = {type(event).__name__ for event in EVENTS} | {"Beat", "AnswerSoFar"}
    assert covered == {k.__name__ for k in events.Event.__subclasses__() if k.__module__ == events.__name__}


def test_what_a_person_can_mend_is_one_sentence(qtbot, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(error_dialog, "log_file", lambda: tmp_path / "cloze.log")
    dialog = error_dialog.ErrorDialog(DataError("Line {line} is <b>bad</b>.", line=7))
    qtbot.addWidget(dialog)
    assert dialog.text() == "Line 7 is <b>bad</b>." and dialog.details() == ""
    assert dialog.findChild(QPlainTextEdit) is None


def test_a_fault_can_be_copied_and_is_logged(qtbot, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(error_dialog, "log_file", lambda: tmp_path / "logs" / "cloze.log")
    try:
        raise ValueError("odd")
    except ValueError as error:
        dialog = error_dialog.show_error(error)
    assert dialog.isVisible()
    dialog.findChild(QPushButton, "error_copy").click()
    assert "ValueError: odd" in QApplication.clipboard().text()
    assert "ValueError: odd" in (tmp_path / "logs" / "cloze.log").read_text(encoding="utf-8")
    dialog.close()
    for handler in list(error_dialog.log.handlers):
        handler.close()
        error_dialog.log.removeHandler(handler)


@pytest.mark.parametrize(
    ("metric", "reached"),
    [
        ("accuracy", "validation accuracy 57.0 % (95 %: 52.2 to 61.7 %)"),
        ("entity_f1", "validation entity F1 57.0 %"),  # no share of rows: it has no such interval
        ("pearson", "validation Pearson correlation 0.570"),
        ("f1", "validation F1 of answers 57.0 %"),
    ],
)
def test_the_status_bar_gives_a_share_of_rows_alone_the_interval_of_one(metric: str, reached: str) -> None:
    state = SimpleNamespace(
        name="films",
        outcome="finished",
        is_pretraining=False,
        finished=SimpleNamespace(best_metric=0.57),
        started=SimpleNamespace(metric=metric, num_validation=412),
    )
    assert status.result_words(cast(TrainingState, state)) == f"Training finished: films · {reached}"


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.1176, "0.12 s"), (1.5, "1.5 s"), (45.2, "45 s"), (170, "3 min")]
)
def test_a_time_beside_a_rate_is_fine_enough_to_work_the_rate_out(seconds: float, said: str) -> None:
    assert embeddings.time_taken(seconds) == said
