"""What the Probe page shows, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.pages.probe.grid import PROBABILITY
from app.pages.probe.masked_text import MaskedText
from app.work.page_state import PageState, limited, model_field, other_model

GAME, OVER_TABLE = "game", "over_table"  # tabs that no scene is of
TABS = ("words", "layers", "surprise", "next", "templates", OVER_TABLE, GAME)
KEPT_TABS = tuple(tab for tab in TABS if tab not in (OVER_TABLE, GAME))
MOST_PIECES = 10_000


@dataclass(frozen=True, slots=True)
class ProbeState(PageState):
    """Everything that decides what the page shows of one text in one model.

    words, pieces: what is hidden, as in `MaskedText`. top: guesses for each gap. gap: of the tab "layers".
    own: words that were asked for, by their gaps. template: sentence, words, which score.
    """

    model: Path = model_field()
    beside: Path | None = other_model("beside")
    text: str = ""
    text_pair: str = ""
    tab: str = limited("words", choices=KEPT_TABS)
    words: tuple[int, ...] = limited((), minimum=0, maximum=MOST_PIECES)
    pieces: tuple[int, ...] = limited((), minimum=0, maximum=MOST_PIECES)
    by_pieces: bool = False
    top: int = limited(6, minimum=1, maximum=1000)
    gap: int = limited(0, minimum=0, maximum=MOST_PIECES)
    own: tuple[tuple[int, str], ...] = limited((), minimum=0, maximum=MOST_PIECES, longest=200)
    template: tuple[str, str, str] = ("", "", PROBABILITY)

    @property
    def question(self) -> MaskedText:
        """The text with what is hidden in it."""
        return MaskedText(self.text, self.text_pair, self.words, self.pieces)
