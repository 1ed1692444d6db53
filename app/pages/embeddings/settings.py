"""How vectors are made and shown: pooling and layer, the kind of map, what colours it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import Slider, SpinBox
from app.look.labels import label, tip
from app.look.layout import form_rows, row
from app.look.widgets import Card, named, tidy_spin
from app.pages.embeddings.requests import WORD, Vectors
from engine.inspect.embeddings.projection import MOST_TSNE, PERPLEXITY, most_perplexity
from engine.inspect.embeddings.vectors import KINDS, LAYERED, SENTENCE, PoolingConfig, usual_kind
from engine.inspect.loaded_model import ModelSummary

PCA, TSNE = "pca", "tsne"
TIP = Qt.ItemDataRole.ToolTipRole


class VectorsCard(Card):
    """How a text's vectors become one, and at which layer."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Vectors"))
        self._about: ModelSummary | None = None
        self._of_word = False
        self.kind_box = ChoiceBox("embeddings_pooling", self.tr("Pooling"))
        self.slider = named(Slider(Qt.Orientation.Horizontal), "embeddings_layer", self.tr("Layer"))
        self.layer_words = label("", "muted")
        self.layer_words.setMinimumWidth(84)
        self.layer_words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.add(self.kind_box)
        self.body.addLayout(row((self.slider, 1), self.layer_words))
        self.kind_box.activated.connect(self._activated)
        self.slider.valueChanged.connect(self._moved)
        self._fill(tuple(kind for kind in KINDS if kind not in ("mix", SENTENCE)))

    def set_about(self, about: ModelSummary, kinds: tuple[str, ...]) -> None:
        """Offer what a model can give; the layer stays where it is, or at the last.

        Another model that says how its texts are pooled is pooled so.
        """
        is_other = self._about is None or self._about.folder != about.folder
        was_last = self._about is None or self.slider.value() == self.slider.maximum()
        depth = about.config.num_hidden_layers
        self._about = about
        blocker = QSignalBlocker(self.slider)
        self.slider.setRange(0, depth)
        if was_last or self.slider.value() > depth:
            self.slider.setValue(depth)
        blocker.unblock()
        self._fill(kinds, usual_kind(about) if is_other and SENTENCE in kinds else "")
        self._show()

    def set_word(self, of_word: bool) -> None:
        """Say whether the vectors are those of a word, which needs no pooling."""
        if of_word != self._of_word:
            self._of_word = of_word
            self._show()

    def pooling(self) -> PoolingConfig | None:
        """Return what is chosen, its layer counted from 0; None without a model."""
        if self._about is None:
            return None
        if self._of_word:
            return PoolingConfig(WORD, self.slider.value())
        return PoolingConfig(str(self.kind_box.currentData()), self.slider.value()).of(self._about)

    @property
    def layer(self) -> int:
        return self.slider.value()

    def set_layer(self, layer: int) -> None:
        """Choose a layer, as the slider does."""
        self.slider.setValue(layer)

    def put(self, kind: str, layer: int) -> None:
        """Choose pooling and layer; emits nothing."""
        with QSignalBlocker(self.slider):
            self.slider.setValue(layer)
        self.kind_box.choose(kind, or_first=True)
        self._show()

    def pooling_words(self) -> str:
        """Return the pooling as captions have it."""
        pooling = self.pooling()
        if pooling is None or pooling.kind == WORD:
            return self.tr("mean of the word’s pieces")
        return words.tr_engine(KINDS[pooling.kind][0])

    def layer_said(self) -> str:
        """Return the layer as captions have it; nothing where the pooling chooses by itself."""
        pooling = self.pooling()
        if pooling is None or pooling.kind not in (*LAYERED, WORD):
            return ""
        if pooling.layer == 0:
            return self.tr("0 (embeddings)")
        return self.tr("{layer} of {depth}").format(layer=pooling.layer, depth=self.slider.maximum())

    def _fill(self, kinds: tuple[str, ...], wanted: str = "") -> None:
        before = wanted or self.kind_box.currentData()
        self.kind_box.clear()
        for kind in kinds:
            self.kind_box.addItem(words.tr_engine(KINDS[kind][0]), kind)
            self.kind_box.setItemData(self.kind_box.count() - 1, tip(words.tr_engine(KINDS[kind][1])), TIP)
        self.kind_box.choose(before, or_first=True)

    def _show(self) -> None:
        kind = str(self.kind_box.currentData())
        has_layer = self._of_word or kind in LAYERED
        self.kind_box.setEnabled(not self._of_word)
        self.kind_box.setToolTip(
            self.tr("A word’s vector is the mean of its pieces.")
            if self._of_word
            else tip(words.tr_engine(KINDS[kind][1]))
        )
        self.slider.setEnabled(has_layer)
        said = self.layer_said() if has_layer else ""
        self.layer_words.setText(
            self.tr("Layer {layer}").format(layer=said) if said else self.tr("set by the pooling")
        )

    def _activated(self) -> None:
        self._show()
        self.changed.emit()

    def _moved(self) -> None:
        self._show()
        self.changed.emit()


class MapSettings(Card):
    """PCA or t-SNE, and the column that colours points and makes classes."""

    changed = Signal()
    coloring_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Map"))
        self.method_box = ChoiceBox("embeddings_method", self.tr("Kind of map"))
        self.method_box.addItem(self.tr("PCA"), PCA)
        self.method_box.addItem(self.tr("t-SNE"), TSNE)
        for place, text in enumerate(
            (
                self.tr("The two directions in which the vectors differ most. Distances keep their meaning."),
                self.tr("Neighbours stay neighbours. Distances between far groups mean little."),
            )
        ):
            self.method_box.setItemData(place, tip(text), TIP)
        self.perplexity = self._spin("embeddings_perplexity", 1, 500, int(PERPLEXITY), self.tr("Perplexity"))
        self.seed = self._spin("embeddings_map_seed", 1, 999_999, 1, self.tr("Seed of the map"))
        self.perplexity.setToolTip(
            tip(self.tr("About how many neighbours each point has; at most a third of all points."))
        )
        self.seed.setToolTip(self.tr("The same seed gives the same map"))
        self.note = label("", "muted", wrap=True, name="embeddings_map_note")
        self.color_box = ChoiceBox("embeddings_color", self.tr("Colour by"))
        self._lay_out()
        self.method_box.activated.connect(self._activated)
        self.perplexity.valueChanged.connect(self._changed)
        self.seed.valueChanged.connect(self._changed)
        self.color_box.activated.connect(self.coloring_changed)
        self.set_vectors(None, "")
        self._show()

    @property
    def method(self) -> str:
        return str(self.method_box.currentData())

    @property
    def column(self) -> str:
        """The column that colours; "" for none."""
        return str(self.color_box.currentData() or "")

    def put(self, method: str, perplexity: int, seed: int) -> None:
        """Choose the kind of map; emits nothing."""
        for spin, value in ((self.perplexity, perplexity), (self.seed, seed)):
            with QSignalBlocker(spin):
                spin.setValue(value)
        self.method_box.choose(method)
        self._show()

    def color_by_nothing(self) -> None:
        """Colour all points alike; emits nothing."""
        self.color_box.choose("")

    def set_vectors(self, vectors: Vectors | None, wanted: str) -> None:
        """Offer the columns of other texts. Args: wanted: the one to begin with, if it is there."""
        before = self.column
        self.color_box.clear()
        self.color_box.addItem(self.tr("Nothing"), "")
        for name in vectors.columns if vectors is not None else ():
            self.color_box.addItem(name, name)
        for name in (wanted, before):
            if name and self.color_box.findData(name) >= 0:
                self.color_box.choose(name)
        self.color_box.setEnabled(self.color_box.count() > 1)
        self._count = len(vectors.texts) if vectors is not None else 0
        self._show()

    def _lay_out(self) -> None:
        self._of_tsne = [
            label(self.tr("Perplexity"), "muted", buddy=self.perplexity),
            label(self.tr("Seed"), "muted", buddy=self.seed),
        ]
        rows = form_rows(
            (self.tr("Colour"), self.color_box),
            (self.tr("Kind"), self.method_box),
            (self._of_tsne[0], self.perplexity),
            (self._of_tsne[1], self.seed),
            role="muted",
            caption_gap=8,
        )
        self.body.addLayout(rows)
        self.add(self.note)

    def _show(self) -> None:
        is_tsne = self.method == TSNE
        for widget in (*self._of_tsne, self.perplexity, self.seed):
            widget.setVisible(is_tsne)
        notes = []
        if is_tsne and self._count:
            most = most_perplexity(min(self._count, MOST_TSNE))
            if self.perplexity.value() > most:
                text = self.tr("Perplexity {most} is used: a third of the {count} points.")
                notes.append(text.format(most=f"{most:g}" if most < 10 else int(most), count=self._count))
            if self._count > MOST_TSNE:
                text = self.tr("t-SNE shows {most} of the points, spread evenly; PCA shows all.")
                notes.append(text.format(most=words.number(MOST_TSNE)))
        self.note.setText("\n".join(notes))
        self.note.setVisible(bool(notes))

    def _activated(self) -> None:
        self._show()
        self.changed.emit()

    def _changed(self) -> None:
        self._show()
        self.changed.emit()

    def _spin(self, name: str, least: int, most: int, value: int, accessible: str) -> SpinBox:
        spin = SpinBox(minimum=least, maximum=most, value=value)
        spin.setKeyboardTracking(False)
        return tidy_spin(named(spin, name, accessible))
