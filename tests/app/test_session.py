"""What is open, how it is read, and that there is never a second training."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.settings import AppSettings
from app.work import training as training_module
from app.work.tables import count_words
from app.work.worker import Channel
from engine.errors import DataError, ModelError, RunError
from engine.events import Event, Finished, Started, Step
from engine.inspect.masked.probe import GapTable, probe
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.roles import Roles
from tests.fakes import tiny_pretraining, tiny_wordpiece

ROWS = "".join(f"{'good' if i % 3 else 'bad'},a film number {i} that plays\n" for i in range(36))
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "film", "number", "that", "play", "##s"]


@pytest.fixture
def session(qtbot: QtBot, tmp_path: Path) -> Iterator[Session]:
    made = Session(AppSettings(tmp_path / "settings.ini"))
    made.settings.runs_root = tmp_path / "runs"
    yield made
    made.training.stop()
    made.close()
    qtbot.waitUntil(lambda: not made.training.is_running)
    assert made.wait_idle()


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text(f"label,text\n{ROWS}good,a film number 1 that plays\n,no label here\n", encoding="utf-8")
    return path


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCAB) + "\n", encoding="utf-8")
    return path


def started(run_dir: Path, num_steps: int) -> Started:
    return Started(
        run_dir=run_dir, task="classification", device="CPU", num_steps=num_steps, first_step=1, num_epochs=1,
        steps_per_epoch=num_steps, num_train=30, num_validation=7, num_test=0, labels=("bad", "good"),
        metric="accuracy", num_parameters=7, learning_rate=1e-4, cut_share=0.0,
    )  # fmt: skip


def step(number: int) -> Step:
    return Step(
        step=number, epoch=0.1, loss=0.7, accuracy=0.5, learning_rate=1e-4, gradient_norm=1.0, num_tokens=99,
        tokens_per_s=990.0, elapsed_s=1.0, remaining_s=2.0,
    )  # fmt: skip


def endless(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    """A training that goes on until it is stopped, and keeps its model then."""
    number = 0
    try:
        yield started(run_dir, 10**6)
        while True:
            number += 1
            yield step(number)
    finally:
        (run_dir / "model").mkdir(parents=True)
        (run_dir / "model" / "config.json").write_text("{}")


def test_opening_a_table_guesses_roles_and_counts_what_is_in_it(session: Session, table_file: Path) -> None:
    session.data.open(table_file)
    assert session.wait_idle()
    summary = session.data.summary
    assert session.data.roles == Roles("text", "", "label")
    assert summary is not None and summary.unit == "words" and summary.unknown_share is None
    assert summary.labels == ("bad", "good") and summary.counts.tolist() == [12, 25]
    assert summary.num_duplicates == 1
    assert [bad.line for bad in summary.reported] == [39]
    assert summary.num_examples + len(summary.reported) == summary.num_rows == 38
    assert session.settings.recent_files == [str(table_file)]


def test_a_model_turns_words_into_wordpieces(session: Session, table_file: Path, vocab: Path) -> None:
    session.data.open(table_file)
    session.model.choose("new:tiny", str(vocab))
    assert session.wait_idle()
    summary, model = session.data.summary, session.model.chosen
    assert model is not None and model.is_new and model.words == "tiny · 2×128"
    assert summary is not None and summary.unit == "pieces"
    assert summary.lengths[0] == 8 + 1  # [CLS] a film number [UNK] that play ##s [SEP]
    assert summary.cut_share(8) == 1.0 and summary.cut_share(9) == 0.0
    assert summary.num_tokens(5) == 5 * summary.num_examples
    assert summary.unknown_share == pytest.approx(1 / 9)


def test_an_unreadable_file_leaves_the_old_table_open(
    qtbot: QtBot, session: Session, table_file: Path, tmp_path: Path
) -> None:
    session.data.open(table_file)
    assert session.wait_idle()
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    with qtbot.waitSignal(session.data.refused) as told:
        session.data.open(empty)
    assert isinstance(told.args[0], DataError)
    assert session.data.table is not None and session.data.table.path == table_file
    assert session.wait_idle() and session.busy.words == ""


def test_a_folder_without_a_model_leaves_the_old_model(
    qtbot: QtBot, session: Session, vocab: Path, tmp_path: Path
) -> None:
    session.model.choose("new:tiny", str(vocab))
    assert session.wait_idle()
    with qtbot.waitSignal(session.model.refused) as told:
        session.model.choose(str(tmp_path))
    assert isinstance(told.args[0], ModelError)
    assert session.model.chosen is not None and session.model.chosen.model == "new:tiny"


def test_reading_another_way_keeps_the_roles_that_still_exist(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("one\ttwo\tclass\n" + "a b\tc d\tyes\nd e\tf g\tno\n" * 9, encoding="utf-8")
    session.data.open(path)
    assert session.wait_idle()
    session.data.set_roles(Roles("two", "", "class"))
    session.data.reread(quoting="none")
    assert session.wait_idle()
    assert session.data.roles == Roles("two", "", "class")
    session.data.reread(header="no")
    assert session.wait_idle()
    assert session.data.roles is not None and session.data.roles.text != "two"
    assert session.data.overrides["quoting"] == "none" and session.data.overrides["header"] == "no"


def test_a_role_moves_and_never_stands_on_two_columns(session: Session, table_file: Path) -> None:
    session.data.open(table_file)
    assert session.wait_idle()
    session.data.set_role("label", "text")
    assert session.data.roles == Roles("label", "", "text")
    session.data.set_role("label", "")
    assert session.data.roles == Roles("", "", "text")
    with pytest.raises(DataError):
        session.data.set_roles(Roles("nowhere"))


def test_one_class_only_is_said_and_lengths_are_still_counted(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("label,text\n" + "".join(f"good,film {i}\n" for i in range(9)), encoding="utf-8")
    session.data.open(path)
    assert session.wait_idle()
    session.data.set_roles(Roles("text", "", "label"))
    assert session.wait_idle()
    assert session.data.summary is not None
    assert "same label" in str(session.data.summary.refusal)
    assert session.data.summary.lengths.tolist() == [2] * 9


@pytest.mark.slow
def test_a_second_training_is_refused_and_stopping_keeps_the_model(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_module, "fine_tune", endless)
    config = with_values(FineTuneConfig(), {"data": "films.csv", "text": "text", "label": "label"})
    run_dir = session.training.start(config)
    assert run_dir.parent == session.runs.root and session.training.state.name == "films"
    with pytest.raises(RunError):
        session.training.start(config)
    qtbot.waitUntil(lambda: session.training.state.step is not None)
    session.training.pause()
    assert session.training.state.state == "paused"
    session.training.go_on()
    with qtbot.waitSignal(session.training.ended):
        session.training.stop()
    assert session.training.state.outcome == "stopped" and not session.training.is_running
    assert session.training.last_model == run_dir / "model"


def test_a_table_opened_in_place_of_another_is_the_one_that_stays(
    session: Session, table_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("label,text\ngood,one film\nbad,two films\n", encoding="utf-8")
    told: list[str] = []
    session.data.opened.connect(lambda: told.append(session.data.table.path.name))  # type: ignore[union-attr]
    session.data.open(table_file)
    session.data.open(other)
    assert session.busy.words == "Reading other.csv"
    assert session.wait_idle()
    assert told == ["other.csv"] and session.data.summary.num_rows == 2 and session.busy.words == ""  # type: ignore[union-attr]


def test_a_finished_training_is_remembered(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
        yield started(run_dir, 2)
        yield step(1)
        yield step(2)
        yield Finished(path=None, seconds=1.0, best_metric=0.9)

    monkeypatch.setattr(training_module, "fine_tune", short)
    with qtbot.waitSignal(session.training.ended):
        session.training.start(FineTuneConfig())
    assert session.training.state.outcome == "finished" and session.training.state.share == 1.0
    assert session.training.last_model is None  # nothing was saved


def test_each_chinese_character_counts_as_a_word() -> None:
    assert count_words("这家 hotel 很好!") == 6
    assert count_words("  two   words ") == 2
    assert np.sum([count_words(""), count_words(" \n")]) == 0


@pytest.mark.slow
def test_a_guess_is_answered_while_a_table_of_100_mb_is_read(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    path = tmp_path / "large.csv"
    row = f"good,{'a film that plays ' * 60}\n"
    path.write_text("label,text\n" + row * (100 * 2**20 // len(row) + 1), encoding="utf-8")
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    models, answered = session.inspector.open_models, []

    def guess(text: str) -> GapTable:
        subject = models.subject(tmp_path / "lm")
        return probe(subject, text, words=(2,))

    session.data.open(path)
    channel = Channel(session, session.workers.models)
    for text in ("a good film", "a bad film"):
        channel.ask(text, partial(guess, text), heard=answered.append)
        qtbot.waitUntil(lambda: not channel.is_asking)
    assert len(answered) == 2 and session.data.table is None and session.busy.words == "Reading large.csv"
    qtbot.waitUntil(lambda: session.data.table is not None, timeout=120_000)
