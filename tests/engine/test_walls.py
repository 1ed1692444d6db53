"""The engine works where Qt is not installed, and knows nothing of the window."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_QT = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "pyqtgraph", "app"):
            raise ModuleNotFoundError(f"{name} is not here", name=name)

sys.meta_path.insert(0, Absent())
import engine
for module in pkgutil.walk_packages(engine.__path__, "engine."):
    if module.name != "engine.__main__":
        importlib.import_module(module.name)
print(" ".join(sorted(name for name in sys.modules if name.startswith("engine"))))
"""


def engine_files() -> list[Path]:
    return sorted((ROOT / "engine").rglob("*.py"))


@cache
def imported_by(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.slow
def test_every_engine_module_is_imported_where_qt_is_missing() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-W", "error::ImportWarning", "-c", WITHOUT_QT], env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in engine_files()}
    wanted = {name.removesuffix(".__init__") for name in wanted} - {"engine.__main__"}
    assert wanted <= set(done.stdout.split())


@pytest.mark.slow
def test_the_engine_never_imports_the_app_or_qt_not_even_inside_a_function() -> None:
    for file in engine_files():
        tops = {name.partition(".")[0] for name in imported_by(file)}
        assert not tops & {"app", "PySide6", "shiboken6", "pyqtgraph"}, file


@pytest.mark.slow
def test_the_engine_never_unpickles() -> None:
    for file in engine_files():
        assert not imported_by(file) & {"pickle", "joblib", "dill", "shelve", "marshal"}, file
        assert "weights_only=False" not in file.read_text(encoding="utf-8"), file
