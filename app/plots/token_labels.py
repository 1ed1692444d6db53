"""Tokens as labels of an axis, in any script: flat, tilted, turned, every second or third, or only places.

Chinese, Japanese and Korean stay upright when others are turned: they stack. Right-to-left tokens read right:
each label is a paragraph of its own, and its place does not depend on its direction.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.look import theme
from app.look.direction import paint_text

SIZES = (12, 11, 10, 9)  # px, the largest that fits
GAP = 5.0  # px between a label and the picture
MOST_SKIPPED = 3  # of this many labels one is shown; with more to skip, labels belong to the hover
TILT_ROOM = 1.5  # heights of a line that a tilted label needs from one to the next
SINE = math.sin(math.pi / 4)
LEADING = 1.12  # of stacked characters


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """How an axis is labelled. way: "flat", "tilted", "turned", or "places" (numbers only, tokens by hover).

    every: 1 for each label, 2 for every second. size: of the font, px. depth: how far labels reach from the
    picture, px, GAP included.
    """

    way: str
    every: int
    size: int
    depth: float


def is_upright(text: str) -> bool:
    """Return whether a token is written in a script whose characters stand on their own when it is turned."""
    letters = text.removeprefix("##")
    return bool(letters) and all(unicodedata.east_asian_width(c) in "WF" for c in letters)


def plan_rows(labels: Sequence[str], room: float, most: float) -> LabelPlan:
    """Return how rows are labelled. Args: room: px from row to row. most: px that labels may reach."""
    for size in SIZES:
        if size + 2 <= room:
            return LabelPlan("flat", 1, size, _deepest(labels, size, most))
    every = math.ceil((SIZES[-1] + 2) / max(room, 0.01))
    if every > MOST_SKIPPED:
        return LabelPlan("places", every, 11, QFontMetricsF(theme.ui_font(11)).horizontalAdvance("512") + GAP)
    return LabelPlan("flat", every, SIZES[-1], _deepest(labels, SIZES[-1], most))


def plan_columns(labels: Sequence[str], room: float, most: float) -> LabelPlan:
    """Return how columns are labelled. Args: room: px from column to column. most: px upwards."""
    every = math.ceil((SIZES[-1] + 2) / max(room, 0.01))
    if every > MOST_SKIPPED:  # before any label is measured: 512 of them take milliseconds
        return LabelPlan("places", every, 11, QFontMetricsF(theme.ui_font(11)).height() + GAP)
    for size in SIZES[:2]:
        metrics = QFontMetricsF(theme.ui_font(size))
        if max((metrics.horizontalAdvance(text) for text in labels), default=0.0) + 8 <= room:
            return LabelPlan("flat", 1, size, metrics.height() + GAP)
    stacks = any(is_upright(text) and len(text) > 1 for text in labels)
    for size in SIZES[:2]:
        if not stacks and room >= TILT_ROOM * size:
            depth = min(most, max(_tilted_depth(text, size) for text in labels) + GAP)
            return LabelPlan("tilted", 1, size, depth)
    for size in SIZES:
        if size + 2 <= room:
            return LabelPlan("turned", 1, size, min(most, _turned_depth(labels, size)))
    return LabelPlan("turned", every, SIZES[-1], min(most, _turned_depth(labels, SIZES[-1])))


def nice_places(count: int, room: float, least: float) -> list[int]:
    """Return places on an axis of `count` tokens that are round numbers at least `least` px apart."""
    for step in (10, 20, 50, 100, 200, 500):
        if step * room >= least:
            return list(range(0, count, step))
    return [0]


def overhang(labels: Sequence[str], plan: LabelPlan, room: float) -> float:
    """Return how far tilted labels reach beyond the right edge of the picture."""
    if plan.way != "tilted":
        return 0.0
    count = len(labels)
    reach = (
        min(_tilted_depth(text, plan.size), plan.depth) - (count - i - 0.5) * room
        for i, text in enumerate(labels)
    )
    return max(0.0, *reach) if count else 0.0


def paint_row(painter: QPainter, plan: LabelPlan, text: str, right: float, middle: float) -> None:
    """Paint a row's label, ending GAP before `right`, in the painter's pen."""
    painter.setFont(theme.ui_font(plan.size))
    metrics = QFontMetricsF(painter.font())
    width = plan.depth - GAP
    place = QRectF(right - plan.depth, middle - metrics.height() / 2, width, metrics.height())
    paint_text(painter, place, _absolute("right"), cut(metrics, text, width))


def paint_column(painter: QPainter, plan: LabelPlan, text: str, middle: float, bottom: float) -> None:
    """Paint a column's label above `bottom`, in the painter's pen."""
    painter.setFont(theme.ui_font(plan.size))
    metrics = QFontMetricsF(painter.font())
    height = metrics.height()
    if plan.way == "flat":
        width = metrics.horizontalAdvance(text) + 4
        place = QRectF(middle - width / 2, bottom - GAP - height + 2, width, height)
        paint_text(painter, place, Qt.AlignmentFlag.AlignCenter, text)
    elif is_upright(text):
        _paint_stack(painter, metrics, text, plan, QPointF(middle, bottom - GAP))
    else:
        tilted = plan.way == "tilted"
        length = (plan.depth - GAP) / SINE - height if tilted else plan.depth - GAP
        painter.save()
        painter.translate(middle, bottom - GAP + (1 if tilted else 0))
        painter.rotate(-45 if tilted else -90)
        place = QRectF(0, -height * (0.7 if tilted else 0.5), max(length, 1.0) + 4, height)
        paint_text(painter, place, _absolute("left"), cut(metrics, text, max(length, 1.0) + 3))
        painter.restore()


def cut(metrics: QFontMetricsF, text: str, width: float) -> str:
    """Return a label that fits."""
    if metrics.horizontalAdvance(text) <= width + 1:
        return text
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width + 1)


def _paint_stack(
    painter: QPainter, metrics: QFontMetricsF, text: str, plan: LabelPlan, foot: QPointF
) -> None:
    """Paint characters under each other, the last one at the foot."""
    step = plan.size * LEADING
    parts = (["##"] if text.startswith("##") else []) + list(text.removeprefix("##"))
    most = max(1, int((plan.depth - GAP) / step))
    if len(parts) > most:
        parts = parts[: most - 1] + ["…"] if most > 1 else ["…"]
    for i, part in enumerate(reversed(parts)):
        width = metrics.horizontalAdvance(part) + 2
        place = QRectF(foot.x() - width / 2, foot.y() - (i + 1) * step, width, step)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, part)


def _deepest(labels: Sequence[str], size: int, most: float) -> float:
    metrics = QFontMetricsF(theme.ui_font(size))
    return min(most, max((metrics.horizontalAdvance(text) for text in labels), default=0.0) + GAP + 2)


def _turned_depth(labels: Sequence[str], size: int) -> float:
    metrics = QFontMetricsF(theme.ui_font(size))
    reach = (
        len(text.removeprefix("##")) * size * LEADING + (size if text.startswith("##") else 0)
        if is_upright(text)
        else metrics.horizontalAdvance(text) + 2
        for text in labels
    )
    return max(reach, default=0.0) + GAP


def _tilted_depth(text: str, size: int) -> float:
    metrics = QFontMetricsF(theme.ui_font(size))
    if is_upright(text):
        return size * LEADING
    return (metrics.horizontalAdvance(text) + 4 + metrics.height()) * SINE


def _absolute(side: str) -> Qt.AlignmentFlag:
    sides = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}
    return sides[side] | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
