"""The same labelled texts for all members: with their vectors frozen, and with all weights fine-tuned.

A text is the mean of its words' vectors, frozen ones under logistic regression; ELMo's layers are mixed by
weights that the task learns. An n-gram has no vectors to freeze; what counting can do is shown by Naive Bayes
over pairs of words, one new model of them for each label.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import marked
from engine.events import Event, Progress, Steps, retold
from engine.family.ask import MOST_WORDS, Family
from engine.family.bert import BertMember
from engine.family.elmo import ELMo
from engine.family.gpt import GPT
from engine.family.members import CLS, SEP, HasStates, HasVectors, Member
from engine.family.ngram import NGram
from engine.family.reached import ReachedScore, shares
from engine.text.examples import ExampleTable, stratified_split
from engine.train.optimizer import Optimizer

# E texts, C labels, D width, L layers

TEST_SHARE, SEED = 0.2, 7
MOST_TEXTS = 4000  # that are learned from and asked about
EPOCHS, BATCH, RATE = 3, 16, 1e-3  # of fine-tuning
MIX_STEPS, MIX_RATE = 300, 0.05
AT_ONCE = 64  # texts between two steps
_ASKING = marked("engine", "Asking the family")

Words = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and their labels, numbers from 0 on."""

    words: Words
    labels: np.ndarray


def parts_of(family: Family, examples: ExampleTable) -> tuple[LabelledTexts, LabelledTexts]:
    """Return texts to learn from and to ask about, drawn label by label; the same for all members."""
    labels = np.asarray(examples.examples.labels).astype(np.int64)
    learned, asked = stratified_split(labels, (TEST_SHARE,), SEED)
    most = MOST_TEXTS / max(1, len(labels))
    if most < 1:
        learned, asked = (
            np.sort(np.random.default_rng(SEED).permutation(one)[: int(most * len(one))])
            for one in (learned, asked)
        )

    def part(rows: np.ndarray) -> LabelledTexts:
        texts = (examples.examples[int(row)].text for row in rows)
        return LabelledTexts([_read(family, text) for text in texts], labels[rows])

    return part(learned), part(asked)


def _read(family: Family, text: str) -> tuple[int, ...]:
    return tuple(family.wordpiece.encode(text).input_ids[1:-1][:MOST_WORDS]) or (SEP,)


@dataclass(frozen=True)
class Hits:
    """Which test texts each member answers rightly, (E,) bool each: by frozen vectors, fine-tuned, and, under
    the name of the n-gram, by Naive Bayes. chance: the share of the commonest label among them. start: the
    same of the members before they were trained, None where that is not known.
    """

    chance: float
    frozen: dict[str, np.ndarray]
    fine_tuned: dict[str, np.ndarray]
    naive_bayes: dict[str, np.ndarray]
    start: Hits | None = None

    def scores(self) -> tuple[dict[str, ReachedScore], dict[str, ReachedScore], dict[str, ReachedScore]]:
        """Return what each reached: by frozen vectors, fine-tuned, by Naive Bayes."""
        before = self.start or Hits(self.chance, {}, {}, {})
        return (
            shares(self.frozen, self.chance, before.frozen),
            shares(self.fine_tuned, self.chance, before.fine_tuned),
            shares(self.naive_bayes, self.chance),
        )


def frozen_hits(family: Family, learned: LabelledTexts, asked: LabelledTexts) -> Steps[Hits]:
    """Return which texts each member answers rightly by what it knows already, and by what it knew before it
    was trained; none are fine-tuned yet.
    """
    start = None
    if family.start.members:
        start = yield from retold(_frozen_hits(family.start, learned, asked), partial(_half, 0))
    found = yield from retold(_frozen_hits(family, learned, asked), partial(_half, 1))
    return replace(found, start=start)


def _half(number: int, event: Event) -> Event:
    """Return what is told of one of two parts of a work."""
    if not isinstance(event, Progress):
        return event
    return replace(event, done=number * event.total + event.done, total=2 * event.total)


def _frozen_hits(family: Family, learned: LabelledTexts, asked: LabelledTexts) -> Steps[Hits]:
    chance = float(np.bincount(asked.labels).max() / len(asked.labels)) if len(asked.labels) else 0.0
    found = Hits(chance, {}, {}, {})
    for number, (name, member) in enumerate(family.members.items()):
        yield _told(family, number, 0.0)
        if isinstance(member, NGram):
            found.naive_bayes[name] = _by_bayes(learned, asked, len(member.first))
            continue
        several = layer_means if isinstance(member, ELMo) else text_vectors
        parts = list[np.ndarray]()
        for one in (learned, asked):
            rows = list[np.ndarray]()
            for begin in range(0, len(one.words), AT_ONCE):
                yield _told(family, number, begin / len(one.words))
                rows.append(several(member, one.words[begin : begin + AT_ONCE]))  # type: ignore[arg-type]
            parts.append(np.concatenate(rows))
        answer = _by_mix if isinstance(member, ELMo) else _by_regression
        found.frozen[name] = answer(parts[0], parts[1], learned, asked)
    return found


def add_tuned_hits(
    family: Family, hits: Hits, name: str, learned: LabelledTexts, asked: LabelledTexts
) -> Steps[None]:
    """Add which texts a member answers rightly once all its weights were moved, and those of it as it was
    before it was trained; nothing where it has none.
    """
    if hits.start is not None and name in family.start.members:
        before = _add_tuned_hits(family.start, hits.start, name, learned, asked)
        yield from retold(before, partial(_half, 0))
    yield from retold(_add_tuned_hits(family, hits, name, learned, asked), partial(_half, 1))


def _add_tuned_hits(
    family: Family, hits: Hits, name: str, learned: LabelledTexts, asked: LabelledTexts
) -> Steps[None]:
    network = encoder_of(family.members[name])
    if network is None:
        return
    number = list(family.members).index(name)

    def of_all(event: Event) -> Event:
        if not isinstance(event, Progress):
            return event
        return _told(family, number, event.done / max(1, event.total))

    hits.fine_tuned[name] = yield from retold(_fine_tuned_hits(network, learned, asked), of_all)


def _told(family: Family, number: int, share: float) -> Progress:
    """Return how far all members are together."""
    total = 1000 * len(family.members)
    return Progress(stage=_ASKING, done=1000 * number + round(1000 * share), total=total)


def text_vectors(member: Member, words: Words) -> np.ndarray:
    """Return (E, D) the mean vector of each text: of its places in the last layer, else of its words."""
    if isinstance(member, HasStates):
        return np.stack([member.states(one)[-1].mean(0) for one in words])
    assert isinstance(member, HasVectors)
    vectors = member.vectors()
    return np.stack([vectors[list(one)].mean(0) for one in words])


def layer_means(member: HasStates, words: Words) -> np.ndarray:
    """Return (E, L + 1, D) the mean of each layer over the places of each text."""
    return np.stack([member.states(one).mean(1) for one in words])


def _by_bayes(learned: LabelledTexts, asked: LabelledTexts, num_words: int) -> np.ndarray:
    count = int(learned.labels.max()) + 1
    scores = np.empty((len(asked.labels), count))
    for label in range(count):
        own = [one for one, its in zip(learned.words, learned.labels, strict=True) if its == label]
        text = np.array([word for one in own for word in (*one, SEP)])
        model, prior = NGram.count(text, num_words, n=2), np.log(len(own) / len(learned.labels))
        scores[:, label] = [prior + model.logs(np.array(one)).sum() for one in asked.words]
    hits: np.ndarray = scores.argmax(1) == asked.labels
    return hits


def _by_regression(
    train: np.ndarray, test: np.ndarray, learned: LabelledTexts, asked: LabelledTexts
) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    mean, spread = train.mean(0), train.std(0) + 1e-6
    model = LogisticRegression(max_iter=500).fit((train - mean) / spread, learned.labels)
    hits: np.ndarray = model.predict((test - mean) / spread) == asked.labels
    return hits


def _by_mix(
    learns: np.ndarray, tests: np.ndarray, learned: LabelledTexts, asked: LabelledTexts
) -> np.ndarray:
    """Learn ELMo_k = gamma sum_j s_j h_j together with a linear layer over it."""
    mean, spread = learns.mean(0), learns.std(0) + 1e-6
    train, test = (torch.from_numpy((one - mean) / spread).float() for one in (learns, tests))
    labels, rng = torch.from_numpy(learned.labels), torch.Generator().manual_seed(SEED)
    model = _Mixed(train.shape[1], train.shape[2], int(labels.max()) + 1)
    nn.init.normal_(model.head.weight, 0.0, 0.01, generator=rng)
    nn.init.zeros_(model.head.bias)
    optimizer = Optimizer(model, weight_decay=1e-2, max_gradient_norm=0.0)
    for _ in range(MIX_STEPS):
        F.cross_entropy(model(train), labels).backward()
        optimizer.step(MIX_RATE)
    with torch.no_grad():
        answers = model(test).argmax(1).numpy()
    hits: np.ndarray = answers == asked.labels
    return hits


class _Mixed(nn.Module):
    """gamma sum_j s_j h_j of layers (E, L + 1, D), and a linear layer over it."""

    def __init__(self, num_layers: int, width: int, num_labels: int) -> None:
        super().__init__()
        self.s, self.gamma = nn.Parameter(torch.zeros(num_layers)), nn.Parameter(torch.ones(1))
        self.head = nn.Linear(width, num_labels)

    def forward(self, layers: Tensor) -> Tensor:
        """Return logits (E, C)."""
        return self.head(self.gamma * torch.einsum("j,ejd->ed", self.s.softmax(0), layers))  # type: ignore[no-any-return]


class _Encoder(nn.Module):
    """A member's network as the mean of a text's states. states: (B, T) ids -> (B, T, D)."""

    def __init__(self, network: nn.Module, states: Callable[[Any, Tensor], Tensor], width: int) -> None:
        super().__init__()
        self.network, self.states, self.width = network, states, width

    def forward(self, ids: Tensor) -> Tensor:
        """Return (B, D)."""
        return self.states(self.network, ids).mean(1)


def encoder_of(member: Member) -> _Encoder | None:
    """Return a copy of a member's network that can be trained further; None: it has no weights to move."""
    if isinstance(member, GPT):
        own = copy.deepcopy(member)
        return _Encoder(
            own, lambda model, ids: model.every(ids[:, -member.length :])[-1], own.config.hidden_size
        )
    if isinstance(member, ELMo):
        width = 2 * member.x.embedding_dim
        return _Encoder(
            copy.deepcopy(member), lambda model, ids: torch.cat([e[-1] for e in model.every(ids)], -1), width
        )
    if isinstance(member, BertMember):
        bert = copy.deepcopy(member.subject.bert)
        most = member.subject.max_length - 2

        def states(model: Any, ids: Tensor) -> Tensor:
            cut = ids[:, :most]
            ends = [torch.full((len(ids), 1), one) for one in (CLS, SEP)]
            return model(torch.cat([ends[0], cut, ends[1]], 1)).last_hidden_state  # type: ignore[no-any-return]

        return _Encoder(bert, states, bert.config.hidden_size)
    if isinstance(member, HasVectors):
        table = nn.Embedding.from_pretrained(torch.tensor(member.vectors()), freeze=False)
        return _Encoder(table, lambda model, ids: model(ids), table.embedding_dim)
    return None


def _fine_tuned_hits(encoder: _Encoder, learned: LabelledTexts, asked: LabelledTexts) -> Steps[np.ndarray]:
    """Move all weights of an encoder and a linear layer over it; return which texts are right then."""
    head = nn.Linear(encoder.width, int(learned.labels.max()) + 1)
    nn.init.normal_(head.weight, 0.0, 0.02, generator=torch.Generator().manual_seed(SEED))
    nn.init.zeros_(head.bias)
    model = nn.Sequential(encoder.requires_grad_(True), head)
    optimizer = Optimizer(model, weight_decay=0.01, max_gradient_norm=1.0, sparse=False)
    steps = [batch for epoch in range(EPOCHS) for batch in batches(learned.words, epoch)]
    for number, rows in enumerate(steps):
        ids = torch.tensor([learned.words[row] for row in rows])
        F.cross_entropy(model(ids), torch.from_numpy(learned.labels[rows])).backward()
        optimizer.step(RATE * (1.0 - number / len(steps)))
        yield Progress(stage=_ASKING, done=number, total=len(steps))
    hits = np.zeros(len(asked.labels), bool)
    with torch.no_grad():
        for rows in batches(asked.words, 0):
            answers = model(torch.tensor([asked.words[row] for row in rows])).argmax(1).numpy()
            hits[rows] = answers == asked.labels[rows]
    return hits


def batches(words: Words, epoch: int) -> Iterator[np.ndarray]:
    """Yield the rows of texts of equal length, so that nothing is padded, in an order drawn by the epoch."""
    rng, lengths = np.random.default_rng([SEED, epoch]), np.array([len(one) for one in words])
    found = []
    for length in np.unique(lengths):
        rows = rng.permutation(np.flatnonzero(lengths == length))
        found += [rows[begin : begin + BATCH] for begin in range(0, len(rows), BATCH)]
    yield from (found[number] for number in rng.permutation(len(found)))
