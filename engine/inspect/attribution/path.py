"""The straight line from a baseline to a text: what a model answers on it, and how steeply that rises.

Only word embeddings are varied; position and segment embeddings stay. Gradients reach the inputs and no
weight, no graph outlives a call, and every weight is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from engine.device import gpu, is_out_of_memory, too_long_for_memory
from engine.errors import UserError, marked
from engine.inspect.attention.weights import free_bytes
from engine.inspect.attribution.target import PROBABILITY, TargetOnText, logits_of, measured
from engine.inspect.loaded_model import LoadedModel, looking
from engine.model.config import BertConfig

# B points of the path that are computed at once, T tokens, D hidden_size

# What stands in the place of every word where the line begins; [CLS], [SEP] and [MASK] stay, so they add
# nothing. [MASK] is what pretraining taught a model to read as a word that is not known. [PAD] is never
# attended to in training, and at zero no word lies, so the answers there can be extreme: a model that gave
# "B follows A" 63 % for [MASK] alone gave it 99 % for [PAD] alone.
MASK, PAD, ZERO = "mask", "pad", "zero"
BASELINES = {
    MASK: marked("engine", "Every word is [MASK]"),
    PAD: marked("engine", "Every word is [PAD]"),
    ZERO: marked("engine", "Every word is zero"),
}
SHARE_OF_FREE = 0.5  # of the memory that is free
TOKENS_AT_ONCE = 512  # more are no faster on a CPU, take more memory, and Stop would have to wait longer


class Path:
    """A line that is walked again and again.

    ends: the measured answer for the baseline and for the text; probabilities: of the answer at both. asked,
    measure, baseline: what it is a line of. num_tokens: T. at_once: how many points go through the model
    together; fewer once memory has run out.

    Raises: UserError: nothing but special tokens; memory does not suffice for even one point.
    """

    def __init__(self, subject: LoadedModel, asked: TargetOnText, measure: str, baseline: str) -> None:
        self._subject, self.asked, self.measure, self.baseline = subject, asked, measure, baseline
        self.num_tokens = len(asked.input_ids)
        wordpiece, device = subject.wordpiece, subject.device
        stays = {wordpiece.cls_id, wordpiece.sep_id, wordpiece.pad_id, wordpiece.mask_id}
        varies = torch.tensor([number not in stays for number in asked.input_ids], device=device)  # (T,)
        if not varies.any():
            raise UserError(marked("engine", "The text holds only special tokens. Add some words."))
        self.at_once = _num_at_once(subject, self.num_tokens)
        table = subject.bert.embeddings.word.weight.detach()
        self._text = table[torch.tensor(asked.input_ids, device=device)]  # (T, D)
        empty = self._empty(table)
        self._start = torch.where(varies[:, None], empty, self._text)
        with looking(subject):
            logits = logits_of(subject, asked, torch.stack([self._start, self._text]))
            ends = measured(logits, asked, measure).tolist()
            shares = measured(logits, replace(asked, against=()), PROBABILITY).tolist()
        self.ends: tuple[float, float] = ends[0], ends[1]
        self.probabilities: tuple[float, float] = shares[0], shares[1]

    def slopes(self, places: np.ndarray) -> np.ndarray | None:
        """Return (B, T) float64, how fast the answer rises with each piece on the way; None without memory.

        Then `at_once` is smaller, and the same places can be tried in parts.

        Args: places: (B,), 0 at the baseline to 1 at the text. Raises: UserError if one is too many.
        """
        try:
            gradient = self._gradient(places)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(places) == 1:
                raise too_long_for_memory(self.num_tokens) from error
            self.at_once = len(places) // 2
            return None
        way = self._text - self._start
        return (gradient * way).double().sum(-1).cpu().numpy()  # type: ignore[no-any-return]

    def products(self) -> np.ndarray:
        """Return (T,) float64: the gradient at the text times its word embeddings. Raises: UserError."""
        try:
            gradient = self._gradient(np.ones(1))[0]
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise too_long_for_memory(self.num_tokens) from error
        return (gradient * self._text).double().sum(-1).cpu().numpy()  # type: ignore[no-any-return]

    def _gradient(self, places: np.ndarray) -> Tensor:
        """Return (B, T, D), of the measured answer by the word embeddings."""
        shares = torch.tensor(places, dtype=torch.float32, device=self._text.device)
        with _inputs_alone(self._subject):
            words = torch.lerp(self._start, self._text, shares[:, None, None]).requires_grad_()
            values = measured(logits_of(self._subject, self.asked, words), self.asked, self.measure)
            return torch.autograd.grad(values.sum(), words)[0]

    def _empty(self, table: Tensor) -> Tensor:
        """Return (D,), what stands in the place of a word. Args: table: (V, D), the word embeddings."""
        if self.baseline == ZERO:
            return torch.zeros_like(table[0])
        wordpiece = self._subject.wordpiece
        number = wordpiece.pad_id if self.baseline == PAD else wordpiece.mask_id
        if number is None:
            raise UserError(marked("engine", "The vocabulary has no [MASK]. Choose another baseline."))
        return table[number]


def bytes_at_once(config: BertConfig, num_tokens: int) -> int:
    """Return the memory that the gradient at one point takes, the model itself left out."""
    kept = (
        14 * config.hidden_size + 2 * config.intermediate_size
    )  # floats of a token in a layer, for the way back
    working = 2 * config.num_attention_heads * num_tokens + 4 * config.intermediate_size
    return 4 * num_tokens * (config.num_hidden_layers * kept + working)


def num_operations(config: BertConfig, num_tokens: int, num_points: int) -> float:
    """Return roughly how many operations the gradients at some points take, for a forecast of time."""
    width, length = config.hidden_size, num_tokens
    weights = width * (4 * width + 2 * config.intermediate_size)  # of a layer
    return 4.0 * num_points * length * config.num_hidden_layers * (weights + 2 * length * width)


def curtis_places(steps: int) -> np.ndarray:
    """Return (steps + 1,), the points of Clenshaw and Curtis on 0 to 1, ascending."""
    return (1 - np.cos(np.pi * np.arange(steps + 1) / steps)) / 2


def curtis_weights(steps: int) -> np.ndarray:
    """Return (steps + 1,), what each point counts; they sum to 1. steps: even.

    Every other point is one of the rule with half the steps, so nothing is computed twice.
    Source: Clenshaw and Curtis 1960, A method for numerical integration on an automatic computer.
    """
    half = np.arange(1, steps // 2 + 1)
    shares = np.where(half < steps // 2, 2.0, 1.0) / (4 * half**2 - 1)
    angles = 2 * np.pi * np.outer(np.arange(steps + 1), half) / steps
    weights: np.ndarray = (1 - np.cos(angles) @ shares) / steps
    weights[[0, -1]] /= 2
    return weights


@contextmanager
def _inputs_alone(subject: LoadedModel) -> Iterator[None]:
    """Let gradients reach the inputs and no weight; never yield to a task's caller inside."""
    whole = subject.language or subject.classifier or subject.bert
    weights = [weight for weight in whole.parameters() if weight.requires_grad]
    try:
        for weight in weights:
            weight.requires_grad_(False)
        with torch.enable_grad(), subject.computing():
            yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


def _num_at_once(subject: LoadedModel, num_tokens: int) -> int:
    """Return how many points go through the model together: as many as are quick and fit in memory."""
    free = free_bytes() if subject.device.type == "cpu" else gpu().mem_get_info()[0]
    wanted = max(1, TOKENS_AT_ONCE // num_tokens)
    if free is None:
        return wanted
    fitting = int(free * SHARE_OF_FREE) // bytes_at_once(subject.config, num_tokens)
    if not fitting:
        raise too_long_for_memory(num_tokens)
    return min(wanted, fitting)
