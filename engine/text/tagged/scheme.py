"""Which scheme tags are written in (IOB1, IOB2, BIOES, BILOU or none), and from any of them to IOB2.

All schemes are read alike, as conlleval reads IOB: an entity goes on in a word that has an I (or an E, an L)
of the type before; everything else begins one. A tag that the scheme would have written otherwise for the
entities so read is a repair, and is listed. (Where conlleval itself joins two entities, B after E and S after
S of one type, they are two here.)
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.reading.lines import Numbers
from engine.text.tagged.repairs import RepairRows
from engine.text.tagged.texts import WordTable, counting

SCHEMES = ("IOB1", "IOB2", "BIOES", "BILOU", "none")
UNTYPED = "entity"  # the type of tags that are a bare B, I, O
_LETTERS = "BIESLUMW"  # M and W are what BMES files have for I and S
_PREFIXED = re.compile(rf"([{_LETTERS}])[-_](.+)", re.I | re.S)
_SUFFIXED = re.compile(rf"(.+)[-_]([{_LETTERS}])", re.I | re.S)
_BARE = re.compile(rf"[{_LETTERS}]")
_OUTSIDE = ("O", "o", "0")  # a zero is a slip, and told of
_MANY = 0.9  # of the words that carry a tag other than O
_GOES_ON, _ENDS = "IE", "ES"
_AS_READ = {"L": "E", "U": "S", "M": "I", "W": "S", "": "I"}
_SPELT = {
    "BIOES": "OBIES",
    "BILOU": "OBILU",
    "IOB1": "OBIIB",
    "IOB2": "OBIIB",
}  # O, begins, within, ends, alone
_BLOCK = 1 << 20  # words between two steps


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme, where its letter stands in a tag ("front", "back", "bare"; "" for none), and why."""

    name: str
    place: str
    reason: Sentence


def check_scheme(name: str) -> None:
    """Refuse a scheme that is none. Raises: DataError."""
    if name and name not in SCHEMES:
        template = marked("engine", "The scheme is {value!r}; it can be one of: {choices}.")
        raise DataError(template, value=name, choices=list(SCHEMES))


def parted(tag: str, place: str) -> tuple[str, str]:
    """Return a tag's letter ("O" outside, "" without one) and its type."""
    if tag in _OUTSIDE:
        return tag.upper(), ""
    if place == "bare":
        return tag, UNTYPED
    if place == "back" and (found := _SUFFIXED.fullmatch(tag)):
        return found[2].upper(), found[1]
    if found := _PREFIXED.fullmatch(tag):
        return found[1].upper(), found[2]
    return "", tag


def finding_scheme(
    names: Sequence[str], codes: np.ndarray[Any, Any], firsts: Numbers, wanted: str = ""
) -> Steps[Scheme]:
    """Return the scheme of (W,) codes, places in `names`, of texts that begin at `firsts`.

    Args: wanted: the scheme where a person has chosen it.
    """
    counts = yield from counting(codes, len(names))
    place = _place(names, counts)
    if wanted:
        place = "" if wanted == "none" else place or "front"
        return Scheme(
            wanted,
            place,
            Sentence(marked("engine", "The scheme is {scheme}, as chosen."), {"scheme": wanted}),
        )
    if not place:
        return _plain(names, counts)
    read = _Reading(names, place)
    seen = np.zeros((len(names), 3), np.int64)
    for block in _blocks(codes, firsts, read):
        seen += block.ways(len(names))
        yield Beat()
    return _named(names, place, seen)


def _place(names: Sequence[str], counts: Numbers) -> str:
    """Return where the letters of a scheme stand in most tags, "" if in few."""
    weighed = [
        (name, count) for name, count in zip(names, counts.tolist(), strict=True) if name not in _OUTSIDE
    ]
    total = sum(count for _, count in weighed)
    if not weighed or sum(n for name, n in weighed if _PREFIXED.fullmatch(name)) >= _MANY * total:
        return "front"
    if sum(n for name, n in weighed if _SUFFIXED.fullmatch(name)) >= _MANY * total:
        return "back"
    if "B" in names and all(_BARE.fullmatch(name) for name, _ in weighed):
        return "bare"
    return ""


def _plain(names: Sequence[str], counts: Numbers) -> Scheme:
    common = [names[place] for place in np.argsort(-counts, kind="stable")[:3].tolist()]
    template = marked(
        "engine",
        "The tags have no scheme, because they do not begin with B-, I- and the like "
        "({tags}). Each word is tagged on its own.",
    )
    return Scheme("none", "", Sentence(template, {"tags": common}))


def _named(names: Sequence[str], place: str, seen: Numbers) -> Scheme:
    """Name the scheme. Args: seen: (number of names, 3) words that begin, that begin right after an entity of
    their type, all.
    """
    letters = [parted(name, place)[0] for name in names]

    def count(wanted: str, way: int) -> int:
        return int(sum(seen[n, way] for n, letter in enumerate(letters) if letter and letter in wanted))

    entities = count("BIESLUMW", 0)
    if not entities:
        return Scheme("IOB2", place, Sentence(marked("engine", "No word carries a tag other than O.")))
    ends = {"BIOES": count("ESMW", 2), "BILOU": count("LU", 2)}
    if sum(ends.values()) >= 0.5 * entities:
        name = max(ends, key=lambda one: ends[one])
        template = marked(
            "engine", "The scheme is {scheme}: {count:,} tags say where an entity ends ({letters})."
        )
        known = sorted({letter for letter in letters if letter in ("ESMW" if name == "BIOES" else "LU")})
        values = {"scheme": name, "count": ends[name], "letters": [f"{letter}-" for letter in known]}
        return Scheme(name, place, Sentence(template, values))
    with_i, needless = count("I", 0), count("B", 0) - count("B", 1)
    values = {"entities": entities, "count": entities - with_i}
    if not with_i:
        template = marked("engine", "The scheme is IOB2: each of the {entities:,} entities begins with B-.")
        return Scheme("IOB2", place, Sentence(template, values))
    if needless >= with_i:
        template = marked("engine", "The scheme is IOB2: {count:,} of {entities:,} entities begin with B-.")
        return Scheme("IOB2", place, Sentence(template, values))
    template = marked(
        "engine",
        "The scheme is IOB1: of {entities:,} entities {with_i:,} begin with I-, and B- "
        "separates two of one type.",
    )
    return Scheme("IOB1", place, Sentence(template, {"entities": entities, "with_i": with_i}))


def converting(
    scheme: Scheme, names: Sequence[str], codes: np.ndarray[Any, Any], store: WordTable
) -> Steps[tuple[tuple[str, ...], np.ndarray[Any, Any], RepairRows]]:
    """Return the tags of IOB2, (W,) codes in them, and what was repaired; plain tags are only sorted.

    `codes` is changed: it holds what is returned, if there is room in it.
    """
    if scheme.name == "none":
        order = sorted(range(len(names)), key=lambda place: names[place])
        table = np.empty(len(names), codes.dtype)
        table[order] = np.arange(len(names))
        for start in range(0, len(codes), _BLOCK):
            codes[start : start + _BLOCK] = table[codes[start : start + _BLOCK]]
            yield Beat()
        return tuple(names[place] for place in order), codes, RepairRows()
    read = _Reading(names, scheme.place)
    spelling = _Spelling(scheme.name, read)
    tags = ("O", *(f"{letter}-{kind}" for kind in read.types for letter in "BI"))
    new = codes if len(tags) <= 256 or codes.dtype == np.uint16 else np.empty(len(codes), np.uint16)
    for block in _blocks(codes, store.firsts, read):
        spelling.compare(block)
        new[block.start : block.start + len(block.codes)] = block.iob2()
        yield Beat()
    return tags, new, spelling.repairs(store)


class _Reading:
    """What each raw tag means: (N,) its letter as it is read and written, and its type."""

    def __init__(self, names: Sequence[str], place: str) -> None:
        parts = [parted(name, place) for name in names]
        self.names = names
        self.types = sorted({kind for _, kind in parts if kind})
        numbers = {kind: number for number, kind in enumerate(self.types)}
        self.written = [letter for letter, _ in parts]
        spelt = [_as_spelt(name, letter, place) for name, letter in zip(names, self.written, strict=True)]
        is_mixed = any(letter.isupper() for letter in spelt)  # small letters throughout are a way to write
        self.spelt = spelt if is_mixed else self.written
        as_read = [_AS_READ.get(letter, "O" if letter == "0" else letter) for letter in self.written]
        self.kinds = np.array([numbers.get(kind, -1) for _, kind in parts], np.int32)
        self.is_inside = np.array([letter != "O" for letter in as_read])
        self.may_go_on = np.array([letter in _GOES_ON for letter in as_read])
        self.ends = np.array([letter in _ENDS for letter in as_read])


def _as_spelt(name: str, letter: str, place: str) -> str:
    """Return the letter of a tag as it is written: small where it stands small."""
    return letter if not letter or letter == (name[-1:] if place == "back" else name[:1]) else letter.lower()


@dataclass(frozen=True, slots=True)
class _Block:
    """Some words that follow each other, and what they are: (n,) each."""

    start: int
    codes: np.ndarray[Any, Any]
    kinds: np.ndarray[Any, Any]
    inside: np.ndarray[Any, Any]
    begins: np.ndarray[Any, Any]  # an entity
    after_own: np.ndarray[Any, Any]  # right behind an entity of the same type, in the same text
    last: np.ndarray[Any, Any]  # of its entity

    def ways(self, num_names: int) -> Numbers:
        """Return (num_names, 3) how many words begin, begin behind an entity of their type, are there."""
        behind = self.begins & self.after_own
        ways = [np.bincount(self.codes[which], minlength=num_names) for which in (self.begins, behind)]
        return np.stack([*ways, np.bincount(self.codes, minlength=num_names)], axis=1)

    def iob2(self) -> np.ndarray[Any, Any]:
        """Return places in (O, B-a, I-a, B-b, ...)."""
        return np.where(self.inside, 2 * self.kinds + np.where(self.begins, 1, 2), 0)


def _blocks(codes: np.ndarray[Any, Any], firsts: Numbers, read: _Reading) -> Iterator[_Block]:
    """Yield all words, a block at a time; `codes` of blocks that were yielded may be changed."""
    before: Any = None  # the raw code of the word before the block
    for start in range(0, len(codes), _BLOCK):
        stop = min(start + _BLOCK, len(codes))
        own = codes[start:stop].copy()
        is_first = np.zeros(stop - start + 1, bool)
        low, high = np.searchsorted(firsts, [start, stop + 1])
        is_first[firsts[low:high] - start] = True  # the end of all words counts as one, too
        around = np.concatenate([own[:1] if before is None else before, own, codes[stop : stop + 1]])
        inside, kinds = read.is_inside[around], read.kinds[around]
        after_own = inside[1:] & inside[:-1] & (kinds[1:] == kinds[:-1])
        after_own[is_first[: len(after_own)]] = False
        goes_on = after_own & read.may_go_on[around[1:]] & ~read.ends[around[:-1]]
        n = stop - start
        followed = np.append(goes_on, False)[1 : n + 1]
        mine = inside[1 : n + 1]
        yield _Block(start, own, kinds[1 : n + 1], mine, mine & ~goes_on[:n], after_own[:n], mine & ~followed)
        before = own[-1:]


class _Spelling:
    """Compares what is written with what the scheme writes for the same entities."""

    def __init__(self, scheme: str, read: _Reading) -> None:
        self._scheme, self._read = scheme, read
        self._right = np.frombuffer(_SPELT[scheme].encode(), np.uint8)
        same = {"M": "I", "W": "S"} if scheme == "BIOES" else {}
        letters = [same.get(letter, letter) or " " for letter in read.spelt]
        self._written = np.frombuffer("".join(letters).encode(), np.uint8)
        self._words, self._was, self._became = array("q"), array("H"), array("B")

    def compare(self, block: _Block) -> None:
        """Take down the words of a block that are written otherwise than they are read."""
        begins, last = block.begins, block.last
        which = np.where(begins, np.where(last, 4, 1), np.where(last, 3, 2))
        if self._scheme == "IOB1":
            which[begins & ~block.after_own] = 2
        right = self._right[np.where(block.inside, which, 0)]
        places = np.flatnonzero(right != self._written[block.codes])
        self._words.frombytes((places + block.start).astype(np.int64).tobytes())
        self._was.frombytes(block.codes[places].astype(np.uint16).tobytes())
        self._became.frombytes(right[places].tobytes())

    def repairs(self, store: WordTable) -> RepairRows:
        """Return what was taken down, by line."""
        was, right = np.frombuffer(self._was, np.uint16), np.frombuffer(self._became, np.uint8)
        pairs, which = np.unique(np.stack([was, right], 1), axis=0, return_inverse=True)
        names, kinds, kind_of = list(self._read.names), dict[str, Sentence](), list[int]()
        for code, letter in pairs.tolist():
            old, new = self._read.spelt[code], chr(letter)
            names.append(new if new == "O" else f"{new}-{self._read.types[self._read.kinds[code]]}")
            kinds.setdefault(old + new, _kind(old, new, self._scheme))
            kind_of.append(list(kinds).index(old + new))
        which = which.reshape(-1)
        return RepairRows(
            list(kinds.values()),
            names,
            (
                store.lines_of(np.frombuffer(self._words, np.int64)),
                np.array(kind_of, np.uint8)[which],
                was,
                len(self._read.names) + which,
            ),
        )


def _kind(old: str, new: str, scheme: str) -> Sentence:
    if new == "O":
        zero, small = marked("engine", "the digit 0 for the letter O"), marked("engine", "a small o for O")
        return Sentence(zero if old == "0" else small)
    if not old:
        return Sentence(marked("engine", "a type without {new}-"), {"new": new})
    template = marked("engine", "{old}- where {scheme} has {new}-")
    return Sentence(template, {"old": old, "new": new, "scheme": scheme})
