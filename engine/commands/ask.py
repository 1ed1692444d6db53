"""The commands that ask one question: their parsers, and how an answer is told, follow from it."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from engine.commands.screen import print_json, show
from engine.durable import check_writable
from engine.events import Event, Finished, Steps
from engine.questions.at_hand import ModelsAtHand
from engine.questions.question import Question

Found = TypeVar("Found")


def add_question(commands: Any, kind: type[Question[Any]]) -> None:
    """Add the command of a question to the parser's."""
    command: argparse.ArgumentParser = commands.add_parser(kind.name, help=kind.help)
    kind.add_to(command)
    command.set_defaults(run=partial(_ask, kind))


def _ask(kind: type[Question[Any]], options: argparse.Namespace) -> int:
    question = kind.given_by(options)
    out: Path | None = getattr(question, "out", None)
    if out is not None:
        check_writable(out, getattr(question, "data", None))
    question.check()
    steps = question.answer(ModelsAtHand())
    code, found = answered(steps) if isinstance(steps, Generator) else (0, steps)
    if found is None:
        return code
    if out is not None:
        question.write(found, out)
    if getattr(question, "json", False):
        print_json(question.document(found))
    else:
        for line in question.lines(found):
            print(line)
    if out is not None and question.is_done_told:
        return show(iter([Finished(path=out, seconds=0.0)]))
    return code


def answered(task: Steps[Found], notes: list[Event] | None = None) -> tuple[int, Found | None]:
    """Run a task that returns an answer, telling its progress; collect what it found and noted, as `show`.

    Returns: the exit code, and the answer unless it was stopped.
    """
    found: list[Found] = []

    def collect() -> Steps[None]:
        found.append((yield from task))

    code = show(collect(), notes)
    return code, found[0] if found else None
