"""BERT as it is trained in practice: another one, with its own WordPieces, in the place of the family's.

It reads the text itself, not what the family's vocabulary makes of it. It is asked for the family's words, so
that its ranks are among the same words as those of all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import UserError, marked
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.passes import InputRow, check_row, layer_states, word_logs

# V words of the family, L layers, D width


@dataclass(frozen=True)
class PracticeBert:
    """A pretrained BERT that was not trained with the family."""

    subject: LoadedModel

    @classmethod
    def of(cls, subject: LoadedModel) -> PracticeBert:
        """Return it of an open model. Raises: ModelError: it has no masked-word head."""
        subject.require("masked_words")
        return cls(subject)

    @classmethod
    def open(cls, folder: Path) -> PracticeBert:
        """Return it of a model's folder. Raises: ModelError, also where it has no masked-word head."""
        return cls.of(LoadedModel.open(folder))

    def blank(self, text: str, words: Sequence[str]) -> np.ndarray:
        """Return (V,) the probability of each word at the one [MASK] of a text.

        It is among all pieces that the model knows; 0 for a word that is not one piece. Raises: UserError:
        the text is too long.
        """
        wordpiece = self.subject.wordpiece
        ids = wordpiece.encode(wordpiece.with_masks(text)).input_ids
        assert wordpiece.mask_id is not None  # it guesses words
        row = self._row(ids, (ids.index(wordpiece.mask_id),))
        with looking(self.subject):
            p = word_logs(self.subject, [row])[0].exp().cpu().numpy()
        return np.array(
            [
                p[ids[0]] if len(ids) == 1 and wordpiece.as_word(ids.tolist()) == word else 0.0
                for word, ids in zip(words, wordpiece.encode_words(words), strict=True)
            ]
        )

    def states(self, word: str, text: str) -> np.ndarray:
        """Return (L + 1, D), what each layer gives for a word's first place: the mean of its pieces.

        Raises: UserError: the text is too long, or the word is not in it.
        """
        wordpiece = self.subject.wordpiece
        ids = wordpiece.encode(text).input_ids
        within, alone = wordpiece.ids_of_word(word), wordpiece.encode_ids([word])[0].tolist()
        starts = (
            (at, pieces)
            for at in range(len(ids))
            for pieces in (within, alone)
            if ids[at : at + len(pieces)] == pieces
        )
        first, pieces = next(starts, (None, within))
        if first is None:
            raise UserError(marked("engine", "“{word}” is not in “{text}”."), word=word, text=text)
        row = self._row(ids, tuple(range(first, first + len(pieces))))
        with looking(self.subject):
            found: np.ndarray = layer_states(self.subject, row).mean(1).cpu().numpy()
        return found

    def _row(self, ids: Sequence[int], wanted: tuple[int, ...]) -> InputRow:
        return check_row(self.subject, InputRow(tuple(ids), (0,) * len(ids), wanted))


@dataclass(frozen=True, slots=True)
class PracticeTraining:
    """How much a model was trained, by its card. pieces: read, again counted each time. seconds: in all.
    base: the model that it began with, "" for none.
    """

    pieces: int
    seconds: float
    base: str


def training_of(card: Mapping[str, Any]) -> PracticeTraining | None:
    """Return how much a model was trained. Args: card: its cloze.json. None: the card does not say."""
    stages = [one for one in card.get("chain", ()) if one.get("tokens")]
    if not stages:
        return None
    base = str(stages[0].get("from", "") or "")
    return PracticeTraining(
        sum(int(one["tokens"]) for one in stages),
        sum(float(one.get("seconds", 0.0)) for one in stages),
        "" if base.startswith("new:") else base,
    )
