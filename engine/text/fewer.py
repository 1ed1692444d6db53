"""A vocabulary without some of its pieces: which must stay, and what becomes of it, for each kind.

Not to be broken: what could be spelled before is never unknown afterwards, it only takes more pieces; and a
text whose pieces all stay, with what they are made of, is split as it was.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from engine.errors import ConfigError, marked
from engine.text.byte_level import ByteLevel
from engine.text.tokenizer import Tokenizer
from engine.text.unigram import Unigram
from engine.text.wordpiece import WordPiece

Numbers = npt.NDArray[np.int64]

_CONTINUES = "##"
_NEVER_USED = re.compile("##[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BYTE = re.compile("<0x[0-9A-F]{2}>")


def must_keep(tokenizer: Tokenizer) -> Numbers:
    """Return the ids, ascending, without which text would turn unknown, and of special and added tokens.

    Of WordPieces and of pieces with scores these are every single character, of the former alone and after
    "##". Where a vocabulary lacks one, all longer pieces that use the character in that place stay too. An
    ideograph after "##" may go where each ideograph is a word of its own: no text is cut into it (7,300
    pieces of the published Chinese vocabulary). Of pieces with scores the least likely stays too, which says
    how unlikely the unknown is. Of byte-level pieces these are the bytes: what no merge makes.
    Raises: ConfigError: it is of a kind that is not known here.
    """
    if isinstance(tokenizer, WordPiece):
        needed = _needed_wordpieces(tokenizer)
    elif isinstance(tokenizer, ByteLevel):
        made = {first + second for first, second in tokenizer.merges}
        needed = {number for number, token in enumerate(tokenizer.base) if token not in made}
    elif isinstance(tokenizer, Unigram):
        needed = _needed_of_scores(tokenizer)
    else:
        template = marked(
            "engine", "Cloze cannot make a vocabulary of this kind smaller. Leave {field} at 0."
        )
        raise ConfigError(template, field="trim_vocab")
    needed |= tokenizer.special_ids | _added(tokenizer)
    return np.array(sorted(needed), np.int64)


def with_parts(tokenizer: Tokenizer, needed: Iterable[int], wanted: Iterable[int], size: int) -> Numbers:
    """Return at most `size` ids, ascending: the needed ones, then as many of the wanted as there is room for,
    each with the pieces that it is joined from.
    """
    parts, kept = _parts_of(tokenizer), {int(number) for number in needed}
    for number in wanted:
        if len(kept) >= size:
            break
        new, waiting = set[int](), [int(number)]
        while waiting:
            one = waiting.pop()
            if one not in kept and one not in new:
                new.add(one)
                waiting += parts.get(one, ())
        if len(kept) + len(new) <= size:
            kept |= new
    return np.array(sorted(kept), np.int64)


def order_of(tokenizer: Tokenizer, keep: Iterable[int]) -> list[int]:
    """Return the old ids in the order of the new ones; special and added tokens are kept in any case.

    Special WordPieces come first; else the order is the old one.
    """
    kept = _added(tokenizer) | {int(number) for number in keep}
    if not isinstance(tokenizer, WordPiece):
        return sorted(kept | tokenizer.special_ids)
    ids = {token: number for number, token in enumerate(tokenizer.tokens)}
    base = len(tokenizer.base)  # tokens that were added behind it stay there
    first = {ids[name] for name in tokenizer.names.named.values() if ids.get(name, base) < base}
    return sorted(first) + sorted(kept - first)


def fewer(tokenizer: Tokenizer, order: Sequence[int]) -> Tokenizer:
    """Return the tokenizer of the pieces in `order`, cleaning as before."""
    kept = [number for number in order if number < _num_base(tokenizer)]
    base = tuple(tokenizer.tokens[number] for number in kept)
    if isinstance(tokenizer, WordPiece):
        return dataclasses.replace(tokenizer, base=base, notes=())
    if isinstance(tokenizer, ByteLevel):
        known = {tokenizer.tokens[number] for number in order}
        merges = tuple(one for one in tokenizer.merges if {*one, one[0] + one[1]} <= known)
        return dataclasses.replace(tokenizer, base=base, merges=merges, notes=())
    assert isinstance(tokenizer, Unigram)
    scores = tuple(tokenizer.scores[number] for number in kept)
    return dataclasses.replace(tokenizer, base=base, scores=scores, notes=())


def _num_base(tokenizer: Tokenizer) -> int:
    assert isinstance(tokenizer, WordPiece | ByteLevel | Unigram)
    return len(tokenizer.base)


def _added(tokenizer: Tokenizer) -> set[int]:
    added = {token.content for token in tokenizer.added}
    return {number for number, token in enumerate(tokenizer.tokens) if token in added}


def _parts_of(tokenizer: Tokenizer) -> Mapping[int, tuple[int, int]]:
    """Return which two pieces each piece is joined from; of a kind that joins none, nothing."""
    if not isinstance(tokenizer, ByteLevel):
        return {}
    ids = {token: number for number, token in enumerate(tokenizer.tokens)}
    return {ids[first + second]: (ids[first], ids[second]) for first, second in reversed(tokenizer.merges)}


def _needed_wordpieces(wordpiece: WordPiece) -> set[int]:
    known = set(wordpiece.tokens)

    def is_needed(token: str) -> bool:
        if token.startswith("[unused") or (wordpiece.chinese_chars and _NEVER_USED.fullmatch(token)):
            return False
        places = _places(token)
        return len(places) == 1 or not known.issuperset(places)

    return {number for number, token in enumerate(wordpiece.tokens) if is_needed(token)}


def _places(token: str) -> list[str]:
    """Return a piece's characters, each as the piece that it would be alone."""
    if token.startswith(_CONTINUES) and len(token) > len(_CONTINUES):
        return [_CONTINUES + character for character in token[len(_CONTINUES) :]]
    return [token[:1], *(_CONTINUES + character for character in token[1:])]


def _needed_of_scores(tokenizer: Unigram) -> set[int]:
    single = {piece for piece in tokenizer.base if len(piece) == 1}
    found = {
        number
        for number, piece in enumerate(tokenizer.base)
        if len(piece) == 1 or not single.issuperset(piece) or _BYTE.fullmatch(piece)
    }
    return found | {int(np.argmin(tokenizer.scores))}
