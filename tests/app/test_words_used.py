"""One thing has one name, in short plain sentences: what people read uses the words of app/GLOSSARY.md, none
of those under "not", and no sentence of more than 26 words.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import app
import engine

pytestmark = pytest.mark.slow
PLACE = {"tr": 0, "translate": 1, "marked": 1, "asked": 1, "Option": 1}  # which argument is the text
PLACE |= {"json_field": 0, "out_field": 0, "device_field": 0, "TargetFlag": 2}
HELPS = ("help", "description", "epilog")  # by name, of a command and its flags
MOST_WORDS = 26
GLOSSARY = Path(app.__file__).with_name("GLOSSARY.md")
ROOT = GLOSSARY.parents[1]


def texts_of(call: ast.Call | ast.ClassDef) -> Iterator[str]:
    """Yield the literals that a call, or a class of a question, gives to people."""
    func = vars(call.func) if isinstance(call, ast.Call) else {}
    name = func.get("attr") or func.get("id", "")
    given = call.args[PLACE[name] :][:1] if isinstance(call, ast.Call) and name in PLACE else []
    for one in [*given, *(keyword.value for keyword in call.keywords if keyword.arg in HELPS)]:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


@cache
def strings() -> dict[str, str]:
    """Return every text that a person may see, with the place of one of its uses."""
    found: dict[str, str] = {}
    for file in (one for part in (app, engine) for one in Path(str(part.__file__)).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call | ast.ClassDef):
                place = f"{file.relative_to(ROOT).as_posix()}:{node.lineno}"
                found |= {text: place for text in texts_of(node) if text not in found}
    for file in sorted((ROOT / "assets" / "lectures").glob("*.json")):
        lecture = json.loads(file.read_text(encoding="utf-8"))
        for scene in lecture["scenes"] if lecture["language"] == "en" else ():
            found |= dict.fromkeys((scene["title"], scene["sentence"]), f"{file.name}: {scene['title']}")
    return found


def rows_of(columns: int) -> list[list[str]]:
    """Return the rows of the glossary's table of so many columns."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in rows if len(row) == columns and row[-1] != "not"]


def terms() -> list[tuple[str, list[str]]]:
    """Return the terms, each with the wordings that it replaces."""
    return [(row[0], row[2].split("; ")) for row in rows_of(3)]


def plain_words() -> list[tuple[str, list[str]]]:
    """Return the plain words, each with the wordings that they replace."""
    return [(row[0], row[1].split("; ")) for row in rows_of(2)]


def says(text: str, wording: str) -> bool:
    """Return whether a text has these words, in capitals or not."""
    return re.search(rf"(?<!\w){re.escape(wording)}(?!\w)", text, re.IGNORECASE) is not None


def said_otherwise(texts: dict[str, str], instead: list[tuple[str, list[str]]]) -> list[str]:
    """Return what is wrong with the wordings of texts, by their places."""
    return [
        f"{place}: {text!r} says “{wording}”; better: “{term}”"
        for text, place in texts.items()
        for term, wordings in instead
        for wording in wordings
        if says(text, wording)
    ]


def too_long(texts: dict[str, str]) -> list[str]:
    """Return the texts with a sentence of too many words; a clause of a flag's help counts as one."""
    return [
        f"{place}: {len(sentence.split())} words: {sentence!r}"
        for text, place in texts.items()
        for sentence in re.split(r"(?<=[.!?;])\s+" if text[:1].islower() else r"(?<=[.!?])\s+", text)
        if len(sentence.split()) > MOST_WORDS
    ]


def test_no_text_says_in_other_words_what_the_glossary_names() -> None:
    assert sum(len(wordings) for _, wordings in terms()) > 60 and len(strings()) > 4000
    found = said_otherwise(strings(), terms())
    assert not found, "\n".join(found)


def test_what_people_read_is_in_plain_words() -> None:
    assert sum(len(wordings) for _, wordings in plain_words()) > 20
    found = said_otherwise(strings(), plain_words())
    assert not found, "\n".join(found)


def test_no_sentence_is_longer_than_one_can_hold() -> None:
    found = too_long(strings())
    assert not found, "\n".join(found)


def test_no_caption_begins_with_a_possessive_pronoun() -> None:
    assert [one for one in strings() if re.match(r"(Its|Their) ", one) and one[-1] not in ".}"] == []


def test_an_apostrophe_is_typographic() -> None:
    straight = re.compile(r"(?<=[\w}])'(?=\w)|(?<=s)'(?= \w)")
    found = {text: place for text, place in strings().items() if straight.search(text)}
    assert [f"{place}: {text!r}" for text, place in found.items() if not says(text, "pip install")] == []


def test_a_minus_in_the_window_is_not_a_hyphen() -> None:
    shown = [text for text, place in strings().items() if place.startswith("app/")]
    assert [text for text in shown if re.search(r"(?<![\w-])-\d", text)] == []


def test_the_readme_uses_the_same_words() -> None:
    prose = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = dict.fromkeys(prose.splitlines(), "README.md")
    found = said_otherwise(lines, [*terms(), *plain_words()])
    assert not found, "\n".join(found)


def test_each_term_of_the_glossary_stands_in_the_window() -> None:
    texts = "\n".join(strings())
    assert [term for term, _ in terms() if not says(texts, term)] == []


def test_a_wording_is_found_whatever_its_capitals_and_only_as_whole_words() -> None:
    assert says("Wrong labels take long.", "wrong labels") and says("{task} (guessed)", "(guessed)")
    assert not says("besides what is held out", "beside") and not says("It amends the table.", "mends")


def test_a_bad_sentence_is_found_where_it_is_and_nowhere_else() -> None:
    long = "This sentence goes " + "on and " * 12 + "on."
    texts = {"The answer stands below. Short.": "app/rail.py:1", long: "app/words.py:2"}
    assert [one.partition(":")[0] for one in said_otherwise(texts, [("is", ["stands"])])] == ["app/rail.py"]
    assert [one.partition(":")[0] for one in too_long(texts)] == ["app/words.py"]
