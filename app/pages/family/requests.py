"""What the Family page asks the models worker: which families there are, and a question to one of them.

Plain functions that touch no Qt object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.shipped import shipped_family
from app.work.worker import Answer
from engine.errors import Sentence, UserError, marked
from engine.events import Steps
from engine.family.ask import Family, Filled, Guess
from engine.family.bert import Bert
from engine.family.claims import read_sentences, sentence_claims, sentence_cosines
from engine.family.exam import Row, of_words
from engine.family.limits import limits
from engine.family.members import MASK
from engine.family.reached import Score
from engine.family.reading import VOCAB
from engine.family.senses import Apart, Senses, read_groups, senses, told_apart
from engine.family.tasks import frozen_hits, parts_of, tuned_hits
from engine.family.train import REPORT, judge, read_family, read_report
from engine.family.words import analogy, nearest
from engine.family.writing import go_on
from engine.settings.family import members_of
from engine.text.examples import Roles, examples_from
from engine.text.table import Table
from engine.train.run.runs import MODEL

FILL, WRITE, NEAREST, SENSES, ANALOGY, FILES, FOLLOWS, TASK, RESULTS, CLAIMS = (
    *("fill", "write", "nearest", "senses", "analogy"),
    *("files", "follows", "task", "results", "claims"),
)
MOST_FAMILIES = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A family that can be asked. text: what it learned from. minutes: of each. is_shipped: in the box.
    is_chinese: most of its words are Chinese characters.
    """

    path: Path
    text: str
    minutes: float
    num_members: int
    is_shipped: bool = False
    is_chinese: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which family. answer: the right word, "" for none; of FOLLOWS the second sentence.
    texts: a word's sentences. files: of questions about words. table: with texts and labels; fine_tune:
    whether all weights are moved too.
    """

    folder: Path
    kind: str
    text: str
    answer: str = ""
    texts: str = ""
    files: tuple[Path, ...] = ()
    fine_tune: bool = False
    table: Table | None = None
    roles: Roles | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What a family answered. names: all its members. words: those of a text with a blank, and its place.
    limits: an example at which a member fails. groups: which sense each of `texts` is of. fine_tuned: of
    those that are done; None while nobody is asked to. naive_bayes: under the name of the n-gram.
    """

    question: Question
    names: tuple[str, ...]
    report: Mapping[str, Any]
    filled: Mapping[str, Filled] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, tuple[Guess, ...]] = field(default_factory=dict)
    limits: Mapping[str, Sentence] = field(default_factory=dict)
    senses: Mapping[str, Senses] = field(default_factory=dict)
    apart: Mapping[str, Apart | None] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    rows: tuple[Row, ...] = ()
    follows: Mapping[str, float] = field(default_factory=dict)
    frozen: Mapping[str, Score] = field(default_factory=dict)
    fine_tuned: Mapping[str, Score | None] | None = None
    naive_bayes: Mapping[str, Score] = field(default_factory=dict)
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
            found.append(
                Found(path, text, minutes, len(members_of(config)), path == shipped, _is_chinese(path))
            )
        except (UserError, OSError, TypeError, ValueError):
            continue  # damaged, or another's file of that name
    return tuple(found)


def _is_chinese(folder: Path) -> bool:
    """Whether most words of a family are Chinese characters."""
    vocab = next(iter(sorted(folder.glob(f"*/{MODEL}/{VOCAB}"))), None)
    tokens = [] if vocab is None else vocab.read_text(encoding="utf-8").split()
    return sum("\u4e00" <= token <= "\u9fff" for token in tokens) > len(tokens) / 2


def ask(opened: OpenFamilies, question: Question) -> Steps[Told]:
    """Return what a family answers, with steps and first answers where that takes long. Raises: UserError."""
    if question.kind == TASK:
        return (yield from _task(opened, question))
    if question.kind == FILES:
        return (yield from _files(opened, question))
    if question.kind == CLAIMS and question.files:
        return (yield from _claims(opened, question))
    yield from ()
    return _answer(opened, question)


def _task(opened: OpenFamilies, question: Question) -> Steps[Told]:
    family, report = opened.family(question.folder), read_report(question.folder)
    names = tuple(family.members)
    assert question.table is not None and question.roles is not None
    learned, asked = parts_of(family, examples_from(question.table, question.roles))
    hits = yield from frozen_hits(family, learned, asked)
    done = list[str]()

    def told() -> Told:
        frozen, reached, bayes = hits.scores()
        tuned = {name: reached.get(name) for name in done} if question.fine_tune else None
        return Told(question, names, report, frozen=frozen, fine_tuned=tuned, naive_bayes=bayes)

    for number, name in enumerate(names if question.fine_tune else ()):
        yield Answer(value=told())
        found = yield from tuned_hits(family, name, learned, asked, number)
        if found is not None:
            hits.fine_tuned[name] = found
        done.append(name)
    return told()


def _files(opened: OpenFamilies, question: Question) -> Steps[Told]:
    family, report = opened.family(question.folder), read_report(question.folder)
    rows = list[Row]()
    for path in question.files:
        rows.append(of_words(family, path))
        yield Answer(value=Told(question, tuple(family.members), report, rows=tuple(rows)))
    return Told(question, tuple(family.members), report, rows=tuple(rows))


def _claims(opened: OpenFamilies, question: Question) -> Steps[Told]:
    family, report = opened.family(question.folder), read_report(question.folder)
    pairs = read_sentences(question.files[0])
    cosines = yield from sentence_cosines(family, pairs)
    new = [asdict(one) for one in sentence_claims(cosines, np.array([one[2] for one in pairs]))]
    if not new:
        raise UserError(marked("engine", "This family has no BERT to compare with."))
    said = {one["claim"] for one in new}
    report["claims"] = [*(one for one in report["claims"] if one["claim"] not in said), *new]
    judge(report)
    return Told(question, tuple(family.members), report)


def _answer(opened: OpenFamilies, question: Question) -> Told:
    report = read_report(question.folder)
    family = opened.family(question.folder)
    names = tuple(family.members)
    if question.kind == FILL:
        filled = family.fill(question.text, 5, question.answer)
        ids = family.words(question.text)
        tokens = tuple(family.token(one) for one in ids)
        fails = limits(family, question.text)
        place = ids.index(MASK)
        return Told(question, names, report, filled=filled, limits=fails, words=tokens, place=place)
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
        return _senses(family, question, report)
    if question.kind == FOLLOWS:
        a, b = family.words(question.text), family.words(question.answer)
        found = {name: one.follows(a, b) for name, one in family.members.items() if isinstance(one, Bert)}
        return Told(question, names, report, follows=found)
    return Told(question, names, report)


def _senses(family: Family, question: Question, report: Mapping[str, Any]) -> Told:
    number = family.word(question.text)
    kept = [(text, group) for text, group in read_groups(question.texts) if number in family.words(text)]
    texts, groups = tuple(text for text, _ in kept), tuple(group for _, group in kept)
    found = senses(family, question.text, texts)
    apart = {name: told_apart(one, groups) for name, one in found.items()}
    return Told(
        question, tuple(family.members), report, senses=found, apart=apart, texts=texts, groups=groups
    )
