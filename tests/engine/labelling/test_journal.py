"""The journal of labels: nothing is lost but the line that was being written, and nothing is doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DataError, UserError
from engine.events import result_of
from engine.labelling.entry import (
    DEFINE,
    GIVE,
    MERGE,
    NOTE,
    SKIP,
    TAKE_OVER,
    UNDO,
    JournalEntry,
)
from engine.labelling.journal import LabelJournal, write_journal
from engine.labelling.known_labels import known_labels
from engine.labelling.labelled import Labelled
from engine.labelling.labelled_table import own_column, write_labelled
from engine.text.recipe import RELABEL, Recipe, RecipeStep
from engine.text.table import read_table

SHA = "a" * 64
ENTRIES = (
    JournalEntry(DEFINE, label=0, text="Preis", rule="Fahrkarten"),
    JournalEntry(DEFINE, label=1, text="迟到"),
    JournalEntry(
        GIVE, row=3, label=0, who="ada", when="2026-11-27T01:00:00+00:00", suggested=True, why="random"
    ),
    JournalEntry(SKIP, row=4),
    JournalEntry(GIVE, row=5, label=1),
    JournalEntry(UNDO),
    JournalEntry(NOTE, row=3, text="both?"),
    JournalEntry(GIVE, row=2, label=1),
    JournalEntry(GIVE, row=3, label=1),
    JournalEntry(MERGE, label=0, into=1),
    JournalEntry(UNDO),
    JournalEntry(UNDO),
)


def read(path: Path) -> LabelJournal:
    return LabelJournal.read(path, "films.csv", SHA, 10)


def filled(path: Path, entries: tuple[JournalEntry, ...] = ENTRIES) -> list[Labelled]:
    """Write entries; return what they come to after each of them, at first without one."""
    journal, after = read(path), [Labelled()]
    for entry in entries:
        journal.add(entry)
        after.append(read(path).labelled)
        assert journal.labelled == after[-1]
    return after


def test_what_was_taken_back_is_gone_and_all_else_is_read_again(tmp_path: Path) -> None:
    last = filled(tmp_path / "labels.jsonl")[-1]
    assert last.names == {0: "Preis", 1: "迟到"} and last.notes == {3: "both?"} and [*last.skipped] == [4]
    assert [(row, given.label) for row, given in last.given.items()] == [(3, 0), (2, 1)]
    assert last.given[3] == ENTRIES[2] and last.count() == {0: 1, 1: 1}


def test_a_kill_at_every_byte_loses_the_unfinished_line_alone_and_doubles_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    after = filled(path)
    data = path.read_bytes()
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        whole = max(0, data[:length].count(b"\n") - 1)  # the first line is the head
        journal = read(path)
        assert journal.labelled == after[whole]
        for entry in ENTRIES[whole:]:  # what a person does again is the file as it would have been
            journal.add(entry)
        assert path.read_bytes() == data


def test_a_damaged_line_in_the_middle_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    filled(path)
    lines = path.read_bytes().split(b"\n")
    for bad in (
        b"{}",
        b'{"do": "give", "row": 99, "label": 0}',
        b'{"do": "give", "row": 1, "label": 7}',
        b"\xff",
    ):
        path.write_bytes(b"\n".join([*lines[:3], bad, *lines[3:]]))
        with pytest.raises(DataError, match="line 4 is damaged"):
            read(path)


def test_another_window_that_has_labelled_meanwhile_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    filled(path, ENTRIES[:2])
    one, other = read(path), read(path)
    one.add(ENTRIES[2])
    before = path.read_bytes()
    with pytest.raises(UserError, match="Another window"):
        other.add(ENTRIES[3])
    assert path.read_bytes() == before and not other.labelled.skipped


def test_a_saved_table_has_every_row_with_its_label_who_and_when(tmp_path: Path) -> None:
    source = tmp_path / "films.csv"
    source.write_text("text,label\n" + "".join(f"text {row},\n" for row in range(10)))
    filled(tmp_path / "labels.jsonl")
    table = read_table(source)
    column = own_column(table)
    labelled = read(tmp_path / "labels.jsonl").labelled
    saved = read_table(write_labelled(table, labelled, column, tmp_path / "saved.csv"))
    assert own_column(saved) == column == "label_2" and saved.num_rows == 10
    assert saved.frame[column].tolist() == ["", "", "迟到", "Preis", *[""] * 6]
    row = saved.frame.iloc[3].tolist()
    assert row[2:] == ["Preis", "ada", "2026-11-27T01:00:00+00:00", "yes", "both?"]
    assert source.read_text().startswith("text,label\ntext 0,\n")


def test_labels_stand_beside_the_answers_of_a_model_that_knows_them_and_of_no_other(tmp_path: Path) -> None:
    path, data = tmp_path / "labels.jsonl", tmp_path / "films.csv"
    data.write_text("text\n" + "a\n" * 10, encoding="utf-8")
    table = read_table(data)
    taken = JournalEntry(TAKE_OVER, text="old", names=("迟到",), rows=(7,), sets=((0,),))
    write_journal(path, "films-labelled.csv", SHA, (*ENTRIES[:3], taken), of=table.sha256)
    found = result_of(known_labels(path, table, "classification", ["Preis", "Personal"]))
    assert found == {3: ("Preis", "hand"), 7: ("迟到", "column")}
    assert result_of(known_labels(path, table, "classification", ["bad", "good"])) == {}
    assert result_of(known_labels(path, table, "regression", [])) == {}
    mends = tmp_path / "fixes.json"
    steps = (RecipeStep(RELABEL, rows=(3,), label="Personal", column="label"),)
    Recipe("films-labelled.csv", SHA, steps).write(mends)
    found = result_of(known_labels(path, table, "classification", ["Preis"], mends))
    assert found == {3: ("Personal", "hand"), 7: ("迟到", "column")}
    Recipe("others.csv", "b" * 64, steps).write(mends)
    with pytest.raises(DataError, match="not of the table"):
        result_of(known_labels(path, table, "classification", ["Preis"], mends))
    write_journal(path, "films-labelled.csv", SHA, ENTRIES[:3], of="")
    with pytest.raises(DataError, match="cannot be read"):
        result_of(known_labels(path, table, "classification", ["Preis"]))
