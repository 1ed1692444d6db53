"""What `--help` says, in the language that is spoken: all texts of a parser and of its commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from engine.errors import marked
from engine.language import COMMANDS, SpokenText, spoken

_OF_ARGPARSE = (  # what it asks for itself, so that it is translated
    marked("command", "usage: "),
    marked("command", "argument %(argument_name)s: %(message)s"),
    marked("command", "expected one argument"),
    marked("command", "expected at most one argument"),
    marked("command", "expected at least one argument"),
    marked("command", "invalid choice: %(value)r (choose from %(choices)s)"),
    marked("command", "invalid %(type)s value: %(value)r"),
    marked("command", "not allowed with argument %s"),
    marked("command", "ignored explicit argument %r"),
    marked("command", "the following arguments are required: %s"),
    marked("command", "one of the arguments %s is required"),
    marked("command", "unrecognized arguments: %s"),
    marked("command", "ambiguous option: %(option)s could match %(matches)s"),
)
Said = tuple[str, Callable[[str], None]]  # a text without escapes, and how another takes its place


def speak_help(parser: argparse.ArgumentParser) -> None:
    """Put every text of a parser into the language that is spoken."""
    argparse._ = lambda text: spoken(text, COMMANDS)  # type: ignore[attr-defined] # "usage: " and errors
    for text, put in texts_of(parser):
        in_settings = spoken(text)
        put(spoken(text, COMMANDS) if in_settings == text else in_settings)


def texts_of(parser: argparse.ArgumentParser) -> Iterator[Said]:
    """Yield what is said by a parser and all of its commands; settings say some of it, as they are marked."""
    for name in ("description", "epilog"):
        text = getattr(parser, name)
        if text and not isinstance(text, SpokenText):
            yield text, _putting(parser, name)
    for group in parser._action_groups:
        for name in ("title", "description"):
            if text := getattr(group, name):
                yield text, _putting(group, name)
    for action in parser._actions:
        yield from _of_action(action)
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                yield from _of_action(listed)
            for command in dict.fromkeys(action.choices.values()):
                yield from texts_of(command)


def _of_action(action: argparse.Action) -> Iterator[Said]:
    if action.help and action.help is not argparse.SUPPRESS:
        put = _putting(action, "help")
        yield action.help.replace("%%", "%"), lambda text: put(text.replace("%", "%%"))


def _putting(owner: Any, name: str) -> Callable[[str], None]:
    return lambda text: setattr(owner, name, text)
