"""How a new model's weights begin: at random, as published, or from what counting already tells.

From random weights, a small BERT spends its first millions of tokens learning how frequent words are, and the
post-norm encoder may stay there: attention that has not found a word's neighbours yet gives no reason to look
at them. The informed start takes nothing but other first values, all of which are trained on as usual:

- the bias of each word is the log of its share of the text, so that frequencies need not be learned;
- words begin as vectors that are alike where their neighbours are (engine/text/neighbours.py);
- positions begin as waves, and some heads' queries and keys as the turn of these waves by one or two places,
  so that they look at the words just before and after; their values pass on what stands there.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.model.attention import Attention
from engine.model.bert import Bert, initialize
from engine.model.heads import PreTraining, start_bias

WORD_LENGTH = 0.8  # of a word's vector: products with a normed hidden state of any width come to a few units
WAVE = 0.035  # of a position's numbers, root mean square; a word's are WORD_LENGTH / sqrt(D), 0.05 for mini
OFFSETS = (-1, 1, -2, 2)  # where the first heads of each layer look
SHARPNESS = 1.6
PASSED_ON = 0.5  # the share of a neighbour's state that is added

# V words, D hidden_size, H heads, d = D / H


def start_weights(model: PreTraining, counts: Tensor, vectors: Tensor | None, seed: int) -> None:
    """Give a new model its first weights; `vectors` None: random ones as published, and no bias.

    Args: counts: (V,), how often each word stands in the text. vectors: (V, D) of length 1, or of zeros
        where a word has none.
    """
    initialize(model, model.config.initializer_range, seed)
    if vectors is None:
        return
    start_head(model, counts)
    with torch.no_grad():
        known = vectors.norm(dim=1) > 0.5
        model.bert.embeddings.word.weight[known] = WORD_LENGTH * vectors[known]
        _look_at_neighbours(model.bert, seed)


def start_head(model: PreTraining, counts: Tensor) -> None:
    """Let a new masked-word head on a trained encoder begin with frequencies, and pass what it is given; a
    decoder of its own begins as the embeddings.

    Args: counts: (V,), how often each word stands in the text.
    """
    start_bias(model, counts)
    with torch.no_grad():
        if model.config.family.has_decoder:
            model.words.copy_(model.bert.embeddings.word.weight)
        elif model.config.embedding_width == model.config.hidden_size:
            model.transform.get_parameter("weight").add_(torch.eye(model.config.hidden_size))


def _look_at_neighbours(bert: Bert, seed: int) -> None:
    """Let the first heads of every layer look at the places before and after."""
    width, heads = bert.config.hidden_size, bert.config.num_attention_heads
    size = width // heads // 2 * 2  # of the waves that heads compare: pairs of sine and cosine
    rates = _rates(width, size)
    places = torch.arange(bert.config.max_position_embeddings, dtype=torch.float64)[:, None] * rates
    waves = torch.stack([places.sin(), places.cos()], -1).flatten(1)  # (positions, 2 x rates)
    bert.embeddings.position.weight[:, : waves.shape[1]] = (math.sqrt(2) * WAVE * waves).float()
    rng = torch.Generator().manual_seed(seed)
    turn, _ = torch.linalg.qr(torch.randn(width, width, generator=rng))
    for number, layer in enumerate(bert.layers):
        attention = layer.attention
        assert isinstance(attention, Attention)
        for head, offset in enumerate(OFFSETS[:heads]):
            part = (head + number) % heads  # each layer passes on another part of the state
            _look_at(attention, head, offset, rates[: size // 2], _rows(turn, part, width // heads))


def _look_at(attention: Attention, head: int, offset: int, rates: Tensor, passed: Tensor) -> None:
    """Let one head look `offset` places on, and pass on the part `passed` (d, D) of what stands there."""
    width = attention.output.weight.shape[0]
    size, waves = width // attention.num_heads, 2 * len(rates)
    query, key, value = (slice(k * width + head * size, k * width + (head + 1) * size) for k in range(3))
    attention.qkv.weight[query] = 0.0
    attention.qkv.weight[key] = 0.0
    attention.qkv.weight[query, :waves][:waves] = SHARPNESS * _turned(rates, offset)
    attention.qkv.weight[key, :waves][:waves] = SHARPNESS * torch.eye(waves)
    attention.qkv.weight[value] = passed
    attention.output.weight[:, head * size : (head + 1) * size] = PASSED_ON * passed.t()


def _rates(width: int, size: int) -> Tensor:
    """Return radians a place, (D / 2,): even ones, by which heads tell one place, then ever longer waves."""
    count = size // 2
    even = (torch.arange(count, dtype=torch.float64) + 0.5) / count * math.pi
    long = torch.exp(
        -torch.arange(width // 2 - count, dtype=torch.float64) / max(1, width // 2 - count) * 9.2
    )
    return torch.cat([even, long])


def _turned(rates: Tensor, offset: int) -> Tensor:
    """Return the matrix that turns waves (sine, cosine) of one place into those `offset` places on."""
    turned = torch.zeros(2 * len(rates), 2 * len(rates))
    for number, angle in enumerate((rates * offset).tolist()):
        sine, cosine = math.sin(angle), math.cos(angle)
        turned[2 * number : 2 * number + 2, 2 * number : 2 * number + 2] = torch.tensor(
            [[cosine, sine], [-sine, cosine]]
        )
    return turned


def _rows(turn: Tensor, part: int, size: int) -> Tensor:
    return turn[part * size : (part + 1) * size]
