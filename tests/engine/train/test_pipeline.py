"""Domain text, task text, table: every stage measured alike, what is done is kept, and the chain is told."""

from __future__ import annotations

import json
import math
import random
import shlex
import statistics
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

from engine.commands.command_line import main, parser_of_commands
from engine.commands.language import pipeline_command, pipeline_config_from
from engine.errors import UserError
from engine.events import Event, Finished, Gained, Noted, Saved, Started
from engine.model.weights import read_config, save_model
from engine.settings.config import with_values
from engine.settings.pipeline import PipelineConfig
from engine.text.corpus.corpus import Corpus
from engine.text.table import read_table
from engine.text.wordpiece import WordPiece
from engine.train.gains import FineTuningResult, StageResult, gain, report_of, table
from engine.train.metrics import wilson_interval
from engine.train.pipeline import pipeline, resume
from engine.train.prepare import Setup
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.runs import chain_of, list_runs, read_metrics
from engine.train.run.runs import read_config as settings_of
from engine.train.stages import fine_tuning, has_next_sentences
from engine.train.tasks.regression.scores import pearson_interval
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.fakes import TOKENS, tiny_classifier

TINY = Path(__file__).parents[3] / "assets" / "models" / "tiny" / "model"
STAGES = ("base", "domain", "task")


@pytest.fixture(autouse=True)
def quick(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pretraining_setup, "default_store_root", lambda: tmp_path_factory.getbasetemp() / "tokens"
    )


def write_domain(path: Path) -> Path:
    """Write documents of 2 to 5 sentences of the fake's words."""
    rng = random.Random(5)
    documents = (
        "\n".join(
            f"{rng.choice(('good', 'good', 'bad'))} film {' '.join(rng.choices('abcxyz', k=7))} !"
            for _ in range(rng.randint(2, 5))
        )
        for _ in range(30)
    )
    path.write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    return path


def config_in(folder: Path, **settings: Any) -> PipelineConfig:
    """Return settings of a pipeline of two steps a stage over reviews.csv, domain.txt and start/."""
    fine = tiny_config(folder)  # writes the table and the model
    if not (folder / "domain.txt").exists():
        write_domain(folder / "domain.txt")
    values = {
        **{name: getattr(fine.data, name) for name in ("data", "text", "label", "max_length")},
        "model": fine.model.model,
        "domain_text": str(folder / "domain.txt"),
        "domain_steps": 3,
        "task_steps": 2,
        "batch_tokens": 64,
        "held_out_share": 0.1,
        "seeds": 1,
        "num_epochs": 1,
        "batch_size": 21,
        "learning_rate": 3e-3,
        "device": "cpu",
        "num_threads": 1,
    }
    return with_values(PipelineConfig(), {**values, **settings})


def figures(folder: Path) -> Any:
    """Return the report without times."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for stage in report["stages"]:
        for run in (*stage["runs"], stage["pretraining"] or {}):
            run.pop("seconds", None)
        stage["model"] = Path(stage["model"]).name
    return report


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Event]]]:
    """A pipeline of all stages and two seeds, and what it said."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pretraining_setup, "default_store_root", lambda: folder / "tokens")
        pieces = [*TOKENS, *(f"##{letter}" for letter in ascii_lowercase)]  # 63, of which 58 must be kept
        model = tiny_classifier(("bad", "good"), vocab_size=63)
        save_model(folder / "start", model, WordPiece.from_tokens(pieces, lowercase=True), {})
        config = config_in(folder, seeds=2, trim_vocab=60)
        yield folder, list(pipeline(config, folder / "pipe"))


@pytest.mark.slow
def test_every_stage_is_fine_tuned_with_every_seed_and_reported(done: tuple[Path, list[Event]]) -> None:
    folder, events = done[0] / "pipe", done[1]
    report = figures(folder)
    assert [stage["stage"] for stage in report["stages"]] == list(STAGES)
    assert (report["seeds"], report["split"], report["metric"]) == ([42, 43], "validation", "accuracy")
    for stage in report["stages"]:
        runs = [read_metrics(folder / f"finetune-{stage['stage']}-seed{seed}")[-1] for seed in (42, 43)]
        assert stage["values"] == [run["best_metric"] for run in runs]
        assert stage["mean"] == pytest.approx(statistics.fmean(stage["values"]))
        assert stage["spread"] == pytest.approx(statistics.stdev(stage["values"]))
    assert [run.name for run in reversed(list_runs(folder))] == [
        *("domain", *(f"finetune-{stage}-seed{seed}" for stage in STAGES for seed in (42, 43)), "task")
    ]
    assert all(run.state == "finished" for run in list_runs(folder))
    gained = [event for event in events if isinstance(event, Gained)]
    assert [(event.stage, event.seeds_done) for event in gained] == [
        *(("base", 1), ("base", 2), ("domain", 0), ("domain", 1), ("domain", 2)),
        *(("task", 0), ("task", 1), ("task", 2)),
    ]
    assert gained[-1].values == tuple(report["stages"][2]["values"])
    assert isinstance(events[-1], Finished) and events[-1].path == folder / "report.json"
    assert sum(isinstance(event, Finished) for event in events) == 1
    assert sum(isinstance(event, Started) for event in events) == 8
    assert not list(folder.glob("*/checkpoints"))


@pytest.mark.slow
def test_losses_are_told_from_before_the_first_step_to_after_the_last(done: tuple[Path, list[Event]]) -> None:
    folder = done[0] / "pipe"
    for stage in figures(folder)["stages"][1:]:
        looks = [one for one in read_metrics(folder / stage["stage"]) if one["event"] == "evaluated"]
        assert [one["step"] for one in looks] == list(range(stage["pretraining"]["steps"] + 1))
        losses = [one["metrics"]["mlm_loss"] for one in looks]
        assert (stage["mlm_loss_before"], stage["mlm_loss_after"]) == (losses[0], losses[-1])
    saved = [event.step for event in done[1] if isinstance(event, Saved) and event.path.parts[-3] == "domain"]
    assert saved == [0, 1, 2, 3]


def test_all_runs_of_fine_tuning_differ_in_seed_and_model_alone(done: tuple[Path, list[Event]]) -> None:
    folder = done[0] / "pipe"
    runs = [folder / f"finetune-{stage}-seed{seed}" for stage in STAGES for seed in (42, 43)]
    alike = [with_values(settings_of(run), {"model": "", "seed": 0}) for run in runs]
    assert all(one == alike[0] for one in alike)
    splits = [json.loads((run / "setup" / "setup.json").read_text())["split"]["sha256"] for run in runs]
    assert len(set(splits)) == 1
    asked = [settings_of(folder / stage).objective.next_sentence for stage in STAGES[1:]]
    assert asked == [True, False]  # the rows are single sentences


def test_a_trimmed_vocabulary_is_said_and_the_base_keeps_its_own(done: tuple[Path, list[Event]]) -> None:
    report = figures(done[0] / "pipe")
    assert [stage["vocab_size"] for stage in report["stages"]] == [63, 60, 60]
    assert read_config(done[0] / "pipe" / "finetune-base-seed42" / "model").vocab_size == 63
    assert "own vocabulary of 63 pieces, later stages 60" in report["notes"][-1]


def test_a_model_tells_all_its_stages_in_order(done: tuple[Path, list[Event]]) -> None:
    chain = chain_of(str(done[0] / "pipe" / "finetune-task-seed43" / "model"))
    assert [(stage["task"], stage["from"], stage["run"]) for stage in chain] == [
        ("pretraining", "start", "domain"),
        ("pretraining", "domain", "task"),
        ("classification", "task", "finetune-task-seed43"),
    ]
    assert [stage["text"][0]["name"] for stage in chain[:2]] == ["domain.txt", "task.txt"]
    assert chain[2]["data"]["name"] == "reviews.csv" and chain[2]["seed"] == 43
    assert [stage["steps"] for stage in chain] == [3, 2, 2] and str(done[0]) not in json.dumps(chain)
    assert len(chain_of(str(done[0] / "pipe" / "finetune-base-seed42" / "model"))) == 1


def test_the_report_says_how_far_its_figures_can_be_trusted(done: tuple[Path, list[Event]]) -> None:
    report = figures(done[0] / "pipe")
    mean = report["stages"][0]["mean"]
    assert report["rows"] == {"train": 42, "validation": 11, "test": 0}
    assert report["standard_error_of_rows"] == pytest.approx(math.sqrt(mean * (1 - mean) / 11))
    low, high = report["interval_of_rows"]
    assert (low, high) == wilson_interval(mean * 11, 11)
    said = "\n".join(table(report))
    assert f"95 % interval of the base’s accuracy is {low:.4f} to {high:.4f}" in said and "±" not in said
    assert "without a masked-word head. The loss before domain text" in said
    assert "11 validation rows" in said and "also used to pick each run’s checkpoint" in said
    assert "Number of seeds: 2. From 3 seeds on" in said
    assert [line.split()[0] for line in table(report)[:4]] == ["stage", *STAGES]


def test_the_task_text_is_that_of_the_rows_to_train_on_and_of_no_others(tmp_path: Path) -> None:
    rows = [(f"{text} {'q ' * number}", label) for number, (text, label) in enumerate(reviews(53))]
    pairs = [(text, f"film {'z ' * number}", label) for number, (text, label) in enumerate(rows)]
    write_table(tmp_path / "reviews.csv", pairs, "text,second,label")
    config = config_in(tmp_path, text_pair="second", test_share=0.2, domain_text="", domain_steps=0)
    for event in pipeline(config, tmp_path / "pipe"):
        if isinstance(event, Gained):
            break
    setup = Setup.load(tmp_path / "pipe" / "finetune-base-seed42" / "setup")
    frame = read_table(tmp_path / "reviews.csv").frame
    wanted = [frame[name][row].strip() for row in setup.sets["train"].rows for name in ("text", "second")]
    assert (tmp_path / "pipe" / "task.txt").read_text().split("\n")[:-1] == wanted and len(wanted) == 62


@pytest.mark.slow
def test_a_pipeline_stopped_again_and_again_ends_with_the_same_report(tmp_path: Path) -> None:
    config, kept = config_in(tmp_path), dict[Path, int]()
    list(pipeline(config, tmp_path / "whole"))
    for length in (7, 19, 31, 43, 55, 67, 79, 400):
        task = pipeline(config, tmp_path / "pipe")
        last = list(islice(task, length))[-1]
        task.close()
        assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
        ended = [run for run in list_runs(tmp_path / "pipe") if run.state == "finished"]
        kept = {file: file.stat().st_mtime_ns for run in ended for file in (run.path / "model").iterdir()}
    assert isinstance(last, Finished) and len(ended) == 5
    assert figures(tmp_path / "pipe") == figures(tmp_path / "whole")


@pytest.mark.slow
def test_more_seeds_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    few = config_in(tmp_path, domain_text="", domain_steps=0)
    list(pipeline(few, tmp_path / "pipe"))
    before = figures(tmp_path / "pipe")
    events = list(pipeline(with_values(few, {"seeds": 2}), tmp_path / "pipe"))
    begun = [event.run_dir.name for event in events if isinstance(event, Started)]
    assert begun == ["finetune-base-seed43", "finetune-task-seed43"]
    after = figures(tmp_path / "pipe")
    assert [stage["values"][:1] for stage in after["stages"]] == [
        stage["values"] for stage in before["stages"]
    ]
    assert before["stages"][1]["spread"] is None and after["stages"][1]["spread"] is not None


@pytest.mark.slow
def test_a_test_set_is_what_stages_are_compared_on(tmp_path: Path) -> None:
    config = config_in(tmp_path, domain_text="", domain_steps=0, test_share=0.2)
    events = list(pipeline(config, tmp_path / "pipe"))
    report = figures(tmp_path / "pipe")
    finished = read_metrics(tmp_path / "pipe" / "finetune-task-seed42")[-1]
    assert report["split"] == "test" and report["stages"][1]["values"] == [finished["metrics"]["accuracy"]]
    assert "11 test rows" in report["notes"][0] and "measured once" in report["notes"][1]
    said = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert len(said) == len(set(said))  # what holds for all runs is said once


@pytest.mark.parametrize(("named", "found"), [("reviews.csv", 11), ("domain.txt", 0)])
def test_held_out_texts_within_a_text_that_a_person_names_are_counted_and_said(
    tmp_path: Path, named: str, found: int
) -> None:
    column = "text" if named.endswith("csv") else ""
    config = config_in(tmp_path, domain_text=str(tmp_path / named), domain_column=column)
    said = next(
        event
        for event in pipeline(config, tmp_path / "pipe")
        if isinstance(event, Noted) and "validation and test texts" in str(event.sentence)
    )
    assert (said.level, str(said.sentence).split()[0]) == (
        ("look", f"{found}") if found else ("fine", "None")
    )
    assert json.loads((tmp_path / "pipe" / "held-out.json").read_text()) == [found, 11]


def test_texts_of_a_test_file_are_held_out_too(tmp_path: Path) -> None:
    lines = write_domain(tmp_path / "domain.txt").read_text(encoding="utf-8").split("\n")
    write_table(tmp_path / "test.csv", [(lines[0], "good"), ("b a film !", "bad")])
    config = config_in(tmp_path, test_data=str(tmp_path / "test.csv"))
    for event in pipeline(config, tmp_path / "pipe"):
        if isinstance(event, Started):
            break
    assert json.loads((tmp_path / "pipe" / "held-out.json").read_text()) == [1, 13]


def test_the_settings_of_fine_tuning_hold_after_every_stage(tmp_path: Path) -> None:
    config = config_in(tmp_path, layer_decay=0.9, pooling="mean")
    assert fine_tuning(config, config.stages.model, 7).adapt == config.adapt
    line = pipeline_command(config, tmp_path / "pipe")
    options = parser_of_commands().parse_args(shlex.split(line)[3:])
    assert pipeline_config_from(options) == config and "layer_decay=0.9" in line


def test_a_gain_is_the_mean_of_differences_seed_by_seed() -> None:
    def stage(name: str, *values: float) -> StageResult:
        rows = {"train": 80, "validation": 20, "test": 0}
        runs = [
            FineTuningResult(f"{name}{seed}", seed, "accuracy", "validation", value, value, rows, 3, 9, 1.0)
            for seed, value in enumerate(values)
        ]
        return StageResult(name, "", runs=tuple(runs))

    found, error = gain(stage("task", 0.7, 0.9, 0.8), stage("base", 0.6, 0.8, 0.4))
    assert found == pytest.approx(0.2) and error == pytest.approx(math.sqrt(0.03) / math.sqrt(3))
    assert gain(stage("task", 0.7), stage("base", 0.6)) == (pytest.approx(0.1), None)


def one_stage(metric: str, *values: float, split: str = "validation", **more: Any) -> StageResult:
    """Return a base stage of so many seeds, measured on 50 rows."""
    rows = {"train": 80, "validation": 50, "test": 0}
    runs = [
        FineTuningResult(f"base{seed}", seed, metric, split, value, value, rows, 3, 9, 1.0, **more)
        for seed, value in enumerate(values)
    ]
    return StageResult("base", str(TINY), runs=tuple(runs))


def test_the_report_of_a_correlation_below_nothing_has_its_own_interval() -> None:
    report = report_of([one_stage("pearson", -0.06, -0.02)])
    assert report["interval_of_rows"] == pytest.approx(pearson_interval(-0.04, 50))
    assert report["standard_error_of_rows"] is None
    low, high = report_of([one_stage("pearson", -0.06, -0.02, -0.05)])["stages"][0]["interval"]
    assert -0.2 < low < -0.043 < high < 0.2


def test_the_interval_of_an_entity_f1_is_never_that_of_a_share_of_rows() -> None:
    report = report_of([one_stage("entity_f1", 0.8, 0.7, 0.75, interval=(0.7, 0.9))])
    assert report["interval_of_rows"] == [0.7, 0.9] and "the base’s first run is 0.7000" in report["notes"][0]
    assert report_of([one_stage("entity_f1", 0.8)])["notes"][0] == "Measured on 50 validation rows."


def test_seeds_that_tie_leave_a_gain_as_unsure_as_their_score_is_coarse() -> None:
    rows = {"train": 80, "validation": 100, "test": 0}
    stages = [
        StageResult(name, str(TINY), runs=tuple(
            FineTuningResult(f"{name}{seed}", seed, "accuracy", "validation", value, value, rows, 3, 9, 1.0)
            for seed in range(3)
        ))
        for name, value in (("base", 0.80), ("task", 0.81))
    ]  # fmt: skip
    base, task = report_of(stages)["stages"]
    assert base["interval"][0] < 0.795 and base["interval"][1] > 0.805
    assert task["gain_interval"][0] < 0.005 and task["gain_interval"][1] > 0.015
    for stage in report_of([replace(stage, runs=stage.runs[:2]) for stage in stages])["stages"]:
        assert stage["interval"] is None and stage["gain_interval"] is None


def test_next_sentences_are_asked_for_where_documents_have_several(tmp_path: Path) -> None:
    single, several = tmp_path / "single.txt", write_domain(tmp_path / "several.txt")
    single.write_text("good film\nbad play\na b c\n" * 9, encoding="utf-8")
    assert has_next_sentences(Corpus((several,))) and not has_next_sentences(Corpus((single,), "lines"))
    single.write_text("Good film. Bad play. A b c.\n", encoding="utf-8")
    assert not has_next_sentences(Corpus((single,)))  # one document: nothing to draw wrong ones from


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "new:mini"}, "begins with a trained model, not with new:mini"),
        ({"domain_steps": 0}, "domain text. Give either domain_minutes or domain_steps"),
        ({"task_minutes": 1.0}, "task text. Give either task_minutes or task_steps"),
        ({"domain_text": ""}, "no text. Give domain_text"),
        ({"domain_text": "", "domain_steps": 0, "task_steps": 0}, "no stage to compare with"),
        ({"validation_share": 0.0}, "validation_share is 0, so the gain of a stage cannot be measured"),
        ({"way": "auto"}, "stages are compared on held-out rows"),
        ({"batch_tokens": 4096}, "one step takes 4,096"),
        ({"domain_text": "absent.txt"}, r"There is no file or folder .*absent\.txt"),
        ({"max_length": 50}, "positions for 41 pieces"),
        ({"label": "stars"}, "has no column stars"),
        ({"trim_vocab": 9}, "trim_vocab is 9.*Choose at least 37"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        list(pipeline(config_in(tmp_path, **settings), tmp_path / "pipe"))
    assert not (tmp_path / "pipe").exists()


def test_other_settings_another_table_and_other_work_are_refused(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    for event in pipeline(config, tmp_path / "pipe"):
        if isinstance(event, Started):
            break
    with pytest.raises(UserError, match=r"begun with other settings \(domain_steps, batch_size\)"):
        list(pipeline(with_values(config, {"domain_steps": 9, "batch_size": 7}), tmp_path / "pipe"))
    write_table(tmp_path / "reviews.csv", reviews(54))
    with pytest.raises(UserError, match=r"reviews\.csv or a table with it has changed"):
        list(resume(tmp_path / "pipe"))
    with pytest.raises(UserError, match="is not empty"):
        list(pipeline(config, tmp_path / "start"))


@pytest.mark.slow
def test_the_command_prints_a_table_and_resume_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = (
        "--model start --domain-text domain.txt --domain-steps 2 --data reviews.csv --text text --label label"
    )
    words += " --max-length 23 --num-epochs 1 --seeds 1 --run pipe --set batch_tokens=64 --set device=cpu"
    assert main(["pipeline", *words.split(), "--set", "num_threads=1"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.split("\n")[:3]] == ["stage", "base", "domain"]
    assert "Stage domain: pretraining." in err and "domain: masked-word loss" in err
    assert main(["resume", "pipe"]) == 0 and capsys.readouterr().out == out
