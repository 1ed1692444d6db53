"""Prints what Cloze does with each family of models that opens, beside `transformers`: a table in Markdown.

    CLOZE_DATA=DIR python -m benchmarks.family_table [--into FILE] [--rows BERT] [--columns ONNX]

The cells are those of tests/engine/model/family_cells.py, which a test holds; this only writes them down.
--into writes the table in the place of the one that a file ends with; rows and columns that are not computed
stay as they are there.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Collection, Mapping
from pathlib import Path

import torch
import transformers

from tests.engine.model.family_cases import ROWS
from tests.engine.model.family_cells import CAPABILITIES, Cell, FamilyFolders, cell_of

Table = Mapping[str, Mapping[str, Cell]]  # by the name of a row and that of a capability
FIRST = "| Family |"
REFUSED, ITSELF = "refused ({})", "{} (itself)"


def computed(rows: Collection[str], columns: Collection[str], data: Path | None) -> Table:
    """Return some of the table, and say each cell. Args: data: where published tokenizers are, or None."""
    found: dict[str, dict[str, Cell]] = {}
    for case in (case for case in ROWS if case.name in rows):
        found[case.name] = {}
        with tempfile.TemporaryDirectory() as root:
            folders = FamilyFolders(case, Path(root), data)
            for capability in (name for name in CAPABILITIES if name in columns):
                start = time.process_time()
                cell = found[case.name][capability] = cell_of(folders, capability)
                took, said = time.process_time() - start, cell.said or cell.difference
                print(f"{case.name}, {capability}: {said} ({took:.1f} s)", file=sys.stderr, flush=True)
    return found


def as_markdown(table: Table) -> str:
    """Return a table whose rows all have the same columns, and under it each refusal once, by its number."""
    refusals = list(dict.fromkeys(cell.said for row in table.values() for cell in row.values() if cell.said))
    columns = next(iter(table.values()))
    lines = [f"{FIRST} {' | '.join(columns)} |", f"| --- {'| --- ' * len(columns)}|"]
    for name, row in table.items():
        lines.append(f"| {name} | {' | '.join(_shown(row[column], refusals) for column in columns)} |")
    lines += ["", "Refused:", "", *(f"{number}. {said}" for number, said in enumerate(refusals, 1)), ""]
    return "\n".join(lines)


def read(text: str) -> Table:
    """Return the table that a page has, as `as_markdown` writes it."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    refusals = dict(re.findall(r"^(\d+)\. (.+)$", text, flags=re.MULTILINE))
    return {
        name: {column: _read(cell, refusals) for column, cell in zip(lines[0][1:], cells, strict=True)}
        for name, *cells in lines[2:]
    }


def _shown(cell: Cell, refusals: list[str]) -> str:
    if cell.said:
        return REFUSED.format(refusals.index(cell.said) + 1)
    number = f"{cell.difference:.0e}".replace("e-0", "e-") if cell.difference else "0"
    return ITSELF.format(number) if cell.is_own else number


def _read(cell: str, refusals: Mapping[str, str]) -> Cell:
    number, _, note = cell.partition(" (")
    if number == REFUSED.partition(" ")[0]:
        return Cell(said=refusals[note.removesuffix(")")])
    return Cell(float(number), is_own=bool(note))


def main() -> None:
    """Print the table, or write it."""
    as_it_is = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_is)
    parser.add_argument("--into", type=Path, metavar="FILE", help="engine/FAMILIES.md, say")
    names, columns = [case.name for case in ROWS], [*CAPABILITIES]
    parser.add_argument("--rows", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--columns", nargs="+", choices=columns, default=columns, metavar="NAME")
    args = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    data = os.environ.get("CLOZE_DATA")
    found = computed(args.rows, args.columns, Path(data) if data else None)
    if args.into is None:
        print(as_markdown(found))
        return
    text = args.into.read_text(encoding="utf-8")
    old = read(text)
    table = {name: {**old.get(name, {}), **found.get(name, {})} for name in names if name in {*old, *found}}
    args.into.write_text(text.partition(FIRST)[0] + as_markdown(table), encoding="utf-8")


if __name__ == "__main__":
    main()
