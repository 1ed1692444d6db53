"""Labels that may be one another, and labels with too few rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine.doctor.finding import Finding
from engine.doctor.labels import on_labels, similar_labels
from engine.doctor.part import reading_part
from engine.events import result_of
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

ODD = ("Sport", "sp\u043ert", "ｓｐｏｒｔ", "spott", "sprot", "sporrt", "spot")


SHORT = {"HUM": 1215, "LOC": 830, "NUM": 890, "ENTY": 1250}


@pytest.mark.parametrize(("odd", "meant"), [("hmu", "HUM"), ("lco", "LOC"), ("nmu", "NUM"), ("num", "NUM")])
def test_three_letters_are_mistyped_where_the_label_meant_is_much_commoner(odd: str, meant: str) -> None:
    assert similar_labels(Counter({**SHORT, odd: 2})) == {odd: meant}


def labelled(folder: Path, labels: list[str]) -> list[Finding]:
    texts = [f"text number {place}" for place in range(len(labels))]
    write_csv(folder / "rows.csv", ("text", "label"), list(zip(texts, labels, strict=True)))
    part = result_of(reading_part("rows.csv", read_table(folder / "rows.csv"), Roles("text", "", "label")))
    return list(on_labels(part))


def test_blanks_around_a_label_are_not_learned_and_are_no_other_label(tmp_path: Path) -> None:
    assert not labelled(tmp_path, [*["HUM", "LOC"] * 30, "HUM ", " LOC"])


def test_a_row_whose_label_may_be_another_is_told_of_once(tmp_path: Path) -> None:
    found = labelled(tmp_path, [*["HUM", "LOC"] * 60, "Hum", "Hum", "lco", "HUM "])
    assert [finding.kind for finding in found] == ["similar_labels"]
    assert found[0].rows.tolist() == [120, 121, 122] and "HUM " not in str(found[0].sentence)


@pytest.mark.parametrize("odd", ODD)
def test_a_rare_spelling_stands_for_the_commoner_label(odd: str) -> None:
    assert similar_labels(Counter({"sport": 100, "politics": 90, odd: 3})) == {odd: "sport"}


@pytest.mark.parametrize(
    "labels",
    [
        {"level1": 100, "level2": 3},  # numbers are told apart
        {"north": 80, "forth": 70},  # both are common
        {"pos": 100, "neg": 90, "pog": 2},  # too short to tell
        {"was": 300, "saw": 200, "aws": 40},
        {"no": 300, "on": 2},
        {"cafe": 90, "café": 80},
        {"entailment": 90, "neutral": 80, "contradiction": 3},
    ],
)
def test_labels_of_their_own_are_not_similar(labels: dict[str, int]) -> None:
    assert not similar_labels(Counter(labels))
