"""What the Family page shows, as plain values to be kept, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.pages.family.requests import CLAIMS, FILES, FILL, FOLLOWS, SENSES, TASK
from app.work.page_state import PageState, Read
from engine.errors import UserError, marked

FAMILY = "family"  # the role of the family's folder
LONGEST = 20_000  # characters of a question


@dataclass(frozen=True, slots=True)
class Kept:
    """A question. answer: of a blank. second: sentence of a pair. sentences: of a word. row: the last that
    is seen where the columns are moved up; "" where they are not.
    """

    kind: str
    question: str
    answer: str
    second: str
    sentences: str
    row: str = ""


def values_of(page: Any) -> dict[str, Any]:
    """Return what the page shows. Raises: UserError: it is of a table or of files."""
    kind = page.kind
    if kind in (TASK, FILES) or page.has_files(CLAIMS):
        raise UserError(
            marked("engine", "What is shown is of a table, which a scene does not hold. Turn to a question.")
        )
    row = page.last_row()
    return {
        "kind": kind,
        "question": page.question.text(),
        "answer": page.answer.text() if kind == FILL else "",
        "second": page.second.text() if kind == FOLLOWS else "",
        "sentences": page.sentences.toPlainText() if kind == SENSES else "",
        **({"row": row} if row else {}),
    }


def read(state: PageState, kinds: tuple[str, ...]) -> Kept:
    """Return a state as it is needed. Args: kinds: of questions that there are. Raises: UserError."""
    if FAMILY not in state.models:
        raise UserError(marked("engine", "This scene cannot be shown: it names no family."))
    values = Read(state.values)
    names = ("question", "answer", "second", "sentences", *(["row"] if "row" in state.values else []))
    return Kept(
        values.choice("kind", [kind for kind in kinds if kind not in (TASK, FILES)]),
        *(values.text(name, LONGEST) for name in names),
    )
