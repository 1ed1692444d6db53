"""How fast the family learns: NNLM, ELMo and GPT beside a plain torch loop of the same model, and the n-gram.

The plain loop is what a textbook has: logits of the whole vocabulary, `F.cross_entropy`, `torch.optim.AdamW`,
torch's own linear layers, LSTMs and attention. Both train the same sizes on the same rows, in turns.

    python -m benchmarks.bench_family [--rounds 5] [--words 10000] [--width 128]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import computing, open_device
from engine.family.elmo import ELMo
from engine.family.gpt import GPT
from engine.family.ngram import NGram
from engine.family.nnlm import NNLM
from engine.family.rows import NextWord, StreamRows
from engine.model.config import BertConfig
from engine.model.fastest import fastest
from engine.settings.shared import DeviceConfig
from engine.train.optimizer import Optimizer

LENGTH, TOKENS, STEPS = 64, 1024, 6


class PlainNNLM(nn.Module):
    def __init__(self, num_words: int, width: int) -> None:
        super().__init__()
        self.words, self.hidden = nn.Embedding(num_words, width // 2), nn.Linear(5 * (width // 2), width)
        self.output = nn.Linear(width, num_words)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids).unfold(1, 5, 1)[:, :-1].flatten(2)
        logits = self.output(torch.tanh(self.hidden(x)))
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 5:].flatten())


class PlainELMo(nn.Module):
    def __init__(self, num_words: int, width: int) -> None:
        super().__init__()
        self.words, self.bias = nn.Embedding(num_words, width), nn.Parameter(torch.zeros(num_words))
        self.left = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(2))
        self.right = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        losses = []
        for one, lstms in ((ids, self.left), (ids.flip(1), self.right)):
            x = self.words(one)
            for number, lstm in enumerate(lstms):
                output = lstm(x)[0]
                x = output + x if number else output
            logits = F.linear(x[:, :-1], self.words.weight, self.bias)
            losses.append(F.cross_entropy(logits.flatten(0, 1), one[:, 1:].flatten()))
        return (losses[0] + losses[1]) / 2


class PlainGPT(nn.Module):
    def __init__(self, num_words: int, width: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(num_words, width), nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(
            width, max(1, width // 64), 4 * width, dropout=0.0, activation="gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
        x = self.layers(self.words(ids[:, :-1]) + self.places.weight, mask=mask, is_causal=True)
        logits = F.linear(x, self.words.weight)
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def plain(model: nn.Module) -> Callable[[Tensor], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(ids: Tensor) -> None:
        optimizer.zero_grad()
        model(ids).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def ours(model: nn.Module, per_word: int, kernels: str, precision: torch.dtype) -> Callable[[Tensor], None]:
    optimizer = Optimizer(model, weight_decay=0.01, max_gradient_norm=1.0)
    task = NextWord(per_word)

    def step(ids: Tensor) -> None:
        rows = StreamRows(ids, TOKENS)
        with computing(kernels, precision):
            loss, _ = task.loss(model, rows, task.count([rows]))
        loss.backward()
        optimizer.step(1e-3)

    return step


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=128)
    options = parser.parse_args()
    asked = DeviceConfig(device="cpu", num_threads=torch.get_num_threads(), precision="float32")
    heads = max(1, options.width // 64)
    shape = BertConfig(
        hidden_size=options.width, intermediate_size=4 * options.width, num_attention_heads=heads
    )
    device = fastest(open_device(asked), asked, shape)
    size = (options.words, options.width)
    made = {
        "NNLM": (PlainNNLM(*size), NNLM.new(*size, 2, LENGTH, 0), 5),
        "ELMo": (PlainELMo(*size), ELMo.new(*size, 2, LENGTH, 0), 1),
        "GPT": (PlainGPT(*size), GPT.new(*size, 2, LENGTH, 0), 1),
    }
    print(
        f"{device.describe()}, {device.kernels}; {options.words} words, {options.width} wide; words a second"
    )
    for name, (theirs, own, left) in made.items():
        ids = torch.randint(5, options.words, (TOKENS // LENGTH, LENGTH + left))
        steps = {"plain": plain(theirs), "ours": ours(own, own.per_word, device.kernels, device.precision)}
        speeds: dict[str, list[float]] = {way: [] for way in steps}
        for step in steps.values():
            step(ids)
        for _ in range(options.rounds):
            for way, step in steps.items():
                began = time.perf_counter()
                for _ in range(STEPS):
                    step(ids)
                speeds[way].append(STEPS * TOKENS / (time.perf_counter() - began))
        ratio = statistics.median(b / a for a, b in zip(speeds["plain"], speeds["ours"], strict=True))
        medians = {way: statistics.median(found) for way, found in speeds.items()}
        print(f"{name}: plain {medians['plain']:,.0f}, ours {medians['ours']:,.0f}, {ratio:.2f} times")
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.2, 1_000_000), options.words - 1)
    began = time.perf_counter()
    model = NGram.count(words, options.words)
    counted = time.perf_counter()
    model.logs(words[:200_000])
    print(
        f"n-gram of 5: counts {len(words) / (counted - began):,.0f}, "
        f"scores {200_000 / (time.perf_counter() - counted):,.0f} words a second"
    )


if __name__ == "__main__":
    main()
