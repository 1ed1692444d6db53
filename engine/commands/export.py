"""`export`: a model folder on its way into another tool."""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.screen import answered
from engine.errors import UserError, captioned, marked, sentences
from engine.events import Steps
from engine.export.targets.known import TARGETS
from engine.export.targets.target import ExportTarget
from engine.language import said, spoken
from engine.own_process import command_words
from engine.questions.flags import flag_of
from engine.questions.how_read import data_config
from engine.text.roles import ROLE_NAMES

if TYPE_CHECKING:
    from engine.export.int8 import Small


def add_export_command(commands: Any) -> None:
    """Add the command to the parser's."""
    export = commands.add_parser(
        "export",
        help="write a model for transformers, sentence-transformers or onnxruntime, or as one zip",
        epilog="Each export includes the model’s card (README.md), and is reopened and checked "
        "before it is kept.",
        formatter_class=partial(argparse.HelpFormatter, max_help_position=34, width=120),
    )
    export.add_argument("--model", required=True, type=Path, help="a model folder")
    written = export.add_argument_group("what to write, one or several at once")
    for target in TARGETS:
        written.add_argument(
            f"--{target.flag.name}", help=target.flag.help, metavar=target.flag.value, type=Path
        )
        for flag in target.more:
            how: dict[str, Any] = {"metavar": flag.value} if flag.value else {"action": "store_true"}
            written.add_argument(f"--{flag.name}", help=flag.help, **how)
    for name in ROLE_NAMES:
        export.add_argument(
            flag_of(name), help="a column of --data, if its name differs from the training data"
        )
    export.set_defaults(run=_export, pooling="")


def _export(options: argparse.Namespace) -> int:
    given = [target for target in TARGETS if target.place_in(options) is not None]
    if not given:
        raise UserError(
            marked("engine", "Say what to write: {options}."),
            options=[f"--{target.flag.name}" for target in TARGETS],
        )
    if options.keep and not options.int8:
        raise UserError(marked("engine", "--keep needs --int8. Give both."))
    if options.int8 and options.onnx is None:
        raise UserError(marked("engine", "--int8 needs --onnx. Give both."))
    for target in given:
        if code := _told(target, options):
            return code
    return _int8(options) if options.int8 else 0


def _told(target: type[ExportTarget], options: argparse.Namespace) -> int:
    """Do one export and tell on stdout what it came to; return the exit code."""
    data = data_config(options) if options.data else None
    code, one = answered(target.given_by(options, data).writing())
    if one is not None:
        print(captioned(one.path, sentences(map(str, one.said))))
    return code


def _int8(options: argparse.Namespace) -> int:
    """Make 8-bit numbers, tell what they cost, and keep them if that is asked for after that."""
    from engine.export.int8 import quantizing
    from engine.export.tried import texts_for

    def measuring() -> Steps[Small]:
        data = data_config(options) if options.data else None
        texts = yield from texts_for(options.model, data)
        measured = data if _is_labelled(options) else None
        return (yield from quantizing(options.model, options.onnx, texts, measured))

    code, small = answered(measuring())
    if small is not None:
        print(*small.said, sep="\n")
        if options.keep or _is_wanted():
            print(said(marked("engine", "Kept: {path}"), path=small.keep()))
        else:
            small.drop()
            line = [*command_words(), "export", "--model", str(options.model)]
            line += ["--onnx", str(options.onnx)]
            line += ["--int8", "--keep", *(["--data", options.data] if options.data else [])]
            template = marked("engine", "Not kept. To keep it: {command}")
            print(said(template, command=shlex.join(line)))
    return code


def _is_wanted() -> bool:
    """Ask whether to keep it, where somebody sits at a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input(spoken(marked("engine", "Keep it? [y/N] "))).strip().lower() in ("y", "yes")


def _is_labelled(options: argparse.Namespace) -> bool:
    """Whether a model was fine-tuned, so that a file's labels say what is right."""
    from engine.model.inventory import take_stock

    return bool(take_stock(options.model, thorough=False).task)
