"""What a model has learned from is known again in whatever file it comes back, and told before a score."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.evaluation.comparing import compare_scored
from engine.events import Noted, result_of
from engine.model.folder import LEARNED
from engine.model.tensor_files import load_tensors, save_tensors
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.finetune import fine_tune, known_before, resume
from engine.train.scored import ScoredTable
from engine.train.tasks.known import evaluate_file
from tests.engine.steps import stop_at
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import reviews, run_engine, tiny_config, write_table
from tests.engine.train.tasks.token_labels.tiny_words import tags_config

NUM_ROWS, NUM_APART = 100, 20
KEPT_APART = "20 validation rows. No text is shared with training."


def unlike_reviews() -> list[tuple[str, str]]:
    """Return reviews of which no two have the same text."""
    letters = random.Random(5)
    return [
        (f"{text} {number} {''.join(letters.choices('abcdefgh', k=6))}", label)
        for number, (text, label) in enumerate(reviews(NUM_ROWS))
    ]


def config_of(folder: Path, **settings: Any) -> FineTuneConfig:
    if not (folder / "reviews.csv").exists():
        write_table(folder / "reviews.csv", unlike_reviews())
    quick = {"num_epochs": 1, "batch_size": 40, "validation_share": NUM_APART / NUM_ROWS}
    return tiny_config(folder, **{**quick, **settings})


def learn(run_dir: Path, config: FineTuneConfig) -> tuple[Path, dict[str, str]]:
    """Return the model of a run, and what the run said with its levels."""
    events = list(fine_tune(config, run_dir))
    return run_dir / "model", {str(one.sentence): one.level for one in events if isinstance(one, Noted)}


def measured(model: Path, config: FineTuneConfig, data: Path) -> tuple[ScoredTable, list[str]]:
    said, steps = list[str](), evaluate_file(model, with_values(config, {"data": str(data)}).data)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            return end.value, said
        if isinstance(event, Noted):
            said.append(str(event.sentence))


def forget_texts(model: Path) -> Path:
    """Make a model folder one of those that kept no hashes."""
    (model / LEARNED).unlink()
    about = json.loads((model / "cloze.json").read_text())
    for stage in about["chain"]:
        stage.pop("num_hashed"), stage.pop("split")
    (model / "cloze.json").write_text(json.dumps(about))
    return model


def test_validation_texts_that_the_starting_model_has_learned_are_never_said_to_be_kept_apart(
    tmp_path: Path,
) -> None:
    first, said = learn(tmp_path / "first", config_of(tmp_path))
    assert said[KEPT_APART] == "fine" and not any("starting model" in one for one in said)
    again = config_of(tmp_path, model=str(first), split_seed=7)
    _, said = learn(tmp_path / "again", again)
    told = next(one for one in said if "of the 20 validation texts" in one)
    assert said[told] == "wrong" and told.endswith(
        "With split seed 42, as in its training, they stay held out."
    )
    assert KEPT_APART not in said
    before = {str(one.sentence): one.level for one in result_of(known_before(again))}
    assert before.items() <= said.items() and told in before
    same = config_of(tmp_path, model=str(first))
    assert [one.level for one in result_of(known_before(same))] == ["note"]  # the training texts are known
    assert learn(tmp_path / "same", same)[1][KEPT_APART] == "fine"


def test_texts_are_known_again_in_another_file_and_after_a_training_on_another_table(tmp_path: Path) -> None:
    first, _ = learn(tmp_path / "first", config_of(tmp_path))
    between = write_table(tmp_path / "between.csv", [(f"c {n}", ("bad", "good")[n % 2]) for n in range(20)])
    second, _ = learn(tmp_path / "second", config_of(tmp_path, data=str(between), model=str(first)))
    rows = [(f" {text.upper()} ", label) for text, label in reversed(unlike_reviews()[:60])]
    new = [(f"d {n}", "good") for n in range(15)]
    mixed = write_table(tmp_path / "mixed.csv", [*rows, *new])
    scored, said = measured(second, config_of(tmp_path), mixed)
    _, ones = measured(first, config_of(tmp_path), mixed)
    assert 30 < scored.num_seen < 60 and not scored.seen[60:].any()
    sentence = f"The model was trained on {scored.num_seen} of these 75 texts"
    assert any(one.startswith(sentence) for one in said) and any(one.startswith(sentence) for one in ones)


@pytest.mark.slow
def test_the_command_tells_the_score_over_the_texts_that_are_new_to_the_model(tmp_path: Path) -> None:
    model, _ = learn(tmp_path / "run", config_of(tmp_path))
    code, out, _ = run_engine(
        "evaluate", "--model", model, "--data", tmp_path / "reviews.csv", "--quick", "--json"
    )
    found = json.loads(out)
    assert code == 0 and any("80 of these 100 texts" in note for note in found["notes"])
    _, kept, _ = run_engine("evaluate", "--model", model, "--part", "validation", "--quick", "--json")
    apart = json.loads(kept)
    assert found["learned_from"]["rows"] == 80 and "learned_from" not in apart
    assert found["learned_from"]["unseen"] == {
        "rows": NUM_APART,
        "value": apart["score"]["value"],
        "interval": apart["score"]["interval"],
    }


def test_no_model_is_called_the_better_one_on_texts_that_one_of_them_has_learned_from(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    model, _ = learn(tmp_path / "run", config)
    other = write_table(tmp_path / "other.csv", [(f"c {n}", ("bad", "good")[n % 2]) for n in range(20)])
    second, _ = learn(tmp_path / "second", config_of(tmp_path, data=str(other)))
    table = tmp_path / "reviews.csv"
    ours, theirs = (measured(one, config, table)[0] for one in (model, second))
    compared = compare_scored(ours, theirs)
    assert compared.num_seen == (80, 0)
    assert str(compared.sentence("A", "B")).startswith(
        "A was trained on 80 of these 100 texts, so they cannot"
    )
    assert "both" in str(compare_scored(ours, ours).sentence("A", "B"))


def test_a_model_that_kept_no_texts_is_known_by_its_file_unless_it_is_split_as_before(tmp_path: Path) -> None:
    model = forget_texts(learn(tmp_path / "run", config_of(tmp_path))[0])
    assert result_of(known_before(config_of(tmp_path, model=str(model)))) == []
    (note,) = result_of(known_before(config_of(tmp_path, model=str(model), split_seed=7)))
    assert note.level == "wrong" and "on this very file (reviews.csv, 100 rows)" in str(note.sentence)
    scored, said = measured(model, config_of(tmp_path), tmp_path / "reviews.csv")
    assert scored.num_seen == NUM_ROWS and any("Which of its rows" in one for one in said)


def test_a_run_that_was_stopped_knows_its_texts_when_it_has_gone_on(tmp_path: Path) -> None:
    whole, _ = learn(tmp_path / "whole", config_of(tmp_path))
    stop_at(fine_tune(config_of(tmp_path), tmp_path / "stopped"), 1)
    list(resume(tmp_path / "stopped"))
    assert (tmp_path / "stopped" / "model" / LEARNED).read_bytes() == (whole / LEARNED).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("config_of_task", [question_config, tags_config])
def test_questions_and_tagged_texts_are_known_again_too(tmp_path: Path, config_of_task: Any) -> None:
    config = config_of_task(tmp_path, num_epochs=1)
    model, _ = learn(tmp_path / "run", config)
    scored, told = measured(model, config, Path(config.data.data))
    num_apart = json.loads((model / "cloze.json").read_text())["chain"][-1]["validation_rows"]
    assert any(one.startswith("The model was trained on") for one in told)
    assert len(scored.each) - num_apart <= scored.num_seen < len(scored.each)
    other = with_values(config, {"model": str(model), "split_seed": 3})
    assert "wrong" in {one.level for one in result_of(known_before(other))}


@pytest.mark.parametrize("hashes", [torch.zeros(3, 3), torch.zeros(4), None])
def test_a_damaged_record_of_texts_is_as_none(tmp_path: Path, hashes: torch.Tensor | None) -> None:
    model, _ = learn(tmp_path / "run", config_of(tmp_path))
    assert load_tensors(model / LEARNED)["texts"].shape == (NUM_ROWS - NUM_APART,)
    if hashes is None:
        (model / LEARNED).write_bytes(b"no tensors")
    else:
        save_tensors(model / LEARNED, {"texts": hashes})
    scored, _ = measured(model, config_of(tmp_path), tmp_path / "reviews.csv")
    assert scored.num_seen == NUM_ROWS  # by its file
