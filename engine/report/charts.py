"""The figures that a report draws itself, as SVG in the page's own colours: dots with intervals, a matrix of
counts, curves.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.language import said, spoken
from engine.report.blocks import Drawing, Mark
from engine.report.drawing import printable
from engine.report.numbers import MINUS

WIDTH, ROW, TOP = 640, 26, 8
NAMES, VALUES = 230, 70  # px of the names at the left and the values at the right
CELL = 44
MOST_NAME = 36  # letters
LETTER = 7.2  # px, about
SMALL_LETTER = 6.2


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval on the scale of several. kind: "a" (this model), "second" or "other"."""

    name: str
    value: float
    interval: tuple[float, float] | None
    shown: str
    said: str
    kind: str = "a"


def dots(title: str, rows: Sequence[Dot], unit: str = "%", scale: float = 100.0) -> Drawing:
    """Return values with their intervals on one scale, which is cut to where they lie."""
    ends = [end for row in rows for end in (row.value, *(row.interval or ()))]
    ticks = ticks_of(min(ends), max(ends))
    low, high = ticks[0], ticks[-1]
    left, right = NAMES, WIDTH - VALUES
    bottom = TOP + ROW * len(rows)

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    parts = []
    for tick in ticks:
        x = place(tick)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        said = f"{tick * scale:g}".replace("-", MINUS) + (f" {unit}" if unit and tick == ticks[-1] else "")
        parts.append(_text(x, bottom + 16, said, "soft", "middle", 12))
    marks = []
    for number, row in enumerate(rows):
        y = TOP + ROW * (number + 0.5)
        parts.append(_text(0, y + 4, _short(row.name), "ink", "start"))
        parts.append(_text(WIDTH, y + 4, row.shown, "ink", "end"))
        if row.interval is not None:
            x1, x2 = map(place, row.interval)
            parts.append(
                f'<path class="{row.kind} line" d="M{x1:.1f} {y - 5:.1f}V{y + 5:.1f}M{x1:.1f} {y:.1f}'
                f'H{x2:.1f}M{x2:.1f} {y - 5:.1f}V{y + 5:.1f}"/>'
            )
        parts.append(f'<circle class="{row.kind}" cx="{place(row.value):.1f}" cy="{y:.1f}" r="4.5"/>')
        marks.append(Mark(0, TOP + ROW * number, WIDTH, ROW, row.said))
    return Drawing(_svg(WIDTH, bottom + 24, parts), title, marks=marks)


def matrix(title: str, names: Sequence[str], counts: npt.NDArray[np.int64]) -> Drawing:
    """Return a confusion matrix: a row for each true label, a column for each predicted one."""
    size = len(names)
    left = 16 + LETTER * min(MOST_NAME, max(map(len, names)))
    top, most = 40, max(1, int(counts.max()))
    parts = [_text(left, 14, spoken(marked("engine", "predicted")), "soft", "start", 12)]
    marks = []
    for column, name in enumerate(names):
        middle = left + CELL * (column + 0.5)
        parts.append(_text(middle, 32, _short(name, 5 if size > 2 else 6), "ink", "middle", 12))
    for row, name in enumerate(names):
        y = top + CELL * row
        parts.append(_text(0, y + CELL / 2 + 4, _short(name), "ink", "start"))
        for column in range(size):
            count, x = int(counts[row, column]), left + CELL * column
            kind = "cell" if row == column else "cell error"
            strength = 0.06 + 0.6 * count / most if count else 0.0
            parts.append(
                f'<rect class="{kind}" x="{x + 1:.1f}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" '
                f'rx="4" fill-opacity="{strength:.3f}"/>'
            )
            parts.append(_text(x + CELL / 2, y + CELL / 2 + 4, f"{count:,}", "ink", "middle"))
            template = marked("engine", "true {true}, predicted {predicted}: {count:,}")
            about = said(template, true=name, predicted=names[column], count=count)
            marks.append(Mark(x, y, CELL, CELL, about))
    return Drawing(_svg(left + CELL * size + 4, top + CELL * size + 4, parts), title, marks=marks)


@dataclass(frozen=True, slots=True)
class Line:
    """A curve. kind: "a", "second" or "other"; its points answer to the pointer where they are few."""

    name: str
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    kind: str = "a"
    has_dots: bool = False


def curves(title: str, lines: Sequence[Line], x_name: str, y_name: str) -> Drawing:
    """Return curves over steps."""
    height, left, bottom = 240, 56, 200
    right = WIDTH - 12
    x_ticks = ticks_of(min(line.x.min() for line in lines), max(line.x.max() for line in lines))
    y_ticks = ticks_of(min(line.y.min() for line in lines), max(line.y.max() for line in lines))

    def at(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        across = left + (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]) * (right - left)
        down = bottom - (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (bottom - 24)
        return np.stack([across, down], 1)

    parts = [
        _text(left, 14, y_name, "soft", "start", 12),
        _text(right, height - 4, x_name, "soft", "end", 12),
    ]
    for tick in y_ticks:
        y = float(at(np.array([x_ticks[0]]), np.array([tick]))[0, 1])
        parts.append(f'<line class="axis" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 8, y + 4, f"{tick:g}".replace("-", MINUS), "soft", "end", 12))
    for tick in x_ticks:
        x = float(at(np.array([tick]), np.array([y_ticks[0]]))[0, 0])
        parts.append(_text(x, bottom + 17, f"{tick:g}".replace("-", MINUS), "soft", "middle", 12))
    marks, x_name_at = [], right
    for line in reversed(lines):
        places = at(line.x, line.y)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<path class="{line.kind} line" d="M{path}"/>')
        if line.has_dots:
            parts += [f'<circle class="{line.kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        parts.append(_text(x_name_at, 14, line.name, "ink", "end", 12))
        x_name_at -= round(SMALL_LETTER * len(line.name)) + 20
        kind = f'<rect class="{line.kind}" x="{x_name_at}" y="8" width="12" height="4"/>'
        parts.append(kind)
        step = max(1, len(places) // 200)
        marks += [
            Mark(float(x) - 4, float(y) - 6, 8, 12, f"{x_name} {now:g}\n{line.name} {value:.4g}")
            for (x, y), now, value in list(zip(places, line.x, line.y, strict=True))[::step]
        ]
        x_name_at -= 14
    return Drawing(_svg(WIDTH, height, parts), title, marks=marks)


def ticks_of(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values that enclose a range, evenly spaced."""
    span = (high - low) or abs(high) or 1.0
    raw = span / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, kind: str, anchor: str, size: int = 13) -> str:
    said = html.escape(printable(text))
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text class="{kind}" {place}>{said}</text>'


def _short(name: str, most: int = MOST_NAME) -> str:
    plain = " ".join(name.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"
