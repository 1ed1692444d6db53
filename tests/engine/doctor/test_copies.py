"""Copies, near copies, contradictions and leaks, planted and not."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.doctor.examine import examining
from engine.doctor.finding import Finding, NewFinding
from engine.doctor.part import TablePart, reading_part
from engine.events import result_of
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

TEXTS = (
    "The river rose above its banks before the bridge could be closed to traffic.",
    "A quiet comedy about two brothers who inherit a bakery they do not want.",
    "The minister promised lower taxes, and nobody in the hall believed a word.",
    "Her second novel is longer than the first one and far less patient with its readers.",
    "Scientists found water under the ice of a moon that nobody had looked at for years.",
    "An awful snooze",
    "这部电影讲述了一个年轻人回到家乡寻找父亲的故事",
    "酒店的房间很干净，服务员也非常热情，下次还会再来",
)
LABELS = ("a", "b", "a", "b", "a", "b", "a", "b")


def part_of(folder: Path, rows: list[tuple[str, ...]], name: str = "data.csv") -> TablePart:
    """Return rows of (text, label) or (text, text, label) as a part."""
    columns = ("one", "two", "label") if len(rows[0]) == 3 else ("text", "label")
    write_csv(folder / name, columns, rows)
    roles = Roles("one", "two", "label") if len(rows[0]) == 3 else Roles("text", "", "label")
    return result_of(reading_part(name, read_table(folder / name), roles))


def examined(*parts: TablePart) -> dict[str, Finding]:
    """Return what is found, by kind; of one kind the first."""
    found: dict[str, Finding] = {}
    for event in examining(parts):
        if isinstance(event, NewFinding):
            found.setdefault(event.finding.kind, event.finding)
    return found


def rows_of(texts: list[str], label: str = "") -> list[tuple[str, ...]]:
    return [(text, label or LABELS[place % len(LABELS)]) for place, text in enumerate(texts)]


def test_different_texts_are_no_copies(tmp_path: Path) -> None:
    found = examined(part_of(tmp_path, rows_of(list(TEXTS))))
    assert not {"exact_duplicates", "near_duplicates", "contradicting_labels"} & found.keys()


def test_an_exact_copy_is_named_with_the_row_that_it_repeats(tmp_path: Path) -> None:
    found = examined(part_of(tmp_path, rows_of([*TEXTS, TEXTS[2], TEXTS[7]])))
    copies = found["exact_duplicates"]
    assert copies.rows.tolist() == [8, 9] and copies.twins is not None and copies.twins.tolist() == [2, 7]
    assert "near_duplicates" not in found


def test_single_edits_are_near_copies_in_both_scripts(tmp_path: Path) -> None:
    edits = [
        TEXTS[0].upper(),
        TEXTS[1].replace("two ", ""),
        TEXTS[2].replace("promised", "offered"),
        TEXTS[3].replace("second", "secnod"),
        TEXTS[4] + "!!",
        TEXTS[6].replace("年轻", "青年"),
        TEXTS[7].replace("，", ""),
    ]
    near = examined(part_of(tmp_path, rows_of([*TEXTS, *edits])))["near_duplicates"]
    assert sorted(near.rows.tolist()) == list(range(8, 15))
    assert near.twins is not None and near.similarity is not None
    twins = dict(zip(near.rows.tolist(), near.twins.tolist(), strict=True))
    assert [twins[row] for row in range(8, 15)] == [0, 1, 2, 3, 4, 6, 7]
    assert (near.similarity[:-1] >= near.similarity[1:]).all() and near.similarity[0] == 1


FRAMES = {
    "What is the capital of {} ?": (
        "Iran",
        "Iraq",
        "Niger",
        "Nigeria",
        "Mali",
        "Malta",
        "Iceland",
        "Ireland",
    ),
    "What does {} stand for ?": ("CPR", "CNN", "CPU", "IRA", "IRS", "NASA"),
    "What is a fear of {} ?": ("worms", "water", "cats", "bats", "rats"),
    "book a table for {} people at 7 pm": ("two", "three", "four", "6", "7", "12"),
    "set an alarm for {} in the morning": ("5:10", "5:15", "6:10", "6:15"),
    "Who is the president of {} ?": ("France", "Peru"),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("others", [(), TEXTS])
def test_questions_of_one_frame_are_not_near_copies(
    tmp_path: Path, frame: str, others: tuple[str, ...]
) -> None:
    texts = [frame.format(word) for word in FRAMES[frame]]
    assert "near_duplicates" not in examined(part_of(tmp_path, rows_of([*texts, *others])))


@pytest.mark.parametrize(
    "edited",
    [
        "what is a fear of wroms",
        "What is the fear of worms ?",
        "What is fear of worms ?!",
        "WHAT IS A FEAR OF WORMS ?",
        "Waht is a fear of worms ?",
        "What is really a fear of worms ?",
    ],
)
def test_a_slip_or_a_small_word_in_such_a_question_leaves_it_a_near_copy(tmp_path: Path, edited: str) -> None:
    texts = ["What is a fear of worms ?", "What is a fear of water ?", "What is a fear of cats ?", *TEXTS]
    found = examined(part_of(tmp_path, rows_of([*texts, edited])))["near_duplicates"]
    assert found.rows.tolist() == [len(texts)] and found.twins is not None and found.twins.tolist() == [0]


def test_a_text_of_one_word_is_a_near_copy_where_it_is_a_known_word_mistyped(tmp_path: Path) -> None:
    texts = [
        "excellent",
        "excellnet",
        "house",
        "mouse",
        "great",
        *(f"great {word}" for word in ("food", "view")),
    ]
    found = examined(part_of(tmp_path, rows_of([*texts, "graet", "gret"])))["near_duplicates"]
    assert sorted(found.rows.tolist()) == [1, 7, 8]


def test_a_text_with_two_labels_contradicts_itself(tmp_path: Path) -> None:
    rows = [*rows_of(list(TEXTS)), (TEXTS[0].lower(), "b"), (TEXTS[3], "b")]
    contradicting = examined(part_of(tmp_path, rows))["contradicting_labels"]
    assert contradicting.rows.tolist() == [0, 8]


def test_what_stands_in_two_parts_leaks_also_nearly(tmp_path: Path) -> None:
    data = part_of(tmp_path, rows_of(list(TEXTS)))
    others = ["Something else altogether stands here.", TEXTS[4], TEXTS[1].replace("bakery", "bakrey")]
    test = part_of(tmp_path, rows_of(others), "test.csv")
    found = examined(data, test)
    for kind, row, partner in (("leaks", 4, 1), ("near_leaks", 1, 2)):
        leaks = found[kind]
        assert (leaks.part, leaks.rows.tolist(), leaks.other) == ("data.csv", [row], "test.csv")
        assert leaks.partners is not None and [rows.tolist() for rows in leaks.partners] == [[partner]]


def test_all_partners_of_a_leak_are_named_those_word_for_word_first(tmp_path: Path) -> None:
    data = part_of(tmp_path, rows_of(list(TEXTS)))
    others = [TEXTS[4].upper(), TEXTS[0], TEXTS[4], "Something else altogether stands here."]
    leaks = examined(data, part_of(tmp_path, rows_of(others), "test.csv"))["leaks"]
    assert leaks.rows.tolist() == [0, 4] and leaks.partners is not None
    assert [rows.tolist() for rows in leaks.partners] == [[1], [2, 0]]


def test_a_row_without_a_label_is_no_leak_where_others_have_one(tmp_path: Path) -> None:
    shared = "a film about the long river of the north"
    rows = [("another film", "good"), (shared, ""), ("nothing like it at all here", "bad")]
    test = part_of(tmp_path, [(shared, "good")], "test.csv")
    assert "leaks" not in examined(part_of(tmp_path, rows), test)
    rows[1] = (shared, "bad")
    assert examined(part_of(tmp_path, rows), test)["leaks"].rows.tolist() == [1]


def test_what_is_found_in_another_part_is_no_mend_of_the_open_one(tmp_path: Path) -> None:
    faulty = rows_of([*TEXTS, TEXTS[0], TEXTS[1].upper(), TEXTS[2]])
    faulty[-1] = (TEXTS[2], "B.")
    others = part_of(tmp_path, [(f"{text} or so, they said", label) for text, label in faulty], "test.csv")
    data = part_of(tmp_path, rows_of(list(TEXTS)))
    found = [event.finding for event in examining([data, others]) if isinstance(event, NewFinding)]
    kinds = {finding.kind for finding in found if finding.part == "test.csv"}
    assert {"exact_duplicates", "near_duplicates", "contradicting_labels", "similar_labels"} <= kinds
    assert not any(finding.mends for finding in found if finding.part == "test.csv")


def test_a_pair_leaks_with_its_sides_swapped_and_half_a_pair_does_not(tmp_path: Path) -> None:
    data = part_of(tmp_path, [(TEXTS[0], TEXTS[1], "a"), (TEXTS[2], TEXTS[3], "b")])
    test = part_of(tmp_path, [(TEXTS[1], TEXTS[0], "a"), (TEXTS[2], TEXTS[4], "b")], "test.csv")
    assert examined(data, test)["near_leaks"].rows.tolist() == [0]


def test_a_pair_with_one_side_slightly_changed_is_a_near_copy(tmp_path: Path) -> None:
    changed = [("A man is eating food.", "Someone eats."), ("降血糖吃什么水果好", "吃什么水果降血糖")]
    again = [("A man is eating fodo.", "Someone eats."), ("吃什么水果降血糖", "降血糖吃什么水果妙")]
    others = [("A man is eating food.", "Nobody is eating."), ("降血压吃什么水果好", "吃什么蔬菜降血压")]
    rows = [(*pair, "a") for pair in (*changed, *again, *others)]
    copies = examined(part_of(tmp_path, rows))["near_duplicates"]
    assert copies.twins is not None
    assert dict(zip(copies.rows.tolist(), copies.twins.tolist(), strict=True)) == {2: 0, 3: 1}


def test_rows_without_text_or_label_are_named_and_harm_nothing(tmp_path: Path) -> None:
    rows = [*rows_of(list(TEXTS)), ("  ", "a"), ("Something else altogether stands here.", "")]
    found = examined(part_of(tmp_path, rows))
    assert found["missing_texts"].rows.tolist() == [8] and found["missing_labels"].rows.tolist() == [9]
