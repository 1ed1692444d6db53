"""From attention weights to levels of colour, and from levels to pixels. Plain numpy, for the worker.

A level is 0 to 255: 0 the card's own background, 255 the strongest weight and nothing else (weights are cut
down to a level, never rounded up). Signed values have the background at 128. Levels know no colours and no
size, so the theme and the size of the window can change without a new question to the worker. Shrinking keeps
the strongest of the cells that fall together, so that no peak is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

# R rows, C columns of a picture; L layers, H heads; r, c rows and columns of a tile

MIDDLE = 128  # the level of zero in a signed picture
STEPS = 2001  # points at which a ramp's lightness is looked up


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Levels (R, C) uint8, read-only; low and high are the values at the ends of the scale."""

    levels: np.ndarray
    low: float
    high: float
    is_signed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MosaicPicture:
    """Levels (L, H, r, c) uint8, read-only.

    strongest: (L, H), the largest weight of each head. high: (L, H), the value of the last level in its tile.
    """

    levels: np.ndarray
    strongest: np.ndarray
    high: np.ndarray
    is_shared: bool  # one scale for all tiles


def compose(values: np.ndarray, *, top: float | None = None, signed: bool = False) -> Picture:
    """Return the picture of a matrix.

    Args: values: (R, C) weights, 0 or more; any sign when `signed`. What is not a number counts as 0.
        top: the value of the strongest colour, and of all above it; the largest in `values` when None.
    """
    values = np.nan_to_num(np.asarray(values, dtype=np.float32), nan=0.0)
    if top is None:
        top = float(np.abs(values).max(initial=0.0)) if signed else float(values.max(initial=0.0))
    levels = _levels(values, top, signed)
    levels.flags.writeable = False
    return Picture(levels, -top if signed else 0.0, top, signed)


def compose_mosaic(tiles: np.ndarray, *, is_shared: bool = True) -> MosaicPicture:
    """Return the picture of all heads.

    Args: tiles: (L, H, r, c) weights, max-pooled (`engine.inspect.attention.views.tile_maxima`).
        is_shared: one scale for all, so that strong heads look strong; else each head by its own strongest.
    """
    tiles = np.nan_to_num(np.asarray(tiles, dtype=np.float32), nan=0.0)
    num_layers, num_heads = tiles.shape[:2]
    strongest = tiles.reshape(num_layers, num_heads, -1).max(axis=2, initial=0.0)
    high = np.full_like(strongest, strongest.max(initial=0.0)) if is_shared else strongest
    levels = _levels(tiles, high[:, :, None, None], is_signed=False)
    levels.flags.writeable = False
    return MosaicPicture(levels, strongest, high, is_shared)


def shrink(levels: np.ndarray, height: int, width: int, *, is_signed: bool = False) -> np.ndarray:
    """Return (..., R, C) levels as (..., height, width) at most; a pixel shows its strongest cell.

    Pixel y stands for the rows from y * R // height on; what is already small enough is returned as it is.
    """
    rows, columns = levels.shape[-2:]
    height, width = min(max(1, height), rows), min(max(1, width), columns)
    if (height, width) == (rows, columns):
        return levels
    highest = _pooled(np.maximum, levels, height, width)
    if not is_signed:
        return highest
    lowest = _pooled(np.minimum, levels, height, width)
    return np.where(highest.astype(np.int16) - MIDDLE >= MIDDLE - lowest.astype(np.int16), highest, lowest)


def cells_of(pixel: int, num_pixels: int, num_cells: int) -> range:
    """Return the rows (or columns) that one pixel of a shrunken picture stands for."""
    start = pixel * num_cells // num_pixels
    return range(start, max(start + 1, (pixel + 1) * num_cells // num_pixels))


def colored(levels: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Return levels of any shape as uint32 pixels 0xffRRGGBB, which Qt paints without converting them."""
    return np.ascontiguousarray(colors[levels])


@lru_cache(maxsize=8)
def ramp(card: str, accent: str, below: str = "") -> np.ndarray:
    """Return 256 colours as uint32 0xffRRGGBB, in even steps of lightness, read-only.

    Args: card, accent: "#rrggbb", the ends. below: the colour of the lowest negative value; with it the
        card's colour lies in the middle.
    Source: straight lines in Oklab (Ottosson 2020), which keep their hue; steps even in CIE 1976 L*.
    """
    if below:
        shares = np.clip(np.arange(256) - MIDDLE, -127, 127) / 127
        colors = np.where(
            (shares >= 0)[:, None], _even(card, accent, shares), _even(card, below, np.abs(shares))
        )
    else:
        colors = _even(card, accent, np.arange(256) / 255)
    red, green, blue = np.round(colors * 255).astype(np.uint32).T
    result = np.uint32(0xFF000000) | (red << 16) | (green << 8) | blue
    result.flags.writeable = False
    return np.asarray(result)


def lightness(colors: np.ndarray) -> np.ndarray:
    """Return CIE 1976 L* (0 to 100) of sRGB colours (N, 3), 0 to 1 each. Source: IEC 61966-2-1, CIE 15."""
    y = _linear(colors) @ np.array([0.2126, 0.7152, 0.0722])
    return np.asarray(np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, y * (29 / 3) ** 3))


def _levels(values: np.ndarray, top: float | np.ndarray, is_signed: bool) -> np.ndarray:
    span = 127 if is_signed else 255
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(top > 0, values / top, np.float32(0))
    # a float32 share of 1 is exactly 1, so the strongest alone reaches the last level
    steps = np.trunc(np.clip(shares, -1 if is_signed else 0, 1) * span)
    return np.asarray(steps + MIDDLE if is_signed else steps, dtype=np.uint8)


def _pooled(pick: np.ufunc, levels: np.ndarray, height: int, width: int) -> np.ndarray:
    rows, columns = levels.shape[-2:]
    if height < rows:
        levels = pick.reduceat(levels, np.arange(height) * rows // height, axis=-2)
    if width < columns:  # turned, because a step along the last axis takes ten times as long
        turned = np.ascontiguousarray(levels.swapaxes(-1, -2))
        turned = pick.reduceat(turned, np.arange(width) * columns // width, axis=-2)
        levels = np.ascontiguousarray(turned.swapaxes(-1, -2))
    return levels


def _even(start: str, end: str, shares: np.ndarray) -> np.ndarray:
    """Return sRGB (N, 3) at these shares of the way, measured in lightness."""
    ends = _oklab(_linear(np.array([_parse(start), _parse(end)])))
    way = np.linspace(0, 1, STEPS)[:, None]
    path = _encoded(_linear_of(ends[0] + (ends[1] - ends[0]) * way))
    path[0], path[-1] = _parse(start), _parse(end)
    light = lightness(path)
    reached = (light - light[0]) / (light[-1] - light[0])
    return np.stack([np.interp(shares, reached, path[:, i]) for i in range(3)], axis=1)


def _parse(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _linear(colors: np.ndarray) -> np.ndarray:
    return np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)


def _encoded(linear: np.ndarray) -> np.ndarray:
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(linear: np.ndarray) -> np.ndarray:
    return np.asarray(np.cbrt(linear @ _CONES.T) @ _LAB.T)


def _linear_of(inspector: np.ndarray) -> np.ndarray:
    return np.asarray((inspector @ np.linalg.inv(_LAB).T) ** 3 @ np.linalg.inv(_CONES).T)
