"""Looks with random weights, the pictures of them, and where on a picture a colour is."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.plots.attention_image import compose
from app.plots.figure import Figure
from app.plots.heatmap import HeatmapPlot
from engine.inspect.attention.views import MatrixView
from engine.inspect.attention.weights import AttentionMaps
from engine.text.words import words_of
from tests.fakes import tiny_wordpiece


def look_at(
    num_words: int, num_pair: int = 0, *, shape: tuple[int, int] = (3, 5), seed: int = 7
) -> AttentionMaps:
    """Return a look with random weights, each head's own strongest cell clear of the others."""
    wordpiece, rng = tiny_wordpiece(), np.random.default_rng(seed)
    known = [token for token in wordpiece.tokens if token.isalpha()]
    text = " ".join(known[i % len(known)] + "ing" * (i % 4 == 1) for i in range(num_words))
    pair = " ".join(known[(i * 3) % len(known)] for i in range(num_pair)) or None
    encoding = wordpiece.encode(text, pair)
    length = len(encoding.tokens)
    weights = rng.dirichlet(np.full(length, 0.3), size=(*shape, length)).astype(np.float32)
    for layer, head in np.ndindex(*shape):
        row, column = rng.integers(0, length, 2)
        weights[layer, head] *= 0.4 + 0.2 * rng.random()
        weights[layer, head, row] = 0.1 / length
        weights[layer, head, row, column] = 0.65 + 0.3 * rng.random()
    return AttentionMaps(text, pair, encoding, words_of(encoding, text, pair), weights)


def put(qtbot, plot: Figure, width: int = 560, height: int = 480) -> Figure:
    qtbot.addWidget(plot)
    plot.resize(width, height)
    plot.show()
    QApplication.processEvents()
    plot.clearFocus()  # the ring has the accent's colour
    return plot


def heatmap(
    qtbot, shown: MatrixView, width: int = 560, height: int = 480, kind: type = HeatmapPlot
) -> HeatmapPlot:
    plot = put(qtbot, kind("Attention"), width, height)
    plot.set_picture(compose(shown.values, signed=shown.signed), shown)
    return plot


def points_of(image: QImage, color: str, area: QRectF) -> list[QPointF]:
    """Return the middles of the pixels of exactly one colour, in the widget's coordinates."""
    ratio = image.devicePixelRatio()
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    found = np.argwhere(pixels == QColor(color).rgb())
    points = (QPointF((x + 0.5) / ratio, (y + 0.5) / ratio) for y, x in found.tolist())
    return [point for point in points if area.contains(point)]


def plain(values: np.ndarray, labels: list[str] | None = None) -> MatrixView:
    names = tuple(labels or [f"t{i}" for i in range(len(values))])
    places = tuple((i,) for i in range(len(values)))
    return MatrixView(values, names, names, places, places)
