"""From text to a language model on the Pretrain page, with an invented run in the place of the engine's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.finetune.page import FineTunePage
from app.pages.pretrain.before import part_rows
from app.pages.pretrain.findings import scaled
from app.pages.pretrain.page import PretrainPage
from app.pages.pretrain.pins import problem_of
from app.pages.run.state import RunPageState
from app.stories.known import story
from app.words import number
from app.work import training as training_module
from engine.errors import UserError
from engine.events import Event, Started, Step, result_of
from engine.model.config import BertConfig, count_parameters
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import document_of
from tests.app.hand import Hand, ShowPage, wait_for_run
from tests.fakes import model_folder, tiny_byte_level, tiny_config
from tests.looks.language_scenes import InventedReading, invented_forecast, write_text

Begin = Callable[[InventedReading], PretrainPage]

ACTIONS = ("pause", "go_on", "start", "stop", "try_it", "new_run")


@pytest.fixture
def page(show_page: ShowPage[PretrainPage], monkeypatch: pytest.MonkeyPatch) -> PretrainPage:
    monkeypatch.setattr("app.pages.pretrain.findings.forecast", invented_forecast)
    return show_page(PretrainPage)


@pytest.fixture
def ready(page: PretrainPage, tmp_path: Path) -> PretrainPage:
    """The page with a text that has been looked at."""
    page.take([str(write_text(tmp_path / "story.txt"))])
    settle(page)
    return page


@pytest.fixture
def begin(ready: PretrainPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Press Start with this run in the place of the engine's."""

    def start(run: InventedReading) -> PretrainPage:
        monkeypatch.setattr(training_module, "pretrain", run.pretrain)
        qtbot.mouseClick(ready.start_button, Qt.MouseButton.LeftButton)
        wait_for_run(ready.session, qtbot, run.hold_at)
        return ready

    return start


def settle(page: PretrainPage) -> None:
    """Wait until everything that can be found out about the settings is."""
    for _ in range(4):  # one answer may bring the next question
        page.setup.check()
        assert page.session.wait_idle()
        QApplication.processEvents()


def text_of(page: PretrainPage, name: str) -> str:
    found = page.findChild(QLabel, name)
    assert found is not None, name
    return found.text()


def click_mend(page: PretrainPage, qtbot: QtBot, words: str) -> None:
    links = [link for link in page.before.text.advice.findChildren(QPushButton) if link.text() == words]
    assert links, page.before.text.advice.texts()
    qtbot.mouseClick(links[0], Qt.MouseButton.LeftButton)
    settle(page)


# ---- before the run


@pytest.mark.slow
def test_a_page_without_text_says_so_and_cannot_start(page: PretrainPage) -> None:
    assert not page.start_button.isEnabled() and "text" in page.start_button.toolTip()
    assert page.before.text.empty.isVisible() and not page.run_card.isVisible()


@pytest.mark.slow
def test_what_is_in_the_text_is_counted_and_shown(ready: PretrainPage) -> None:
    assert text_of(ready, "text_documents") == "30"
    assert text_of(ready, "text_sentences") == "600"
    assert "UTF-8" in text_of(ready, "text_layout")
    assert ready.start_button.isEnabled()


@pytest.mark.slow
def test_examples_show_what_was_hidden_and_whether_b_follows(ready: PretrainPage) -> None:
    notes = {strip.note for strip in ready.before.examples.plot.strips}
    assert notes == {"B follows A", "B comes from another document"}
    counts = ready.before.examples.plot.counts()
    assert 0.10 < (counts[0] + counts[1] + counts[2]) / sum(counts.values()) < 0.20
    actions = {row[6] for row in ready.before.examples.plot.numbers()[1:]}
    assert actions == {"", "hidden", "random", "kept"}


@pytest.mark.slow
def test_repeated_lines_are_left_out_by_one_click(page: PretrainPage, qtbot: QtBot, tmp_path: Path) -> None:
    text = write_text(tmp_path / "story.txt")
    text.write_text(text.read_text().replace("\n\n", "\nAll rights reserved by nobody.\n\n"))
    page.take([str(text)])
    settle(page)
    assert any(
        "28 lines" in said and "All rights reserved" in said for said in page.before.text.advice.texts()
    )
    click_mend(page, qtbot, "Exclude them")
    assert page.setup.config().text.drop_repeated
    assert any("are excluded" in said for said in page.before.text.advice.texts())


@pytest.mark.slow
def test_one_document_cannot_start_until_it_does_without_next_sentence(
    page: PretrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    text = write_text(tmp_path / "one.txt", documents=1)
    text.write_text(text.read_text().replace(". ", ".\n"))  # a sentence a line, and no blank line
    page.take([str(text)])
    settle(page)
    assert not page.start_button.isEnabled() and "one document" in page.start_button.toolTip()
    click_mend(page, qtbot, "Turn next sentence off")
    assert not page.setup.config().objective.next_sentence and page.start_button.isEnabled()


@pytest.mark.slow
def test_an_empty_file_is_said_in_one_sentence(page: PretrainPage, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    page.take([str(empty)])
    settle(page)
    assert "is empty" in text_of(page, "text_problem") and not page.start_button.isEnabled()


@pytest.mark.slow
def test_a_table_dropped_here_gives_its_text_column(page: PretrainPage, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text(
        "label,text\n" + "".join(f"good,A film number {n} that plays well.\n" for n in range(40))
    )
    page.take([str(table)])
    assert page.session.wait_idle()
    settle(page)
    assert page.setup.config().text.column == "text" and text_of(page, "text_documents") == "40"


@pytest.mark.slow
def test_the_parts_add_up_to_the_model(ready: PretrainPage) -> None:
    for size, pieces in (("mini", 8192), ("base", 4096)):
        ready.setup.set_values({"model": f"new:{size}", "vocab_size": pieces})
        settle(ready)
        expected = count_parameters(BertConfig.preset(size, pieces), pretraining=True)
        shown = ready.before.forecast.table.findChildren(QLabel)
        counts = [
            int(cell.text().replace(",", "")) for cell in shown if cell.text().replace(",", "").isdecimal()
        ]
        assert sum(counts) == sum(expected.values())


@pytest.mark.parametrize("size", ["tiny", "mini", "base"])
def test_the_arithmetic_beside_a_part_gives_its_number(size: str) -> None:
    shape = BertConfig.preset(size, 8192)
    for name, formula, count in part_rows(shape, count_parameters(shape, pretraining=True)):
        sum_of = formula.replace(",", "").replace("²", "**2").replace("×", "*")
        assert not formula or eval(sum_of) == count, (name, formula, count)  # noqa: S307


def test_another_budget_needs_no_other_measurement() -> None:
    found = list(invented_forecast(PretrainConfig()))
    assert len(found) == 1
    measured = result_of(invented_forecast(PretrainConfig()))
    config = with_values(PretrainConfig(), {"steps": 100, "batch_tokens": 1432})
    assert scaled(measured, config).seconds == pytest.approx(10.0)
    assert scaled(measured, config).epochs == pytest.approx(measured.epochs * 143_200 / measured.tokens)


@pytest.mark.slow
def test_exactly_one_of_minutes_steps_and_tokens_is_given(ready: PretrainPage) -> None:
    unit = ready.setup.budget.unit
    for place in range(unit.count()):
        unit.setCurrentIndex(place)
        unit.activated.emit(place)
        given = ready.setup.config().budget
        assert sum(bool(value) for value in (given.minutes, given.steps, given.tokens)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "tokens", "shown"),
    [
        ("2.5m", 2_500_000, "2.5 M"),
        ("24 M", 24_000_000, "24 M"),
        ("24,000,000", 24_000_000, "24 M"),
        ("900,123", 900_123, "900,123"),
        ("1,234,567", 1_234_567, "1,234,567"),
    ],
)
def test_many_tokens_are_written_short_and_typed_either_way(
    ready: PretrainPage, qtbot: QtBot, typed: str, tokens: int, shown: str
) -> None:
    budget = ready.setup.budget
    budget.put({"tokens": 7})
    budget.number.selectAll()
    qtbot.keyClicks(budget.number, typed)
    qtbot.keyClick(budget.number, Qt.Key.Key_Return)
    assert budget.values()["tokens"] == tokens and budget.number.text() == shown


@pytest.mark.slow
def test_a_refused_setting_is_said_beside_its_field_and_measures_nothing(
    ready: PretrainPage, qtbot: QtBot
) -> None:
    ready.setup.form.set_values({"learning_rate": "fast"})
    settle(ready)
    assert ready.findChild(QLabel, "refusal_learning_rate").isVisible()  # type: ignore[union-attr]
    assert not ready.start_button.isEnabled() and "accepted" in text_of(ready, "outlook_note")


@pytest.mark.slow
def test_a_width_that_heads_cannot_share_is_said_beside_the_size(ready: PretrainPage) -> None:
    ready.setup.set_values({"model": "new:6x400"})
    settle(ready)
    assert "400" in ready.setup.start.refusal.text() and not ready.start_button.isEnabled()
    ready.setup.start.width.setValue(384)
    settle(ready)
    assert ready.setup.config().start.model == "new:6x384" and ready.start_button.isEnabled()


@pytest.mark.slow
def test_a_refusal_that_belongs_to_no_field_stays_below_the_form(
    ready: PretrainPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(config: PretrainConfig) -> None:
        raise UserError("Nothing of this fits together.")

    monkeypatch.setattr("app.pages.pretrain.setup.check_budget", refused)
    settle(ready)
    assert text_of(ready, "pretrain_prediction") == "Nothing of this fits together."
    assert ready.setup.prediction.isVisible() and not ready.start_button.isEnabled()


@pytest.mark.slow
def test_a_model_to_train_further_brings_its_vocabulary(ready: PretrainPage, tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    ready.setup.start.start_from(str(folder))
    settle(ready)
    assert not ready.setup.start.vocab_box.isVisible() and ready.setup.start.trim.isVisible()
    assert ready.setup.config().start.model == str(folder)
    assert ready.setup.shape is not None and ready.setup.shape.vocab_size == 37


@pytest.mark.slow
def test_a_model_without_next_sentences_turns_them_off_and_its_words_are_shown_as_it_reads_them(
    ready: PretrainPage, tmp_path: Path
) -> None:
    tokenizer = tiny_byte_level()
    shape = {"vocab_size": tokenizer.vocab_size, "type_vocab_size": 1, "pad_token_id": tokenizer.pad_id}
    save_model(tmp_path / "model", PreTraining(tiny_config(model_type="roberta", **shape)), tokenizer)
    ready.setup.form.set_values({"max_length": 24, "mask_unit": "word"})
    assert ready.setup.form.values()["next_sentence"] is True
    ready.setup.start.start_from(str(tmp_path / "model"))
    settle(ready)
    assert ready.setup.form.values()["next_sentence"] is False
    assert ready.reason() == "" and ready.setup.refusal is None
    shown = ready.findings.examples.value
    assert shown is not None
    tokens = {token for example in shown.examples for token in example.tokens}
    assert "<s>" in tokens and "Ġthe" in tokens


@pytest.mark.slow
def test_pins_that_cannot_be_asked_are_named_and_left_out(ready: PretrainPage, qtbot: QtBot) -> None:
    editor = ready.before.pins.editor
    editor.put(["The cat [sat] here.", "no gap at all", "two [gaps] in [one]"])
    assert "no gap at all" in editor.refusal.text()
    assert ready.setup.config().budget.pins == "The cat [sat] here."
    assert not any(map(problem_of, story().pins))


@pytest.mark.slow
def test_the_command_names_text_budget_and_changes(ready: PretrainPage, qtbot: QtBot) -> None:
    ready.setup.set_values({"steps": 77, "minutes": 0, "mask_rate": 0.25})
    qtbot.mouseClick(ready.copy_button, Qt.MouseButton.LeftButton)
    command = QApplication.clipboard().text()
    assert "story.txt" in command and "--steps 77" in command and "mask_rate=0.25" in command
    ready.copy_button.rest()


# ---- the run


@pytest.mark.slow
def test_a_run_shows_its_own_settings_and_no_form_while_it_learns(hand: Hand, begin: Begin) -> None:
    page = begin(InventedReading(hold_at=60))
    assert hand.shown(*ACTIONS) == ["pause", "stop"]
    assert page.run_card.isVisible() and page.charts.isVisible()
    assert not page.setup.isVisible() and not page.before.isVisible()
    assert page.run_card.facts()["Text"] == "story.txt"


@pytest.mark.slow
def test_every_step_is_drawn_and_the_tile_chooses_the_large_curve(begin: Begin, qtbot: QtBot) -> None:
    page = begin(InventedReading(hold_at=133))
    charts = page.charts
    assert charts.measure("loss").plot.num_points == 133
    accuracy = charts.measure("accuracy")
    qtbot.mouseClick(accuracy.tile, Qt.MouseButton.LeftButton)
    assert accuracy.plot.isVisible() and not charts.measure("loss").plot.isVisible()
    assert charts.curve_card.title_label.text() == accuracy.title
    assert charts.measure("loss").plot.numbers()[0][0] == "step"
    assert charts.measure("memory").tile.isHidden()  # there is no GPU


@pytest.mark.slow
def test_a_run_without_pairs_shows_nothing_of_them(begin: Begin) -> None:
    page = begin(InventedReading(hold_at=60, pairs=False))
    assert page.charts.measure("pairs").tile.isHidden() and page.charts.measure("loss").tile.isVisible()


@pytest.mark.slow
def test_pinned_sentences_show_guesses_and_the_right_word_over_time(begin: Begin) -> None:
    page = begin(InventedReading(num_steps=120))
    pinned, right = page.charts.pinned.plot, page.charts.right_words
    assert pinned.shown == story().pins
    assert right.line(story().pins[0]).values[-1] > right.line(story().pins[0]).values[0]
    rows = pinned.numbers()
    assert rows[0][:5] == ["step", "sentence", "right word", "probability", "rank"]
    assert len(rows) == 1 + 12 * len(story().pins)


@pytest.mark.slow
def test_a_question_is_answered_between_two_steps(begin: Begin, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=60)
    page = begin(run)
    pinned = page.charts.pinned
    qtbot.keyClicks(pinned.question, "The [MASK] was full of people.")
    qtbot.keyClick(pinned.question, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: pinned.answer.isVisible())
    assert run.asked == ["The [MASK] was full of people."] and "60" in pinned.status.text()


@pytest.mark.slow
def test_a_question_without_a_gap_is_not_asked(begin: Begin, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=60)
    page = begin(run)
    qtbot.keyClicks(page.charts.pinned.question, "Nothing is hidden here.")
    qtbot.keyClick(page.charts.pinned.question, Qt.Key.Key_Return)
    assert "[MASK]" in page.charts.pinned.status.text() and run.asked == []


@pytest.mark.slow
def test_pause_stands_still_and_stop_keeps(hand: Hand, begin: Begin, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=60)
    page = begin(run)
    qtbot.mouseClick(page.pause_button, Qt.MouseButton.LeftButton)
    assert hand.shown(*ACTIONS) == ["go_on", "stop"]
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert run.closed and hand.shown(*ACTIONS) == ["go_on", "new_run"]
    assert "Stopped" in page.charts.watching.outcome.text() and page.charts.watching.onwards.isVisible()


@pytest.mark.slow
def test_a_finished_run_leads_to_fine_tuning(hand: Hand, begin: Begin, qtbot: QtBot) -> None:
    page = begin(InventedReading(num_steps=120))
    assert hand.shown(*ACTIONS) == ["try_it", "new_run"]
    assert "perplexity" in page.charts.watching.result.text()
    with qtbot.waitSignal(page.session.page_requested) as asked:
        qtbot.mouseClick(page.try_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["finetune", RunPageState()]


@pytest.mark.slow
def test_an_error_in_training_is_said_on_the_page(begin: Begin) -> None:
    page = begin(InventedReading(fail_at=70))
    assert page.failure.isVisible() and "step 70" in page.failure.text()


@pytest.mark.slow
def test_fine_tuning_waits_while_a_model_is_pretrained(begin: Begin, qtbot: QtBot) -> None:
    page = begin(InventedReading(hold_at=60))
    other = FineTunePage(page.session)
    qtbot.addWidget(other)
    other.show()
    assert not other.start_button.isEnabled() and not other.pause_button.isVisible()
    assert other.charts.loss.num_points == 0 and not other.is_running


@pytest.mark.slow
def test_a_resumed_run_shows_every_step_once(
    ready: PretrainPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    every = list(InventedReading(num_steps=30).pretrain(PretrainConfig(), tmp_path / "run"))
    steps = [event for event in every if isinstance(event, Step)]
    config = with_values(PretrainConfig(), {"text": ready.setup.config().text.text, "steps": 30})

    def again(run_dir: Path, **_: object) -> Iterator[Event]:
        started = next(event for event in every if isinstance(event, Started))
        yield replace(started, first_step=13)
        yield from steps[12:]

    monkeypatch.setattr("app.pages.run.past_run.read_events", lambda run_dir: iter(steps[:17]))
    monkeypatch.setattr(training_module, "resume", again)
    monkeypatch.setattr(training_module, "read_config", lambda run_dir: config)
    ready.session.training.resume(tmp_path / "run")
    loss = ready.charts.measure("loss").plot
    qtbot.waitUntil(lambda: not ready.session.training.is_running and loss.num_points == 30)
    assert [row[0] for row in loss.numbers()[1:]] == list(range(1, 31))
    assert ready.run_card.facts()["Train for"] == "30 steps"


@pytest.mark.slow
def test_an_earlier_run_is_shown_as_its_files_tell_it(
    ready: PretrainPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_dir = tmp_path / "runs" / "20260101-120000-story"
    every = list(InventedReading(num_steps=40).pretrain(PretrainConfig(), run_dir))
    told = [event for event in every if type(event).__name__ in ("Started", "Step", "Evaluated", "Pinned")]
    monkeypatch.setattr("app.pages.run.past_run.read_events", lambda run_dir: iter(told))
    config = with_values(PretrainConfig(), {"text": ready.setup.config().text.text, "tokens": 9000})
    (run_dir / "config.toml").write_text(document_of(config))
    (run_dir / "status.json").write_text('{"state": "stopped", "step": 40, "metric": "mlm_accuracy"}')
    ready.show_run(run_dir)
    qtbot.waitUntil(lambda: ready.charts.measure("loss").plot.num_points == 40)
    qtbot.waitUntil(lambda: ready.go_on_button.isVisible())
    assert ready.run_card.facts()["Train for"] == "9,000 tokens" and ready.charts.isVisible()
    assert ready.setup.config().budget.tokens == 0  # the form is another's
    qtbot.mouseClick(ready.new_button, Qt.MouseButton.LeftButton)
    assert ready.setup.isVisible() and ready.setup.config().budget.tokens == 9000
    assert not ready.charts.isVisible() and ready.charts.measure("loss").plot.num_points == 0
    assert not ready.session.training.is_running


@pytest.mark.slow
def test_the_number_of_the_newest_step_is_told(begin: Begin, qtbot: QtBot) -> None:
    page = begin(InventedReading(hold_at=133))
    qtbot.waitUntil(lambda: number(133) in page.run_card.progress.where.text())
    qtbot.waitUntil(lambda: page.charts.measure("loss").tile.value != "–")
