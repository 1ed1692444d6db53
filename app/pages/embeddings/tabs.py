"""The tabs of the Embeddings page: each asks for what it shows, and only while it is seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from app import words
from app.look.widgets import named
from app.pages.embeddings import requests
from app.pages.embeddings.answer import AnswerCard
from app.pages.embeddings.cards import LayersCard, PoolingsCard, SimilarityCard
from app.pages.embeddings.map import MapCard
from app.pages.embeddings.pair import PairCard
from app.pages.embeddings.paths import PathsCard
from app.pages.embeddings.requests import (
    WORD,
    CosineMatrix,
    LayerLikeness,
    TextMap,
    TextsAnswer,
    TextSource,
    TwoModels,
    Vectors,
    WordMeanings,
)
from app.pages.embeddings.settings import MapSettings, VectorsCard
from app.pages.inside.model_bar import model_caption
from app.plots.marks import Coloring, PointClasses, coloring_of
from app.session import Session
from app.work.worker import Channel
from engine.inspect.embeddings.poolings import PoolingComparison
from engine.inspect.embeddings.vectors import LAYERED, PoolingConfig
from engine.inspect.loaded_model import ModelSummary

TABS = ("paths", "map", "similarity", "layers", "poolings", "pair")
WORD_QUESTION, TEXTS_QUESTION, CLS_QUESTION, TUNED_QUESTION = QUESTIONS = ("word", "texts", "cls", "tuned")
VIEWS = {  # of each question, the one that answers it first
    WORD_QUESTION: ("paths", "map", "similarity", "layers"),
    TEXTS_QUESTION: ("map", "similarity", "layers"),
    CLS_QUESTION: ("poolings",),
    TUNED_QUESTION: ("pair",),
}
OWN, BUNDLED = "own", "bundled"
Lines = list[tuple[str, str]]  # of a figure's caption: name and value
translate = QCoreApplication.translate


class Views(QTabWidget):
    """Paths, map, similarity, layers and poolings of the vectors on the page, and another model beside them.

    Which are offered depends on the question. `answer` says in words what is seen.
    """

    question_changed = Signal()
    answered = Signal()  # a word's meanings are there, or another layer of them
    refused = Signal(object)
    busy_changed = Signal()
    progressed = Signal(object)  # Progress
    bundled_wanted = Signal()

    def __init__(
        self,
        session: Session,
        vectors_card: VectorsCard,
        settings: MapSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, documentMode=True)
        named(self, "embeddings_tabs", self.tr("Views of the vectors"))
        self.tabBar().setDrawBase(False)
        self.setFocusProxy(None)  # type: ignore[arg-type]  # Tab comes to the bar alone: hidden, it held the keys
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._inspector = session.inspector
        self._vectors_card, self._settings = vectors_card, settings
        self._make_channels(session)
        self._vectors: Vectors | None = None
        self._about: ModelSummary | None = None
        self._compared: TextSource | None = None
        self.paths_card = PathsCard()
        self.map_card, self.similarity_card = MapCard(), SimilarityCard()
        self.layers_card, self.poolings_card = LayersCard(), PoolingsCard()
        self.pair_card = PairCard(session)
        self._wanted_place = self._wanted_use = -1  # the text to choose on the next map, the use on a way
        self.answer = AnswerCard(self.poolings_card.words, self.pair_card.said)
        self._texts_answer: TextsAnswer | None = None
        for card, name in (
            (self.paths_card, self.tr("Paths")),
            (self.map_card, self.tr("Map")),
            (self.similarity_card, self.tr("Similarity")),
            (self.layers_card, self.tr("Through the layers")),
            (self.poolings_card, self.tr("Poolings")),
            (self.pair_card, self.tr("Two models")),
        ):
            self.addTab(card, name)
        self._offer_views()
        self.currentChanged.connect(self._seen_changed)
        self.paths_card.layer_chosen.connect(vectors_card.set_layer)
        self.map_card.asked.connect(self._ask_neighbours)
        self.similarity_card.order_changed.connect(self._ask_matrix)
        self.layers_card.layer_chosen.connect(vectors_card.set_layer)
        self.poolings_card.asked.connect(self._compare_on)
        self.pair_card.model_chosen.connect(self._ask_pair)
        settings.changed.connect(self._ask_map)
        settings.coloring_changed.connect(self._recolor)
        self._show_classes()

    def _make_channels(self, session: Session) -> None:
        workers = session.workers
        self._map_asked = Channel(self, workers.models)
        self._answer_asked = Channel(self, workers.models)
        self._layers_asked = Channel(self, workers.models)
        self._poolings_asked = Channel(self, workers.models)
        self._pair_asked = Channel(self, workers.models)
        self._neighbours_asked = Channel(self, workers.quick)
        self._matrix_asked = Channel(self, workers.quick)
        self._shown = (
            *(self._map_asked, self._answer_asked, self._layers_asked, self._pair_asked),
            *(self._neighbours_asked, self._matrix_asked),
        )

    def set_about(self, about: ModelSummary) -> None:
        """Take another model: what was compared with the one before is asked anew where it is seen."""
        self._about = about
        self._poolings_asked.drop()
        self.poolings_card.clear()
        if self._compared is not None and self.currentWidget() is self.poolings_card:
            self.compare(self._compared)

    def forget(self) -> None:
        """Show nothing: what is shown is of another model."""
        said = self.tr("Computing…")
        cards = (self.map_card, self.similarity_card, self.layers_card, self.pair_card)
        for card in (self.paths_card, *cards, self.answer):
            card.clear(said)

    def set_vectors(self, vectors: Vectors) -> None:
        """Show other vectors."""
        before, self._vectors = self._vectors, vectors
        for channel in self._shown:
            channel.drop()  # which lets go of the vectors before
        if before is None or before.source.kind != vectors.source.kind:
            self.map_card.clear(self.tr("Drawing the map…"))
            self.paths_card.clear("")
        self._texts_answer = None
        self._offer_views()
        self.similarity_card.clear("")
        self.layers_card.clear("")
        self.pair_card.clear("")
        self._show_classes()
        self.refresh()

    def set_empty_text(self, why: str) -> None:
        """Say what fills the pictures while there are no vectors."""
        if self._vectors is None:
            cards = (self.map_card, self.similarity_card, self.layers_card, self.pair_card)
            for card in (self.paths_card, *cards):
                card.plot.set_empty_text(why)
            self.answer.clear(why)

    @property
    def question(self) -> str:
        """Which question the view that is seen answers, one of QUESTIONS."""
        tab = TABS[self.currentIndex()]
        own = [question for question, views in VIEWS.items() if tab in views]
        if len(own) == 1:
            return own[0]
        return TEXTS_QUESTION if self._vectors is None or not self._vectors.spans else WORD_QUESTION

    def show_view(self, tab: str) -> None:
        """Show a view by its key, one of TABS."""
        self.setCurrentIndex(TABS.index(tab))

    def refresh(self) -> None:
        """Ask anew for all that is seen."""
        self._ask_map()
        self._ask_answer()
        self._ask_seen()

    def _offer_views(self) -> None:
        """Show the tabs of the question at hand."""
        offered = VIEWS[self.question]
        for place, tab in enumerate(TABS):
            self.setTabVisible(place, tab in offered)
        self.tabBar().setVisible(len(offered) > 1)

    def _seen_changed(self) -> None:
        self._offer_views()
        self._ask_answer()
        self._ask_seen()
        self.question_changed.emit()

    def compare(self, source: TextSource) -> None:
        """Measure the poolings on some texts."""
        folder, layer, about = self._inspector.folder, self._vectors_card.layer, self._about
        if folder is None or about is None:
            return
        column = self._settings.column if source.table is not None else ""
        self._compared = source
        models = self._inspector.open_models
        work = partial(requests.compare_poolings, models, folder, source, column, layer)
        heard = partial(self._take_comparison, source, about, layer)
        self._ask(self._poolings_asked, (folder, source, column, layer), work, heard)

    @property
    def is_asking(self) -> bool:
        """Whether something to show is still to come."""
        return self.is_comparing or any(channel.is_asking for channel in self._shown)

    @property
    def is_comparing(self) -> bool:
        """Whether poolings are being measured."""
        return self._poolings_asked.is_asking

    def stop(self) -> None:
        """Give up all that is under way."""
        for channel in (self._poolings_asked, *self._shown):
            if channel.is_asking:
                channel.drop()

    @property
    def has_classes(self) -> bool:
        """Whether the texts have classes to compare."""
        return self._groups()[0] is not None

    def _pooling(self) -> PoolingConfig | None:
        """Return the chosen pooling where there are vectors of it."""
        vectors, pooling = self._vectors, self._vectors_card.pooling()
        return pooling if vectors is not None and pooling is not None and vectors.has(pooling) else None

    def _coloring(self) -> Coloring | None:
        column = self._settings.column
        if self._vectors is None or column not in self._vectors.columns:
            return None
        return coloring_of(column, self._vectors.columns[column], self.tr("other"))

    def _groups(self) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """Return the class of each text, and the classes; nothing where the colours are no classes."""
        coloring = self._coloring()
        if not isinstance(coloring, PointClasses) or len(coloring.names) < 2:
            return None, ()
        return coloring.numbers, coloring.names

    def _recolor(self) -> None:
        if self._vectors is not None:
            self.map_card.set_coloring(self._vectors, self._coloring(), self._settings.column)
        self._show_classes()
        self._ask_answer()
        self._ask_seen()

    def _show_classes(self) -> None:
        why = self.tr("These texts have no classes: colour them by a column, or type “group | sentence”.")
        self.poolings_card.set_own("" if self.has_classes else why)
        self.similarity_card.set_has_classes(self.has_classes)

    def _ask_map(self) -> None:
        vectors, pooling, chosen = self._vectors, self._pooling(), self._settings
        if vectors is None or pooling is None:
            return
        if vectors.spans and len(vectors.texts) < 2:
            self._map_asked.drop()
            self.map_card.clear(self.tr("A map needs at least two sentences. Add another."))
            return
        way = chosen.method, chosen.perplexity.value(), chosen.seed.value()
        work = partial(requests.draw_map, vectors, pooling, *way)
        self._ask(self._map_asked, (vectors, pooling, *way), work, self._take_map)
        if self.currentWidget() is self.pair_card:
            self._ask_pair()

    def _ask_neighbours(self, place: int) -> None:
        vectors, pooling = self._vectors, self._pooling()
        if vectors is None or pooling is None or place < 0 or self.map_card.vectors is not vectors:
            self._neighbours_asked.drop()
            return
        work = partial(requests.find_neighbours, vectors, pooling, place)
        heard = self.map_card.show_neighbours
        self._ask(self._neighbours_asked, (vectors, pooling, place), work, heard)

    def _ask_answer(self) -> None:
        """Ask for what is said of the question at hand; the two that compare say it themselves."""
        vectors, pooling, groups = self._vectors, self._pooling(), self._groups()[0]
        column = self._settings.column
        if vectors is None or pooling is None:
            return
        if vectors.spans:
            about = (vectors, column)
            find = partial(requests.find_meanings, vectors, groups)
            self._ask(self._answer_asked, about, find, self._take_meanings)
        elif self.question == TEXTS_QUESTION:
            describe = partial(requests.describe_texts, vectors, pooling, groups)
            self._ask(self._answer_asked, (vectors, pooling, column), describe, self._take_answer)
        self._show_answer()

    def _take_meanings(self, found: WordMeanings) -> None:
        coloring = self._coloring()
        classes = coloring if isinstance(coloring, PointClasses) else None
        self.paths_card.show_meanings(found, classes, self._vectors_card.layer)
        self._choose_use()
        lines = self._lines(found.vectors)
        self.paths_card.plot.set_caption([*lines, (translate("embeddings", "map"), "PCA")])
        self.paths_card.slider.set_caption(self._lines(found.vectors, with_layer=False))
        self._show_answer()

    def _take_answer(self, found: TextsAnswer) -> None:
        self._texts_answer = found
        self._show_answer()

    def _show_answer(self) -> None:
        """Say what is seen."""
        layer, found, texts = self._vectors_card.layer, self.paths_card.found, self._texts_answer
        if self.question == CLS_QUESTION:
            self.answer.show_other(self.poolings_card.words)
        elif self.question == TUNED_QUESTION:
            self.answer.show_other(self.pair_card.said)
        elif self.question == TEXTS_QUESTION and texts is not None and texts.vectors is self._vectors:
            self.answer.show_texts(texts, self._settings.column)
        elif found is not None and found.vectors is self._vectors:
            self.paths_card.show_layer(layer)
            self.answer.show_word(found, min(layer, found.meanings.num_layers))
        else:
            self.answer.clear(self.tr("Computing…"))
        self.answered.emit()

    def _ask_seen(self) -> None:
        if self.currentWidget() is self.similarity_card:
            self._ask_matrix()
        elif self.currentWidget() is self.layers_card:
            self._ask_layers()
        elif self.currentWidget() is self.pair_card:
            self._ask_pair()

    def _ask_pair(self) -> None:
        vectors, pooling, other, chosen = self._vectors, self._pooling(), self.pair_card.other, self._settings
        if vectors is None or pooling is None:
            return
        lacking = ""
        if vectors.spans:
            lacking = self.tr(
                "Two models are compared on whole texts. Choose rows or typed sentences under “Change”."
            )
        elif other is None:
            lacking = self.tr("Choose a second model above, such as one that was fine-tuned from this one.")
        if lacking or other is None:
            self._pair_asked.drop()
            self.pair_card.clear(lacking)
            return
        way = chosen.method, float(chosen.perplexity.value()), chosen.seed.value()
        groups, models = self._groups()[0], self._inspector.open_models
        work = partial(requests.draw_pair, models, vectors, pooling, other, way, groups)
        about = (vectors, pooling, other, way, self._settings.column)
        if self._ask(self._pair_asked, about, work, self._take_pair) and self.pair_card.pair is None:
            self.pair_card.clear(self.tr("Computing…"))

    def _ask_matrix(self) -> None:
        vectors, pooling = self._vectors, self._pooling()
        if vectors is None or pooling is None:
            return
        by_group = self.similarity_card.is_by_group
        work = partial(requests.compare_texts, vectors, pooling, self._groups()[0], by_group)
        about = (vectors, pooling, self._settings.column, by_group)
        self._ask(self._matrix_asked, about, work, self._take_matrix)

    def _ask_layers(self) -> None:
        vectors, pooling = self._vectors, self._pooling()
        if vectors is None or pooling is None:
            return
        if pooling.kind not in (*LAYERED, WORD):
            why = self.tr("This pooling takes several layers. Choose mean, maximum or [CLS] to follow one.")
            self._layers_asked.drop()
            self.layers_card.clear(why)
            return
        work = partial(requests.compare_layers, vectors, pooling.kind, self._groups()[0])
        about = (vectors, pooling.kind, self._settings.column)
        if not self._ask(self._layers_asked, about, work, self._take_layers):
            self.layers_card.plot.set_marked(self._vectors_card.layer)

    def _compare_on(self, own: bool) -> None:
        if own and self._vectors is not None:
            self.compare(self._vectors.source)
        else:
            self.bundled_wanted.emit()

    def _ask(
        self, channel: Channel, about: Hashable, work: Callable[[], Any], heard: Callable[[Any], None]
    ) -> bool:
        is_new = channel.ask(
            about,
            work,
            heard=heard,
            refused=self.refused.emit,
            progress=self.progressed.emit,
            ended=self.busy_changed.emit,
        )
        self.busy_changed.emit()
        return is_new

    def _take_map(self, mapped: TextMap) -> None:
        column = self._settings.column
        self.map_card.show_map(mapped, self._coloring(), column)
        self.map_card.set_title(self._title(mapped.vectors))
        hint = self.tr("{count} points · mean similarity of any two {similarity}")
        count = words.number(len(mapped.projected.places))
        self.map_card.set_hint(hint.format(count=count, similarity=words.decimal(mapped.any_two, 2)))
        self.map_card.plot.set_caption(self._map_lines(mapped, column))
        wanted, self._wanted_place = self._wanted_place, -1
        if wanted >= 0:
            self.map_card.choose_place(wanted)
        if self.map_card.chosen_place >= 0:
            self._neighbours_asked.drop()  # they are marked among other points now
            self._ask_neighbours(self.map_card.chosen_place)

    def choose_place(self, place: int) -> None:
        """Choose a text on the map, by its place; as soon as it is drawn. -1: none."""
        self._wanted_place = self._wanted_use = place
        if self.paths_card.found is not None and self.paths_card.found.vectors is self._vectors:
            self._choose_use()
        if place >= 0 and not self._map_asked.is_asking and self.map_card.vectors is self._vectors:
            self._wanted_place = -1
            self.map_card.choose_place(place)
            self._ask_neighbours(place)

    def _choose_use(self) -> None:
        wanted, self._wanted_use = self._wanted_use, -1
        if wanted >= 0:
            self.paths_card.plot.set_chosen(wanted)

    @property
    def chosen_place(self) -> int:
        """Which of the texts is chosen on the view that is seen; -1: none."""
        if self.currentWidget() is self.paths_card:
            return self.paths_card.plot.chosen_use
        return self.map_card.chosen_place

    @property
    def compared(self) -> str:
        """On which texts poolings were compared: OWN, BUNDLED, or nothing."""
        if self._compared is None or self._vectors is None:
            return ""
        return OWN if self._compared is self._vectors.source else BUNDLED

    def _take_pair(self, pair: TwoModels) -> None:
        self.pair_card.show_pair(pair, self._coloring(), self._settings.column)
        self.pair_card.set_title(self._title(pair.vectors))
        lines = self._lines(pair.vectors)
        beside = (
            (translate("embeddings", "second model"), pair.name),
            (translate("embeddings", "second model’s weights, sha256"), pair.fingerprint),
            (translate("embeddings", "second model’s layer"), str(pair.other_pooling.layer)),
            (
                translate("embeddings", "coloured by"),
                self._settings.column or translate("embeddings", "nothing"),
            ),
            (translate("embeddings", "classes in the two models"), self.pair_card.said.text()),
        )
        self.pair_card.plot.set_caption([*lines, *beside])

    def _title(self, vectors: Vectors) -> str:
        """Return which vectors are shown: "Mean of all pieces, layer 4 of 4"."""
        said = self._vectors_card.layer_said()
        first = f"“{vectors.source.word}”" if vectors.spans else self._vectors_card.pooling_words()
        return self.tr("{vectors}, layer {layer}").format(vectors=first, layer=said) if said else first

    def _take_matrix(self, matrix: CosineMatrix) -> None:
        coloring = self._coloring()
        self.similarity_card.show_matrix(matrix, coloring if isinstance(coloring, PointClasses) else None)
        self.similarity_card.set_title(self._title(matrix.vectors))
        self.similarity_card.plot.set_caption(self._lines(matrix.vectors))

    def _take_layers(self, layers: LayerLikeness) -> None:
        self.layers_card.show_layers(layers, self._groups()[1], self._vectors_card.layer)
        self.layers_card.plot.set_caption(self._lines(layers.vectors, with_layer=False))

    def _take_comparison(
        self, source: TextSource, about: ModelSummary, layer: int, found: PoolingComparison
    ) -> None:
        at_layer = self.tr("{layer} of {depth}").format(layer=layer, depth=about.config.num_hidden_layers)
        self.poolings_card.show_comparison(found, about, source.words, at_layer)
        texts = (translate("embeddings", "texts"), source.words)
        lines = [*model_caption(about.name, about.fingerprint), texts, *self._layer_lines()]
        self.poolings_card.plot.set_caption(lines)

    def _lines(self, vectors: Vectors, *, with_layer: bool = True) -> Lines:
        """Return what a figure of vectors must say where it stands alone."""
        lines = model_caption(vectors.name, vectors.fingerprint)
        texts = f"{vectors.source.words} ({words.number(len(vectors.texts))})"
        lines.append((translate("embeddings", "texts"), texts))
        if vectors.spans:
            lines.append((translate("embeddings", "word"), vectors.source.word))
        lines.append((translate("embeddings", "pooling"), self._vectors_card.pooling_words()))
        return lines + (self._layer_lines() if with_layer else [])

    def _map_lines(self, mapped: TextMap, column: str) -> Lines:
        found = mapped.projected
        if found.shares is not None:
            shares = words.listed(words.share(share) for share in found.shares)
            kind = translate("embeddings", "PCA, share of the variance {shares}").format(shares=shares)
        else:
            template = translate("embeddings", "t-SNE, perplexity {perplexity}, seed {seed}")
            kind = template.format(perplexity=f"{found.perplexity:g}", seed=found.seed)
        return [
            *self._lines(mapped.vectors),
            (translate("embeddings", "map"), kind),
            (translate("embeddings", "coloured by"), column or translate("embeddings", "nothing")),
        ]

    def _layer_lines(self) -> Lines:
        said = self._vectors_card.layer_said()
        return [(translate("embeddings", "layer"), said)] if said else []
