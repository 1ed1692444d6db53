"""Numbers as a page to send writes them: the same digits as the window, in English."""

from __future__ import annotations

import math

from engine.errors import bracketed, marked
from engine.language import said
from engine.train.metrics import rounded

Interval = tuple[float, float] | None
MINUS = "\u2212"
NO_SHARES = ("pearson", "spearman", "r2", "mse", "mae", "loss", "perplexity")  # in the names of metrics


def share(value: float) -> str:
    """Return a share (0 to 1) as per cent: "76.3 %"; "0.0 %" and "100.0 %" only of nothing and of all."""
    if not math.isfinite(value):
        return "–"
    for digits in range(1, 6):
        shown = rounded(100 * value, digits)
        if value in (0, 1) or 0 < shown < 100:
            return f"{shown:.{digits}f} %"
    return f"{100 * value:g} %".replace("-", MINUS)


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
        return _to(share(low).removesuffix(" %"), share(high))
    return _to(decimal(low), decimal(high))


def _to(low: str, high: str) -> str:
    return said(marked("engine", "{low} to {high}"), low=low, high=high)


def points(value: float, interval: Interval = None) -> str:
    """Return a difference of shares in points with its sign: "+37.5 points (28.1 to 45.2)"."""
    shown = said(marked("engine", "{value:+.1f} points"), value=rounded(100 * value, 1))
    if interval is not None:
        low, high = (f"{rounded(100 * end, 1):.1f}" for end in interval)
        shown = bracketed(shown, _to(low, high))
    return shown.replace("-", MINUS)


def above(value: float, interval: Interval, other: str) -> str:
    """Return how far a share lies above another: "9.8 points above TF-IDF (4.6 to 15.0)"."""
    template = marked("engine", "{value:.1f} points below {other}")
    if value >= 0:
        template = marked("engine", "{value:.1f} points above {other}")
    shown = said(template, value=rounded(100 * abs(value), 1), other=other)
    if interval is None:
        return shown
    low, high = sorted(rounded(100 * (end if value >= 0 else -end), 1) for end in interval)
    return bracketed(shown, _to(f"{low:.1f}", f"{high:.1f}").replace("-", MINUS))


def p_value(value: float) -> str:
    """Return how often chance alone gives as much."""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"
