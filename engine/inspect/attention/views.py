"""From all weights to the one matrix that is shown: heads averaged, specials hidden, words for pieces.

numpy alone, and quick: a head of 512 tokens in under 5 ms, the mean of 144 in under 100. Cells are only ever
averaged, added or left out, never moved: what is strongest here is what the heads looked at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from engine.errors import UserError, marked
from engine.inspect.attention.weights import AttentionMaps, Floats, mean_of, read_only
from engine.text.tokenizer import Encoding

# L layers, H heads, T tokens, R rows and C columns of what is shown

SPECIALS = ("show", "hide", "renormalise")
UNITS = ("pieces", "words")
BLOCKS = ("all", "aa", "ab", "ba", "bb")

LinedUp = tuple[list[int], list[int]]  # places in the one, and those in the other that belong to them


@dataclass(frozen=True, slots=True)
class View:
    """What is to be shown of a look.

    heads: (layer, head) pairs, averaged. rollout: a layer; then heads do not count, and `rolled_out` of that
    layer is shown. specials: "show"; "hide" leaves rows and columns of [CLS] and [SEP] out, and rows then
    sum to what is left; "renormalise" leaves them out and lets rows sum to 1. unit: "pieces" or "words"; a
    word's row is the mean of its pieces' rows, its column the sum of theirs (Clark et al. 2019, section
    4.1). block: "all", or from one text to one text ("ab": from A to B), [CLS] and A's [SEP] belonging to A;
    cut out last, so that its rows sum to the share that goes there. top_share: 0 to 1; in each row only the
    fewest strongest cells stay that hold this share of it, others are 0.
    Raises: ValueError for anything else.
    """

    heads: tuple[tuple[int, int], ...] = ((0, 0),)
    rollout: int | None = None
    specials: str = "show"
    unit: str = "pieces"
    block: str = "all"
    top_share: float = 1.0

    def __post_init__(self) -> None:
        known = self.specials in SPECIALS and self.unit in UNITS and self.block in BLOCKS
        if not known or not 0 <= self.top_share <= 1 or (self.rollout is None and not self.heads):
            raise ValueError(f"no such view: {self}")


@dataclass(frozen=True, eq=False)
class MatrixView:
    """A matrix to be drawn: who looks (rows) at what (columns).

    values: (R, C) float32, read-only. places: for each row or column the tokens it stands for, as places in
    the encoding. boundary: the row or column where B begins, None without. segments: 0 A, 1 B. is_special:
    [CLS] and [SEP]. signed: a difference, -1 to 1. rows_are_shares: whether each row sums to 1: all its
    attention is on screen (a row is 0 if all it had went to specials that are left out). left_out: labels
    that a difference could not line up, of one and of the other.
    """

    values: Floats
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_places: tuple[tuple[int, ...], ...]
    column_places: tuple[tuple[int, ...], ...]
    row_boundary: int | None = None
    column_boundary: int | None = None
    row_segments: tuple[int, ...] = ()
    column_segments: tuple[int, ...] = ()
    row_is_special: tuple[bool, ...] = ()
    column_is_special: tuple[bool, ...] = ()
    signed: bool = False
    rows_are_shares: bool = False
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BlockMasses:
    """Where the words' attention goes.

    values: (rows, 4), each row sums to 1; columns A's words, B's words, [CLS], [SEP]. rows: A, or A and B.
    cls, sep: of all words together, 0 to 1.
    """

    values: Floats
    cls: float
    sep: float
    rows: tuple[str, ...] = ("A",)
    columns: tuple[str, ...] = ("A", "B", "[CLS]", "[SEP]")

    def share(self, from_text: str, to: str) -> float | None:
        """Return how much goes from "A" or "B" to a column's name; None without a B."""
        if from_text not in self.rows or (to == "B" and "B" not in self.rows):
            return None
        return float(self.values[self.rows.index(from_text), self.columns.index(to)])


@dataclass(frozen=True, eq=False)
class StrongestCells:
    """Some cells of a matrix, the strongest first: rows (n,), columns (n,) int64, values (n,) float32."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Floats


@dataclass(frozen=True, slots=True)
class _Item:
    """A token or word on an axis."""

    label: str
    places: tuple[int, ...]
    segment: int
    is_special: bool


class _Plan:
    """A view's way from one head's weights (T, T) to the values shown (R, C), worked out once.

    rows, columns: what stands on the axes. Raises: UserError: nothing would be left.
    """

    def __init__(self, seen: AttentionMaps, wanted: View) -> None:
        self._wanted = wanted
        items = _words(seen) if wanted.unit == "words" else _pieces(seen)
        if "b" in wanted.block and not any(item.segment for item in items):
            raise UserError(
                marked("engine", "There is no second text, so nothing goes from or to B. Add one.")
            )
        kept = np.array([wanted.specials == "show" or not item.is_special for item in items])
        segments = np.array([item.segment for item in items])
        from_, to = (None, None) if wanted.block == "all" else ("ab".index(one) for one in wanted.block)
        rows = np.flatnonzero(kept if from_ is None else kept & (segments == from_))
        columns = np.flatnonzero(kept if to is None else kept & (segments == to))
        if not len(rows) or not len(columns):
            raise UserError(marked("engine", "Without [CLS] and [SEP] there is nothing to show."))
        self.rows = [items[number] for number in rows]
        self.columns = [items[number] for number in columns]
        counts = np.array([len(item.places) for item in items])
        self._starts = np.array([item.places[0] for item in items])
        self._counts = counts if len(items) < seen.num_tokens else None
        self._kept = kept.astype(np.float32) if wanted.specials == "renormalise" else None
        self._row_index = rows if len(rows) < len(items) else None
        self._column_index = columns if len(columns) < len(items) else None

    def shown(self, weights: Floats) -> Floats:
        """Return the values shown, (R, C), all of them. Args: weights: (T, T) of a head."""
        values: np.ndarray = weights
        if self._counts is not None:
            for axis in (0, 1):
                values = _added(values, self._starts, self._counts, axis)
            values = values / self._counts.astype(np.float32)[:, None]
        if self._kept is not None:
            sums = values @ self._kept
            values = values / np.where(sums > 0, sums, np.float32(1))[:, None]  # a row of 0 stays one
        if self._row_index is not None:
            values = values.take(self._row_index, 0)
        if self._column_index is not None:
            values = values.take(self._column_index, 1)
        return np.asarray(values)

    def rows_are_shares(self) -> bool:
        """Whether each row shown sums to 1."""
        wanted = self._wanted
        return wanted.specials != "hide" and wanted.block == "all" and wanted.top_share == 1


def view(seen: AttentionMaps, wanted: View) -> MatrixView:
    """Return what is to be shown of a look.

    Raises: UserError: a block of B without B, nothing left without special tokens. IndexError: no such head.
    """
    plan = _Plan(seen, wanted)
    values = plan.shown(_averaged(seen, wanted))
    if wanted.top_share < 1:
        values = _top(values, wanted.top_share)
    return replace(_shown(values, plan.rows, plan.columns), rows_are_shares=plan.rows_are_shares())


def difference(
    one: AttentionMaps, other: AttentionMaps, wanted: View, other_wanted: View | None = None
) -> MatrixView:
    """Return one minus the other, signed: two heads, sentences, models or checkpoints.

    A and B are lined up each by itself. Equally many tokens are compared place by place, labelled "he / she"
    where they differ. Otherwise equal stretches are lined up, stretches of one length between them too, and
    the rest is left out and named.

    Args:   wanted: of `one`. other_wanted: of `other`, the same unless given: another head, say.
    Raises: UserError: as `view`; fewer than half of the tokens can be lined up.
    """
    plans = [_Plan(one, wanted), _Plan(other, other_wanted or wanted)]
    weights = [_averaged(one, wanted), _averaged(other, other_wanted or wanted)]
    values = [plan.shown(matrix) for plan, matrix in zip(plans, weights, strict=True)]
    rows = line_up(_names(plans[0].rows), _names(plans[1].rows))
    columns = line_up(_names(plans[0].columns), _names(plans[1].columns))
    chosen = [values[side][np.ix_(rows[side], columns[side])] for side in (0, 1)]
    changed = chosen[0] - chosen[1]
    if wanted.top_share < 1:
        changed = _top(changed, wanted.top_share)
    row_items = _joined(plans[0].rows, plans[1].rows, rows)
    column_items = _joined(plans[0].columns, plans[1].columns, columns)
    left_out = _left_out(plans, rows, columns)
    return replace(_shown(changed, row_items, column_items), signed=True, left_out=left_out)


def block_masses(seen: AttentionMaps, heads: Sequence[tuple[int, int]]) -> BlockMasses:
    """Return how much of A's and of B's attention goes to A, B, [CLS] and [SEP], averaged over words, heads.

    The rows of [CLS] and [SEP] themselves do not count.
    """
    groups = token_groups(seen.encoding)
    words = groups[:, :2] > 0  # (T, 2)
    found = _averaged(seen, View(heads=tuple(heads))) @ groups  # (T, 4)
    everyone = found[words.any(1)].mean(0)
    has_b = bool(words[:, 1].any())
    values = np.stack([found[words[:, text]].mean(0) for text in range(1 + has_b)])
    rows = ("A", "B") if has_b else ("A",)
    return BlockMasses(read_only(values), float(everyone[2]), float(everyone[3]), rows)


def token_groups(encoding: Encoding) -> Floats:
    """Return (T, 4) of 0 and 1: whether a token is one of A's words, of B's, the [CLS] or a [SEP].

    A [SEP] that was typed is a word.
    """
    special = np.array(encoding.special_tokens_mask, bool)
    segments = np.array(encoding.token_type_ids)
    first = np.arange(len(special)) == 0
    columns = (~special & (segments == 0), ~special & (segments == 1), special & first, special & ~first)
    return np.stack(columns, 1).astype(np.float32)


def strongest(shown: MatrixView, count: int) -> StrongestCells:
    """Return the strongest cells that are not 0, at most `count`; of a difference the largest either way."""
    flat = shown.values.ravel()
    size = np.abs(flat)
    places = np.arange(len(flat))
    if count < len(flat):
        places = np.argpartition(-size, count)[:count]
    places = places[size[places] > 0]
    places = places[np.lexsort((places, -size[places]))]
    rows, columns = np.unravel_index(places, shown.values.shape)
    return StrongestCells(rows.astype(np.int64), columns.astype(np.int64), flat[places])


def tiles(seen: AttentionMaps, wanted: View, size: int) -> Floats:
    """Return the `tile_maxima` of each head as a view shows it, whose own heads, rollout and top_share do not
    count.

    Returns: (L, H, min(size, R), min(size, C)) float32. Raises: as `view`.
    """
    plan = _Plan(seen, wanted)
    shape = (min(size, len(plan.rows)), min(size, len(plan.columns)))
    made = np.empty((seen.num_layers, seen.num_heads, *shape), np.float32)
    for layer, head in np.ndindex(seen.num_layers, seen.num_heads):
        made[layer, head] = tile_maxima(plan.shown(seen.attentions[layer, head]), size)
    return made


def _averaged(seen: AttentionMaps, wanted: View) -> Floats:
    """Return the weights that a view begins with, (T, T)."""
    if wanted.rollout is not None:
        return np.asarray(seen.rolled_out[wanted.rollout])
    return mean_of([seen.attentions[layer, head] for layer, head in wanted.heads])


def _pieces(seen: AttentionMaps) -> list[_Item]:
    encoding = seen.encoding
    parts = zip(encoding.shown, encoding.token_type_ids, encoding.special_tokens_mask, strict=True)
    return [_Item(token, (n,), segment, bool(special)) for n, (token, segment, special) in enumerate(parts)]


def _words(seen: AttentionMaps) -> list[_Item]:
    """Return words, and special tokens where they stand; their places are neighbours."""
    items = {word.pieces[0]: _Item(word.text, word.pieces, word.segment, False) for word in seen.words}
    of_words = {place for word in seen.words for place in word.pieces}
    items.update((item.places[0], item) for item in _pieces(seen) if item.places[0] not in of_words)
    return [items[place] for place in sorted(items)]


def _shown(values: Floats, rows: Sequence[_Item], columns: Sequence[_Item]) -> MatrixView:
    return MatrixView(
        values=read_only(values),
        row_labels=tuple(item.label for item in rows),
        column_labels=tuple(item.label for item in columns),
        row_places=tuple(item.places for item in rows),
        column_places=tuple(item.places for item in columns),
        row_boundary=_boundary(rows),
        column_boundary=_boundary(columns),
        row_segments=tuple(item.segment for item in rows),
        column_segments=tuple(item.segment for item in columns),
        row_is_special=tuple(item.is_special for item in rows),
        column_is_special=tuple(item.is_special for item in columns),
    )


def _boundary(items: Sequence[_Item]) -> int | None:
    """Return where B begins after A; None where only one of them is shown."""
    num_a = sum(item.segment == 0 for item in items)
    return num_a if 0 < num_a < len(items) else None


def _top(values: Floats, share: float) -> Floats:
    """Return the values with 0 for all but each row's largest that hold `share` of it; equals stay."""
    size = np.abs(values)
    falling = np.sort(size, 1)[:, ::-1]
    held = np.cumsum(falling, 1)
    number = (held < share * held[:, -1:]).sum(1).clip(max=values.shape[1] - 1)
    least = np.take_along_axis(falling, number[:, None], 1)
    top: Floats = np.where(size >= least, values, np.float32(0))
    return top


def _added(values: Floats, starts: np.ndarray, counts: np.ndarray, axis: int) -> Floats:
    """Return the sums of neighbouring rows or columns, `counts` of them from each of `starts`."""
    total = values.take(starts, axis)
    for step in range(1, counts.max()):
        longer = np.flatnonzero(counts > step)
        where = (longer,) if axis == 0 else (slice(None), longer)
        total[where] += values.take(starts[longer] + step, axis)
    return np.asarray(total)


def tile_maxima(values: Floats, size: int) -> Floats:
    """Return a matrix (R, C) shrunk to a tile for a mosaic, (min(size, R), min(size, C)): each cell is the
    largest of those that it stands for. Row i begins at row i * R // size.
    """
    for axis in (0, 1):
        length = values.shape[axis]
        if length <= size:
            continue
        starts = np.arange(size) * length // size
        last = np.append(starts[1:], length) - 1
        best = values.take(starts, axis)
        for step in range(1, int((last - starts).max()) + 1):  # a tenth of the time of reduceat
            np.maximum(best, values.take(np.minimum(starts + step, last), axis), out=best)
        values = best
    return np.asarray(values)


def _names(items: Sequence[_Item]) -> list[tuple[int, str]]:
    return [(item.segment, item.label) for item in items]


def _joined(ours: Sequence[_Item], theirs: Sequence[_Item], pairs: LinedUp) -> list[_Item]:
    """Return the items of a difference, named after both where their names differ."""
    joined = []
    for a, b in zip(*pairs, strict=True):
        label, other = ours[a].label, theirs[b].label
        joined.append(replace(ours[a], label=label if label == other else f"{label} / {other}"))
    return joined


def _left_out(plans: Sequence[_Plan], rows: LinedUp, columns: LinedUp) -> tuple[str, ...]:
    """Return the labels of what a difference cannot show, each token once."""
    lost: dict[tuple[int, tuple[int, ...]], str] = {}
    for side, plan in enumerate(plans):
        for items, pairs in ((plan.rows, rows), (plan.columns, columns)):
            shown = set(pairs[side])
            lost.update(((side, item.places), item.label) for n, item in enumerate(items) if n not in shown)
    return tuple(lost.values())


def line_up(ours: Sequence[tuple[int, str]], theirs: Sequence[tuple[int, str]]) -> LinedUp:
    """Return the places of tokens that belong together, in order; letter case does not count.

    Each segment is lined up by itself: place by place where both have equally many tokens; otherwise equal
    stretches, and stretches of one length between them.

    Args:   ours, theirs: (segment, token) each.
    Raises: UserError: fewer than half of the longer text's tokens belong together.
    """
    pairs: LinedUp = ([], [])
    for segment in (0, 1):
        mine, others = (
            [place for place, (own, _) in enumerate(side) if own == segment] for side in (ours, theirs)
        )
        labels = [ours[place][1].casefold() for place in mine]
        other_labels = [theirs[place][1].casefold() for place in others]
        for first, second, count in _stretches(labels, other_labels):
            pairs[0].extend(mine[first : first + count])
            pairs[1].extend(others[second : second + count])
    longer = max(len(ours), len(theirs))
    if 2 * len(pairs[0]) < longer:
        raise UserError(
            marked(
                "engine",
                "The two texts have too little in common for a comparison by cell: of {count} "
                "tokens, {common} can be aligned. Compare texts that differ in a few words, or "
                "whole words instead of pieces.",
            ),
            count=longer,
            common=len(pairs[0]),
        )
    return pairs


def _stretches(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return (start, start of the others, length) of what is lined up."""
    if len(ours) == len(theirs):
        return [(0, 0, len(ours))]
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return [(a, b, stop - a) for _, a, stop, b, other_stop in codes if stop - a == other_stop - b]
