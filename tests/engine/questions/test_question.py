"""Every question: what its command line and its file say is the same question; what cannot be is refused."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from engine import library
from engine.inspect.anatomy.changes import PassSettings
from engine.model.model_name import ModelName
from engine.questions.anatomy import TraceQuestion
from engine.questions.attention import AttentionQuestion
from engine.questions.attribute import AttributionQuestion
from engine.questions.cloze import ClozeQuestion
from engine.questions.compare import ComparisonQuestion
from engine.questions.cost import CostQuestion
from engine.questions.embed import EmbeddingQuestion
from engine.questions.evaluate import EvaluationQuestion
from engine.questions.fields import head_names
from engine.questions.fill_mask import FillMaskQuestion
from engine.questions.heads import HeadsQuestion
from engine.questions.how_read import ReadSettings
from engine.questions.known import LOOKING_INSIDE
from engine.questions.label import LabellingQuestion
from engine.questions.layers import LayersQuestion
from engine.questions.meanings import MeaningsQuestion
from engine.questions.next_sentence import NextSentenceQuestion
from engine.questions.pairs import PairsQuestion
from engine.questions.perplexity import SurpriseQuestion
from engine.questions.predict import PredictionQuestion
from engine.questions.prevalence import PrevalenceQuestion
from engine.questions.question import Question
from engine.questions.report import ReportQuestion
from engine.questions.rests_on import RestingWordsQuestion
from engine.questions.templates import TemplatesQuestion
from engine.questions.tokenize import TokenizeQuestion
from engine.questions.word_in_context import WordInContextQuestion
from engine.settings.values import Unfit

MODEL = ModelName(Path("a model"))
DATA, OUT = Path("a file.csv"), Path("out.npz")
CHANGES = PassSettings((((1, 2), 0.5),), frozenset({(1, "attention")}), ((1, 4),))
HOW = ReadSettings("utf-8", "\t", "none", "3")
QUESTIONS: list[Question[Any]] = [
    FillMaskQuestion(MODEL, "good [MASK]"),
    FillMaskQuestion(MODEL, "-x [MASK]", "and 'that'", 7, joint=True, off=("1.2", "3"), json=True),
    NextSentenceQuestion(MODEL, "a", "b", off=head_names([(0, 1), (2, 0)])),
    AttentionQuestion(MODEL, "a", out=OUT),
    AttributionQuestion(MODEL, "a", target="mask", wanted="b", baseline="pad"),
    EmbeddingQuestion(MODEL, DATA, "column", out=OUT, layer=-2, max_length=9, how=HOW),
    SurpriseQuestion(MODEL, "a", "b"),
    HeadsQuestion(MODEL, DATA, "column", label="kind", off=("2",), out=OUT),
    ClozeQuestion(MODEL, DATA, "column", limit=0, how=ReadSettings(separator="|", header="no")),
    PairsQuestion(MODEL, DATA, "first", "second", json=True),
    TemplatesQuestion(MODEL, template="{he|she} is a [MASK]", targets="nurse|pilot"),
    TemplatesQuestion(MODEL, data=DATA),
    RestingWordsQuestion(MODEL, DATA, "column", label="good", method="gradient_x_input"),
    LayersQuestion(MODEL, "a b", hide=(1, 2)),
    WordInContextQuestion(MODEL, "bank", ("a bank", "-"), out=OUT),
    WordInContextQuestion(MODEL, "bank", data=DATA, text="column", out=OUT, how=HOW),
    MeaningsQuestion(MODEL, "bank", ("money | a bank", "river | -", "no meaning"), json=True),
    MeaningsQuestion(MODEL, "bank", data=DATA, text="column", label="kind", how=HOW),
    TraceQuestion(
        MODEL, "a", out=OUT, changes=PassSettings((((1, 2), 0.5),), frozenset({(1, "attention")}), ((1, 4),))
    ),
    TraceQuestion(MODEL, "a", learn="b", weight="x[1, 2]", rate=0.5),
    EvaluationQuestion(
        MODEL, data="a file.csv", label="kind", how=HOW, near=True, temperature="keep", out=OUT
    ),
    ComparisonQuestion(MODEL, other=ModelName(Path("other")), part="test", device="cpu", json=True),
    ReportQuestion(MODEL, data="a file.csv", how=HOW, html=Path("a page.html"), with_texts=True),
    PredictionQuestion(
        MODEL,
        data="a file.csv",
        text="-",
        label="kind",
        how=HOW,
        out=OUT,
        shares=True,
        raw=True,
        journal=Path("some labels.jsonl"),
        recipe=Path("fixes.json"),
    ),
    TokenizeQuestion(MODEL, "a", max_length=7, truncation="head"),
    PrevalenceQuestion(MODEL, data=DATA, text="words", seed=3, how=HOW),
    CostQuestion(MODEL, data=DATA, text="words", other="llm", watts=4.5, how=HOW, json=True),
    LabellingQuestion(MODEL, simulate=True, data=DATA, text="words", label="kind", order="random"),
]
WITH_NOTEBOOK = {
    "fill_mask": FillMaskQuestion,
    "attention": AttentionQuestion,
    "attribute": AttributionQuestion,
}
OWN = ("model", "hear", "label")  # what a question has in other words


def parsed(question: Question[Any], line: str) -> Question[Any]:
    command = argparse.ArgumentParser()
    type(question).add_to(command)
    words = shlex.split(line)
    assert words[:4] == ["python", "-m", "engine", question.name]
    return type(question).given_by(command.parse_args(words[4:]))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: type(one).__name__)
def test_a_line_and_a_file_tell_the_whole_question(question: Question[Any]) -> None:
    there = parsed(question, question.command())
    assert there == question and dataclasses.asdict(there) == dataclasses.asdict(question)
    document = json.loads(json.dumps(question.to_json()))
    assert document["question"] == question.name
    back = type(question).from_json(document)
    assert back == question and hash(back) == hash(question)


def test_every_question_is_tried() -> None:
    others = EvaluationQuestion, ComparisonQuestion, ReportQuestion, PredictionQuestion, TokenizeQuestion
    shares = PrevalenceQuestion, CostQuestion, LabellingQuestion
    assert {*LOOKING_INSIDE, *others, *shares} == {type(question) for question in QUESTIONS}


def test_what_is_at_its_default_is_left_out_of_the_line_and_a_dash_is_no_flag() -> None:
    assert QUESTIONS[0].command() == "python -m engine fill-mask --model 'a model' 'good [MASK]'"
    assert QUESTIONS[1].command().split(" -- ")[0].endswith(" --top-k 7 --joint --off 1.2 --off 3 --json")


def test_a_model_trained_anew_is_another_question_and_where_it_is_printed_is_not() -> None:
    asked = FillMaskQuestion(ModelName(Path("m"), "abc"), "x")
    assert asked != FillMaskQuestion(ModelName(Path("m"), "def"), "x")
    assert asked == dataclasses.replace(asked, json=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("top_k", 0), ("top_k", 2.5), ("top_k", True), ("text", 5), ("text", "x" * 20_001), ("joint", 1)]
    + [("words", [1, "a"]), ("words", [-1]), ("pieces", [1] * 5_001), ("off", "1.2"), ("model", "m")],
)
def test_a_file_with_what_cannot_be_is_refused_by_name(name: str, value: object) -> None:
    document = QUESTIONS[0].to_json() | {name: value}
    with pytest.raises(Unfit) as refused:
        FillMaskQuestion.from_json(document)
    assert refused.value.name in (name, "folder")
    del document[name]
    with pytest.raises(Unfit, match=name):
        FillMaskQuestion.from_json(document)


@pytest.mark.parametrize("name", WITH_NOTEBOOK)
def test_a_function_of_the_notebook_asks_as_the_command_does(name: str) -> None:
    fields = {field.name: field for field in dataclasses.fields(WITH_NOTEBOOK[name])}
    for one in inspect.signature(getattr(library, name)).parameters.values():
        if one.name not in OWN:
            default = dataclasses.MISSING if one.default is inspect.Parameter.empty else one.default
            assert fields[one.name].default == default
