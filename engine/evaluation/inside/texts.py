"""The texts of a table that a model is asked about, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import DataError, marked
from engine.events import Noted, Steps
from engine.inspect.loaded_model import LoadedModel
from engine.text.example_rows import Example, ExampleRows
from engine.text.examples import LabelSettings, finding_examples
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Encoding
from engine.train.prepare import check_fit

USUAL_TEXTS = 200  # asked about where nobody says how many


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text or pair as the model reads it, cut where it is too long."""

    example: Example
    encoding: Encoding

    @property
    def label(self) -> int | None:
        """Its place in the model's labels, None where it has none."""
        return self.example.label

    def __len__(self) -> int:
        return len(self.encoding.input_ids)


def finding_texts(
    subject: LoadedModel, table: Table, roles: Roles, limit: int = USUAL_TEXTS
) -> Steps[list[EncodedText]]:
    """Return texts evenly spread over a table, each with a word at least; yields Noted for what is left out.

    Args: roles: with a label, where it matters; its cells have to be labels of the model. limit: 0 for all.
    Raises: DataError: no such column, no row that can be used. ModelError: the model reads no pairs.
    """
    check_fit(subject.config, subject.wordpiece, with_pair=bool(roles.text_pair))
    labels = subject.labels if roles.label else None
    found = yield from finding_examples(
        table, roles if labels else roles.with_columns(label=""), LabelSettings(labels)
    )
    for bad in found.reported:
        yield Noted(sentence=bad.sentence)
    texts = [EncodedText(example, encoding) for example, encoding in _encoded(subject, found.examples, limit)]
    if not texts:
        raise DataError(marked("engine", "No row has a word to look at. Choose another column."))
    return texts


def _encoded(subject: LoadedModel, examples: ExampleRows, limit: int) -> Iterator[tuple[Example, Encoding]]:
    for example in examples.spread_out(limit):
        encoding = subject.wordpiece.encode(example.text, example.text_pair, max_length=subject.max_length)
        if not all(encoding.special_tokens_mask):
            yield example, encoding


def hidden_places(texts: Sequence[EncodedText], share: float, seed: int) -> list[tuple[int, ...]]:
    """Return which tokens of each text are hidden: so large a share, at least one, drawn with a seed."""
    rng, found = np.random.default_rng(seed), []
    for text in texts:
        places = np.flatnonzero(np.array(text.encoding.special_tokens_mask) == 0)
        count = max(1, round(share * len(places)))
        found.append(tuple(sorted(rng.choice(places, count, replace=False).tolist())))
    return found
