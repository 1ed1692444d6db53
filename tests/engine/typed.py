"""A command as it is typed, run in this process: its exit code, what it answers, what it says beside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.commands.command_line import main

Engine = Callable[..., tuple[int, str, str]]


def typed(capsys: pytest.CaptureFixture[str]) -> Engine:
    """Return what runs a command; it gives exit code, stdout and stderr."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as left:
            code = int(left.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def is_one_sentence(err: str) -> bool:
    """Whether a refusal is one line that ends as a sentence does."""
    return err.count("\n") == 1 and err.endswith(".\n") and "Traceback" not in err
