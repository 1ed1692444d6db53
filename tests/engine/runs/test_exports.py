"""What is taken along from runs is read back: event files by a reader of their format, cards by words."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from engine.events import result_of
from engine.model.tensorflow.table import masked_crc
from engine.runs.card import card
from engine.runs.facts import RunFacts
from engine.runs.index import index_of
from engine.runs.marks import set_marks
from engine.runs.scalars import write_events
from tests.engine.made_runs import made_run


def facts_of(root: Path) -> list[RunFacts]:
    return sorted(result_of(index_of(root)), key=lambda facts: facts.began)


def crc32c(data: bytes) -> int:
    """Return the plain checksum, bit by bit. Source: RFC 3720, B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data: bytes) -> dict[int, Any]:
    """Return the fields of a protobuf message: numbers, bytes, fixed ones as they stand."""
    found, place = {}, 0
    while place < len(data):
        key, place = varint(data, place)
        kind = key & 7
        if kind == 0:
            value, place = varint(data, place)
        elif kind == 2:
            length, place = varint(data, place)
            value, place = data[place : place + length], place + length
        else:
            size = {1: 8, 5: 4}[kind]
            value, place = (
                struct.unpack("<d" if size == 8 else "<f", data[place : place + size])[0],
                place + size,
            )
        found[key >> 3] = value
    return found


def varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def records(data: bytes) -> list[dict[int, Any]]:
    found, place = [], 0
    while place < len(data):
        length = data[place : place + 8]
        size = struct.unpack("<Q", length)[0]
        (first,) = struct.unpack("<I", data[place + 8 : place + 12])
        event = data[place + 12 : place + 12 + size]
        (last,) = struct.unpack("<I", data[place + 12 + size : place + 16 + size])
        assert (first, last) == (masked(length), masked(event))
        found.append(fields(event))
        place += 16 + size
    return found


def test_the_checksum_is_that_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    texts = [b"123456789", b"", b"\x00" * 32, b"abc"]
    assert [masked_crc(text) for text in texts] == [masked(text) for text in texts]


def test_an_event_file_holds_every_value_at_its_step(tmp_path: Path) -> None:
    path = made_run(
        tmp_path / "runs", "films", steps=300, losses=[0.5 + step / 1000 for step in range(300)], right=90
    )
    (facts,) = facts_of(tmp_path / "runs")
    written = result_of(write_events(facts, tmp_path / "out" / path.name))
    first, *events = records(written.read_bytes())
    assert first[3] == b"brain.Event:2" and written.name.startswith("events.out.tfevents.")
    scalars: dict[str, dict[int, float]] = {}
    for event in events:
        value = fields(fields(event[5])[1])
        scalars.setdefault(value[1].decode(), {})[event[2]] = value[2]
    assert set(scalars) == {
        "train/loss", "train/score", "validation/loss", "validation/accuracy", "validation/macro_f1"
    }  # fmt: skip
    assert len(scalars["train/loss"]) == 300 and scalars["train/loss"][300] == pytest.approx(0.799)
    assert scalars["validation/accuracy"] == {300: pytest.approx(0.9)}
    assert events[0][1] <= events[299][1]


def test_a_card_tells_what_is_known_and_that_the_rest_is_not(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number, right in enumerate((80, 90, 85)):
        made_run(
            root,
            "films",
            seed=number,
            right=right,
            number=number,
            num_epochs=2,
            notes=("One label is never found.",),
        )
    facts = facts_of(root)
    set_marks(Path(facts[0].path), note="For short reviews.")
    text = card(facts_of(root), "films")
    for said in (
        "# films",
        "Labels: `bad`, `good`.",
        "For short reviews.",
        "`films.csv`",
        "1,000 training, 100 validation",
        "| validation | accuracy | 0.8000 | 0.7112 to 0.8666 | 100 |",
        "Over 3 seeds, validation accuracy is 0.8500 ± 0.0500",
        "- num_epochs: 2",
        "One label is never found.",
        "There was no test part",
        "unknown to the run",
    ):
        assert said in text, said
    assert "One seed" not in text and "One seed" in card(facts[:1], "films")


def test_the_card_of_a_run_that_failed_says_so(tmp_path: Path) -> None:
    made_run(tmp_path / "runs", "films", state="failed", why="The disk is full.")
    text = card(facts_of(tmp_path / "runs"), "films")
    assert "not finished: failed at step 12. The disk is full." in text and "It was not measured" in text
