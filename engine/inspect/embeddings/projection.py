"""Vectors as points on a page: PCA and t-SNE of scikit-learn, reproducible, step by step.

t-SNE is run in parts, each starting where the one before ended, so that it can be stopped between any two.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import UserError, marked
from engine.events import Event, Progress

# E vectors, D hidden_size

Floats = npt.NDArray[np.float32]

METHODS = ("pca", "tsne")
FEW = 1000  # points that one thread arranges as fast as two
MOST_TSNE = 5000  # points; 2,000 take 4 seconds on two cores, 5,000 a quarter of a minute
PERPLEXITY = 30.0
EXAGGERATION = 12.0  # of the first part
PARTS = (250, 500, 500)  # iterations; the first with what lies near drawn together more
START_WIDTH = 1e-4  # standard deviation of the first axis when t-SNE starts, as scikit-learn does itself
PRINCIPAL = 50  # t-SNE measures distances along so many principal axes


@dataclass(frozen=True, eq=False)
class Projection:
    """Points (E, 2) float32, and what must be said of them.

    shares: of the variance, 0..1, that each axis of a PCA shows; none for t-SNE. places: (E,) which vectors
    the points are of, ascending; t-SNE shows at most MOST_TSNE. perplexity: the one used; None for PCA.
    """

    method: str
    points: Floats
    places: npt.NDArray[np.int64]
    shares: tuple[float, float] | None
    perplexity: float | None
    seed: int | None
    divergence: float | None = None  # of Kullback and Leibler, at the end of a t-SNE


def most_perplexity(num_points: int) -> float:
    """Return the largest perplexity for some points: a third of the others, and at least 1."""
    return max(1.0, (num_points - 1) / 3)


def project(
    vectors: Floats, method: str = "pca", *, perplexity: float = PERPLEXITY, seed: int = 1
) -> Generator[Event, None, Projection]:
    """Lay vectors (E, D) out on a plane: a task whose return value is `Projection`.

    Args:   perplexity: about how many neighbours a point of a t-SNE has; bounded by `most_perplexity`. seed:
            of t-SNE; the same vectors and seed give the same points.
    Raises: UserError: fewer than two vectors, or three for t-SNE.
    Source: van der Maaten and Hinton 2008; started from PCA, as Kobak and Berens 2019 advise.
    """
    least = 3 if method == "tsne" else 2
    if len(vectors) < least:
        raise UserError(
            marked("engine", "A map needs at least {least} texts, and there are {count}. Add some."),
            least=least,
            count=len(vectors),
        )
    yield Progress(stage=marked("engine", "Preparing the map"), done=0, total=0)
    if method == "pca":
        return _pca(vectors)
    places = np.arange(len(vectors))
    if len(vectors) > MOST_TSNE:
        places = np.linspace(0, len(vectors) - 1, MOST_TSNE).astype(np.int64)  # evenly: a table may be sorted
    return (yield from _tsne(vectors[places], places, perplexity, seed))


def _pca(vectors: Floats) -> Projection:
    axes, points = _principal(vectors, 2)
    shares = (float(axes[0]), float(axes[1]) if len(axes) > 1 else 0.0)
    if points.shape[1] < 2:
        points = np.concatenate([points, np.zeros_like(points)], axis=1)
    return Projection("pca", points, np.arange(len(points)), shares, None, None)


def _principal(vectors: Floats, count: int) -> tuple[np.ndarray, Floats]:
    """Return the share of variance of each principal axis (count,), and the points on them (E, count)."""
    from sklearn.decomposition import PCA  # slow to import

    count = min(count, *vectors.shape)
    solver = (
        "covariance_eigh" if len(vectors) >= vectors.shape[1] else "full"
    )  # both exact, no chance in them
    fitted = PCA(n_components=count, svd_solver=solver)
    with np.errstate(divide="ignore", invalid="ignore"):  # all vectors alike: nothing varies
        points = fitted.fit_transform(vectors.astype(np.float64))
        shares = np.nan_to_num(fitted.explained_variance_ratio_)
    return shares, np.ascontiguousarray(points, np.float32)


def _tsne(
    vectors: Floats, places: npt.NDArray[np.int64], perplexity: float, seed: int
) -> Generator[Event, None, Projection]:
    _shares, reduced = _principal(vectors, PRINCIPAL)
    used = float(min(max(perplexity, 1.0), most_perplexity(len(vectors))))
    rate = max(len(vectors) / EXAGGERATION / 4, 50.0)
    width = float(reduced[:, 0].std()) or 1.0
    points = np.zeros((len(vectors), 2), np.float32)
    points[:, : reduced.shape[1]] = reduced[:, :2] / width * START_WIDTH
    divergence, total, done = None, sum(PARTS), 0
    for part, iterations in enumerate(PARTS):
        yield Progress(stage=marked("engine", "Arranging the map"), done=done, total=total)
        exaggeration = EXAGGERATION if part == 0 else 1.0
        points, divergence = _arranged(reduced, points, used, rate, exaggeration, iterations, seed)
        done += iterations
    yield Progress(stage=marked("engine", "Arranging the map"), done=done, total=total)
    return Projection("tsne", points, places, None, used, seed, divergence)


def _arranged(
    reduced: Floats,
    points: Floats,
    perplexity: float,
    rate: float,
    exaggeration: float,
    iterations: int,
    seed: int,
) -> tuple[Floats, float]:
    """Return the points after some more iterations, and how far they are from what they should show."""
    from sklearn.manifold import TSNE  # slow to import

    fitted = TSNE(
        perplexity=perplexity,
        early_exaggeration=exaggeration,
        learning_rate=rate,
        max_iter=iterations,
        init=points,
        random_state=seed,
    )
    with _threads(len(points)):
        arranged = fitted.fit_transform(reduced)
    return np.ascontiguousarray(arranged, np.float32), float(fitted.kl_divergence_)


def _threads(count: int) -> AbstractContextManager[Any]:
    """Compute on one thread where points are few, else on two.

    With more than two, sums come in another order each time, and the same seed would not give the same map.
    Of few points two threads mostly wait for one another: a minute and more where others use the cores too.
    """
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1 if count < FEW else 2, user_api="openmp")
    return limits
