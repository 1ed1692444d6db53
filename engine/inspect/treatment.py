"""What a vocabulary did to one text: to its capitals, accents, ideographs, emoji and numbers.

All of it is read from the pieces of that very text and the characters that each is from. Nothing is taken
from what a vocabulary is called, or from its kind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.errors import Sentence, marked
from engine.text.tokenizer import Tokenizer
from engine.text.trace import Trace

CAPITALS, ACCENTS, IDEOGRAPHS, EMOJI, NUMBERS, SPELLING = TOPICS = (
    marked("word", "capitals"), marked("word", "accents"), marked("word", "chinese"), marked("word", "emoji"),
    marked("word", "numbers"), marked("word", "restored"),
)  # fmt: skip
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a\u231b\u23e9-\u23fa]"
    "[\U0001f3fb-\U0001f3ff\ufe0f\u20e3]*"
    "(?:\u200d[\U0001f000-\U0001faff\u2600-\u27bf][\U0001f3fb-\U0001f3ff\ufe0f]*)*"
)
_NUMBER = re.compile(r"\d{2,}")
_ALL_UNKNOWN = marked("engine", "Unknown."), marked("engine", "Unknown, all of them.")  # of one, of several
_SOME_UNKNOWN = marked("engine", "Unknown: {count} of {total}.")
_KEPT = marked("engine", "Kept.")
_LOST = {CAPITALS: marked("engine", "Made lower case."), ACCENTS: marked("engine", "Removed.")}
_REMOVED = marked("engine", "Removed before the text is split.")
# of the only one, of the only one that is known, of several
_SINGLE = {
    IDEOGRAPHS: (
        marked("engine", "It is one piece."),
        marked("engine", "One is a piece."),
        marked("engine", "Each character is one piece."),
    ),
    EMOJI: (
        marked("engine", "It is one piece."),
        marked("engine", "One is a piece."),
        marked("engine", "Each is one piece."),
    ),
}
_PARTS = {
    IDEOGRAPHS: (
        marked("engine", "It becomes {pieces} pieces, parts of the character."),
        marked("engine", "One becomes {pieces} pieces, parts of the character."),
        marked("engine", "{total} characters become {pieces} pieces, some of them parts of a character."),
    ),
    EMOJI: (
        marked("engine", "It becomes {pieces} pieces."),
        marked("engine", "One becomes {pieces} pieces."),
        marked("engine", "{total} become {pieces} pieces."),
    ),
}
_WITH_OTHERS = (
    marked("engine", "It is in a piece with more of the text."),
    marked("engine", "One is in a piece with more of the text."),
    marked("engine", "{total} are in {pieces} pieces, with more of the text."),
)
_JOINED = marked("engine", "{total} characters become {pieces} pieces. The longest has {most} of them.")
_TOGETHER = marked("engine", "{total} characters are one piece.")
_DIGIT_BY_DIGIT = marked("engine", "{number} goes digit by digit: {pieces}.")
_WHOLE = marked("engine", "{number} is one piece.")
_SPLIT = marked("engine", "{number} becomes {count} pieces: {pieces}.")
_WITH_MORE = marked("engine", "{number} is in a piece with more of the text: {pieces}.")
_UNKNOWN_NUMBER = marked("engine", "{number} is unknown.")
_EXACT = marked("engine", "Exactly.")
_INEXACT = marked("engine", "Not exactly.")


@dataclass(frozen=True, slots=True)
class Treatment:
    """What became of one text. num_unknown: pieces that stand for what the vocabulary does not know. said: of
    TOPICS, those that the text has -> a sentence or two.
    """

    num_pieces: int
    num_unknown: int
    said: dict[str, tuple[Sentence, ...]]


def treatment(tokenizer: Tokenizer, found: Trace) -> Treatment:
    """Return what a vocabulary did to a text that it was traced through."""
    seen = _Seen(tokenizer, found)
    text = found.text
    said = {
        CAPITALS: seen.letters(CAPITALS, _places(text, str.isupper)),
        ACCENTS: seen.letters(ACCENTS, _places(text, _has_accent)),
        IDEOGRAPHS: seen.signs(IDEOGRAPHS, [one.span() for one in _IDEOGRAPH.finditer(text)]),
        EMOJI: seen.signs(EMOJI, [one.span() for one in _EMOJI.finditer(text)]),
        NUMBERS: seen.number(),
        SPELLING: seen.spelling(),
    }
    unknown = sum(number == tokenizer.unk_id for number in found.ids)
    return Treatment(len(found.ids), unknown, {topic: one for topic, one in said.items() if one})


class _Seen:
    """The pieces of a text by the characters that they are from."""

    def __init__(self, tokenizer: Tokenizer, found: Trace) -> None:
        self._tokenizer, self._found = tokenizer, found
        self._at: dict[int, list[int]] = {}  # character -> its pieces
        for piece, (start, stop) in enumerate(found.offsets):
            if self._spelled([piece]) or found.ids[piece] == tokenizer.unk_id or stop - start > 1:
                for place in range(start, stop):
                    self._at.setdefault(place, []).append(piece)

    def letters(self, topic: str, places: Sequence[int]) -> tuple[Sentence, ...]:
        """Return whether some letters are still as they were written; none without any."""
        if not places:
            return ()
        told = [self._is_kept(topic, place) for place in places]
        unknown, total = told.count(None), len(told)
        if unknown == total:
            return (Sentence(_ALL_UNKNOWN[total > 1]),)
        return _with_unknown(_LOST[topic] if False in told else _KEPT, unknown, total)

    def _is_kept(self, topic: str, place: int) -> bool | None:
        """Return whether a letter stands in its pieces as it was written; None: it is unknown."""
        pieces = self._at.get(place, [])
        if any(self._is_unknown(piece) for piece in pieces):
            return None
        letter, written = self._found.text[place], self._spelled(pieces)
        if topic == CAPITALS:  # with or without its accent
            return unicodedata.normalize("NFD", letter)[0] in unicodedata.normalize("NFD", written)
        return unicodedata.normalize("NFC", letter).lower() in unicodedata.normalize("NFC", written).lower()

    def signs(self, topic: str, spans: Sequence[tuple[int, int]]) -> tuple[Sentence, ...]:
        """Return how many pieces some signs take, which are a character or more each; none without any."""
        if not spans:
            return ()
        each = [self._pieces_of(span) for span in spans]
        unknown, total = sum(any(map(self._is_unknown, pieces)) for pieces in each), len(spans)
        known = [pieces for pieces in each if pieces and not any(map(self._is_unknown, pieces))]
        if unknown == total:
            return (Sentence(_ALL_UNKNOWN[total > 1]),)
        if not known:
            return (Sentence(_REMOVED),)
        form = 0 if total == 1 else 1 if len(known) == 1 else 2
        every = {piece for pieces in known for piece in pieces}
        values = {"total": len(known), "pieces": len(every)}
        most = max(sum(piece in pieces for pieces in known) for piece in every)
        if any(len(pieces) > 1 for pieces in known):
            return _with_unknown(_PARTS[topic][form], unknown, total, values)
        if most > 1 and topic == IDEOGRAPHS:
            joined = _JOINED if len(every) > 1 else _TOGETHER
            return _with_unknown(joined, unknown, total, {**values, "most": most})
        pairs = zip(each, spans, strict=True)
        if any(self._has_more(pieces, span) for pieces, span in pairs if pieces in known):
            return _with_unknown(_WITH_OTHERS[form], unknown, total, values)
        return _with_unknown(_SINGLE[topic][form], unknown, total)

    def _has_more(self, pieces: Sequence[int], span: tuple[int, int]) -> bool:
        """Whether a piece is also from what stands beside a sign, other than a blank."""
        around = [self._found.offsets[piece] for piece in pieces]
        text = self._found.text
        return any((text[start : span[0]] + text[span[1] : stop]).strip() for start, stop in around)

    def number(self) -> tuple[Sentence, ...]:
        """Return how the longest number was split; none without one of several digits."""
        numbers = list(_NUMBER.finditer(self._found.text))
        if not numbers:
            return ()
        number = max(numbers, key=lambda one: len(one[0]))
        pieces = self._pieces_of(number.span())
        written = [self._spelled([piece]) for piece in pieces]
        values = {"number": number[0], "count": len(pieces), "pieces": " · ".join(written)}
        if any(map(self._is_unknown, pieces)):
            return (Sentence(_UNKNOWN_NUMBER, values),)
        if "".join(written) != number[0]:
            return (Sentence(_WITH_MORE, values),)
        if len(pieces) == 1:
            return (Sentence(_WHOLE, values),)
        return (Sentence(_DIGIT_BY_DIGIT if len(pieces) == len(number[0]) else _SPLIT, values),)

    def spelling(self) -> tuple[Sentence, ...]:
        """Return whether the pieces alone give back the text; none of an empty one."""
        text = self._found.text.strip()
        if not text:
            return ()
        return (Sentence(_EXACT if self._spelled(range(len(self._found.ids))) == text else _INEXACT),)

    def _pieces_of(self, span: tuple[int, int]) -> list[int]:
        return sorted({piece for place in range(*span) for piece in self._at.get(place, ())})

    def _spelled(self, pieces: Iterable[int]) -> str:
        return self._tokenizer.spelled([self._found.ids[piece] for piece in pieces])

    def _is_unknown(self, piece: int) -> bool:
        return self._found.ids[piece] == self._tokenizer.unk_id


def _places(text: str, wanted: Callable[[str], bool]) -> list[int]:
    return [place for place, letter in enumerate(text) if wanted(letter)]


def _has_accent(letter: str) -> bool:
    apart = unicodedata.normalize("NFD", letter)
    return len(apart) > 1 and letter.isalpha() and any(map(unicodedata.combining, apart))


def _with_unknown(
    template: str, unknown: int, total: int, values: Mapping[str, int] = MappingProxyType({})
) -> tuple[Sentence, ...]:
    """Return a sentence, and behind it how many are unknown, if any are."""
    more = Sentence(_SOME_UNKNOWN, {"count": unknown, "total": total})
    return (Sentence(template, values), more)[: 1 + bool(unknown)]
