"""Two of the tabs: a matrix of similarities, and the way through the layers."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import label
from app.look.widgets import Card
from app.pages.embeddings.requests import Layers, Matrix
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.layer_lines import LayerLine, LayerLinesPlot
from app.plots.marks import Classes
from app.plots.similarity import SimilarityPlot

BY_GROUP, BY_LIKENESS = "group", "likeness"


class SimilarityCard(Card):
    """Each two texts' cosine; the order can be by class or by likeness."""

    order_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Similarity"))
        self._matrix: Matrix | None = None
        self.plot = SimilarityPlot(self.tr("Similarity of texts"))
        self.plot.setObjectName("embeddings_similarity")
        yield_to_layout(self.plot, 160)
        self.order_box = ChoiceBox("embeddings_order", self.tr("Order"))
        self.order_box.addItem(self.tr("Class by class"), BY_GROUP)
        self.order_box.addItem(self.tr("Like beside like"), BY_LIKENESS)
        self.order_box.setToolTip(self.tr("How the texts are put in order"))
        self.order_box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.order_box.setFixedWidth(150)
        self.readout = label("", "muted", wrap=True)
        self.readout.setObjectName("embeddings_pair")
        self.readout.setMinimumHeight(3 * self.readout.fontMetrics().height())
        self.readout.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.add(self.plot, 1)
        self.add(self.readout)
        self.add_corner(self.order_box)
        self.add_corner(save_icon(self.plot))
        self.order_box.activated.connect(self.order_changed)
        self.plot.chosen.connect(self._chosen)
        self.clear("")

    @property
    def is_by_group(self) -> bool:
        return self.order_box.currentData() == BY_GROUP and self.order_box.isEnabled()

    def set_has_classes(self, has_classes: bool) -> None:
        """Offer the order by class where there are some."""
        self.order_box.setEnabled(has_classes)
        wanted = BY_GROUP if has_classes else BY_LIKENESS
        if not has_classes or not self._matrix:
            self.order_box.setCurrentIndex(self.order_box.findData(wanted))

    def show_matrix(self, matrix: Matrix, coloring: Classes | None) -> None:
        """Show cosines; classes are marked."""
        self._matrix = matrix
        texts = [matrix.held.texts[place] for place in matrix.places.tolist()]
        classes = None if coloring is None else coloring.at(matrix.places)
        self.plot.set_matrix(matrix.picture, matrix.values, texts, classes)
        if matrix.is_part:
            text = self.tr("{count} of {total} texts, spread evenly")
            total = words.number(len(matrix.held.texts))
            self.set_hint(text.format(count=words.number(len(texts)), total=total))
        else:
            self.set_hint("")
        self.readout.setText(self.tr("Hover a cell to see its two texts; click to keep them here."))

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self._matrix = None
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.readout.setText("")
        self.set_hint("")

    @Slot(int, int)
    def _chosen(self, row: int, column: int) -> None:
        self.readout.setText(self.plot.words_of((row, column)))


class LayersCard(Card):
    """How alike uses of one sense, or texts of one class, are at each layer; and those of two."""

    layer_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Through the layers"))
        self.plot = LayerLinesPlot(self.tr("Similarity through the layers"))
        self.plot.setObjectName("embeddings_layers")
        yield_to_layout(self.plot, 140)
        self.said = label("", wrap=True)
        self.said.setObjectName("embeddings_layers_words")
        self.add(self.plot, 1)
        self.add(self.said)
        self.add_corner(save_icon(self.plot))
        self.set_hint(self.tr("mean cosine similarity · click a layer to see its map"))
        self.plot.layer_chosen.connect(self.layer_chosen)

    def show_layers(self, layers: Layers, names: tuple[str, ...], layer: int) -> None:
        """Show lines. Args: names: of the groups; none where there are none. layer: the one on the map."""
        is_word = bool(layers.held.spans)
        lines = []
        if names:
            within, between = (
                (self.tr("one sense"), self.tr("two senses"))
                if is_word
                else (self.tr("one class"), self.tr("two classes"))
            )
            lines = [LayerLine(within, layers.within), LayerLine(between, layers.between)]
        if is_word:
            from_all = LayerLine(self.tr("any two words"), layers.any_two, is_background=True)
        else:
            from_all = LayerLine(self.tr("any two texts"), layers.any_two, is_background=True)
        self.plot.set_lines([*lines, from_all])
        self.plot.set_marked(layer)
        self.said.setText(self._words(layers, names, is_word))

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.said.setText("")

    def _words(self, layers: Layers, names: tuple[str, ...], is_word: bool) -> str:
        """Return what was measured, in words; also where it is not what one would like."""
        if not names or not np.isfinite(layers.between).any():
            return self.tr(
                "Without groups there is nothing to compare. Type “group | sentence”, or colour by a column."
            )
        gaps = layers.within - layers.between
        best = int(np.nanargmax(gaps))
        values = {
            "word": layers.held.source.word,
            "layer": best,
            "within": words.decimal(float(layers.within[best]), 2),
            "between": words.decimal(float(layers.between[best]), 2),
            "start": words.decimal(float(gaps[0]), 2),
            "gap": words.decimal(float(gaps[best]), 2),
            "right": words.share(float(layers.agreement[best]), 0),
        }
        if is_word:
            text = self.tr(
                "“{word}” moves with its context: at layer {layer} two uses of one sense are {within} alike, "
                "two of different senses {between}; at the embeddings the gap is only {start}. At layer "
                "{layer}, the nearest use to a use has the same sense for {right} of them."
            )
            none = self.tr(
                "Not seen here: no layer sets two senses of “{word}” apart by clearly more than the "
                "embeddings do (a gap of {start} there, at most {gap}, at layer {layer})."
            )
        else:
            text = self.tr(
                "Texts of one class are most set apart at layer {layer}: {within} alike within a class, "
                "{between} between classes. At layer {layer}, the nearest text to a text has the same class "
                "for {right} of them."
            )
            none = self.tr(
                "Not seen here: at no layer are texts of one class clearly more alike than texts of "
                "different classes (largest gap {gap}, at layer {layer})."
            )
        clear = gaps[best] >= 0.02 and (not is_word or gaps[best] >= gaps[0] + 0.02)
        return (text if clear else none).format(**values)
