"""Every kind of label through the journal: kept, taken back, split, taken over, and read by its own task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.events import result_of
from engine.labelling.entry import (
    COLUMN,
    DEFINE,
    GIVE,
    KIND,
    MERGE,
    OPEN,
    SKIP,
    SPLIT,
    TAKE_OVER,
    UNDO,
    JournalEntry,
)
from engine.labelling.journal import LabelJournal
from engine.labelling.kinds import KINDS
from engine.labelling.labelled import Labelled, folded
from engine.labelling.labelled_table import mends_of_labels, own_column, write_labelled, write_tagged
from engine.labelling.learning import each_label, each_number, most_doubtful
from engine.settings.finetune import DataConfig
from engine.text.examples import COLLECTED
from engine.text.recipe import RELABEL, Recipe, RecipeStep
from engine.text.roles import Roles
from engine.text.table import read_table
from engine.train.tasks.known import TASKS, guess_task, of_rows

SHA = "b" * 64
TWO = JournalEntry(DEFINE, label=0, text="wetter"), JournalEntry(DEFINE, label=1, text="天气")
ANSWERS = {  # by kind, what is given to row 0, 1, ... 9
    "classification": [{"label": row % 2} for row in range(10)],
    "multi-label": [{"labels": ((0, 1), (0,), (1,), (), (1, 0))[row % 5]} for row in range(10)],
    "token-labels": [{"text": f"In Ulm {row}", "spans": ((3, 6, row % 2),)} for row in range(10)],
    "regression": [{"text": f"{row}.5"} for row in range(10)],
}


def journal(tmp_path: Path, *entries: JournalEntry) -> LabelJournal:
    """Return a journal with these entries, as it is read again."""
    path = tmp_path / "labels.jsonl"
    made = LabelJournal.read(path, "films.csv", SHA, 12)
    for entry in entries:
        made.add(entry)
    again = LabelJournal.read(path, "films.csv", SHA, 12)
    assert again.labelled == made.labelled and again.entries == made.entries
    return again


def given(kind: str) -> tuple[JournalEntry, ...]:
    answers = (
        JournalEntry(GIVE, row=row, who="ada", when="now", **values)
        for row, values in enumerate(ANSWERS[kind])
    )
    return JournalEntry(KIND, text=kind), *TWO, *answers


def test_every_kind_is_called_as_a_task() -> None:
    assert {*KINDS} == {*ANSWERS} and {*KINDS} <= {*TASKS}
    assert {name for name, kind in KINDS.items() if kind.is_of_rows} == {
        name for name in KINDS if TASKS[name].reads_tables
    }


@pytest.mark.parametrize("kind", ["classification", "multi-label", "regression"])
def test_a_saved_table_is_read_by_the_kinds_own_task(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "films.csv"
    source.write_text("text\n" + "".join(f"text {row}\n" for row in range(12)))
    labelled = journal(tmp_path, *given(kind)).labelled
    table = read_table(source)
    saved = read_table(write_labelled(table, labelled, own_column(table), tmp_path / "saved.csv"))
    found = result_of(of_rows(TASKS[kind]).reading.finding(saved, Roles("text", "", "label"), COLLECTED))
    assert len(found.examples) == 10  # two have no label
    targets = found.targets(found.examples).tolist()
    if kind == "regression":
        assert targets == [row + 0.5 for row in range(10)]
    elif kind == "multi-label":
        names = [{name for name, on in zip(found.labels, row, strict=True) if on} for row in targets]
        assert names[:4] == [{"wetter", "天气"}, {"wetter"}, {"天气"}, set()]
    else:
        assert [found.labels[one] for one in targets[:2]] == ["wetter", "天气"]


def test_saved_tags_are_read_by_the_task_of_tags_and_texts_without_are_not_there(tmp_path: Path) -> None:
    source = tmp_path / "towns.csv"
    source.write_text("text\n" + "".join(f"In Ulm {row}\n" for row in range(12)))
    labelled = journal(tmp_path, *given("token-labels")).labelled
    path = write_tagged(read_table(source), labelled, tmp_path / "tags.jsonl", left_out=(4,))
    data = DataConfig(data=str(path))
    kind, _ = guess_task(data)
    assert kind.name == "token-labels"
    opened = result_of(kind.open(data))
    assert opened.num_examples == 9 and opened.label_counts == {"天气": 5, "wetter": 4}


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_merge_and_its_undo_leave_every_kind_as_it_was(kind: str, tmp_path: Path) -> None:
    before = folded(given(kind))
    merge = JournalEntry(MERGE, label=1, into=0)
    after = folded((*given(kind), merge))
    assert {*after.names} == {0} and sum(after.count().values()) <= sum(before.count().values())
    assert {*after.given} == {*before.given}
    assert journal(tmp_path, *given(kind), merge, JournalEntry(UNDO)).labelled == before


def test_the_kind_can_be_chosen_until_something_is_given() -> None:
    made = folded((*TWO, JournalEntry(KIND, text="multi-label"), JournalEntry(GIVE, row=3, labels=(0,))))
    assert made.names == {0: "wetter", 1: "天气"} and not made.can_choose_kind
    for wrong in (
        JournalEntry(KIND, text="classification"),
        JournalEntry(GIVE, row=1, label=0),
        JournalEntry(GIVE, row=1, labels=(0, 0)),
        JournalEntry(GIVE, row=1, labels=(7,)),
    ):
        with pytest.raises(ValueError, match="JournalEntry"):
            made.take(wrong)


@pytest.mark.parametrize("spans", [((0, 2, 0), (1, 4, 1)), ((3, 3, 0),), ((0, 9, 0),), ((0, 2, 5),)])
def test_tags_that_overlap_hold_nothing_or_lie_outside_are_refused(
    spans: tuple[tuple[int, int, int], ...],
) -> None:
    made = folded((JournalEntry(KIND, text="token-labels"), *TWO))
    with pytest.raises(ValueError, match="JournalEntry"):
        made.take(JournalEntry(GIVE, row=0, text="In Ulm", spans=spans))


@pytest.mark.parametrize("number", ["", "three", "1e99", "nan"])
def test_what_is_no_number_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="JournalEntry"):
        folded((JournalEntry(KIND, text="regression"), JournalEntry(GIVE, row=0, text=number)))


def test_the_texts_of_a_split_label_are_asked_again_and_an_answer_closes_them(tmp_path: Path) -> None:
    split = JournalEntry(SPLIT, label=1, names=("Regen", "Schnee", "天气"))
    found = journal(tmp_path, *given("classification"), split).labelled
    assert [*found.names.values()] == ["wetter", "Regen", "Schnee", "天气"]
    assert [*found.asked] == [1, 3, 5, 7, 9] and [*found.given] == [0, 2, 4, 6, 8]
    assert found.asked[3].among == (2, 3, 4) and found.asked[3].before.label == OPEN
    found.take(JournalEntry(GIVE, row=3, label=3))
    found.take(JournalEntry(SKIP, row=5))
    found.take(JournalEntry(MERGE, label=2, into=4))
    assert [*found.asked] == [1, 7, 9] and found.asked[1].among == (4, 3)
    found.take(JournalEntry(SPLIT, label=3, names=("a", "b")))
    assert found.asked[1].among == (4, 5, 6) and found.asked[3].among == (5, 6)


def test_a_split_leaves_what_else_was_given_to_a_text() -> None:
    split = JournalEntry(SPLIT, label=1, names=("a", "b"))
    several = folded((*given("multi-label"), split))
    assert [*several.asked] == [0, 2, 4, 5, 7, 9] and several.asked[0].before.labels == (0,)
    tags = folded((*given("token-labels"), split))
    assert tags.asked[1].before.spans == ((3, 6, OPEN),) and tags.given[0].spans == ((3, 6, 0),)


def taken_over(kind: str, names: tuple[str, ...], sets: tuple[tuple[int, ...], ...]) -> JournalEntry:
    rows = tuple(range(len(sets)))
    return JournalEntry(TAKE_OVER, text="sentiment", names=names, rows=rows, sets=sets, when="now")


def test_a_column_is_taken_over_where_nobody_has_labelled_and_one_undo_takes_all_of_it_back(
    tmp_path: Path,
) -> None:
    first = (*TWO, JournalEntry(GIVE, row=1, label=1, who="ada"), JournalEntry(SKIP, row=2))
    column = taken_over("classification", ("Wetter", "new"), ((0,), (0,), (0,), (1,)))
    found = journal(tmp_path, *first, column, JournalEntry(GIVE, row=5, label=2), JournalEntry(UNDO)).labelled
    assert found.names == {0: "wetter", 1: "天气", 2: "new"} and found.columns == ("sentiment",)
    assert {row: entry.label for row, entry in found.given.items()} == {1: 1, 0: 0, 3: 2}
    assert (
        found.given[0].who == "sentiment" and found.given[0].why == COLUMN and [*found.taken_over] == [0, 3]
    )
    found.take(JournalEntry(GIVE, row=0, label=1, who="ada"))
    assert [*found.taken_over] == [0, 3]  # whoever mends what looks wrong draws no random sample
    path = tmp_path / "other"
    assert journal(path, *first, column, JournalEntry(UNDO)).labelled == folded(first)


def test_what_was_mended_in_a_column_is_mended_in_the_labels_taken_over_from_it_not_in_those_given_by_hand(
    tmp_path: Path,
) -> None:
    (tmp_path / "reviews.csv").write_text(
        "text,sentiment\n" + "".join(f"text {row},{'ab'[row % 2]}\n" for row in range(4)), encoding="utf-8"
    )
    table = read_table(tmp_path / "reviews.csv")
    column = taken_over("classification", ("a", "b"), ((0,), (1,), (0,), (1,)))
    labelled = folded((column, JournalEntry(GIVE, row=1, label=1, who="ada")))
    mends = Recipe.of(table).plus(
        RecipeStep(RELABEL, rows=(0, 1), label="c", column="sentiment"),
        RecipeStep("merge", labels=("b",), label="d", column="sentiment"),
    )
    saved = read_table(write_labelled(table, labelled, "label", tmp_path / "saved.csv"))
    moved = replace(mends_of_labels(mends, labelled, "label"), sha256=saved.sha256)
    assert moved.applied(saved).frame["label"].tolist() == ["c", "d", "a", "d"]


def test_several_labels_and_numbers_are_taken_over_too_and_what_is_none_is_refused() -> None:
    several = folded((JournalEntry(KIND, text="multi-label"), taken_over("", ("a", "b"), ((0, 1), (), (1,)))))
    assert [entry.labels for entry in several.given.values()] == [(0, 1), (), (1,)]
    numbers = folded((JournalEntry(KIND, text="regression"), taken_over("", ("1,5", "2"), ((0,), (1,)))))
    assert [entry.text for entry in numbers.given.values()] == ["1,5", "2"] and not numbers.names
    for kind, names, sets in (
        ("regression", ("much",), ((0,),)),
        ("classification", ("a", "b"), ((0, 1),)),
        ("classification", ("a",), ((),)),
    ):
        with pytest.raises(ValueError, match="JournalEntry"):
            folded((JournalEntry(KIND, text=kind), taken_over(kind, names, sets)))


@pytest.mark.parametrize(
    "line",
    [
        b'{"do": "kind", "text": "poetry"}',
        b'{"do": "take over", "text": "c", "names": ["a"], "rows": [0], "sets": [[3]]}',
        b'{"do": "take over", "text": "c", "names": ["a"], "rows": [99], "sets": [[0]]}',
        b'{"do": "take over", "text": "c", "names": ["a"], "rows": [0, 0], "sets": [[0], [0]]}',
        b'{"do": "take over", "text": "c", "names": [1], "rows": [0], "sets": [[0]]}',
        b'{"do": "split", "label": 0, "names": ["a"]}',
        b'{"do": "split", "label": 0, "names": ["a", "A"]}',
        b'{"do": "give", "row": 0, "labels": [0]}',
        b'{"do": "give", "row": 0, "spans": [[0, 1]]}',
    ],
)
def test_a_damaged_line_of_any_kind_is_refused_with_its_number(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    journal(tmp_path, *TWO)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(DataError, match="line 4 is damaged"):
        LabelJournal.read(path, "films.csv", SHA, 12)


def test_a_journal_of_before_there_were_kinds_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    journal(tmp_path, *TWO)
    path.write_bytes(path.read_bytes().replace(b'"labels": 2', b'"labels": 1', 1))
    found = LabelJournal.read(path, "films.csv", SHA, 12)
    found.add(JournalEntry(KIND, text="multi-label"))
    assert LabelJournal.read(path, "films.csv", SHA, 12).labelled == Labelled(
        KINDS["multi-label"], {0: "wetter", 1: "天气"}, {0: "", 1: ""}, num_made=2
    )


def test_each_label_is_learned_by_itself_and_the_most_doubtful_one_is_what_is_asked_for() -> None:
    vectors = np.random.default_rng(0).normal(size=(60, 7)).astype(np.float32)
    sets = np.stack([vectors[:, 0] > 0, vectors[:, 1] > 0, np.zeros(60)], axis=1).astype(np.int64)
    likely = each_label(vectors, range(40), sets[:40])
    right = (likely[40:, :2] > 0.5) == sets[40:, :2]
    assert right.mean() > 0.85 and not likely[:, 2].any()  # nobody has given the third
    both = most_doubtful(likely)
    nearest = np.abs(likely - 0.5).min(1)
    assert np.allclose(np.abs(both[:, 0] - 0.5), nearest) and np.allclose(both.sum(1), 1)


def test_numbers_are_learned_and_never_lie_beyond_those_that_were_given() -> None:
    vectors = np.random.default_rng(1).normal(size=(60, 7)).astype(np.float32)
    numbers = 3.0 * vectors[:, 2] + 10
    found = each_number(vectors, range(37), numbers[:37])
    assert np.corrcoef(found[37:], numbers[37:])[0, 1] > 0.9
    assert numbers[:37].min() <= found.min() and found.max() <= numbers[:37].max()
