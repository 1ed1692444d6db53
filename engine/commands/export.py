"""`export`: a model folder on its way into another tool."""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.evaluate import data_given
from engine.commands.screen import show
from engine.errors import UserError, marked
from engine.events import Steps

if TYPE_CHECKING:
    from engine.export.int8 import Small

NUM_TEXTS = 200  # that a graph is tried on
KINDS = ("transformers", "sentence-transformers", "onnx", "zip")  # the options of which each writes something
_WRITTEN = {  # option -> what stands for its value, in words; in the order of the table that --help shows
    "transformers": ("DIR", "a folder that transformers opens"),
    "sentence-transformers": ("DIR", "a folder that sentence-transformers opens, for vectors of texts"),
    "pooling": ("KIND", "mean, cls or max: how pieces become one vector; else as the model says, or mean"),
    "normalize": ("", "each vector is set to length 1"),
    "onnx": (
        "DIR",
        "one graph for any batch and length, checked in onnxruntime, and a program that answers by it",
    ),
    "int8": ("", "also in 8-bit numbers, much smaller; what that costs is measured and told"),
    "keep": ("", "and they are kept; else that is asked, where there is somebody to ask"),
    "data": ("FILE", "measured on this labelled file, not on what the run kept for validation"),
    "zip": ("FILE", "all of it in one file"),
}


def add_export_command(commands: Any) -> None:
    """Add the command to the parser's."""
    export = commands.add_parser(
        "export",
        help="write a model for transformers, sentence-transformers or onnxruntime, or all of it as a zip",
        epilog="Each has the model's card beside it (README.md), and was opened again before it is there.",
        formatter_class=partial(argparse.HelpFormatter, max_help_position=34, width=120),
    )
    export.add_argument("--model", required=True, type=Path, help="a model folder")
    written = export.add_argument_group("what is written, one or several at once")
    for name, (value, words) in _WRITTEN.items():
        how: dict[str, Any] = {"metavar": value} if value else {"action": "store_true"}
        if name in KINDS:
            how["type"] = Path
        written.add_argument(f"--{name}", help=words, **how)
    for name in ("text", "text-pair", "label"):
        export.add_argument(f"--{name}", help="a column of --data, where it is not that of the training data")
    export.set_defaults(run=_export, pooling="")


def _export(options: argparse.Namespace) -> int:
    given = [name for name in KINDS if getattr(options, name.replace("-", "_")) is not None]
    if not given:
        raise UserError(
            marked("engine", "Say what to write: {options}."),
            options=", ".join(f"--{name}" for name in KINDS),
        )
    if options.keep and not options.int8:
        raise UserError(marked("engine", "--keep is of --int8: give both."))
    if options.int8 and options.onnx is None:
        raise UserError(marked("engine", "--int8 is of --onnx: give both."))
    for name in given:
        if code := _told(_WRITERS[name](options)):
            return code
    return _int8(options) if options.int8 else 0


def _told(steps: Steps[Any]) -> int:
    """Do one export and tell on stdout what it came to; return the exit code."""
    found: list[Any] = []

    def collecting() -> Steps[None]:
        found.append((yield from steps))

    code = show(collecting())
    for one in found:
        print(f"{getattr(one, 'path', None) or one.folder}: {' '.join(map(str, one.said))}")
    return code


def _transformers(options: argparse.Namespace) -> Steps[Any]:
    from engine.export.folders import writing_folder

    return writing_folder(options.model, options.transformers)


def _sentences(options: argparse.Namespace) -> Steps[Any]:
    from engine.export.folders import writing_sentence_folder

    return writing_sentence_folder(
        options.model, options.sentence_transformers, options.pooling, options.normalize or None
    )


def _onnx(options: argparse.Namespace) -> Steps[Any]:
    from engine.export.onnx import exporting

    texts = yield from _texts(options)
    return (yield from exporting(options.model, options.onnx, texts))


def _zip(options: argparse.Namespace) -> Steps[Any]:
    from engine.export.archive import writing_zip

    texts = yield from _texts(options)
    return (yield from writing_zip(options.model, options.zip, texts))


_WRITERS = {
    "transformers": _transformers,
    "sentence-transformers": _sentences,
    "onnx": _onnx,
    "zip": _zip,
}


def _int8(options: argparse.Namespace) -> int:
    """Make 8-bit numbers, tell what they cost, and keep them if that is asked for after that."""
    from engine.export.int8 import quantizing

    found: list[Small] = []

    def measuring() -> Steps[None]:
        data = data_given(options) if options.data and _is_labelled(options) else None
        texts = yield from _texts(options)
        found.append((yield from quantizing(options.model, options.onnx, texts, data)))

    code = show(measuring())
    for small in found:
        print(*small.said, sep="\n")
        if options.keep or _is_wanted():
            print(f"Kept: {small.keep()}")
        else:
            small.drop()
            line = [
                "python",
                "-m",
                "engine",
                "export",
                "--model",
                str(options.model),
                "--onnx",
                str(options.onnx),
            ]
            line += ["--int8", "--keep", *(["--data", options.data] if options.data else [])]
            print(f"Not kept. To keep it: {shlex.join(line)}")
    return code


def _is_wanted() -> bool:
    """Ask whether to keep it, where somebody sits at a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input("Keep it? [y/N] ").strip().lower() in ("y", "yes")


def _is_labelled(options: argparse.Namespace) -> bool:
    """Whether a model was fine-tuned, so that a file's labels say what is right."""
    from engine.model.inventory import take_stock

    return bool(take_stock(options.model, thorough=False).task)


def _texts(options: argparse.Namespace) -> Steps[list[str]]:
    """Return the texts to try a graph on."""
    from engine.export.tried import texts_for

    data = data_given(options) if options.data else None
    return (yield from texts_for(options.model, data, NUM_TEXTS))
