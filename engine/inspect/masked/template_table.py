"""Templates from a CSV file, and their scores into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.errors import DataError, UserError, marked
from engine.inspect.masked.grid import TemplateSettings, TemplateTable
from engine.inspect.masked.template import Template
from engine.text.table import Table, read_table, write_csv

TEMPLATE, TARGETS = "template", "targets"
_SEPARATORS = (",", "\t", ";")  # never "|", which stands inside of templates
_NUMBERS = ("probability", "log probability", "rank", "prior", "log prior", "corrected", "pieces")


def read_templates(path: Path | str) -> tuple[TemplateSettings, ...]:
    """Read a table with a column "template" and, if words are to be scored, one "targets": he|she.

    Raises: DataError: no such table or column, a line that cannot be read, or a template that cannot, with
            its line.
    """
    table = _open(Path(path))
    if table.reported:
        raise DataError(
            marked("engine", "{path}: {sentence}"), path=path, sentence=table.reported[0].sentence
        )
    columns = {name.strip().lower(): name for name in table.columns}
    targets = [""] * table.num_rows
    if TARGETS in columns:
        targets = table.frame[columns[TARGETS]].tolist()
    requests = []
    for text, words, line in zip(table.frame[columns[TEMPLATE]], targets, table.lines.tolist(), strict=True):
        try:
            template = Template.parse(text)
        except UserError as error:
            sentence = marked("engine", "{path}, line {line}: {sentence}")
            raise DataError(sentence, path=path, line=line, sentence=error.sentence) from error
        found = tuple(word.strip() for word in words.split("|") if word.strip())
        requests.append(TemplateSettings(template, found, line))
    return tuple(requests)


def write_grids(path: Path | str, grids: Sequence[TemplateTable]) -> None:
    """Write one row for each sentence and word, with its scores; logs are natural. Raises: DataError."""
    most = max((len(grid.template.groups) for grid in grids), default=0)
    options = [f"alternative {number}" for number in range(1, most + 1)]
    columns = [TEMPLATE, *options, "sentence", "target", *_NUMBERS]
    write_csv(path, columns, _rows(grids, most), exempt=_NUMBERS)


def _rows(grids: Sequence[TemplateTable], most: int) -> Iterator[Sequence[object]]:
    for grid in grids:
        for cell, row in zip(grid.cells, grid.scores, strict=True):
            options = [*cell.options, *[""] * (most - len(cell.options))]
            for target, found in zip(grid.targets, row, strict=True):
                score, prior = found.score, found.prior
                yield (
                    *(grid.template.text, *options, cell.text, target),
                    *(f"{score.probability:.6g}", f"{score.log_probability:.6f}", score.rank),
                    "" if prior is None else f"{prior.probability:.6g}",
                    "" if prior is None else f"{prior.log_probability:.6f}",
                    "" if found.corrected is None else f"{found.corrected:.6f}",
                    len(score.pieces),
                )


def _open(path: Path) -> Table:
    """Read the table with the separator that gives it a column of templates. Raises: DataError."""
    first: DataError | None = None
    for separator in _SEPARATORS:
        try:
            table = read_table(path, separator=separator, header="yes")
        except DataError as error:
            first = first or error
            continue
        if TEMPLATE in [name.strip().lower() for name in table.columns]:
            return table
    if first is not None:
        raise first
    raise DataError(
        marked(
            "engine",
            "{path} has no column named template. Give it a header, template or "
            "template,targets, and one template per line.",
        ),
        path=path,
    )
