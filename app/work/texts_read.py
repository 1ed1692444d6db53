"""What a page has a model or a vocabulary read, as a value: the banner over the pages counts in it.

A page declares it (`StatedPage.texts_read`), and knows nothing of the banner. Nothing here loads the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.settings.pretrain import PretrainConfig
    from engine.text.recipe import Recipe
    from engine.text.table import Table
    from engine.text.tokenizer import Tokenizer

UNCUT = 0  # pieces: all
OPEN, START, FINE_TUNE, ASK = "open", "start", "fine-tune", "ask"  # what is done with a better reader


@dataclass(frozen=True, slots=True)
class TypedTexts:
    """Texts that are at hand as a whole. texts: each with its pair, "" for none."""

    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TableTexts:
    """The texts of a table. column, pair: by their names; pair "" for none. recipe: whose excluded rows are
    none.
    """

    table: Table
    column: str
    pair: str = ""
    recipe: Recipe | None = None


@dataclass(frozen=True, slots=True)
class FileTexts:
    """Texts that a function finds in order, each with its pair or None. about: what they are of.

    count: how many there are; 0: nobody knows.
    """

    about: object
    find: Callable[[], Any] = field(compare=False)
    count: int = 0


@dataclass(frozen=True, slots=True)
class CorpusTexts:
    """The text for pretraining that some settings name."""

    config: PretrainConfig


@dataclass(frozen=True, slots=True)
class TextsRead:
    """Texts, and what cuts them into pieces.

    vocabulary: or the folder of a model, or a vocab.txt. max_length: pieces that are kept; UNCUT: all; None:
    as the folder says. deed: of OPEN, START, FINE_TUNE and ASK. take: does it with a folder; None: fine-tunes
    it. is_model: False for a vocabulary alone. readers: what reads which language; None: the models that
    ship. own: other words for the button, and what it does.
    """

    vocabulary: Tokenizer | Path
    texts: TypedTexts | TableTexts | FileTexts | CorpusTexts
    max_length: int | None = None
    truncation: str = "longest_first"
    deed: str = OPEN
    is_model: bool = True
    take: Callable[[Path], object] | None = field(default=None, compare=False)
    readers: Mapping[str, Path] | None = field(default=None, compare=False)
    own: tuple[str, Callable[[], object]] | None = field(default=None, compare=False)


def typed(text: str, pair: str = "") -> TypedTexts:
    """Return one text, or a pair."""
    return TypedTexts(((text, pair),))
