"""A graph in ONNX answers as the engine does, and the program beside it runs without the engine."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.commands.command_line import main
from engine.errors import UserError
from engine.events import result_of
from engine.export import onnx
from engine.export.card import CARD
from engine.export.example import EXAMPLE, example_code
from engine.export.heads import INPUTS, Graph, graph_of
from engine.export.int8 import quantizing
from engine.export.onnx import GRAPH, SMALL, exporting
from engine.export.runtime import InItsPlace
from engine.model.bert import Bert, Block
from engine.model.heads import QuestionAnswering, TokenClassifier, on_batch
from engine.model.weights import save_model
from engine.settings.finetune import DataConfig
from engine.text.batch import EncodedRows, collate
from engine.text.tokenizer import TRUNCATIONS
from engine.train.finetune import fine_tune
from engine.train.metrics import wilson_interval
from engine.train.run.runs import read_metrics
from engine.train.tasks.known import CLASSIFICATION, TASKS
from tests.engine.tiny_runs import tiny_config as run_config
from tests.engine.typed import typed
from tests.fakes import (
    LABELS,
    model_folder,
    scramble,
    tiny_classifier,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)

onnxruntime = pytest.importorskip("onnxruntime")
TEXTS = ["good film", "bad play ! good", "a", "playing bad film"]


@pytest.fixture(scope="module", autouse=True)
def each_graph_is_written_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trace no model twice, which takes two seconds: the same weights make the same graph."""
    folder, write, weights = tmp_path_factory.mktemp("graphs"), onnx._write_graph, list[dict[str, Any]]()

    def once(graph: Graph, path: Path, vocab_size: int) -> None:
        about = {"outputs": graph.outputs, "longest": graph.longest, **graph.module.state_dict()}
        place = next((n for n, known in enumerate(weights) if is_same(known, about)), len(weights))
        if place == len(weights):
            write(graph, folder / str(place), vocab_size)
            weights.append(
                {name: one.clone() if isinstance(one, Tensor) else one for name, one in about.items()}
            )
        shutil.copyfile(folder / str(place), path)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(onnx, "_write_graph", once)
        yield


def is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(value, other[name]) if isinstance(value, Tensor) else value == other[name]
        for name, value in one.items()
    )


def made(head: type[Any]) -> nn.Module:
    longest = 97 if head is QuestionAnswering else 41  # a question and room for some of its passage
    labels = LABELS if head is TokenClassifier else ()
    model: nn.Module = head(tiny_config(id2label=labels, max_position_embeddings=longest))
    scramble(model)
    return model.eval()


MODELS = {
    "masked-words": tiny_pretraining,
    "classes": tiny_classifier,
    "tags": lambda: made(TokenClassifier),
    "questions": lambda: made(QuestionAnswering),
    "encoder": lambda: made(Bert),
}
OUTPUTS = {
    "masked-words": ["logits", "next_sentence_logits"],
    "questions": ["start_logits", "end_logits"],
    "encoder": ["last_hidden_state"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_a_graph_of_each_head_answers_any_batch_and_its_program_runs_alone(kind: str, tmp_path: Path) -> None:
    save_model(tmp_path / "model", MODELS[kind](), tiny_wordpiece(), {})
    found = result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    assert found.difference <= 1e-4 and found.num_texts == len(TEXTS)
    session = onnxruntime.InferenceSession(str(tmp_path / "out" / GRAPH), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == OUTPUTS.get(kind, ["logits"])
    ids = np.array([[2, 7, 9, 3, 0, 0, 0], [2, 8, 4, 9, 11, 7, 3]])
    mask = (ids > 0).astype(np.int64)
    there = session.run(
        None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    )
    with torch.inference_mode():
        here = graph_of(tmp_path / "model").module(*map(torch.tensor, (ids, mask, np.zeros_like(ids))))
    for ours, theirs in zip(here if isinstance(here, tuple) else (here,), there, strict=True):
        read = mask > 0 if theirs.shape[:2] == ids.shape else slice(None)
        assert np.allclose(ours.numpy()[read], theirs[read], atol=1e-4)
    asked = {"masked-words": ["good [MASK]"], "questions": ["good film", "a bad play"]}.get(
        kind, ["good film"]
    )
    line = [sys.executable, "-I", str(tmp_path / "out" / EXAMPLE), *asked]
    said = subprocess.run(line, capture_output=True, text=True, check=True, cwd="/").stdout
    assert said.strip() or kind == "questions"
    assert "engine" not in (tmp_path / "out" / EXAMPLE).read_text(encoding="utf-8")
    assert kind != "classes" or all(label in said for label in LABELS)
    assert str(Path(__file__).parents[2]).encode() not in (tmp_path / "out" / GRAPH).read_bytes()
    if kind in ("classes", "tags", "questions"):
        _stands_in(session, kind)
    if kind in ("masked-words", "encoder", "questions"):
        small = result_of(quantizing(tmp_path / "model", tmp_path / "out", TEXTS))
        wanted = {
            "masked-words": r"on \d+ masked words: accuracy 0\.\d+ \(.* at full precision, ",
            "encoder": "cosine of 0.9|cosine of 1",
            "questions": r"(100|75|50|25|0)\.0% of its answers to 4 texts are the same",
        }[kind]
        assert re.search(wanted, " ".join(map(str, small.said)))
        small.drop()
        assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize("kind", MODELS)
@torch.no_grad()
def test_a_graph_multiplies_real_tokens_alone_and_answers_as_the_padded_model(
    kind: str, tmp_path: Path
) -> None:
    model = MODELS[kind]()
    save_model(tmp_path / "model", model, tiny_wordpiece(), {})
    ids = torch.tensor([[2, 9, 3, 0, 0], [2, 8, 4, 7, 3], [0, 0, 0, 0, 0]])  # the last is no text at all
    mask, types = (ids > 0).long(), torch.tensor([[0, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]])
    graph, counts = graph_of(tmp_path / "model").module, list[int]()
    for part in graph.modules():
        if isinstance(part, Block):
            part.intermediate.register_forward_pre_hook(lambda _, given: counts.append(len(given[0])))
    here, there = graph(ids, mask, types), model(ids, types, mask)
    if kind == "masked-words":
        there = model.logits(there.hidden).view(*ids.shape, -1), there.next_sentence
    elif kind == "questions":
        there = there.unbind(-1)
    elif kind == "encoder":
        there = there.last_hidden_state
    for ours, theirs in zip(
        *(one if isinstance(one, tuple) else (one,) for one in (here, there)), strict=True
    ):
        read = mask > 0 if theirs.shape[:2] == ids.shape else slice(2)
        torch.testing.assert_close(ours[read], theirs[read], rtol=1e-5, atol=1e-5)
    real = int(mask.sum()) + 1  # a text without any token has a first one all the same
    assert counts == [real, 3 if kind == "classes" else real]


@pytest.mark.slow
def test_eight_bits_of_numbers_are_told_as_numbers_where_nobody_knows_what_is_right(tmp_path: Path) -> None:
    save_model(tmp_path / "model", tiny_classifier(["score"], problem_type="regression"), tiny_wordpiece())
    result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    small = result_of(quantizing(tmp_path / "model", tmp_path / "out", TEXTS))
    told = re.search(r"numbers for 4 texts differ by (\S+) on average, by (\S+) at most", str(small.said[-1]))
    assert told is not None and 0 < float(told[1]) <= float(told[2])


def _stands_in(session: Any, kind: str) -> None:
    """The graph in the model's place gives what the model gives for a packed batch, filler and rows alike."""
    model, pieces = MODELS[kind](), [np.array([2, 7, 9, 11, 3]), np.array([2, 8, 3]), np.array([2, 9, 3])]
    data = EncodedRows.from_pieces(pieces, [5, 3, 3], [0, 0, 0], [0, 1, 2])
    batch = collate(data, np.array([1, 0, 2]), torch.device("cpu"), 8)
    rows = {"classes": None, "tags": torch.tensor([4, 0, 6]), "questions": None}[kind]
    with torch.inference_mode():
        here, there = (on_batch(one, batch, rows) for one in (model, InItsPlace(session, model.config)))
    count = batch.num_tokens if kind == "questions" else len(here)
    assert here.shape == there.shape and torch.allclose(here[:count], there[:count], atol=1e-4)


def wrong_graph(_graph: Any, path: Path, _vocab_size: int) -> None:
    """Write a graph of the right inputs and outputs that answers the number of tokens, three times."""
    package = pytest.importorskip("onnx")
    helper, kinds = package.helper, package.TensorProto
    inputs = [helper.make_tensor_value_info(name, kinds.INT64, ["B", "T"]) for name in INPUTS]
    nodes = [
        helper.make_node("Cast", [INPUTS[1]], ["mask"], to=kinds.FLOAT),
        helper.make_node("ReduceSum", ["mask", "axis"], ["count"]),
        helper.make_node("Concat", ["count"] * 3, ["logits"], axis=1),
    ]
    axis = helper.make_tensor("axis", kinds.INT64, [1], [1])
    outputs = [helper.make_tensor_value_info("logits", kinds.FLOAT, ["B", 3])]
    made = helper.make_graph(nodes, "wrong", inputs, outputs, [axis])
    path.write_bytes(
        helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    )


@pytest.mark.slow  # the packages take their time to be imported
def test_a_graph_that_answers_otherwise_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(tmp_path / "model", tiny_classifier(), tiny_wordpiece(), {})
    monkeypatch.setattr("engine.export.onnx._write_graph", wrong_graph)
    with pytest.raises(UserError, match="answers differently"):
        result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))


LONG = " ".join(["good film", "a bad play !"] * 9 + ["playing bad bad film"])
ASKED: list[tuple[str, ...]] = [
    ("good film",),
    (LONG,),
    ("",),
    ("good", LONG),
    (LONG, "bad play"),
    (LONG, LONG),
]


def program_of(folder: Path) -> Callable[..., Any]:
    answer: Callable[..., Any] = runpy.run_path(str(folder / EXAMPLE))["answer"]
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("truncation", TRUNCATIONS)
def test_the_program_and_the_tokenizer_cut_a_long_text_where_training_did(
    truncation: str, tmp_path: Path
) -> None:
    folder, notes = tmp_path / "model", {"max_length": 13, "truncation": truncation}
    save_model(folder, tiny_classifier(), tiny_wordpiece(), notes)
    found = result_of(exporting(folder, tmp_path / "out", TEXTS))
    assert found.num_answered == 8  # a short, a long and an empty text, and five pairs
    answer, predictor = program_of(tmp_path / "out"), CLASSIFICATION.predictor(folder, "cpu")
    for texts in ASKED:
        shares = list(answer(*texts)["probabilities"].values())
        assert shares == pytest.approx(predictor.predict(*texts).tolist(), abs=1e-5), texts
    for place in (folder, tmp_path / "out"):
        assert json.loads((place / "tokenizer_config.json").read_text())["model_max_length"] == 13
    assert "13 pieces of a text" in (tmp_path / "out" / CARD).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_program_answers_several_labels_by_the_thresholds_that_were_kept(tmp_path: Path) -> None:
    model = tiny_classifier(problem_type="multi_label_classification")
    notes = {"task": "multi-label", "thresholds": dict(zip(LABELS, (0.05, 0.95, 0.05), strict=True))}
    save_model(tmp_path / "model", model, tiny_wordpiece(), notes)
    result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    answer = program_of(tmp_path / "out")
    ours = TASKS["multi-label"].answering(tmp_path / "model", "cpu")
    for text in TEXTS:
        assert answer(text)["prediction"] == ours({"text": text})["prediction"] == [LABELS[0], LABELS[2]]


@pytest.mark.slow
def test_the_program_reads_a_long_passage_to_its_end_in_windows_as_we_do(tmp_path: Path) -> None:
    notes = {"max_length": 80, "stride": 5, "with_none": True, "threshold": 0.01, "longest_answer": 4}
    save_model(tmp_path / "model", made(QuestionAnswering), tiny_wordpiece(), notes)
    result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    answer, ours = program_of(tmp_path / "out"), TASKS["questions"].answering(tmp_path / "model", "cpu")
    for passage in ("good film", LONG, f"{LONG} {LONG} playing", f"{LONG} ! {LONG} ! {LONG}"):
        asked = {"question": "good film", "context": passage}
        assert answer("good film", passage)["answer"] == ours(asked)["answer"]


@pytest.mark.slow
def test_a_program_that_answers_otherwise_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "model", tiny_classifier(), tiny_wordpiece(), {"max_length": 13})
    right = example_code
    monkeypatch.setattr(
        "engine.export.onnx.example_code", lambda *given: right(*given).replace("LENGTH = 13", "LENGTH = 41")
    )
    with pytest.raises(UserError, match="program with the graph does not answer"):
        result_of(exporting(tmp_path / "model", tmp_path / "out", TEXTS))
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))


def test_what_is_there_already_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(tmp_path / "model", tiny_classifier(), tiny_wordpiece(), {})
    assert main(["export", "--model", str(tmp_path / "model"), "--onnx", str(tmp_path / "model")]) != 0
    assert "already exists" in capsys.readouterr().err


@pytest.mark.slow
def test_eight_bits_are_told_on_the_runs_own_texts_and_kept_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # weights that are more than the graph around them, as any real model's
    model_folder(tmp_path / "start", labels=("bad", "good"), intermediate_size=290)
    list(fine_tune(run_config(tmp_path, num_epochs=1), tmp_path / "run"))
    folder, out = tmp_path / "run" / "model", tmp_path / "out"
    engine = typed(capsys)
    code, said, _ = engine("export", "--model", folder, "--onnx", out, "--int8")
    [reached] = [one for one in read_metrics(tmp_path / "run") if one.get("split") == "validation"]
    right = reached["metrics"]["accuracy"]
    told = re.search(r"on (\d+) validation texts of the run: accuracy (\S+) \((\S+) to (\S+)\) at full", said)
    assert code == 0 and told is not None and float(told[2]) == pytest.approx(right, abs=5e-4)
    low, high = wilson_interval(right * int(told[1]), int(told[1]))
    assert (float(told[3]), float(told[4])) == pytest.approx((low, high), abs=5e-4)
    assert "Not kept. To keep it: " in said and not (out / SMALL).exists()
    assert not list(tmp_path.glob(".out*"))
    assert "95 % over rows" in (out / CARD).read_text(encoding="utf-8")
    data = DataConfig(data=str(tmp_path / "reviews.csv"))
    small = result_of(quantizing(folder, out, TEXTS, data))
    assert small.count == 53 and "texts of reviews.csv" in " ".join(map(str, small.said))
    assert small.keep() == out / SMALL and (out / SMALL).stat().st_size < (out / GRAPH).stat().st_size
    assert "With 8-bit numbers" in (out / CARD).read_text(encoding="utf-8")
    onnxruntime.InferenceSession(str(out / SMALL), providers=["CPUExecutionProvider"])
