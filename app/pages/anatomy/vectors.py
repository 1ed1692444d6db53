"""Which vectors a step shows, which number of them is worked out, and how they are called."""

from __future__ import annotations

from collections import Counter

import numpy as np

from app import words
from app.pages.anatomy.requests import Found
from app.pages.anatomy.state import Walk
from app.plots.shown_figure import isolated
from engine.inspect.anatomy.effect import MASKED, heads_of, shares, usual_head
from engine.inspect.anatomy.vectors import Anatomy, Product, before_layer
from engine.inspect.anatomy.working import Spot, vector_of

OF_HEAD = ("query", "key", "value", "heads")
OF_INNER = ("feed_forward_in", "activation")
MATRICES = ("scores", "softmax")
WORDS = "embeddings.word_embeddings.weight"
ON_TOP = {  # by what they make: the matrices of the heads, whose number is a row's
    "masked_word.logits": Product(WORDS, "masked_word.norm", "masked_word.logits"),
    "C": Product("pooler.dense.weight", "T", "C"),
    "next_sentence.logits": Product("cls.seq_relationship.weight", "C", "next_sentence.logits"),
    "label.logits": Product("classifier.weight", "C", "label.logits"),
}
LETTERS = {
    "word": "w",
    "segment": "s",
    "position": "p",
    "sum": "e",
    "query": "q",
    "key": "k",
    "value": "v",
    "heads": "z",
    "joined": "z",
    "output": "o",
    "attention_residual": "r",
    "attention_norm": "y",
    "feed_forward_in": "f",
    "activation": "g",
    "feed_forward_out": "u",
    "residual": "r′",
    "scores": "s",
    "softmax": "a",
    "dense": "f",
    "T": "T",
    "C": "C",
}


def shown_vectors(anatomy: Anatomy, walk: Walk) -> tuple[str, ...]:
    """Return the names of a step's arrays whose numbers can be worked out, from left to right."""
    own, taken = f"layer.{walk.layer}.", before_layer(walk.layer)
    three = ("embeddings.word", "embeddings.segment", "embeddings.position")
    head = tuple(f"masked_word.{name}" for name in ("dense", "activation", "norm"))
    return {
        "vectors": three,
        "sum": (*three, "embeddings.sum"),
        "embedding_norm": ("embeddings.sum", "embeddings.norm"),
        "qkv": (taken, f"{own}query", f"{own}key", f"{own}value"),
        "scores": (f"{own}scores",),
        "softmax": (f"{own}softmax",),
        "mixed": (f"{own}value", f"{own}heads"),
        "heads": (f"{own}joined",),
        "output": (f"{own}joined", f"{own}output"),
        "attention_residual": (taken, f"{own}output", f"{own}attention_residual"),
        "attention_norm": (f"{own}attention_residual", f"{own}attention_norm"),
        "feed_forward": tuple(
            own + name for name in ("attention_norm", "feed_forward_in", "activation", "feed_forward_out")
        ),
        "residual": tuple(own + name for name in ("attention_norm", "feed_forward_out", "residual")),
        "norm": (f"{own}residual", f"{own}norm"),
        "ends": ("T", *(name for name in head if name in anatomy), *(("C",) if "C" in anatomy else ())),
    }.get(walk.step, ())


def usual_vector(anatomy: Anatomy, walk: Walk) -> str:
    """Return the vector that a step is about."""
    names = shown_vectors(anatomy, walk)
    if walk.step == "qkv":
        return names[1]
    if walk.step == "ends":
        return "C" if walk.piece == 0 and "C" in anatomy else "T"
    return names[-1] if names else ""


def width_of(name: str) -> str:
    """Return which of the widths a vector has: of a head, of the model, or of the feed-forward part."""
    kind = name.rpartition(".")[2]
    if kind in OF_HEAD:
        return "head"
    return "inner" if kind in OF_INNER and name.startswith("layer.") else "width"


def spot_of(anatomy: Anatomy, walk: Walk) -> Spot | None:
    """Return the number that is worked out; None where a step has none."""
    if walk.step in ("answer", "loss"):
        return answer_spot(anatomy, walk)
    name = walk.vector if walk.vector in shown_vectors(anatomy, walk) else usual_vector(anatomy, walk)
    if not name:
        return None
    head = walk.head - 1
    if name.rpartition(".")[2] in MATRICES:
        return Spot(name, walk.piece, head=head, key=key_of(anatomy, walk))
    place = 0 if name == "C" else walk.piece
    row = vector_of(anatomy, Spot(name, place, head=head))
    number = walk.number(width_of(name))
    if number < 0 and walk.step == "heads":
        size = len(row) // walk.shape[1]
        number = head * size + int(np.abs(row[head * size : (head + 1) * size]).argmax())
    elif number < 0:
        number = int(np.abs(row).argmax())
    return Spot(name, place, min(number, len(row) - 1), head)


def vectors_size(anatomy: Anatomy, spot: Spot) -> int:
    """Return how many numbers a spot's vector has to choose from; 0 where the number is chosen by its row."""
    if spot.kind in MATRICES or spot.name.endswith(".logits"):
        return 0
    return int(anatomy[spot.name].shape[-1])


def key_of(anatomy: Anatomy, walk: Walk) -> int:
    """Return the piece that is looked at: the chosen one, else the one looked at most."""
    if 0 <= walk.key < anatomy.num_tokens:
        return walk.key
    return int(anatomy[f"layer.{walk.layer}.softmax"][walk.head - 1, walk.piece].argmax())


def answer_head(anatomy: Anatomy, walk: Walk) -> str:
    """Return the head on top whose answer is shown; "" where the model has none."""
    if walk.step == "loss":
        return MASKED if MASKED in heads_of(anatomy) else ""
    return walk.answer if walk.answer in heads_of(anatomy) else usual_head(anatomy)


def answer_place(anatomy: Anatomy, walk: Walk) -> int:
    """Return the piece whose word is guessed: the chosen one, else the first [MASK]."""
    return walk.piece if walk.piece in anatomy.places else anatomy.places[0]


def answer_key(anatomy: Anatomy, walk: Walk) -> int:
    """Return the answer that is worked out: the chosen one, else the likeliest; in the loss the target."""
    head, place = answer_head(anatomy, walk), answer_place(anatomy, walk)
    found = shares(anatomy, head, place)
    if walk.step == "loss":
        target = target_id(anatomy, walk)
        if target >= 0:
            return target
    return walk.said if 0 <= walk.said < len(found) else int(found.argmax())


def answer_spot(anatomy: Anatomy, walk: Walk) -> Spot | None:
    """Return the score of the answer; None where the model has no head for it."""
    head = answer_head(anatomy, walk)
    if not head:
        return None
    key = answer_key(anatomy, walk)
    if head == MASKED:
        return Spot("masked_word.logits", answer_place(anatomy, walk), key=key)
    return Spot(f"{head}.logits", number=key)


def target_id(anatomy: Anatomy, walk: Walk) -> int:
    """Return the piece that stood at the [MASK], as it was typed; the likeliest guess where nothing was; -1
    where what was typed is no piece.
    """
    typed = walk.target.strip()
    if not typed:
        return int(shares(anatomy, MASKED, answer_place(anatomy, walk)).argmax())
    wordpiece = anatomy.about.wordpiece
    if typed in wordpiece.tokens:
        return wordpiece.tokens.index(typed)
    ids = wordpiece.encode_ids([typed])[0].tolist()
    return int(ids[0]) if len(ids) == 1 and ids[0] != wordpiece.unk_id else -1


def piece_names(anatomy: Anatomy) -> tuple[str, ...]:
    """Return how the pieces are called: by themselves, with their place where they stand twice."""
    counts = Counter(anatomy.pieces)
    return tuple(
        f"{isolated(piece)} ({place})" if counts[piece] > 1 else isolated(piece)
        for place, piece in enumerate(anatomy.pieces)
    )


def is_changed(found: Found, walk: Walk, step: str) -> bool:
    """Return whether a step shows what is otherwise than before the changes."""
    if not found.changed:
        return False
    if step in ("answer", "loss"):
        return any(name.endswith("logits") for name in found.changed)
    if step == "ids":
        return bool(found.now.changes.positions or found.now.changes.segments)
    there = walk.changed(step=step)
    return any(name in found.changed for name in shown_vectors(found.now, there)[-1:])


def symbol(name: str) -> str:
    """Return the letter that a vector has in formulas."""
    return "h" if name == "masked_word.norm" else LETTERS.get(name.rpartition(".")[2], "x")


def activation_name(anatomy: Anatomy) -> str:
    """Return what the model's activation is called."""
    return {"relu": "ReLU", "silu": "SiLU"}.get(anatomy.config.hidden_act, "GELU")


def title(anatomy: Anatomy, name: str) -> str:
    """Return what a vector is called over its column."""
    kind = name.rpartition(".")[2]
    if kind in ("T", "C"):
        return kind
    return activation_name(anatomy) if kind == "activation" else f"{_called(kind)} {symbol(name)}"


def _called(kind: str) -> str:
    match kind:
        case "word":
            return words.translate("anatomy", "word")
        case "segment":
            return words.translate("anatomy", "segment")
        case "position":
            return words.translate("anatomy", "position")
        case "sum" | "attention_residual" | "residual":
            return words.translate("anatomy", "sum")
        case "query":
            return words.translate("anatomy", "query")
        case "key":
            return words.translate("anatomy", "key")
        case "value":
            return words.translate("anatomy", "value")
        case "heads":
            return words.translate("anatomy", "handed on")
        case "joined":
            return words.translate("anatomy", "all heads")
        case "output":
            return words.translate("anatomy", "output")
        case "attention_norm" | "norm":
            return words.translate("anatomy", "normed")
        case "feed_forward_in":
            return words.translate("anatomy", "inner")
        case "feed_forward_out":
            return words.translate("anatomy", "out")
        case "dense":
            return words.translate("anatomy", "dense")
    raise KeyError(kind)
