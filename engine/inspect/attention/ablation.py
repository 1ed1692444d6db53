"""What a model answers with some of its heads switched off.

A head that is off adds nothing: what it found counts as zero before the layer's output product, as if the
columns of attention.output.dense that read it were zero. A layer that is off here has all its heads off; its
feed-forward stays.
Source: Michel et al. 2019, Are Sixteen Heads Really Better than One?
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.errors import marked
from engine.events import Event, Progress
from engine.inspect.attention.weights import (
    Floats,
    Switches,
    check_switches,
    embedded,
    explained_memory,
    read_only,
)
from engine.inspect.loaded_model import LoadedModel, looking

# L layers, H heads, B variants of one text, T tokens, M places of a [MASK], V words, C classes

_NEEDS = {"masked": "masked_words", "next_sentence": "next_sentence", "class": "labels"}
_KINDS = tuple(_NEEDS)
_TOKENS_AT_ONCE = 512  # of all variants of a text: keeps a step short, so that others get their turn


@dataclass(frozen=True, slots=True)
class MaskGuess:
    """The likeliest words for one [MASK], best first. position: its place among the tokens, [CLS] is 0."""

    position: int
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """What a model answers to a text.

    masked: the likeliest words for each [MASK]. next_sentence: how probable it is that B follows A. classes:
    each label with its probability, in the model's order. Empty or None for what the model or the text does
    not have.
    """

    masked: tuple[MaskGuess, ...] = ()
    next_sentence: float | None = None
    classes: tuple[tuple[str, float], ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any answer at all."""
        return bool(self.masked) or self.next_sentence is not None or bool(self.classes)


@dataclass(frozen=True, slots=True)
class WatchedAnswer:
    """An answer whose probability is followed.

    kind: "masked", "next_sentence" or "class". name: the word or label. place: of the [MASK] among the
    tokens. index: id of the word, place of the label.
    """

    kind: str
    name: str = ""
    place: int = 0
    index: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """An answer's probability with all heads on, and with some off."""

    watched: WatchedAnswer
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class EffectTable:
    """What switching heads off changed. effects: for each [MASK] the likeliest words before and after, the
    next sentence, each class.
    """

    before: ModelAnswers
    after: ModelAnswers
    effects: tuple[Effect, ...]


@dataclass(frozen=True, eq=False)
class EveryHead:
    """The probability of one answer with each head off alone. heads: (L, H); layers: (L,), all its heads."""

    watched: WatchedAnswer
    before: float
    heads: Floats
    layers: Floats

    @property
    def changes(self) -> Floats:
        """(L, H): after minus before; negative where the head helps."""
        return self.heads - np.float32(self.before)


def all_on(subject: LoadedModel) -> Switches:
    """Return (L, H), all True: a fresh array to switch heads off in."""
    return np.ones((subject.config.num_hidden_layers, subject.config.num_attention_heads), bool)


def outcome(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    on: Switches | None = None,
    *,
    top_k: int = 5,
) -> ModelAnswers:
    """Return all that the model can answer to a text, with some heads off.

    Masked words where the text has [MASK], the next sentence where there is a pair, and classes.
    Raises: as `attention.look`.
    """
    found = _ask(subject, text, text_pair, [all_on(subject) if on is None else on])
    return _outcome(found, 0, subject, top_k)


def effects(
    subject: LoadedModel, text: str, text_pair: str | None, on: Switches, *, top_k: int = 3
) -> EffectTable:
    """Return what switching heads off changes, from one batch of two.

    Args:   top_k: words of each [MASK], and classes, that are followed: the likeliest with all heads on, and
            the one that is likeliest afterwards.
    Raises: as `attention.look`.
    """
    found = _ask(subject, text, text_pair, [all_on(subject), on])
    before, after = (_outcome(found, variant, subject, top_k) for variant in (0, 1))
    watched = dict.fromkeys(
        [*_watched(before, subject, top_k), *_watched(after, subject, 1)]  # each once, those before first
    )
    order = sorted(watched, key=lambda one: (_KINDS.index(one.kind), one.place))
    rows = [Effect(one, *found.probabilities(one).tolist()) for one in order]
    return EffectTable(before, after, tuple(rows))


def every_head(
    subject: LoadedModel, text: str, text_pair: str | None, watched: WatchedAnswer
) -> Generator[Event, None, EveryHead]:
    """Switch each head off alone; yields Progress, its return value is what became of the answer.

    The layers before a head are not computed again, and a layer's heads go through the rest as a batch: about
    half the work of as many forward passes.

    Args:   watched: one of `effects` or made from an `ModelAnswers`.
    Raises: as `attention.look`; ModelError without the head that the answer needs.
    """
    subject.require(_NEEDS[watched.kind])
    encoding = subject.encode(text, text_pair)
    num_layers, num_heads = all_on(subject).shape
    variants = np.concatenate([~np.eye(num_heads, dtype=bool), np.zeros((1, num_heads), bool)])  # (H + 1, H)
    at_once = max(1, _TOKENS_AT_ONCE // len(encoding.input_ids))
    changed = np.empty((num_layers, num_heads + 1), np.float32)
    with looking(subject):
        hidden = embedded(subject.bert, encoding)
        firsts = [_read_of(subject, hidden)]
    total = changed.size
    for layer in range(num_layers):
        for start in range(0, num_heads + 1, at_once):
            done = layer * (num_heads + 1) + start
            yield Progress(stage=marked("engine", "Turning heads off"), done=done, total=total)
            some = slice(start, start + at_once)
            changed[layer, some] = _with_variants(subject, hidden, firsts, layer, variants[some], watched)
        with looking(subject):
            hidden = _through(subject, hidden, firsts, slice(layer, layer + 1))
    yield Progress(stage=marked("engine", "Turning heads off"), done=total, total=total)
    with looking(subject):
        before = float(_answers(subject, hidden, firsts, watched).probabilities(watched)[0])
    return EveryHead(
        watched, before, read_only(changed[:, :-1].copy()), layers=read_only(changed[:, -1].copy())
    )


@dataclass(frozen=True, slots=True)
class _Answers:
    """Probabilities for B variants of one text. masked: (B, M, V), of M places; next_sentence: (B,); classes:
    (B, C). None for what was not asked.
    """

    places: tuple[int, ...]
    masked: Tensor | None
    next_sentence: Tensor | None
    classes: Tensor | None

    def probabilities(self, watched: WatchedAnswer) -> Floats:
        """Return (B,), of one answer."""
        if watched.kind == "masked":
            assert self.masked is not None
            found = self.masked[:, self.places.index(watched.place), watched.index]
        elif watched.kind == "class":
            assert self.classes is not None
            found = self.classes[:, watched.index]
        else:
            assert self.next_sentence is not None
            found = self.next_sentence
        return np.asarray(found.float().cpu().numpy())


def _ask(subject: LoadedModel, text: str, text_pair: str | None, variants: Sequence[Switches]) -> _Answers:
    """Return the answers with different heads on: variants of (L, H), B of them."""
    encoding = subject.encode(text, text_pair)
    for on in variants:
        check_switches(subject.config, on)
    places = [n for n, number in enumerate(encoding.input_ids) if number == subject.wordpiece.mask_id]
    on = np.stack(variants, 1)  # (L, B, H)
    differs = (on != on[:, :1]).any((1, 2))
    alike = int(differs.argmax()) if differs.any() else len(on)  # layers that are computed once for all
    with explained_memory(len(encoding.input_ids)), looking(subject):
        hidden = embedded(subject.bert, encoding)
        firsts = [_read_of(subject, hidden)]
        hidden = _through(subject, hidden, firsts, slice(alike), on[:alike, :1])
        hidden = hidden.expand(len(variants), -1, -1)
        hidden = _through(subject, hidden, firsts, slice(alike, None), on[alike:])
        return _read(subject, hidden, firsts, places, with_pair=text_pair is not None)


def _read_of(subject: LoadedModel, hidden: Tensor) -> Tensor:
    """Return (B, D) what a classifier reads of hidden states (B, T, D): the first, or the mean of all."""
    return hidden.mean(1) if subject.config.pooling else hidden[:, 0]


def _through(
    subject: LoadedModel, hidden: Tensor, firsts: list[Tensor], layers: slice, on: Switches | None = None
) -> Tensor:
    """Run some layers.

    Args: hidden: (B, T, D). firsts: takes what is read of each layer, (B, D). on: (layers, B, H).
    Returns: (B, T, D).
    """
    masks = None if on is None else torch.tensor(on[..., None], device=hidden.device).to(hidden.dtype)
    for number, layer in enumerate(subject.bert.layers[layers]):
        hidden, _ = layer(hidden, None, None, None if masks is None else masks[number], False)
        firsts.append(_read_of(subject, hidden))
    return hidden


def _with_variants(
    subject: LoadedModel,
    hidden: Tensor,
    firsts: list[Tensor],
    layer: int,
    on: Switches,
    watched: WatchedAnswer,
) -> Floats:
    """Return an answer's probability (B,) for variants of one layer.

    Args: hidden: (1, T, D), what goes into it. firsts: what is read of the layers up to there. on: (B, H).
    """
    with explained_memory(hidden.shape[1]), looking(subject):
        several, firsts = hidden.expand(len(on), -1, -1), [*firsts]
        several = _through(subject, several, firsts, slice(layer, layer + 1), on[None])
        several = _through(subject, several, firsts, slice(layer + 1, None))
        return _answers(subject, several, firsts, watched).probabilities(watched)


def _answers(subject: LoadedModel, hidden: Tensor, firsts: list[Tensor], watched: WatchedAnswer) -> _Answers:
    """Return the answers that hold one that is watched, of hidden states (B, T, D)."""
    places = [watched.place] if watched.kind == "masked" else []
    return _read(subject, hidden, firsts, places, with_pair=watched.kind == "next_sentence")


def _read(
    subject: LoadedModel, hidden: Tensor, firsts: list[Tensor], places: Sequence[int], *, with_pair: bool
) -> _Answers:
    """Return what the model's heads make of the last hidden states, (B, T, D).

    Args: firsts: what is read after the embeddings and every layer, (B, D) or (1, D) each.
    """
    pooled = None if subject.bert.pooler is None else subject.bert.pool(hidden[:, 0])
    masked = follows = classes = None
    if places and subject.has_masked_words:
        model = subject.masked_head()
        scores = model.logits(model.read(hidden[:, list(places)]))  # (B, M, V)
        masked = scores.softmax(-1)[..., : subject.wordpiece.vocab_size]
    if with_pair and subject.has_next_sentence:
        follows = subject.next_sentence_head().next_sentence(pooled).softmax(-1)[:, 0]
    if subject.labels:
        head, every = subject.label_head(), [first.expand(len(hidden), -1) for first in firsts]
        classes = head.of_firsts(every).softmax(-1)
    return _Answers(tuple(places), masked, follows, classes)


def _outcome(found: _Answers, variant: int, subject: LoadedModel, top_k: int) -> ModelAnswers:
    """Return one variant's answers."""
    guesses = []
    if found.masked is not None:
        best = found.masked[variant].topk(min(top_k, found.masked.shape[-1]), -1)
        rows = zip(found.places, best.indices.tolist(), best.values.tolist(), strict=True)
        for place, ids, shares in rows:
            words = tuple(subject.wordpiece.as_word((number,)) for number in ids)
            guesses.append(MaskGuess(place, words, tuple(ids), tuple(shares)))
    follows = None if found.next_sentence is None else float(found.next_sentence[variant])
    shares = [] if found.classes is None else found.classes[variant].tolist()
    return ModelAnswers(tuple(guesses), follows, tuple(zip(subject.labels, shares, strict=True)))


def _watched(answers: ModelAnswers, subject: LoadedModel, top_k: int) -> list[WatchedAnswer]:
    """Return the likeliest answers, to be followed."""
    watched = [
        WatchedAnswer("masked", word, guess.position, number)
        for guess in answers.masked
        for word, number in list(zip(guess.tokens, guess.ids, strict=True))[:top_k]
    ]
    if answers.next_sentence is not None:
        watched.append(WatchedAnswer("next_sentence"))
    best = sorted(range(len(answers.classes)), key=lambda place: -answers.classes[place][1])[:top_k]
    return watched + [WatchedAnswer("class", answers.classes[place][0], index=place) for place in best]
