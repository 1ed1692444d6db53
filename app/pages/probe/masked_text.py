"""What is asked on the Probe page: a text with hidden words, the questions before it, and those after it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from engine.inspect.masked.masked import Gap, GappedText
from engine.text.vocabulary import MASK
from engine.text.words import Word

MOST_STEPS = 200  # that can be taken back
LEAST_LIKENESS = 0.5  # of a text to the one before it, to count as an edit of it


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text or pair, and what is hidden in it.

    words: places in `words_of`. pieces: positions of tokens. A [MASK] in the text needs neither.
    """

    text: str
    text_pair: str = ""
    words: tuple[int, ...] = ()
    pieces: tuple[int, ...] = ()

    @property
    def pair(self) -> str | None:
        """The second text as the engine takes it."""
        return self.text_pair if self.text_pair.strip() else None

    def toggled_word(self, number: int, word: Word) -> MaskedText:
        """Return the question with a word hidden, or seen again; its single pieces follow it."""
        pieces = tuple(place for place in self.pieces if place not in word.pieces)
        if number in self.words or pieces != self.pieces:
            return replace(self, words=tuple(n for n in self.words if n != number), pieces=pieces)
        return replace(self, words=tuple(sorted((*self.words, number))))

    def toggled_piece(self, place: int, number: int, word: Word) -> MaskedText:
        """Return the question with a piece hidden, or seen again; of a hidden word the others stay hidden."""
        hidden = set(self.pieces)
        if number in self.words:
            hidden |= set(word.pieces)
        hidden ^= {place}
        return replace(self, words=tuple(n for n in self.words if n != number), pieces=tuple(sorted(hidden)))

    def cleared(self) -> MaskedText:
        """Return the question with everything seen."""
        return replace(self, words=(), pieces=())

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Any) -> MaskedText | None:
        """Return what `to_json` gave; None for anything else."""
        try:
            words, pieces = (tuple(int(n) for n in found[name]) for name in ("words", "pieces"))
            return cls(str(found["text"]), str(found["text_pair"]), words, pieces)
        except (TypeError, KeyError, ValueError, OverflowError):
            return None


class UndoSteps:
    """The questions of this sitting, so that each step can be taken back and made again."""

    def __init__(self) -> None:
        self._past: list[MaskedText] = []
        self._future: list[MaskedText] = []

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def made(self, before: MaskedText) -> None:
        """Remember the question that a new one has taken the place of."""
        self._past = [*self._past, before][-MOST_STEPS:]
        self._future = []

    def undo(self, now: MaskedText) -> MaskedText:
        """Return the question before this one."""
        self._future.append(now)
        return self._past.pop()

    def redo(self, now: MaskedText) -> MaskedText:
        """Return the question that was taken back."""
        self._past.append(now)
        return self._future.pop()


def carried(question: MaskedText, before: tuple[Word, ...], after: tuple[Word, ...]) -> MaskedText:
    """Return the question with what is hidden where it stands in an edited text; what was edited is seen.

    Another text altogether has nothing hidden.
    """
    keys = [[(word.text, word.segment) for word in text] for text in (before, after)]
    matcher = SequenceMatcher(a=keys[0], b=keys[1], autojunk=False)
    if matcher.ratio() < LEAST_LIKENESS:
        return question.cleared()
    moved = {
        block.a + place: block.b + place
        for block in matcher.get_matching_blocks()
        for place in range(block.size)
    }
    pieces = [
        after[moved[number]].pieces[offset]
        for number, word in enumerate(before)
        for offset, place in enumerate(word.pieces)
        if place in question.pieces and number in moved and offset < len(after[moved[number]].pieces)
    ]
    words = sorted(moved[number] for number in question.words if number in moved)
    return replace(question, words=tuple(words), pieces=tuple(pieces))


def filled(masked: GappedText, gap: int, word: str) -> tuple[str, str]:
    """Return both texts with a word written into a gap, in the place of what stood there."""
    there = masked.gaps[gap]
    start, stop = span_of(masked, there)
    texts = [masked.text, masked.text_pair or ""]
    text = texts[there.segment]
    texts[there.segment] = text[:start] + word + text[stop:]
    return texts[0], texts[1]


def span_of(masked: GappedText, gap: Gap) -> tuple[int, int]:
    """Return the characters of a gap in its own text."""
    offsets = [masked.encoding.offsets[place] for place in gap.places]
    return min(start for start, _stop in offsets), max(stop for _start, stop in offsets)


def as_written(question: MaskedText, masked: GappedText) -> str:
    """Return the question in a line, with [MASK] for what is hidden."""
    lines = [" ".join(text.split()) for text in with_masks(question, masked)]
    return "  ·  ".join(line for line in lines if line)


def with_masks(question: MaskedText, masked: GappedText, *, every_piece: bool = False) -> tuple[str, str]:
    """Return both texts with a [MASK] for each gap, or for each of its pieces."""
    texts = []
    for segment, text in enumerate((question.text, question.text_pair)):
        gaps = [(*span_of(masked, gap), len(gap.places)) for gap in masked.gaps if gap.segment == segment]
        for start, stop, count in sorted(gaps, reverse=True):
            text = f"{text[:start]}{' '.join([MASK] * (count if every_piece else 1))}{text[stop:]}"
        texts.append(text)
    return texts[0], texts[1]
