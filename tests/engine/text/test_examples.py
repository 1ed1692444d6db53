"""Roles guessed, rows reported, splits that stay the same, on small tables and on the real files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas
import pytest

from engine.errors import ConfigError, DataError
from engine.events import result_of
from engine.text.example_rows import (
    Example,
    ExampleRows,
    Keys,
    count_contradictions,
    count_duplicates,
    count_leaks,
    text_keys,
)
from engine.text.examples import LabelSettings, examples_from, guess_roles, stratified_split
from engine.text.labels import spelling_note
from engine.text.roles import Roles
from engine.text.table import Table, TableFormat, read_table

DATA = Path(os.environ["CLOZE_DATA"]) if os.environ.get("CLOZE_DATA") else None
needs_data = pytest.mark.skipif(DATA is None, reason="CLOZE_DATA names no folder with real data")
CSV = TableFormat("csv", "utf-8", ",", "csv", has_header=True)


def table(columns: str, *rows: str, first_line: int = 2) -> Table:
    """Return a table of cells that are written with | between them."""
    names = tuple(columns.split("|"))
    frame = pandas.DataFrame([row.split("|") for row in rows], columns=names, dtype=object)
    lines = np.arange(first_line, first_line + len(rows), dtype=np.int64)
    return Table(Path("reviews.csv"), CSV, names, frame, lines, (), (), "")


def reviews(count: int = 13) -> list[str]:
    return [f"a film of {number} long words indeed" for number in range(count)]


# Roles


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ("category|text", Roles("text", "", "category")),
        ("label|text_a", Roles("text_a", "", "label")),
        ("id|Sentence1|Sentence2|gold_label", Roles("Sentence1", "Sentence2", "gold_label")),
        ("text_a|text_b|label", Roles("text_a", "text_b", "label")),
        ("id|qid1|question1|question2|is_duplicate", Roles("question1", "question2", "is_duplicate")),
        ("Quality|#1 ID|#2 ID|#1 String|#2 String", Roles("#1 String", "#2 String", "Quality")),
        ("premise|hypothesis|label", Roles("premise", "hypothesis", "label")),
        ("question|sentence|label", Roles("question", "sentence", "label")),
        ("Review Text|Title|Sentiment", Roles("Review Text", "", "Sentiment")),
        ("标签|内容", Roles("内容", "", "标签")),
        ("target|tweet", Roles("tweet", "", "target")),
    ],
)
def test_roles_are_guessed_from_names(columns: str, roles: Roles) -> None:
    cells = ["some words here"] * len(columns.split("|"))
    rows = ["|".join(f"{cell} {number}" for cell in cells) for number in range(13)]
    assert guess_roles(table(columns, *rows)) == roles


def test_roles_without_telling_names_are_guessed_from_the_cells() -> None:
    single = table("1|2", *(f"{text}|{number % 2}" for number, text in enumerate(reviews())))
    assert guess_roles(single) == Roles("1", "", "2")
    turned = table("1|2", *(f"{number % 2}|{text}" for number, text in enumerate(reviews())))
    assert guess_roles(turned) == Roles("2", "", "1")
    pair = table("1|2|3", *(f"{text}|{text} too|{number % 3}" for number, text in enumerate(reviews())))
    assert guess_roles(pair) == Roles("1", "2", "3")


def test_an_id_a_date_and_a_link_are_no_text() -> None:
    rows = [
        f"{n}|2024-05-{n + 1} 10:00:00 +00:00|https://example.org/{n}/a-long-name-of-a-page|{text}|{n % 2}"
        for n, text in enumerate(reviews())
    ]
    assert guess_roles(table("a|b|c|d|e", *rows)) == Roles("d", "", "e")


def test_a_table_of_texts_alone_has_no_label() -> None:
    assert guess_roles(table("text", *reviews())) == Roles("text")
    assert guess_roles(table("anything", *reviews())) == Roles("anything")
    assert guess_roles(table("id|text", *(f"{n}|{text}" for n, text in enumerate(reviews())))) == Roles(
        "text"
    )


def test_classes_that_lie_one_after_another_are_still_seen_as_labels() -> None:
    rows = [f"{text}|{'good' if number < 4000 else 'bad'}" for number, text in enumerate(reviews(5000))]
    assert guess_roles(table("1|2", *rows)) == Roles("1", "", "2")


# Examples


def test_labels_are_stripped_and_sorted_and_rows_keep_their_place() -> None:
    found = examples_from(table("text|label", "b|pos ", "a| neg", "c|pos"), Roles("text", "", "label"))
    assert found.labels == ("neg", "pos")
    assert list(found.examples) == [
        Example(0, ("b",), 1),
        Example(1, ("a",), 0),
        Example(2, ("c",), 1),
    ]


def test_labels_that_are_all_integers_are_sorted_as_numbers() -> None:
    rows = [f"text {n}|{n % 3 * 5}" for n in range(7)]
    assert examples_from(table("text|label", *rows), Roles("text", "", "label")).labels == ("0", "5", "10")
    rows.append("more|b")
    assert examples_from(table("text|label", *rows), Roles("text", "", "label")).labels == (
        "0",
        "10",
        "5",
        "b",
    )


def test_columns_may_be_given_by_number() -> None:
    found = examples_from(table("x|y|z", "a|b|0", "c|d|1", "e|f|1"), Roles("1", "2", "3"))
    assert found.examples[1] == Example(1, ("c", "d"), 1)


def test_rows_that_cannot_be_used_are_reported_by_their_line() -> None:
    rows = ("a|x|0", " |x|0", "c|\t|1", "d|x| ", "e|x|1", "f|x|0")
    found = examples_from(table("text|second|label", *rows), Roles("text", "second", "label"))
    assert [example.row for example in found.examples] == [0, 4, 5]
    assert [(bad.line, str(bad.sentence)) for bad in found.reported] == [
        (3, "Line 3 has no text in column text."),
        (4, "Line 4 has no text in column second."),
        (5, "Line 5 has no label in column label."),
    ]
    assert len(found.examples) + len(found.reported) == len(rows)


def test_a_label_that_the_model_does_not_know_is_reported_not_dropped() -> None:
    found = examples_from(
        table("text|label", "a|pos", "b|meh"), Roles("text", "", "label"), LabelSettings(("pos", "neg"))
    )
    assert found.labels == ("pos", "neg")
    assert [example.label for example in found.examples] == [0]
    assert str(found.reported[0].sentence) == "Line 3 has the label meh, which the model does not know."


def test_without_a_label_column_every_label_is_none() -> None:
    found = examples_from(table("text", "a", "b"), Roles("text"), LabelSettings(("pos", "neg")))
    assert [example.label for example in found.examples] == [None, None]
    assert examples_from(table("text", "a", "b"), Roles("text")).labels == ()


def test_a_label_that_appears_once_is_kept_and_noted() -> None:
    found = examples_from(table("text|label", "a|x", "b|x", "c|y"), Roles("text", "", "label"))
    assert len(found.examples) == 3
    assert str(found.notes[0]) == (
        "One label occurs in one row only, so it is trained on but never measured: y."
    )


@pytest.mark.parametrize(
    ("rows", "roles", "sentence"),
    [
        (("a|x", "b|x"), Roles("text", "", "label"), "Every row has the same label, x"),
        ((" |x", "b| "), Roles("text", "", "label"), "None of the 2 rows can be used. Line 2 has no text"),
        (("a|1", "b|2", "c|3"), Roles("text", "", "label"), "3 different values in 3 rows"),
        (("a|x", "b|y"), Roles("text", "", "stars"), "no column stars. Its columns are: text, label"),
        (("a|x", "b|y"), Roles("text", "", "text"), "Column text has two roles"),
        (("a|x", "b|y"), Roles("", "", "label"), "No text column is chosen. The columns are: text, label"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(rows: tuple[str, ...], roles: Roles, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        examples_from(table("text|label", *rows), roles)


def with_rows(columns: str, rows: list[list[str]]) -> Table:
    names = tuple(columns.split(","))
    frame = pandas.DataFrame(rows, columns=names, dtype=object)
    lines = np.arange(2, 2 + len(rows), dtype=np.int64)
    return Table(Path("reviews.csv"), CSV, names, frame, lines, (), (), "")


def rows_with(labels: list[str]) -> Table:
    return with_rows("text,label", [[f"text {number}", label] for number, label in enumerate(labels * 2)])


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["a", "b", "c", "a|b", "b|c", "a|c"], "task multi-label"),
        (["0", "1", "2", "1,2", "0,1", "0,2,1"], "task multi-label"),
        (["joy; anger", "joy", "anger; fear", "fear; joy"], "task multi-label"),
        (["0 1", "1 2", "0 2", "2"], "task multi-label"),
        (["0 1 1", "1 0 1", "0 0 1"], "task multi-label"),
        (['["a", "b"]', "[]", '["c"]'], "are lists"),
        (["['a', 'b']", "['b']"], "are lists"),
        (["[0 1 0]", "[1 0 0]"], "are lists"),
        (['{"text": ["x"], "answer_start": [3]}', '{"text": [], "answer_start": []}'], "are objects"),
        (["O", "B-PER", "I-PER", "B-LOC"], "task token-labels"),
    ],
)
def test_labels_of_other_tasks_are_refused_with_the_task_and_a_way_out(labels: list[str], task: str) -> None:
    with pytest.raises(DataError, match=task) as refused:
        examples_from(rows_with(labels), Roles("text", "", "label"))
    assert "set whole_labels" in str(refused.value)
    found = examples_from(rows_with(labels), Roles("text", "", "label"), LabelSettings(whole=True))
    assert sorted(found.labels) == sorted(labels)


@pytest.mark.parametrize(
    "labels",
    [
        ["World", "Sports", "Business", "Sci/Tech"],
        ["R&B", "Hip-Hop", "Rock & Roll", "Drum, Bass"],
        ["good", "bad", "good, bad"],
        ["positive", "negative", "positive, negative", "mixed, rather good"],
        ["1", "1,5", "2", "2,5", "3", "3,5", "4", "4,5"],
        ["1,0", "1,5", "2,0", "2,5", "3,0", "3,5", "4,0", "4,5", "5,0"],
        ["Cause-Effect(e1,e2)", "Cause-Effect(e2,e1)", "Other", "Part-Whole(e1,e2)", "Part-Whole(e2,e1)"],
        ["very good", "good", "very bad", "bad"],
        ["sport|football", "sport|tennis", "film|drama", "film|comedy"],
        ["O", "A", "B", "AB"],
        ["B-1", "B-2", "F-1", "O"],
        ["[good]", "[bad]"],
        ["Arts, Crafts", "Food, Drink", "Home, Garden", "Books"],
    ],
)
def test_ordinary_labels_with_marks_in_them_are_no_false_alarm(labels: list[str]) -> None:
    assert len(examples_from(rows_with(labels), Roles("text", "", "label")).labels) == len(labels)


@pytest.mark.slow
@needs_data
def test_the_labels_of_a_real_multi_label_set_are_recognised() -> None:
    assert DATA is not None
    found = read_table(DATA / "multilabel" / "train.tsv")
    with pytest.raises(DataError, match="task multi-label"):
        examples_from(found, Roles(found.columns[0], "", found.columns[1]))


def test_a_column_called_label_whose_values_all_differ_is_not_guessed_and_another_is_named() -> None:
    rows = [[f"some longer text {number}", f"{number:05}", "ab"[number % 2]] for number in range(40)]
    found = with_rows("text,label,verdict", rows)
    assert guess_roles(found) == Roles("text", "", "verdict")
    with pytest.raises(DataError, match=r"40 different values in 40 rows.* such as verdict\."):
        examples_from(found, Roles("text", "", "label"))


def test_more_than_a_thousand_labels_are_refused_by_limit_and_setting_and_learned_if_that_says_so() -> None:
    found = table("text|label", *(f"text {n}|{n // 2}" for n in range(2002)))
    with pytest.raises(DataError, match=r"1,001 different labels .* the 1,000 that max_labels allows"):
        examples_from(found, Roles("text", "", "label"))
    assert len(examples_from(found, Roles("text", "", "label"), LabelSettings(most=1001)).labels) == 1001


# Splits


def test_a_split_has_exact_sizes_and_every_row_once() -> None:
    labels = np.repeat([0, 1, 2], [37, 13, 7])
    train, validation, test = stratified_split(labels, (0.2, 0.1), 42)
    assert (len(train), len(validation), len(test)) == (57 - 11 - 6, 11, 6)
    assert sorted([*train, *validation, *test]) == list(range(57))
    assert np.bincount(labels[validation]).tolist() == [7, 3, 1]
    assert np.all(np.diff(validation) > 0)


def test_the_same_seed_draws_the_same_rows_and_another_seed_draws_others() -> None:
    labels = np.arange(101) % 3
    first, again, other = (stratified_split(labels, (0.2,), seed)[1] for seed in (7, 7, 8))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_the_rows_of_seed_42_are_these_for_ever() -> None:
    _, validation = stratified_split(np.arange(20) % 2, (0.3,), 42)
    assert validation.tolist() == [1, 4, 8, 10, 15, 17]


def test_a_label_that_appears_once_stays_in_training() -> None:
    labels = np.array([0] * 12 + [1])
    for seed in range(20):
        train, validation = stratified_split(labels, (0.5,), seed)
        assert 12 in train
        assert len(validation) == 7


def test_every_label_keeps_a_row_to_train_on_even_if_most_is_held_out() -> None:
    labels = np.repeat(np.arange(5), 2)
    train, validation, test = stratified_split(labels, (0.45, 0.45), 3)
    assert set(labels[train].tolist()) == set(range(5))
    assert len(train) + len(validation) + len(test) == 10


def test_no_share_gives_everything_to_training() -> None:
    train, validation = stratified_split(np.arange(9) % 2, (0.0,), 1)
    assert (len(train), len(validation)) == (9, 0)


def test_shares_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match="take 120 % of the rows") as caught:
        stratified_split(np.arange(9) % 2, (0.6, 0.6), 1)
    assert caught.value.field == "validation_share"


def test_a_label_vector_of_a_million_rows_is_split_at_once() -> None:
    labels = np.arange(1_000_000) % 7
    train, validation = stratified_split(labels, (0.1,), 42)
    assert (len(train), len(validation)) == (900_000, 100_000)
    assert np.ptp(np.bincount(labels[validation])) <= 1


# Duplicates


def keys_of(examples: Sequence[Example], *, either_way: bool = False) -> Keys:
    return result_of(text_keys(ExampleRows.of(examples), either_way=either_way))


def test_duplicates_and_leaks_are_counted_over_both_texts() -> None:
    examples = [
        Example(n, (text, pair), 0)
        for n, (text, pair) in enumerate([("a", "b"), ("a", "b"), ("a", "c"), ("b", "a")])
    ]
    assert count_duplicates(keys_of(examples)) == 1
    keys = keys_of(examples, either_way=True)
    assert count_leaks(keys[:1], keys[1:]) == 2  # the pair again, and with its sides swapped
    assert count_leaks(keys[:0], keys) == 0


def test_a_text_with_two_labels_contradicts_itself_and_a_swapped_pair_does_not() -> None:
    rows = [("a", "b", 0), ("a", "b", 1), ("a", "b", 0), ("b", "a", 2), ("c", "d", 1), ("c", "d", None)]
    examples = [Example(n, (text, pair), label) for n, (text, pair, label) in enumerate(rows)]
    labels = ExampleRows.of(examples).labels
    assert count_contradictions(keys_of(examples), labels) == 1


# Real data


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("file", "places", "num_examples", "labels"),
    [
        ("bbc_news/bbc-text.csv", (2, 0, 1), 2225, "business entertainment politics sport tech"),
        ("polarity/sentence_polarity.csv", (2, 0, 1), 10662, "neg pos"),
        ("sst2/train.tsv", (1, 0, 2), 6920, "0 1"),
        ("sst2/dev.tsv", (1, 0, 2), 872, "0 1"),
        ("lcqmc/dev.txt", (1, 2, 3), 8802, "0 1"),
        ("chnsenticorp/train.tsv", (2, 0, 1), 9600, "0 1"),
        ("chnsenticorp/dev.tsv", (2, 0, 1), 1200, "0 1"),
        ("mrpc/msr_paraphrase_train.txt", (4, 5, 1), 4076, "0 1"),
        ("thucnews/dev.txt", (1, 0, 2), 10000, "0 1 2 3 4 5 6 7 8 9"),
    ],
)
def test_real_files_are_guessed_and_read_as_they_are(
    file: str, places: tuple[int, int, int], num_examples: int, labels: str
) -> None:
    assert DATA is not None
    read = read_table(DATA / file)
    roles = guess_roles(read)
    assert roles == Roles(*(read.columns[place - 1] if place else "" for place in places))
    found = examples_from(read, roles)
    assert len(found.examples) + len(found.reported) + len(read.reported) == num_examples
    assert found.labels == tuple(labels.split())


@needs_data
def test_bbc_has_99_duplicates_and_a_random_split_leaks_some_of_them() -> None:
    assert DATA is not None
    found = examples_from(
        read_table(DATA / "bbc_news" / "bbc-text.csv"), Roles("text", "", "category")
    ).examples
    keys = result_of(text_keys(found))
    assert count_duplicates(keys) == 99
    train, validation = stratified_split(found.labels, (0.2,), 42)
    assert len(validation) == 445
    assert 0 < count_leaks(keys[train], keys[validation]) < 99


# Nearly equal labels

SPELLED = (
    "a|sport",
    "b|Sport",
    "c|sport",
    "d|tech",
    "e|sp\u043ert",
    " |SPORT",
    "f|tech",
    "g|Sport",
    "h|sport",
)


def test_nearly_equal_labels_are_told_with_their_lines_and_left_as_they_are() -> None:
    read = table("text|label", *SPELLED)
    found = examples_from(read, Roles("text", "", "label"))
    assert found.labels == ("Sport", "sport", "sp\u043ert", "tech") and not found.is_merged
    assert [(each.label, each.kept, each.rows.tolist()) for each in found.spellings] == [
        ("Sport", "sport", [1, 7]),
        ("sp\u043ert", "sport", [4]),
    ], "a row that cannot be used does not count"
    assert str(spelling_note(read, found.spellings, is_merged=False)).startswith(
        "Some labels of reviews.csv are nearly equal, but are learned as different ones: "
        "Sport for sport in lines 3, 9; sp‹U+043E›rt for sport in line 6."
    )


def test_merged_labels_are_the_commonest_spelling_and_the_rows_are_all_there() -> None:
    read = table("text|label", *SPELLED)
    found = examples_from(read, Roles("text", "", "label"), LabelSettings(merge=True))
    assert found.labels == ("sport", "tech") and found.is_merged
    assert [example.label for example in found.examples] == [0, 0, 0, 1, 0, 1, 0, 0]
    assert len(found.examples) + len(found.reported) == len(SPELLED)
    assert len(found.spellings) == 2


def test_another_file_is_read_with_the_same_merge_or_says_which_label_may_be_meant() -> None:
    read = table("text|label", "a|SPORT", "b|tech", "c|golf")
    merged = examples_from(read, Roles("text", "", "label"), LabelSettings(("sport", "tech"), merge=True))
    assert [example.label for example in merged.examples] == [0, 1]
    assert [str(bad.sentence) for bad in merged.reported] == [
        "Line 4 has the label golf, which the model does not know."
    ]
    strict = examples_from(read, Roles("text", "", "label"), LabelSettings(("sport", "tech")))
    assert str(strict.reported[0].sentence) == (
        "Line 2 has the label SPORT, which the model does not know. It is nearly equal to sport."
    )
    assert not strict.spellings


def test_labels_that_merge_into_one_leave_nothing_to_learn() -> None:
    with pytest.raises(DataError, match="Every row has the same label, sport"):
        examples_from(
            table("text|label", "a|sport", "b|Sport", "c|sport"),
            Roles("text", "", "label"),
            LabelSettings(merge=True),
        )


def test_a_sentence_on_many_spellings_stays_short() -> None:
    rows = [f"text {n} {m}|{'Label' if m else 'label'} {n} {'x' * 90}" for n in range(300) for m in (0, 0, 1)]
    read = table("text|label", *rows)
    found = examples_from(read, Roles("text", "", "label"))
    said = str(spelling_note(read, found.spellings, is_merged=False))
    assert len(found.spellings) == 300 and "; and 297 more." in said
    assert len(said) < 600 and said.endswith("or with merge_labels=true.")


@pytest.mark.slow
@needs_data
def test_no_label_of_the_real_data_is_taken_for_another() -> None:
    assert DATA is not None
    looked_at = 0
    for path in sorted(DATA.rglob("*")):
        if path.suffix not in (".csv", ".tsv") or not path.is_file() or "torture" in str(path):
            continue
        if path.stat().st_size > 20e6:
            continue
        try:
            read = read_table(path)
            found = examples_from(read, guess_roles(read))
        except DataError:
            continue
        looked_at += bool(found.labels)
        assert [(each.label, each.kept) for each in found.spellings] == [], path
    assert looked_at >= 7
