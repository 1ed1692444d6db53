"""Every step from a text to its pieces, with the reason: what was cleaned, split, tried and found.

The pieces, ids and spans are always those of `encode`; what stands here explains them. Each
character is cleaned by the `tokenizers` library itself, one at a time, so that its tables of Unicode count
and not Python's. Were the steps ever to lead elsewhere, `Trace.agrees` is False and they are left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from tokenizers import normalizers, pre_tokenizers

from engine.text.byte_level import ByteLevel
from engine.text.tokenizer import Encoding, Tokenizer, without_halves
from engine.text.unigram import BLANK, Unigram
from engine.text.vocabulary import usual
from engine.text.wordpiece import WordPiece

LONGEST = 100  # characters; a longer word becomes [UNK] without a try
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """What cleaning did to some neighbouring characters, `text[start:stop]`, all for the same reasons.

    kinds: of "removed", "space" (another blank became a space), "alone" (a Chinese character, spaces put
    around it), "accent" (taken off), "lower"; several in this order; or "composed" (a letter and accents
    became one character), "plain" (another form of a letter or mark). why: of what was removed, "control",
    "format" (invisible), "unassigned", "private", "replacement" or "half" (half a character).
    """

    start: int
    stop: int
    before: str
    after: str
    kinds: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """One search in a word: what was looked for from `start`, the longest first, and what was found.

    start, stop: in the cleaned word; equal where nothing was found.
    """

    start: int
    stop: int
    tried: tuple[str, ...]  # the last one is what was found
    id: int | None  # None: not even the single character is in the vocabulary


@dataclass(frozen=True, slots=True)
class TracedWord:
    """A word of the basic split, and how it became pieces.

    kind: "word", "punctuation", "ideograph", or "added" for a special or added token written in the text.
    outcome: "whole", "pieces", "unknown", "too_long", "added"; of pieces with scores "likeliest", or "partly"
    where some of it is unknown; of bytes "merged"; "" if the steps are not known.
    """

    text: str  # cleaned; as it was written for an added token
    start: int  # text[start:stop] is what it was made of
    stop: int
    kind: str
    outcome: str
    first: int  # places in the trace's pieces
    last: int  # one past the last
    matches: tuple[Match, ...] = ()

    @property
    def failed(self) -> Match | None:
        """The search that found nothing, for which the whole word became [UNK]."""
        return self.matches[-1] if self.matches and self.matches[-1].id is None else None


@dataclass(frozen=True, slots=True)
class Trace:
    """A text, and every step to its pieces; special tokens are not among them."""

    text: str
    cleaned: str
    changes: tuple[Change, ...]
    words: tuple[TracedWord, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    offsets: tuple[Span, ...]  # of each piece, in `text`
    agrees: bool = True
    unk_id: int = -1  # of what the vocabulary does not know

    @property
    def num_unknown(self) -> int:
        """Words that became [UNK], or a part of them did."""
        return sum(word.outcome in ("unknown", "too_long", "partly") for word in self.words)

    def word_of(self, piece: int) -> int:
        """Return which word a piece is of, -1 for none."""
        low, high = 0, len(self.words)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.words[middle].last <= piece else (low, middle)
        return low if low < len(self.words) and self.words[low].first <= piece else -1


def trace(tokenizer: Tokenizer, text: str) -> Trace:
    """Return every step from `text` to its pieces. Its pieces, ids and spans equal those of `encode`."""
    found = tokenizer.encode(text)
    ids, pieces, offsets = found.input_ids[1:-1], found.tokens[1:-1], found.offsets[1:-1]
    if isinstance(tokenizer, Unigram):
        return _of_scores(tokenizer, text, found)
    if isinstance(tokenizer, ByteLevel):
        return _of_bytes(tokenizer, text, found)
    if not isinstance(tokenizer, WordPiece):  # of a kind whose steps are not known
        words = tuple(_from_pieces(text, pieces, offsets, found.continues[1:-1]))
        known = tuple(found.shown[1:-1]), tuple(ids), tuple(offsets)
        return Trace(text, text, (), words, *known, agrees=False, unk_id=tokenizer.unk_id)
    wordpiece = tokenizer
    cleaner = _cleaner(wordpiece.lowercase, wordpiece.strips, wordpiece.chinese_chars)
    steps = _Steps(wordpiece, cleaner, text)
    for place in _added_places(wordpiece, cleaner, text, pieces, offsets):
        steps.cut(offsets[place][0])
        steps.add(offsets[place][1], ids[place])
    steps.cut(len(text))
    agrees = steps.ids == ids
    return Trace(
        text=text,
        cleaned="".join(steps.cleaned),
        changes=tuple(_merged(text, steps.effects)),
        words=tuple(steps.words if agrees else _from_pieces(text, pieces, offsets, found.continues[1:-1])),
        pieces=tuple(pieces),
        ids=tuple(ids),
        offsets=tuple(offsets),
        agrees=agrees,
        unk_id=wordpiece.unk_id,
    )


@dataclass(frozen=True, slots=True)
class _Effect:
    """What cleaning makes of one character."""

    after: str
    kinds: tuple[str, ...] = ()
    why: str = ""
    sorts: bool = False  # it leaves marks that canonical order may move


class _Cleaner:
    """Cleans characters one at a time, as the library does, and remembers what it did to each."""

    def __init__(self, lowercase: bool, strip: bool, chinese: bool) -> None:
        self._steps = (("alone", chinese), ("accent", strip), ("lower", lowercase))
        self._decomposes = strip
        self._known: dict[str, _Effect] = {}

    def effect(self, char: str) -> _Effect:
        """Return what becomes of a character."""
        found = self._known.get(char)
        if found is None:
            found = self._known[char] = self._look(char)
        return found

    def clean(self, text: str) -> str:
        """Return what becomes of a whole text, spaces at its ends taken off."""
        return "".join(self.effect(char).after for char in text).strip()

    def _look(self, char: str) -> _Effect:
        if "\ud800" <= char <= "\udfff":
            return _Effect("", ("removed",), "half")
        now = _SINGLE["clean"].normalize_str(char)
        if not now:
            return _Effect("", ("removed",), _why_removed(char))
        kinds = ["space"] if now != char else []
        for kind, is_on in self._steps:
            then = _SINGLE[kind].normalize_str(now) if is_on else now
            if then != now:
                kinds.append(kind)
            now = then
        sorts = self._decomposes and any(map(unicodedata.combining, now))
        return _Effect(now, tuple(kinds), sorts=sorts)


def _normalizer(clean: bool, chinese: bool, strip: bool, lower: bool) -> normalizers.BertNormalizer:
    return normalizers.BertNormalizer(
        clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower
    )


_SINGLE = {
    "clean": _normalizer(True, False, False, False),
    "alone": _normalizer(False, True, False, False),
    "accent": _normalizer(False, False, True, False),
    "lower": _normalizer(False, False, False, True),
}
_SPLIT = pre_tokenizers.BertPreTokenizer()


@lru_cache(maxsize=8)
def _cleaner(lowercase: bool, strip: bool, chinese: bool) -> _Cleaner:
    return _Cleaner(lowercase, strip, chinese)


@lru_cache(maxsize=4)
def _ids_of(base: tuple[str, ...]) -> dict[str, int]:
    return {token: number for number, token in enumerate(base)}


def _why_removed(char: str) -> str:
    if char == "\ufffd":
        return "replacement"
    kinds = {"Cc": "control", "Cf": "format", "Co": "private"}
    return kinds.get(unicodedata.category(char), "unassigned")


def _added_places(
    wordpiece: WordPiece,
    cleaner: _Cleaner,
    text: str,
    pieces: Sequence[str],
    offsets: Sequence[Span],
) -> Iterator[int]:
    """Yield the pieces that are special or added tokens, which were found in the text before it was split."""
    looked_for = {name: usual(name, wordpiece.names) for name in wordpiece.names.named.values()}
    looked_for.update((token.content, token) for token in wordpiece.added)
    for place, piece in enumerate(pieces):
        if piece not in looked_for:
            continue
        token, (start, stop) = looked_for[piece], offsets[place]
        written = text[start:stop]
        same = written.strip() == piece
        if token.normalized:
            same = same or cleaner.clean(written) == cleaner.clean(piece)
        goes_on = (
            place + 1 < len(pieces) and pieces[place + 1].startswith("##") and offsets[place + 1][0] == stop
        )
        if same and not goes_on:
            yield place


class _Steps:
    """The steps through one text, stretch by stretch between added tokens."""

    def __init__(self, wordpiece: WordPiece, cleaner: _Cleaner, text: str) -> None:
        self._text, self._cleaner, self._unk = text, cleaner, wordpiece.unk_id
        self._pieces = _ids_of(wordpiece.base)
        self._matched: dict[str, tuple[Match, ...]] = {}
        self.done = 0
        self.cleaned: list[str] = []
        self.effects: list[tuple[int, _Effect]] = []  # of the characters that were changed
        self.words: list[TracedWord] = []
        self.ids: list[int] = []

    def add(self, stop: int, number: int) -> None:
        """Take an added token, which ends at `stop`, as it stands."""
        written = self._text[self.done : stop]
        self.cleaned.append(written)
        self._take(written, self.done, stop, "added", "added", [number])
        self.done = stop

    def cut(self, stop: int) -> None:
        """Clean the stretch that ends at `stop`, split it into words, and cut each into pieces."""
        letters, places = self._clean(self.done, stop)
        cleaned = "".join(letters)
        self.cleaned.append(cleaned)
        for word, (first, last) in _SPLIT.pre_tokenize_str(cleaned):
            where = places[first:last]
            matches = self._match(word)
            numbers = [match.id for match in matches if match.id is not None]
            known = bool(matches) and len(numbers) == len(matches)
            outcome = "too_long" if not matches else "unknown"
            if known:
                outcome = "whole" if len(matches) == 1 else "pieces"
            ids = numbers if known else [self._unk]
            self._take(word, min(where), max(where) + 1, kind_of(word), outcome, ids, matches)
        self.done = stop

    def _take(
        self,
        word: str,
        start: int,
        stop: int,
        kind: str,
        outcome: str,
        ids: Sequence[int],
        matches: tuple[Match, ...] = (),
    ) -> None:
        first = len(self.ids)
        self.ids += ids
        self.words.append(TracedWord(word, start, stop, kind, outcome, first, len(self.ids), matches))

    def _clean(self, start: int, stop: int) -> tuple[list[str], list[int]]:
        """Return the characters that are left, and the place in the text that each is from."""
        letters, places, sorts = list[str](), list[int](), False
        effect_of = self._cleaner.effect
        for place in range(start, stop):
            effect = effect_of(self._text[place])
            letters += effect.after
            places += [place] * len(effect.after)
            sorts = sorts or effect.sorts
            if effect.kinds:
                self.effects.append((place, effect))
        return _ordered(letters, places, self._text) if sorts else (letters, places)

    def _match(self, word: str) -> tuple[Match, ...]:
        found = self._matched.get(word)
        if found is None:
            found = self._matched[word] = tuple(_match(self._pieces, word))
        return found


def _match(pieces: dict[str, int], word: str) -> Iterator[Match]:
    """Yield the searches in a word: the longest piece from its start, then from where that ended."""
    start = 0
    while start < len(word) <= LONGEST:
        mark = "##" if start else ""
        tried = []
        for stop in range(len(word), start, -1):
            tried.append(mark + word[start:stop])
            number = pieces.get(tried[-1])
            if number is not None:
                yield Match(start, stop, tuple(tried), number)
                break
        else:
            yield Match(start, start, tuple(tried), None)
            return
        start = stop


def _ordered(letters: list[str], places: list[int], text: str) -> tuple[list[str], list[int]]:
    """Return marks in canonical order, as decomposing leaves them; what was removed still parts them."""
    classes, keys, block = [unicodedata.combining(letter) for letter in letters], list[tuple[int, int]](), 0
    for number, (place, kind) in enumerate(zip(places, classes, strict=True)):
        between = text[places[number - 1] + 1 : place] if number else ""
        if not kind or any(not unicodedata.combining(char) for char in between):
            block += 1
        keys.append((block, kind))
    order = sorted(range(len(letters)), key=keys.__getitem__)
    return [letters[number] for number in order], [places[number] for number in order]


@lru_cache(maxsize=4096)
def kind_of(word: str) -> str:
    """Return what a word of the basic split is: "punctuation", "ideograph" or "word"."""
    if len(word) > 1:
        return "word"
    if len(_SPLIT.pre_tokenize_str(f"a{word}a")) == 3:
        return "punctuation"
    return "ideograph" if _SINGLE["alone"].normalize_str(word) != word else "word"


def _merged(text: str, effects: Sequence[tuple[int, _Effect]]) -> Iterator[Change]:
    """Yield the changes, neighbours that changed for the same reasons as one."""
    group: list[tuple[int, _Effect]] = []
    for place, effect in effects:
        if group and (group[-1][0] + 1 != place or _reason(group[-1][1]) != _reason(effect)):
            yield _change(text, group)
            group = []
        group.append((place, effect))
    if group:
        yield _change(text, group)


def _reason(effect: _Effect) -> tuple[tuple[str, ...], str]:
    return effect.kinds, effect.why


def _change(text: str, group: Sequence[tuple[int, _Effect]]) -> Change:
    start, stop, first = group[0][0], group[-1][0] + 1, group[0][1]
    after = "".join(effect.after for _, effect in group)
    return Change(start, stop, text[start:stop], after, first.kinds, first.why)


def _from_pieces(
    text: str, pieces: Sequence[str], offsets: Sequence[Span], continues: Sequence[bool]
) -> Iterator[TracedWord]:
    """Yield words put together from the pieces alone, for a text whose steps are not understood."""
    firsts = [place for place in range(len(pieces)) if not continues[place] or not place]
    for first, last in pairwise([*firsts, len(pieces)]):
        start, stop = offsets[first][0], offsets[last - 1][1]
        yield TracedWord(text[start:stop], start, stop, "word", "", first, last)


# ---- pieces of other kinds


def _of_scores(tokenizer: Unigram, text: str, found: Encoding) -> Trace:
    """Return the steps to pieces with scores."""
    ids, pieces, offsets = found.input_ids[1:-1], found.tokens[1:-1], found.offsets[1:-1]
    words = list[TracedWord]()
    for word in _from_pieces(text, pieces, offsets, found.continues[1:-1]):
        numbers, own = ids[word.first : word.last], pieces[word.first : word.last]
        if numbers[0] in tokenizer.looked_for and word.text == own[0]:
            words.append(replace(word, kind="added", outcome="added"))
            continue
        spelled, outcome = tokenizer.joined(numbers), "whole" if len(own) == 1 else "likeliest"
        if tokenizer.unk_id in numbers:
            spelled, outcome = word.text, "partly"
        kind = kind_of(without_halves(spelled).removeprefix(BLANK))
        words.append(replace(word, text=spelled, kind=kind, outcome=outcome))
    cleaned, changes = _cleaned_between(tokenizer, text, words)
    known = tuple(pieces), tuple(ids), tuple(offsets)
    return Trace(text, cleaned, changes, tuple(words), *known, unk_id=tokenizer.unk_id)


def _of_bytes(tokenizer: ByteLevel, text: str, found: Encoding) -> Trace:
    """Return the steps to pieces of bytes; which merges joined them, engine/text/merges.py says."""
    ids, pieces, offsets = found.input_ids[1:-1], found.shown[1:-1], found.offsets[1:-1]
    looked_for = {token.content for token in tokenizer.added} | set(tokenizer.markers.named.values())
    words = list[TracedWord]()
    for word in _from_pieces(text, pieces, offsets, found.continues[1:-1]):
        own = tokenizer.tokens[ids[word.first]]
        if own in looked_for and (own.isspace() or own == word.text.strip()):
            words.append(replace(word, text=own, kind="added", outcome="added"))
            continue
        spelled = word.text or "".join(pieces[word.first : word.last])  # of spaces alone
        outcome = "whole" if word.last - word.first == 1 else "merged"
        words.append(replace(word, text=spelled, kind=kind_of(without_halves(spelled)), outcome=outcome))
    cleaned, changes = _cleaned_between(tokenizer, text, words)
    known = tuple(pieces), tuple(ids), tuple(offsets)
    return Trace(text, cleaned, changes, tuple(words), *known, unk_id=tokenizer.unk_id)


def _cleaned_between(
    tokenizer: Unigram | ByteLevel, text: str, words: Sequence[TracedWord]
) -> tuple[str, tuple[Change, ...]]:
    """Return a text cleaned between its added tokens, and what that changed."""
    added = [(word.start, word.stop) for word in words if word.kind == "added"]
    effects, done, parts = list[tuple[int, _Effect]](), 0, list[str]()
    for start, stop in [*added, (len(text), len(text))]:
        stretch = tokenizer.cleaned(text[done:start])
        told = list(_effects_of(tokenizer, text, done, start))
        if "".join(effect.after for _, effect in told) == stretch:
            effects += [(place, effect) for place, effect in told if effect.kinds]
        parts += [stretch, text[start:stop]]
        done = stop
    return "".join(parts), tuple(_merged(text, effects))


def _effects_of(
    tokenizer: Unigram | ByteLevel, text: str, start: int, stop: int
) -> Iterator[tuple[int, _Effect]]:
    """Yield what becomes of each character of a stretch; a letter and accents behind it change as one."""
    while start < stop:
        end = start + 1
        while end < stop and (unicodedata.combining(text[end]) or text[end - 1 : end + 1] == "\r\n"):
            end += 1
        before = without_halves(text[start:end])
        effect = _effect_on(before, tokenizer.cleaned(before))
        yield start, effect
        yield from ((place, replace(effect, after="")) for place in range(start + 1, end))
        start = end


@lru_cache(maxsize=4096)
def _effect_on(before: str, after: str) -> _Effect:
    if before == after:
        return _Effect(after)
    if not after:
        return _Effect("", ("removed",), _why_removed(before[0]))
    if after == " ":
        return _Effect(after, ("space",))
    if after == unicodedata.normalize("NFC", before):
        return _Effect(after, ("composed",))
    bare = "".join(one for one in unicodedata.normalize("NFD", before) if not unicodedata.combining(one))
    ways = {bare.lower(): ("accent", "lower"), bare: ("accent",), before.lower(): ("lower",)}
    return _Effect(after, ways.get(after, ("plain",)))
