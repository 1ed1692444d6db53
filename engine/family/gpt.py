"""GPT: the blocks of the Transformer, each place of which sees only itself and what stands before it.

    h_0 = U W_e + W_p,   h_l = transformer_block(h_l-1),   P(u) = softmax(h_n W_e^T + b)

These are BERT's own blocks, with the norm after each sum: so had the first GPT, whose logits these are equal
to; GPT-2 moved the norms before attention and feed-forward and put another behind the last block. The bias b
is not in the paper: all networks of a family have one, so that all can begin with the frequencies of words.
Source: Radford et al. 2018, equation 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from engine.family.members import started
from engine.family.windows import last, logs_of_windows
from engine.model.bert import Block, initialize
from engine.model.config import BertConfig
from engine.model.kernels import Noise, linear, linear_cross_entropy

# V words, D width, B rows of T words


class GPT(nn.Module):
    """Args: config: the blocks' shape; n_ctx is its max_position_embeddings."""

    left = 1  # words before those of a row
    per_word = 1  # predictions

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        noise = Noise()
        self.config = config
        self.W_e = nn.Embedding(config.vocab_size, config.hidden_size)
        self.W_p = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.b = nn.Parameter(torch.zeros(config.vocab_size))
        self.layers = nn.ModuleList(Block(config, noise) for _ in range(config.num_hidden_layers))
        length = config.max_position_embeddings
        self.mask: Tensor
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).tril(), persistent=False)

    @classmethod
    def new(cls, num_words: int, width: int, layers: int, length: int, seed: int) -> GPT:
        """Return one with random weights."""
        model = cls(shape(num_words, width, layers, length))
        initialize(model, model.config.initializer_range, seed)
        return model

    def every(self, ids: Tensor) -> list[Tensor]:
        """Return h_0, ..., h_n, (B, T, D) each. Args: ids: (B, T)."""
        length = ids.shape[1]
        states = [self.W_e(ids) + self.W_p.weight[:length]]
        mask = self.mask[:length, :length][None, None]
        for layer in self.layers:
            states.append(layer(states[-1], mask, None, None, False)[0])
        return states

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the summed cross-entropy of the last T words of each row (B, 1 + T), and how many hits."""
        hidden = self.every(ids[:, :-1])[-1].flatten(0, 1)
        return linear_cross_entropy(hidden, self.W_e.weight, self.b, ids[:, 1:].flatten())

    def logits(self, ids: Tensor) -> Tensor:
        """Return the score of every next word, (B, T, V). Args: ids: (B, T)."""
        return linear(self.every(ids)[-1], self.W_e.weight, self.b)

    @property
    def num_weights(self) -> int:
        return sum(weight.numel() for weight in self.parameters())

    @property
    def length(self) -> int:
        """How many words it reads at most."""
        return self.config.max_position_embeddings

    @torch.inference_mode()
    def after(self, left: Sequence[int]) -> np.ndarray:
        hidden = self.every(last(started(left), self.length))[-1][0, -1]
        return linear(hidden, self.W_e.weight, self.b).softmax(-1).numpy()

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        return self.after(words[:place])

    @torch.inference_mode()
    def logs(self, words: np.ndarray) -> np.ndarray:
        return logs_of_windows(words, self.length, lambda ids: self.logits(ids).log_softmax(-1))

    def vectors(self) -> np.ndarray:
        return self.W_e.weight.detach().numpy()

    @torch.inference_mode()
    def states(self, words: Sequence[int]) -> np.ndarray:
        found = torch.cat(self.every(last(started(words), self.length)))
        return found[:, -len(words) :].numpy()


def shape(num_words: int, width: int, layers: int, length: int) -> BertConfig:
    """Return the shape of a GPT: its activation is the approximate GELU, its norms add 1e-5."""
    return BertConfig(
        vocab_size=num_words,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
        hidden_act="gelu_new",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=length,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )
