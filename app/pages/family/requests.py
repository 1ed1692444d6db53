"""What the Family page asks the models worker: which families there are, and a question to one of them.

Plain functions that touch no Qt object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.pages.family.fairness import PracticeModel
from app.pages.family.kinds.kind import FamilyAnswer
from app.shipped import model_named, shipped_families
from app.stories.known import STORIES
from app.words import listed
from app.work.models import OpenModels
from engine.errors import UserError
from engine.events import AnswerSoFar, Steps
from engine.family.ask import Family
from engine.family.layout import read_family
from engine.family.practice import training_of
from engine.family.questions.question import FamilyQuestion
from engine.family.reading import VOCAB
from engine.family.train import REPORT, read_report
from engine.language import ENGLISH
from engine.model.info import read_info
from engine.settings.family import members_of
from engine.train.run.runs import MODEL

T = TypeVar("T")
MOST_FAMILIES = 100


@dataclass(frozen=True, slots=True)
class FamilyEntry:
    """A family that can be asked. text: what it learned from. report: what its training told. is_shipped: in
    the box. language: of its words. has_bert: BERT is among its members. vocabulary: the file of its words;
    None where it lacks.
    """

    path: Path
    text: str
    report: Mapping[str, Any]
    num_members: int
    is_shipped: bool = False
    language: str = ENGLISH
    has_bert: bool = True
    vocabulary: Path | None = None


class OpenFamilies:
    """The family that was asked last, kept in memory; for the models worker alone."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._stamp = 0.0
        self._family: Family | None = None

    def family(self, folder: Path, models: OpenModels) -> Family:
        """Return the family in a folder, loaded once. Args: models: that it can be compared with. Raises:
        UserError.
        """
        report = folder / REPORT
        stamp = report.stat().st_mtime if report.is_file() else 0.0
        if self._family is None or (folder, stamp) != (self._folder, self._stamp):
            self._family = Family.open(folder, open_model=models.subject)
            self._folder, self._stamp = folder, stamp
        return self._family


def families(root: Path) -> tuple[FamilyEntry, ...]:
    """Return the families that have come to their end: those in the box first, then the newest."""
    shipped, found = shipped_families(), list[FamilyEntry]()
    own = sorted(root.glob(f"*/{REPORT}"), key=lambda path: path.parent.name, reverse=True)[:MOST_FAMILIES]
    for path in (*shipped, *(one.parent for one in own)):
        try:
            report, config = read_report(path), read_family(path)
            text = listed(Path(place).name for place in config.text.text.split("\n"))
            names = members_of(config)
            vocabulary = next(iter(sorted(path.glob(f"*/{MODEL}/{VOCAB}"))), None)
            language = _language(vocabulary)
            found.append(
                FamilyEntry(
                    path, text, report, len(names), path in shipped, language, "bert" in names, vocabulary
                )
            )
        except (UserError, OSError, TypeError, ValueError):
            continue  # damaged, or another's file of that name
    return tuple(found)


def known(root: Path) -> tuple[tuple[FamilyEntry, ...], dict[str, PracticeModel]]:
    """Return the families, and the BERTs that stand for practice, by their language."""
    folders = {language: model_named(one.starter) for language, one in STORIES.items()}
    practice = {
        language: _practice_model(folder) for language, folder in folders.items() if folder is not None
    }
    return families(root), practice


def _practice_model(folder: Path) -> PracticeModel:
    try:
        card = read_info(folder)
    except (UserError, OSError):
        card = {}
    return PracticeModel(folder, training_of(card))


def _language(vocabulary: Path | None) -> str:
    """Return the language of a family: Chinese where most of its words are Chinese characters."""
    tokens = [] if vocabulary is None else vocabulary.read_text(encoding="utf-8").split()
    is_chinese = sum("\u4e00" <= token <= "\u9fff" for token in tokens) > len(tokens) / 2
    return "zh" if is_chinese else ENGLISH


def ask(opened: OpenFamilies, models: OpenModels, question: FamilyQuestion[T]) -> Steps[FamilyAnswer[T]]:
    """Return what a family answers, with steps and first answers where that takes long. Raises: UserError."""
    family, report = opened.family(question.folder, models), read_report(question.folder)
    names, steps = tuple(family.members), question.answer(family)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            value: Any = end.value
            return FamilyAnswer(question, names, question.reported(report, value), value)
        if isinstance(event, AnswerSoFar):
            event = AnswerSoFar(value=FamilyAnswer(question, names, report, event.value, is_whole=False))
        yield event
