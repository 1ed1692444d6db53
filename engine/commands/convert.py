"""`convert`: Google's original checkpoints of BERT become model folders."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.commands.screen import answered
from engine.errors import marked
from engine.language import said


def add_convert_command(commands: Any) -> None:
    """Add the command to the parser's."""
    convert = commands.add_parser("convert", help="convert a TensorFlow checkpoint into a model folder")
    convert.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        type=Path,
        help="its folder, its .index, the name that its files begin with, or a zip",
    )
    convert.add_argument("--out", required=True, type=Path, help="the model folder to write")
    casing = convert.add_mutually_exclusive_group()
    casing.add_argument("--cased", action="store_true", help="the vocabulary is cased")
    casing.add_argument("--uncased", action="store_true", help="text is lower-cased")
    convert.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> int:
    from engine.model.convert import converting

    lowercase = None if options.cased == options.uncased else options.uncased
    code, one = answered(converting(options.checkpoint, options.out, lowercase=lowercase))
    if one is not None:
        print(*map(str, one.notes), sep="\n")
        template = marked("engine", "{tensors:,} tensors, {weights:,} weights, opens as {kind}: {folder}")
        values = {"tensors": one.num_tensors, "weights": one.num_weights, "kind": one.kind}
        print(said(template, **values, folder=one.folder))
    return code
