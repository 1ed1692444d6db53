"""One thing has one name: texts use the words of app/GLOSSARY.md, and none that stand there under "not"."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import app
import engine

pytestmark = pytest.mark.slow
PLACE = {"tr": 0, "translate": 1, "marked": 1}  # which argument is the text
GLOSSARY = Path(app.__file__).with_name("GLOSSARY.md")


@cache
def strings() -> dict[str, str]:
    """Return every text that a person may see, with the place of one of its uses."""
    found: dict[str, str] = {}
    for file in (one for part in (app, engine) for one in Path(str(part.__file__)).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = ""
            if isinstance(node, ast.Call):
                name = vars(node.func).get("attr") or vars(node.func).get("id", "")
            if isinstance(node, ast.Call) and name in PLACE:
                text = [one.value for one in node.args[PLACE[name] :][:1] if isinstance(one, ast.Constant)]
                found |= {str(one): f"{file}:{node.lineno}" for one in text}
    return found


def terms() -> list[tuple[str, list[str]]]:
    """Return the terms, each with the wordings that it replaces."""
    rows = [line.strip("| ").split(" | ") for line in GLOSSARY.read_text(encoding="utf-8").splitlines()]
    return [(row[0], row[2].split("; ")) for row in rows if len(row) == 3 and row[0] != "term"]


def says(text: str, wording: str) -> bool:
    """Return whether a text has these words, in capitals or not."""
    return re.search(rf"(?<!\w){re.escape(wording)}(?!\w)", text, re.IGNORECASE) is not None


def test_no_text_says_in_other_words_what_the_glossary_names() -> None:
    instead = [(wording, term) for term, wordings in terms() for wording in wordings]
    assert len(instead) > 60 and len(strings()) > 4000
    found = [
        f"{place}: {text!r} says “{wording}”; the window says “{term}”"
        for text, place in strings().items()
        for wording, term in instead
        if says(text, wording)
    ]
    assert not found, "\n".join(found)


def test_each_term_of_the_glossary_stands_in_the_window() -> None:
    texts = "\n".join(strings())
    assert [term for term, _ in terms() if not says(texts, term)] == []


def test_a_wording_is_found_whatever_its_capitals_and_only_as_whole_words() -> None:
    assert says("Wrong labels take long.", "wrong labels") and says("{task} (guessed)", "(guessed)")
    assert not says("besides what is held out", "beside") and not says("It amends the table.", "mends")
