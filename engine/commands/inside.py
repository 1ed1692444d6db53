"""The commands that ask a model the same question over the texts of a file: heads, cloze, pairs, templates,
rests-on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.ask import answered
from engine.commands.inspect import (
    METHODS,
    add_command,
    add_json,
    add_off,
    open_subject,
)
from engine.commands.screen import aligned, print_json
from engine.durable import check_writable
from engine.events import Noted, Steps
from engine.questions.fields import switches

if TYPE_CHECKING:
    from engine.evaluation.inside.cloze import Cloze
    from engine.evaluation.inside.contrasts import Contrast
    from engine.evaluation.inside.heads import HeadsOff, Importance
    from engine.evaluation.inside.pairs import Pairs
    from engine.evaluation.inside.texts import Text
    from engine.evaluation.inside.words import RestingWords
    from engine.inspect.attention.head_measures import TableMeasures
    from engine.inspect.loaded_model import LoadedModel
    from engine.text.table import Table

INSIDE_COMMANDS = ("heads", "cloze", "pairs", "rests-on")  # that read a table
USUAL_TEXTS = 200
MOST_LINES = 20  # told on a terminal
Interval = tuple[float, float]


def add_inside_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    heads = _add(commands, "heads", _heads, "tell which heads matter over many texts, and where they look")
    heads.add_argument("--label", default="", help="the column with the labels of a classifier")
    add_off(heads)
    cloze = _add(commands, "cloze", _cloze, "tell how well the words of many texts are foreseen")
    add_off(cloze)
    pairs = add_command(commands, "pairs", _pairs, "tell which of two sentences is likelier, line by line")
    pairs.add_argument("--data", required=True, type=Path, help="a table with a pair of sentences a line")
    pairs.add_argument("--first", required=True, help="the column whose sentence should be likelier")
    pairs.add_argument("--second", required=True, help="the other sentence's column")
    _add_out(pairs)
    _add_templates(commands)
    words = _add(commands, "rests-on", _rests_on, "tell which words the answers of a classifier rest on")
    words.add_argument("--label", required=True, help="the label that words speak for or against")
    words.add_argument("--method", default=METHODS[0], choices=METHODS)


def _add_templates(commands: Any) -> None:
    template = add_command(
        commands, "templates", _templates, "score words in templates such as '{he|she} is a [MASK]'"
    )
    given = template.add_mutually_exclusive_group(required=True)
    given.add_argument("--template", help="alternatives in braces, one [MASK]")
    given.add_argument("--data", type=Path, help="a table with the columns template and targets (a|b|c)")
    template.add_argument("--targets", default="", help="with --template: words to score, as a|b|c")
    template.add_argument("--top-k", type=int, default=10, help="without targets: guesses for each sentence")
    template.add_argument("--out", type=Path, help="a new CSV with every score")
    add_json(template, "print what the alternatives do to each word, over templates, as JSON")


def _add(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    command = add_command(commands, name, run, words)
    command.add_argument("--data", required=True, type=Path, help="a CSV, TSV or JSON lines file")
    command.add_argument("--text", required=True, help="the column with the text")
    command.add_argument("--text-pair", default="", help="the column with the second text")
    command.add_argument(
        "--limit", type=int, default=USUAL_TEXTS, help="texts at most, evenly spread; 0: all"
    )
    _add_out(command)
    return command


def _add_out(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, help="a new CSV with every number")
    add_json(command, "print the figures as JSON on stdout")


def _table(options: argparse.Namespace) -> Steps[Table]:
    from engine.text.table import reading_table

    names = ("encoding", "separator", "quoting", "header")
    table = yield from reading_table(options.data, **{name: getattr(options, name) or "" for name in names})
    for note in table.notes:
        yield Noted(sentence=note)
    return table


def _texts(
    subject: LoadedModel, table: Table, options: argparse.Namespace, label: str = ""
) -> Steps[list[Text]]:
    from engine.evaluation.inside.texts import finding_texts

    return finding_texts(subject, table, _roles(table, options, label), options.limit)


def _roles(table: Table, options: argparse.Namespace, label: str = "") -> Any:
    from engine.text.examples import Roles

    return Roles(*(table.column(name) if name else "" for name in (options.text, options.text_pair, label)))


def _heads(options: argparse.Namespace) -> int:
    from engine.evaluation.inside.heads import heads_off, importance
    from engine.inspect.attention.head_measures import over_table

    if options.out is not None:
        check_writable(options.out, options.data)
    subject = open_subject(options)
    on = switches(options.off, subject)

    def asking() -> Steps[tuple[Importance, TableMeasures, HeadsOff | None]]:
        table = yield from _table(options)
        texts = yield from _texts(subject, table, options, options.label)
        weighed = yield from importance(subject, texts)
        looks = yield from over_table(subject, table, _roles(table, options), options.limit)
        off = None if on is None else (yield from heads_off(subject, texts, on))
        return weighed, looks, off

    code, found = answered(asking())
    if found is None:
        return code
    weighed, looks, off = found
    rows = list(_head_rows(weighed, looks))
    columns = ["layer", "head", "importance", "low", "high"]
    columns += [end for name in looks.values for end in (name, f"{name} +/-")]
    _write(options.out, columns, rows)
    if options.json:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        document = {"texts": weighed.num_texts, "asks": weighed.asks, "heads": named}
        print_json({**document, **({} if off is None else {"off": _off_document(off)})})
        return code
    shown = [[f"{row[0]}.{row[1]}", *(f"{value:.3f}" for value in row[2:5])] for row in rows[:MOST_LINES]]
    print(*aligned([["head", "importance", "from", "to"], *shown]), sep="\n")
    if off is not None:
        print(_off_line(off))
    return code


def _head_rows(weighed: Importance, looks: TableMeasures) -> Iterator[list[Any]]:
    """Yield what is known of each head, the most important first; layers and heads count from 1."""
    for layer, head in weighed.ranked():
        row: list[Any] = [layer + 1, head + 1]
        row += [float(values[layer, head]) for values in (weighed.values, weighed.low, weighed.high)]
        for name, values in looks.values.items():
            row += [float(values[layer, head]), float(looks.half_interval(name)[layer, head])]
        yield row


def _off_line(off: HeadsOff) -> str:
    low, high = off.difference.interval or (off.difference.value,) * 2
    asked = "labels" if off.asks == "labels" else "hidden words"
    return (
        f"right {asked}: {off.before:.3f} with all heads, {off.after:.3f} with {off.num_off} off; "
        f"difference {off.difference.value:+.3f} ({low:+.3f} to {high:+.3f}), "
        f"by chance {off.difference.p_value:.2g}"
    )


def _off_document(off: HeadsOff) -> dict[str, Any]:
    return {
        "before": off.before,
        "after": off.after,
        "difference": off.difference.value,
        "interval": off.difference.interval,
        "p_value": off.difference.p_value,
        "heads_off": off.num_off,
        "asked": off.num_asked,
    }


def _cloze(options: argparse.Namespace) -> int:
    from engine.evaluation.inside.cloze import cloze

    if options.out is not None:
        check_writable(options.out, options.data)
    subject = open_subject(options)
    subject.require("masked_words")
    on = switches(options.off, subject)

    def asking() -> Steps[tuple[Table, Cloze]]:
        table = yield from _table(options)
        texts = yield from _texts(subject, table, options)
        return table, (yield from cloze(subject, texts, on=on))

    code, answer = answered(asking())
    if answer is None:
        return code
    table, found = answer
    columns = ["line", "tokens", "first guess", "first five", "pseudo-perplexity"]
    per_text = (table.lines[found.rows], found.tokens, found.right, found.among, found.perplexities)
    _write(options.out, columns, zip(*(one.tolist() for one in per_text), strict=True))
    if options.json:
        print_json(
            {
                "texts": len(found.rows),
                "tokens": int(found.tokens.sum()),
                "cloze_accuracy": found.accuracy,
                "cloze_accuracy_interval": found.accuracy_interval,
                "cloze_accuracy_5": found.accuracy_among,
                "pseudo_perplexity": found.perplexity,
                "pseudo_perplexity_interval": found.perplexity_interval,
            }
        )
        return code
    print(f"{len(found.rows):,} texts, {int(found.tokens.sum()):,} WordPieces, each hidden in turn")
    print(f"first guess right   {found.accuracy:.3f}{_between(found.accuracy_interval)}")
    print(f"among five guesses  {found.accuracy_among:.3f}")
    print(f"pseudo-perplexity   {found.perplexity:.2f}{_between(found.perplexity_interval)}")
    return code


def _pairs(options: argparse.Namespace) -> int:
    from engine.evaluation.inside.pairs import minimal_pairs

    if options.out is not None:
        check_writable(options.out, options.data)
    subject = open_subject(options)
    subject.require("masked_words")

    def asking() -> Steps[tuple[Table, Pairs]]:
        table = yield from _table(options)
        return table, (yield from minimal_pairs(subject, table, options.first, options.second))

    code, answer = answered(asking())
    if answer is None:
        return code
    table, found = answer
    per_pair = (table.lines[found.rows], *found.logs.T, found.differences)
    columns = ["line", "log of first", "log of second", "difference"]
    _write(options.out, columns, zip(*(one.tolist() for one in per_pair), strict=True))
    left_out = [str(sentence) for sentence in found.left_out.values()]
    if options.json:
        print_json(
            {
                "pairs": len(found.rows),
                "first_likelier": found.share,
                "interval": found.interval,
                "differences": found.differences.tolist(),
                "rows": found.rows.tolist(),
                "left_out": left_out,
            }
        )
        return code
    print(*left_out[:MOST_LINES], sep="\n")
    share = f"{found.share:.3f}{_between(found.interval)}"
    print(f"first sentence likelier  {share}  of {len(found.rows):,} pairs")
    return code


def _rests_on(options: argparse.Namespace) -> int:
    from engine.evaluation.inside.words import resting_words

    if options.out is not None:
        check_writable(options.out, options.data)
    subject = open_subject(options)
    subject.require("labels")

    def asking() -> Steps[RestingWords]:
        table = yield from _table(options)
        texts = yield from _texts(subject, table, options)
        return (yield from resting_words(subject, texts, options.label, method=options.method))

    code, found = answered(asking())
    if found is None:
        return code
    columns = ["word", "mean", "low", "high", "total", "texts"]
    rows = [[one.word, one.mean, one.low, one.high, one.total, one.texts] for one in found.words]
    _write(options.out, columns, rows)
    if options.json:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        print_json(
            {"label": found.label, "texts": found.num_texts, "residual": found.residual, "words": named}
        )
        return code
    half = MOST_LINES // 2
    shown = rows if len(rows) <= MOST_LINES else [*rows[:half], *rows[-half:]]
    lines = [[str(row[0]), *(f"{value:+.3f}" for value in row[1:4]), str(row[5])] for row in shown]
    print(*aligned([["word", "mean share", "from", "to", "texts"], *lines]), sep="\n")
    return code


def _templates(options: argparse.Namespace) -> int:
    from engine.evaluation.inside.contrasts import contrasts
    from engine.inspect.masked.grid import TemplateRequest, score_templates
    from engine.inspect.masked.template import Template
    from engine.inspect.masked.template_table import read_templates, write_grids

    if options.out is not None:
        check_writable(options.out, options.data)
    if options.data is not None:
        requests = read_templates(options.data)
    else:
        targets = tuple(word.strip() for word in options.targets.split("|") if word.strip())
        requests = (TemplateRequest(Template.parse(options.template), targets),)
    code, grids = answered(score_templates(open_subject(options), requests, top_k=options.top_k))
    if grids is None:
        return code
    if options.out is not None:
        write_grids(options.out, grids)
    compared = contrasts(grids)
    if options.json:
        names = ("target", "first", "second", "mean", "interval", "spread", "p_value", "templates")
        print_json({"contrasts": [{name: getattr(one, name) for name in names} for one in compared]})
        return code
    for grid in () if options.out is not None else grids:
        for cell, row in zip(grid.cells, grid.scores, strict=True):
            print(cell.text)
            for target, found in zip(grid.targets, row, strict=True):
                corrected = "" if found.corrected is None else f"{found.corrected:+8.2f} beside its prior"
                print(f"  {target:<20}{found.score.probability:8.4f}  {corrected}".rstrip())
    if any(one.templates > 1 for one in compared):
        print(*contrast_lines(compared), sep="\n")
    return code


def contrast_lines(found: Sequence[Contrast]) -> list[str]:
    """Return what alternatives do to words, as lines of a table."""
    lines = [["word", "alternatives", "mean log ratio", "from", "to", "by chance", "templates"]]
    for one in found[:MOST_LINES]:
        low, high = (f"{end:+.2f}" for end in one.interval) if one.interval else ("", "")
        lines.append(
            [one.target, f"{one.first} / {one.second}", f"{one.mean:+.2f}", low, high, f"{one.p_value:.2g}"]
            + [str(one.templates)]
        )
    return aligned(lines)


def _write(out: Path | None, columns: Sequence[str], rows: Any) -> None:
    """Write a new CSV, where one is wanted."""
    if out is not None:
        from engine.text.table import write_csv

        write_csv(out, columns, rows, exempt=[name for name in columns if name != "word"])


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f" (95 %: {interval[0]:.3f} to {interval[1]:.3f})"
