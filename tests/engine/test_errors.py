"""What a person can mend is one whole sentence, and none of them fails when it is needed."""

from __future__ import annotations

import ast
import pickle
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ConfigError, DataError, Sentence, UserError, marked
from engine.train.loop import TrainingError

ENGINE = Path(__file__).parents[2] / "engine"


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for file in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield file, node


def is_marked(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "marked"


def wanted_by(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_marked_text_is_a_literal_that_can_be_translated() -> None:
    for file, call in calls():
        if is_marked(call):
            assert [type(argument) for argument in call.args] == [ast.Constant] * 2, f"{file}:{call.lineno}"
            assert ast.literal_eval(call.args[0]) == "engine", f"{file}:{call.lineno}"


def test_every_refusal_is_given_the_values_its_sentence_names() -> None:
    checked = 0
    for file, call in calls():
        given = {keyword.arg for keyword in call.keywords}
        if call.args and is_marked(call.args[0]) and None not in given:
            if not (isinstance(call.func, ast.Name) and call.func.id.endswith("Error")):
                continue
            template = ast.literal_eval(call.args[0].args[1])  # type: ignore[attr-defined]
            assert wanted_by(template) <= given, f"{file}:{call.lineno}"
            checked += 1
    assert checked > 50


def test_every_sentence_is_given_the_values_it_names() -> None:
    for file, call in calls():
        if (
            isinstance(call.func, ast.Name)
            and call.func.id == "Sentence"
            and call.args
            and is_marked(call.args[0])
        ):
            given = call.args[1] if len(call.args) > 1 else ast.Dict([], [])
            if isinstance(given, ast.Dict):
                names = {key.value for key in given.keys if isinstance(key, ast.Constant)}
                template = ast.literal_eval(call.args[0].args[1])  # type: ignore[attr-defined]
                assert wanted_by(template) <= names, f"{file}:{call.lineno}"


@pytest.mark.parametrize(
    "error",
    [
        UserError(marked("engine", "Line {line} is empty."), line=7),
        ConfigError(marked("engine", "{field} is {value}."), field="seed", value=-1),
        DataError(marked("engine", "No rows.")),
        TrainingError(marked("engine", "The loss became {loss}."), loss=float("nan")),
    ],
)
def test_an_error_goes_to_another_process_and_says_the_same(error: UserError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (
        type(copy) is type(error)
        and str(copy) == str(error)
        and copy.sentence.template == error.sentence.template
    )
    assert getattr(copy, "field", None) == getattr(error, "field", None)


def test_a_sentence_keeps_its_template_and_values_apart() -> None:
    sentence = Sentence(marked("engine", "{count} rows."), {"count": 3})
    assert (str(sentence), sentence.template) == ("3 rows.", "{count} rows.")
