"""CONTRIBUTING and the design notes tell the truth: their paths can be walked, and every file and name that
they give is there.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "engine/DESIGN.md", "app/DESIGN.md")
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
LONGEST_PATH = 12  # stations that a newcomer opens to follow one thing
WALKS = re.findall(r"^## The path of (.+?)\n(.*?)(?=^## |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL)
STATION = re.compile(r"^\| *(\d+) *\| *`([^`]+)` *\| *(.+?) *\|", flags=re.MULTILINE)
NAMED = sorted(
    set(re.findall(r"((?:`[A-Z][\w.]*`(?:, | and )?)+)\s+of\s+`((?:app|engine|tests)/[\w/]+\.py)`", TEXT))
)  # "`NAME` of `file`" in a sentence
FILES = sorted(set(re.findall(r"`((?:app|engine|tests|benchmarks|assets|\.ci)/[^`\s]*)`", TEXT)))


def names_in(file: Path) -> set[str]:
    """Return what a file defines: classes, functions, methods as Class.method, constants and attributes."""
    found: set[str] = set()

    def take(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                take(node.body, f"{prefix}{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            found.update(prefix + one.id for one in targets if isinstance(one, ast.Name))

    take(ast.parse(file.read_text(encoding="utf-8")).body, "")
    return found


def test_the_things_that_a_newcomer_follows_have_their_paths() -> None:
    said = " ".join(title for title, _text in WALKS)
    for thing in ("row", "learning rate", "masked word", "head", "sentence", "remark"):
        assert thing in said, thing


@pytest.mark.parametrize(("title", "text"), WALKS, ids=[title for title, _text in WALKS])
def test_a_path_enters_few_files_each_once_and_all_it_names_is_there(title: str, text: str) -> None:
    stations = STATION.findall(text)
    assert [int(number) for number, _file, _names in stations] == [*range(1, len(stations) + 1)]
    files = [file for _number, file, _names in stations]
    assert 3 <= len(files) <= LONGEST_PATH and len(set(files)) == len(files)
    for _number, file, names in stations:
        assert (ROOT / file).is_file(), file
        wanted = re.findall(r"`([\w.]+)`", names)
        assert wanted, f"{file} says no name"
        assert set(wanted) <= names_in(ROOT / file), file


@pytest.mark.parametrize(("names", "file"), NAMED, ids=[f"{names} of {file}" for names, file in NAMED])
def test_every_name_that_is_said_to_be_of_a_file_is_there(names: str, file: str) -> None:
    assert set(re.findall(r"`([\w.]+)`", names)) <= names_in(ROOT / file)


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_is_named_is_there(name: str) -> None:
    """What stands in angle brackets is any name: app/pages/<page>/page.py."""
    pattern = re.sub(r"<[^>]+>", "*", name).rstrip("/")
    assert [*ROOT.glob(pattern)], name
