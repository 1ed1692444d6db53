"""Whether the doctor finds faults that were planted: how many of them, and how many rows besides.

    python -m benchmarks.bench_doctor
    python -m benchmarks.bench_doctor --data reviews.csv --text text --label label --flips 3
    python -m benchmarks.bench_doctor --rows 1000000

Copies have one edit: other case, a word dropped or changed, a typo, punctuation. Wrong labels are drawn
evenly, which is easier than what people do wrong. With --rows, the table is repeated with numbers in its
texts until it has so many; told is the time, and the longest silence.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measure import machine
from benchmarks.work import SAMPLES
from engine.commands.doctor import NO_MODEL
from engine.doctor.examine import examining
from engine.doctor.finding import Finding, NewFinding
from engine.doctor.part import TablePart, reading_part
from engine.doctor.suspected import suspecting
from engine.events import Event, result_of
from engine.shipped import model_shipped
from engine.text.examples import guess_roles
from engine.text.roles import Roles
from engine.text.table import Table, read_table, write_csv

Row = tuple[str, str]
EDITS = ("case", "dropped word", "changed word", "typo", "punctuation")
COPIES, LEAKS, ODD = 500, 50, 20
FLIPPED, WORST = 0.05, 0.10


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is found of each fault."""
    chosen = _parser().parse_args(arguments)
    print(machine(), flush=True)
    table = read_table(chosen.data, header=chosen.header, quoting=chosen.quoting)
    roles = (
        Roles(table.column(chosen.text), "", table.column(chosen.label))
        if chosen.text
        else guess_roles(table)
    )
    rows = list(zip(table.frame[roles.text].tolist(), table.frame[roles.label].tolist(), strict=True))
    rows = [(text.strip(), label.strip()) for text, label in rows if text.strip() and label.strip()]
    with tempfile.TemporaryDirectory() as folder:
        if chosen.rows:
            _measure_large(rows, chosen.rows, Path(folder))
            return 0
        rows = list(dict(rows).items())  # each text once
        _copies(rows, Path(folder))
        _leaks(rows, Path(folder))
        _labels(rows, Path(folder))
        model = (
            None
            if chosen.model == NO_MODEL
            else Path(chosen.model)
            if chosen.model
            else model_shipped("starter")
        )
        for seed in range(chosen.flips):
            _flips(rows, Path(folder), seed, model)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench_doctor", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data",
        type=Path,
        default=SAMPLES / "sentence_polarity.csv",
        help="default: the sentences that ship",
    )
    parser.add_argument("--text", help="the column to read; with --label")
    parser.add_argument("--label")
    parser.add_argument("--header", default="", help='"no" where line 1 is a row')
    parser.add_argument("--quoting", default="")
    parser.add_argument(
        "--flips", type=int, default=1, help="times that wrong labels are planted; default: 1"
    )
    parser.add_argument("--model", help="a model folder; none: word counts alone; default: the starter model")
    parser.add_argument("--rows", type=int, default=0, help="measure the time for so many rows instead")
    return parser


def _part(rows: Sequence[Row], path: Path) -> TablePart:
    write_csv(path, ("text", "label"), rows, guard=False)
    table: Table = read_table(path, header="yes", separator=",", quoting="csv")
    assert table.num_rows == len(rows)
    return result_of(reading_part(path.name, table, Roles("text", "", "label")))


def _found(events: Iterator[Event]) -> dict[str, Finding]:
    return {event.finding.kind: event.finding for event in events if isinstance(event, NewFinding)}


def _rows(found: dict[str, Finding], kind: str) -> set[int]:
    return set(found[kind].rows.tolist()) if kind in found else set()


def _copies(rows: list[Row], folder: Path) -> None:
    rng = random.Random(1)
    clean = _found(examining([_part(rows, folder / "clean.csv")]))
    named = {
        kind: len(_rows(clean, kind)) for kind in ("exact_duplicates", "near_duplicates", "similar_labels")
    }
    print(f"{len(rows):,} rows, none planted: {named}")
    edits = [EDITS[number % len(EDITS)] for number in range(COPIES)]
    texts = [text for text, _label in rows]
    sources = rng.sample(range(len(rows)), COPIES)
    planted = [
        (_edited(texts[at], edit, rng, texts), rows[at][1]) for at, edit in zip(sources, edits, strict=True)
    ]
    start = time.perf_counter()
    found = _found(examining([_part([*rows, *planted], folder / "near.csv")]))
    seconds = time.perf_counter() - start
    named_rows = _rows(found, "near_duplicates") | _rows(found, "exact_duplicates")
    hits = {len(rows) + place for place in range(COPIES)} & named_rows
    by_edit = {e: sum(edits[row - len(rows)] == e for row in hits) for e in EDITS}
    print(
        f"near copies: {len(hits)} of {COPIES}, {len(named_rows - hits)} others, {seconds:.1f} s; {by_edit}"
    )


def _leaks(rows: list[Row], folder: Path) -> None:
    rng = random.Random(2)
    order = rng.sample(range(len(rows)), len(rows))
    cut = len(rows) // 5
    test, train = [rows[at] for at in order[:cut]], [rows[at] for at in order[cut:]]
    texts = [text for text, _label in rows]
    before = _leaked(
        _found(examining([_part(train, folder / "train.csv"), _part(test, folder / "test.csv")]))
    )
    leaked = rng.sample([at for at in range(len(train)) if at not in before], LEAKS)
    copies = [
        train[at] if n % 2 else (_edited(train[at][0], "case", rng, texts), "x")
        for n, at in enumerate(leaked)
    ]
    both = [_part(train, folder / "train.csv"), _part([*test, *copies], folder / "test.csv")]
    found = _leaked(_found(examining(both)))
    print(
        f"leaks: {len(found & set(leaked))} of {LEAKS}, {len(found - set(leaked))} others "
        f"({len(before)} before)"
    )


def _leaked(found: dict[str, Finding]) -> set[int]:
    return _rows(found, "leaks") | _rows(found, "near_leaks")


def _labels(rows: list[Row], folder: Path) -> None:
    rng = random.Random(3)
    odd = rng.sample([at for at, (_, label) in enumerate(rows) if len(label) > 3] or range(len(rows)), ODD)
    made = list(rows)
    for number, at in enumerate(odd):
        text, label = made[at]
        looks = (label.upper(), label.replace("o", "\u043e"), f"{label}\u200b", _wide(label))
        made[at] = (text, looks[number % len(looks)])
    changed = {at for at in odd if made[at] != rows[at]}
    found = _rows(_found(examining([_part(made, folder / "labels.csv")])), "similar_labels")
    print(f"labels that look alike: {len(found & changed)} of {len(changed)}, {len(found - changed)} others")


def _wide(label: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in label)


def _flips(rows: list[Row], folder: Path, seed: int, model: Path | None) -> None:
    rng = random.Random(100 + seed)
    labels = sorted({label for _text, label in rows})
    flipped = set(rng.sample(range(len(rows)), int(FLIPPED * len(rows))))
    made = [
        (text, rng.choice([one for one in labels if one != label]) if at in flipped else label)
        for at, (text, label) in enumerate(rows)
    ]
    start = time.perf_counter()
    found = _found(suspecting(_part(made, folder / "flips.csv"), model))["suspected_labels"]
    worst = set(found.rows[: int(WORST * len(rows))].tolist())
    share = len(worst & flipped) / len(flipped)
    by = model.name if model else "word counts alone"
    seconds = time.perf_counter() - start
    print(
        f"wrong labels, seed {seed}: {share:.1%} in the worst {WORST:.0%}, by {by}, {seconds:.0f} s",
        flush=True,
    )


def _edited(text: str, edit: str, rng: random.Random, texts: Sequence[str]) -> str:
    """Return a text with one edit that leaves what it says nearly as it was."""
    is_spaced = " " in text
    words = text.split() if is_spaced else list(text)
    gap, at = " " if is_spaced else "", rng.randrange(len(words))
    if edit == "dropped word" and len(words) > 3:
        return gap.join(words[:at] + words[at + 1 :])
    if edit == "changed word" and len(words) > 3:
        other = rng.choice(texts)
        return gap.join(
            words[:at] + [rng.choice(other.split() if is_spaced else list(other))] + words[at + 1 :]
        )
    if edit == "typo":
        at = rng.randrange(len(text))
        return rng.choice(
            (
                text[:at] + text[at + 1 :],
                text[:at] + rng.choice(string.ascii_lowercase) + text[at + 1 :],
                text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
            )
        )
    if edit == "case":
        return text.upper() if text.upper() != text else text.title()
    return text + rng.choice(("!", " ...", "?!", "。"))


def _measure_large(rows: list[Row], count: int, folder: Path) -> None:
    """Print how long it takes to examine a large table, and the longest time between two yields."""
    made = (
        (f"{rows[at % len(rows)][0]} {at * 7919 % 1000003}", rows[at % len(rows)][1]) for at in range(count)
    )
    write_csv(folder / "large.csv", ("text", "label"), made, guard=False)
    table = read_table(folder / "large.csv")
    start = last = time.perf_counter()
    silence = 0.0
    part = result_of(reading_part("large.csv", table, Roles("text", "", "label")))
    for event in examining([part]):
        now = time.perf_counter()
        silence, last = max(silence, now - last), now
        if isinstance(event, NewFinding):
            print(f"  {event.finding.kind}: {len(event.finding.rows):,} rows", flush=True)
    print(
        f"{count:,} rows examined in {time.perf_counter() - start:.0f} s, silent for {silence:.2f} s at most"
    )


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore", over="ignore")
    sys.exit(main())
