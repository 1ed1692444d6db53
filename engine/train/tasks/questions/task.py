"""Where in a window the answer begins and ends: the loss, and the answers that its scores make, measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import Sentence
from engine.events import Evaluated, Steps
from engine.model.heads import on_batch
from engine.text.batch import Batch, EncodedRows
from engine.text.questions.decoding import LONGEST_ANSWER, FoundAnswer, answering
from engine.text.questions.windows import UNKNOWN
from engine.train.answer_scores import AnswerScores, pick_threshold, rule_for, score_answers
from engine.train.run.records import count_of
from engine.train.scored import ANSWER, EXACT, NO, NONE, SHARE, SOME, WORD, YES, MarkColumns, ScoreRows, coded
from engine.train.task import Measures, StepMeans
from engine.train.tasks.questions.details import NEVER_ANSWERS
from engine.train.tasks.questions.kept import QuestionRows
from engine.train.tasks.questions.mistakes import mistakes
from engine.train.tasks.questions.writing import sureness

ENOUGH_TO_WONDER = 10  # questions that are all left without an answer


@dataclass(frozen=True)
class QuestionTask:
    """The first and the last token of an answer, in windows of question and passage.

    with_none: whether it was taught that a passage may hold no answer. longest: pieces of an answer.
    threshold: how much better "there is no answer" has to score than the best answer to be said.
    """

    with_none: bool
    longest: int = LONGEST_ANSWER
    threshold: float = 0.0
    name: ClassVar[str] = "questions"
    metric: ClassVar[str] = "f1"
    keeps_best: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the scores of beginning and of ending at each token, (N, 2), filler left out."""
        return on_batch(model, batch)[: batch.num_tokens]

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (number of windows whose answer is known), (1,)."""
        known = sum(int((part.targets[:, 0] != UNKNOWN).sum()) for part in parts if part.targets is not None)
        return torch.tensor([float(known)], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Mean of the cross-entropies of first and last token, each over its window's tokens, in float32.

        A mean over the step's windows whose answer is known. Tally: (the same, windows of which both tokens
        are the likeliest). Source: the published BertForQuestionAnswering, up to what it computes of padding.
        """
        targets = batch.targets
        assert targets is not None
        scores = in_windows(self.forward(model, batch).float(), batch)
        summed = F.cross_entropy(scores, targets, ignore_index=UNKNOWN, reduction="sum")
        loss = summed / (2 * max(1.0, float(totals[0])))
        hits = (scores.detach().argmax(1) == targets).all(1).sum()
        return loss, torch.stack([loss.detach(), hits.to(loss.dtype)])

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return mean loss and share of windows with the right first and last token."""
        loss, hits = tally.tolist()
        return StepMeans(loss, None, {"exact_spans": hits / max(1.0, float(totals[0]))})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return the scores themselves, (N, 2) float32."""
        return outputs.float()

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Steps[Measures]:
        """Args: answers: (sum of lengths, 2) scores. data: a `QuestionRows` with its questions."""
        assert isinstance(data, QuestionRows)
        questions, asked = data.questions, data.rows[data.window_bounds[:-1]]
        start, end = np.ascontiguousarray(answers.T)
        found = yield from answering(
            data, questions, start, end, with_none=self.with_none, longest=self.longest, kept=1
        )
        rule = rule_for(questions)
        texts = [self.text(one) for one in found]
        scores = score_answers(questions, asked, texts, rule)
        details = {
            "rule": rule,
            "num_examples": len(scores.asked),
            "answered": sum(map(bool, texts)),
            "words": {word: list(figures) for word, figures in scores.by_word().items()},
            "mistakes": (yield from mistakes(self, data, (start, end), found, scores)),
        }
        if self.with_none:
            known = [place for place, row in enumerate(asked) if questions.questions[row].answers is not None]
            picked = pick_threshold(questions, asked[known], [found[place] for place in known], rule)
            # what is no better than 0 on the other half was chance
            value = picked.value if picked.reported > picked.at_zero else 0.0
            details["threshold"] = {
                "used": self.threshold,
                "value": value,
                "chosen": picked.chosen,
                "reported": picked.reported if value else picked.at_zero,
                "at_zero": picked.at_zero,
                "num_chosen": picked.num_chosen,
                "num_reported": picked.num_reported,
            }
        each = partial(self.each, data, asked, found, texts, scores)
        return Measures(_loss(answers, data), scores.summary(), details=details, each=each)

    def each(
        self,
        data: QuestionRows,
        asked: np.ndarray,
        found: Sequence[FoundAnswer],
        texts: Sequence[str],
        scores: AnswerScores,
    ) -> ScoreRows:
        """Return what every question got; one whose answer nobody knows counts nothing.

        Args: asked: (Q,) places in the questions. texts: what is answered. scores: of those that are known.
        """
        own = data.questions.questions
        right = [(own[row].answers or ())[:1] for row in asked.tolist()]
        names, (true, predicted) = coded([one[0].text if one else "" for one in right], texts)
        adds = np.zeros((len(asked), 2))
        adds[np.isin(asked, scores.asked)] = np.stack([scores.f1, np.ones(len(scores.f1))], 1)
        sure = np.array([sureness(one, text) for one, text in zip(found, texts, strict=True)], np.float32)
        marks = MarkColumns.of(_marks(scores, np.flatnonzero(np.isin(asked, scores.asked)).tolist()))
        right_share = adds[:, 0].astype(np.float32)
        return ScoreRows(names, true, predicted, right_share, sure, adds, SHARE, marks=marks)

    def text(self, found: FoundAnswer) -> str:
        """Return what is answered; "" for "there is no answer"."""
        return found.text(self.threshold if self.with_none else None)

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that no question at all is answered."""
        count = count_of(measures.details, "num_examples")
        if count < ENOUGH_TO_WONDER or count_of(measures.details, "answered"):
            return []
        return [(Sentence(NEVER_ANSWERS, {"count": count, "split": split}), "wrong")]


def _marks(scores: AnswerScores, places: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield what questions have in common: their word, whether there is an answer, whether it is exact.

    Args: places: (Q,) of the questions among those that were asked.
    """
    sides = zip(places, scores.words, scores.has_answer.tolist(), scores.exact.tolist(), strict=True)
    for place, word, has_answer, exact in sides:
        yield place, (WORD, word)
        yield place, (ANSWER, SOME if has_answer else NONE)
        yield place, (EXACT, YES if exact else NO)


def in_windows(scores: Tensor, batch: Batch) -> Tensor:
    """Return (B, T, 2), the scores (N, 2) of a packed batch by window, -inf behind the shorter ones."""
    bounds = batch.bounds
    lengths = bounds.offsets[1:] - bounds.offsets[:-1]
    windows = torch.arange(len(bounds), device=scores.device)
    windows = windows.repeat_interleave(lengths.long(), output_size=bounds.num_tokens)
    apart = scores.new_full((len(bounds), bounds.max_length, 2), -torch.inf)
    return apart.index_put((windows, batch.position_ids[: bounds.num_tokens]), scores)


def _loss(answers: np.ndarray, data: EncodedRows) -> float:
    """Return the loss of scores (sum of lengths, 2), a mean over the windows whose answer is known."""
    firsts = data.bounds[:-1]
    highest = np.maximum.reduceat(answers, firsts)
    powers = np.exp(answers - np.repeat(highest, data.lengths, axis=0), dtype=np.float64)
    logs = highest + np.log(np.add.reduceat(powers, firsts))
    known = data.targets[:, 0] != UNKNOWN
    if not known.any():
        return 0.0
    right = np.take_along_axis(answers, firsts[:, None] + data.targets, 0)
    return float((logs - right)[known].mean())
