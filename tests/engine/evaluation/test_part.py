"""A run keeps what its best weights answered, so that its own texts are scored without asking it again."""

from __future__ import annotations

import copy
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from engine.errors import RunError
from engine.evaluation.part import parts_of, run_behind, scoring_part
from engine.evaluation.report import ScoreReport
from engine.events import Evaluated, Noted, Progress, result_of
from engine.model.heads import HeadedEncoder
from engine.model.info import read_info
from engine.settings.finetune import DataConfig
from engine.train.finetune import fine_tune
from engine.train.run.answers import answers_path, load_answers
from engine.train.tasks.known import evaluate_file
from tests.engine.steps import drained
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.engine.train.tasks.test_multi_label import moods, moods_config
from tests.engine.train.tasks.token_labels.tiny_words import tags_config
from tests.fakes import scramble


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("part")
    config = tiny_config(folder, validation_share=0.3, test_share=0.2, num_epochs=3)
    for _ in fine_tune(config, folder / "run"):
        pass
    return folder


@pytest.mark.slow
def test_a_run_shows_its_parts_without_asking_its_model(place: Path) -> None:
    run = place / "run"
    assert parts_of(run) == ("validation", "test")
    assert run_behind(run) == run_behind(run / "model") == run and run_behind(place) is None
    for split, count in (("validation", 16), ("test", 11)):
        events, found = drained(scoring_part(run, split))
        assert not [event for event in events if isinstance(event, Progress) and event.stage == "Evaluating"]
        evaluated = next(event for event in events if isinstance(event, Evaluated))
        assert evaluated.split == split and len(found.each) == len(found.listed) == count
        report = ScoreReport(found)
        assert report.is_of_classes and report.value == evaluated.metrics["accuracy"]
        assert (report.classes.confusion == evaluated.confusion).all()
        rows = reviews()
        for place_, row in enumerate(found.listed.rows.tolist()):
            assert found.listed.lines[place_] == row + 2
            assert found.listed.texts[place_] == rows[row][0]
            assert found.each.names[found.each.true[place_]] == rows[row][1]


@pytest.mark.slow
def test_answers_that_were_kept_are_those_that_the_model_gives(place: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(place / "run", run)
    _, kept = drained(scoring_part(run, "validation"))
    answers_path(run, "validation").write_bytes(b"damaged")
    events, again = drained(scoring_part(run, "validation"))
    assert [event for event in events if isinstance(event, Progress) and event.stage == "Evaluating"]
    assert np.abs(kept.each.probabilities - again.each.probabilities).max() < 1e-5
    assert (kept.each.predicted == again.each.predicted).all()
    assert (kept.listed.texts[0], kept.metric) == (again.listed.texts[0], again.metric)
    path = tmp_path / "own.csv"
    write_table(path, [reviews()[row] for row in kept.listed.rows.tolist()])
    by_file = result_of(evaluate_file(run / "model", DataConfig(data=str(path)), "cpu"))
    assert np.abs(kept.each.probabilities - by_file.each.probabilities).max() < 1e-5
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    path.write_text("\n".join(["review,verdict", *lines]), encoding="utf-8")  # called otherwise
    events, renamed = drained(evaluate_file(run / "model", DataConfig(data=str(path)), "cpu"))
    assert (renamed.each.true == by_file.each.true).all()
    assert "The labels are read from verdict" in " ".join(
        str(event.sentence) for event in events if isinstance(event, Noted)
    )
    assert load_answers(run, "test", 10**6) is None


@pytest.mark.slow
def test_a_run_of_before_has_the_texts_of_its_file_or_of_its_pieces(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.train.tasks.rows.kept import MeasuredRows

    run = tmp_path / "run"
    shutil.copytree(place / "run", run)
    shutil.rmtree(run / "answers")
    plain = {"lines", "utf8", "begins", "pair_utf8", "pair_begins"}
    before = MeasuredRows.from_arrays
    monkeypatch.setattr(
        MeasuredRows,
        "from_arrays",
        lambda arrays: before({k: v for k, v in arrays.items() if k not in plain}),
    )
    _, found = drained(scoring_part(run, "test"))
    rows = found.listed.rows.tolist()
    assert [found.listed.texts[i] for i in range(len(rows))] == [reviews()[row][0] for row in rows]
    moved = (place / "reviews.csv").rename(tmp_path / "elsewhere.csv")
    try:
        _, found = drained(scoring_part(run, "test"))
        assert found.listed.texts[0].split()[:2] == reviews()[rows[0]][0].split()[:2]
        assert set(found.listed.lines.tolist()) == {0}
    finally:
        moved.rename(place / "reviews.csv")


def test_a_part_that_was_not_kept_apart_is_refused(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation_share=0.0, num_epochs=1)
    for _ in fine_tune(config, tmp_path / "run"):
        pass
    with pytest.raises(RunError, match="held out no validation texts"):
        result_of(scoring_part(tmp_path / "run", "validation"))


@pytest.mark.slow
def test_a_part_is_scored_with_the_thresholds_that_the_result_answers_with(tmp_path: Path) -> None:
    write_table(tmp_path / "moods.csv", moods(160))
    run = tmp_path / "run"
    for _ in fine_tune(moods_config(tmp_path, validation_share=0.4, test_share=0.2, num_epochs=2), run):
        pass
    thresholds = read_info(run / "model")["thresholds"]
    assert set(thresholds.values()) != {0.5}
    trained = read_info(run / "model")["trained"]
    reached = result_of(scoring_part(run, "validation")).evaluated.metrics
    assert (
        trained["value"] == reached["micro_f1"] != reached["micro_f1_at_half"] and trained["with_thresholds"]
    )
    for split in ("validation", "test"):
        events, found = drained(scoring_part(run, split))
        answered = found.each.probabilities >= [thresholds[name] for name in found.labels]
        named = ["; ".join(np.array(found.labels, object)[row]) for row in answered]
        assert [found.each.names[place] for place in found.each.predicted] == named
        rows = [moods(160)[row] for row in found.listed.rows.tolist()]
        truth = np.array([[name in labels.split("|") for name in found.labels] for _, labels in rows])
        wanted = f1_score(truth, answered, average="micro", zero_division=0)
        assert found.evaluated.metrics["micro_f1"] == ScoreReport(found).value == pytest.approx(wanted)
        assert [event for event in events if isinstance(event, Evaluated)] == [found.evaluated]
        own = write_table(tmp_path / f"{split}.csv", rows)
        data = DataConfig(data=str(own), text="text", label="label")
        by_file = result_of(evaluate_file(run / "model", data, "cpu"))
        assert by_file.evaluated.metrics["micro_f1"] == pytest.approx(wanted)


@pytest.mark.slow
def test_questions_are_answered_from_the_threshold_on_that_is_kept(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for _ in fine_tune(question_config(tmp_path, impossible=True, validation_share=0.3), run):
        pass
    path = run / "model" / "cloze.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    for threshold in (-1e6, 1e6):  # none is answered; all are
        path.write_text(json.dumps({**about, "threshold": threshold}), encoding="utf-8")
        _, found = drained(scoring_part(run, "validation"))
        said = [found.each.names[place] for place in found.each.predicted.tolist()]
        assert len(said) > 4 and all(not answer for answer in said) == (threshold < 0)


def other_weights(asked: list[str], model: HeadedEncoder) -> HeadedEncoder:
    """Return a model of the same shape that was not trained, in a model's place."""
    asked.append(type(model).__name__)
    other = copy.deepcopy(model)
    scramble(other, 7)
    return other.eval()


@pytest.mark.slow
def test_every_task_keeps_its_answers(tmp_path: Path) -> None:
    for name in ("words", "questions"):
        (tmp_path / name).mkdir()
    configs = {
        "token-labels": tags_config(tmp_path / "words", validation_share=0.3),
        "questions": question_config(tmp_path / "questions", validation_share=0.3),
    }
    for task, config in configs.items():
        run = tmp_path / f"run-{task}"
        for _ in fine_tune(config, run):
            pass
        _, found = drained(scoring_part(run, "validation"))
        report = ScoreReport(found)
        assert found.task == task
        assert report.value == pytest.approx(found.evaluated.metrics[found.metric])
        assert report.interval is not None and report.interval[0] <= report.value <= report.interval[1]
        assert all(len(found.listed.texts[i]) for i in range(len(found.listed)))
        asked = list[str]()
        _, other = drained(scoring_part(run, "validation", "cpu", partial(other_weights, asked)))
        drained(evaluate_file(run / "model", config.data, "cpu", partial(other_weights, asked)))
        assert len(asked) == 2
        assert (other.each.predicted != found.each.predicted).any()  # what stands in is what is measured
        answers_path(run, "validation").unlink()
        _, again = drained(scoring_part(run, "validation"))
        assert (found.each.predicted == again.each.predicted).all() and found.each.names == again.each.names
