"""Graphs of models with other pieces than BERT's, and the program that comes with each."""

from __future__ import annotations

import io
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.commands.stream import stream
from engine.errors import ModelError
from engine.events import result_of
from engine.export.example import EXAMPLE
from engine.export.onnx import GRAPH, exporting
from engine.text.byte_level import MODERNBERT
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.finetune import fine_tune
from engine.train.tasks.known import task_of
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import tiny_config, write_table
from tests.fakes import scramble, tiny_byte_level, tiny_unigram

for needed in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(needed)
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

TOKENIZERS = {
    "Roberta": tiny_byte_level(),
    "XLMRoberta": tiny_unigram(),
    "Camembert": tiny_unigram("camembert"),
    "Albert": tiny_unigram("albert"),
    "ModernBert": tiny_byte_level(MODERNBERT),
}
TEXTS = ("the good film", "a play, café", "playing " * 40, "今天 (12)!")


def made(path: Path, stem: str, head: str = "ForMaskedLM", tokenizer: Tokenizer | None = None) -> Any:
    """Write a random tiny model of transformers' own, its vocabulary beside it."""
    tokenizer = tokenizer or TOKENIZERS[stem]
    own: dict[str, Any] = {} if stem == "ModernBert" else {"type_vocab_size": 1}
    own = {"embedding_size": 7} if stem == "Albert" else own
    config = getattr(transformers, f"{stem}Config")(
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_id,
        bos_token_id=tokenizer.cls_id,
        eos_token_id=tokenizer.sep_id,
        max_position_embeddings=43,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=29,
        attn_implementation="eager",
        **own,
    )
    model = getattr(transformers, f"{stem}{head}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    tokenizer.save(path)
    return model


def tuned(folder: Path, stem: str, **settings: Any) -> Path:
    """Fine-tune one on pairs, a step or two; return the model's folder."""
    made(folder / "start", stem)
    rows = [(f"the {kind} film {x}", "a play", kind) for x in "abcdefghij" for kind in ("good", "bad")]
    write_table(folder / "reviews.csv", rows, "text,other,label")
    values = {"model": str(folder / "start"), "num_epochs": 1, "max_length": 20, **settings}
    list(fine_tune(tiny_config(folder, **values), folder / "run"))
    return folder / "run" / "model"


@pytest.mark.parametrize("stem", TOKENIZERS)
def test_a_classifier_leaves_as_a_graph_that_answers_alike(stem: str, tmp_path: Path) -> None:
    folder = tuned(tmp_path, stem)
    found = result_of(exporting(folder, tmp_path / "out", TEXTS))
    assert found.difference < 1e-4 and found.num_answered >= 3
    answer = runpy.run_path(str(tmp_path / "out" / EXAMPLE))["answer"]
    predictor = task_of(folder).answering(folder, "cpu")
    for text in TEXTS:
        ours, theirs = predictor({"text": text}), answer(text)
        assert ours["prediction"] == theirs["prediction"]
        assert abs(ours["probability"] - theirs["probability"]) < 1e-4
    again = read_tokenizer(tmp_path / "out")
    assert again.tokens == TOKENIZERS[stem].tokens
    said = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "WordPiece" not in said and "20 pieces of a text" in said


@pytest.mark.parametrize("stem", ["Roberta", "Albert"])
def test_a_pair_is_joined_in_the_graphs_program_as_the_family_joins_it(stem: str, tmp_path: Path) -> None:
    folder = tuned(tmp_path, stem, text_pair="other")
    found = result_of(exporting(folder, tmp_path / "out", TEXTS))
    assert found.num_answered == 8  # the longest first, the second empty, both too long
    answer = runpy.run_path(str(tmp_path / "out" / EXAMPLE))["answer"]
    predictor = task_of(folder).answering(folder, "cpu")
    ours = predictor({"text": "the film", "text_pair": "a good play"})
    assert abs(ours["probability"] - answer("the film", "a good play")["probability"]) < 1e-4


@pytest.mark.parametrize("stem", ["Roberta", "XLMRoberta", "ModernBert"])
def test_masked_words_leave_as_a_graph_with_their_own_mask(stem: str, tmp_path: Path) -> None:
    theirs, tokenizer = made(tmp_path / "own", stem), TOKENIZERS[stem]
    found = result_of(exporting(tmp_path / "own", tmp_path / "out", TEXTS))
    assert found.difference < 1e-4
    assert tokenizer.mask_id is not None
    text = f"the {tokenizer.tokens[tokenizer.mask_id]} film"
    done = subprocess.run(
        [sys.executable, str(tmp_path / "out" / EXAMPLE), text], capture_output=True, text=True, check=True
    )
    ids = torch.tensor([tokenizer.encode(text).input_ids])
    with torch.no_grad():
        scores = theirs(input_ids=ids).logits[0, ids[0].tolist().index(tokenizer.mask_id)]
    best = [tokenizer.tokens[number] for number in scores.argsort(descending=True)[:5].tolist()]
    assert json.loads(done.stdout) == [best]


def test_a_model_with_more_rows_than_pieces_never_guesses_one_that_is_none(tmp_path: Path) -> None:
    tokenizer = TOKENIZERS["Roberta"]
    rows = tokenizer.vocab_size + 7
    wide = transformers.RobertaForMaskedLM(
        transformers.RobertaConfig(
            vocab_size=rows, max_position_embeddings=43, hidden_size=12, num_hidden_layers=2,
            num_attention_heads=3, intermediate_size=29, type_vocab_size=1,
        )
    )  # fmt: skip
    with torch.no_grad():
        wide.lm_head.bias[-7:] = 100.0  # which would always win
    wide.save_pretrained(tmp_path / "wide")
    tokenizer.save(tmp_path / "wide")
    for _ in range(2):  # the second over the first
        result_of(exporting(tmp_path / "wide", tmp_path / "out", TEXTS[:2]))
    answer = runpy.run_path(str(tmp_path / "out" / EXAMPLE))["answer"]
    assert all(piece in tokenizer.tokens for piece in answer("the <mask> film")[0])


def test_answers_in_passages_leave_as_a_graph(tmp_path: Path) -> None:
    made(tmp_path / "start", "XLMRoberta")
    list(fine_tune(question_config(tmp_path, max_length=41, max_question=12), tmp_path / "run"))
    found = result_of(exporting(tmp_path / "run" / "model", tmp_path / "out", TEXTS))
    assert found.difference < 1e-4 and found.num_answered == 2


def test_tags_of_words_that_need_the_space_before_them_are_refused_in_a_sentence(tmp_path: Path) -> None:
    made(tmp_path / "start", "Roberta")
    lines = "".join(f"the O\ngood B-x\nfilm {tag}\n\n" for tag in ("O", "B-y") * 8)
    (tmp_path / "tags.conll").write_text(lines, encoding="utf-8")
    values = {"data": str(tmp_path / "tags.conll"), "task": "token-labels", "num_epochs": 1, "max_length": 20}
    config = tiny_config(tmp_path, model=str(tmp_path / "start"), text="", label="", **values)
    list(fine_tune(config, tmp_path / "run"))
    with pytest.raises(ModelError, match="the pieces of a word depend on the space before it"):
        result_of(exporting(tmp_path / "run" / "model", tmp_path / "out", TEXTS))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stem", ["Roberta", "XLMRoberta", "Camembert", "ModernBert"])
def test_each_line_of_a_stream_is_answered(stem: str, tmp_path: Path) -> None:
    folder = tuned(tmp_path, stem)
    asked, out = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode(), io.StringIO()
    assert stream(folder, "cpu", io.BytesIO(asked), out) == 0
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    own = transformers.AutoTokenizer.from_pretrained(folder)
    for text, answer in zip(TEXTS, answers, strict=True):
        given = own(text, return_tensors="pt", truncation=True, max_length=20)
        with torch.no_grad():
            wanted = theirs(**given).logits[0].softmax(-1).numpy()
        assert np.isclose(answer["probability"], wanted.max(), atol=1e-5)
        assert answer["prediction"] == theirs.config.id2label[int(wanted.argmax())]
    assert (folder / "model.safetensors").is_file() and not (folder / GRAPH).exists()
