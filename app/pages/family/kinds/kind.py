"""A kind of question to a family: its words, what a person types for it, and what its answer looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.pages.family.scores import cell, said
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.stories.story import FamilyTexts
from app.words import tr_engine, translate
from engine.family.card import CardLine
from engine.family.members import ABOUT, CAPTIONS, About
from engine.family.questions import go_on
from engine.family.questions.question import FamilyQuestion
from engine.text.roles import Roles
from engine.text.table import Table

T = TypeVar("T")
GAP = "____"  # what stands for [MASK] where a person types it
COLUMNS, SEEN, SCORES, CLAIMS = "columns", "seen", "scores", "claims"  # the pictures of an answer
FIRST = "first"  # among the members that are shown: the three of `first_three`
ANSWER, SECOND, SENTENCES = "answer", "second", "sentences"  # fields beside the question
TEMPERATURE, SEED = "temperature", "seed"
_AGES = (("ngram",), ("cbow", "skipgram", "glove", "nnlm"), ("bert", "gpt", "elmo"))  # the best known first


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """What a person typed. answer: of a blank. second: sentence of a pair. sentences: of a word, a line each,
    an empty line between its senses. temperature, seed: by which words are drawn.
    """

    question: str = ""
    answer: str = ""
    second: str = ""
    sentences: str = ""
    temperature: float = go_on.TEMPERATURE
    seed: int = go_on.SEED

    @property
    def text(self) -> str:
        """The question as a family reads it."""
        return self.question.replace(GAP, " [MASK] ").strip()


@dataclass(frozen=True, slots=True)
class GivenQuestion:
    """All that a question may be made of. is_tuned: the family is fine-tuned on the table, too. bert: the
    folder of a BERT that answers in the place of the family's. others: of models that answer next to them.
    """

    folder: Path
    typed: TypedQuestion
    files: tuple[Path, ...] = ()
    table: Table | None = None
    roles: Roles | None = None
    is_tuned: bool = False
    bert: Path | None = None
    others: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyAnswer(Generic[T]):
    """What a family answered. names: all its members. report: what its training told. is_whole: False while
    more of it is asked for.
    """

    question: FamilyQuestion[T]
    names: tuple[str, ...]
    report: Mapping[str, Any]
    value: T
    is_whole: bool = True

    @property
    def bert(self) -> Path | None:
        """The BERT that answered in the place of the family's, None: their own."""
        found: Path | None = getattr(self.question, "bert", None)
        return found


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence on what else can be done, and a button for it; "" where there is none."""

    sentence: str = ""
    button: str = ""


@dataclass(frozen=True, slots=True)
class TypedExample:
    """What a menu of examples shows, and what is typed then."""

    title: str
    typed: TypedQuestion


class FamilyKind(Generic[T]):
    """One kind. A class of its own says what differs."""

    key: str  # in scenes
    typed_as: str = ""  # the key of the kind with which it shares what is typed
    figure: str = COLUMNS  # the picture of its answer
    picks_members: bool = False  # some of them are shown at first, others on request
    can_practice: bool = False  # a BERT trained in practice can answer for the family's
    has_figures: bool = True  # that depend on how the members were trained
    has_words: bool = True  # a person types something
    fields: tuple[str, ...] = ()  # beside the question
    has_command: bool = True
    hides_limits: bool = False  # what a member cannot is shown by a click on its name alone
    has_curves: bool = False  # shows how the members learned
    is_slow: bool = False  # can be stopped
    keeps_answer: bool = False  # shows it again where the same is asked again
    tells_progress: bool = False
    asks_files: bool = False
    draws: bool = False  # words at random, again with another seed
    takes_others: bool = False  # models that are no members answer next to them

    @property
    def typed_key(self) -> str:
        """The key under which what is typed is kept."""
        return self.typed_as or self.key

    @property
    def tab(self) -> tuple[str, str]:
        """Its name, and a shorter one where room is short."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """What stands before the line that is typed into."""
        return translate("family", "Question")

    @property
    def hint(self) -> str:
        """What a click on an entry does."""
        return ""

    @property
    def progress(self) -> str:
        """What is said while it is asked; {share} is how much is done."""
        return ""

    @property
    def files_title(self) -> str:
        """What is asked for where files are chosen."""
        return ""

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        """Return what is asked at first. Args: texts: of the story in the language of a family."""
        return TypedQuestion()

    def translated(self, typed: TypedQuestion, before: FamilyTexts, now: FamilyTexts) -> TypedQuestion:
        """Return the same in another language, where nobody has changed the question."""
        return self.begun(now) if typed.question == self.begun(before).question else typed

    def examples(self, texts: FamilyTexts) -> tuple[TypedExample, ...]:
        """Return what can be asked by a choice."""
        return ()

    def taken(self, question: str, word: str) -> str | None:
        """Return the question once a word of the answer is chosen; None: nothing becomes of it."""
        return None

    def files_taken(self, files: tuple[Path, ...]) -> tuple[Path, ...]:
        """Return those of chosen files that are asked from."""
        return files

    def can_be_kept(self, files: tuple[Path, ...]) -> bool:
        """Whether a scene holds all that the question is made of."""
        return True

    def question(self, given: GivenQuestion) -> FamilyQuestion[T]:
        """Return the question."""
        raise NotImplementedError

    def caption(self, typed: TypedQuestion) -> tuple[str, str]:
        """Return what is asked and what is said to it, for the caption of a saved picture."""
        return typed.text if self.has_words else "", ""

    def lacks(self, question: Any) -> str | None:
        """Return what there has to be before it is asked, "" where that need not be said; None: nothing."""
        return None

    def offer(self, answer: FamilyAnswer[T] | None, table: str) -> Offer:
        """Return what else can be done. Args: answer: to this kind. table: the open one's name, or ""."""
        return Offer()

    # ---- the answer

    def reading(self) -> tuple[str, ...]:
        """Return how the picture is to be read, in sentences."""
        return ()

    def reached(self, answer: FamilyAnswer[T], name: str) -> str:
        """Return what a member reached, in two words; "" for nothing."""
        return ""

    def otherwise(self, answer: FamilyAnswer[T], given: str) -> str:
        """Return what the family's own BERT reached where another answered for it, "" where none did."""
        return ""

    def lines(self, answer: FamilyAnswer[T]) -> list[CardLine]:
        """Return the questions whose scores stand in rows."""
        return []

    def column(self, answer: FamilyAnswer[T], about: About, head: Mapping[str, Any]) -> MemberColumn:
        """Return what a member answers. Args: head: what stands in any of its columns."""
        return MemberColumn(**head)

    def columns(self, answer: FamilyAnswer[T], names: Sequence[str] = ()) -> tuple[MemberColumn, ...]:
        """Return a column for each of some members, the oldest first. Args: names: (), all of the family."""
        lines, is_other = self.lines(answer), answer.bert is not None
        heads = {name: _head(ABOUT[name], lines, is_other) for name in names or answer.names}
        return tuple(self.column(answer, ABOUT[name], head) for name, head in heads.items())

    def other_columns(self, answer: FamilyAnswer[T]) -> tuple[MemberColumn, ...]:
        """Return a column for each model that is no member."""
        return ()

    def other_notes(self, answer: FamilyAnswer[T]) -> tuple[str, ...]:
        """Return sentences on how these models are compared; () where there are none."""
        return ()

    def about_other(self, answer: FamilyAnswer[T], place: int) -> list[str]:
        """Return sentences on one of these models."""
        return []

    def labels(self, answer: FamilyAnswer[T]) -> FamilyLabels:
        """Return the words at the left, but those that all kinds say."""
        raise NotImplementedError

    def all_labels(self, answer: FamilyAnswer[T], *, has_limits: bool = False) -> FamilyLabels:
        """Return the words at the left, also of what a member cannot do, and of scores it cannot have.

        Args: has_limits: also where a kind hides them.
        """
        cannot, unable = translate("family", "Cannot"), translate("family", "n/a")
        found = replace(self.labels(answer), cannot=cannot, unable=unable)
        return replace(found, cannot="", shown="") if self.hides_limits and not has_limits else found

    def said(self, answer: FamilyAnswer[T]) -> tuple[tuple[str, str], ...]:
        """Return the words of the rows of scores."""
        return tuple(map(said, self.lines(answer)))


def first_three(names: Sequence[str]) -> tuple[str, ...]:
    """Return one of each age: who counts, who has a vector for each word, who has one for each place."""
    found = (next((one for one in age if one in names), "") for age in _AGES)
    return tuple(name for name in found if name)


def shown_of(names: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return which members of a family are shown. Args: wanted: with FIRST the first three; (): all."""
    kept = {*wanted, *(first_three(names) if FIRST in wanted else ())}
    return tuple(name for name in names if not wanted or name in kept)


def _head(about: About, lines: list[CardLine], is_other_bert: bool) -> dict[str, Any]:
    scores: tuple[MemberScore, ...] = tuple(cell(line, about.name) for line in lines)
    is_other = is_other_bert and about.name == "bert"
    year = translate("family", "Starter model") if is_other else str(about.year)
    return {"name": about.said, "year": year, "caption": tr_engine(CAPTIONS[about.age]), "scores": scores}


# ---- words that several kinds say


def bold_note() -> str:
    """Return what intervals and bold figures are."""
    return translate("family", "95 %; bold: best or tied")


def bars() -> str:
    """Return how long a bar can be."""
    return translate("family", "bars from 0 to 1")


def no_vectors() -> str:
    """Return why counts have no vectors."""
    return translate("family", "Counts words and has no vectors.")
