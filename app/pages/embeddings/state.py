"""What the Embeddings page shows, as a plain value.

It holds its texts: rows of a table are kept as sentences with the value that colours each, so that it is the
same wherever the table is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.pages.embeddings.requests import WORD, TextSource, Vectors
from app.pages.embeddings.settings import PCA, TSNE
from app.pages.embeddings.tabs import BUNDLED, OWN, TABS
from app.pages.embeddings.texts import TYPED
from app.work.page_state import PageState, limited, model_field, other_model
from engine.errors import UserError, marked
from engine.inspect.embeddings.vectors import KINDS

MOST_TEXTS, MOST_CHARACTERS = 2_000, 2_000_000
LONGEST_NAME = 1_000


@dataclass(frozen=True, slots=True)
class EmbeddingsState(PageState):
    """Everything that decides what the page shows of some texts.

    texts: each after what colours it. group: what that is called. longest: pieces of a text. of: what the
    texts are. point: the text that is chosen; -1: none. compared: what the
    vectors are measured beside.
    """

    model: Path = model_field()
    other: Path | None = other_model("other")
    tab: str = limited("map", choices=TABS)
    kind: str = limited(TYPED, choices=(WORD, TYPED))
    texts: tuple[tuple[str, str], ...] = limited((), most=MOST_TEXTS)
    group: str = limited("", longest=LONGEST_NAME)
    word: str = limited("", longest=LONGEST_NAME)
    longest: int = limited(128, minimum=3, maximum=100_000)
    of: str = limited("", longest=LONGEST_NAME)
    pooling: str = limited("mean", choices=tuple(KINDS))
    layer: int = limited(0, minimum=0, maximum=1_000)
    method: str = limited(PCA, choices=(PCA, TSNE))
    perplexity: int = limited(30, minimum=1, maximum=500)
    seed: int = limited(42, minimum=1, maximum=999_999)
    is_colored: bool = limited(True, key="coloured")
    by_group: bool = False
    point: int = limited(-1, minimum=-1, maximum=MOST_TEXTS)
    compared: str = limited("", choices=("", OWN, BUNDLED))

    def misfit(self) -> str:
        return "" if self.texts and self.num_characters <= MOST_CHARACTERS else "texts"

    @property
    def num_characters(self) -> int:
        return sum(len(cell) for line in self.texts for cell in line)

    def check(self) -> None:
        """Refuse more texts than a scene holds. Raises: UserError."""
        if len(self.texts) > MOST_TEXTS:
            raise UserError(
                marked(
                    "engine",
                    "A scene holds at most {most:,} texts, and these are {count:,}. Choose fewer rows.",
                ),
                most=MOST_TEXTS,
                count=len(self.texts),
            )
        if self.num_characters > MOST_CHARACTERS:
            raise UserError(
                marked(
                    "engine",
                    "A scene holds at most {most:,} characters of text, and these have {count:,}. "
                    "Choose fewer rows.",
                ),
                most=MOST_CHARACTERS,
                count=self.num_characters,
            )

    @property
    def source(self) -> TextSource:
        """The texts as they are asked for."""
        return TextSource(
            self.kind,
            lines=self.texts,
            word=self.word,
            max_length=self.longest,
            words=self.of,
            group=self.group,
        )


def lines_of(vectors: Vectors, column: str) -> tuple[tuple[str, str], ...]:
    """Return the texts that vectors were asked of, each after what colours it."""
    source = vectors.source
    if source.lines or source.table is None:
        return source.lines
    frame = source.table.frame.iloc[source.rows]
    texts = [str(text) for text in frame[source.column].tolist()]
    groups = frame[column].tolist() if column in source.table.columns else [""] * len(texts)
    if source.kind == WORD:  # of all rows that were searched, those with the word in them
        found = set(vectors.order.tolist())
        return tuple((str(groups[place]), text) for place, text in enumerate(texts) if place in found)
    return tuple((str(group), text) for group, text in zip(groups, texts, strict=True))
