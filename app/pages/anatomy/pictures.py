"""A step of the walk as a picture: its rows, and its columns from left to right as they are calculated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.state import Walk
from app.plots.layered import value_words
from app.plots.vector_rows import BAR, NUMBER, SHARE, TEXT, Column, RowHead, VectorPicture
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD
from engine.inspect.anatomy.effect import LABEL, MASKED, largest, name_of, shares
from engine.inspect.anatomy.vectors import Anatomy, before_layer

LARGEST = 10  # answers, of so many that not all have room
STRONG = 0.995  # of the numbers have less than full colour


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """What is painted. names: of each column's vector, "" where its numbers are not worked out."""

    picture: VectorPicture
    names: tuple[str, ...] = ()


def step_of(anatomy: Anatomy, walk: Walk, most: int) -> Step:
    """Return a step's picture. Args: most: rows that there is room for."""
    if walk.step in ("answer", "loss"):
        return _answers(anatomy, walk, most)
    rows = _Rows(anatomy, walk, most)
    columns = _COLUMNS[walk.step](rows)
    return _framed(rows, columns)


def shown_places(anatomy: Anatomy, walk: Walk, most: int) -> list[int]:
    """Return the pieces that have a row, in order: all, or the chosen one with those around it and
    those that it looks at most.
    """
    places = np.arange(anatomy.num_tokens)
    if len(places) <= most:
        return [int(i) for i in places]
    near = np.argsort(np.abs(places - walk.piece), kind="stable")
    weights = anatomy[f"layer.{walk.layer}.softmax"][walk.head - 1, walk.piece]
    looked = np.argsort(-weights, kind="stable")
    first = [walk.piece, vectors.key_of(anatomy, walk)]
    in_turn = np.stack([near, looked], 1).ravel()
    return sorted(list(dict.fromkeys([*first, *map(int, in_turn)]))[: most - 1])


class _Rows:
    """The rows of a step, and columns over them."""

    def __init__(self, anatomy: Anatomy, walk: Walk, most: int) -> None:
        self.anatomy, self.walk = anatomy, walk
        self.places = shown_places(anatomy, walk, most)
        self.others = [i for i in range(anatomy.num_tokens) if i not in set(self.places)]
        self.own, self.head = f"layer.{walk.layer}.", walk.head - 1
        self.spot = vectors.spot_of(anatomy, walk)

    def heads(self) -> tuple[RowHead, ...]:
        specials = {"[CLS]", "[SEP]", "[PAD]"}
        pieces = self.anatomy.pieces
        found = [
            RowHead(pieces[place], place, place == self.walk.piece, pieces[place] in specials)
            for place in self.places
        ]
        if self.others:
            said = words.translate("anatomy", "{count} others").format(count=words.number(len(self.others)))
            found.append(RowHead(said, -1, is_quiet=True))
        return tuple(found)

    def array(self, name: str) -> np.ndarray:
        """Return an array's rows, (R, N); of the others, nothing."""
        array = self.anatomy[name]
        whole = array[self.head] if array.ndim == 3 else array
        return self.of(whole[self.places])

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return values of the rows, with none for the others."""
        if not self.others:
            return np.asarray(values)
        return np.concatenate([values, np.full((1, *values.shape[1:]), np.nan, values.dtype)])

    def texts(self, said: Sequence[str]) -> tuple[str, ...]:
        return (*(said[place] for place in self.places), *([""] if self.others else []))

    def vector(self, name: str, sign: str = "", hint: str = "", **how: object) -> Column:
        """Return a column of stripes of one of the arrays."""
        values = self.array(name)
        if not hint:
            hint = words.translate("anatomy", "{count} numbers").format(count=words.number(values.shape[-1]))
        column = Column(vectors.title(self.anatomy, name), values=values, sign=sign, hint=hint, name=name)
        return replace(column, **how)  # type: ignore[arg-type]


def full_colour(columns: Sequence[Column], *, whole: np.ndarray | None = None) -> float:
    """Return what full colour stands for: what nearly all numbers of some columns stay below."""
    arrays = [column.values for column in columns if column.values is not None] if whole is None else [whole]
    found = np.concatenate([np.abs(array[np.isfinite(array)]).ravel() for array in arrays])
    return float(np.quantile(found, STRONG)) if found.size else 0.0


def _one_scale(*columns: Column) -> list[Column]:
    top = full_colour(columns)
    return [replace(column, top=top) for column in columns]


def _each_scale(*columns: Column) -> list[Column]:
    return [replace(column, top=full_colour([column])) for column in columns]


def _framed(rows: _Rows, columns: list[Column]) -> Step:
    """Return the picture with its frame: the chosen number, in every column that it goes straight through."""
    spot, frame, framed_row, count = rows.spot, {}, -1, ""
    names = tuple(column.name for column in columns)
    if spot is not None and spot.kind in vectors.MATRICES:
        framed_row = rows.places.index(spot.key) if spot.key in rows.places else -1
    elif spot is not None:
        is_straight = rows.walk.step not in ("qkv", "output", "ends", "feed_forward")
        width = vectors.width_of(spot.name)
        for place, column in enumerate(columns):
            if not column.name or column.values is None or column.values.ndim != 2:
                continue
            same = (
                is_straight
                and vectors.width_of(column.name) == width
                and column.values.shape[1] > spot.number
            )
            if column.name == spot.name or same or (spot.name == "C" and column.name == "T"):
                frame[place] = spot.number
        size = rows.anatomy[spot.name].shape[-1]
        count = words.translate("anatomy", "number {number} of {count}").format(
            number=words.number(spot.number + 1), count=words.number(size)
        )
    picture = VectorPicture(rows.heads(), tuple(columns), frame, framed_row, _legend(columns), count)
    return Step(picture, names)


def _legend(columns: Sequence[Column]) -> str:
    """Return what full colour stands for, column by column; together where it is the same."""
    tops: dict[float, list[str]] = {}
    for column in columns:
        if column.kind == "stripes" and column.top:
            tops.setdefault(column.top, []).append(column.title)
    if not tops:
        return ""
    parts = [
        words.translate("anatomy", "{value} in {vectors}").format(
            value=value_words(top), vectors=", ".join(names)
        )
        for top, names in tops.items()
    ]
    return words.translate("anatomy", "full colour from {parts}").format(parts="; ".join(parts))


# ---- the steps


def _text(rows: _Rows) -> list[Column]:
    anatomy = rows.anatomy
    texts = (anatomy.text, anatomy.text_pair or "")
    spans = anatomy.encoding.offsets
    marks = anatomy.encoding.special_tokens_mask
    said, where, which = [], [], []
    for place in range(anatomy.num_tokens):
        start, stop = spans[place]
        is_special = bool(marks[place]) and start == stop
        segment = anatomy.encoding.token_type_ids[place]
        said.append("" if is_special else texts[segment][start:stop])
        where.append("–" if is_special else f"{start}–{stop}")
        which.append("AB"[segment] if segment < 2 else str(segment))
    return [
        Column(words.translate("anatomy", "in the text"), TEXT, texts=rows.texts(said)),
        Column(words.translate("anatomy", "characters"), TEXT, texts=rows.texts(where)),
        Column(words.translate("anatomy", "which text"), TEXT, texts=rows.texts(which)),
    ]


def _pieces(rows: _Rows) -> list[Column]:
    pieces = rows.anatomy.pieces
    kinds = []
    for place, written in enumerate(pieces):
        follows = place + 1 < len(pieces) and pieces[place + 1].startswith("##")
        if written in _SPECIALS:
            kinds.append(_SPECIALS[written]())
        elif written.startswith("##"):
            kinds.append(words.translate("anatomy", "goes on with the word before"))
        elif follows:
            kinds.append(words.translate("anatomy", "begins a word"))
        else:
            kinds.append(words.translate("anatomy", "a whole word"))
    text = _text(rows)[0]
    piece = Column(words.translate("anatomy", "piece"), TEXT, sign="→", texts=rows.texts(pieces))
    kind = Column(words.translate("anatomy", "what it is"), TEXT, texts=rows.texts(kinds))
    return [text, piece, kind]


_SPECIALS = {
    "[CLS]": lambda: words.translate("anatomy", "stands for the whole text"),
    "[SEP]": lambda: words.translate("anatomy", "ends a text"),
    "[MASK]": lambda: words.translate("anatomy", "hides a word"),
    "[PAD]": lambda: words.translate("anatomy", "fills up"),
    "[UNK]": lambda: words.translate("anatomy", "not in the vocabulary"),
}


def _ids(rows: _Rows) -> list[Column]:
    anatomy = rows.anatomy
    lists = (anatomy.ids, anatomy.segments, anatomy.positions)
    titles = (
        words.translate("anatomy", "id"),
        words.translate("anatomy", "segment"),
        words.translate("anatomy", "position"),
    )
    hints = (
        words.translate("anatomy", "row of the words"),
        words.translate("anatomy", "A 0, B 1"),
        words.translate("anatomy", "from 0"),
    )
    return [
        Column(title, TEXT, hint, texts=rows.texts([str(x) for x in one]))
        for title, hint, one in zip(titles, hints, lists, strict=True)
    ]


def _vectors(rows: _Rows) -> list[Column]:
    word, segment, position = (rows.vector(f"embeddings.{name}") for name in ("word", "segment", "position"))
    return _one_scale(word, segment, position)


def _sum(rows: _Rows) -> list[Column]:
    word, segment, position = _vectors(rows)
    return _one_scale(
        word,
        replace(segment, sign="+"),
        replace(position, sign="+"),
        rows.vector("embeddings.sum", "="),
    )


def _norm(taken: str, made: str) -> Callable[[_Rows], list[Column]]:
    def columns(rows: _Rows) -> list[Column]:
        own = "" if taken.startswith("embeddings") else rows.own
        return _each_scale(rows.vector(own + taken), rows.vector(own + made, "→"))

    return columns


def _qkv(rows: _Rows) -> list[Column]:
    x, *three = (rows.vector(name) for name in vectors.shown_vectors(rows.anatomy, rows.walk))
    query, key, value = three
    return _each_scale(replace(x, stretch=1.3), replace(query, sign="→"), key, value)


def _scores(rows: _Rows) -> list[Column]:
    anatomy, place = rows.anatomy, rows.walk.piece
    query = anatomy[f"{rows.own}query"][rows.head, place]
    key = rows.vector(f"{rows.own}key")
    top = full_colour([], whole=anatomy[f"{rows.own}key"][rows.head])
    assert key.values is not None
    said = words.translate("anatomy", "q of {piece}").format(piece=anatomy.pieces[place])
    key = replace(key, name="", top=top, over=query, over_words=said)
    product = Column(
        "q × k", values=key.values * query, sign="×", hint=words.translate("anatomy", "one by one")
    )
    product = replace(product, top=full_colour([product]))
    return [key, product, _score_column(rows, "→")]


def _score_column(rows: _Rows, sign: str = "") -> Column:
    size = rows.anatomy[f"{rows.own}query"].shape[-1]
    values = rows.of(rows.anatomy[f"{rows.own}scores"][rows.head, rows.walk.piece][rows.places])
    return Column(words.translate("anatomy", "score"), BAR, f"q · k / √{size}", values=values, sign=sign)


def _weight_column(rows: _Rows, sign: str, foot: bool) -> Column:
    weights = rows.anatomy[f"{rows.own}softmax"][rows.head, rows.walk.piece]
    values = weights[rows.places]
    if rows.others:
        values = np.append(values, weights[rows.others].sum())
    return Column(
        words.translate("anatomy", "weight a"),
        SHARE,
        words.translate("anatomy", "softmax, sums to 1"),
        values=values,
        sign=sign,
        foot=np.asarray(weights.sum()) if foot else None,
    )


def _softmax(rows: _Rows) -> list[Column]:
    scores = rows.anatomy[f"{rows.own}scores"][rows.head, rows.walk.piece].astype(np.float64)
    powers = np.exp(scores - scores.max())
    values = powers[rows.places]
    if rows.others:
        values = np.append(values, powers[rows.others].sum())
    hint = words.translate("anatomy", "less the largest")
    power = Column(
        "e^s", NUMBER, hint, values=values, sign="→", foot=np.asarray(powers.sum()), foot_words="Σ"
    )
    return [_score_column(rows), power, _weight_column(rows, "→", foot=True)]


def _mixed(rows: _Rows) -> list[Column]:
    anatomy, walk = rows.anatomy, rows.walk
    weights = anatomy[f"{rows.own}softmax"][rows.head, walk.piece]
    values = anatomy[f"{rows.own}value"][rows.head]
    scale = anatomy.changes.scale(walk.layer, walk.head)
    parts = weights[:, None] * values * scale
    shown = parts[rows.places]
    if rows.others:
        shown = np.concatenate([shown, parts[rows.others].sum(0, keepdims=True)])
    mixed = anatomy[f"{rows.own}heads"][rows.head, walk.piece]
    times = "" if scale == 1.0 else f" × {scale:g}"
    added = Column(
        f"a × v{times}",
        hint=words.translate("anatomy", "one scale with z"),
        name=f"{rows.own}heads",
        values=shown,
        sign="→",
        foot=mixed,
        foot_words=words.translate("anatomy", "z, handed on by head {head}").format(head=walk.head),
    )
    top = full_colour([], whole=np.concatenate([shown, mixed[None]]))
    value = replace(rows.vector(f"{rows.own}value", "×"), top=full_colour([], whole=values))
    return [_score_column(rows), _weight_column(rows, "→", foot=False), value, replace(added, top=top)]


def _heads(rows: _Rows) -> list[Column]:
    count = rows.walk.shape[1]
    hint = words.translate("anatomy", "heads 1 to {count} side by side").format(count=count)
    return _each_scale(rows.vector(f"{rows.own}joined", hint=hint, parts=count, part=rows.head))


def _output(rows: _Rows) -> list[Column]:
    count = rows.walk.shape[1]
    joined = rows.vector(f"{rows.own}joined", parts=count, part=rows.head)
    return _each_scale(joined, rows.vector(f"{rows.own}output", "→"))


def _attention_residual(rows: _Rows) -> list[Column]:
    is_off = (rows.walk.layer, ATTENTION) in rows.anatomy.changes.no_residual
    hint = words.translate("anatomy", "left out") if is_off else ""
    went_in = rows.vector(before_layer(rows.walk.layer), hint=hint, is_off=is_off)
    output = rows.vector(f"{rows.own}output", "" if is_off else "+")
    return _one_scale(went_in, output, rows.vector(f"{rows.own}attention_residual", "="))


def _residual(rows: _Rows) -> list[Column]:
    is_off = (rows.walk.layer, FEED_FORWARD) in rows.anatomy.changes.no_residual
    hint = words.translate("anatomy", "left out") if is_off else ""
    went_in = rows.vector(f"{rows.own}attention_norm", hint=hint, is_off=is_off)
    output = rows.vector(f"{rows.own}feed_forward_out", "" if is_off else "+")
    return _one_scale(went_in, output, rows.vector(f"{rows.own}residual", "="))


def _feed_forward(rows: _Rows) -> list[Column]:
    taken = rows.vector(f"{rows.own}attention_norm")
    inner = rows.vector(f"{rows.own}feed_forward_in", "→", stretch=1.3)
    active = rows.vector(f"{rows.own}activation", "→", stretch=1.3)
    return _each_scale(taken, inner, active, rows.vector(f"{rows.own}feed_forward_out", "→"))


def _ends(rows: _Rows) -> list[Column]:
    anatomy = rows.anatomy
    last = rows.vector("T", hint=words.translate("anatomy", "a vector for each piece"))
    if "C" in anatomy:
        last = replace(last, foot=anatomy["C"], foot_words="C")
    names = [name for name in vectors.shown_vectors(anatomy, rows.walk) if name.startswith("masked_word.")]
    return _each_scale(last, *(rows.vector(name, "→") for name in names))


_COLUMNS = {
    "text": _text,
    "pieces": _pieces,
    "ids": _ids,
    "vectors": _vectors,
    "sum": _sum,
    "embedding_norm": _norm("embeddings.sum", "embeddings.norm"),
    "qkv": _qkv,
    "scores": _scores,
    "softmax": _softmax,
    "mixed": _mixed,
    "heads": _heads,
    "output": _output,
    "attention_residual": _attention_residual,
    "attention_norm": _norm("attention_residual", "attention_norm"),
    "feed_forward": _feed_forward,
    "residual": _residual,
    "norm": _norm("residual", "norm"),
    "ends": _ends,
}


# ---- the head on top


def _answers(anatomy: Anatomy, walk: Walk, most: int) -> Step:
    """Return the answers of the head on top, the likeliest first; in the loss, beside what is wanted."""
    head = vectors.answer_head(anatomy, walk)
    if not head:
        return Step(VectorPicture())
    place, chosen = vectors.answer_place(anatomy, walk), vectors.answer_key(anatomy, walk)
    found = shares(anatomy, head, place)
    logits = anatomy.logits_at(place)[: len(found)] if head == MASKED else anatomy[f"{head}.logits"]
    keys = largest(found, min(LARGEST, most - 1))
    if chosen not in keys:
        keys[-1] = chosen
    names = [answer_words(anatomy, head, key) for key in keys]
    rows = [RowHead(name, key, key == chosen) for name, key in zip(names, keys, strict=True)]
    if others := len(found) - len(keys):
        said = words.translate("anatomy", "{count} others").format(count=words.number(others))
        rows.append(RowHead(said, -1, is_quiet=True))
    rest = float(1.0 - found[keys].sum())
    shared = np.array([*found[keys], *([max(0.0, rest)] if others else [])])
    scored = np.array([*logits[keys], *([np.nan] if others else [])])
    columns = [
        Column(
            words.translate("anatomy", "score"),
            BAR,
            "h · e + b" if head == MASKED else "C · w + b",
            values=scored,
        ),
        Column(
            words.translate("anatomy", "probability"),
            SHARE,
            words.translate("anatomy", "softmax, sums to 1"),
            values=shared,
            sign="→",
        ),
    ]
    if walk.step == "loss":
        columns = [replace(columns[1], sign=""), *_wanted(anatomy, walk, keys, shared)]
    framed = keys.index(chosen)
    return Step(VectorPicture(tuple(rows), tuple(columns), framed_row=framed), ("",) * len(columns))


def _wanted(anatomy: Anatomy, walk: Walk, keys: list[int], shared: np.ndarray) -> list[Column]:
    target = vectors.target_id(anatomy, walk)
    wanted = np.array([float(key == target) for key in keys] + [0.0] * (len(shared) - len(keys)))
    return [
        Column(
            words.translate("anatomy", "wanted"),
            NUMBER,
            words.translate("anatomy", "what stood there"),
            values=wanted,
            texts=tuple("1" if one else "0" for one in wanted),
            sign="−",
        ),
        Column(
            words.translate("anatomy", "slope"),
            BAR,
            words.translate("anatomy", "of the loss by the score"),
            values=shared - wanted,
            sign="=",
        ),
    ]


def answer_words(anatomy: Anatomy, head: str, key: int) -> str:
    """Return an answer of a head as a person reads it."""
    if head in (MASKED, LABEL):
        return name_of(anatomy, head, key)
    if key == 0:
        return words.translate("anatomy", "B follows A")
    return words.translate("anatomy", "B does not follow A")
