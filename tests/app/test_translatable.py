"""What lupdate collects is what the window asks for: contexts and texts are literals, the contexts true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import app

pytestmark = pytest.mark.slow
FILES = sorted(Path(app.__file__).parent.rglob("*.py"))
INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
NAMES_IN_PAPERS = {"WordPiece", "GloVe"}
LOOKED_UP = {
    ("words.py", "translate('engine', text)"),  # what the engine has marked
    ("rail.py", "translate('rail', page.title)"),  # what the rail has
    ("rail.py", "translate('rail', heading)"),
    ("words.py", "translate(one.__name__, text)"),  # what a class says by its tr
}


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Return all that the window's code is made of, each with its file's name."""
    trees = [(file.name, ast.parse(file.read_text(encoding="utf-8"))) for file in FILES]
    return [(name, node) for name, tree in trees for node in ast.walk(tree)]


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of a function or method of this name in the window's code, with their file's name."""
    for file, node in nodes():
        if isinstance(node, ast.Call) and name in (vars(node.func).get("attr"), vars(node.func).get("id")):
            yield file, node


@pytest.mark.slow
def test_tr_is_only_asked_of_self_whose_class_lupdate_takes_as_context() -> None:
    found = [
        (file, ast.unparse(call))
        for file, call in calls("tr")
        if ast.unparse(call.func) != "self.tr" or not isinstance(call.args[0], ast.Constant)
    ]
    assert found == []


@pytest.mark.slow
def test_translate_is_given_a_context_and_a_text_as_literals() -> None:
    asked = [
        (file, call) for file, call in calls("translate") if ast.unparse(call.func) != "painter.translate"
    ]
    found = {
        (file, ast.unparse(call))
        for file, call in asked
        if len(call.args) < 2 or not all(isinstance(arg, ast.Constant) for arg in call.args[:2])
    }
    assert len(asked) > 100
    assert found == LOOKED_UP


@pytest.mark.slow
def test_no_other_name_stands_for_tr_or_translate() -> None:
    renamed = [
        (file, ast.unparse(node))
        for file, node in nodes()
        if isinstance(node, ast.Assign) and ast.unparse(node.value).rpartition(".")[2] in ("tr", "translate")
    ]
    renamed += [
        (file, ast.unparse(call)) for file, call in calls("partial") if "translate" in ast.unparse(call)
    ]
    assert {name for _file, name in renamed} == {"translate = QCoreApplication.translate"}


@pytest.mark.slow
def test_no_word_for_a_person_is_the_name_of_a_class() -> None:
    """A class that is renamed everywhere must not take the words of a caption with it."""
    classes = {node.name for _file, node in nodes() if isinstance(node, ast.ClassDef)}
    classes |= {
        alias.name for _file, node in nodes() if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    ours = {name for name in classes if INNER_CAPITAL.search(name)} - NAMES_IN_PAPERS
    said = [
        (file, text.value)
        for name in ("tr", "translate", "marked")
        for file, call in calls(name)
        for text in call.args[-1:]
        if name == "tr" or len(call.args) > 1
        if isinstance(text, ast.Constant)
    ]
    assert len(said) > 2000
    assert [(file, text) for file, text in said if ours & set(re.findall(r"\w+", text))] == []
