"""What a person can mend is one whole sentence, and none of them fails when it is needed."""

from __future__ import annotations

import ast
import pickle
import string
import time
from functools import cache
from pathlib import Path

import pytest

from engine.errors import WORD, ConfigError, DataError, Sentence, UserError, filled, marked
from engine.language import COMMANDS, METRIC, TABLE
from engine.train.loop import TrainingError

ENGINE = Path(__file__).parents[2] / "engine"
SIGNS = ("list", "phrase", "clause", "sentence")
CONTEXTS = ("engine", WORD, COMMANDS, TABLE, METRIC, "state", "task", "finding", *SIGNS)


@cache
def calls() -> list[tuple[Path, ast.Call]]:
    trees = [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in sorted(ENGINE.rglob("*.py"))]
    return [(file, node) for file, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]


def is_marked(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "marked"


def wanted_by(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.slow
def test_every_marked_text_is_a_literal_that_can_be_translated() -> None:
    for file, call in calls():
        if is_marked(call):
            assert [type(argument) for argument in call.args] == [ast.Constant] * 2, f"{file}:{call.lineno}"
            assert ast.literal_eval(call.args[0]) in CONTEXTS, f"{file}:{call.lineno}"


@pytest.mark.slow
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


@pytest.mark.slow
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


HUGE = {
    "one word": "x" * 9_000_000,
    "many words": "one, two, " * 900_000,
    "lines": "\n" * 900_000,
    "a path": "/" + "folder/" * 1_000_000,
    "a list": [f"column {number}" for number in range(100_000)],
    "a list of long names": ["y" * 1_000_000] * 9,
    "a shape": tuple(range(100_000)),
    "a number": 10**4000,
    "a sentence": Sentence("{one} {two}", {"one": "z" * 5000, "two": Path("/" + "z" * 5000)}),
    "half a character": "\ud800" * 900,
    "the other way": "\u202e" * 900,
    "nothing": [],
}


@pytest.mark.parametrize("kind", HUGE)
def test_no_sentence_is_longer_than_600_characters_whatever_is_put_in(kind: str) -> None:
    began = time.process_time()
    for spelled in ("{a}", "{a!r}", "{a} and {b} in {c}: {d}. Choose another."):
        text = filled(spelled, dict.fromkeys("abcd", HUGE[kind]))
        assert len(text) <= 600 and text.isprintable()
        text.encode()
    assert time.process_time() - began < 2


@pytest.mark.slow
def test_every_template_leaves_room_for_what_is_put_in() -> None:
    for file, call in calls():
        if is_marked(call):
            assert len(ast.literal_eval(call.args[1])) < 400, f"{file}:{call.lineno}"


def test_a_text_is_quoted_up_to_80_characters_and_a_path_with_both_ends() -> None:
    assert filled("{a}", {"a": "x" * 80}) == "x" * 80
    assert filled("{a}", {"a": "x" * 81}) == "x" * 79 + "…"
    path = Path("/home") / ("x" * 300) / "config.json"
    text = filled("{path}", {"path": path})
    assert len(text) == 200 and text.startswith("/home/x") and text.endswith("x/config.json")
    assert filled("{path}", {"path": str(path)}) == text


def test_a_column_without_a_name_is_told_by_its_number() -> None:
    template = "Line {line} has no text in column {column}."
    assert filled(template, {"line": 7, "column": "column 3"}) == "Line 7 has no text in column 3."
    assert filled(template, {"line": 7, "column": "column 3a"}) == "Line 7 has no text in column column 3a."


def test_a_list_of_names_is_cut_between_names_and_numbers_of_lines_are_not() -> None:
    assert filled("{a}", {"a": ["one", "two"]}) == "one, two"
    text = filled("{a}", {"a": [f"column{number}" for number in range(40)]})
    assert text.endswith(", …") and text.split(", ")[-2] in [f"column{number}" for number in range(40)]
    lines = ", ".join(map(str, range(1000, 1060)))
    assert filled("{lines}", {"lines": lines}) == lines
    assert filled("{shape}", {"shape": (37, 12)}) == "(37, 12)"
