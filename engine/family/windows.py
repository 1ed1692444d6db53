"""A long text for a model that reads a few words at a time: windows that overlap by half.

Each word is scored once, after at least half a window of words, as far as there are any.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from engine.family.members import SEP

_AT_ONCE = 16  # windows


def last(words: Sequence[int], length: int) -> Tensor:
    """Return the last words of a text that fit, (1, T)."""
    return torch.tensor([list(words)[-length:]])


def logs_of_windows(words: np.ndarray, length: int, log_softmax: Callable[[Tensor], Tensor]) -> np.ndarray:
    """Return (N,) the log-probability of each word after those before it.

    Args: log_softmax: (B, T) ids -> (B, T, V), at each place of the word that comes next.
    """
    half, words = max(1, length // 2), words.astype(np.int64)
    read = np.concatenate([[SEP], words])  # read[t] stands before words[t]
    by_length = defaultdict[int, list[tuple[int, int, int]]](list)
    for begin in range(0, len(words), half):
        end, first = min(begin + half, len(words)), max(0, begin - (length - half))
        by_length[end - first].append((first, begin, end))
    found = np.empty(len(words))
    for alike in by_length.values():
        for number in range(0, len(alike), _AT_ONCE):
            some = alike[number : number + _AT_ONCE]
            scores = log_softmax(torch.from_numpy(np.stack([read[first:end] for first, _, end in some])))
            for row, (_, begin, end) in zip(scores, some, strict=True):
                targets = torch.from_numpy(words[begin:end, None])
                found[begin:end] = row[begin - end :].gather(1, targets)[:, 0].numpy()
    return found
