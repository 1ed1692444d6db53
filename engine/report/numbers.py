"""Numbers as a page to send writes them: the same digits as the window."""

from __future__ import annotations

import math

from engine.errors import bracketed, captioned, marked, per_cent, spanned
from engine.language import metric_name, said
from engine.train.metrics import rounded

Interval = tuple[float, float] | None
MINUS = "\u2212"
ABOVE = marked("engine", "{points} points above {other}")
BELOW = marked("engine", "{points} points below {other}")
NO_SHARES = ("pearson", "spearman", "r2", "mse", "mae", "loss", "perplexity")  # in the names of metrics


def metric_title(metric: str) -> str:
    """Return what a metric is called at the beginning of a line: "macro_f1" is "Macro F1"."""
    name = metric_name(metric).replace("_", " ").replace(" f1", " F1")
    return name[:1].upper() + name[1:]


def share(value: float) -> str:
    """Return a share (0 to 1) as per cent: "76.3 %"; "0.0 %" and "100.0 %" only of nothing and of all."""
    if not math.isfinite(value):
        return "–"
    for digits in range(1, 6):
        shown = rounded(100 * value, digits)
        if value in (0, 1) or 0 < shown < 100:
            return per_cent(f"{shown:.{digits}f}")
    return per_cent(f"{100 * value:g}").replace("-", MINUS)


def decimal(value: float, digits: int = 3) -> str:
    """Return a number with so many digits; a dash for none."""
    return f"{rounded(value, digits):.{digits}f}".replace("-", MINUS) if math.isfinite(value) else "–"


def measure(metric: str, value: float) -> str:
    """Return a metric's value: a share as per cent, else with three digits."""
    return share(value) if is_share(metric) else decimal(value)


def is_share(metric: str) -> bool:
    """Whether a metric lies between 0 and 1, and is read as per cent."""
    return not any(part in metric.lower() for part in NO_SHARES)


def between(metric: str, interval: Interval) -> str:
    """Return an interval as it stands beside its value; "" for none."""
    if interval is None:
        return ""
    low, high = interval
    if is_share(metric):
        return spanned(share(low).removesuffix(per_cent("")), share(high))
    return spanned(decimal(low), decimal(high))


def with_interval(value: str, interval: str, *, is_named: bool = True) -> str:
    """Return a value with its interval in brackets: "78.0 % (95 %: 73.0 to 82.3 %)"."""
    if not interval:
        return value
    return bracketed(value, captioned(per_cent("95"), interval) if is_named else interval)


def points(value: float, interval: Interval = None) -> str:
    """Return a difference of shares in points with its sign: "+37.5 points (28.1 to 45.2)"."""
    shown = said(marked("engine", "{points} points"), points=f"{rounded(100 * value, 1):+.1f}")
    if interval is not None:
        shown = bracketed(shown, spanned(*(f"{rounded(100 * end, 1):.1f}" for end in interval)))
    return shown.replace("-", MINUS)


def above(value: float, interval: Interval, other: str) -> str:
    """Return how far a share lies above another: "9.8 points above TF-IDF (4.6 to 15.0)"."""
    template = ABOVE if value >= 0 else BELOW
    shown = said(template, points=f"{rounded(100 * abs(value), 1):.1f}", other=other)
    if interval is None:
        return shown
    ends = sorted(rounded(100 * (end if value >= 0 else -end), 1) for end in interval)
    return bracketed(shown, spanned(*(f"{end:.1f}" for end in ends)).replace("-", MINUS))


def p_value(value: float) -> str:
    """Return how often chance alone gives as much."""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"
