"""All questions to all members: what stands in a family's card beside what its training told, and the card
made anew with their answers. A packed family, such as the one in the box, is asked in its own folder.

Each question is a row: for each member that can be asked a score with its interval, nothing for the others.
Files that are asked from are named; what has a word beyond the vocabulary is left out and counted.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event, Finished, Progress, Steps
from engine.family.ask import Family, rank_of
from engine.family.blanks import Blank, draw_blanks, filled
from engine.family.card import ANALOGIES, PERCENT, RANKS, SAME_SENSE, UNREAD, UNREAD_IN_PRACTICE
from engine.family.claims import (
    CLS_VECTOR,
    both_sides,
    read_sentences,
    sentence_claims,
    task_claims,
    trainings_cosines,
    two_in_a_row,
)
from engine.family.layout import read_family
from engine.family.members import MASK
from engine.family.other import OtherModel
from engine.family.reached import ReachedScore, correlations, over_trainings, shares
from engine.family.reading import VOCAB, Streams, prepared, streams
from engine.family.scores import Scores, document_of, scores
from engine.family.sense_sentences import SENTENCES
from engine.family.senses import senses, told_apart
from engine.family.tasks import Hits, add_tuned_hits, frozen_hits, parts_of
from engine.family.train import CARD, judge, read_report, write_report
from engine.family.trainings import Trainings
from engine.family.verdicts import Claim
from engine.family.words import answered
from engine.settings.family import FamilyConfig
from engine.text.examples import examples_from
from engine.text.roles import Roles
from engine.text.table import Table
from engine.train.run.runs import MODEL

_ASKING = marked("engine", "Asking the family")


@dataclass(frozen=True, slots=True)
class ExamRow:
    """One question. name: what it is, marked. source: the file that it was asked from, "" for none. unit:
    PERCENT or RANKS. scores: of those that can be asked. left_out: of the file, for an unknown word.
    """

    name: str
    source: str
    unit: str
    scores: Mapping[str, ReachedScore]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ExamQuestions:
    """What is asked. words: files of analogies or of likeness. sentences: two and their likeness, a row each.
    table, roles: a labelled task. held_out: (N,) words of the text kept apart, which are asked again; counts:
    (V,), how often each word stands in what was learned. unread: a text that no model has learned from, whose
    blanks are asked; practice: a folder of BERT as it is trained in practice, which is asked them, too.
    """

    words: Sequence[Path] = ()
    sentences: Path | None = None
    table: Table | None = None
    roles: Roles | None = None
    held_out: np.ndarray | None = None
    counts: np.ndarray | None = None
    unread: Path | None = None
    practice: Path | None = None


@dataclass(frozen=True, slots=True)
class ExamResult:
    """What a family answered. scores: anew, where the held-out text was asked again."""

    rows: tuple[ExamRow, ...]
    claims: tuple[Claim, ...]
    scores: Scores | None


def examine(
    trainings: Trainings, asked: ExamQuestions, unread: np.ndarray | None = None
) -> Steps[ExamResult]:
    """Return what all members answer to all questions. Args: unread: (N,) the words of `asked.unread`.

    Raises: UserError, of a file that cannot be read.
    """
    rows, claims, found = list[ExamRow](), list[Claim](), None
    families = trainings.families
    if asked.held_out is not None and asked.counts is not None:
        found = yield from scores(trainings, asked.held_out, asked.counts)
        blanks = draw_blanks(asked.held_out)
        claims += [*both_sides(trainings, blanks), *two_in_a_row(trainings, blanks)]
    if unread is not None and asked.unread is not None:
        rows += yield from of_unread(trainings, unread, asked.unread, asked.practice)
    for path in asked.words:
        yield Progress(stage=_ASKING, done=0, total=0)
        rows.append(_over_trainings([of_words(family, path) for family in families]))
    of_each = [row for family in families if (row := of_senses(family)) is not None]
    if of_each:
        rows.append(_over_trainings(of_each))
    if asked.sentences is not None:
        pairs = read_sentences(asked.sentences)
        said = np.array([one[2] for one in pairs])
        now, before = yield from trainings_cosines(trainings, pairs)
        every = [
            _of_sentences(one, start, said, asked.sentences) for one, start in zip(now, before, strict=True)
        ]
        rows.append(_over_trainings(every))
        claims += sentence_claims(now, before, said)
    if asked.table is not None and asked.roles is not None:
        learned, tested = parts_of(trainings.first, examples_from(asked.table, asked.roles))
        hits = list[Hits]()
        for family in families:
            hits.append((yield from frozen_hits(family, learned, tested)))
            for name in family.members:
                yield from add_tuned_hits(family, hits[-1], name, learned, tested)
        titles = (
            marked("engine", "Same task, vectors frozen"),
            marked("engine", "Same task, fine-tuned"),
            marked("engine", "Same task, Naive Bayes over pairs of words"),
        )
        rows += [
            ExamRow(title, asked.table.path.name, PERCENT, reached)
            for title, reached in zip(
                titles, map(over_trainings, zip(*(one.scores() for one in hits), strict=True)), strict=True
            )
            if reached
        ]
        claims += task_claims(hits)
    return ExamResult(tuple(rows), tuple(claims), found)


def of_words(family: Family, path: Path) -> ExamRow:
    """Return what was answered to a file of analogies, or of pairs of words. Raises: DataError."""
    is_analogies, found = answered(family, path)
    name = ANALOGIES if is_analogies else marked("engine", "Similarity of words")
    reached = {name: one.score for name, one in found.items() if one.score is not None}
    left_out = max((one.left_out for one in found.values()), default=0)
    return ExamRow(name, path.name, PERCENT if is_analogies else RANKS, reached, left_out)


def of_unread(
    trainings: Trainings, words: np.ndarray, path: Path, practice: Path | None
) -> Steps[list[ExamRow]]:
    """Return the share of blanks filled in a text that nobody has learned from; and the same with BERT as it
    is trained in practice in the place of the family's.

    Args: words: (N,) of the text. practice: a folder of that BERT. Raises: ModelError: it cannot guess words.
    """
    blanks, found, again = draw_blanks(words), list[ExamRow](), list[ExamRow]()
    of_practice: np.ndarray | None = None
    for family in trainings.families:
        now, before = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for one, kept in ((family, now), (family.start, before)):
            for number, (name, member) in enumerate(one.members.items()):
                yield Progress(stage=_ASKING, done=number, total=len(one.members))
                kept[name] = filled(member, blanks)
        found.append(ExamRow(UNREAD, path.name, PERCENT, shares(now, starts=before)))
        if practice is None or "bert" not in now:
            continue
        if of_practice is None:
            of_practice = filled_in_practice(family, family.other(family.open_model(practice)), blanks)
        reached = shares({**now, "bert": of_practice})
        again.append(ExamRow(UNREAD_IN_PRACTICE, path.name, PERCENT, reached))
    return [_over_trainings(rows) for rows in (found, again) if rows]


def filled_in_practice(family: Family, bert: OtherModel, blanks: Sequence[Blank]) -> np.ndarray:
    """Return (E,) bool, where the right word is its first guess among the family's words.

    It reads what the members read: words of the family, and [UNK] for any other.
    """
    tokens = family.wordpiece.tokens
    texts = list[str]()
    for blank in blanks:
        words = [tokens[word] for word in blank.words]
        words[blank.place] = tokens[MASK]
        texts.append(" ".join(words))
    hits = np.zeros(len(blanks), bool)
    for number, found in bert.blanks(texts):
        hits[number] = rank_of(found.among_words(), blanks[number].right) == 1
    return hits


def of_senses(family: Family) -> ExamRow | None:
    """Return how often the sentence nearest to one uses its word in the same sense, over `SENTENCES`.

    None where the family does not know these words.
    """
    hits, before, chances = dict[str, list[bool]](), dict[str, list[bool]](), list[float]()
    for word, groups in SENTENCES.items():
        texts = [text for group in groups for text in group]
        which = [number for number, group in enumerate(groups) for _ in group]
        try:
            found = [(hits, senses(family, word, texts)), (before, senses(family.start, word, texts))]
        except UserError:
            continue
        chances += [(which.count(one) - 1) / (len(which) - 1) for one in which]
        for kept, members in found:
            for name, one in members.items():
                apart = told_apart(one, which)
                if apart is not None:
                    kept.setdefault(name, []).extend(apart.hits)
    if not hits:
        return None
    now, start = ({name: np.array(one) for name, one in kept.items()} for kept in (hits, before))
    reached = shares(now, float(np.mean(chances)), start)
    return ExamRow(SAME_SENSE, "", PERCENT, reached)


def _over_trainings(rows: Sequence[ExamRow]) -> ExamRow:
    """Return the row of the first training with what each other one reached."""
    return replace(rows[0], scores=over_trainings([row.scores for row in rows]))


def _of_sentences(
    cosines: Mapping[str, np.ndarray], before: Mapping[str, np.ndarray], said: np.ndarray, path: Path
) -> ExamRow:
    now, start = (
        {name: one for name, one in kept.items() if name != CLS_VECTOR} for kept in (cosines, before)
    )
    reached = correlations(now, said, start)
    return ExamRow(marked("engine", "Similarity of sentences"), path.name, RANKS, reached)


def rows_document(rows: Sequence[ExamRow]) -> list[dict[str, Any]]:
    """Return rows as JSON can hold them."""
    return [
        {**asdict(row), "scores": {name: asdict(one) for name, one in row.scores.items()}} for row in rows
    ]


def examine_family(
    folder: Path, asked: ExamQuestions, learned_from: Sequence[str] = (), note: str = ""
) -> Iterator[Event]:
    """Ask a family that has come to its end, and write its card anew; what was asked before stays, but for
    what is asked again.

    Args: learned_from: the text that it learned from, whose part kept apart is asked again; () leaves those
    scores as they are. note: a sentence for the card. Raises: UserError: no such family, or no such text.
    """
    began, folder = time.perf_counter(), Path(folder)
    report, config = read_report(folder), read_family(folder)
    trainings = Trainings.open(folder, report["members"])
    if learned_from:
        text = yield from _kept_apart(config, folder, report["members"][0], learned_from)
        asked = replace(asked, held_out=text.held_out, counts=text.counts)
    unread = None
    if asked.unread is not None:
        alone = replace(config, text=replace(config.text, validation_text=""))
        text = yield from _kept_apart(alone, folder, report["members"][0], [str(asked.unread)])
        unread = np.concatenate([text.train, text.held_out])
    found = yield from examine(trainings, asked, unread)
    if found.scores is not None:
        report["scores"], report["at_start"] = document_of(found.scores), list(found.scores.at_start)
        report["chance"] = dict(found.scores.chance)
    for key, new, name in (
        ("questions", rows_document(found.rows), ("name", "source")),
        ("claims", [asdict(one) for one in found.claims], ("claim",)),
    ):
        known = {tuple(one[part] for part in name): one for one in report.get(key, [])}
        report[key] = [*{**known, **{tuple(one[part] for part in name): one for one in new}}.values()]
    judge(report)
    report["note"] = note or report.get("note", "")
    write_report(folder, report)
    yield Finished(path=folder / CARD, seconds=time.perf_counter() - began)


def _kept_apart(
    config: FamilyConfig, folder: Path, member: str, learned_from: Sequence[str]
) -> Generator[Event, None, Streams]:
    """Return the text that a family learned from, or another, as its settings part it."""
    config = replace(config, text=replace(config.text, text="\n".join(learned_from)))
    with tempfile.TemporaryDirectory() as made:
        shutil.copyfile(folder / member / MODEL / VOCAB, Path(made) / VOCAB)
        setup = yield from prepared(config, Path(made))
        return streams(config, setup)
