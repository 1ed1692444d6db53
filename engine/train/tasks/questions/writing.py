"""A file of answers: SQuAD's own {id: answer}, JSON lines with places and chances, or a table.

Its name says which: .json, .jsonl, or anything else for a table, as `write_table` writes it. Whole or not
at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from engine.durable import replaced_file
from engine.text.questions.decoding import FoundAnswer
from engine.text.questions.question import PassageQuestion, PassageTable
from engine.text.table import Table, write_table

ANSWER, START, END, PROBABILITY = ADDED = ("prediction", "prediction start", "prediction end", "probability")
MOST_CANDIDATES = 20  # of each question, in JSON lines


class Writing(Protocol):
    """Takes the answers in turn."""

    def __call__(self, question: PassageQuestion, found: FoundAnswer, text: str) -> None:
        """Args: text: what is answered; "" for "there is no answer"."""


def is_table(out: Path) -> bool:
    """Whether a file of this name is written as a table."""
    return out.suffix.lower() not in (".json", ".jsonl")


@contextmanager
def writing(out: Path, questions: PassageTable, table: Table | None, *, raw: bool) -> Iterator[Writing]:
    """Give what takes the answers; on leaving, the file is there.

    Args: table: what the questions were read from, which then is copied with its answers beside it. raw:
    leave cells that a spreadsheet would run.
    """
    if not is_table(out):
        with replaced_file(out) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
            if out.suffix.lower() == ".jsonl":

                def add_line(question: PassageQuestion, found: FoundAnswer, text: str) -> None:
                    file.write(json.dumps(_full(question, found, text), ensure_ascii=False) + "\n")

                yield add_line
            else:
                between = iter(("{\n", ""))  # before the first answer, before all others

                def add_text(question: PassageQuestion, found: FoundAnswer, text: str) -> None:
                    before = next(between, "") or ",\n"
                    file.write(f"{before}{json.dumps(question.id)}: {json.dumps(text, ensure_ascii=False)}")

                yield add_text
                file.write("{}\n" if next(between, "") else "\n}\n")
        return
    rows: list[tuple[PassageQuestion, tuple[str, ...]]] = []
    yield lambda question, found, text: rows.append((question, _cells(found, text)))
    exempt = (START, END, PROBABILITY)
    if table is None:
        columns = ("id", "title", "question", *ADDED)
        listed = ((q.id, questions.passages[q.passage].title, q.text, *cells) for q, cells in rows)
        write_table(out, columns, listed, guard=not raw, exempt=exempt)
        return
    frame = table.frame.copy()
    places = np.searchsorted(table.lines, [question.place.line for question, _ in rows])
    for number, name in enumerate(ADDED):
        column = np.full(table.num_rows, "", object)
        column[places] = [cells[number] for _, cells in rows]
        frame[name] = column
    write_table(out, list(frame.columns), frame, guard=not raw, exempt=exempt)


def sureness(found: FoundAnswer, text: str) -> float:
    """Return the probability of what is answered, 0..1."""
    if not text or not found.candidates:
        return found.none_probability
    return found.candidates[0].probability


def _cells(found: FoundAnswer, text: str) -> tuple[str, ...]:
    place = (str(found.candidates[0].start), str(found.candidates[0].stop)) if text else ("", "")
    return (text, *place, f"{sureness(found, text):.6f}")


def _full(question: PassageQuestion, found: FoundAnswer, text: str) -> dict[str, object]:
    best = found.candidates[0] if text else None
    return {
        "id": question.id,
        "question": question.text,
        "answer": text,
        "start": best.start if best else None,
        "end": best.stop if best else None,
        "probability": round(sureness(found, text), 6),
        "none_probability": round(found.none_probability, 6),
        "candidates": [
            {"text": one.text, "start": one.start, "end": one.stop, "probability": round(one.probability, 6)}
            for one in found.candidates[:MOST_CANDIDATES]
        ],
    }
