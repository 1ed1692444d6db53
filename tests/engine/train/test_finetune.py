"""From a table to a model: what is settled before the first step, and what comes out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from engine.commands.command_line import finetune_command
from engine.errors import ConfigError, DataError, ModelError, UserError
from engine.events import Evaluated, Finished, Noted, Saved, Started, Step
from engine.model.config import PRESETS
from engine.model.weights import check_weights, load_classifier, load_tensors, read_config
from engine.settings.config import with_values
from engine.train.finetune import fine_tune, resume
from engine.train.plan import plan
from engine.train.prepare import Setup
from engine.train.run.runs import read_status
from engine.train.tasks.known import evaluate_file
from tests.engine.steps import advance
from tests.engine.tiny_runs import WAYS, losses, outcome, reviews, tiny_config, without_saved, write_table
from tests.fakes import (
    LABELS,
    foreign_folder,
    model_folder,
    stored_tensors,
    tiny_wordpiece,
)
from tests.fakes import (
    tiny_config as tiny_shape,
)


def notes(events: list[object]) -> str:
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


def vocabulary(path: Path) -> str:
    path.mkdir()
    tiny_wordpiece().save(path)
    return str(path / "vocab.txt")


@pytest.mark.slow
def test_a_table_becomes_a_model_that_knows_it(tmp_path: Path) -> None:
    new = {"model": "new:tiny", "vocab": vocabulary(tmp_path / "vocab")}
    config = tiny_config(tmp_path, num_epochs=4, test_share=0.2, checkpoint_every_steps=100, **new)
    events = list(fine_tune(config, tmp_path / "run"))
    end = events[-1]
    assert isinstance(end, Finished) and end.path == tmp_path / "run" / "model" and end.metrics
    assert end.best_metric is not None and min(end.best_metric, end.metrics["accuracy"]) > 0.9
    assert losses(events)[-1] < losses(events)[0] / 2
    started = next(event for event in events if isinstance(event, Started))
    assert (started.num_train, started.num_validation, started.num_test) == (31, 11, 11)
    assert started.labels == ("bad", "good")


@pytest.mark.slow
def test_the_result_measured_again_gives_the_figures_of_its_best_evaluation(tmp_path: Path) -> None:
    write_table(tmp_path / "kept_apart.csv", reviews(23, seed=9))
    config = tiny_config(tmp_path, validation_data=str(tmp_path / "kept_apart.csv"))
    events = list(fine_tune(config, tmp_path / "run"))
    best = [event for event in events if isinstance(event, Evaluated) and event.is_best][-1]
    data = with_values(config, {"data": str(tmp_path / "kept_apart.csv")}).data
    again = [
        event for event in evaluate_file(tmp_path / "run" / "model", data) if isinstance(event, Evaluated)
    ]
    assert again[0].metrics == best.metrics and again[0].loss == pytest.approx(best.loss, rel=1e-6)
    assert again[0].confusion is not None and best.confusion is not None
    assert again[0].confusion.tolist() == best.confusion.tolist()


@pytest.mark.slow
def test_cloze_json_says_what_the_model_was_made_from(tmp_path: Path) -> None:
    list(fine_tune(tiny_config(tmp_path, truncation="head"), tmp_path / "run"))
    said = json.loads((tmp_path / "run" / "model" / "cloze.json").read_text())
    assert (
        said["schema_version"] == 1 and said["task"] == "classification" and said["labels"] == ["bad", "good"]
    )
    assert said["roles"] == {"text": "text", "text_pair": "", "label": "label"}
    assert (said["max_length"], said["truncation"]) == (23, "head")
    assert said["split"]["rows"] == [42, 11, 0] and said["split"]["seed"] == 42
    assert said["data"]["name"] == "reviews.csv" and len(said["data"]["sha256"]) == 64
    assert said["trained"]["validated"] and said["trained"]["step"] in (9, 18)
    assert str(tmp_path) not in json.dumps({**said, "base_model": ""})


@pytest.mark.slow
def test_a_model_from_random_weights_depends_on_the_seed_alone(tmp_path: Path) -> None:
    values = {
        "model": "new:tiny",
        "vocab": vocabulary(tmp_path / "vocab"),
        "num_epochs": 1,
        "learning_rate": None,
    }
    runs = [
        list(fine_tune(tiny_config(tmp_path, seed=seed, **values), tmp_path / name))
        for seed, name in ((1, "a"), (1, "b"), (2, "c"))
    ]
    assert losses(runs[0]) == losses(runs[1]) != losses(runs[2])
    assert "start from random numbers" in notes(runs[0])
    shape = read_config(tmp_path / "a" / "model")
    assert (shape.vocab_size, shape.hidden_size, shape.id2label) == (37, 128, ("bad", "good"))
    assert next(event.learning_rate for event in runs[0] if isinstance(event, Started)) == 3e-4


def test_a_plan_is_what_a_run_then_does(tmp_path: Path) -> None:
    for changes in (
        {},
        {"validation_share": 0.1, "test_share": 0.3},
        {"batch_size": 4, "gradient_accumulation_steps": 3, "num_epochs": 3},
        {"validation_share": 0.0},
    ):
        config = tiny_config(tmp_path, **changes)
        asked = plan(config, num_examples=53, num_tokens=600, model=tiny_shape())
        for event in fine_tune(config, tmp_path / f"run{len(list(tmp_path.iterdir()))}"):
            if isinstance(event, Started):
                did = (
                    event.num_train,
                    event.num_validation,
                    event.num_test,
                    event.steps_per_epoch,
                    event.num_steps,
                )
                break
        wanted = (
            asked.num_train,
            asked.num_validation,
            asked.num_test,
            asked.steps_per_epoch,
            asked.num_steps,
        )
        assert did == wanted
        assert asked.seconds > 0 and asked.learning_rate == 3e-3


@pytest.mark.slow
def test_texts_in_both_parts_and_unusable_lines_are_told(tmp_path: Path) -> None:
    rows = [*reviews(20), ("", "bad"), ("good film", ""), *[("good play", "good")] * 9]
    write_table(tmp_path / "reviews.csv", rows)
    events = list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    assert "validation texts are also in the training data" in notes(events)
    assert "2 lines of reviews.csv cannot be used: 22, 23. The first: Line 22 has no text" in notes(events)


def test_labels_that_appear_once_are_told_and_trained_on(tmp_path: Path) -> None:
    write_table(tmp_path / "reviews.csv", [*reviews(20), ("odd one", "odd"), ("rare one", "rare")])
    events = list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    assert "2 labels occur in one row only, so they are trained on but never measured: odd, rare" in notes(
        events
    )
    assert next(event.labels for event in events if isinstance(event, Started)) == (
        "bad",
        "good",
        "odd",
        "rare",
    )


@pytest.mark.slow
def test_without_validation_the_last_weights_are_the_result_and_that_is_told(tmp_path: Path) -> None:
    events = list(fine_tune(tiny_config(tmp_path, validation_share=0.0, num_epochs=1), tmp_path / "run"))
    assert "No rows are held out for validation" in notes(events)
    end = events[-1]
    assert isinstance(end, Finished) and end.best_step is None and end.best_metric is None
    load_classifier(tmp_path / "run" / "model")


@pytest.mark.slow
def test_a_head_for_the_same_labels_is_kept_and_for_others_is_new(tmp_path: Path) -> None:
    same = list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "a"))
    model_folder(tmp_path / "other", labels=LABELS)
    other = list(
        fine_tune(tiny_config(tmp_path, num_epochs=1, model=str(tmp_path / "other")), tmp_path / "b")
    )
    assert "classifier" not in notes(same)
    assert "The classifier is new" in notes(other) and "its labels are bad, good, odd" in notes(other)


# Stop and keep, and resuming


@pytest.mark.slow
def test_a_run_stopped_at_any_yield_goes_on_to_the_same_end(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=1, batch_size=8, evaluate_every_steps=3, test_share=0.2)
    count = len(list(fine_tune(config, tmp_path / "whole")))
    wanted = without_saved(outcome(tmp_path / "whole"))
    stopped_while = set()
    for number in range(1, count + 1):
        run_dir = tmp_path / f"run{number}"
        events = fine_tune(config, run_dir)
        event = advance(events, number)
        events.close()  # type: ignore[attr-defined]
        stopped_while.add(f"{type(event).__name__} {getattr(event, 'stage', '')}".strip())
        if not run_dir.exists():  # stopped before anything was settled: nothing is left
            continue
        status = read_status(run_dir)
        assert status["state"] == "stopped", event
        if status["step"] > 0:
            load_classifier(run_dir / "model")
        assert not list(run_dir.rglob("*.partial"))
        list(resume(run_dir))
        assert without_saved(outcome(run_dir)) == wanted, event
        assert read_status(run_dir)["state"] == "finished"
    assert {"Beat", "Step", "Evaluated", "Saved", "Started", "Noted", "Finished"} <= stopped_while
    assert {"Progress Reading", "Progress Tokenizing", "Progress Evaluating"} <= stopped_while


def test_stopping_keeps_the_step_that_was_reached(tmp_path: Path) -> None:
    events = fine_tune(tiny_config(tmp_path, checkpoint_every_steps=100), tmp_path / "run")
    for event in events:
        if isinstance(event, Step) and event.step == 5:
            break
    events.close()  # type: ignore[attr-defined]
    assert read_status(tmp_path / "run")["step"] == 5
    again = resume(tmp_path / "run")
    first = next(event for event in again if isinstance(event, Started))
    assert first.first_step == 6
    again.close()  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize(("kernels", "precision"), WAYS)
def test_stopping_and_going_on_many_times_changes_nothing(
    tmp_path: Path, kernels: str, precision: str
) -> None:
    config = tiny_config(tmp_path, kernels=kernels, precision=precision)
    list(fine_tune(config, tmp_path / "whole"))
    events = fine_tune(config, tmp_path / "run")
    assert any(isinstance(event, Started) for event in events)
    advance(events, 8)
    for count in (9, 2, 13, 11):
        events.close()  # type: ignore[attr-defined]
        events = resume(tmp_path / "run")
        advance(events, count)
    list(events)
    assert without_saved(outcome(tmp_path / "run")) == without_saved(outcome(tmp_path / "whole"))


# Bad input: one sentence, and nothing is made


BAD_VALUES = [
    ({"text": "review"}, DataError, "has no column review. Its columns are: text, label"),
    ({"label": "7"}, DataError, "has no column 7"),
    ({"label": "text"}, DataError, "has two roles"),
    ({"text": ""}, ConfigError, "No column was chosen for text"),
    ({"data": ""}, ConfigError, "No data was chosen"),
    ({"data": "nowhere.csv"}, DataError, "There is no file nowhere.csv"),
    ({"validation_data": "nowhere.csv"}, ConfigError, "There is no file nowhere.csv"),
    ({"model": ""}, ConfigError, "No model was chosen"),
    ({"model": "nowhere"}, ModelError, "There is no folder nowhere"),
    ({"model": "new:tiny"}, ConfigError, "needs a vocabulary"),
    ({"model": "new:huge", "vocab": "v.txt"}, ConfigError, "after new: use one of tiny, mini"),
    ({"model": "new:tiny", "vocab": "nowhere.txt"}, UserError, "nowhere.txt"),
    ({"max_length": 42}, ConfigError, "max_length is 42, but the model has positions for 41"),
    ({"text_pair": "text", "max_length": 4}, ConfigError, "must be at least 5"),
    ({"validation_share": 0.6, "test_share": 0.5}, ConfigError, "Leave some to train on"),
    ({"device": "cpu", "precision": "bfloat16"}, ConfigError, "precision is bfloat16"),
]


@pytest.mark.parametrize(("values", "kind", "says"), BAD_VALUES, ids=lambda value: str(value)[:40])
def test_bad_settings_are_refused_and_no_folder_is_made(
    tmp_path: Path, values: dict[str, str], kind: type[UserError], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.device.cpu_has_bfloat16", lambda: False)
    with pytest.raises(kind) as refused:
        list(fine_tune(tiny_config(tmp_path, **values), tmp_path / "run"))
    assert says in str(refused.value)
    assert not (tmp_path / "run").exists()


BAD_TABLES = {
    "one class only": ([("good film", "good")] * 9, "Every row has the same label, good"),
    "only empty texts": ([(" ", "good"), ("", "bad")], "None of the 2 rows can be used"),
    "every label once": (
        [(f"film {n}", f"label {n}") for n in range(9)],
        "It looks like free text or a number",
    ),
    "no rows": ([], "has a header and no rows"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_teaches_nothing_is_refused_and_no_folder_is_made(tmp_path: Path, name: str) -> None:
    rows, says = BAD_TABLES[name]
    write_table(tmp_path / "reviews.csv", rows)
    with pytest.raises(DataError) as refused:
        list(fine_tune(tiny_config(tmp_path, header="yes"), tmp_path / "run"))
    assert says in str(refused.value)
    assert not (tmp_path / "run").exists()


def spoil(folder: Path, kind: str) -> str:
    """Write a model folder that cannot be used; return what should be said."""
    model_folder(folder, labels=("bad", "good"))
    weights = stored_tensors(folder)
    word = "bert.embeddings.word_embeddings.weight"
    match kind:
        case "no weights":
            (folder / "model.safetensors").unlink()
            return "holds no weights: model.safetensors"
        case "wrong shapes":
            foreign_folder(folder, {**weights, word: weights[word][:, :7].contiguous()})
            return f"{word} in"
        case "a missing weight":
            foreign_folder(folder, {name: value for name, value in weights.items() if name != word})
            return "lacks 1 of the"
        case "a billion layers":
            foreign_folder(folder, weights, {"num_hidden_layers": 10**9})
            return "num_hidden_layers is 1000000000"
        case "a cut file":
            data = (folder / "model.safetensors").read_bytes()
            (folder / "model.safetensors").write_bytes(data[:-100])
            return "is truncated"
        case "a gadget":
            (folder / "model.safetensors").unlink()
            gadget = b"\x80\x02cposix\nsystem\nX\x0c\x00\x00\x00touch canary\x85R."
            (folder / "pytorch_model.bin").write_bytes(gadget)
            return "would run posix.system when opened, so it was not"
        case "a longer vocabulary":
            text = (folder / "vocab.txt").read_text()
            (folder / "tokenizer.json").unlink()
            (folder / "vocab.txt").write_text(text + "zebra\n")
            return "The vocabulary has 38 pieces, but the model knows 37"
        case _:
            (folder / "config.json").write_text("{")
            return "config.json is damaged"


@pytest.mark.parametrize(
    "kind",
    ["no weights", "wrong shapes", "a missing weight", "a billion layers", "a cut file", "a gadget",
     "a longer vocabulary", "no JSON"],
)  # fmt: skip
def test_a_bad_model_is_refused_before_the_table_is_read_and_no_folder_is_made(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    says = spoil(tmp_path / "start", kind)
    events = fine_tune(tiny_config(tmp_path), tmp_path / "run")
    with pytest.raises(ModelError) as refused:
        next(events)
    assert says in str(refused.value)
    assert not (tmp_path / "run").exists() and not (tmp_path / "canary").exists()


def test_a_good_model_passes_without_its_weights_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_folder(tmp_path / "model")
    monkeypatch.setattr("engine.model.folder.StoredWeights.read_into", lambda *_: pytest.fail("read"))
    check_weights(tmp_path / "model")


def test_a_model_with_one_segment_reads_no_pairs(tmp_path: Path) -> None:
    model_folder(tmp_path / "start", labels=("bad", "good"), type_vocab_size=1)
    write_table(tmp_path / "reviews.csv", [(a, a, b) for a, b in reviews(9)], header="text,other,label")
    with pytest.raises(ModelError, match="it cannot read pairs"):
        list(fine_tune(tiny_config(tmp_path, text_pair="other"), tmp_path / "run"))


def test_a_place_that_cannot_be_written_to_is_refused_before_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="could not be written"):
        next(fine_tune(tiny_config(tmp_path), tmp_path / "file" / "run"))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_disk_that_is_too_small_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with pytest.raises(UserError, match=r"too little room. .* need [1-9][\d.]* kB .* 1\.0 kB are free"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_damaged_setup_is_told_in_a_sentence(tmp_path: Path) -> None:
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    (tmp_path / "run" / "setup" / "setup.json").write_text("{")
    with pytest.raises(ModelError, match=r"setup\.json"):
        Setup.load(tmp_path / "run" / "setup")


def test_every_preset_can_be_planned() -> None:
    assert set(PRESETS) == {"tiny", "mini", "small", "medium", "base", "large"}


@pytest.mark.slow
def test_a_run_goes_on_when_the_model_and_the_table_it_began_with_are_gone(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    begun = fine_tune(config, tmp_path / "cut")
    next(event for event in begun if isinstance(event, Saved))  # the starting weights
    begun.close()
    shutil.rmtree(tmp_path / "start")
    (tmp_path / "reviews.csv").unlink()
    list(resume(tmp_path / "cut"))
    wanted = load_tensors(tmp_path / "whole" / "model" / "model.safetensors")
    found = load_tensors(tmp_path / "cut" / "model" / "model.safetensors")
    assert all(torch.equal(wanted[name], found[name]) for name in wanted)


def test_what_decides_the_last_bits_is_recorded_and_a_difference_is_told(tmp_path: Path) -> None:
    begun = fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run")
    next(event for event in begun if isinstance(event, Saved))
    begun.close()
    path = tmp_path / "run" / "setup" / "setup.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    assert about["recipe"]["num_threads"] == 1 and about["recipe"]["torch"] == torch.__version__
    about["recipe"]["torch"] = "2.0.0"
    path.write_text(json.dumps(about), encoding="utf-8")
    assert "begun with torch 2.0.0" in notes(list(resume(tmp_path / "run")))


def test_a_column_of_measurements_is_no_label(tmp_path: Path) -> None:
    rows = [(f"good film {i}", f"{i % 60 / 7:.3f}") for i in range(120)]
    write_table(tmp_path / "reviews.csv", rows)
    with pytest.raises(DataError, match="not a label"):
        list(fine_tune(tiny_config(tmp_path, task="classification"), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_merged_labels_are_recorded_with_the_run_and_hold_for_every_file_beside_it(tmp_path: Path) -> None:
    rows = [(text, "Good" if place in (7, 21) else label) for place, (text, label) in enumerate(reviews())]
    write_table(tmp_path / "reviews.csv", rows)
    write_table(tmp_path / "test.csv", [("good film", "GOOD"), ("bad play", "bad"), ("bad !", "awful")])
    told = tiny_config(tmp_path, test_data=str(tmp_path / "test.csv"), num_epochs=1)
    events = list(fine_tune(told, tmp_path / "apart"))
    assert next(event.labels for event in events if isinstance(event, Started)) == ("Good", "bad", "good")
    assert "learned as different ones: Good for good in lines 9, 23." in notes(events)

    merging = with_values(told, {"merge_labels": "true"})
    assert "merge_labels" in finetune_command(merging, tmp_path / "again")
    events = list(fine_tune(merging, tmp_path / "merged"))
    started = next(event for event in events if isinstance(event, Started))
    assert started.labels == ("bad", "good") and started.num_test == 2
    assert "are merged: Good for good in lines 9, 23" in notes(events)
    assert "merge_labels = true" in (tmp_path / "merged" / "config.toml").read_text()
    changes = [
        {"file": "reviews.csv", "from": "Good", "to": "good", "rows": 2},
        {"file": "test.csv", "from": "GOOD", "to": "good", "rows": 1},
    ]
    for name in ("setup/setup.json", "model/cloze.json"):
        said = json.loads((tmp_path / "merged" / name).read_text())
        assert said["merge_labels"] and said["merged_labels"] == changes, name
    scored = list(
        evaluate_file(tmp_path / "merged" / "model", with_values(told, {"data": told.data.test_data}).data)
    )
    assert [
        int(event.confusion.sum())
        for event in scored
        if isinstance(event, Evaluated) and event.confusion is not None
    ] == [2]


@pytest.mark.parametrize("test_share", [0.0, 0.2])
def test_a_run_whose_model_answers_one_label_only_says_so_at_its_end(
    tmp_path: Path, test_share: float
) -> None:
    rows = [("a b c", "good")] * 50 + [("a b c", "bad")] * 10
    write_table(tmp_path / "reviews.csv", rows)
    events = list(fine_tune(tiny_config(tmp_path, num_epochs=1, test_share=test_share), tmp_path / "run"))
    said = [str(event.sentence) for event in events if isinstance(event, Noted) and event.level == "wrong"]
    split = "test" if test_share else "validation"
    assert said == [
        f"The model predicts good for all 12 {split} rows, though they carry 2 labels. It does not "
        "distinguish them."
    ]
    noted = next(i for i, event in enumerate(events) if isinstance(event, Noted) and event.level == "wrong")
    assert noted < len(events) - 1 and isinstance(events[-1], Finished)
