"""How the files know each other: in one direction, and each name from the file that has it.

Read from the syntax alone: an import within a function counts, and so does one for the types only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.model.families.family import BERT
from engine.model.families.known import FAMILIES
from engine.model.families.refused import REFUSED

ROOT = Path(__file__).parents[1]


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax of each file of the two packages, by the name it is imported by."""
    found = {}
    for path in sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("engine/**/*.py")]):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(name: str) -> Iterator[tuple[str, str]]:
    """Yield (module, name in it) of what a file imports from the two packages; no name: the module itself."""
    known = modules()
    for node in ast.walk(known[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if inner in known else (node.module, alias.name)


def a_circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return the first circle of modules that is found, its beginning at both ends; none: empty."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in sorted(arrows[name]):
            if circle := walk(other, [*way, name]):
                return circle
        done.add(name)
        return []

    return next(filter(None, (walk(name, []) for name in sorted(arrows))), [])


def defined(tree: ast.Module) -> set[str]:
    """Return the names that a file gives to something itself."""
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return found | {node.id for node in stored if isinstance(node.ctx, ast.Store)}


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    arrows = {name: {module for module, _name in imported(name)} for name in modules()}
    circle = a_circle(arrows)
    assert not circle, "a circle of imports: " + " -> ".join(circle)


def test_the_search_finds_a_circle_of_three() -> None:
    arrows = {"a": {"b"}, "b": {"c", "d"}, "c": {"d"}, "d": {"b"}}
    assert a_circle(arrows) == ["b", "c", "d", "b"]
    assert a_circle({**arrows, "d": set()}) == []


@pytest.mark.slow
def test_the_window_imports_each_name_from_the_file_that_has_it() -> None:
    homes = {name: defined(tree) for name, tree in modules().items()}
    strays = [
        f"{name}: {wanted} is not in {module}, which only imports it"
        for name in modules()
        if name.startswith("app")
        for module, wanted in imported(name)
        if wanted and module.startswith("app") and wanted not in homes[module]
    ]
    assert not strays, "\n" + "\n".join(strays)


def reached(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, code) of where a file takes a private name of anything but its own objects and classes."""
    own = {"self", "cls", *(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.endswith("__"):
            continue
        code = ast.unparse(node.value)
        if code not in own and code != "super()":
            yield node.lineno, f"{code}.{node.attr}"


@pytest.mark.slow
def test_no_file_of_the_window_reaches_for_another_objects_private_name() -> None:
    strays = [
        f"{name}, line {line}: {code}"
        for name, tree in modules().items()
        if name.startswith("app")
        for line, code in reached(tree)
    ]
    assert not strays, "\n" + "\n".join(strays)


def test_a_private_name_of_another_is_found_wherever_it_stands() -> None:
    tree = ast.parse(
        "class A:\n def f(self):\n  A._made, self._x, super()._y = self.b._z, page.card._w, a.__len__"
    )
    assert [code for _line, code in reached(tree)] == ["self.b._z", "page.card._w"]


def families_named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every family of models but BERT that a file's strings name."""
    own = {name for family in FAMILIES.values() for name in (family.name, family.model_type)}
    others = {name for name, _why, _instead in REFUSED.values()}
    known = re.compile(rf"\b({'|'.join(map(re.escape, (own | others) - {BERT.name, BERT.model_type}))})\b")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, found) for found in known.findall(node.value))


def test_nothing_in_the_window_names_a_family_of_models_which_it_asks_instead() -> None:
    strays = [
        f"{name}, line {line}: {found}"
        for name, tree in modules().items()
        if name.startswith("app")
        for line, found in families_named(tree)
    ]
    assert not strays, "\n" + "\n".join(strays)


def test_a_familys_name_is_found_in_a_string_and_berts_is_none() -> None:
    tree = ast.parse('if config.model_type == "albert" or said == f"a small ELECTRA, {x}":\n "BERT’s layers"')
    assert list(families_named(tree)) == [(1, "albert"), (1, "ELECTRA")]
