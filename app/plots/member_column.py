"""What stands in a column of the family, and the words at its left."""

from __future__ import annotations

from dataclasses import dataclass

from app.plots.sense_planes import SenseDot

SEEN_FILL, SEEN_BAG, UNSEEN, OTHER_SIDE, BLANK = "fill", "bag", "unseen", "other", "blank"


@dataclass(frozen=True, slots=True)
class WordEntry:
    """A word with what a member gives to it. is_answer: the right one."""

    word: str
    value: float
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class SeenWord:
    """A word of a sentence. kind: how it is seen, as `SEEN_FILL` and the others say; BLANK: it is hidden."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class MemberScore:
    """A score in a column. text: "" where the member cannot; is_best: the best, or not to be told from it.
    short: the interval in fewer letters, where room is short.
    """

    text: str
    interval: str = ""
    is_best: bool = False
    short: str = ""


@dataclass(frozen=True, slots=True)
class MemberColumn:
    """One member. words: of the question, as it sees them. text: what stands in the place of entries. rank:
    in words, "" for none; rank_of: among how many; is_first: whether that is the first. why: a sentence on
    it. shown: an example of what it cannot. planes: a word's sentences seen flat, layer by layer.
    """

    name: str
    year: str
    caption: str
    seen: str = ""
    words: tuple[SeenWord, ...] = ()
    entries: tuple[WordEntry, ...] = ()
    is_likeness: bool = False
    text: str = ""
    rank: str = ""
    rank_of: str = ""
    is_first: bool = False
    why: str = ""
    cannot: str = ""
    shown: str = ""
    scores: tuple[MemberScore, ...] = ()
    planes: tuple[tuple[SenseDot, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyLabels:
    """The words at the left, each with a smaller line below; "" leaves a row out. scores: a pair each.
    planes: of each layer; groups: of each kind of mark in them.
    """

    seen: tuple[str, str] = ("", "")
    says: tuple[str, str] = ("", "")
    rank: str = ""
    why: str = ""
    cannot: str = ""
    scores: tuple[tuple[str, str], ...] = ()
    unable: str = ""  # in the place of a score that a member cannot have
    legend: tuple[str, str] = ("", "")  # what a filled and a hollow bar are
    shown: str = ""
    note: str = ""  # what bold is, beside the names
    planes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
