"""The mended table as a new file, for those who want to go on with it elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.text.table import Table, write_csv


def write_mended(table: Table, path: Path) -> int:
    """Write the rows that a recipe leaves, cells as they are; return how many. Raises: UserError.

    Args: table: with its recipe applied. path: tabs stand between cells where it is called .tsv.
    """
    kept = np.ones(table.num_rows, bool)
    kept[list(table.left_out)] = False
    frame = table.frame[kept]
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    write_csv(path, table.columns, frame, separator=separator, guard=False)
    return int(kept.sum())
