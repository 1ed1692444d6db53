"""`doctor`: what is doubtful in a table, with the rows of each finding; mends go into a recipe, not the file.

What a program reads goes to stdout; see command_line.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.commands.screen import print_json, show
from engine.durable import check_writable
from engine.errors import WORD, DataError, UserError, captioned, marked, sentences
from engine.events import Event, Finished, Noted
from engine.hub.recommended import starters_for
from engine.language import said, spoken
from engine.questions.how_read import ReadSettings
from engine.shipped import model_shipped
from engine.text.languages import script_of_texts
from engine.text.read_tokenizer import read_tokenizer
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.doctor.finding import Finding
    from engine.doctor.learned import LearnedRows
    from engine.doctor.part import TablePart
    from engine.text.recipe import Recipe, RecipeStep
    from engine.text.table import Table
    from engine.text.tokenizer import Tokenizer

NO_MODEL = "none"
MOST_SHOWN = 5  # rows of a finding on the screen

KINDS = (  # of findings, as --json names them
    marked("finding", "contradicting_labels"),
    marked("finding", "exact_duplicates"),
    marked("finding", "exact_leaks"),
    marked("finding", "expected_wrong"),
    marked("finding", "header_as_row"),
    marked("finding", "hidden_characters"),
    marked("finding", "lost_characters"),
    marked("finding", "missing_labels"),
    marked("finding", "missing_texts"),
    marked("finding", "mixed_words"),
    marked("finding", "near_duplicates"),
    marked("finding", "near_leaks"),
    marked("finding", "nearly_empty"),
    marked("finding", "never_learned"),
    marked("finding", "other_script"),
    marked("finding", "rare_labels"),
    marked("finding", "row_as_header"),
    marked("finding", "same_label"),
    marked("finding", "similar_labels"),
    marked("finding", "suspected_labels"),
    marked("finding", "too_long"),
    marked("finding", "unknown_labels"),
    marked("finding", "unknown_pieces"),
    marked("finding", "wrong_case"),
    marked("finding", "wrong_language"),
)


def add_doctor_command(commands: Any) -> None:
    """Add the command to the parser's."""
    doctor: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="find duplicates, leaks, label errors and other problems in a table, and fix them in a recipe",
    )
    doctor.add_argument("--data", required=True, type=Path, help=A_TABLE)
    doctor.add_argument("--against", type=Path, action="append", default=[], help="another part; repeatable")
    doctor.add_argument("--text", help="the column to read; default: detected")
    doctor.add_argument("--text-pair", help="a second column, for pairs of texts")
    doctor.add_argument("--label", help="the column of the labels; default: detected where --text is, too")
    doctor.add_argument(
        "--model",
        help="a model folder, for its vocabulary and for vectors to find label errors; "
        "default: the starter model; none: word counts alone",
    )
    doctor.add_argument("--max-length", type=int, default=128, help="Pieces read of each text")
    doctor.add_argument(
        "--run",
        dest="run_dir",
        type=Path,
        metavar="RUN",
        help="a run trained on the file, to list the rows that it never got right or forgot again",
    )
    how_long = doctor.add_mutually_exclusive_group()
    how_long.add_argument("--quick", action="store_true", help="do not look for label errors")
    how_long.add_argument(
        "--closely",
        action="store_true",
        help="also fine-tune the model three times, each without a third of the rows, to find "
        "label errors by its answers; takes as long as four epochs of training",
    )
    doctor.add_argument("--recipe", type=Path, help="a recipe to begin from")
    doctor.add_argument(
        "--mend",
        action="append",
        default=[],
        metavar="KIND",
        help="fix the findings of a kind, such as exact_duplicates or similar_labels; "
        "KIND:together keeps duplicates in one split instead of excluding them; "
        "near_duplicates:0.9 and near_leaks:0.9 exclude those at least this similar; "
        "repeatable; needs --out",
    )
    doctor.add_argument("--out", type=Path, help="the recipe to write: JSON, for finetune --recipe")
    doctor.add_argument("--save-as", type=Path, help="write the fixed table as a new CSV")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON on stdout")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    return show(_examined(options))


def _examined(options: argparse.Namespace) -> Iterator[Event]:
    """Examine, tell and mend."""
    import time

    from engine.doctor.examine import examining, in_order
    from engine.doctor.finding import NewFinding
    from engine.doctor.part import part_name
    from engine.text.recipe import Recipe, read_recipe, write_mended

    start = time.perf_counter()
    _check(options)
    recipe = read_recipe(options.recipe) if options.recipe else None
    parts: list[TablePart] = []
    for place, path in enumerate((options.data, *options.against)):
        name = part_name(path, [part.name for part in parts])
        parts.append((yield from _part(options, path, name, recipe, is_first=not place)))
    table = parts[0].table
    recipe = recipe or Recipe.of(table)
    model, wordpiece = _model(options, parts[0])
    learned = _learned(options.run_dir, table) if options.run_dir is not None else None
    rounds: list[Iterator[Event]] = [examining(parts, wordpiece, options.max_length, learned)]
    if not options.quick and parts[0].has_labels:
        from engine.doctor.suspected import suspecting

        rounds.append(suspecting(parts[0], model, options.max_length, closely=options.closely))
    found: list[Finding] = []
    for one in rounds:
        for event in one:
            if isinstance(event, NewFinding):
                found.append(event.finding)
            else:
                yield event
    ordered = in_order(found)
    if options.json:
        print_json(document(parts[0], ordered, model))
    else:
        for finding in ordered:
            print(*_lines(finding, parts), sep="\n")
        if not ordered:
            print(spoken(marked("engine", "Nothing doubtful was found.")))
    if options.mend:
        recipe = _mended(recipe, ordered, options.mend)
    if options.out:
        recipe.write(options.out)
    if options.save_as:
        write_mended(recipe.applied(replace(table, left_out={})), options.save_as)
    yield Finished(path=options.save_as or options.out, seconds=time.perf_counter() - start)


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot be done, before time is spent. Raises: UserError."""
    if options.mend and not (options.out or options.save_as):
        raise UserError(marked("engine", "Name the file for the recipe with --out."))
    for path in filter(None, (options.out, options.save_as)):
        check_writable(path, options.data)


def _part(
    options: argparse.Namespace, path: Path, name: str, recipe: Recipe | None, *, is_first: bool
) -> Any:
    """Return a file as a part of that name, step by step."""
    from engine.doctor.part import reading_part
    from engine.text.examples import doubt_about_header, guess_roles
    from engine.text.label_sets import label_columns
    from engine.text.roles import Roles, joined_names
    from engine.text.table import reading_table

    table: Table = yield from reading_table(path, **ReadSettings.of(options).named())
    if recipe is not None:
        table = recipe.applied(table) if is_first else recipe.merged(table)
    if options.text:
        roles = Roles.of(options)
    else:
        roles = guess_roles(table)
        if options.label:
            roles = roles.with_columns(label=options.label)
        if (doubt := doubt_about_header(table, roles)) is not None:
            yield Noted(sentence=doubt, level="look")
    label = joined_names(label_columns(table, roles.label)) if roles.label else ""
    return (yield from reading_part(name, table, roles.with_columns(label=label)))


def _learned(run_dir: Path, table: Table) -> LearnedRows:
    """Return how learning went in a run. Raises: DataError where that cannot be told of this file."""
    from engine.doctor.learned import learned_by

    found = learned_by(run_dir)
    if found is None:
        template = marked(
            "engine", "{path} has no record of how its rows were learned. That takes labels and three epochs."
        )
        raise DataError(template, path=run_dir)
    if found.sha256 != table.sha256:
        template = marked("engine", "{path} was trained on another version of {name}.")
        raise DataError(template, path=run_dir, name=table.path.name)
    return found


def _model(options: argparse.Namespace, part: TablePart) -> tuple[Path | None, Tokenizer | None]:
    """Return the model folder, and its tokenizer; of the starter that reads the part's script, which nobody
    chose, no tokenizer.
    """

    if options.model == NO_MODEL:
        return None, None
    if options.model:
        return Path(options.model), read_tokenizer(Path(options.model))
    script = script_of_texts(example.text for example in part.examples)
    return next(filter(None, map(model_shipped, starters_for(script))), None), None


def _mended(recipe: Recipe, found: Sequence[Finding], kinds: Sequence[str]) -> Recipe:
    """Return the recipe with what mends the findings of some kinds. Raises: DataError: none can be."""
    for wanted in (kind for each in kinds for kind in each.split(",")):
        kind, _, how = wanted.partition(":")
        of_kind = [finding for finding in found if finding.kind == kind]
        steps = [step for finding in of_kind for step in _steps(finding, how)]
        if not steps and of_kind:
            raise DataError(marked("engine", "None of the findings has a fix named {name}."), name=wanted)
        recipe = recipe.plus(*(step for step in steps if step.rows or step.labels))
    return recipe


def _steps(finding: Finding, how: str) -> list[RecipeStep]:
    """Return a finding's mends. Args: how: as they are, together, or from which likeness on."""
    from engine.text.recipe import TOGETHER

    if how in ("", TOGETHER):
        return [step for step in finding.mends if (step.do == TOGETHER) == (how == TOGETHER)]
    try:
        step = finding.leaving_out(float(how))
    except ValueError:
        return []
    return [step] if step is not None else []


def document(part: TablePart, found: Sequence[Finding], model: Path | None) -> dict[str, Any]:
    """Return findings for a program."""
    return {
        "data": str(part.table.path),
        "sha256": part.table.sha256,
        "num_rows": part.table.num_rows,
        "model": str(model) if model else NO_MODEL,
        "findings": [_document(finding) for finding in found],
    }


def _document(finding: Finding) -> dict[str, Any]:
    arrays = {
        "rows": finding.rows,
        "twins": finding.twins,
        "similarity": finding.similarity,
        **finding.values,
        **finding.counts,
    }
    partners = {}
    if finding.partners is not None:
        beside = [[{"part": finding.other, "row": row} for row in rows.tolist()] for rows in finding.partners]
        partners = {"partners": beside}
    return {
        "kind": finding.kind,
        "level": finding.level,
        "part": finding.part,
        **({"other": finding.other} if finding.other else {}),
        **{name: _plain(values) for name, values in arrays.items() if values is not None},
        **partners,
        "sentence": str(finding.sentence),
        "why": str(finding.why),
        "advice": str(finding.advice),
    }


def _plain(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return np.round(values.astype(float), 4).tolist() if values.dtype.kind == "f" else values.tolist()
    return values


def _lines(finding: Finding, parts: Sequence[TablePart]) -> list[str]:
    """Return a finding for the screen, with its first rows as lines of the file."""
    found = [
        captioned(spoken(finding.kind, "finding"), finding.sentence),
        f"  {sentences([str(finding.why), str(finding.advice)])}",
    ]
    part = next(part for part in parts if part.name == finding.part)
    cells = part.table.frame[part.roles.text].array
    twins = None if finding.twins is None else finding.twins.tolist()
    rows = finding.to_show if twins is None else finding.rows
    for place, row in enumerate(rows[:MOST_SHOWN].tolist()):
        text = " ".join(str(cells[row]).split())
        values = {"line": part.table.lines[row], "text": text[:90] + "…" * (len(text) > 90)}
        template = marked("engine", "line {line}: {text}")
        if twins is not None:
            other = next(part for part in parts if part.name == finding.other)
            values |= {"twin": other.table.lines[twins[place]], "part": spoken(other.name, WORD)}
            template = marked("engine", "line {line}: {text} [like line {twin} of {part}]")
        found.append(f"  {said(template, **values)}")
    return found
