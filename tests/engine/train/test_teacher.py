"""A teacher beside the hidden words: what it pulls at, what it leaves alone, and what cannot be one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, ModelError
from engine.events import Evaluated, Step, result_of
from engine.model.trim import trimmed
from engine.model.weights import load_encoder, load_tensors, save_model
from engine.settings.pretrain import ObjectiveConfig, PretrainConfig
from engine.text.wordpiece import WordPiece
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.forecast import forecast, made_up_batch
from engine.train.pretraining.teacher import Teacher, open_teacher
from tests.engine.tiny_runs import losses
from tests.engine.tiny_texts import encoder_folder, of, promised, text_config, word_pieces
from tests.fakes import model_folder, scramble, tiny_pretraining

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


def settings(folder: Path, **changes: Any) -> PretrainConfig:
    """Return settings of a model that is trained further, taught by another of its shape and vocabulary."""
    if not (folder / "start").exists():
        encoder_folder(folder / "start")
        encoder, _ = load_encoder(folder / "start")
        scramble(encoder, seed=1)
        save_model(folder / "teacher", encoder, WordPiece.from_folder(folder / "start"))
    places = {"model": str(folder / "start"), "teacher": str(folder / "teacher")}
    return text_config(folder, **{**places, **changes})


def distances(config: PretrainConfig, run_dir: Path) -> list[float]:
    return [step.measures["teacher_distance"] for step in of(Step, list(pretrain(config, run_dir)))]


def test_a_reader_of_the_same_text_is_no_distance_from_itself_and_hidden_words_do_not_count() -> None:
    model = tiny_pretraining()
    model.requires_grad_(False)
    teacher = Teacher(model.bert, 1.0, "")
    batch = made_up_batch(model.config.vocab_size, 60, 20, 0.2)
    rows = torch.cat([batch.bounds.firsts, batch.masked])

    def distance(change: torch.Tensor, layer: int) -> float:
        ids, types, places = batch.input_ids, batch.token_type_ids, batch.position_ids
        found = model.bert(
            ids, types, position_ids=places, bounds=batch.bounds, rows=rows, output_hidden_states=True
        )
        states = list(found.hidden_states)
        states[layer] = states[layer].index_add(0, change, torch.arange(12.0).expand(len(change), 12))
        return float(teacher.distance(states, batch, *teacher.count([batch])))

    nothing, shown = torch.zeros(0, dtype=torch.long), torch.tensor([1])
    assert 1 not in batch.masked and distance(nothing, 1) == pytest.approx(0.0, abs=1e-6)
    assert distance(batch.masked, 1) < 1e-6 and distance(shown, 1) > 1e-4
    hidden_rows = torch.arange(len(batch.bounds), len(rows))  # of the last layer, where words are guessed
    assert distance(hidden_rows, 2) < 1e-6 and distance(shown, 2) > 1e-4


@pytest.mark.slow
def test_a_model_comes_nearer_to_its_teacher_which_stays_as_it_was(tmp_path: Path) -> None:
    config = settings(tmp_path, steps=60, learning_rate=1e-2, teacher_weight=5.0)
    before = load_tensors(tmp_path / "teacher" / "model.safetensors")
    found = distances(config, tmp_path / "run")
    assert found[-1] < 0.5 * found[0]
    after = load_tensors(tmp_path / "teacher" / "model.safetensors")
    assert all(torch.equal(after[name], value) for name, value in before.items())
    alone = settings(tmp_path, steps=1, teacher="")
    list(pretrain(alone, tmp_path / "alone"))
    kept = [load_tensors(tmp_path / name / "model" / "model.safetensors") for name in ("run", "alone")]
    assert kept[0].keys() == kept[1].keys()


def test_the_loss_of_a_step_has_the_weighted_distance_and_a_measurement_has_not(tmp_path: Path) -> None:
    events = list(pretrain(settings(tmp_path, teacher_weight=3.0), tmp_path / "run"))
    for step in of(Step, events):
        words = step.measures["mlm_loss"] + step.measures["nsp_loss"]
        assert step.loss == pytest.approx(words + 3.0 * step.measures["teacher_distance"], rel=1e-5)
    for look in of(Evaluated, events):
        assert look.loss == pytest.approx(look.metrics["mlm_loss"] + look.metrics["nsp_loss"])


@pytest.mark.slow
def test_a_teacher_that_does_not_count_changes_no_bit(tmp_path: Path) -> None:
    wanted = of(Step, list(pretrain(settings(tmp_path, teacher=""), tmp_path / "alone")))
    taught = of(Step, list(pretrain(settings(tmp_path, teacher_weight=0.0), tmp_path / "taught")))
    assert [step.loss for step in taught] == [step.loss for step in wanted]


@pytest.mark.slow
def test_parts_of_a_step_give_the_distances_of_the_whole(tmp_path: Path) -> None:
    whole, parts = (
        distances(settings(tmp_path, steps=6, micro_batch_tokens=size), tmp_path / str(size))
        for size in (1024, 30)
    )
    assert parts == pytest.approx(whole, rel=1e-5)


@pytest.mark.slow
def test_a_taught_run_that_was_stopped_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    config = settings(tmp_path, hidden_dropout=0.1)
    list(pretrain(config, tmp_path / "whole"))
    events = pretrain(config, tmp_path / "run")
    next(event for event in events if isinstance(event, Step) and event.step == 5)
    events.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "run"))
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")


@pytest.mark.slow
def test_a_teacher_with_more_pieces_in_another_order_reads_the_same(tmp_path: Path) -> None:
    config = settings(tmp_path)
    wanted = losses(pretrain(config, tmp_path / "run"))
    encoder, _ = load_encoder(tmp_path / "teacher")
    pieces = WordPiece.from_folder(tmp_path / "teacher")
    others = WordPiece.from_tokens(["[unused0]", *reversed(pieces.tokens)], lowercase=True)
    ids = torch.tensor([0, *reversed(range(pieces.vocab_size))])
    wider, _ = trimmed(encoder, pieces, np.arange(pieces.vocab_size))  # a copy
    wider.embeddings.word = torch.nn.Embedding.from_pretrained(encoder.embeddings.word.weight[ids])
    wider.config = type(encoder.config)(**{**vars(encoder.config), "vocab_size": others.vocab_size})
    save_model(tmp_path / "other", wider, others)
    taught = settings(tmp_path, teacher=str(tmp_path / "other"))
    assert losses(pretrain(taught, tmp_path / "again")) == wanted


def test_layers_of_a_deeper_teacher_are_met_evenly(tmp_path: Path) -> None:
    deeper = tiny_pretraining(num_hidden_layers=4).requires_grad_(False)
    model = tiny_pretraining()
    batch = made_up_batch(model.config.vocab_size, 40, 20, 0.2)
    read = deeper.bert(
        batch.input_ids,
        batch.token_type_ids,
        position_ids=batch.position_ids,
        bounds=batch.bounds,
        rows=batch.bounds.firsts,
        output_hidden_states=True,
    ).hidden_states
    teacher = Teacher(deeper.bert, 1.0, "")
    found = teacher.distance([read[0], read[2], read[4]], batch, *teacher.count([batch]))
    assert float(found) == pytest.approx(0.0, abs=1e-6)


def test_a_teacher_that_does_not_fit_is_refused_before_the_text_is_read(tmp_path: Path) -> None:
    settings(tmp_path)
    model_folder(tmp_path / "wide", hidden_size=15)
    model_folder(tmp_path / "short", max_position_embeddings=20)
    model_folder(tmp_path / "strange")
    for changes, kind, says, field in (
        ({"teacher": str(tmp_path / "nowhere")}, ModelError, "There is no folder", ""),
        ({"teacher": str(tmp_path / "wide")}, ConfigError, "is 15 wide, but the model 12", "teacher"),
        ({"teacher": str(tmp_path / "short")}, ConfigError, "reads at most 20 pieces", "teacher"),
        (
            {"teacher": str(tmp_path / "strange")},
            ConfigError,
            "of the model’s pieces, such as",
            "teacher",
        ),
        ({"model": "new:2x12x3"}, ConfigError, "none that are made from the text", "vocab"),
    ):
        with pytest.raises(kind, match=says) as caught:
            list(pretrain(settings(tmp_path, **changes), tmp_path / "run"))
        assert getattr(caught.value, "field", "") == field
        assert not (tmp_path / "run").exists() and not (tmp_path / "cache").exists()


def test_a_run_whose_teacher_has_changed_does_not_go_on(tmp_path: Path) -> None:
    events = pretrain(settings(tmp_path), tmp_path / "run")
    next(event for event in events if isinstance(event, Step))
    events.close()  # type: ignore[attr-defined]
    encoder, _ = load_encoder(tmp_path / "teacher")
    scramble(encoder, seed=2)
    save_model(tmp_path / "teacher", encoder, WordPiece.from_folder(tmp_path / "teacher"))
    with pytest.raises(ModelError, match="has changed since the run began"):
        list(resume(tmp_path / "run"))


def test_what_a_run_will_take_is_measured_with_its_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()
    states = Teacher.distance

    def noting(self: Teacher, *args: Any) -> torch.Tensor:
        asked.append(self.encoder.config.num_hidden_layers)
        return states(self, *args)

    monkeypatch.setattr(Teacher, "distance", noting)
    result_of(forecast(settings(tmp_path)))
    assert set(asked) == {1, 2}


def test_without_a_teacher_none_is_opened() -> None:
    assert open_teacher(ObjectiveConfig(), word_pieces, torch.device("cpu")) is None  # type: ignore[arg-type]
