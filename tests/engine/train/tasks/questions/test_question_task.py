"""The loss of questions beside that of `transformers`, and what is measured of the scores."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.events import result_of
from engine.model.heads import QuestionAnswering
from engine.model.names import published_names
from engine.model.weights import load_headed
from engine.text.batch import Batch, EncodedRows, collate
from engine.text.questions.windows import UNKNOWN, cutting
from engine.train.answer_scores import score_answers
from engine.train.run.records import count_of
from engine.train.task import Measures
from engine.train.tasks.questions.details import mistakes_in, scores_by_word, threshold_in
from engine.train.tasks.questions.kept import QuestionRows
from engine.train.tasks.questions.task import QuestionTask
from tests.engine.read_at_once import read_questions
from tests.engine.tiny_questions import squad, write_squad
from tests.fakes import scramble, tiny_config, tiny_wordpiece

LENGTH, TASK = 13, QuestionTask(with_none=True)


def windows_of(targets: list[tuple[int, int]], lengths: list[int]) -> EncodedRows:
    rng = np.random.default_rng(3)
    pieces = [rng.integers(5, 37, length).astype(np.int32) for length in lengths]
    plain = EncodedRows.from_pieces(pieces, [5] * len(pieces), [0] * len(pieces), range(len(pieces)))
    return dataclasses.replace(plain, targets=np.array(targets))


def batch_of(targets: list[tuple[int, int]], lengths: list[int]) -> Batch:
    return collate(windows_of(targets, lengths), np.arange(len(lengths)), multiple=8)


def question_set(folder: Path, *, impossible: bool = False) -> QuestionRows:
    questions = read_questions(write_squad(folder / "asked.json", squad(4, impossible=impossible)))
    windows, _ = result_of(cutting(questions, tiny_wordpiece(), max_length=29, stride=9, max_question=4))
    return QuestionRows.over(windows, questions)


def measured(task: QuestionTask, answers: np.ndarray, data: EncodedRows) -> Measures:
    return result_of(task.measure(answers.astype(np.float32), data))


def perfect(data: QuestionRows) -> np.ndarray:
    """Return scores that say what the targets say."""
    scores = np.zeros((len(data.input_ids), 2))
    for place in (0, 1):
        scores[data.bounds[:-1] + np.maximum(data.targets[:, place], 0), place] = 9.0
    return scores


@pytest.mark.parametrize("unknown", [False, True])
def test_loss_and_gradients_equal_those_of_transformers(tmp_path: Path, unknown: bool) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**tiny_config(id2label=("a", "b")).to_json())
    reference = transformers.BertForQuestionAnswering(config).eval()
    scramble(reference, seed=2)
    reference.save_pretrained(tmp_path)
    ours, _ = load_headed(tmp_path, QuestionAnswering)
    targets = [(7, 9), (0, 0), (UNKNOWN, UNKNOWN) if unknown else (12, 12), (6, 11)]
    batch = batch_of(targets, [LENGTH] * 4)
    loss, _ = TASK.loss(ours, batch, TASK.count([batch]))
    loss.backward()  # type: ignore[no-untyped-call]
    wide: dict[str, Tensor] = {
        name: getattr(batch, name)[: 4 * LENGTH].view(4, LENGTH) for name in ("input_ids", "token_type_ids")
    }
    # places outside the window are left out there
    places = torch.tensor([[LENGTH if one < 0 else one for one in pair] for pair in targets])
    expected: Any = reference(**wide, start_positions=places[:, 0], end_positions=places[:, 1]).loss
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    gradients = {name: one.grad for name, one in reference.named_parameters()}
    for name, one in ours.named_parameters():
        pieces = torch.cat([gradients[published] for published in published_names(name)])
        assert one.grad is not None
        assert float((one.grad - pieces).abs().max()) <= 1e-5 * max(1.0, float(pieces.abs().max())), name


def test_a_step_in_parts_has_the_loss_of_the_whole_and_longer_neighbours_change_nothing() -> None:
    model = QuestionAnswering(tiny_config()).eval()
    scramble(model, 4)
    targets, lengths = [(7, 9), (6, 6), (UNKNOWN, UNKNOWN), (0, 0)], [17, 13, 11, 8]
    whole = batch_of(targets, lengths)
    data = windows_of(targets, lengths)
    parts = [collate(data, np.array(one), multiple=8) for one in ([0], [1, 2], [3])]
    totals = TASK.count(parts)
    assert totals.tolist() == [3.0]
    loss, tally = TASK.loss(model, whole, totals)
    apart = sum(float(TASK.loss(model, part, totals)[0].detach()) for part in parts)
    assert float(loss.detach()) == pytest.approx(apart, rel=1e-5)
    scores = TASK.decode(TASK.forward(model, whole)).detach().numpy()
    found = QuestionTask(with_none=False)
    assert scores.shape == (sum(lengths), 2)
    assert found.read(tally, totals).loss == pytest.approx(apart, rel=1e-5)


def test_a_step_whose_answers_are_all_unknown_moves_nothing() -> None:
    model = QuestionAnswering(tiny_config()).eval()
    batch = batch_of([(UNKNOWN, UNKNOWN)] * 2, [9, 8])
    loss, _ = TASK.loss(model, batch, TASK.count([batch]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == 0.0
    assert all(one.grad is None or not one.grad.any() for one in model.parameters())


def test_perfect_scores_are_measured_as_all_right(tmp_path: Path) -> None:
    data = question_set(tmp_path)
    found = measured(QuestionTask(with_none=False), perfect(data), data)
    assert found.metrics == {"exact_match": 1.0, "f1": 1.0}
    assert found.details["mistakes"] == [] and found.details["num_examples"] == 16
    assert found.details["words"] == {"other": [1.0, 1.0, 16]} and "threshold" not in found.details


def test_the_measured_loss_is_that_of_training(tmp_path: Path) -> None:
    data = question_set(tmp_path)
    model = QuestionAnswering(tiny_config()).eval()
    scramble(model, 4)
    task = QuestionTask(with_none=True)
    batch = collate(data, np.arange(len(data)))
    loss, _ = task.loss(model, batch, task.count([batch]))
    scores = task.decode(task.forward(model, batch)).detach().numpy()
    assert measured(task, scores, data).loss == pytest.approx(float(loss.detach()), rel=1e-5)


def test_wrong_answers_are_kept_with_places_that_the_passage_has(tmp_path: Path) -> None:
    data = question_set(tmp_path)
    rng = np.random.default_rng(0)
    task = QuestionTask(with_none=False)
    found = measured(task, rng.normal(size=(len(data.input_ids), 2)), data)
    assert len(found.details["mistakes"]) == round((1 - found.metrics["exact_match"]) * 16) > 0
    sureness = [one["probability"] for one in found.details["mistakes"]]
    assert sureness == sorted(sureness, reverse=True)
    passages = {one.id: data.questions.passage_of(one) for one in data.questions.questions}
    for one in found.details["mistakes"]:
        passage = passages[one["id"]]
        assert passage[one["start"] : one["stop"]] == one["answer"] == one["candidates"][0][0]
        begin = one["excerpt_start"]
        assert passage[begin : begin + len(one["excerpt"])] == one["excerpt"]
        assert all(passage[start:stop] == text for text, start, stop in one["right"])


def test_a_threshold_leaves_questions_unanswered_and_is_told_by_both_halves(tmp_path: Path) -> None:
    data = question_set(tmp_path, impossible=True)
    scores = perfect(data)
    right = measured(QuestionTask(with_none=True), scores, data)
    assert {"has_answer_f1", "no_answer_f1"} <= set(right.metrics) and right.metrics["f1"] == 1.0
    never = measured(QuestionTask(with_none=True, threshold=-100.0), scores, data)
    assert never.details["answered"] == 0 and never.metrics["has_answer_f1"] == 0.0
    assert [level for _, level in TASK.remarks(never, "validation")] == ["wrong"]
    told = right.details["threshold"]
    assert told["used"] == 0.0 and told["num_chosen"] + told["num_reported"] == 16


def test_a_set_comes_back_from_its_arrays_and_one_that_was_edited_does_not_fit(tmp_path: Path) -> None:
    data = question_set(tmp_path, impossible=True)
    again = QuestionRows.from_arrays(data.arrays())
    assert again.fits(37) and again.questions.questions == data.questions.questions
    texts = score_answers(again.questions, np.arange(16), [""] * 16)
    assert texts.summary() == score_answers(data.questions, np.arange(16), [""] * 16).summary()
    hostile: dict[str, np.ndarray] = {
        "document": np.frombuffer(bytearray(b'{"passages": 3}'), np.uint8),
        "spans": data.spans + 1000,
        "owned": data.owned + 1,
        "first": data.first - 1,
        "window_bounds": data.window_bounds[:-1],
        "passages": data.passages + 100,
        "targets": data.targets + 1000,
        "span_bounds": data.span_bounds[::-1].copy(),
        "rows": data.rows + 99,
    }
    for name, value in hostile.items():
        assert not QuestionRows.from_arrays({**data.arrays(), name: value}).fits(37), name


def test_details_that_were_edited_are_left_out_and_whole_ones_come_back(tmp_path: Path) -> None:
    data = question_set(tmp_path, impossible=True)
    scores = np.random.default_rng(0).normal(size=(len(data.input_ids), 2))
    details = json.loads(json.dumps(measured(QuestionTask(with_none=True), scores, data).details))
    listed = mistakes_in(details)
    assert len(listed) == len(details["mistakes"]) > 3
    assert listed[0].question == details["mistakes"][0]["question"]
    assert sum(count for *_, count in scores_by_word(details).values()) == 16
    assert threshold_in(details)["num_chosen"] == details["threshold"]["num_chosen"]
    spoilt = [{**details["mistakes"][0], name: value} for name, value in HOSTILE]
    assert mistakes_in({"mistakes": [*spoilt, 7, None, *details["mistakes"][:1]]}) == listed[:1]
    for odd in ({}, {"mistakes": {}, "words": [1], "threshold": "x", "num_examples": -1}):
        assert mistakes_in(odd) == [] and scores_by_word(odd) == {} and threshold_in(odd) == {}
        assert count_of(odd, "num_examples") == 0
    words = {"who": [2.0, 0.5, 3], "what": [0.5, 0.5, "x"], "why": [0.5, 0.5, 2]}
    assert scores_by_word({"words": words}) == {"why": (0.5, 0.5, 2)}
    assert threshold_in({"threshold": {**details["threshold"], "value": float("nan")}}) == {}


HOSTILE: list[tuple[str, Any]] = [
    ("question", 3),
    ("start", "4"),
    ("right", [["a", "b", 3]]),
    ("right", "film"),
    ("candidates", [["a", 1, 2]]),
    ("probability", None),
]
