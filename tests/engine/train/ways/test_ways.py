"""Few labels: what is taken, what is said of it, and that the model is the one that was judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError
from engine.events import Judged, Progress, Started, Steps, result_of
from engine.model.config import BertConfig
from engine.model.heads import SequenceClassifier
from engine.runs.card import card
from engine.runs.facts import CROSS_VALIDATION, read_facts
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.adapt import FEATURE_RATE, usual_rate
from engine.train.data_notes import on_few, on_steps
from engine.train.finetune import fine_tune
from engine.train.run.runs import read_events
from engine.train.ways.frozen import answers_by_vectors, head_of, put_head
from engine.train.ways.judged import Hits, chosen, hits_of, honest_accuracy
from engine.train.ways.names import AUTO, CONTRASTIVE, FINE_TUNED, PAIRS, REGRESSION, SAID, TFIDF, tried
from engine.train.ways.progress import as_part, bounds_of, timed
from engine.train.ways.regression import Scaling, fit
from engine.train.ways.taught import drawn_pairs, teach_pairs
from tests.engine.tiny_runs import reviews, run_engine, tiny_config, write_table

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("num_labels", "kind"), [(2, "bert"), (4, "bert"), (4, "electra"), (2, "albert")])
def test_a_classifier_with_a_regression_as_its_head_answers_as_the_regression(
    num_labels: int, kind: str
) -> None:
    vectors = RNG.normal(0.3, 2.0, (40, 48)).astype(np.float32)
    targets = RNG.integers(num_labels - 1, size=40)  # the last label has no row
    labels = tuple("abcd"[:num_labels])
    shape = BertConfig(vocab_size=40, hidden_size=24, num_hidden_layers=1, num_attention_heads=2)
    shape = replace(shape, model_type=kind, embedding_size=7)
    model = SequenceClassifier(replace(shape, pooling="first_last", id2label=labels))
    put_head(model, head_of(vectors, targets, num_labels, seed=0))
    with torch.no_grad():
        logits = model.eval().of_firsts(torch.from_numpy(vectors).split(shape.hidden_size, -1))
    found = logits.softmax(-1).numpy()
    scaling = Scaling.of(vectors)
    wanted = fit(scaling.applied(vectors), targets).probabilities(scaling.applied(vectors), num_labels)
    assert np.abs(found - wanted).max() < 1e-4


def test_another_way_than_the_usual_is_taken_only_where_it_surpasses_by_more_than_an_error() -> None:
    plain = np.tile([1.0, 0.0], 50)
    hardly, little, much = plain.copy(), plain.copy(), np.ones(100)
    hardly[:4] = [0.0, 1.0, 1.0, 1.0]
    little[1] = 1.0
    assert chosen({REGRESSION: plain}) == REGRESSION
    assert chosen({REGRESSION: hardly, CONTRASTIVE: plain, FINE_TUNED: 1 - plain}) == CONTRASTIVE
    assert chosen({REGRESSION: much, CONTRASTIVE: plain, FINE_TUNED: plain.copy()}) == REGRESSION
    assert chosen({REGRESSION: plain, CONTRASTIVE: little, FINE_TUNED: much}) == FINE_TUNED


def test_the_best_of_equals_is_not_told_as_better_than_they_are() -> None:
    names, told, naive = (REGRESSION, CONTRASTIVE, FINE_TUNED), [], []
    for draw in range(40):
        rng = np.random.default_rng(draw)
        hits = {name: Hits((rng.random(60) < 0.6).astype(float), 3, 1) for name in names}
        paired = {name: one.each for name, one in hits.items()}
        told.append(honest_accuracy(hits, paired, draw))
        naive.append(hits[chosen(paired)].accuracy)
    assert np.mean(naive) > 0.615 and abs(np.mean(told) - 0.6) < 0.02


def test_the_interval_covers_the_accuracy_on_rows_that_nobody_has_seen() -> None:
    covered = []
    for draw in range(60):
        rng = np.random.default_rng(draw)
        targets = rng.integers(2, size=2032)
        vectors = rng.normal(0, 1, (2032, 16)).astype(np.float32)
        vectors[:, 0] += targets
        few, rest = slice(32), slice(32, None)
        answers = answers_by_vectors(vectors[few], targets[few], 2, seed=0)
        hits = result_of(hits_of(answers, targets[few], 5, 2, draw))
        true = (head_of(vectors[few], targets[few], 2, 0).answers(vectors[rest]) == targets[rest]).mean()
        low, high = hits.interval()
        covered.append(low <= true <= high)
    assert np.mean(covered) >= 0.93


def test_no_row_is_answered_by_who_has_learned_its_repeat() -> None:
    rng = np.random.default_rng(5)
    once, labels = rng.normal(0, 1, (60, 64)).astype(np.float32), rng.integers(2, size=60)
    vectors, targets = np.repeat(once, 2, axis=0), np.repeat(labels, 2)
    answers = answers_by_vectors(vectors, targets, 2, seed=0)
    naive = result_of(hits_of(answers, targets, 5, 2, 0))
    honest = result_of(hits_of(answers, targets, 5, 2, 0, np.repeat(np.arange(60) * 2, 2)))
    assert naive.accuracy > 0.8 and abs(honest.accuracy - 0.5) < 0.2


def test_work_of_several_parts_is_told_as_one_bar_that_only_grows_with_the_time_left() -> None:
    def part(count: int, stage: str) -> Steps[str]:
        for done in range(1, count + 1):
            yield Progress(stage=stage, done=done, total=count)
        return stage

    def whole() -> Steps[str]:
        dear, cheap = bounds_of([30.0, 10.0])
        found = yield from as_part(part(3, "a"), dear)
        return found + (yield from as_part(part(2, "b"), cheap))

    told, now = list[Progress](), iter(range(0, 100, 2))  # each step takes two seconds
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.train.ways.progress.time.perf_counter", lambda: next(now))
        assert result_of(timed(whole(), "Comparing"), told.append) == "ab"
    assert [one.done / one.total for one in told] == [0.25, 0.5, 0.75, 0.875, 1]
    assert {one.stage for one in told} == {"Comparing"}
    assert [one.remaining_s for one in told] == pytest.approx([np.nan, 4, 2, 4 / 3, 0], nan_ok=True)


def test_half_of_the_pairs_share_their_label_and_no_row_is_its_own_partner() -> None:
    targets = np.array([0, 0, 0, 1, 1, 2])
    left, right = drawn_pairs(targets, np.random.default_rng(0))
    same = targets[left] == targets[right]
    assert same.sum() == PAIRS // 2
    own = left == right
    assert not own[targets[left] != 2].any()  # the only row of a label has no other


def test_of_one_label_alone_nothing_is_learned_from_pairs() -> None:
    unasked: Any = None  # a fold may leave so, where rows that repeat each other stay together
    assert not list(teach_pairs(unasked, unasked, np.zeros(9, np.int64), unasked, 1e-3, 0))


def test_what_stands_on_a_frozen_encoder_learns_at_a_rate_of_its_own() -> None:
    shape, frozen = BertConfig(), with_values(FineTuneConfig(), {"encoder": "frozen"})
    assert usual_rate(frozen, shape) == FEATURE_RATE > usual_rate(FineTuneConfig(), shape)


def test_a_run_that_can_learn_little_is_offered_another_method() -> None:
    told = [str(note.sentence) for note in on_steps(6, has_ways=True)]
    assert len(told) == 1 and "6 steps" in told[0] and "--way auto" in told[0]
    assert not list(on_steps(60, has_ways=True)) and "--way" not in str(next(on_steps(6)).sentence)
    assert len(list(on_few(60, 2))) == 1 and not list(on_few(100, 2))


@pytest.mark.slow
def test_the_way_that_auto_takes_is_told_with_its_interval_and_leaves_a_model_that_answers(
    tmp_path: Path,
) -> None:
    config, result = tiny_config(tmp_path), tmp_path / "result.json"
    test = write_table(tmp_path / "test.csv", reviews(40, seed=5))
    asked: list[str | Path] = ["finetune", "--data", config.data.data, "--text", "text", "--label", "label"]
    asked += ["--model", config.model.model, "--way", "auto", "--set", "device=cpu", "--test-data", test]
    code, _, err = run_engine(*asked, "--run", tmp_path / "run", "--json-result", result)
    assert code == 0, err
    found = json.loads(result.read_text())
    assert found["way"] in SAID and found["way"] != "tfidf" and found["rows"] == 53
    assert 0 <= found["interval"][0] <= found["accuracy"] <= found["interval"][1] <= 1
    assert {one["way"] for one in found["ways"]} == set(SAID)
    assert all(one["why"] and (one["accuracy"] is None or one["interval"]) for one in found["ways"])
    code, out, err = run_engine("evaluate", "--model", tmp_path / "run", "--data", test, "--json")
    assert code == 0, err
    assert json.loads(out)["accuracy"] == pytest.approx(found["test"]["accuracy"])
    told = read_facts(tmp_path / "run", tmp_path)
    judged = told.score(CROSS_VALIDATION)
    assert judged is not None and judged.value == found["accuracy"] and told.way == SAID[found["way"]]
    assert list(judged.interval or ()) == found["interval"] and told.way.lower() in card([told], "it").lower()
    assert "nobody can say how good" not in err and "fitted to its end" in " ".join(found["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("way", [REGRESSION, CONTRASTIVE])
def test_a_way_that_is_named_is_taken_and_measured_on_validation_rows(tmp_path: Path, way: str) -> None:
    config = with_values(tiny_config(tmp_path), {"way": way})
    finished = list(fine_tune(config, tmp_path / "run"))[-1]
    about = json.loads((tmp_path / "run/model/cloze.json").read_text())
    assert about["way"] == {"way": way} and about["trained"]["step"] == 0
    assert finished.best_metric == about["trained"]["value"] is not None  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_way_that_is_asked_for_is_taken_whatever_is_found_and_has_steps_that_teach(tmp_path: Path) -> None:
    config = with_values(tiny_config(tmp_path), {"way": AUTO, "take": FINE_TUNED, "num_epochs": 1})
    events = list(fine_tune(config, tmp_path / "run"))
    judged = [event for event in events if isinstance(event, Judged)]
    assert judged[0].taken == "" and judged[-1].taken == FINE_TUNED
    assert {one.way for one in judged[-1].ways if one.accuracy is not None} == {TFIDF, REGRESSION}
    (started,) = (event for event in events if isinstance(event, Started))
    assert started.num_steps >= 60
    kept = [event for event in read_events(tmp_path / "run") if isinstance(event, Judged)]
    assert kept == judged[-1:]


def test_which_ways_are_judged_hangs_on_the_rows_and_their_rarest_label() -> None:
    assert tried([7, 8]) == (REGRESSION, TFIDF) and tried([8, 8])[2:] == (CONTRASTIVE,)
    assert tried([48, 48])[2:] == (CONTRASTIVE, FINE_TUNED) and tried([93, 3])[2:] == ()
    assert tried([48, 48], FINE_TUNED)[2:] == (FINE_TUNED,)


def test_what_a_way_settles_cannot_be_set_beside_it(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    for values in ({"encoder": "frozen"}, {"rare_labels": "weighted"}, {"pooling": "mean"}):
        with pytest.raises(ConfigError, match="settles it") as refused:
            list(fine_tune(with_values(config, {**values, "way": AUTO}), tmp_path / "run"))
        assert refused.value.field == next(iter(values))
    with pytest.raises(ConfigError, match="one label a text"):
        list(fine_tune(with_values(config, {"way": AUTO, "task": "multi-label"}), tmp_path / "run"))
    with pytest.raises(ConfigError, match="the method auto"):
        list(fine_tune(with_values(config, {"take": REGRESSION}), tmp_path / "run"))
    assert not (tmp_path / "run").exists()
