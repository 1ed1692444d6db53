"""A word's way through the layers: the map, and below it the similarities whose axis chooses the layer."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QElapsedTimer, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QStyle, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, icon_button, named, set_role
from app.pages.embeddings.requests import Vectors, WordMeanings
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.layer_lines import LayerLine
from app.plots.layer_slider import BOTTOM, TRACK, LayerSlider
from app.plots.marks import OTHER, PointClasses
from app.plots.word_paths import WordPathsPlot, WordUse

PLAY_MS, FRAME_MS = 3_000, 30
CHART_HEIGHT = 150


class PathsCard(Card):
    """Emits `layer_chosen`, 0 for the word table, and `chosen` and `hovered` with a use's place."""

    layer_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Paths"))
        self.found: WordMeanings | None = None
        self._classes: PointClasses | None = None
        self.plot = named(WordPathsPlot(self.tr("A word through the layers")), "embeddings_paths")
        self.slider = named(LayerSlider(self.tr("Similarity by layer")), "embeddings_paths_layers")
        self.heading = label("", "card-title")
        self.play_button = icon_button(
            "play", self.tr("Play from the word table to the last layer"), color="accent", call=self.play
        )
        self.play_button.setObjectName("embeddings_play")
        self._ticks = QTimer(self, interval=FRAME_MS)
        self._ticks.timeout.connect(self._move)
        self._clock = QElapsedTimer()
        self._lay_out()
        self.add_corner(save_icon(self.plot))
        self.slider.layer_chosen.connect(self._choose_layer)

    def _lay_out(self) -> None:
        yield_to_layout(self.plot, 136)
        yield_to_layout(self.slider, CHART_HEIGHT - 10)
        self.slider.setMaximumHeight(CHART_HEIGHT + 40)
        line = QFrame()
        set_role(line, "line")
        under = int(BOTTOM - TRACK - self.play_button.sizeHint().height() / 2)
        beside = row(label(self.tr("Layer")), self.play_button, gap=4)
        lead = column(STRETCH, beside, margins=(0, 0, 0, max(0, under)))
        self.body.setSpacing(6)
        self.add(self.plot, 3)
        self.add(line)
        self.add(self.heading)
        self.body.addLayout(row(lead, (self.slider, 1), gap=4), 1)

    @property
    def layer(self) -> int:
        """Which layer is shown; 0: the word table."""
        return round(self.plot.position)

    @property
    def classes(self) -> PointClasses | None:
        return self._classes

    def show_meanings(self, found: WordMeanings, classes: PointClasses | None, layer: int) -> None:
        """Show the ways of a word; a use that is chosen stays so while the sentences are the same."""
        before, self.found, self._classes = self.found, found, classes
        same = before is not None and before.vectors.source is found.vectors.source
        kept = self.plot.chosen_use if same else -1
        meanings, vectors = found.meanings, found.vectors
        self.plot.set_paths(meanings.maps, uses_of(vectors), classes, meanings.starts)
        self.plot.set_chosen(kept)
        self.heading.setText(
            self.tr("Mean similarity of two “{word}”s, by layer").format(word=_word(vectors))
        )
        self.slider.set_lines(self._lines(found))
        self.play_button.setEnabled(True)
        self.show_layer(layer)

    def show_layer(self, layer: int) -> None:
        """Show a layer; emits nothing."""
        if self.found is None or self._ticks.isActive():
            return
        layer = min(layer, self.found.meanings.num_layers)
        self.plot.set_position(layer)
        self.slider.set_marked(layer)
        self._say_layer(layer)

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self._stop()
        self.found = None
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.slider.clear()
        self.heading.setText("")
        self.play_button.setEnabled(False)
        self.set_hint("")

    def play(self) -> None:
        """Go from the word table to the last layer in three seconds; at once where motion is not wanted."""
        if self.found is None:
            return
        if self._ticks.isActive():
            self._stop()
            return
        if not moves(self):
            self._choose_layer(self.found.meanings.num_layers)
            return
        self._clock.start()
        self._ticks.start()
        self._move()

    @property
    def is_playing(self) -> bool:
        return self._ticks.isActive()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._stop()

    def _move(self) -> None:
        """Show where the play is now."""
        if self.found is None:
            self._stop()
            return
        last = self.found.meanings.num_layers
        position = min(1.0, self._clock.elapsed() / PLAY_MS) * last
        before = self.layer
        self.plot.set_position(position)
        self.slider.set_position(position)
        if position >= last:
            self._stop()
        if self.layer != before or position >= last:
            self._say_layer(self.layer)
            self.layer_chosen.emit(self.layer)

    def _stop(self) -> None:
        if self._ticks.isActive():
            self._ticks.stop()
            if self.found is not None and self.plot.position != self.layer:
                self._choose_layer(self.layer)

    def _choose_layer(self, layer: int) -> None:
        self._ticks.stop()
        self.show_layer(layer)
        self.layer_chosen.emit(layer)

    def _lines(self, found: WordMeanings) -> list[LayerLine]:
        partings = found.meanings.partings
        if not partings:
            return [LayerLine(self.tr("any two"), found.meanings.any_two.astype(np.float64))]
        return [
            LayerLine(self.tr("same meaning"), np.array([one.within for one in partings])),
            LayerLine(self.tr("other meaning"), np.array([one.between for one in partings])),
        ]

    def _say_layer(self, layer: int) -> None:
        """Say which layer it is, how much of it the map holds, and which sentences do not fit."""
        assert self.found is not None
        meanings, word = self.found.meanings, _word(self.found.vectors)
        if layer:
            title = self.tr("“{word}” at layer {layer} of {depth}")
            self.set_title(title.format(word=word, layer=layer, depth=meanings.num_layers))
        else:
            self.set_title(self.tr("“{word}” in the word table").format(word=word))
        share = float(meanings.shares[layer])
        hint = self.tr("{share} of the variance")
        more = self.tr("How much of the variance at this layer the map shows")
        self.set_hint("" if np.isnan(share) else hint.format(share=words.share(share, 0)), more)
        self.plot.set_notes({place: self.note(place, layer) for place in self.misfits(layer)})

    def misfits(self, layer: int) -> list[int]:
        """Return the uses whose nearest neighbour has another meaning."""
        meanings = None if self.found is None else self.found.meanings
        if meanings is None or not meanings.partings or meanings.is_one_point(layer):
            return []
        one = meanings.partings[layer]
        return np.flatnonzero((one.nearest >= 0) & ~one.right).tolist()

    def note(self, place: int, layer: int) -> str:
        """Return why a use does not fit."""
        assert self.found is not None and self._classes is not None
        nearest = int(self.found.meanings.partings[layer].nearest[place])
        number = int(self._classes.numbers[nearest])
        name = self._classes.other if number == OTHER else self._classes.names[number]
        return self.tr("nearest: “{meaning}”").format(meaning=words.shorten(name, 24))


def moves(widget: QWidget) -> bool:
    """Whether the system wants things to move."""
    return widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget) > 0


def uses_of(vectors: Vectors) -> list[WordUse]:
    """Return the sentences of a word's uses, each in three parts."""
    return [
        WordUse(*(" ".join(part.split("\n")) for part in (text[:start], text[start:stop], text[stop:])))
        for text, (start, stop) in zip(vectors.wholes, vectors.spans, strict=True)
    ]


def _word(vectors: Vectors) -> str:
    return words.shorten(vectors.source.word, 24)
