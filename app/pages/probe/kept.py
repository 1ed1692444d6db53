"""What the Probe page shows, as plain values to be kept, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.pages.probe.grid import CORRECTED, PROBABILITY
from app.pages.probe.question import Question
from app.work.page_state import PageState, Read, text, whole
from engine.errors import UserError, marked

BESIDE = "beside"  # the role of the model beside
TABS = ("words", "layers", "surprise", "next", "templates", "over_table", "game")
TEMPLATES, GAME, OVER_TABLE = "templates", "game", "over_table"
MOST_PIECES = 10_000
LONGEST_WORD = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that decides what the page shows of one text in one model. own: words that were asked
    for.
    """

    tab: str
    question: Question
    by_pieces: bool
    top: int
    gap: int  # of the tab "layers"
    own: tuple[tuple[int, str], ...]
    template: tuple[str, str, str]  # sentence, words, which score


def values_of(page: Any) -> dict[str, Any]:
    """Return what the page shows. Raises: UserError: it is of a table, of a file, or a game."""
    tab, templates = TABS[page.tabs.currentIndex()], page.templates_view
    if tab == OVER_TABLE or (tab == TEMPLATES and templates.path is not None):
        raise UserError(
            marked(
                "engine",
                "What is shown is of a table, which a scene does not hold. Turn to one text, or type a "
                "template.",
            )
        )
    if tab == GAME:
        raise UserError(marked("engine", "A game is played, not kept. Hide words on the tab Words."))
    question, view = page.state.question, page.words_view
    return {
        "tab": tab,
        "words": list(question.words),
        "pieces": list(question.pieces),
        "by_pieces": page.state.by_pieces,
        "top": view.top_k,
        "gap": max(0, page.layers_view.gaps.currentIndex()),
        "own": [[gap, word] for gap, word in sorted(view.own_words().items())],
        "template": [templates.template.text(), templates.targets.text(), templates.what.current],
    }


def read(state: PageState) -> Kept:
    """Return a state as it is needed. Raises: UserError."""
    values = Read(state.values)
    words, pieces = (values.wholes(name, 0, MOST_PIECES) for name in ("words", "pieces"))
    own = [
        (whole("own", gap, 0, MOST_PIECES), text("own", word, LONGEST_WORD))
        for gap, word in values.rows("own", 2)
    ]
    template = tuple(text("template", part) for part in values.items("template", 3))
    if template[2] not in (PROBABILITY, CORRECTED):
        template = (*template[:2], PROBABILITY)
    return Kept(
        tab=values.choice("tab", [tab for tab in TABS if tab not in (GAME, OVER_TABLE)]),
        question=Question(state.text, state.text_pair, words, pieces),
        by_pieces=values.flag("by_pieces"),
        top=values.whole("top", 1, 1000),
        gap=values.whole("gap", 0, MOST_PIECES),
        own=tuple(own),
        template=(template[0], template[1], template[2]),
    )


def show(page: Any, kept: Kept) -> None:
    """Show what was kept. Raises: UserError: the text has no such words or pieces."""
    state, encoding = page.state, page.state.encoding
    num_pieces = len(encoding.tokens) if encoding is not None else 0
    known = all(word < len(state.words) for word in kept.question.words)
    if not known or any(place >= num_pieces for place in kept.question.pieces):
        raise UserError(
            marked("engine", "This scene hides words that its text does not have. It cannot be shown whole.")
        )
    page.choose_top(kept.top)
    page.tabs.setCurrentIndex(TABS.index(kept.tab))
    state.set_by_pieces(kept.by_pieces)
    page.words_view.expect_words(dict(kept.own))
    state.go(kept.question)
    page.layers_view.choose_gap(kept.gap)
    page.words_view.show_words(dict(kept.own))
    page.templates_view.put(*kept.template)
