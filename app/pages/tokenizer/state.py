"""What the Tokenizer page shows of one text, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.work.page_state import VOCABULARIES, PageState, limited, model_field, other_model
from engine.errors import marked
from engine.text.tokenizer import TRUNCATIONS

STEPS = ("clean", "split", "match", "frame", "rows")
LONGEST = 4096  # pieces of a row
PADDINGS = ("", "multiple", "maximum")
VIEWS = TEXT, SIDE, TABLE = ("text", "side", "table")
NO_VOCABULARY = marked("engine", "This scene cannot be shown: it names no vocabulary.")


@dataclass(frozen=True, slots=True)
class TokenizerState(PageState):
    """Everything that decides what the page shows of one text. row: the chosen piece's. most: rows
    there may be. step: of STEPS, or SIDE where several vocabularies are compared.
    """

    vocabulary: Path = model_field("vocabulary", lacking=NO_VOCABULARY, of=VOCABULARIES)
    second: Path | None = other_model("second", of=VOCABULARIES)
    text: str = ""
    text_pair: str = ""
    step: str = limited(STEPS[0], choices=(*STEPS, SIDE))
    row: int = limited(0, minimum=0, maximum=LONGEST)
    most: int = limited(512, minimum=3, maximum=LONGEST)
    truncation: str = limited(TRUNCATIONS[0], choices=TRUNCATIONS)
    padding: str = limited("", choices=PADDINGS)
