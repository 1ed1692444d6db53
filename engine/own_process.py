"""The one way to start this program once more, as another process: from a Python, or from a packaged program.

A packaged program is no Python: it cannot be asked for a module by `-m`. It is started by AS_MODULE instead,
which whoever packs it lets `run_as_module` see before anything else.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.language import VARIABLE, spoken_language

AS_MODULE = "--as-module"
MODULES = ("engine", "engine.hub", "engine.export", "engine.text.corpus.cutter_process", "engine.remote")


def command_of(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in a process of its own; one of MODULES, if it is packaged."""
    start = [AS_MODULE] if is_packaged() else ["-m"]
    return [sys.executable, *start, module, *arguments]


def command_words() -> list[str]:
    """Return what a person types before a command's name: in a packaged program there is no Python."""
    return ["cloze", "engine"] if is_packaged() else ["python", "-m", "engine"]


def environment_of(**more: str) -> dict[str, str]:
    """Return the environment in which `command_of` finds this program's packages and speaks its language, and
    more variables.
    """
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(filter(None, places))
    # nothing is imported from the folder that we are in, which may be anybody's
    around = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return {**around, VARIABLE: spoken_language(), **more}


def is_packaged() -> bool:
    """Whether this is a packaged program, which has no Python beside it."""
    return bool(getattr(sys, "frozen", False))


def run_as_module(arguments: Sequence[str]) -> bool:
    """Be the process that `command_of` has started, if these are its arguments; return whether they were."""
    if len(arguments) < 2 or arguments[0] != AS_MODULE or arguments[1] not in MODULES:
        return False
    sys.argv = list(arguments[1:])
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    return True
