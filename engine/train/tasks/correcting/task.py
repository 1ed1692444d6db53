"""At each piece of a text the one that belongs there: cross-entropy over all places, most of which are right.

Some of the right pieces are masked in training, so that their places are read from around them, not copied.

Source: Zhang et al. 2020 fine-tune BERT so, as the baseline of Soft-Masked BERT; MacBERT4CSC adds a loss of
detection. The masks: Wu et al. 2023, Rethinking Masked Language Modeling for Chinese Spelling Correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import Sentence
from engine.events import Beat, Evaluated, Steps
from engine.model.heads import MaskedWords, on_batch
from engine.text.batch import Batch, EncodedRows
from engine.text.tokenizer import Tokenizer
from engine.train.run.records import count_of
from engine.train.scored import ERROR, F1, MarkColumns, ScoreRows, coded
from engine.train.task import Measures, StepMeans
from engine.train.tasks.correcting.answers import (
    OF_RIGHT,
    PROBABILITY,
    CorrectedText,
    answered_pieces,
    said,
    spelled,
)
from engine.train.tasks.correcting.details import (
    NEVER_CHANGES,
    error_counts,
    kind_of,
    wrong_texts,
)
from engine.train.tasks.correcting.kept import CorrectedRows
from engine.train.tasks.correcting.scores import CorrectionScores, score_corrections
from engine.train.tasks.rows.reading import PREDICTION

CHANGES, PROBABILITY_COLUMN = "changes", "probability"
UNCHANGED = "–"
_ROWS_AT_ONCE = 1024  # whose scores of all words exist at a time


@dataclass(frozen=True)
class Correction:
    """The piece that belongs in each place of a text. wordpiece: whose pieces they are. masked_share: of the
    right ones, that the model may not see in training.

    A decoded answer is (A, 3): the likeliest piece, its probability, that of the right one.
    """

    wordpiece: Tokenizer
    masked_share: float = 0.0
    labels: tuple[str, ...] = ()
    name: ClassVar[str] = MaskedWords.task
    metric: ClassVar[str] = "correction_f1"
    keeps_best: ClassVar[bool] = True

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return (M, 3) float32, what is kept of the scores of all words at each asked piece."""
        targets, chosen = batch.targets, batch.chosen
        assert targets is not None and chosen is not None
        if not len(chosen):  # texts without a piece
            return torch.zeros((0, 3), device=chosen.device)
        found = on_batch(model, batch, chosen)
        inner: Any = getattr(model, "module", model)  # under DistributedDataParallel
        scores = (
            inner.logits if isinstance(inner, MaskedWords) else nn.Identity()
        )  # what stands in gives them
        kept = [
            _of_scores(scores(some).float(), right)
            for some, right in zip(found.split(_ROWS_AT_ONCE), targets.split(_ROWS_AT_ONCE), strict=True)
        ]
        return torch.cat(kept)

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (number of asked pieces,)."""
        count = sum(0 if part.targets is None else len(part.targets) for part in parts)
        return torch.tensor([count], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy, a mean over the step's pieces. Tally: (the same,)."""
        inner: Any = getattr(model, "module", model)  # under DistributedDataParallel
        batch = self.masked(batch)
        summed, _ = inner.masked_loss(on_batch(model, batch, batch.chosen), batch.targets)
        loss = summed / max(1.0, float(totals[0]))
        return loss, loss.detach()[None]

    def masked(self, batch: Batch) -> Batch:
        """Return a batch some of whose right pieces are masked, drawn by the step's own seed.

        As it is where frozen layers have read it already, or the vocabulary has no mask.
        """
        chosen, mask_id = batch.chosen, self.wordpiece.mask_id
        if not self.masked_share or chosen is None or mask_id is None or batch.states is not None:
            return batch
        own = batch.input_ids.index_select(0, chosen)
        drawn = torch.rand(len(chosen), device=chosen.device) < self.masked_share
        shown = torch.where(drawn & (own == batch.targets), mask_id, own)
        return replace(batch, input_ids=batch.input_ids.index_copy(0, chosen, shown))

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return the mean loss."""
        return StepMeans(float(tally[0]), None, {})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return them as they are."""
        return outputs

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Steps[Measures]:
        """Args: answers: (A, 3). details: num_examples, num_wrong (texts with an error), num_places,
        intervals, errors, texts.
        """
        assert isinstance(data, CorrectedRows)
        own, right = (one[data.asked].astype(np.int64) for one in (data.input_ids, data.targets))
        predicted = answered_pieces(own, answers, self.wordpiece)
        yield Beat()
        scores = score_corrections(own, right, predicted, data.firsts)
        intervals = scores.intervals()
        yield Beat()
        found = answers[:, OF_RIGHT].astype(float)[right != self.wordpiece.unk_id]
        loss = float(-np.log(np.maximum(found, np.finfo(np.float32).tiny)).mean()) if len(found) else 0.0
        details = {
            "num_examples": data.num_rows,
            "num_wrong": int(scores.has_error.sum()),
            "num_places": len(own),
            "intervals": {name: list(ends) for name, ends in intervals.items()},
            "errors": error_counts(own, right, predicted),
            "texts": wrong_texts(own, right, predicted, data, self.wordpiece),
        }
        yield Beat()
        each = partial(self.each, scores, own, right, predicted, answers[:, PROBABILITY], data)
        return Measures(loss, scores.metrics(), details=details, each=each)

    def each(
        self,
        scores: CorrectionScores,
        own: np.ndarray,
        right: np.ndarray,
        predicted: np.ndarray,
        sure: np.ndarray,
        data: CorrectedRows,
    ) -> ScoreRows:
        """Return what every text got: the changes that are right, and those that are made.

        Args: own, right, predicted: (A,) pieces. sure: (A,) their probabilities.
        """
        sides = tuple(self._said(own, one, data) for one in (right, predicted))
        names, (true, found) = coded(*sides)
        padded = np.append(sure.astype(np.float32), np.float32(1))
        least = np.minimum.reduceat(padded, data.firsts[:-1]) if data.num_rows else padded[:0]
        least = np.where(np.diff(data.firsts) > 0, least, np.float32(1)).astype(np.float32)
        marks = MarkColumns.of(self._marks(own, right, predicted, data.firsts))
        hits = scores.corrected.astype(np.float32)
        return ScoreRows(names, true, found, hits, least, scores.of_correction, F1, marks=marks)

    def _said(self, own: np.ndarray, pieces: np.ndarray, data: CorrectedRows) -> list[str]:
        """Return the changes of each text in a line."""
        made = np.flatnonzero(pieces != own)
        texts = np.searchsorted(data.firsts, made, "right") - 1
        found: list[list[tuple[int, str, str]]] = [[] for _ in range(data.num_rows)]
        for place, text in zip(made.tolist(), texts.tolist(), strict=True):
            old = self.wordpiece.spelled([int(own[place])]).strip()
            new = spelled([int(pieces[place])], "", self.wordpiece)
            found[text].append((place - int(data.firsts[text]) + 1, old, new))
        return [said(one) for one in found]

    def _marks(
        self, own: np.ndarray, right: np.ndarray, predicted: np.ndarray, firsts: np.ndarray
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the kinds of errors in each text."""
        off = np.flatnonzero(predicted != right)
        texts = np.searchsorted(firsts, off, "right") - 1
        for place, text in zip(off.tolist(), texts.tolist(), strict=True):
            yield text, (ERROR, kind_of(int(own[place]), int(right[place]), int(predicted[place])))

    def columns(self) -> list[str]:
        """Return the columns that predicting adds: the corrected text, its changes, and the probability of
        the least sure of them.
        """
        return [PREDICTION, CHANGES, PROBABILITY_COLUMN]

    def predictions(self, answers: np.ndarray) -> np.ndarray:
        """Return (E,), the changes in a line, UNCHANGED where there are none; a file has the whole texts.

        Args: answers: (E,) `CorrectedText`, as objects.
        """
        found = np.empty(len(answers), object)
        found[:] = [_changes_of(one) or UNCHANGED for one in answers]
        return found

    def others(self, answers: np.ndarray) -> list[list[str]]:
        """Return the changes, and how sure the least sure one is; both are empty where nothing is changed."""
        sure = [f"{each.sure:.6f}" if each.changes else "" for each in answers]
        return [list(map(_changes_of, answers)), sure]

    def said(self, answer: CorrectedText) -> dict[str, Any]:
        """Return a text as it is corrected, and its changes."""
        return answer.document()

    def needs_no_guard(self) -> bool:
        """They are texts of strangers."""
        return False

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that nothing is changed, though there are errors."""
        wrong = count_of(measures.details, "num_wrong")
        if not wrong or measures.metrics.get("place_detection_precision") or _changes(measures):
            return []
        return [(Sentence(NEVER_CHANGES, {"split": split, "count": wrong}), "wrong")]


def _changes_of(answer: CorrectedText) -> str:
    """Return the changes of a text in a line, by character."""
    return said([(one.start + 1, one.old, one.new) for one in answer.changes])


def _changes(measures: Measures | Evaluated) -> bool:
    """Whether anything is changed that was right or becomes wrong."""
    errors = measures.details.get("errors")
    return isinstance(errors, dict) and any(count_of(errors, kind) for kind in ("other", "needless"))


def _of_scores(logits: Tensor, targets: Tensor) -> Tensor:
    """Return (M, 3) of the scores (M, V): the best word, its probability, that of the right one."""
    shares = logits.softmax(-1)
    best, words = shares.max(-1)
    right = shares.gather(-1, targets.clamp(min=0)[:, None]).squeeze(-1)
    return torch.stack([words.to(shares.dtype), best, right], -1)
