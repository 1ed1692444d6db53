"""The command that writes every number of one text in BERT: anatomy."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.commands.inspect import add_command, add_json, add_text, inspect_command, open_subject
from engine.commands.screen import print_json, show
from engine.durable import check_writable, replaced_file
from engine.errors import UserError, marked
from engine.events import Finished

if TYPE_CHECKING:
    from engine.inspect.anatomy.changes import Changes
    from engine.inspect.anatomy.learning import Lesson
    from engine.inspect.anatomy.vectors import Anatomy
    from engine.inspect.loaded_model import LoadedModel

_HEAD = re.compile(r"([1-9]\d*)\.([1-9]\d*)=([0-9.]+)")
_RESIDUAL = re.compile(r"([1-9]\d*)\.(attention|feed_forward)")
_TOKEN = re.compile(r"(\d+)=(\d+)")
_WEIGHT = re.compile(r"(.+)\[(\d+),\s*(\d+)\]")


def add_anatomy_command(commands: Any) -> None:
    """Add the command to the parser's."""
    said = "write every number of one text in a model, named, as an .npz file"
    anatomy = add_command(commands, "anatomy", _anatomy, said)
    add_text(anatomy)
    anatomy.add_argument("--out", type=Path, help="the .npz to write")
    anatomy.add_argument(
        "--pad-to", type=int, default=0, help="let the model read as many tokens, with [PAD]s"
    )
    for flag, form, words in (
        ("--scale", "LAYER.HEAD=X", "multiply what a head hands on, 0 to 2; 0 is off"),
        ("--no-residual", "LAYER.PART", "leave out what goes round attention or feed_forward"),
        ("--position", "TOKEN=N", "read a token at another position; tokens count from 0"),
        ("--segment", "TOKEN=N", "read a token in another segment"),
    ):
        anatomy.add_argument(flag, action="append", default=[], metavar=form, help=f"{words}; repeatable")
    anatomy.add_argument(
        "--learn", default="", metavar="WORD", help="the word that stood at the first [MASK]"
    )
    anatomy.add_argument(
        "--weight",
        default="",
        metavar="NAME[ROW,COLUMN]",
        help="with --learn: the weight that learns it, by its published name; both count from 0",
    )
    anatomy.add_argument(
        "--rate", type=float, default=0.1, help="with --learn: the learning rate of its step"
    )
    add_json(anatomy, "print the answers at the end, before and after changes, and the lesson, as JSON")


def anatomy_command(folder: Path, text: str, text_pair: str | None, out: Path | str, changes: Changes) -> str:
    """Return the line that writes these numbers without the window."""
    return inspect_command(
        "anatomy",
        folder,
        text,
        text_pair,
        out=out,
        scale=[f"{layer}.{head}={scale:g}" for (layer, head), scale in changes.scales],
        no_residual=[f"{layer}.{part}" for layer, part in sorted(changes.no_residual)],
        position=[f"{place}={position}" for place, position in changes.positions],
        segment=[f"{place}={segment}" for place, segment in changes.segments],
    )


def _anatomy(options: argparse.Namespace) -> int:
    from engine.inspect.anatomy.vectors import trace

    changes = _changes(options)
    if options.out is not None:
        check_writable(options.out)
    elif not (options.learn or options.json):
        raise UserError(marked("engine", "Name the file to write by --out."))
    subject = open_subject(options)
    found = trace(subject, options.text, options.text_pair, changes=changes, pad_to=options.pad_to)
    before = trace(subject, options.text, options.text_pair, pad_to=options.pad_to) if changes else found
    lesson = _lesson(options, subject) if options.learn or options.weight else None
    if options.json:
        print_json(_document(before, found, lesson))
    elif lesson is not None:
        _print_lesson(lesson)
    if options.out is None:
        return 0
    _write(options.out, found)
    return show(iter([Finished(path=options.out, seconds=0.0)]))


def _changes(options: argparse.Namespace) -> Changes:
    from engine.inspect.anatomy.changes import Changes

    scales = [_read("--scale", _HEAD, given) for given in options.scale]
    residuals = [_read("--no-residual", _RESIDUAL, given) for given in options.no_residual]
    positions = [_read("--position", _TOKEN, given) for given in options.position]
    segments = [_read("--segment", _TOKEN, given) for given in options.segment]
    try:
        by_head = {(int(layer), int(head)): float(scale) for layer, head, scale in scales}
    except ValueError as error:
        raise UserError(_FORM, flag="--scale", given=options.scale[0], form="LAYER.HEAD=X") from error
    return Changes(
        tuple(sorted(by_head.items())),
        frozenset((int(layer), part) for layer, part in residuals),
        tuple(sorted({int(place): int(value) for place, value in positions}.items())),
        tuple(sorted({int(place): int(value) for place, value in segments}.items())),
    )


_FORM = marked("engine", "{flag} {given}: write it as {form}.")
_FORMS = {
    "--scale": "LAYER.HEAD=X",
    "--no-residual": "LAYER.attention, LAYER.feed_forward",
    "--position": "TOKEN=N",
    "--segment": "TOKEN=N",
    "--weight": "NAME[ROW,COLUMN]",
}


def _read(flag: str, form: re.Pattern[str], given: str) -> Sequence[str]:
    found = form.fullmatch(given)
    if found is None:
        raise UserError(_FORM, flag=flag, given=given, form=_FORMS[flag])
    return found.groups()


def _lesson(options: argparse.Namespace, subject: LoadedModel) -> Lesson:
    from engine.inspect.anatomy.learning import learn

    if not (options.learn and options.weight):
        template = marked("engine", "--learn names the hidden word and --weight what learns it: give both.")
        raise UserError(template)
    name, row, column = _read("--weight", _WEIGHT, options.weight)
    return learn(
        subject,
        options.text,
        options.text_pair,
        answer=options.learn,
        weight=name.removeprefix("bert."),
        row=int(row),
        column=int(column),
        rate=options.rate,
    )


def _document(before: Anatomy, now: Anatomy, lesson: Lesson | None) -> dict[str, Any]:
    from engine.inspect.anatomy.effect import MASKED, effect, masks, usual_head

    head, hidden = usual_head(now), masks(now)
    places = (hidden or (0,)) if head == MASKED else (0,)
    ends = [
        {"token": place, "answers": [_answer(one) for one in effect(before, now, head, place, count=5)]}
        for place in (places if head else ())
    ]
    document: dict[str, Any] = {"tokens": list(now.pieces), "head": head, "ends": ends}
    if lesson is not None:
        names = ("loss", "probability", "gradient", "before", "after", "loss_after", "probability_after")
        document["lesson"] = {name: getattr(lesson, name) for name in names}
    return document


def _answer(one: Any) -> dict[str, Any]:
    return {"answer": one.name, "before": one.before, "now": one.now}


def _print_lesson(lesson: Lesson) -> None:
    print(f"loss            {lesson.loss:.10f}  (probability {lesson.probability:.10f})")
    print(f"gradient        {lesson.gradient:+.6e}  of {lesson.weight}[{lesson.row},{lesson.column}]")
    print(f"weight          {lesson.before:+.10f} - {lesson.rate:g} x gradient = {lesson.after:+.10f}")
    print(f"loss after it   {lesson.loss_after:.10f}  (probability {lesson.probability_after:.10f})")
    print(f"it falls by     {lesson.loss - lesson.loss_after:.3e}  (by the slope {lesson.slope:.3e})")


def _write(out: Path, found: Anatomy) -> None:
    """Write all arrays by their names, and beside them what the model read."""
    arrays: dict[str, Any] = {
        "pieces": np.array(found.pieces),
        "ids": np.array(found.ids),
        "segments": np.array(found.segments),
        "positions": np.array(found.positions),
        "mask": np.array(found.mask),
        "model": np.array(found.about.name),
        "fingerprint": np.array(found.about.fingerprint),
        **found.arrays,
    }
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)
