"""The question that stands on the Family page, as an immutable value, with what other kinds were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.pages.family.kinds.kind import FIRST, FamilyKind, GivenQuestion, TypedQuestion, shown_of
from app.pages.family.kinds.known import KIND_OF, KINDS
from app.pages.family.state import FamilyState, OtherModels
from app.stories.known import story_of
from app.stories.story import FamilyTexts
from engine.errors import UserError, marked
from engine.language import ENGLISH
from engine.text.roles import Roles
from engine.text.table import Table


@dataclass(frozen=True, slots=True)
class SeenRow:
    """The last row that is seen where the columns are moved up, and of which question."""

    name: str
    key: str
    question: str


def _texts(language: str) -> FamilyTexts:
    return story_of(language).family_texts


@dataclass(frozen=True)
class FamilyDraft:
    """A question. typed: for the kind that is shown. kept: what others were asked last. files: that kinds are
    asked from. tuned: the family and the table that are fine-tuned. language: of the questions.
    members: that are shown, FIRST among them for the first three; (): all. practice: whether a BERT trained
    longer is to answer for the family's, where it can. others: models that answer next to the members.
    """

    folder: Path | None = None
    kind: FamilyKind[Any] = KINDS[0]
    typed: TypedQuestion = field(default_factory=lambda: KINDS[0].begun(_texts(ENGLISH)))
    kept: Mapping[str, TypedQuestion] = field(
        default_factory=lambda: {one.typed_key: one.begun(_texts(ENGLISH)) for one in KINDS}
    )
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    tuned: tuple[Path, Table | None] | None = None
    language: str = ENGLISH
    row: SeenRow | None = None
    members: tuple[str, ...] = (FIRST,)
    practice: bool = True
    others: tuple[Path, ...] = ()

    def choose(self, kind: FamilyKind[Any]) -> FamilyDraft:
        """Turn to another kind; each keeps its own words."""
        before = self.kept[self.kind.typed_key]
        typed = replace(self.typed, question=self.typed.question or before.question)
        kept = {**self.kept, self.kind.typed_key: typed}
        return replace(self, kind=kind, kept=kept, typed=kept[kind.typed_key])

    @property
    def texts(self) -> FamilyTexts:
        """What a family is asked at first in the language of the questions."""
        return _texts(self.language)

    def speak(self, language: str) -> FamilyDraft:
        """Put the questions that nobody has changed into the language of a family."""
        if language == self.language:
            return self
        now = _texts(language)
        kept = {key: KIND_OF[key].translated(typed, self.texts, now) for key, typed in self.kept.items()}
        typed = self.kind.translated(self.typed, self.texts, now)
        return replace(self, language=language, kept=kept, typed=typed)

    def take_files(self, kind: FamilyKind[Any], files: tuple[Path, ...]) -> FamilyDraft:
        """Ask a kind from files; none: from nothing."""
        return replace(self, files={**self.files, kind.key: kind.files_taken(files)})

    def tune(self, table: Table | None) -> FamilyDraft:
        """Have the family fine-tuned on a table, too."""
        return replace(self, tuned=None if self.folder is None else (self.folder, table))

    def given(self, table: Table | None, roles: Roles | None, bert: Path | None) -> GivenQuestion | None:
        """Return what the question is made of, None without a family. Args: table, roles: what is open.
        bert: the BERT trained longer, None where it cannot be asked.
        """
        if self.folder is None:
            return None
        files, is_tuned = self.files.get(self.kind.key, ()), self.tuned == (self.folder, table)
        asked = bert if self.practice else None
        return GivenQuestion(self.folder, self.typed, files, table, roles, is_tuned, asked, self.asked_others)

    @property
    def asked_others(self) -> tuple[Path, ...]:
        """The other models, where the question is put to them."""
        return self.others if self.kind.takes_others else ()

    def shown_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return which members of a family are shown."""
        return shown_of(names, self.members) if self.kind.picks_members else names

    @property
    def wanted_row(self) -> str:
        """The row that a scene wants to be seen, while its question is shown; else ""."""
        row = self.row
        is_its = row is not None and (row.key, row.question) == (self.kind.key, self.typed.question)
        return row.name if row is not None and is_its else ""

    # ---- what is kept

    def state(self, row: str, titles: Sequence[str] = ()) -> FamilyState:
        """Return what is kept. Args: row: the last that is seen. titles: of the other models.

        Raises: UserError: it is of a table or of files, or there is no family.
        """
        if self.folder is None:
            raise UserError(marked("engine", "There is no family to ask yet. Train one first."))
        if not self.kind.can_be_kept(self.files.get(self.kind.key, ())):
            raise UserError(
                marked(
                    "engine",
                    "This answer is about a table, which a scene cannot hold. Go to another question.",
                )
            )
        beside = {name: getattr(self.typed, name) for name in self.kind.fields}
        members = ",".join(self.members)
        others = OtherModels.of(self.asked_others, titles)
        return FamilyState(
            self.folder, self.kind.key, self.typed.question, **beside,
            row=row, members=members, practice=self.practice, others=others,
        )  # fmt: skip

    def take(self, state: FamilyState) -> FamilyDraft:
        """Return this with what was kept."""
        kind = KIND_OF[state.kind]
        found = self.choose(kind).take_files(kind, ())
        beside = {name: getattr(state, name) for name in kind.fields}
        typed = replace(found.typed, question=state.question, **beside)
        row = SeenRow(state.row, kind.key, state.question)
        members = tuple(name for name in state.members.split(",") if name)
        return replace(
            found, folder=state.family, typed=typed, row=row, members=members, practice=state.practice,
            others=state.others.folders if kind.takes_others else found.others,
        )  # fmt: skip
