"""The two pictures of the model card, drawn with the charts of the window.

    python -m benchmarks.starter_pictures MEASURED.json FOLDER

Without a display, with QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.look import theme
from app.look.labels import label
from app.plots.chart import ChartWidget, Legend

SIZE = 720, 300
Points = Sequence[Mapping[str, float]]


def picture(title: str, axis: str, x: str, lines: Mapping[str, Points]) -> QWidget:
    """Return a chart of held-out loss, a line a name. x: the key of the horizontal values."""
    widget = QWidget(objectName="card")
    widget.setFixedSize(*SIZE)
    chart, legend = ChartWidget(widget), Legend(axis, widget)
    entries = []
    for place, (name, points) in enumerate(lines.items()):
        curve, color = chart.add_curve(), theme.category(place)
        curve.setPen(pg.mkPen(color, width=2))
        curve.setData(
            np.array([point[x] for point in points]),
            np.array([point["loss"] for point in points]),
            symbol="o",
            symbolSize=5,
            symbolBrush=color,
            symbolPen=None,
        )
        entries.append((name, color, "line"))
    legend.set_entries(entries)
    layout = QVBoxLayout(widget)
    layout.addWidget(label(title, "heading"))
    layout.addWidget(chart, 1)
    layout.addWidget(legend)
    return widget


def main() -> int:
    """Draw both pictures, in the light and the dark theme."""
    measured, folder = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])
    application = QApplication([])
    for mode in ("light", "dark"):
        theme.apply_theme(application, mode)
        drawn = {
            "curves": picture(
                "Masked-word loss on text kept apart", "million tokens", "million_tokens", measured["curves"]
            ),
            "beside": picture(
                "Masked-word loss on articles kept apart", "minutes", "minutes", measured["beside"]
            ),
        }
        for name, widget in drawn.items():
            widget.show()
            application.processEvents()
            widget.grab().save(str(folder / f"{name}-{mode}.png"))
            widget.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
