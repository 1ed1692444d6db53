"""Labels that a person takes for one and a program for several: "Sport", "sport", "sport" with a Cyrillic o.

Two labels are nearly equal when they differ only in case, white space, width (full or half), normal form,
characters that cannot be seen, letters and dashes that look alike, a full stop or comma behind the last
letter, or as 0 and 0.0 do. Other marks that can be seen count: "cafe" is not "café", "C" is not "C++".
Nothing is merged here unless it is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence, marked
from engine.text.table import Table

MOST_LABELS = 2000  # of more, no group is looked for: that is free text
MOST_QUOTED = 32  # characters of a label in a sentence
MOST_SPELLINGS = 3  # named in a sentence, which is to hold the way out too
MOST_LINES = 5  # of each of them

# Letters of the shape of a Latin one, written as numbers because the eye cannot tell them apart.
_CYRILLIC = (
    "\u0410\u0412\u0415\u0401\u0405\u0406\u0407\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0430\u0435\u0451\u0455\u0456\u0457\u0458\u043e\u0440\u0441\u0443\u0445\u0501\u04bb\u051b\u051d",
    "ABEËSIÏJKMHOPCTYXaeësiïjopcyxdhqw",
)
_GREEK = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03f2\u03f3",
    "ABEZHIKMNOPTYXocj",
)
_LATIN = ("\u0251\u0261", "ag")
_MARKS = (
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2018\u2019\u201b\u02bc\u00b4\u201c\u201d\u201f",
    "-------'''''\"\"\"",
)
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0"
)
_ALIKE = {
    ord(a): b for given, latin in (_CYRILLIC, _GREEK, _LATIN) for a, b in zip(given, latin, strict=True)
}
_PLAIN = {ord(a): b for a, b in zip(*_MARKS, strict=True)}
HIDDEN = f"[{_UNSEEN}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"  # what cannot be seen, as a pattern
LOOK_ALIKES = frozenset(_CYRILLIC[0] + _GREEK[0])  # letters that look like a Latin one
_HIDDEN = re.compile(HIDDEN)
_SPACE = re.compile(r"\s+")
_LAST_STOP = re.compile(r"(?<=\w)[.,;:。，；：]+$")
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})(\.0+)?")


@dataclass(frozen=True, slots=True)
class Alike:
    """Labels that are nearly equal. kept: the commonest spelling; others: the rest, the commonest first."""

    kept: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Spelling:
    """A label that stands for another, nearly equal one, and the rows of the table that carry it."""

    label: str
    kept: str
    rows: npt.NDArray[np.int64]

    @property
    def seen(self) -> tuple[str, str]:
        """The two, short, and so that their difference can be seen."""
        return shown_pair(self.label, self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """The label of each row of a column. names: the different ones. codes: (R,) int32, places among them.

    usable: (R,) bool, whether the row counts.
    """

    names: tuple[str, ...]
    codes: npt.NDArray[np.int32]
    usable: npt.NDArray[np.bool_]

    def counts(self) -> Counter[str]:
        """Return how many rows that count carry each label, in the order in which labels first appear."""
        codes, firsts, counts = np.unique(self.codes[self.usable], return_index=True, return_counts=True)
        order = np.argsort(firsts)
        found = zip(codes[order].tolist(), counts[order].tolist(), strict=True)
        return Counter({self.names[code]: count for code, count in found})

    def rows_of(self, label: str) -> npt.NDArray[np.int64]:
        """Return the rows that count and carry a label."""
        return np.flatnonzero(self.usable & (self.codes == self.names.index(label)))

    def merged(self, spellings: Sequence[Spelling]) -> LabelColumn:
        """Return the answers with each spelling's rows carrying the label that it stands for."""
        names, codes = list(self.names), self.codes.copy()
        for spelling in spellings:
            if spelling.kept not in names:
                names.append(spelling.kept)
            codes[spelling.rows] = names.index(spelling.kept)
        return LabelColumn(tuple(names), codes, self.usable)


def nearly_equal(counts: Mapping[str, int]) -> tuple[Alike, ...]:
    """Return the groups of nearly equal labels, in order of the spelling that each would keep.

    Args: counts: label -> its rows. Kept is the spelling with most rows; of equals the shorter, then the one
    that sorts first, so that the same table always gives the same answer.
    """
    group_of: dict[str, set[str]] = {}
    for label in counts:
        group = {label}
        for key in _keys(label):
            group |= group_of.get(key, set())
        for member in group:
            group_of.update(dict.fromkeys(_keys(member), group))
    groups = {id(group): group for group in group_of.values() if len(group) > 1}.values()
    ranked = (sorted(group, key=lambda label: (-counts[label], len(label), label)) for group in groups)
    return tuple(sorted((Alike(first, tuple(rest)) for first, *rest in ranked), key=lambda found: found.kept))


def spellings_of(labels: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return label -> the one known label it is nearly equal to, for labels that are not known themselves.

    A label that is near to several known ones is left out: nobody can say which is meant.
    """
    names = set(known)
    near: dict[str, set[str]] = {}
    for name in names:
        for key in _keys(name):
            near.setdefault(key, set()).add(name)
    found = {}
    for label in set(labels) - names:
        meant = set().union(*(near.get(key, set()) for key in _keys(label)))
        if len(meant) == 1:
            found[label] = meant.pop()
    return found


def spellings_in(answers: LabelColumn, known: Sequence[str] | None) -> tuple[Spelling, ...]:
    """Return the labels of a column that stand for another: for a commoner one, or for one that is known.

    Args: known: a model's labels, None to compare the column's own.
    """
    counts = answers.counts()
    if len(counts) > MOST_LABELS:
        return ()
    if known is None:
        stands_for = {other: group.kept for group in nearly_equal(counts) for other in group.others}
    else:
        stands_for = spellings_of(counts, known)
    order = sorted(stands_for, key=lambda label: (stands_for[label], -counts[label], label))
    return tuple(Spelling(label, stands_for[label], answers.rows_of(label)) for label in order)


def spelling_note(table: Table, spellings: Sequence[Spelling], *, is_merged: bool) -> Sentence:
    """Return what to say of the nearly equal labels of a table: what stands for what, and in which lines."""
    named = Sentence("")
    both = marked("engine", "{before}; {one}")
    for place, spelling in enumerate(spellings[:MOST_SPELLINGS]):
        one = spelling_words(table, spelling)
        named = Sentence(both, {"before": named, "one": one}) if place else one
    if (more := len(spellings) - MOST_SPELLINGS) > 0:
        named = Sentence(marked("engine", "{before}; and {count} more"), {"before": named, "count": more})
    template = marked(
        "engine",
        "Some labels of {name} are nearly equal, but are learned as different ones: "
        "{spellings}. Correct the table, or merge them on the Data page or with "
        "merge_labels=true.",
    )
    if is_merged:
        template = marked("engine", "Nearly equal labels of {name} are merged: {spellings}.")
    return Sentence(template, {"name": table.path.name, "spellings": named})


def spelling_words(table: Table, spelling: Spelling) -> Sentence:
    """Return "Sport for sport in lines 7, 12"."""
    label, kept = spelling.seen
    lines = list(map(str, table.lines[spelling.rows[:MOST_LINES]].tolist()))
    values = {"label": label, "kept": kept, "lines": lines, "count": len(spelling.rows)}
    template = marked("engine", "{label} for {kept} in {count} rows (lines {lines}, ...)")
    if len(spelling.rows) == 1:
        template = marked("engine", "{label} for {kept} in line {lines}")
    elif len(spelling.rows) <= MOST_LINES:
        template = marked("engine", "{label} for {kept} in lines {lines}")
    return Sentence(template, values)


def shown_pair(label: str, kept: str) -> tuple[str, str]:
    """Return two nearly equal labels, short, and so that their difference can be seen."""
    return _short(visible(label, [kept])), _short(visible(kept, [label]))


def _short(text: str) -> str:
    """Return a label as a sentence names it: not more of it than is needed to know it."""
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 1] + "…"


def visible(label: str, beside: Iterable[str]) -> str:
    """Return a label so that the difference to the labels beside it can be seen: "sp‹U+043E›rt", "a␣␣b"."""
    shared = set(label.casefold()).intersection(*(other.casefold() for other in beside))
    said = "".join(
        f"‹U+{ord(char):04X}›" if _is_odd(char) and char.casefold() not in shared else char for char in label
    )
    return re.sub(r" {2,}", lambda run: "␣" * len(run[0]), said)


def _is_odd(char: str) -> bool:
    """Whether a character cannot be seen, or looks like another."""
    code = ord(char)
    if code in _ALIKE or code in _PLAIN or _HIDDEN.match(char) or unicodedata.combining(char):
        return True
    return char != " " and char.isspace()


@lru_cache(maxsize=4096)
def _keys(label: str) -> tuple[str, str]:
    """Return what a label is compared by: as it is written, and as it looks. Nearly equal ones share either.

    Two, because look-alikes go by case: Cyrillic В looks like Latin B, and its small в like no Latin letter.
    """
    seen = unicodedata.normalize("NFKC", _HIDDEN.sub("", label.translate(_PLAIN)))
    return "written " + _folded(seen), "looks " + _folded(seen.translate(_ALIKE))


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.casefold()).replace("i\u0307", "i")  # Turkish İ
    text = _LAST_STOP.sub("", _SPACE.sub(_gap, text.strip()))
    return str(int(text.partition(".")[0])) if _WHOLE.fullmatch(text) else text


def _gap(run: re.Match[str]) -> str:
    """Return nothing for white space, but one blank between two digits: "1 2" is not 12."""
    before, after = run.string[run.start() - 1], run.string[run.end()]
    return " " if before.isdigit() and after.isdigit() else ""
