"""A WordPiece vocabulary learned from text: the commonest pair of pieces becomes a piece, again and again.

Our own few lines instead of the trainer in `tokenizers`: that one gives another vocabulary at each run, takes
no word counts, and cannot be stopped. Given the same words, both find the same pieces; a test has the proof.
Nothing may depend on the order of a set or on the hash of a string: they differ from process to process.
"""

from __future__ import annotations

import heapq
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import add
from pathlib import Path

import numpy as np
from tokenizers import normalizers, pre_tokenizers

from engine.durable import write_text
from engine.errors import ConfigError, Sentence, marked
from engine.events import Event, Noted, Progress
from engine.text.corpus.corpus import Corpus, CorpusState
from engine.text.wordpiece import WordPiece

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
COVERAGE = 0.995  # the least share of the text's characters that must have a piece
_LEAST_TIMES = 2  # what is there once only is not learned
_RARE = 1e-6  # of all characters; a letter that is rarer needs no piece
_MOST_LETTERS = 1 / 16  # of the vocabulary, letters beyond ASCII that COVERAGE does not ask for
_LONGEST = 100  # characters; WordPiece cuts no longer words
_MAX_LEARNED = 500_000  # different words, the most frequent
_MAX_RAW, _MAX_COUNTED = 1_000_000, 2_000_000  # different words in memory, 130 and 250 MB
_BETWEEN = "\u2581"  # cleaning and splitting leave it as it is
_AT_ONCE = 10_000
_TELL_S = 0.2
_IDEOGRAPH = re.compile(  # as BertNormalizer, which puts spaces around them
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_COUNTING = marked("engine", "Counting words")
_JOINING = marked("engine", "Building the vocabulary")


def train_vocabulary(corpus: Corpus, *, size: int, lowercase: bool) -> Generator[Event, None, WordPiece]:
    """Return a WordPiece of at most `size` tokens: the special five, characters, then longer pieces.

    The same text and settings give the same tokens in the same order, on every machine. Every printable ASCII
    character has a piece, alone and within a word (capitals only if not `lowercase`, which never meets them);
    Chinese goes character by character. Memory: below 1 GB, however long the text is.
    Raises: DataError as `Corpus.documents`; ConfigError for "vocab_size" if the characters alone take more.
    Source: Sennrich et al. 2016 (frequent pairs); Wu et al. 2016 and Devlin et al. 2019 (WordPiece).
    """
    words = yield from _count_words(corpus, lowercase)
    letters = yield from _count_letters(words)
    chosen = _choose_characters(letters, size, lowercase)
    within = sorted("##" + letter for letter in chosen.letters)
    pieces = _Pieces([*within, *sorted(chosen.letters)])
    yield from _learn(pieces, words, set(chosen.letters))
    room = size - len(SPECIAL_TOKENS) - 2 * len(within) - len(chosen.ideographs)
    more = yield from _fill(pieces, room, chosen.optional, size)
    alone = sorted([*chosen.letters, *chosen.ideographs, *more])
    tokens = [*SPECIAL_TOKENS, *alone, *within, *pieces.tokens[2 * len(within) :]]
    if len(tokens) < size:
        template = marked("engine", "The text gives {found} pieces, not {size}: nothing else occurs twice.")
        yield Noted(sentence=Sentence(template, {"found": f"{len(tokens):,}", "size": f"{size:,}"}))
    return WordPiece(tuple(tokens), lowercase=lowercase)


def whole_words(corpus: Corpus, *, size: int, lowercase: bool) -> Generator[Event, None, WordPiece]:
    """Return a WordPiece of the special five and the commonest whole words, the commonest first.

    It cuts no word: one that is not among them is [UNK]. Of words equally common those stand first that sort
    first. Raises: DataError as `Corpus.documents`.
    """
    words = yield from _count_words(corpus, lowercase)
    for special in SPECIAL_TOKENS:
        words.pop(special, None)
    most = heapq.nsmallest(size - len(SPECIAL_TOKENS), words.items(), key=lambda one: (-one[1], one[0]))
    return WordPiece((*SPECIAL_TOKENS, *(word for word, _ in most)), lowercase=lowercase)


def write_vocab(path: Path, wordpiece: WordPiece) -> None:
    """Write a vocab.txt, a token a line, whole or not at all. Raises: UserError if the disk refuses."""
    write_text(path, "".join(token + "\n" for token in wordpiece.tokens))


def _count_words(corpus: Corpus, lowercase: bool) -> Generator[Event, None, Counter[str]]:
    """Return how often each word is there, cleaned and split as `WordPiece` does it."""
    reading, total, told = CorpusState(), corpus.num_bytes, 0.0
    raw, words = Counter[str](), Counter[str]()
    for _, paragraphs in corpus.paragraphs(reading):
        raw.update(" ".join(paragraphs).split())
        progress = Progress(stage=_COUNTING, done=reading.bytes_done, total=total)
        if len(raw) > _MAX_RAW:
            for _ in _add_parts(words, raw, lowercase):
                yield progress
        elif time.monotonic() - told > _TELL_S:
            yield progress
            told = time.monotonic()
    for _ in _add_parts(words, raw, lowercase):
        yield Progress(stage=_COUNTING, done=total, total=total)
    return words


def _add_parts(words: Counter[str], raw: Counter[str], lowercase: bool) -> Iterator[None]:
    """Add to `words` the parts of raw words, cleaned and split, with their counts; then empty `raw`."""
    clean = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase
    )
    split = pre_tokenizers.BertPreTokenizer()
    items = iter(raw.items())
    while some := list(islice(items, _AT_ONCE)):
        text, counts, count = list[str](), list[int](), 0
        for word, times in some:
            if word.isalpha() and word.isascii() and len(word) <= _LONGEST:  # there is nothing to do
                words[word.lower() if lowercase else word] += times
            elif _BETWEEN not in word:
                text.append(f"{_BETWEEN} {word}")
                counts.append(times)
        remaining = iter(counts)
        for part, _ in split.pre_tokenize_str(clean.normalize_str(" ".join(text))):
            if part == _BETWEEN:
                count = next(remaining)
            elif len(part) <= _LONGEST:
                words[part] += count
        yield
    raw.clear()
    least = _LEAST_TIMES
    while len(words) > _MAX_COUNTED:
        for word in [word for word, count in words.items() if count < least]:
            del words[word]
        least += 1


def _count_letters(words: Counter[str]) -> Generator[Event, None, list[tuple[int, str]]]:
    """Return the characters of the words and their counts, the commonest first, equals in Unicode order."""
    counts = np.zeros(sys.maxunicode + 1)  # exact: whole numbers below 2^53
    items = iter(words.items())
    while some := list(islice(items, _AT_ONCE)):
        codes = np.frombuffer("".join(word for word, _ in some).encode("utf-32-le"), dtype="<u4")
        times = np.repeat([count for _, count in some], [len(word) for word, _ in some])
        found = np.bincount(codes, weights=times)
        counts[: len(found)] += found
        yield Progress(stage=_JOINING, done=0, total=0)
    found = np.flatnonzero(counts)
    order = found[np.argsort(-counts[found], kind="stable")]
    return [(int(counts[code]), chr(code)) for code in order]


@dataclass(frozen=True, slots=True)
class _Characters:
    letters: list[str]  # each takes two pieces, alone and within a word
    ideographs: list[str]  # each is a word of its own, and takes one
    optional: list[tuple[int, str]]  # ideographs that may have one too, with their counts, commonest first


def _choose_characters(counts: list[tuple[int, str]], size: int, lowercase: bool) -> _Characters:
    """Return the characters that get a piece. Raises: ConfigError if there is no room for those needed."""
    total = sum(count for count, _ in counts)
    letters = [chr(code) for code in range(33, 127) if not (lowercase and chr(code).isupper())]
    foreign = [(count, letter) for count, letter in counts if not letter.isascii()]
    ideographs, optional, further = list[str](), list[tuple[int, str]](), list[str]()
    missing = sum(count for count, _ in foreign)
    for count, letter in foreign:
        needed, alone = missing > (1 - COVERAGE) * total, _IDEOGRAPH.match(letter)
        missing -= count
        if needed:
            (ideographs if alone else letters).append(letter)
        elif alone and count >= _LEAST_TIMES:
            optional.append((count, letter))
        elif count >= max(_LEAST_TIMES, _RARE * total):
            further.append(letter)
    least = len(SPECIAL_TOKENS) + 2 * len(letters) + len(ideographs)
    if least > size:
        raise ConfigError(
            marked("engine", "{field} is {value}, but the characters of this text alone take {least}."),
            field="vocab_size",
            value=size,
            least=least,
        )
    return _Characters(
        letters + further[: min(int(size * _MOST_LETTERS), size - least) // 2], ideographs, optional
    )


def _learn(pieces: _Pieces, words: Counter[str], known: set[str]) -> Iterator[Event]:
    """Give the commonest words, all of whose letters are known, to `pieces`; then empty `words`."""
    least, num_words = 0, 0
    for count, num in sorted(Counter(words.values()).items(), reverse=True):
        num_words += num
        if num_words > _MAX_LEARNED:
            break
        least = count
    items = iter(words.items())
    while some := list(islice(items, _AT_ONCE)):
        for word, count in some:
            if count >= least and len(word) > 1 and known.issuperset(word):
                pieces.add(word, count)
        yield Progress(stage=_JOINING, done=0, total=0)
    words.clear()


class _Pieces:
    """Words as pieces, and how often each pair of pieces is there.

    A word is a string in which the character chr(id) stands for a piece, so that joining is `str.replace`.

    Args: tokens: the pieces to begin with; grows.
    """

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._first = {ord(token): number for token, number in self._ids.items() if len(token) == 1}
        self._rest = {ord(token[2]): number for token, number in self._ids.items() if len(token) == 3}
        self._words: list[str] = []
        self._counts: list[int] = []
        self._pairs: defaultdict[str, int] = defaultdict(int)
        self._places: defaultdict[str, list[int]] = defaultdict(list)  # words, some of which have it no more
        self._heap: list[tuple[int, str]] = []

    def add(self, word: str, count: int) -> None:
        """Learn from a word, all of whose letters have pieces. Not to be called once pairs are joined."""
        pieces = word[0].translate(self._first) + word[1:].translate(self._rest)
        for pair in map(add, pieces, pieces[1:]):
            self._pairs[pair] += count
            self._places[pair].append(len(self._words))
        self._words.append(pieces)
        self._counts.append(count)

    def commonest(self) -> tuple[int, str]:
        """Return the commonest pair and its count, 0 without one; of equals, that of the older pieces."""
        if not self._heap:
            self._heap = [(-count, pair) for pair, count in self._pairs.items()]
            heapq.heapify(self._heap)
        while self._heap:
            minus, pair = self._heap[0]
            count = self._pairs.get(pair, 0)
            if count == -minus:
                return count, pair
            heapq.heappop(self._heap)
            if 0 < count < -minus:  # if it grew, it is in the heap once more
                heapq.heappush(self._heap, (-count, pair))
        return 0, ""

    def join(self, pair: str) -> None:
        """Make one piece of a pair, everywhere."""
        text = self.tokens[ord(pair[0])] + self.tokens[ord(pair[1])].removeprefix("##")
        new = chr(self._ids.setdefault(text, len(self.tokens)))
        if ord(new) == len(self.tokens):
            self.tokens.append(text)
        pairs, grown = self._pairs, set[str]()
        for number in self._places.pop(pair):
            old, count = self._words[number], self._counts[number]
            if pair not in old:
                continue
            joined = self._words[number] = old.replace(pair, new)
            for other in map(add, old, old[1:]):
                pairs[other] -= count
            for other in map(add, joined, joined[1:]):
                pairs[other] += count
                if new in other:
                    self._places[other].append(number)
                    grown.add(other)
        pairs.pop(pair)
        for other in grown:
            heapq.heappush(self._heap, (-pairs[other], other))


def _fill(
    pieces: _Pieces, room: int, ideographs: Sequence[tuple[int, str]], size: int
) -> Generator[Event, None, list[str]]:
    """Join pairs and take ideographs, the commonest first, until the room is used; return the ideographs."""
    taken, told = 0, time.monotonic()
    begin = len(pieces.tokens)
    while (done := len(pieces.tokens) - begin + taken) < room:
        count, pair = pieces.commonest()
        if taken < len(ideographs) and ideographs[taken][0] >= count:
            taken += 1
        elif count >= _LEAST_TIMES:
            pieces.join(pair)
        else:
            break
        if time.monotonic() - told > _TELL_S:
            yield Progress(stage=_JOINING, done=size - room + done, total=size)
            told = time.monotonic()
    return [letter for _, letter in ideographs[:taken]]
