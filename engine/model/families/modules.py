"""Modules that some families have in the place of BERT's.

V words, P positions, S segments, E width of the embeddings, D hidden_size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

from torch import Tensor, nn

from engine.model.families.shape import Shape
from engine.model.kernels import Dropout, Linear, Noise, low_where_asked


class ProjectedEmbeddings(nn.Module):
    """Token + position + segment embedding of a width of their own, summed, normed, projected to the layers'.

    Source: Lan et al. 2020, section 3.1 (ALBERT); Clark et al. 2020, section 3.2 (ELECTRA's small models).
    """

    def __init__(self, config: Shape, noise: Noise) -> None:
        super().__init__()
        width = config.embedding_width
        self.word = nn.Embedding(config.vocab_size, width)
        self.position = nn.Embedding(config.max_position_embeddings, width)
        self.token_type = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)
        self.projection = Linear(width, config.hidden_size)

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., E), looked up already. Returns: (..., D)."""
        summed = words + self.token_type(token_type_ids) + self.position(position_ids)
        return self.projection(self.dropout(low_where_asked(self.norm(summed))))  # type: ignore[no-any-return]


class SharedLayers(nn.Module):
    """One block that is every layer: its weights are there once, under the number 0."""

    def __init__(self, block: nn.Module, count: int) -> None:
        super().__init__()
        self.add_module("0", block)
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[nn.Module]:
        return iter(self[:])

    @overload
    def __getitem__(self, place: int) -> nn.Module: ...
    @overload
    def __getitem__(self, place: slice) -> list[nn.Module]: ...
    def __getitem__(self, place: int | slice) -> nn.Module | list[nn.Module]:
        return ([self.get_submodule("0")] * self._count)[place]


class WordEmbeddings(nn.Module):
    """The words' vectors, normed. Their places come with attention; what text they are of is not told."""

    def __init__(self, config: Shape, norm: nn.LayerNorm, dropout: Dropout) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocab_size, config.hidden_size)
        self.norm = norm
        self.dropout = dropout

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., D), looked up already. Returns: (..., D)."""
        return self.dropout(low_where_asked(self.norm(words)))  # type: ignore[no-any-return]
