"""The neural language model: words get vectors, so that what was learned of one word holds for its like.

    x = (C(w_t-1), C(w_t-2), ..., C(w_t-n+1))
    y = b + U tanh(d + H x),   P(w_t = i | w_t-1, ..., w_t-n+1) = exp(y_i) / sum_j exp(y_j)

Source: Bengio et al. 2003, equations 1 and 2. The direct connections W x are left out, as in half of its
experiments. It learns as the rest of the family does: AdamW in the place of plain gradient descent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from engine.family.members import SEP, started
from engine.model.bert import initialize
from engine.model.kernels import Linear, linear, linear_cross_entropy

# V words, m features of a word, h hidden units, B rows of T words to predict

N = 6  # a word and the five before it


class NNLM(nn.Module):
    """Args: num_words: V. m: features of a word. h: hidden units. n: words, the predicted one among them."""

    left = N - 1  # words before those of a row
    per_word = 1  # predictions

    def __init__(self, num_words: int, m: int, h: int, n: int = N) -> None:
        super().__init__()
        self.n = n
        self.C = nn.Embedding(num_words, m)
        self.H = Linear((n - 1) * m, h)  # with its bias d
        self.U = nn.Parameter(torch.zeros(num_words, h))
        self.b = nn.Parameter(torch.zeros(num_words))

    @classmethod
    def new(cls, num_words: int, width: int, layers: int, length: int, seed: int) -> NNLM:
        """Return one with random weights. Args: width: h; a word has half as many features."""
        model = cls(num_words, width // 2, width)
        initialize(model, 0.05, seed)
        nn.init.normal_(model.U, 0.0, 0.05, generator=torch.Generator().manual_seed(seed + 1))
        return model

    def hidden(self, ids: Tensor) -> Tensor:
        """Return tanh(d + H x), (B, T, h). Args: ids: (B, n - 1 + T)."""
        features = self.C(ids[:, :-1])
        count = ids.shape[1] - self.n + 1
        x = torch.cat([features[:, self.n - 1 - back :][:, :count] for back in range(1, self.n)], -1)
        return torch.tanh(self.H(x))

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the summed cross-entropy of the last T words of each row, and how many were guessed."""
        targets = ids[:, self.n - 1 :].flatten()
        return linear_cross_entropy(self.hidden(ids).flatten(0, 1), self.U, self.b, targets)

    @property
    def num_weights(self) -> int:
        return sum(weight.numel() for weight in self.parameters())

    @torch.inference_mode()
    def after(self, left: Sequence[int]) -> np.ndarray:
        context = ([SEP] * self.n + started(left))[-(self.n - 1) :]
        hidden = self.hidden(torch.tensor([[*context, 0]]))[0]
        return linear(hidden, self.U, self.b).softmax(-1)[0].numpy()

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        return self.after(words[:place])

    @torch.inference_mode()
    def logs(self, words: np.ndarray) -> np.ndarray:
        ids = torch.from_numpy(np.concatenate([[SEP] * (self.n - 1), words]))
        found = []
        for begin in range(0, len(words), 1024):
            row = ids[begin : begin + 1024 + self.n - 1]
            scores = linear(self.hidden(row[None])[0], self.U, self.b).log_softmax(-1)
            found.append(scores.gather(1, row[self.n - 1 :, None])[:, 0])
        return torch.cat(found).numpy()

    def vectors(self) -> np.ndarray:
        return self.C.weight.detach().numpy()
