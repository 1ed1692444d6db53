"""Points that only grow, their exponential mean, and the table of several; no Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Series:
    """Points that only grow: amortised numpy buffers, a running mean that is kept up as points come."""

    def __init__(self, smoothing: float = 0.0) -> None:
        self.size = 0
        self._data = np.empty((4, 1024))  # step, value, smoothed, weight in the mean
        self.smoothing = smoothing
        self._sum, self._weight = 0.0, 0.0

    @property
    def steps(self) -> np.ndarray:
        return self._data[0, : self.size]

    @property
    def values(self) -> np.ndarray:
        return self._data[1, : self.size]

    @property
    def smoothed(self) -> np.ndarray:
        return self._data[2, : self.size]

    def append(self, steps: np.ndarray, values: np.ndarray, weights: np.ndarray | float = 1.0) -> None:
        """Add points; their smoothed values follow from the running mean, in which the value of a small
        batch counts as little as it knows.
        """
        end = self.size + len(steps)
        if end > self._data.shape[1]:
            grown = np.empty((4, max(end, 2 * self._data.shape[1])))
            grown[:, : self.size] = self._data[:, : self.size]
            self._data = grown
        self._data[0, self.size : end] = steps
        self._data[1, self.size : end] = values
        self._data[3, self.size : end] = weights
        self._data[2, self.size : end] = self._smooth(values, self._data[3, self.size : end])
        self.size = end

    def set_smoothing(self, smoothing: float) -> None:
        """Smooth everything anew."""
        self.smoothing = smoothing
        self._sum, self._weight = 0.0, 0.0
        self._data[2, : self.size] = self._smooth(self.values, self._data[3, : self.size])

    def nearest(self, step: float) -> int:
        """Return the index of the point nearest to `step`; -1 when there is none. Steps must ascend."""
        if not self.size:
            return -1
        after = int(np.searchsorted(self.steps, step))
        before = max(0, after - 1)
        after = min(after, self.size - 1)
        return before if abs(self.steps[before] - step) <= abs(self.steps[after] - step) else after

    def _smooth(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the exponential mean, free of the pull towards 0 at its start; NaN is passed over."""
        result = np.array(values, dtype=np.float64)
        known = np.isfinite(result)
        result[known] = self._smooth_known(result[known], weights[known])
        return result

    def _smooth_known(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        keep = self.smoothing
        if keep <= 0 or not len(values):
            return values
        block = max(1, min(4096, int(-27 / np.log(keep))))  # keep ** -block stays under 1e12
        powers = keep ** np.arange(1, block + 1)
        result = np.empty_like(values)
        for start in range(0, len(values), block):
            part, weight = values[start : start + block], weights[start : start + block]
            decay = powers[: len(part)]
            sums = decay * (self._sum + np.cumsum(weight * part / decay))
            totals = decay * (self._weight + np.cumsum(weight / decay))
            result[start : start + block] = sums / totals
            self._sum, self._weight = float(sums[-1]), float(totals[-1])
        return result


def table_by_step(
    columns: Sequence[tuple[str, np.ndarray, np.ndarray]], *, as_float: bool = False
) -> list[list[str | float | int]]:
    """Return columns over one another's steps, with a header; "" where a column has no number.

    Args: columns: name, ascending steps and values of each. as_float: whole steps are written as 1.0, too.
    """
    steps = np.unique(np.concatenate([np.zeros(0), *(of for _name, of, _values in columns)]))
    table = np.full((len(steps), len(columns)), np.nan)
    for place, (_name, of, values) in enumerate(columns):
        table[np.searchsorted(steps, of), place] = values
    rows: list[list[str | float | int]] = [["step", *(name for name, _steps, _values in columns)]]
    for step, cells in zip(steps.tolist(), table.tolist(), strict=True):
        written = step if as_float or step != int(step) else int(step)
        rows.append([written, *("" if np.isnan(cell) else cell for cell in cells)])
    return rows
