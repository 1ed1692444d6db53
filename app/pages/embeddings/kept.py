"""What the Embeddings page shows, as plain values to be kept, and the way back.

A scene holds its texts: rows of a table are kept as sentences with the value that colours each, so that it is
the same wherever the table is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.pages.embeddings.requests import WORD, Source, Vectors
from app.pages.embeddings.settings import PCA, TSNE
from app.pages.embeddings.tabs import BUNDLED, OWN, TABS
from app.pages.embeddings.texts import TYPED
from app.work.page_state import PageState, Read, refuse
from engine.errors import UserError, marked
from engine.inspect.embeddings.vectors import KINDS

OTHER = "other"  # the role of the model beside
MOST_TEXTS, MOST_CHARACTERS = 2_000, 2_000_000  # that a scene holds
MOST_LAYER = 1_000
LONGEST_LINE = 20_000  # characters
LONGEST_NAME = 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that decides what the page shows of some texts. point: the text that is chosen; -1: none."""

    tab: str
    source: Source
    pooling: str
    layer: int
    method: str
    perplexity: int
    seed: int
    is_colored: bool
    by_group: bool
    point: int
    compared: str


def values_of(page: Any) -> dict[str, Any]:
    """Return what the page shows. Raises: UserError: nothing yet, or too many texts."""
    vectors, views, card = page.vectors, page.views, page.vectors_card
    if vectors is None:
        raise UserError(marked("engine", "There is nothing to keep here yet. Compute vectors first."))
    lines = _lines(vectors, page.map_settings.column)
    if len(lines) > MOST_TEXTS:
        raise UserError(
            marked(
                "engine", "A scene holds its texts, at most {most:,}; these are {count:,}. Choose fewer rows."
            ),
            most=MOST_TEXTS,
            count=len(lines),
        )
    if (count := _characters(lines)) > MOST_CHARACTERS:
        raise UserError(
            marked(
                "engine",
                "A scene holds at most {most:,} characters of text; these have {count:,}. Choose fewer rows.",
            ),
            most=MOST_CHARACTERS,
            count=count,
        )
    source, column = vectors.source, page.map_settings.column
    return {
        "tab": TABS[views.currentIndex()],
        "kind": WORD if vectors.spans else TYPED,
        "texts": [[group, text] for group, text in lines],
        "group": column or source.group,
        "word": source.word,
        "longest": source.max_length,
        "of": source.words,
        "pooling": str(card.kind_box.currentData()),
        "layer": card.layer,
        "method": page.map_settings.method,
        "perplexity": page.map_settings.perplexity.value(),
        "seed": page.map_settings.seed.value(),
        "coloured": bool(column),
        "by_group": views.similarity_card.is_by_group,
        "point": views.map_card.chosen_place,
        "compared": views.compared,
    }


def read(state: PageState) -> Kept:
    """Return a state as it is needed. Raises: UserError."""
    values = Read(state.values)
    lines = values.rows("texts", 2)
    if not 0 < len(lines) <= MOST_TEXTS or any(
        not isinstance(cell, str) or len(cell) > LONGEST_LINE for line in lines for cell in line
    ):
        refuse("texts")
    if _characters(lines) > MOST_CHARACTERS:
        refuse("texts")
    source = Source(
        values.choice("kind", (WORD, TYPED)),
        lines=tuple((group, text) for group, text in lines),
        word=values.text("word", LONGEST_NAME),
        max_length=values.whole("longest", 3, 100_000),
        words=values.text("of", LONGEST_NAME),
        group=values.text("group", LONGEST_NAME),
    )
    return Kept(
        tab=values.choice("tab", TABS),
        source=source,
        pooling=values.choice("pooling", tuple(KINDS)),
        layer=values.whole("layer", 0, MOST_LAYER),
        method=values.choice("method", (PCA, TSNE)),
        perplexity=values.whole("perplexity", 1, 500),
        seed=values.whole("seed", 1, 999_999),
        is_colored=values.flag("coloured"),
        by_group=values.flag("by_group"),
        point=values.whole("point", -1, MOST_TEXTS),
        compared=values.choice("compared", ("", OWN, BUNDLED)),
    )


def _characters(lines: Sequence[tuple[str, ...]]) -> int:
    return sum(len(cell) for line in lines for cell in line)


def _lines(vectors: Vectors, column: str) -> list[tuple[str, str]]:
    """Return the texts that vectors were asked of, each with what colours it."""
    source = vectors.source
    if source.lines or source.table is None:
        return list(source.lines)
    frame = source.table.frame.iloc[source.rows]
    texts = [str(text) for text in frame[source.column].tolist()]
    groups = frame[column].tolist() if column in source.table.columns else [""] * len(texts)
    if source.kind == WORD:  # of all rows that were searched, those with the word in them
        found = set(vectors.order.tolist())
        return [(str(groups[place]), text) for place, text in enumerate(texts) if place in found]
    return [(str(group), text) for group, text in zip(groups, texts, strict=True)]
