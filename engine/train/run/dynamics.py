"""How sure a classifier was of the right label of each row, epoch by epoch, while it learned from it.

The probabilities are those of the training steps themselves, dropout included, so they cost no pass of the
model. They stand in run/dynamics.safetensors, written with each checkpoint; a run that goes on writes the
epochs after it again.

Source: Swayamdipta et al. 2020, Dataset Cartography; Toneva et al. 2019, on rows that are forgotten.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.errors import UserError
from engine.model.tensor_files import load_tensors, save_tensors
from engine.train.underway import Underway

DYNAMICS = "dynamics.safetensors"
MOST_BYTES = 1 << 26  # of a run's; of more rows nothing is kept
_NOT_SEEN = -1

# E rows that are learned from, T epochs


@dataclass(frozen=True, slots=True, eq=False)
class Dynamics:
    """What a run noted of the rows that it learned from.

    sure: (T, E) float16, the probability of the right label, NaN where an epoch has not come to a row.
    right: (T, E) int8, whether the likeliest label was the right one, -1 as before.
    """

    sure: npt.NDArray[np.float16]
    right: npt.NDArray[np.int8]

    @property
    def num_epochs(self) -> int:
        """How many epochs have come to every row."""
        return int((self.right >= 0).all(1).sum()) if self.right.shape[1] else 0


class DynamicsWriter:
    """Takes what each step showed, and writes it. A GPU is not waited for: values are read as they arrive."""

    def __init__(self, path: Path, count: int, num_epochs: int) -> None:
        self._path = path
        found = load_dynamics(path, count)
        if found is None or len(found.sure) != num_epochs:
            found = Dynamics(
                np.full((num_epochs, count), np.nan, np.float16),
                np.full((num_epochs, count), _NOT_SEEN, np.int8),
            )
        self._found = found
        self._underway: deque[tuple[int, np.ndarray, Underway]] = deque()

    def take(self, epoch: int, places: np.ndarray, logits: Tensor, targets: Tensor) -> None:
        """Note a batch. Args: epoch: from 0. places: (B,) of its rows. logits: (B, C). targets: (B,)."""
        if epoch >= len(self._found.sure):
            return
        shares = torch.softmax(logits.detach().float(), -1)
        sure = shares.gather(-1, targets[:, None])[:, 0]
        right = (shares.argmax(-1) == targets).to(sure.dtype)
        self._underway.append((epoch, places, Underway(torch.stack([sure, right]))))
        while self._underway and self._underway[0][2].has_arrived():
            self._settle()

    def save(self) -> None:
        """Write all that was noted. Raises: UserError."""
        while self._underway:
            self._settle()
        save_tensors(
            self._path,
            {"sure": torch.from_numpy(self._found.sure), "right": torch.from_numpy(self._found.right)},
        )

    def _settle(self) -> None:
        epoch, places, values = self._underway.popleft()
        sure, right = values.read().numpy()
        self._found.sure[epoch, places] = sure
        self._found.right[epoch, places] = right


def is_kept(count: int, num_epochs: int) -> bool:
    """Whether so much is noted at all."""
    return 0 < count * num_epochs * 3 <= MOST_BYTES


def load_dynamics(path: Path, count: int) -> Dynamics | None:
    """Return what a run noted of so many rows; None where it noted nothing, or the file is of another run."""
    if not path.is_file():
        return None
    try:
        tensors = load_tensors(path)
        found = Dynamics(tensors["sure"].numpy(), tensors["right"].numpy())
    except (UserError, OSError, KeyError, TypeError, ValueError):
        return None
    shapes = {found.sure.shape, found.right.shape}
    fits = len(shapes) == 1 and found.sure.ndim == 2 and found.sure.shape[1] == count
    return found if fits and found.sure.dtype == np.float16 and found.right.dtype == np.int8 else None
