"""What a page to send is made of: plain values, in the order in which they are read.

Texts are texts, whoever wrote them: `engine/report/html.py` escapes every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import marked
from engine.language import spoken, spoken_locale

Facts = tuple[tuple[str, str], ...]  # (name, value)


@dataclass(frozen=True, slots=True)
class Said:
    """A paragraph. level: "", "fine", "look" or "wrong"; is_quiet: of less weight than the rest."""

    text: str
    level: str = ""
    is_quiet: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A text that was typed or read, word for word. name: what it is."""

    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class KeyNumber:
    """One number that matters, as it is read. about: its interval, or what it is of."""

    value: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class KeyNumbers:
    """Some of them beside each other."""

    numbers: Sequence[KeyNumber]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under their heads. title: what they are; is_folded: shown when somebody asks."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """What answers to the pointer: a box in the drawing's own units, and what is said of it."""

    x: float
    y: float
    width: float
    height: float
    said: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A vector figure. svg: a whole `<svg>` with a viewBox; dark: the same for a dark page, "" for none.

    Colours that the two do not share become variables of the page; drawings whose colours are variables
    already need no second. caption: what must be known of it where it stands alone.
    """

    svg: str
    title: str
    dark: str = ""
    caption: Facts = ()
    marks: Sequence[Mark] = ()
    numbers: Table | None = None


@dataclass(frozen=True, slots=True)
class WeighedWord:
    """A word and how much it counts, from -1 to 1. is_joined: no space stands before it."""

    text: str
    weight: float
    said: str = ""
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class WeighedText:
    """A text whose words are coloured by what they count. said: what the colours mean."""

    words: Sequence[WeighedWord]
    said: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A line for a terminal. name: what it does."""

    line: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading. hint: the one thing that matters of it."""

    title: str
    blocks: Sequence[Block]
    hint: str = ""


Block = Said | Quote | KeyNumbers | Table | Drawing | WeighedText | Command | Section


@dataclass(frozen=True, slots=True)
class Document:
    """A whole page. facts: what a stranger needs to find the same again. footer: who made it, and when."""

    title: str
    sentence: str = ""
    blocks: Sequence[Block] = ()
    facts: Facts = ()
    facts_title: str = field(default_factory=lambda: spoken(marked("engine", "How to verify this")))
    footer: str = ""
    language: str = field(default_factory=spoken_locale)
    words: dict[str, str] = field(default_factory=dict)  # of the page's own, translated
