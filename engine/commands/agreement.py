"""`agreement`: how far two columns of labels agree, and where they differ: of a second person, or a model.

What a program reads goes to stdout; see command_line.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.screen import answered, print_json
from engine.errors import marked
from engine.events import Steps
from engine.language import heads, said, spoken
from engine.questions.how_read import ReadSettings
from engine.questions.writing import aligned
from engine.shipped import model_named

if TYPE_CHECKING:
    from engine.labelling.agreement import Agreement, Measure
    from engine.labelling.cost import LabelCost
    from engine.text.table import Table

MOST_SHOWN = 10  # disagreements on the screen


def add_agreement_command(commands: Any) -> None:
    """Add the command to the parser's."""
    command: argparse.ArgumentParser = commands.add_parser(
        "agreement", help="compare two columns of labels: kappa, alpha, intervals, and where they differ"
    )
    command.add_argument("--data", required=True, type=Path, help="a CSV, TSV or JSON lines file")
    command.add_argument("--label", required=True, help="the column of the labels of the first annotator")
    command.add_argument("--other", required=True, help="the labels of the second annotator, or of a model")
    command.add_argument(
        "--text", help="the column of the text, so that one that is repeated counts once; default: detected"
    )
    command.add_argument(
        "--cost",
        action="store_true",
        help="also train with each column’s labels, and say how many fewer texts a model gets right",
    )
    command.add_argument(
        "--model",
        type=Path,
        help="for --cost: a frozen model that reads the texts; default: words are counted",
    )
    command.add_argument("--recipe", type=Path, help="fixes to apply to the table first")
    command.add_argument("--json", action="store_true", help="print the figures as JSON on stdout")
    command.set_defaults(run=_agreement)


def _agreement(options: argparse.Namespace) -> int:
    code, found = answered(_compared(options))
    if found is not None:
        table, agreed, cost = found
        if options.json:
            print_json(document(agreed, table, cost))
        else:
            print(*_lines(agreed, table, cost), sep="\n")
    return code


def _compared(options: argparse.Namespace) -> Steps[tuple[Table, Agreement, LabelCost | None]]:
    """Return the table as it was read and mended, how far its columns agree, and what that costs."""
    from engine.labelling.agreement import comparing, unsettled
    from engine.labelling.cost import costing
    from engine.text.examples import guess_roles
    from engine.text.recipe import read_recipe
    from engine.text.table import reading_table

    table = yield from reading_table(options.data, **ReadSettings.of(options).named())
    if options.recipe:
        table = unsettled(read_recipe(options.recipe)).applied(table)
    detected = guess_roles(table).text
    text = options.text or ("" if detected in (options.label, options.other) else detected)
    texts = (text,) if text else ()
    found = yield from comparing(table, options.label, options.other, texts)
    cost = None
    if options.cost or options.model:
        cost = yield from costing(table, found, texts, options.model and model_named(options.model))
    return table, found, cost


def document(found: Agreement, table: Table, cost: LabelCost | None = None) -> dict[str, Any]:
    """Return what was found for a program."""
    return {
        "data": str(table.path),
        "label": found.columns[0],
        "other": found.columns[1],
        "rows": len(found.rows),
        "texts": found.num_texts,
        "only_label": found.only_first,
        "only_other": found.only_other,
        "agreement": _measure(found.raw),
        "kappa": _measure(found.kappa),
        "alpha": _measure(found.alpha),
        "verdict": found.verdict,
        "may_teach": found.may_teach,
        "sentence": str(found.verdict_words),
        "labels": list(found.labels),
        "confusion": found.confusion.tolist(),
        "by_label": [
            {
                "label": each.label,
                "rows_label": each.first,
                "rows_other": each.other,
                "rows_both": each.both,
                "agreement": _measure(each.share),
                "instead": dict(each.instead),
            }
            for each in found.by_label
        ],
        "merged": dict(found.merged),
        "disagreements": [
            {"row": row, "line": line, "label": first, "other": other}
            for row, line, first, other in _disagreements(found, table)
        ],
        **({} if cost is None else {"cost": _cost(cost)}),
    }


def _cost(cost: LabelCost) -> dict[str, Any]:
    return {
        "way": cost.way,
        "rows": cost.num_rows,
        "repetitions": cost.repetitions,
        "accuracy_label": cost.first,
        "accuracy_other": cost.other,
        "difference": cost.difference.value,
        "interval": cost.difference.interval,
        "is_sure": cost.difference.is_sure,
        "sentence": str(cost.sentence),
    }


def _measure(found: Measure) -> dict[str, Any]:
    return {"value": found.value, "interval": found.interval}


def _disagreements(found: Agreement, table: Table) -> Iterator[tuple[int, int, str, str]]:
    """Return row, line and both labels of each row on which the two differ."""
    for place in found.disagreements.tolist():
        row = int(found.rows[place])
        first, other = found.labels[found.first[place]], found.labels[found.other[place]]
        yield row, int(table.lines[row]), first, other


def _lines(found: Agreement, table: Table, cost: LabelCost | None) -> Iterator[str]:
    """Return what was found for the screen."""
    from engine.labelling.agreement import RULE

    template = marked("engine", "{count:,} rows with both labels ({texts:,} different texts).")
    yield said(template, count=len(found.rows), texts=found.num_texts)
    rows = [
        heads(
            marked("table", "measure"),
            marked("table", "value"),
            marked("table", "95 % interval"),
        )
    ]
    for name, measure in (
        (marked("table", "raw agreement"), found.raw),
        (marked("table", "Cohen’s kappa"), found.kappa),
        (marked("table", "Krippendorff’s alpha"), found.alpha),
    ):
        rows.append((*heads(name), *_said(measure)))
    yield from aligned(rows)
    yield str(found.verdict_words)
    yield spoken(RULE)
    if cost is not None:
        yield str(cost.sentence)
        yield str(cost.how)
    yield ""
    label, *more = heads(
        marked("table", "label"),
        marked("table", "both"),
        marked("table", "agreement"),
        marked("table", "95 % interval"),
    )
    by_label = [(label, *found.columns, *more)]
    for each in found.by_label:
        counts = f"{each.first:,}", f"{each.other:,}", f"{each.both:,}"
        by_label.append((each.label, *counts, *_said(each.share)))
    yield from aligned(by_label)
    for place, (_, line, first, other) in enumerate(_disagreements(found, table)):
        if place == MOST_SHOWN:
            template = marked("engine", "and {count:,} more: --json lists all.")
            yield f"  {said(template, count=len(found.disagreements) - MOST_SHOWN)}"
            break
        template = marked("engine", "line {line}: {text}")
        yield f"  {said(template, line=line, text=f'{first} / {other}')}"


def _said(measure: Measure) -> tuple[str, str]:
    value = "-" if measure.value is None else f"{measure.value:.3f}"
    if measure.interval is None:
        return value, "-"
    low, high = measure.interval
    return value, said(marked("engine", "{low:.3f} to {high:.3f}"), low=low, high=high)
