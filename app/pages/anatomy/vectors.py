"""How vectors, pieces and answers are called, and which of them a walk is about."""

from __future__ import annotations

from collections import Counter

from app import words
from app.pages.anatomy.state import Walk
from app.plots.shown_figure import isolated
from engine.inspect.anatomy.effect import LABEL, MASKED, heads_of, name_of, shares, usual_head
from engine.inspect.anatomy.vectors import Anatomy, Product
from engine.inspect.anatomy.working import Spot

OF_HEAD = ("query", "key", "value", "query_turned", "key_turned", "heads")
OF_INNER = ("feed_forward_in", "activation", "feed_forward_gate", "gated")
MATRICES = ("scores", "softmax", "distances")
WORDS = "embeddings.word_embeddings.weight"
ON_TOP = {  # by what they make: the matrices of the heads, whose number is a row's
    "masked_word.logits": Product(WORDS, "masked_word.norm", "masked_word.logits"),
    "C": Product("pooler.dense.weight", "T", "C"),
    "pooler.dense": Product("pooler.dense.weight", "T", "pooler.dense"),
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
    "query_turned": "q′",
    "key_turned": "k′",
    "projected": "x′",
    "attention_input": "y",
    "feed_forward_input": "y",
    "feed_forward_gate": "m",
    "gated": "n",
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

_FUNCTION_WORDS = """
a about after all also am an and any are as at be because been before but by can could did do does for from
had has have he her hers him his how i if in into is it its may me might more most must my no not of on or
our ours she should so some such than that the their theirs them then there these they this those to us was
we were what when where which while who whom whose why will with would you your yours
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())  # of English, with its forms of be, have and do


def width_of(name: str) -> str:
    """Return which of the widths a vector has: of a head, of the model, or of the feed-forward part."""
    kind = name.rpartition(".")[2]
    if kind in OF_HEAD:
        return "head"
    return "inner" if kind in OF_INNER and name.startswith("layer.") else "width"


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


def head_on_top(anatomy: Anatomy, walk: Walk) -> str:
    """Return the head on top whose answer is shown; "" where the model has none."""
    return walk.answer if walk.answer in heads_of(anatomy) else usual_head(anatomy)


def answer_place(anatomy: Anatomy, walk: Walk) -> int:
    """Return the piece whose word is guessed: the chosen one, else the first [MASK]."""
    return walk.piece if walk.piece in anatomy.places else anatomy.places[0]


def target_id(anatomy: Anatomy, walk: Walk) -> int:
    """Return the piece that stood at the [MASK], as it was typed; the likeliest guess where nothing was; -1
    where what was typed is no piece.
    """
    typed = walk.target.strip()
    if not typed:
        return int(shares(anatomy, MASKED, answer_place(anatomy, walk)).argmax())
    wordpiece = anatomy.about.wordpiece
    ids = wordpiece.ids_as_spelled(typed)
    if len(ids) != 1 and typed in wordpiece.tokens:
        return wordpiece.tokens.index(typed)  # by its name, such as Ġand
    return ids[0] if len(ids) == 1 and ids[0] != wordpiece.unk_id else -1


def first_content(anatomy: Anatomy) -> int:
    """Return the first piece that begins a word that says something, "bank" before "the"; else the first."""
    special = anatomy.encoding.special_tokens_mask
    own = [place for place in range(anatomy.num_tokens) if not special[place]]
    spelled = anatomy.about.wordpiece.as_word
    said = (place for place in own if _says_something(spelled((anatomy.ids[place],))))
    return next(said, own[0] if own else 0)


def _says_something(piece: str) -> bool:
    return piece[:1].isalpha() and piece.lower() not in FUNCTION_WORDS


def piece_names(anatomy: Anatomy) -> tuple[str, ...]:
    """Return how the pieces are called: by themselves, with their place where they stand twice."""
    counts = Counter(anatomy.pieces)
    return tuple(
        f"{isolated(piece)} ({place})" if counts[piece] > 1 else isolated(piece)
        for place, piece in enumerate(anatomy.pieces)
    )


def quoted(anatomy: Anatomy, place: int) -> str:
    """Return how a piece is called in a sentence."""
    return f"“{piece_names(anatomy)[place]}”"


def answer_words(anatomy: Anatomy, head: str, key: int) -> str:
    """Return an answer of a head as a person reads it."""
    if head in (MASKED, LABEL):
        return name_of(anatomy, head, key)
    if key == 0:
        return words.translate("anatomy", "B follows A")
    return words.translate("anatomy", "B does not follow A")


def symbol(name: str) -> str:
    """Return the letter that a vector has in formulas."""
    return "h" if name == "masked_word.norm" else LETTERS.get(name.rpartition(".")[2], "x")


def activation_name(anatomy: Anatomy, name: str = "") -> str:
    """Return what the activation is called behind which a vector is made: of a head, else of the layers."""
    pooling, guessing = anatomy.config.family.acts_of_heads(anatomy.config)
    is_pooled = name == "C" or name.startswith("pooler.")
    act = pooling if is_pooled else guessing if name.startswith("masked_word.") else anatomy.config.hidden_act
    return {"relu": "ReLU", "silu": "SiLU", "tanh": "tanh"}.get(act, "GELU")


def title(anatomy: Anatomy, name: str) -> str:
    """Return what a vector is called over its column."""
    kind = name.rpartition(".")[2]
    if kind in ("T", "C"):
        return kind
    return activation_name(anatomy, name) if kind == "activation" else f"{_called(kind)} {symbol(name)}"


def _called(kind: str) -> str:
    added = words.translate("anatomy", "sum")
    normed = words.translate("anatomy", "normed")
    return {
        "word": words.translate("anatomy", "word"),
        "segment": words.translate("anatomy", "segment"),
        "position": words.translate("anatomy", "position"),
        **dict.fromkeys(("sum", "attention_residual", "residual"), added),
        "query": words.translate("anatomy", "query"),
        "key": words.translate("anatomy", "key"),
        "value": words.translate("anatomy", "value"),
        "heads": words.translate("anatomy", "passed on"),
        "joined": words.translate("anatomy", "all heads"),
        "output": words.translate("anatomy", "output"),
        **dict.fromkeys(("attention_norm", "norm", "attention_input", "feed_forward_input"), normed),
        "projected": words.translate("anatomy", "projected"),
        "query_turned": words.translate("anatomy", "turned query"),
        "key_turned": words.translate("anatomy", "turned key"),
        "feed_forward_gate": words.translate("anatomy", "multiplier"),
        "gated": words.translate("anatomy", "product"),
        "feed_forward_in": words.translate("anatomy", "inner"),
        "feed_forward_out": words.translate("anatomy", "out"),
        "dense": words.translate("anatomy", "dense"),
    }[kind]
