"""What the Family page asks the models worker: which families there are, and a question to one of them.

Plain functions that touch no Qt object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.shipped import shipped_family
from engine.errors import UserError, marked
from engine.events import Steps
from engine.family.ask import Family, Filled, Guess
from engine.family.members import MASK
from engine.family.senses import senses
from engine.family.tasks import Solved, parts_of, same_task
from engine.family.train import REPORT, read_family, read_report
from engine.family.words import analogy, nearest
from engine.family.writing import go_on
from engine.settings.family import members_of
from engine.text.examples import Roles, examples_from
from engine.text.table import Table

FILL, WRITE, NEAREST, SENSES, ANALOGY, TASK, CLAIMS = (
    *("fill", "write", "nearest", "senses"),
    *("analogy", "task", "claims"),
)
MOST_FAMILIES = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A family that can be asked. text: what it learned from. minutes: of each. is_shipped: in the box."""

    path: Path
    text: str
    minutes: float
    num_members: int
    is_shipped: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which family. answer: the right word, "" for none. table: with texts and labels."""

    folder: Path
    kind: str
    text: str
    answer: str = ""
    texts: tuple[str, ...] = ()
    table: Table | None = None
    roles: Roles | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What a family answered. names: all its members. words: those of a text with a blank, and its place."""

    question: Question
    names: tuple[str, ...]
    report: Mapping[str, Any]
    filled: Mapping[str, Filled] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, tuple[Guess, ...]] = field(default_factory=dict)
    likeness: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    solved: Mapping[str, Solved] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    place: int = -1


class OpenFamilies:
    """The family that was asked last, kept in memory; for the models worker alone."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._stamp = 0.0
        self._family: Family | None = None

    def family(self, folder: Path) -> Family:
        """Return the family in a folder, loaded once. Raises: UserError."""
        report = folder / REPORT
        stamp = report.stat().st_mtime if report.is_file() else 0.0
        if self._family is None or (folder, stamp) != (self._folder, self._stamp):
            self._family = Family.open(folder)
            self._folder, self._stamp = folder, stamp
        return self._family


def families(root: Path) -> tuple[Found, ...]:
    """Return the families that have come to their end: that in the box first, then the newest."""
    shipped, found = shipped_family(), list[Found]()
    own = sorted(root.glob(f"*/{REPORT}"), key=lambda path: path.parent.name, reverse=True)[:MOST_FAMILIES]
    for path in ([shipped] if shipped is not None else []) + [one.parent for one in own]:
        try:
            report, config = read_report(path), read_family(path)
            minutes = float(report.get("minutes", 0.0))
            text = ", ".join(Path(place).name for place in config.text.text.split("\n"))
            found.append(Found(path, text, minutes, len(members_of(config)), path == shipped))
        except (UserError, TypeError, ValueError):
            continue  # damaged, or another's file of that name
    return tuple(found)


def ask(opened: OpenFamilies, question: Question) -> Steps[Told]:
    """Return what a family answers, with steps where that takes long. Raises: UserError."""
    if question.kind != TASK:
        yield from ()
        return _answer(opened, question)
    family = opened.family(question.folder)
    assert question.table is not None and question.roles is not None
    learned, asked = parts_of(family, examples_from(question.table, question.roles))
    found = yield from same_task(family, learned, asked, fine_tune=False)
    return Told(question, tuple(family.members), read_report(question.folder), solved=found)


def _answer(opened: OpenFamilies, question: Question) -> Told:
    report = read_report(question.folder)
    family = opened.family(question.folder)
    names = tuple(family.members)
    if question.kind == FILL:
        filled = family.fill(question.text, 5, question.answer)
        ids = family.words(question.text)
        tokens = tuple(family.token(one) for one in ids)
        return Told(question, names, report, filled=filled, words=tokens, place=ids.index(MASK))
    if question.kind == WRITE:
        return Told(question, names, report, written=go_on(family, question.text, 12))
    if question.kind == NEAREST:
        return Told(question, names, report, near=nearest(family, question.text, 6))
    if question.kind == ANALOGY:
        three = question.text.split()
        if len(three) != 3:
            raise UserError(marked("engine", "Give three words, such as: man king woman"))
        return Told(question, names, report, near=analogy(family, three[0], three[1], three[2]))
    if question.kind == SENSES:
        found = senses(family, question.text, _those_with(family, question.text, question.texts))
        return Told(question, names, report, likeness={name: one.likeness for name, one in found.items()})
    return Told(question, names, report)


def _those_with(family: Family, word: str, texts: Sequence[str]) -> list[str]:
    """Return the sentences in which a word stands."""
    number = family.word(word)
    return [text for text in texts if text.strip() and number in family.words(text)]
