"""The same texts on two maps beside each other, such as before and after a training: same colours,
same rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import named
from app.plots.figure import Figure, Numbers
from app.plots.marks import Coloring
from app.plots.scatter import ScatterPlot


class TwoMaps(Figure):
    """Two maps of one list of texts: a text that is pointed to, or chosen, on one is so on the other."""

    chosen = Signal(int)  # a text, -1 for none
    wanted_size = (720, 400)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        self.maps = (ScatterPlot(), ScatterPlot())
        super().__init__(title, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the maps have it
        self.titles = (label("", "strong"), label("", "strong"))
        self._sides = tuple(QWidget(self) for _ in self.maps)
        for side, name, plot, place in zip(self._sides, self.titles, self.maps, "ab", strict=True):
            named(plot, f"two_maps_{place}")
            name.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column(name, (plot, 1), gap=4, parent=side)
            side.hide()
        row(*((side, 1) for side in self._sides), gap=10, parent=self)
        for one, other in (self.maps, self.maps[::-1]):
            one.hovered.connect(other.point_to)
            one.chosen.connect(self._chosen)

    def set_maps(
        self,
        titles: tuple[str, str],
        points: tuple[np.ndarray, np.ndarray],
        texts: Sequence[str],
        coloring: Coloring | None,
        axes: tuple[tuple[str, str], tuple[str, str]],
    ) -> None:
        """Show two maps. Args: points: (E, 2) each. coloring: of the E texts. axes: below and beside each."""
        for plot, name, said, at, axis in zip(self.maps, self.titles, titles, points, axes, strict=True):
            name.setText(said)
            plot.set_title(said)
            plot.set_points(at, texts)
            plot.set_coloring(coloring)
            plot.set_axes(*axis)
        for side in self._sides:
            side.setVisible(not self.is_empty)
        self.update()

    def set_coloring(self, coloring: Coloring | None) -> None:
        """Colour the texts by a column, or all alike."""
        for plot in self.maps:
            plot.set_coloring(coloring)

    def clear(self) -> None:
        """Show nothing."""
        nothing = np.zeros((0, 2))
        self.set_maps(("", ""), (nothing, nothing), (), None, (("", ""), ("", "")))

    @property
    def is_empty(self) -> bool:
        return self.maps[0].is_empty

    def numbers(self) -> Numbers:
        """Return x and y on either map, the colour's value, and the text of each."""
        first, second = (plot.numbers() for plot in self.maps)
        before, after = (name.text() for name in self.titles)
        head = [f"x, {before}", f"y, {before}", f"x, {after}", f"y, {after}", *map(str, first[0][2:])]
        rows: Numbers = [list(head)]
        rows += [[*one[:2], *other[:2], *one[2:]] for one, other in zip(first[1:], second[1:], strict=True)]
        return rows

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        for plot in self.maps:
            plot.set_saving(saving)

    def _chosen(self, place: int) -> None:
        for plot in self.maps:
            plot.set_chosen(place)
        self.chosen.emit(place)
