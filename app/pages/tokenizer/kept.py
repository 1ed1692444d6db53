"""What the Tokenizer page shows, as plain values to be kept, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.pages.tokenizer.steps import STEPS
from app.pages.tokenizer.text import LONGEST, PADDINGS, TextView
from app.work.page_state import PageState, Read
from engine.errors import UserError, marked
from engine.text.wordpiece import TRUNCATIONS

VOCABULARY, SECOND = "vocabulary", "second"  # the roles of the models, or files, whose pieces are shown


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that decides what the page shows of one text. row: the chosen piece's. most: rows
    there may be.
    """

    step: str
    row: int
    most: int
    truncation: str
    padding: str


def values_of(view: TextView) -> dict[str, Any]:
    """Return what is shown of one text."""
    return {
        "step": view.strip.current,
        "row": max(0, view.chosen_row),
        "most": view.max_length.value(),
        "truncation": view.truncation.currentData(),
        "padding": view.padding.currentData(),
    }


def read(state: PageState) -> Kept:
    """Return a state as it is needed. Raises: UserError."""
    if VOCABULARY not in state.models:
        raise UserError(marked("engine", "This scene cannot be shown: it names no vocabulary."))
    values = Read(state.values)
    return Kept(
        step=values.choice("step", STEPS),
        row=values.whole("row", 0, LONGEST),
        most=values.whole("most", 3, LONGEST),
        truncation=values.choice("truncation", TRUNCATIONS),
        padding=values.choice("padding", PADDINGS),
    )
