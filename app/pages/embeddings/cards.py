"""Three of the tabs: a matrix of similarities, the way through the layers, and poolings compared."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import label, tip
from app.look.layout import STRETCH, FlowRow, column
from app.look.widgets import Card, button, holder, named
from app.pages.embeddings.requests import CosineMatrix, LayerLikeness
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.layer_lines import LayerLine, LayerLinesPlot
from app.plots.marks import PointClasses
from app.plots.poolings import PoolingRow, PoolingsPlot
from app.plots.similarity import SimilarityPlot
from engine.inspect.embeddings.poolings import PoolingComparison
from engine.inspect.embeddings.vectors import KINDS
from engine.inspect.loaded_model import ModelSummary

BY_GROUP, BY_LIKENESS = "group", "likeness"


class SimilarityCard(Card):
    """Each two texts' cosine; the order can be by class or by likeness."""

    order_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Similarity"))
        self._matrix: CosineMatrix | None = None
        self.plot = named(SimilarityPlot(self.tr("Similarity of texts")), "embeddings_similarity")
        yield_to_layout(self.plot, 160)
        entries = ((self.tr("Class by class"), BY_GROUP), (self.tr("Similar texts together"), BY_LIKENESS))
        self.order_box = ChoiceBox("embeddings_order", self.tr("Order"), entries=entries, width=150)
        self.order_box.setToolTip(self.tr("How the texts are sorted"))
        self.readout = label("", "muted", wrap=True, name="embeddings_pair")
        self.readout.setMinimumHeight(3 * self.readout.fontMetrics().height())
        self.readout.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.add(self.plot, 1)
        self.add(self.readout)
        self.add_corner(self.order_box, save_icon(self.plot))
        self.order_box.activated.connect(self.order_changed)
        self.plot.chosen.connect(self._chosen)
        self.clear("")

    @property
    def is_by_group(self) -> bool:
        return self.order_box.currentData() == BY_GROUP and self.order_box.isEnabled()

    def set_order(self, by_group: bool) -> None:
        """Choose the order; emits nothing."""
        if self.order_box.isEnabled():
            self.order_box.choose(BY_GROUP if by_group else BY_LIKENESS)

    def set_has_classes(self, has_classes: bool) -> None:
        """Offer the order by class where there are some."""
        self.order_box.setEnabled(has_classes)
        wanted = BY_GROUP if has_classes else BY_LIKENESS
        if not has_classes or not self._matrix:
            self.order_box.choose(wanted)

    def show_matrix(self, matrix: CosineMatrix, coloring: PointClasses | None) -> None:
        """Show cosines; classes are marked."""
        self._matrix = matrix
        texts = [matrix.vectors.texts[place] for place in matrix.places.tolist()]
        classes = None if coloring is None else coloring.at(matrix.places)
        self.plot.set_matrix(matrix.picture, matrix.values, texts, classes)
        if matrix.is_part:
            text = self.tr("{count} of {total} texts, spread evenly")
            total = words.number(len(matrix.vectors.texts))
            self.set_hint(text.format(count=words.number(len(texts)), total=total))
        else:
            self.set_hint("")
        self.readout.setText(self.tr("Point at a cell to see its two texts. Click to keep them here."))

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self._matrix = None
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.readout.setText("")
        self.set_hint("")

    def _chosen(self, line: int, place: int) -> None:
        self.readout.setText(self.plot.words_of((line, place)))


class LayersCard(Card):
    """How similar uses of one meaning, or texts of one class, are at each layer; and those of two."""

    layer_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Through the layers"))
        self.plot = named(LayerLinesPlot(self.tr("Similarity through the layers")), "embeddings_layers")
        yield_to_layout(self.plot, 140)
        self.said = label("", wrap=True, name="embeddings_layers_words")
        self.add(self.plot, 1)
        self.add(self.said)
        self.add_corner(save_icon(self.plot))
        self.set_hint(self.tr("mean cosine similarity"), deed=self.tr("click a layer to see its map"))
        self.plot.layer_chosen.connect(self.layer_chosen)

    def show_layers(self, layers: LayerLikeness, names: tuple[str, ...], layer: int) -> None:
        """Show lines. Args: names: of the groups; none where there are none. layer: the one on the map."""
        is_word = bool(layers.vectors.spans)
        lines = []
        if names:
            within, between = (
                (self.tr("same meaning"), self.tr("other meaning"))
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

    def _words(self, layers: LayerLikeness, names: tuple[str, ...], is_word: bool) -> str:
        """Return what was measured, in words; also where it is not what one would like."""
        if not names or not np.isfinite(layers.between).any():
            return self.tr(
                "Without groups there is nothing to compare. Type “group | sentence”, or colour by a column."
            )
        gaps = layers.within - layers.between
        best = int(np.nanargmax(gaps))
        values = {
            "word": layers.vectors.source.word,
            "layer": best,
            "within": words.decimal(float(layers.within[best]), 2),
            "between": words.decimal(float(layers.between[best]), 2),
            "start": words.decimal(float(gaps[0]), 2),
            "gap": words.decimal(float(gaps[best]), 2),
            "right": words.share(float(layers.agreement[best]), 0),
        }
        if is_word:
            text = self.tr(
                "“{word}” moves with its context. At layer {layer} the similarity of two uses "
                "is {within} within one meaning and {between} across; at the embeddings the "
                "gap is only {start}. For {right} of the uses, the nearest one has the same "
                "meaning."
            )
            none = self.tr(
                "No layer separates two meanings of “{word}” clearly more than the embeddings do. The gap is "
                "{start} there, and at most {gap}, at layer {layer}."
            )
        else:
            text = self.tr(
                "The classes are best separated at layer {layer}: similarity is {within} "
                "within a class and {between} between classes. For {right} of the texts, the "
                "nearest text has the same class there."
            )
            none = self.tr(
                "These texts do not separate by class at any layer (largest gap {gap}, at layer {layer})."
            )
        clear = gaps[best] >= 0.02 and (not is_word or gaps[best] >= gaps[0] + 0.02)
        return (text if clear else none).format(**values)


class PoolingsCard(Card):
    """Every pooling beside the others; `asked` says on which texts."""

    asked = Signal(bool)  # True: the texts of the page, False: the bundled sentences

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Which pooling is better?"))
        self.plot = named(PoolingsPlot(self.tr("Poolings compared")), "embeddings_poolings")
        self.plot.set_empty_text(
            self.tr(
                "Is raw [CLS] a poor sentence vector? To measure it, Cloze finds the nearest "
                "neighbour of every text. A good vector gives one of the same class."
            )
        )
        self.said = label("", wrap=True, name="embeddings_verdict")
        self.more = label("", "muted", wrap=True)
        self.words = holder(column(self.said, self.more))  # what the page says of the picture
        self.own_button = button(self.tr("On these texts"), name="embeddings_measure_own")
        self.bundled_button = button(self.tr("On bundled sentences"), name="embeddings_measure_bundled")
        self._lay_out()
        self.add_corner(save_icon(self.plot))
        self.own_button.clicked.connect(lambda: self.asked.emit(True))
        self.bundled_button.clicked.connect(lambda: self.asked.emit(False))
        self.set_own("")

    def _lay_out(self) -> None:
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(holder(column(self.plot, STRETCH)))
        self.add(FlowRow(self.own_button, self.bundled_button))
        self.add(scroll, 1)

    def set_own(self, why_not: str) -> None:
        """Offer the texts of the page, or say why they will not do."""
        self.own_button.setEnabled(not why_not)
        self.own_button.setToolTip(tip(why_not))

    def show_comparison(self, found: PoolingComparison, about: ModelSummary, texts: str, layer: str) -> None:
        """Show what was measured. Args: texts: on what, in words. layer: of [CLS], mean and maximum."""
        rows = [
            PoolingRow(
                words.tr_engine(KINDS[one.pooling.kind][0]),
                one.agreement,
                one.separation,
                one.within,
                one.between,
                one.any_two,
                is_followed=one.pooling.kind in ("cls", "mean"),
            )
            for one in found.measured
        ]
        self.plot.set_rows(rows, found.chance)
        count, classes = words.number(found.num_texts), words.number(found.num_classes)
        on_texts = self.tr("{texts} · {count} texts, {classes} classes")
        self.set_hint(on_texts.format(texts=texts, count=count, classes=classes))
        self.said.setText(self._verdict(found, about))
        notes = [words.say(note) for note in found.notes]
        dotted = self.tr("The dotted lines show chance.")
        at_layer = self.tr("[CLS], mean and maximum are taken at layer {layer}.").format(layer=layer)
        self.more.setText(words.sentences([self._likeness(found), dotted, at_layer, *notes]))

    def clear(self) -> None:
        """Show nothing: another model or other texts."""
        self.plot.clear()
        self.said.setText("")
        self.more.setText("")
        self.set_hint("")

    def _verdict(self, found: PoolingComparison, about: ModelSummary) -> str:
        difference, cls, mean = found.difference("mean", "cls"), found.of("cls"), found.of("mean")
        assert difference is not None and cls is not None and mean is not None
        values = {
            "mean": words.share(mean.agreement),
            "cls": words.share(cls.agreement),
            "points": words.decimal(100 * abs(difference.value), 1),
            "low": words.decimal(100 * min(abs(difference.low), abs(difference.high)), 1),
            "high": words.decimal(100 * max(abs(difference.low), abs(difference.high)), 1),
            "from": words.decimal(100 * difference.low, 1),
            "to": words.decimal(100 * difference.high, 1),
        }
        first = self.tr(
            "With the mean of all pieces, {mean} of the nearest neighbours have the same "
            "class. With [CLS], {cls} do."
        )
        if difference.verdict > 0:
            text = self.tr("Raw [CLS] is the worse vector here, by {points} points (95 %: {low} to {high}).")
        elif difference.verdict < 0:
            text = self.tr(
                "[CLS] is the better vector here, by {points} points (95 %: {low} to {high}): the rule does "
                "not hold."
            )
        else:
            text = self.tr(
                "The difference could be chance (95 %: {from} to {to} points): these texts do "
                "not show that [CLS] is worse."
            )
        tuned = self.tr("This model was fine-tuned to put its answer into [CLS].") if about.labels else ""
        return words.sentences((first.format(**values), text.format(**values), tuned))

    def _likeness(self, found: PoolingComparison) -> str:
        """Return how much all vectors point the same way."""
        cls, mean = found.of("cls"), found.of("mean")
        assert cls is not None and mean is not None
        text = self.tr(
            "The mean similarity of any two texts is {cls} with [CLS] and {mean} with the "
            "mean. The closer to 1, the less a high similarity says."
        )
        return text.format(cls=words.decimal(cls.any_two, 2), mean=words.decimal(mean.any_two, 2))
