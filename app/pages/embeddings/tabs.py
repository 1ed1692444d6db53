"""The tabs of the Embeddings page: each asks the worker for what it shows, and only while it is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from app import words
from app.pages.embeddings.captions import compared_lines, held_lines, map_lines
from app.pages.embeddings.cards import LayersCard, SimilarityCard
from app.pages.embeddings.map import MapCard
from app.pages.embeddings.poolings import PoolingsCard
from app.pages.embeddings.requests import (
    WORD,
    Held,
    Layers,
    Mapped,
    Matrix,
    Neighbours,
    Source,
    compare_task,
    layers_task,
    map_task,
    matrix_task,
    neighbours_task,
)
from app.pages.embeddings.settings import MapSettings, VectorsCard
from app.plots.marks import Classes, Coloring, coloring_of
from app.session import Session
from app.work.inspector import Bench
from engine.events import Event
from engine.inspect.embeddings.poolings import Comparison
from engine.inspect.embeddings.vectors import LAYERED, Pooling
from engine.inspect.subject import About

MAP, NEIGHBOURS, POOLINGS = "embeddings map", "embeddings neighbours", "embeddings poolings"
MATRIX, LAYERS = "embeddings matrix", "embeddings layers"
TAB, TABS = "embeddings/tab", ("map", "similarity", "layers", "poolings")  # kept for the next start
KEYS = (MAP, NEIGHBOURS, POOLINGS, MATRIX, LAYERS)


class Views(QTabWidget):
    """Map, similarity, layers and poolings of the vectors that are held."""

    failed = Signal(object)
    busy_changed = Signal()
    progressed = Signal(object)  # Progress
    bundled_wanted = Signal()

    def __init__(
        self,
        session: Session,
        vectors: VectorsCard,
        settings: MapSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, documentMode=True)
        self.setObjectName("embeddings_tabs")
        self.setAccessibleName(self.tr("Views of the vectors"))
        self.tabBar().setDrawBase(False)
        self._laboratory, self._vectors, self._settings = session.laboratory, vectors, settings
        self._store = session.settings
        self._held: Held | None = None
        self._about: About | None = None
        self._compared: Source | None = None
        self._layers_of: tuple[Held, str, str] | None = None  # vectors, pooling and column of the lines
        self.map_card, self.similarity_card = MapCard(), SimilarityCard()
        self.layers_card, self.poolings_card = LayersCard(), PoolingsCard()
        for card, name in (
            (self.map_card, self.tr("Map")),
            (self.similarity_card, self.tr("Similarity")),
            (self.layers_card, self.tr("Through the layers")),
            (self.poolings_card, self.tr("Poolings")),
        ):
            self.addTab(card, name)
        kept = self._store.value(TAB, TABS[0])
        self.setCurrentIndex(TABS.index(kept) if kept in TABS else 0)
        self.currentChanged.connect(self._keep_tab)
        self.currentChanged.connect(self._ask_seen)
        self.map_card.asked.connect(self._ask_neighbours)
        self.similarity_card.order_changed.connect(self._ask_matrix)
        self.layers_card.layer_chosen.connect(vectors.set_layer)
        self.poolings_card.asked.connect(self._poolings_asked)
        settings.changed.connect(self._ask_map)
        settings.coloring_changed.connect(self._recolor)
        self._show_classes()

    # ---- for the page

    def set_about(self, about: About) -> None:
        """Take another model: what was compared with the one before is asked anew where it is seen."""
        self._about = about
        self.poolings_card.clear()
        if self._compared is not None and self.currentWidget() is self.poolings_card:
            self.compare(self._compared)

    def set_held(self, held: Held) -> None:
        """Show other vectors."""
        before, self._held = self._held, held
        if before is None or before.source.kind != held.source.kind:
            self.map_card.clear(self.tr("Drawing the map…"))
        self.similarity_card.clear("")
        self.layers_card.clear("")
        self._show_classes()
        self.refresh()

    def set_empty_text(self, why: str) -> None:
        """Say what fills the pictures while there are no vectors."""
        if self._held is None:
            for plot in (self.map_card.plot, self.similarity_card.plot, self.layers_card.plot):
                plot.set_empty_text(why)

    def refresh(self) -> None:
        """Ask anew for all that is seen."""
        self._ask_map()
        self._ask_seen()

    def compare(self, source: Source) -> None:
        """Measure the poolings on some texts."""
        folder, layer, about = self._laboratory.folder, self._vectors.layer, self._about
        if folder is None or about is None:
            return
        column = self._settings.column if source.table is not None else ""
        self._compared = source
        heard = partial(self._take_comparison, source, about, layer)
        self._ask(POOLINGS, lambda bench: compare_task(bench, folder, source, column, layer), heard)

    @property
    def has_classes(self) -> bool:
        """Whether the texts have classes to compare."""
        return self._groups()[0] is not None

    # ---- what is shown of the vectors

    def _pooling(self) -> Pooling | None:
        """Return the chosen pooling where its vectors are held."""
        pooling = self._vectors.pooling()
        return pooling if self._held is not None and pooling is not None and self._held.has(pooling) else None

    def _coloring(self) -> Coloring | None:
        column = self._settings.column
        if self._held is None or column not in self._held.columns:
            return None
        return coloring_of(column, self._held.columns[column], self.tr("other"))

    def _groups(self) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """Return the class of each text, and the classes; nothing where the colours are no classes."""
        coloring = self._coloring()
        if not isinstance(coloring, Classes) or len(coloring.names) < 2:
            return None, ()
        return coloring.numbers, coloring.names

    @Slot()
    def _recolor(self) -> None:
        if self._held is not None:
            self.map_card.set_coloring(self._held, self._coloring(), self._settings.column)
        self._show_classes()
        self._ask_seen()

    def _show_classes(self) -> None:
        why = self.tr("These texts have no classes: colour them by a column, or type “group | sentence”.")
        self.poolings_card.set_own("" if self.has_classes else why)
        self.similarity_card.set_has_classes(self.has_classes)

    # ---- asking

    @Slot()
    def _ask_map(self) -> None:
        held, pooling, chosen = self._held, self._pooling(), self._settings
        if held is None or pooling is None:
            return
        method, perplexity, seed = chosen.method, chosen.perplexity.value(), chosen.seed.value()
        self._ask(MAP, lambda bench: map_task(bench, held, pooling, method, perplexity, seed), self._take_map)

    @Slot(int)
    def _ask_neighbours(self, place: int) -> None:
        held, pooling = self._held, self._pooling()
        if held is None or pooling is None or place < 0 or self.map_card.held is not held:
            self._laboratory.drop(NEIGHBOURS)
            return
        task = partial(neighbours_task, held=held, pooling=pooling, place=place)
        self._ask(NEIGHBOURS, task, self._take_neighbours)

    @Slot(int)
    def _keep_tab(self, index: int) -> None:
        self._store.set_value(TAB, TABS[index])

    @Slot()
    def _ask_seen(self) -> None:
        if self.currentWidget() is self.similarity_card:
            self._ask_matrix()
        elif self.currentWidget() is self.layers_card:
            self._ask_layers()

    @Slot()
    def _ask_matrix(self) -> None:
        held, pooling = self._held, self._pooling()
        if held is None or pooling is None:
            return
        groups, by_group = self._groups()[0], self.similarity_card.is_by_group
        task = partial(matrix_task, held=held, pooling=pooling, groups=groups, by_group=by_group)
        self._ask(MATRIX, task, self._take_matrix)

    def _ask_layers(self) -> None:
        held, pooling = self._held, self._pooling()
        if held is None or pooling is None:
            return
        if pooling.kind not in (*LAYERED, WORD):
            why = self.tr("This pooling takes several layers. Choose mean, maximum or [CLS] to follow one.")
            self.layers_card.clear(why)
            return
        wanted = (held, pooling.kind, self._settings.column)
        if wanted == self._layers_of and not self.layers_card.plot.is_empty:
            self.layers_card.plot.set_marked(self._vectors.layer)
            return
        task = partial(layers_task, held=held, kind=pooling.kind, groups=self._groups()[0])
        self._ask(LAYERS, task, partial(self._take_layers, wanted))

    @Slot(bool)
    def _poolings_asked(self, own: bool) -> None:
        if own and self._held is not None:
            self.compare(self._held.source)
        else:
            self.bundled_wanted.emit()

    def _ask(self, key: str, task: Callable[[Bench], Iterator[Event]], heard: Callable[[Any], None]) -> None:
        self._laboratory.ask(
            key,
            task,
            heard=heard,
            failed=self.failed.emit,
            ended=self.busy_changed.emit,
            heard_progress=self.progressed.emit,
        )
        self.busy_changed.emit()

    # ---- hearing

    def _take_map(self, mapped: Mapped) -> None:
        if mapped.held is not self._held:
            return
        column = self._settings.column
        self.map_card.show_map(mapped, self._coloring(), column)
        self.map_card.set_title(self._title(mapped.held))
        hint = self.tr("{count} points · mean similarity of any two {alike}")
        count = words.number(len(mapped.projected.places))
        self.map_card.set_hint(hint.format(count=count, alike=words.decimal(mapped.any_two, 2)))
        self.map_card.plot.set_caption(map_lines(mapped, self._vectors, column))
        if self.map_card.chosen_place >= 0:
            self._ask_neighbours(self.map_card.chosen_place)

    def _title(self, held: Held) -> str:
        """Return which vectors are shown: "Mean of all pieces, layer 4 of 4"."""
        said = self._vectors.layer_said()
        first = f"“{held.source.word}”" if held.spans else self._vectors.pooling_words()
        return self.tr("{vectors}, layer {layer}").format(vectors=first, layer=said) if said else first

    def _take_neighbours(self, found: Neighbours) -> None:
        if found.held is self._held:
            self.map_card.show_neighbours(found)

    def _take_matrix(self, matrix: Matrix) -> None:
        if matrix.held is self._held:
            coloring = self._coloring()
            self.similarity_card.show_matrix(matrix, coloring if isinstance(coloring, Classes) else None)
            self.similarity_card.set_title(self._title(matrix.held))
            self.similarity_card.plot.set_caption(held_lines(matrix.held, self._vectors))

    def _take_layers(self, wanted: tuple[Held, str, str], layers: Layers) -> None:
        if layers.held is self._held:
            self._layers_of = wanted
            self.layers_card.show_layers(layers, self._groups()[1], self._vectors.layer)
            lines = held_lines(layers.held, self._vectors, with_layer=False)
            self.layers_card.plot.set_caption(lines)

    def _take_comparison(self, source: Source, about: About, layer: int, found: Comparison) -> None:
        if about is self._about:
            at_layer = self.tr("{layer} of {depth}").format(layer=layer, depth=about.config.num_hidden_layers)
            self.poolings_card.show_comparison(found, about, source.words, at_layer)
            self.poolings_card.plot.set_caption(compared_lines(source, about, self._vectors))
