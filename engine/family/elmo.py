"""ELMo: one LSTM reads from the left, one from the right, and a task learns how to mix their layers.

    sum_k log p(t_k | t_1, ..., t_k-1) + log p(t_k | t_k+1, ..., t_N),   with one softmax for both
    ELMo_k = gamma sum_j s_j h_k,j,   h_k,0 = [x_k; x_k],   h_k,j = [h->_k,j; h<-_k,j]

Source: Peters et al. 2018, equations 1 to 3. Words stand in the place of its characters, and their vectors
are the softmax's own; a residual joins the layers, as there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from engine.family.members import SEP, started
from engine.family.windows import last, logs_of_windows
from engine.model.kernels import linear, linear_cross_entropy

# V words, D width of each direction, B rows of T words

READ = 256  # words of a text at most


class ELMo(nn.Module):
    """Args: num_words: V. width: D. layers: L."""

    left = 1  # words before those of a row
    per_word = 2  # predictions: one from each side

    def __init__(self, num_words: int, width: int, layers: int) -> None:
        super().__init__()
        self.x = nn.Embedding(num_words, width)
        self.bias = nn.Parameter(torch.zeros(num_words))
        self.unigram: Tensor
        self.register_buffer("unigram", torch.full((num_words,), 1.0 / num_words))
        self.from_left = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers))
        self.from_right = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers))

    @classmethod
    def new(cls, num_words: int, width: int, layers: int, length: int, seed: int) -> ELMo:
        """Return one with random weights."""
        model, rng = cls(num_words, width, layers), torch.Generator().manual_seed(seed)
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                nn.init.normal_(weight, 0.0, 0.05 if name == "x.weight" else width**-0.5, generator=rng)
            else:
                nn.init.zeros_(weight)
        return model

    def every(self, ids: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return x and the layers of each direction, L + 1 of (B, T, D) each, both in the text's order."""
        x = self.x(ids)
        left, right = [x], [x.flip(1)]
        for states, lstms in ((left, self.from_left), (right, self.from_right)):
            for number, lstm in enumerate(lstms):
                output, _ = lstm(states[-1])
                states.append(output + states[-1] if number else output)
        return left, [states.flip(1) for states in right]

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the summed cross-entropy of both directions in rows of (B, 1 + T), and how many hits."""
        left, right = self.every(ids)
        hidden = torch.cat([left[-1][:, :-1].flatten(0, 1), right[-1][:, 1:].flatten(0, 1)])
        targets = torch.cat([ids[:, 1:].flatten(), ids[:, :-1].flatten()])
        return linear_cross_entropy(hidden, self.x.weight, self.bias, targets)

    @property
    def num_weights(self) -> int:
        return sum(weight.numel() for weight in self.parameters())

    def log_softmax(self, hidden: Tensor) -> Tensor:
        """Return the log of every word's probability. Args: hidden: (..., D) of the last layer."""
        return linear(hidden, self.x.weight, self.bias).log_softmax(-1)

    @torch.inference_mode()
    def after(self, left: Sequence[int]) -> np.ndarray:
        hidden = self.every(last(started(left), READ))[0][-1][0, -1]
        return self.log_softmax(hidden).exp().numpy()

    @torch.inference_mode()
    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        """Return p(w | left) p(w | right) / p(w), made to sum to 1: as if the sides had nothing in common."""
        left, right = self.sides(words, place)
        return (left + right - self.unigram.log()).softmax(-1).numpy()

    @torch.inference_mode()
    def sides(self, words: Sequence[int], place: int) -> tuple[Tensor, Tensor]:
        """Return (V,) log p(w | left) and log p(w | right) at a place, each without the other side."""
        left = self.every(last(started(words[:place]), READ))[0][-1][0, -1]
        right = self.every(torch.tensor([[*words[place + 1 :], SEP][:READ]]))[1][-1][0, 0]
        return self.log_softmax(left), self.log_softmax(right)

    @torch.inference_mode()
    def logs(self, words: np.ndarray) -> np.ndarray:
        return logs_of_windows(words, 128, lambda ids: self.log_softmax(self.every(ids)[0][-1]))

    def vectors(self) -> np.ndarray:
        return self.x.weight.detach().numpy()

    @torch.inference_mode()
    def states(self, words: Sequence[int]) -> np.ndarray:
        left, right = self.every(torch.tensor([[*started(words)[:READ], SEP]]))
        joined = torch.stack([torch.cat([a, b], -1)[0] for a, b in zip(left, right, strict=True)])
        return joined[:, 1:-1].numpy()
