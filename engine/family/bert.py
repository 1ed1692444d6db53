"""BERT: every place sees both sides at once, because the word that is asked for is hidden from all of them.

It is the engine's own pretraining, on the family's words; the folder is the published one.
Source: Devlin et al. 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import Tensor

from engine.family.members import CLS, MASK, SEP
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.passes import InputRow, follow_log_odds, layer_states, parts, word_logs

# V words, D width, L layers, N words of a text


@dataclass(frozen=True)
class BertMember:
    """A pretrained BERT as a member of the family."""

    subject: LoadedModel

    @classmethod
    def open(cls, folder: Path) -> BertMember:
        """Return the member in a model folder. Raises: ModelError, also where it has no masked-word head."""
        subject = LoadedModel.open(folder)
        subject.require("masked_words")
        return cls(subject)

    @property
    def num_weights(self) -> int:
        return sum(weight.numel() for weight in self.subject.masked_head().parameters())

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        found: np.ndarray = self.blanks([(words, (place,))])[0][0]
        return found

    def blanks(self, asked: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[np.ndarray]:
        """Return, for each text and the places hidden in it at once, (places, V) probabilities."""
        rows = [self._row(words, places) for words, places in asked]
        found: dict[int, np.ndarray] = {}
        for part in parts(self.subject, rows):
            with looking(self.subject):
                logs = word_logs(self.subject, [rows[number] for number in part])
            counts = [len(rows[number].wanted) for number in part]
            for number, p in zip(part, logs.exp().split(counts), strict=True):
                found[number] = p.cpu().numpy()
        return [found[number] for number in range(len(rows))]

    def _row(self, words: Sequence[int], hidden: Sequence[int]) -> InputRow:
        """Return a text between [CLS] and [SEP], as much of it around the first place as the model reads."""
        room = self.subject.max_length - 2
        first = max(0, min(hidden[0] - room // 2, len(words) - room)) if hidden else 0
        some = [
            MASK if first + number in hidden else word for number, word in enumerate(words[first:][:room])
        ]
        ids = (CLS, *some, SEP)
        return InputRow(
            ids, (0,) * len(ids), tuple(place - first + 1 for place in hidden if place - first < room)
        )

    def vectors(self) -> np.ndarray:
        weight: Tensor = self.subject.bert.embeddings.word.weight
        return weight.detach().cpu().numpy()

    def states(self, words: Sequence[int]) -> np.ndarray:
        row = self._row(words, ())
        row = InputRow(row.ids, row.types, tuple(range(1, len(row.ids) - 1)))
        with looking(self.subject):
            return layer_states(self.subject, row).cpu().numpy()

    def first_states(self, words: Sequence[int]) -> np.ndarray:
        """Return (L + 1, D), what each layer gave for [CLS]."""
        row = self._row(words, ())
        with looking(self.subject):
            return layer_states(self.subject, InputRow(row.ids, row.types, (0,))).cpu().numpy()[:, 0]

    def follows(self, a: Sequence[int], b: Sequence[int]) -> float:
        """Return the probability that B follows A."""
        room = self.subject.max_length - 3
        a, b = a[-(room // 2) :], b[: room - room // 2]
        ids = (CLS, *a, SEP, *b, SEP)
        types = (0,) * (len(a) + 2) + (1,) * (len(b) + 1)
        with looking(self.subject):
            odds = follow_log_odds(self.subject, [InputRow(ids, types)])
        return float(odds.sigmoid()[0])
