"""The curves of `bench_labelling`, a band over all seeds: as a table and as a picture.

    python -m benchmarks.labelling_pictures LABELLING.jsonl FOLDER

Without a display, with QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QGridLayout, QVBoxLayout, QWidget

from app.look import theme
from app.look.labels import label
from app.plots.chart import ChartWidget, Legend
from benchmarks.bench_labelling import Line, by_set
from engine.labelling.simulate import ACTIVE, ORDERS

SIZE, ACROSS = (1200, 620), 4
BAND = 5, 95  # percentiles of the seeds
SHADE = 50  # of 255, how dense a band is


@dataclass(frozen=True, eq=False)
class Curve:
    """Accuracy on the texts without a label, by how many have one. labels, middle, low, high: (P,)."""

    labels: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Curve:
        """Return the middle and the band of some simulations."""
        shares = np.array([[share for _, share in line["curve"]] for line in lines])
        low, high = np.percentile(shares, BAND, axis=0)
        labels = np.array([count for count, _ in lines[0]["curve"]])
        return cls(labels, np.median(shares, axis=0), low, high)


def panel(name: str, curves: dict[str, Curve], full: float) -> QWidget:
    """Return the chart of one set. full: the accuracy with all labels."""
    widget = QWidget()
    chart = ChartWidget(widget)
    for place, curve in enumerate(curves.values()):
        color = QColor(theme.category(place))
        middle = chart.add_curve()
        middle.setPen(pg.mkPen(color, width=2))
        middle.setData(curve.labels, curve.middle)
        edges = [pg.PlotDataItem(curve.labels, edge) for edge in (curve.low, curve.high)]
        shade = QColor(color)
        shade.setAlpha(SHADE)
        chart.addItem(pg.FillBetweenItem(*edges, brush=shade))
    most = next(iter(curves.values())).labels[-1]
    whole = chart.add_curve()
    whole.setPen(pg.mkPen(theme.current().muted, width=1, style=pg.QtCore.Qt.PenStyle.DashLine))
    whole.setData(np.array([0, most]), np.array([full, full]))
    layout = QVBoxLayout(widget)
    layout.addWidget(label(name, "card-title"))
    layout.addWidget(chart, 1)
    return widget


def picture(sets: dict[str, tuple[dict[str, Curve], float]]) -> QWidget:
    """Return all charts, and what their colours mean."""
    widget = QWidget(objectName="card")
    widget.setFixedSize(*SIZE)
    grid, legend = QGridLayout(), Legend("labels given", widget)
    for place, (name, (curves, full)) in enumerate(sets.items()):
        grid.addWidget(panel(name, curves, full), place // ACROSS, place % ACROSS)
    names = ["as asked" if order == ACTIVE else "in random order" for order in ORDERS]
    entries = [(name, theme.category(place), "line") for place, name in enumerate(names)]
    legend.set_entries([*entries, ("with all labels", theme.current().muted, "line")])
    layout = QVBoxLayout(widget)
    layout.addWidget(label("Accuracy on the texts without a label: median and 90 % of 20 seeds", "heading"))
    layout.addLayout(grid, 1)
    layout.addWidget(legend)
    return widget


def main() -> int:
    """Write the table, and draw the picture in the light and the dark theme."""
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    folder = Path(sys.argv[2])
    sets = {
        name: (
            {order: Curve.of(some) for order, some in orders.items()},
            float(np.mean([line["full"] for line in orders[ACTIVE]])),
        )
        for (name, _), orders in by_set(lines).items()
    }
    with (folder / "labelling.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["set", "order", "labels", "median", "low", "high"])
        for name, (curves, _) in sets.items():
            for order, curve in curves.items():
                for row in zip(curve.labels, curve.middle, curve.low, curve.high, strict=True):
                    table.writerow([name, order, int(row[0]), *(f"{one:.4f}" for one in row[1:])])
    application = QApplication([])
    for mode in ("light", "dark"):
        theme.apply_theme(application, mode)
        widget = picture(sets)
        widget.show()
        application.processEvents()
        widget.grab().save(str(folder / f"labelling-{mode}.png"))
        widget.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
