"""What each head does, in one number a head: how spread, how far, and at what it looks.

Every measure is a mean over the words' rows: the rows of special tokens, which rest on [SEP] in most heads,
are left out. A measure that a text cannot have (A to B, of a single text) is left out of its dictionary.
Source: Clark et al. 2019, section 3, what they measure; Kovaleva et al. 2019, the patterns.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event, Noted, Progress
from engine.inspect.attention.views import token_groups
from engine.inspect.attention.weights import (
    AttentionMaps,
    Floats,
    embedded,
    explained_memory,
    layers_of,
    read_only,
)
from engine.inspect.loaded_model import LoadedModel, looking
from engine.text.example_rows import Example
from engine.text.examples import finding_examples
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Encoding
from engine.train.metrics import student_interval
from engine.train.prepare import check_fit

# L layers, H heads, T tokens

_PATTERNS = ("previous", "next", "self", "cls", "sep", "across")
_TINY = np.finfo(np.float32).tiny  # below, a logarithm is none; such a share adds nothing


@dataclass(frozen=True, slots=True)
class Measure:
    """What a measure is called and what it says. is_share: 0 to 1, of the attention; else `unit`."""

    name: str
    label: str
    help: str
    unit: str = ""

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the attention, to be shown in per cent."""
        return not self.unit


# name -> Measure, in the order in which they are offered
MEASURES: Mapping[str, Measure] = {
    one.name: one
    for one in (
        Measure(
            "entropy",
            marked("engine", "Spread"),
            marked(
                "engine", "Entropy of where it looks: 0 for one token alone, higher when spread more evenly."
            ),
            marked("engine", "bits"),
        ),
        Measure(
            "distance",
            marked("engine", "Distance"),
            marked("engine", "How many tokens away it looks, on average."),
            marked("engine", "tokens"),
        ),
        Measure(
            "previous",
            marked("engine", "Previous token"),
            marked("engine", "The share on the token before."),
        ),
        Measure(
            "next",
            marked("engine", "Next token"),
            marked("engine", "The share on the token after."),
        ),
        Measure("self", marked("engine", "Itself"), marked("engine", "The share on the token itself.")),
        Measure(
            "same",
            marked("engine", "Same word"),
            marked("engine", "The share on the same word elsewhere in the text."),
        ),
        Measure("cls", "[CLS]", marked("engine", "The share on [CLS].")),
        Measure(
            "sep",
            "[SEP]",
            marked("engine", "The share on [SEP], where heads look that find nothing to do."),
        ),
        Measure(
            "a_to_b", marked("engine", "A to B"), marked("engine", "For words of A: the share on words of B.")
        ),
        Measure(
            "b_to_a", marked("engine", "B to A"), marked("engine", "For words of B: the share on words of A.")
        ),
        Measure(
            "across",
            marked("engine", "Between A and B"),
            marked("engine", "For all words: the share on words of the other text."),
        ),
    )
}


@dataclass(frozen=True, eq=False)
class HeadTable:
    """Measures over many texts.

    values: name -> (L, H), the mean over the words of all texts: each text counts by its words, so that it
    does not matter how a table is cut into rows. spread: name -> (L, H), the standard deviation over the
    texts, weighted alike. num_texts: read. num_cut: of those, longer than the model reads, and cut.
    """

    values: Mapping[str, Floats]
    spread: Mapping[str, Floats]
    num_texts: int
    num_cut: int

    def half_interval(self, name: str) -> Floats:
        """Return (L, H): so far to either side of a mean its 95 % interval goes, over texts; NaN for one."""
        if self.num_texts < 2:
            return np.full_like(self.spread[name], np.nan)
        width = student_interval(0.0, 1.0, self.num_texts)[1]
        return np.asarray(self.spread[name] * width / np.sqrt(self.num_texts - 1))


def measure(seen: AttentionMaps) -> dict[str, Floats]:
    """Return each measure's value for each head, name -> (L, H). Its names are keys of MEASURES."""
    groups = token_groups(seen.encoding)
    same = _same_elsewhere(seen.encoding, groups)
    layers = [_measured(maps, groups, same) for maps in seen.attentions]
    return {
        name: read_only(np.stack([found[name] for found in layers]))
        for name in MEASURES
        if _num_queries(groups)[name]
    }


def ranked(values: Floats, *, ascending: bool = False) -> tuple[tuple[int, int], ...]:
    """Return (layer, head) of all heads by a measure, the largest first. Args: values: (L, H)."""
    keys = values.ravel() if ascending else -values.ravel()
    layers, heads = np.unravel_index(np.argsort(keys, kind="stable"), values.shape)
    return tuple(zip(layers.tolist(), heads.tolist(), strict=True))


def patterns(values: Mapping[str, Floats], share: float = 0.5) -> tuple[tuple[str, ...], ...]:
    """Return for each layer and head the measure's name that most of its attention goes to, "" for none.

    Args: values: from `measure`. share: how much of the attention that has to be; of previous, next, self,
          cls, sep, across.
    """
    names = [name for name in _PATTERNS if name in values]
    stacked = np.stack([values[name] for name in names])  # (names, L, H)
    best = np.where(stacked.max(0) >= share, stacked.argmax(0), -1)
    return tuple(tuple("" if place < 0 else names[place] for place in row) for row in best.tolist())


def over_table(
    subject: LoadedModel, table: Table, roles: Roles, limit: int = 200
) -> Generator[Event, None, HeadTable]:
    """Measure the heads over a table's texts; yields Progress and Noted, its return value is the measures.

    One text at a time and one layer at a time, so memory does not grow with either. Texts longer than the
    model reads are cut.

    Args:   roles: text, and text_pair if the model reads pairs; the label is not needed. limit: rows at most,
            evenly spread over the table; 0 for all.
    Raises: DataError: no row has a text. ModelError: the model reads no pairs. UserError: no row has a word;
            too little memory.
    """
    check_fit(subject.config, subject.wordpiece, with_pair=bool(roles.text_pair))
    found = yield from finding_examples(table, roles.with_columns(label=""))
    for bad in found.reported:
        yield Noted(sentence=bad.sentence)
    examples = found.examples.spread_out(limit)
    shape = (3, subject.config.num_hidden_layers, subject.config.num_attention_heads)
    sums = {name: np.zeros(shape) for name in MEASURES}  # of weights, weighted values, weighted squares
    num_cut = 0
    for done, example in enumerate(examples):
        yield Progress(stage=marked("engine", "Measuring heads"), done=done, total=len(examples))
        num_cut += _add(subject, example, sums)
    yield Progress(stage=marked("engine", "Measuring heads"), done=len(examples), total=len(examples))
    sums = {name: total for name, total in sums.items() if total[0].any()}
    if not sums:  # characters alone that cleaning removes
        raise UserError(marked("engine", "No row has a word to look from. Choose another column."))
    means = {name: total[1] / total[0] for name, total in sums.items()}
    spread = {
        name: np.sqrt(np.maximum(total[2] / total[0] - means[name] ** 2, 0)) for name, total in sums.items()
    }
    return HeadTable(
        values={name: read_only(mean.astype(np.float32)) for name, mean in means.items()},
        spread={name: read_only(deviation.astype(np.float32)) for name, deviation in spread.items()},
        num_texts=len(examples),
        num_cut=num_cut,
    )


def _add(subject: LoadedModel, example: Example, sums: Mapping[str, np.ndarray]) -> bool:
    """Measure one text and add it to the sums; return whether it was cut."""
    encoding = subject.wordpiece.encode(example.text, example.text_pair, max_length=subject.max_length)
    groups = token_groups(encoding)
    weights, same = _num_queries(groups), _same_elsewhere(encoding, groups)
    with explained_memory(len(encoding.input_ids)), looking(subject):
        layers = layers_of(subject.bert, embedded(subject.bert, encoding), None)
        found = [_measured(maps[0].cpu().numpy(), groups, same) for maps, _ in layers]
    for name, weight in weights.items():
        if weight:
            values = np.stack([layer[name] for layer in found]).astype(np.float64)
            sums[name] += weight * np.stack([np.ones_like(values), values, values**2])
    return encoding.num_cut > 0


def _num_queries(groups: Floats) -> dict[str, int]:
    """Return how many rows each measure is the mean of. Args: groups: (T, 4), of `token_groups`."""
    num_a, num_b = (int(count) for count in groups[:, :2].sum(0))
    numbers = dict.fromkeys(MEASURES, num_a + num_b)
    both = bool(num_a and num_b)
    numbers.update(a_to_b=num_a * both, b_to_a=num_b * both, across=(num_a + num_b) * both)
    return numbers


def _same_elsewhere(encoding: Encoding, groups: Floats) -> Floats:
    """Return (T, T), 1 where another place holds the same piece of a word."""
    ids, is_word = np.array(encoding.input_ids), groups[:, 0] + groups[:, 1] > 0
    same = (ids[:, None] == ids) & is_word & ~np.eye(len(ids), dtype=bool)
    return np.asarray(same, np.float32)


def _measured(maps: Floats, groups: Floats, same: Floats) -> dict[str, Floats]:
    """Return each measure of one layer's heads, name -> (H,).

    Args: maps: (H, T, T). groups: (T, 4). same: (T, T), of `_same_elsewhere`.
    """
    in_a, in_b = np.flatnonzero(groups[:, 0]), np.flatnonzero(groups[:, 1])
    words = np.concatenate([in_a, in_b])
    away = np.abs(np.subtract.outer(words, np.arange(len(groups)))).astype(np.float32)  # (words, T)
    found = {name: np.zeros(len(maps), np.float32) for name in MEASURES}
    if not len(words):
        return found
    for head, weights in enumerate(maps):  # one at a time stays in the cache
        rows = weights[words]
        values = {
            "entropy": -np.vdot(rows, np.log2(np.maximum(rows, _TINY))) / len(words),
            "distance": np.vdot(rows, away) / len(words),
            "previous": weights[words, words - 1].mean(),
            "next": weights[words, words + 1].mean(),
            "self": weights[words, words].mean(),
            "same": np.vdot(rows, same[words]) / len(words),
        }
        to = weights @ groups  # (T, 4)
        values["cls"], values["sep"] = to[words, 2].mean(), to[words, 3].mean()
        if len(in_a) and len(in_b):
            across = to[in_a, 1].sum(), to[in_b, 0].sum()
            values["a_to_b"], values["b_to_a"] = across[0] / len(in_a), across[1] / len(in_b)
            values["across"] = sum(across) / len(words)
        for name, value in values.items():
            found[name][head] = value
    return found
