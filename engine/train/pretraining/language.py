"""What pretraining asks: which words were hidden, whether B follows A, what a teacher makes of the text.

Source: Devlin et al. 2019, section 3.1. The loss is the mean over the hidden words of a step plus the mean
over its pairs, as in google-research/bert's run_pretraining.py, plus the weighted distance from a teacher.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import Device, is_out_of_memory, release, too_long_for_memory
from engine.errors import marked
from engine.events import Event, Progress
from engine.model.heads import PreTraining, PreTrainingOutput
from engine.model.kernels import ROW_MULTIPLE
from engine.text.corpus.instances import MaskedBatch
from engine.train.pretraining.teacher import Teacher
from engine.train.ranks import ALONE, Ranks
from engine.train.task import Measures, StepMeans


@dataclass(frozen=True)
class LanguageModel:
    """Masked words, next sentences where `next_sentence`, and a teacher's reading where there is one.

    Measuring leaves the teacher out, so that runs with and without one can be compared.
    """

    next_sentence: bool
    teacher: Teacher | None = None
    labels: tuple[str, ...] = ()
    name: ClassVar[str] = "pretraining"
    metric: ClassVar[str] = "mlm_accuracy"
    keeps_best: ClassVar[bool] = False  # the rate comes to rest at the end: the last weights are the result

    def count(self, parts: Sequence[MaskedBatch]) -> Tensor:
        """Return (hidden words, pairs), and with a teacher (shown words, examples)."""
        words = sum(len(part.targets) for part in parts)
        pairs = sum(0 if part.is_random is None else len(part.is_random) for part in parts)
        taught = () if self.teacher is None else self.teacher.count(parts)
        return torch.tensor([words, pairs, *taught], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: MaskedBatch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Return a part's share of the loss; tally: (loss, masked-word loss, hits, pair loss, hits), sums.

        With a teacher the tally ends with the part's share of the distance from it.
        """
        inner: Any = getattr(model, "module", model)  # under DistributedDataParallel
        out: PreTrainingOutput = model(
            batch.input_ids,
            batch.token_type_ids,
            position_ids=batch.position_ids,
            bounds=batch.bounds,
            masked=batch.masked,
            output_hidden_states=self.teacher is not None,
        )
        summed, hits = inner.masked_loss(out.hidden, batch.targets)
        loss = summed / max(1.0, float(totals[0]))
        nothing = torch.zeros((), device=loss.device)
        tally = [summed.detach(), hits.to(loss.dtype), nothing, nothing]
        if self.next_sentence and batch.is_random is not None:
            logits = out.next_sentence.float()
            pair_loss = F.cross_entropy(logits, batch.is_random, reduction="sum")
            right = (logits.detach().argmax(-1) == batch.is_random).sum()
            loss = loss + pair_loss / max(1.0, float(totals[1]))
            tally[2:] = [pair_loss.detach(), right.to(loss.dtype)]
        if self.teacher is not None:
            assert out.states is not None
            apart = self.teacher.distance(out.states, batch, *totals[2:].tolist())
            loss = loss + self.teacher.weight * apart
            tally.append(apart.detach())
        return loss, torch.stack([loss.detach(), *tally])

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return the mean losses and shares of right guesses."""
        loss, mlm, hits, nsp, right, *apart = tally.tolist()
        words, pairs = max(1.0, float(totals[0])), float(totals[1])
        measures = {"mlm_loss": mlm / words}
        if pairs:
            measures |= {"nsp_loss": nsp / pairs, "nsp_accuracy": right / pairs}
        if apart:
            measures["teacher_distance"] = apart[0]
        return StepMeans(loss, hits / words, measures)

    def evaluate(
        self, model: PreTraining, batches: Sequence[MaskedBatch], device: Device, ranks: Ranks = ALONE
    ) -> Generator[Event, None, Measures]:
        """Measure on batches whose masks are fixed, dropout off, as it was before at every yield.

        Args: ranks: the processes that have the same model and batches; each takes its share of them.
        """
        alone = replace(self, teacher=None)
        totals = alone.count(batches)
        tally = torch.zeros(5, dtype=torch.float64)
        own = batches[ranks.rank :: ranks.world_size]
        for done, batch in enumerate(own):
            yield Progress(stage=marked("engine", "Evaluating"), done=done, total=len(own))
            tally += alone._tallied(model, batch, totals, device)
        read = alone.read(ranks.total(tally), totals)
        mlm = read.measures["mlm_loss"]
        metrics = {
            "mlm_loss": mlm,
            "perplexity": math.exp(min(mlm, 700.0)),
            "mlm_accuracy": float(read.accuracy or 0.0),
            **{name: value for name, value in read.measures.items() if name.startswith("nsp")},
        }
        return Measures(read.loss, metrics)

    def _tallied(self, model: PreTraining, batch: MaskedBatch, totals: Tensor, device: Device) -> Tensor:
        """Return the tally of a batch: together or, where memory does not suffice, half by half."""
        num_examples = len(batch.bounds)
        if num_examples == 1 or batch.num_tokens <= device.micro_batch_tokens:  # training may have halved it
            try:
                return self._tally(model, batch, totals, device)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if num_examples == 1:
                    raise too_long_for_memory(batch.num_tokens) from error
            release(device.device)
        first, second = batch.halves(ROW_MULTIPLE)
        tally = self._tallied(model, first, totals, device)
        return tally + self._tallied(model, second, totals, device)

    def _tally(self, model: PreTraining, batch: MaskedBatch, totals: Tensor, device: Device) -> Tensor:
        was_training = model.training
        model.eval()
        try:
            with torch.inference_mode(), device.autocast():
                _, tally = self.loss(model, batch.to(device.device), totals)
                return tally.cpu().double()
        finally:
            model.train(was_training)
