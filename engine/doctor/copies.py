"""Texts that stand in several rows: copies, near copies, with unlike labels, in two parts at once.

Of copies the later rows are named, each with the earlier one that it repeats, so that what is named can go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.doctor.finding import Finding, FindingWords, Rows
from engine.doctor.near import NearPairs, finding_near
from engine.doctor.part import TablePart
from engine.doctor.shingles import Numbers, folded, folded_pair
from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.example_rows import ExampleRows, distinct
from engine.text.recipe import DROP, TOGETHER, RecipeStep
from engine.train import data_notes

MOST_PARTNERS = 20  # rows that are named beside one
_AT_ONCE = 4096
_COMPARING = marked("engine", "Comparing texts")

# E examples of all parts, G different texts once they are folded, P parts


@dataclass(frozen=True, slots=True, eq=False)
class TextGroups:
    """Which examples of all parts say the same, and which nearly.

    exact: (E,) equal where texts are, character for character. group: (E,) equal where they are once folded,
    0 to G. begins: (P + 1,) where the examples of each part begin. firsts: (G, P) the first example of a text
    in a part, -1 for none. near: pairs of groups.
    """

    exact: Numbers
    group: Numbers
    begins: Numbers
    firsts: Numbers
    near: NearPairs

    def of(self, part: int) -> slice:
        """Return where the examples of a part are."""
        return slice(int(self.begins[part]), int(self.begins[part + 1]))


def comparing(parts: Sequence[TablePart]) -> Steps[TextGroups]:
    """Return what the texts of all parts have in common, step by step."""
    total = sum(len(part.examples) for part in parts)
    begins = np.cumsum([0, *(len(part.examples) for part in parts)])
    exact, same = np.zeros(total, np.int64), np.zeros(total, np.int64)
    done = num_characters = 0
    for part in parts:
        for some in part.examples.blocks(_AT_ONCE):
            here = slice(done, done + len(some))
            texts, pairs = some.texts(), some.pairs()
            alike = _folded(some)
            exact[here] = list(map(hash, texts if pairs is None else zip(texts, pairs, strict=True)))
            same[here] = list(map(hash, alike))
            num_characters += sum(map(len, alike))
            done += len(some)
            yield Progress(stage=_COMPARING, done=done, total=total)
    _, seen, group = np.unique(same, return_index=True, return_inverse=True)
    order = np.argsort(seen)
    rank = np.zeros(len(seen), np.int64)
    rank[order] = np.arange(len(seen))
    group, seen = rank[group], seen[order]
    firsts = np.full((len(seen), len(parts)), -1, np.int64)
    for number in range(len(parts)):
        own = np.arange(begins[number], begins[number + 1])[::-1]  # the first is written last
        firsts[group[own], number] = own
    near = yield from finding_near(len(seen), partial(_texts_at, parts, begins, seen), num_characters)
    return TextGroups(exact, group, begins, firsts, near)


def _folded(examples: ExampleRows) -> list[str]:
    texts, pairs = examples.texts(), examples.pairs()
    return list(map(folded, texts)) if pairs is None else list(map(folded_pair, texts, pairs))


def _texts_at(parts: Sequence[TablePart], begins: Numbers, seen: Numbers, places: Numbers) -> list[str]:
    """Return the folded texts of some groups. Args: seen: (G,) an example of each."""
    found = np.empty(len(places), object)
    examples = seen[places]
    for number, part in enumerate(parts):
        mine = (examples >= begins[number]) & (examples < begins[number + 1])
        if mine.any():
            found[mine] = np.array(_folded(part.examples.take(examples[mine] - begins[number])), object)
    return found.tolist()


def on_copies(parts: Sequence[TablePart], texts: TextGroups) -> Iterator[Finding]:
    """Yield what repeats and contradicts within each part, and what two parts share."""
    for number, part in enumerate(parts):
        rows, where = part.examples.rows, texts.of(number)
        yield from _exact(part, _first_of(texts.exact[where]), rows)
        yield from _near(part, number, texts)
        yield from _contradicting(part, texts.group[where])
    for one in range(len(parts)):
        for other in range(one + 1, len(parts)):
            yield from _leaks(parts, one, other, texts)


def _first_of(keys: Numbers) -> Numbers:
    """Return (E,), the first example with the same key."""
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return np.asarray(firsts[inverse])


def _exact(part: TablePart, first: Numbers, rows: Rows) -> Iterator[Finding]:
    again = np.flatnonzero(first != np.arange(len(first)))
    if not len(again):
        return
    yield _COPIES.of(
        "exact_duplicates",
        part.name,
        rows[again],
        other=part.name,
        partners=_one_each(rows[first[again]]),
        similarity=np.ones(len(again), np.float32),
        shown=_beside(rows[again], rows[first[again]]),
        mends=_of_copies(rows[again], rows[first[again]], "exact_duplicates"),
    )


def _near(part: TablePart, number: int, texts: TextGroups) -> Iterator[Finding]:
    where, rows = texts.of(number), part.examples.rows
    begin = int(texts.begins[number])
    same, exact = _first_of(texts.group[where]), _first_of(texts.exact[where])
    twin, alike = same.copy(), (same != np.arange(len(same))).astype(np.float32)
    a, b = texts.firsts[texts.near.first, number], texts.firsts[texts.near.second, number]
    both = (a >= 0) & (b >= 0)
    early, late = np.minimum(a, b)[both] - begin, np.maximum(a, b)[both] - begin
    similarity = texts.near.similarity[both]
    order = np.argsort(similarity, kind="stable")  # the likest is written last
    twin[late[order]], alike[late[order]] = early[order], similarity[order]
    found = np.flatnonzero((alike > 0) & (exact == np.arange(len(exact))))
    if not len(found):
        return
    found = found[np.argsort(-alike[found], kind="stable")]
    labels = part.examples.labels
    yield _NEAR_COPIES.of(
        "near_duplicates",
        part.name,
        rows[found],
        other=part.name,
        partners=_one_each(rows[twin[found]]),
        similarity=alike[found],
        values={"same_label": labels[found] == labels[twin[found]]} if part.has_labels else {},
        shown=_beside(rows[found], rows[twin[found]]),
        mends=_of_copies(rows[found], rows[twin[found]], "near_duplicates"),
    )


def _contradicting(part: TablePart, group: Numbers) -> Iterator[Finding]:
    labels = part.examples.labels.astype(np.int64)
    known = np.flatnonzero(labels >= 0)
    if not len(known):
        return
    pairs = distinct(group[known] * len(part.names) + labels[known])
    several = np.bincount(pairs // len(part.names), minlength=int(group.max()) + 1) > 1
    found = known[several[group[known]]]
    if not len(found):
        return
    found = found[np.argsort(group[found], kind="stable")]
    rows = part.examples.rows[found]
    yield _CONTRADICTING.of(
        "contradicting_labels",
        part.name,
        rows,
        {"count": int(several.sum())},
        other=part.name,
        partners=_against(group[found], labels[found], rows),
        values={"text": group[found]},
        mends=(RecipeStep(DROP, tuple(rows.tolist()), reason="contradicting_labels"),),
    )


def _leaks(parts: Sequence[TablePart], one: int, other: int, texts: TextGroups) -> Iterator[Finding]:
    """Yield the rows of a part that stand in another too: word for word, and nearly. Where rows have labels,
    those without one are no leaks: nothing is learned from them.
    """
    part, apart = parts[one], parts[other]
    places, twins, alike = _shared(texts, one, other)
    if part.has_labels:
        is_learned = part.examples.labels[places - texts.begins[one]] >= 0
        places, twins, alike = places[is_learned], twins[is_learned], alike[is_learned]
    is_exact = np.isin(texts.exact[places], texts.exact[texts.of(other)])
    for kind, found, words in (
        ("leaks", np.flatnonzero(is_exact), _LEAKS),
        ("near_leaks", np.flatnonzero(~is_exact), _NEAR_LEAKS),
    ):
        if not len(found):
            continue
        rows = part.examples.rows[places[found] - texts.begins[one]]
        yield words.of(
            kind,
            part.name,
            rows,
            {"other": apart.name},
            other=apart.name,
            partners=_same_in(texts, other, places[found], twins[found], apart.examples.rows),
            similarity=alike[found],
            mends=(RecipeStep(DROP, tuple(rows.tolist()), reason=kind),),
        )


def _same_in(texts: TextGroups, other: int, places: Numbers, twins: Numbers, rows: Rows) -> tuple[Rows, ...]:
    """Return, for each example, the rows of another part that say what its twin there says: those that are it
    word for word first. Args: rows: of that part.
    """
    here = texts.of(other)
    order = np.argsort(texts.group[here], kind="stable")
    groups = texts.group[here][order]
    found = []
    for place, group in zip(places.tolist(), texts.group[twins].tolist(), strict=True):
        begin, end = np.searchsorted(groups, [group, group + 1])
        same = order[begin:end]
        is_other = texts.exact[here][same] != texts.exact[place]
        found.append(rows[same[np.argsort(is_other, kind="stable")][:MOST_PARTNERS]])
    return tuple(found)


def _shared(texts: TextGroups, one: int, other: int) -> tuple[Numbers, Numbers, npt.NDArray[np.float32]]:
    """Return the examples of a part whose text stands in another too, there which, and how alike: the likest
    first.
    """
    there = texts.firsts[:, other]
    best = (there >= 0).astype(np.float32)
    twin = there.copy()
    near = texts.near
    sides = [np.concatenate(each) for each in ((near.first, near.second), (near.second, near.first))]
    similarity = np.concatenate((near.similarity, near.similarity))
    usable = (there[sides[1]] >= 0) & (best[sides[0]] < 1)
    order = np.flatnonzero(usable)[np.argsort(similarity[usable], kind="stable")]
    best[sides[0][order]], twin[sides[0][order]] = similarity[order], there[sides[1][order]]
    own = np.arange(*texts.of(one).indices(len(texts.group))[:2])
    alike = best[texts.group[own]]
    found = np.flatnonzero(alike > 0)
    found = found[np.argsort(-alike[found], kind="stable")]
    return own[found], twin[texts.group[own[found]]], alike[found]


def _one_each(twins: Rows) -> tuple[Rows, ...]:
    return tuple(twins[:, None])


def _against(group: Numbers, labels: Numbers, rows: Rows) -> tuple[Rows, ...]:
    """Return, for each row, those of the same text that carry another label. Args: group: in order."""
    begins, ends = np.searchsorted(group, group), np.searchsorted(group, group, "right")
    return tuple(
        rows[begin:end][labels[begin:end] != label][:MOST_PARTNERS]
        for begin, end, label in zip(begins.tolist(), ends.tolist(), labels.tolist(), strict=True)
    )


def _beside(rows: Rows, twins: Rows) -> Rows:
    """Return rows, each text's together: the earliest, then what repeats it; the likest pair first."""
    _, firsts = np.unique(twins, return_index=True)
    place = dict(zip(twins[firsts].tolist(), firsts.tolist(), strict=True))
    order = sorted(range(len(rows)), key=lambda at: (place[int(twins[at])], at))
    shown = [row for at in order for row in (int(twins[at]), int(rows[at]))]
    return np.array(list(dict.fromkeys(shown)), np.int64)


def _of_copies(rows: Rows, twins: Rows, reason: str) -> tuple[RecipeStep, ...]:
    """Return what can be done: leave the later ones out, or keep all of a text on one side of the split."""
    members = tuple(np.concatenate((rows, np.unique(twins))).tolist())
    groups = tuple(np.concatenate((twins, np.unique(twins))).tolist())
    return (
        RecipeStep(DROP, tuple(rows.tolist()), reason=reason),
        RecipeStep(TOGETHER, members, groups=groups, reason=reason),
    )


_WHY_COPIES = marked("engine", "Duplicates on both sides of a split make scores look too good.")
_LOOK_FIRST = marked("engine", "Review them first: one word may change what a text says.")
_COPIES = FindingWords(
    *data_notes.REPEATED,
    _WHY_COPIES,
    marked("engine", "Exclude the later ones, or keep all duplicates of a text in one split."),
)
_NEAR_COPIES = FindingWords(
    marked("engine", "{count:,} rows of {name} are near-duplicates of a row above them."),
    marked("engine", "One row of {name} is a near-duplicate of a row above it."),
    _WHY_COPIES,
    _LOOK_FIRST,
)
_CONTRADICTING = FindingWords(
    *data_notes.SEVERAL_LABELS,
    marked("engine", "No model can learn both. One label is wrong, or the text does not decide it."),
    marked("engine", "Review the rows, and relabel or exclude them."),
    "wrong",
)
_WHY_LEAKS = marked("engine", "Rows in both files measure memory, not skill, so scores look too good.")
_LEAKS = FindingWords(
    marked("engine", "{count:,} rows of {name} are also in {other}, word for word."),
    marked("engine", "One row of {name} is also in {other}, word for word."),
    _WHY_LEAKS,
    marked("engine", "Exclude these rows from one of the two."),
    "wrong",
)
_NEAR_LEAKS = FindingWords(
    marked("engine", "{count:,} rows of {name} have a near-duplicate in {other}."),
    marked("engine", "One row of {name} has a near-duplicate in {other}."),
    _WHY_LEAKS,
    marked(
        "engine", "Review them first: one word may change what a text says. Then exclude the true duplicates."
    ),
)
