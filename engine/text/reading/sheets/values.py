"""A cell's value as the text that a person sees there: 1 and no 1.0, an ISO date, TRUE."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_SHORT = 16  # characters, the point among them
_PLAIN_BELOW = 1e21  # from here on digits say less than an exponent


def cell_text(value: Any) -> str:
    """Return a value as text; nothing and NaN are empty, and so are bytes that are no text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, bytes):
        return _decoded(value)
    return json.dumps(value, ensure_ascii=False, default=cell_text)


def number_text(value: float) -> str:
    """Return a number without an exponent; of a fraction the 15 digits that spreadsheets show."""
    if not math.isfinite(value):
        return "" if math.isnan(value) else str(value)
    if abs(value) >= _PLAIN_BELOW:
        return repr(value)
    text = repr(value)
    if len(text) <= _SHORT and "e" not in text:  # as nearly all are
        return text.removesuffix(".0")
    if value == int(value):
        return str(int(Decimal(text)))
    return format(Decimal(f"{value:.15g}"), "f")


def _duration(value: timedelta) -> str:
    """Return hours, which may be more than 24, minutes and seconds."""
    seconds = round(value.total_seconds())
    hours, rest = divmod(abs(seconds), 3600)
    return f"{'-' if seconds < 0 else ''}{hours}:{rest // 60:02}:{rest % 60:02}"


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return ""
