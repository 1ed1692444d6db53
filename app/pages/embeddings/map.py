"""The map of all texts, and below it those that are most like the one that was clicked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QSplitter, QWidget

from app import words
from app.look.labels import label
from app.look.layout import column
from app.look.rows_model import RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import Card, named
from app.pages.embeddings.requests import Neighbours, TextMap, Vectors
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.marks import Coloring
from app.plots.scatter import ScatterPlot

LONGEST_CELL = 400
LEAST_RINGS = 3
WIDEST_VALUE = 170  # px
MOST_HEIGHT = 16_777_215  # Qt's own: no limit


class NeighboursModel(RowsModel):
    """Similarity, the value that colours, and the text of each neighbour."""

    def show(self, found: Neighbours | None, column: str) -> None:
        """Show some neighbours. Args: column: whose value stands beside them; "" for none."""

        def cosine(row: int) -> str:
            return "" if found is None else words.decimal(float(found.cosines[row]), 3)

        def value(row: int) -> str:
            return "" if found is None else found.vectors.columns[column][int(found.places[row])]

        def text(row: int) -> str:
            return "" if found is None else found.vectors.texts[int(found.places[row])]

        beside = [TableColumn(column, value)] if column else []
        texts = text_column(self.tr("Text"), text, longest=LONGEST_CELL, longest_tip=LONGEST_CELL)
        count = 0 if found is None else len(found.places)
        self.put([TableColumn(self.tr("Similarity"), cosine), *beside, texts], range(count))


class MapCard(Card):
    """Emits `asked` for the neighbours of a point; -1 when none is wanted any more."""

    asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Map"))
        self._mapped: TextMap | None = None
        self._found: Neighbours | None = None
        self._column = ""
        self.plot = named(ScatterPlot(self.tr("Map of texts")), "embeddings_map")
        yield_to_layout(self.plot, 120)
        self.heading = label("", "muted", wrap=True, name="embeddings_neighbours_of")
        self.table = named(TableView(), "embeddings_neighbours", self.tr("Nearest neighbours"))
        self.model = NeighboursModel(self)
        self.table.setModel(self.model)
        self.table.choose_rows()
        self.below = QWidget()
        column(self.heading, (self.table, 1), gap=4, margins=(0, 6, 0, 0), parent=self.below)
        self.splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False, handleWidth=6)
        self.splitter.addWidget(self.plot)
        self.splitter.addWidget(self.below)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setSizes([330, 190])
        self.add(self.splitter, 1)
        self.add_corner(save_icon(self.plot))
        self.plot.chosen.connect(self._chosen)
        self.table.activated.connect(self._activated)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self._show_neighbours()

    @property
    def vectors(self) -> Vectors | None:
        """The vectors that the points are of."""
        return self._mapped.vectors if self._mapped is not None else None

    @property
    def chosen_place(self) -> int:
        """Which of the texts is chosen; -1 for none."""
        return self._place(self.plot.chosen_point)

    def show_map(self, mapped: TextMap, coloring: Coloring | None, column: str) -> None:
        """Show points; a chosen text stays chosen while the texts are the same."""
        projected, vectors = mapped.projected, mapped.vectors
        same = self._mapped is not None and self._mapped.vectors.source is vectors.source
        kept = self.chosen_place if same else -1
        self._mapped = mapped
        texts = [vectors.texts[place] for place in projected.places.tolist()]
        details = [self._detail(vectors, place) for place in projected.places.tolist()]
        self.plot.set_points(projected.points, texts, details=details)
        self.set_coloring(vectors, coloring, column)
        self._name_axes(mapped)
        if not same:
            self.show_neighbours(None)
        self.plot.set_chosen(self._point(kept))

    def set_coloring(self, vectors: Vectors, coloring: Coloring | None, column: str) -> None:
        """Colour the points of some vectors, where they are shown."""
        if self._mapped is None or self._mapped.vectors is not vectors:
            return
        self._column = column
        self.plot.set_coloring(None if coloring is None else coloring.at(self._mapped.projected.places))
        self._show_neighbours()

    def show_neighbours(self, found: Neighbours | None) -> None:
        """Show the texts most like one."""
        self._found = found
        if found is None:
            self.plot.set_chosen(-1)
        else:
            most = max(LEAST_RINGS, len(found.vectors.texts) // 8)  # of a few points not all
            marked = [self._point(place) for place in found.places[:most].tolist()]
            self.plot.set_chosen(self._point(found.place), [point for point in marked if point >= 0])
        self._show_neighbours()

    def choose_place(self, place: int) -> None:
        """Choose a text; emits nothing."""
        self.plot.set_chosen(self._point(place))

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self._mapped = None
        self.plot.clear()
        self.plot.set_axes("", "")
        self.plot.set_empty_text(why)
        self.show_neighbours(None)

    def _point(self, place: int) -> int:
        """Return the point of a text; -1 where it is not on the map."""
        if self._mapped is None or place < 0:
            return -1
        found = np.flatnonzero(self._mapped.projected.places == place)
        return int(found[0]) if len(found) else -1

    def _place(self, point: int) -> int:
        return int(self._mapped.projected.places[point]) if self._mapped is not None and point >= 0 else -1

    def _name_axes(self, mapped: TextMap) -> None:
        shares = mapped.projected.shares
        if shares is None:
            text = self.tr("Nearby points are similar; distances between far groups mean little.")
            self.plot.set_axes(text)
            return
        axis = self.tr("axis {number}: {share} of variance")
        self.plot.set_axes(
            axis.format(number=1, share=words.share(shares[0])),
            axis.format(number=2, share=words.share(shares[1])),
        )

    def _detail(self, vectors: Vectors, place: int) -> str:
        row = int(vectors.rows[place])
        if row < 0 or vectors.source.table is None:
            return ""
        line = words.number(int(vectors.source.table.lines[row]))
        return self.tr("line {line}").format(line=line)

    def _show_neighbours(self) -> None:
        found = self._found
        self.model.show(found, self._column if found is not None else "")
        self.table.setVisible(found is not None)
        self.below.setVisible(not self.plot.is_empty)
        self.below.setMaximumHeight(MOST_HEIGHT if found is not None else self.below.sizeHint().height())
        if found is None:
            self.heading.setText(self.tr("Click a point to see its nearest neighbours."))
            return
        text = words.shorten(found.vectors.texts[found.place], 90)
        self.heading.setText(self.tr("Most similar to “{text}”").format(text=text))
        header = self.table.horizontalHeader()
        for place in range(self.model.columnCount() - 1):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
            width = self.table.sizeHintForColumn(place) + 8
            header.resizeSection(place, max(92, min(width, WIDEST_VALUE)))

    def _chosen(self, point: int) -> None:
        if point < 0:
            self.show_neighbours(None)
        self.asked.emit(self._place(point))

    def _row_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        """Point to a neighbour on the map."""
        if self._found is not None and index.isValid():
            self.plot.point_to(self._point(int(self._found.places[index.row()])))

    def _activated(self, index: QModelIndex) -> None:
        """Go on to a neighbour's own neighbours."""
        if self._found is not None:
            self.asked.emit(int(self._found.places[index.row()]))
