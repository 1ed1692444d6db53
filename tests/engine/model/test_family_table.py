"""Each family beside `transformers`, a cell for each capability, as engine/FAMILIES.md says it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.family_table import as_markdown, read
from engine.model.families.known import FAMILIES
from tests.engine.model.family_cases import ROWS, VARIANTS
from tests.engine.model.family_cells import CAPABILITIES, LIMIT, OF_WEIGHTS, Cell, FamilyFolders, cell_of

pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOLD = read((Path(__file__).parents[3] / "engine" / "FAMILIES.md").read_text(encoding="utf-8"))
AGAIN = "engine/FAMILIES.md says otherwise: python -m benchmarks.family_table --into engine/FAMILIES.md"
CELLS = [(case, what) for case in ROWS for what in CAPABILITIES]
CELLS += [(case, what) for case in VARIANTS for what in OF_WEIGHTS]


@pytest.fixture(scope="module")
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FamilyFolders:
    data = Path(os.environ.get("CLOZE_DATA", ""))
    is_there = "CLOZE_DATA" in os.environ and (data / request.param.file).exists()
    return FamilyFolders(request.param, tmp_path_factory.mktemp("family"), data if is_there else None)


@pytest.mark.parametrize(
    ("folders", "capability"),
    CELLS,
    indirect=["folders"],
    ids=[f"{case.name}, {what}" for case, what in CELLS],
)
def test_a_cell_of_the_table_is_what_is_computed_and_within_its_limit(
    folders: FamilyFolders, capability: str
) -> None:
    if capability == "ONNX":
        for name in ("onnx", "onnxscript", "onnxruntime"):
            pytest.importorskip(name)
    found = cell_of(folders, capability)
    row = next(one for one in ROWS if folders.case in (one, *VARIANTS) and one.stem == folders.case.stem)
    wanted = TOLD[row.name][capability]
    assert (found.said, found.is_own) == (wanted.said, wanted.is_own), AGAIN
    assert found.said or found.difference <= LIMIT


def test_every_family_has_a_row_and_every_capability_a_column() -> None:
    assert {case.model_type for case in ROWS} == FAMILIES.keys(), "a line for it in family_cases.py"
    assert [*TOLD] == [case.name for case in ROWS], AGAIN
    assert all([*row] == [*CAPABILITIES] for row in TOLD.values()), AGAIN
    assert all(cell.said or cell.difference <= LIMIT for row in TOLD.values() for cell in row.values())


def test_a_table_that_was_written_is_read_again() -> None:
    cells = (Cell(2e-7), Cell(0.0, is_own=True), Cell(said="No."), Cell(said="Not here. Choose a BERT."))
    table = {
        name: {what: cells[(place + n) % 4] for n, what in enumerate(CAPABILITIES)}
        for place, name in enumerate(("One", "Two, as another"))
    }
    assert repr(read(as_markdown(table))) == repr(table)  # NaN is not itself
