"""The commands that ask one question: their parsers, and how an answer is told, follow from it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.commands.screen import answered, print_json, show
from engine.durable import check_writable
from engine.errors import UserError
from engine.events import Finished
from engine.questions.at_hand import ModelsAtHand
from engine.questions.question import Question


def add_question(commands: Any, kind: type[Question[Any]]) -> None:
    """Add the command of a question to the parser's."""
    command: argparse.ArgumentParser = commands.add_parser(kind.name, help=kind.help)
    kind.add_to(command)
    command.set_defaults(run=lambda options: ask(kind.given_by(options)))


def tell_unread(question: Question[Any]) -> None:
    """Say on stderr where the texts that a command names are not read by its model; of a table, what reads
    it says so.
    """
    texts, place = question.texts_named(), question.model.folder
    if not texts:
        return
    from engine.text.unknown import unread, vocabulary_in  # here: what the other commands do without

    is_pair = len(texts) == 2
    found = None
    with suppress(UserError):  # the question itself refuses a folder that is no model
        found = unread(
            vocabulary_in(place),
            texts[:1] if is_pair else texts,
            texts[1:] if is_pair else None,
            by_model=place.is_dir(),
        )
    if found is not None:
        said = [found.sentence, *([found.way] if found.way is not None else [])]
        print(" ".join(map(str, said)), file=sys.stderr)


def ask(question: Question[Any]) -> int:
    """Ask a question, and tell or write its answer as it wants; return the exit code. Raises: UserError."""
    data, outs = getattr(question, "data", None), question.outs()
    for out in outs:
        check_writable(out, Path(data) if data else None)
    question.check()
    tell_unread(question)
    steps = question.answer(ModelsAtHand())
    code, found = answered(steps) if isinstance(steps, Generator) else (0, steps)
    if found is None:
        return code
    for out in outs:
        question.write(found, out)
    if getattr(question, "json", False):
        print_json(question.document(found))
    else:
        for line in question.lines(found):
            print(line, file=sys.stderr if question.lines_are_aside else None)
    if outs and question.is_done_told:
        return show(iter([Finished(path=outs[0], seconds=0.0)]))
    return code
