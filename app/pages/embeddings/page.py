"""The Embeddings page: texts as points, their neighbours, and two demonstrations that are measured.

Vectors are computed when asked for; then pooling, layer, map and colours follow at once from those there are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.labels import ElidedLabel, set_or_hide, tip
from app.look.layout import STRETCH, column, row
from app.look.pending import ProgressLine
from app.look.widgets import GAP, SETTINGS_WIDTH, button, holder, keep_private, named
from app.pages.embeddings import requests
from app.pages.embeddings.requests import WORD, TextSource, Vectors
from app.pages.embeddings.settings import MapSettings, VectorsCard
from app.pages.embeddings.state import EmbeddingsState, lines_of
from app.pages.embeddings.tabs import BUNDLED, OWN, TABS, Views
from app.pages.embeddings.texts import TYPED, SourceCard
from app.pages.inside.page import LookingPage
from app.plots.figure import Figure
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.vectors import LAYERED, kinds_of
from engine.inspect.loaded_model import ModelSummary
from engine.model.model_name import ModelName
from engine.questions.embed import EmbeddingQuestion
from engine.questions.how_read import ReadSettings
from engine.questions.word_in_context import WordInContextQuestion

COMMAND_FILE = "embeddings.npz"
WORD_FILE = "word.npz"
NARROW = 860  # px; below, the buttons of the header are short of room


class EmbeddingsPage(LookingPage[EmbeddingsState]):
    """Settings at the left; map, similarity, layers, poolings and two models as tabs."""

    state_kind = EmbeddingsState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("embeddings_page")
        self.header.title_label.setText(self.tr("Embeddings"))
        self.header.set_sentence(self.tr("See which texts are similar."))
        self._vectors_asked = Channel(self, session.workers.models)
        self.vectors: Vectors | None = None  # an old answer stays until a new one comes
        self._about: ModelSummary | None = None
        self._is_stale = False
        self._coming: tuple[TextSource, EmbeddingsState] | None = None  # of the vectors that are on their way
        self._make_parts()
        self._lay_out()
        self._connect()
        self._show_state()

    def _make_parts(self) -> None:
        self.source_card = SourceCard(self.session)
        self.vectors_card = VectorsCard()
        self.map_settings = MapSettings()
        self.views = Views(self.session, self.vectors_card, self.map_settings)
        self.compute_button = button(self.tr("Compute vectors"), "primary", name="embeddings_compute")
        self.stop_button = button(self.tr("Stop"), "primary", name="embeddings_stop", call=self._stop)
        self.cls_button = button(
            self.tr("[CLS] or mean?"),
            name="embeddings_demo_cls",
            tool_tip=self.tr("Measure whether raw [CLS] is a poor sentence vector"),
        )
        self.word_button = button(
            self.tr("Follow “bank”"),
            name="embeddings_demo_word",
            tool_tip=self.tr("See how a word's vector moves with its context"),
        )
        self.copy_button = named(CopyCommandButton(), "copy_embeddings_command")
        copying = (self.copy_button, self.cls_button, self.word_button)
        for action in (*copying, self.compute_button, self.stop_button):
            self.header.add_action(action)

    def _lay_out(self) -> None:
        settings = column(self.source_card, self.vectors_card, self.map_settings, STRETCH, gap=GAP)
        left = QScrollArea(widgetResizable=True)
        left.setFrameShape(QScrollArea.Shape.NoFrame)
        left.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        left.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        left.setFixedWidth(SETTINGS_WIDTH)
        left.setWidget(holder(settings))
        self.status = named(ElidedLabel("", "muted"), "embeddings_status")
        self.bar = ProgressLine(width=120)
        self.bar.hide()
        right = column((self.views, 1), row((self.status, 1), self.bar, gap=12), gap=6)
        self.work.addLayout(row(left, (right, 1), gap=GAP), 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.copy_button.set_short(event.size().width() < NARROW)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.compute_button.clicked.connect(self.compute)
        self.cls_button.clicked.connect(self.show_cls)
        self.word_button.clicked.connect(self.show_word)
        self.source_card.changed.connect(self._source_changed)
        self.source_card.entered.connect(self.compute)
        self.source_card.table_wanted.connect(self._open_table)
        self.vectors_card.changed.connect(self._pooling_changed)
        self.views.refused.connect(self.refuse)
        self.views.busy_changed.connect(self._show_state)
        self.views.progressed.connect(self._show_progress)
        self.views.bundled_wanted.connect(self._compare_bundled)

    def model_ready(self, about: ModelSummary) -> None:
        self._about = about
        self.source_card.set_about(about)
        self.vectors_card.set_about(about, kinds_of(about))
        senses = self.source_card.senses
        self.word_button.setText(self.tr("Follow “{word}”").format(word=senses.word if senses else ""))
        self.views.set_about(about)
        self._show_state()
        if self.vectors is not None:  # another checkpoint: the same texts again
            self._compute(self.vectors.source)
        elif self.session.data.table is None and not self.source_card.has_typed and self._to_show is None:
            self.source_card.show_topics()  # something to see at once

    def compute(self) -> None:
        """Compute the vectors of the texts that are meant, in place of those there are."""
        source = self.source_card.source()
        if source is not None:
            self._compute(source)
        self._show_state()

    def _compute(self, source: TextSource) -> None:
        self.vectors_card.set_word(source.kind == WORD)
        folder, pooling = self.inspector.folder, self.vectors_card.pooling()
        if folder is None or pooling is None or self._about is None:
            return
        self.accept()
        group = self.tr("sense") if source.kind == WORD else self.tr("group")
        self._vectors_asked.ask(
            (folder, self._about.fingerprint, source, pooling),
            partial(requests.find_vectors, self.inspector.open_models, folder, source, pooling, group),
            heard=self._take_vectors,
            refused=self.refuse,
            progress=self._show_progress,
            ended=self._show_state,
        )
        self._show_state()

    @property
    def is_asking(self) -> bool:
        """Whether something to show is still to come."""
        return self._vectors_asked.is_asking or self.views.is_asking

    def _stop(self) -> None:
        self._vectors_asked.drop()
        self.views.stop()
        self._show_state()

    def _take_vectors(self, vectors: Vectors) -> None:
        before, self.vectors, self._is_stale = self.vectors, vectors, False
        keep_private(self.views, vectors.source.table is not None)
        if self._about is not None:
            self.vectors_card.set_about(self._about, vectors.kinds)
        self.vectors_card.set_word(bool(vectors.spans))
        same_columns = before is not None and before.columns.keys() == vectors.columns.keys()
        wanted = "" if same_columns else self._first_column(vectors)
        coming, self._coming = self._coming, None
        again = coming[1] if coming is not None and coming[0] is vectors.source else None
        if again is not None:
            wanted = next(iter(vectors.columns), "")
        self.map_settings.set_vectors(vectors, wanted)
        if again is not None and not again.is_colored:
            self.map_settings.color_by_nothing()
        self.views.set_vectors(vectors)
        if again is not None:
            self.views.similarity_card.set_order(again.by_group)
            self.views.refresh()
            self.views.choose_place(again.point)
            if again.compared == OWN:
                self.views.compare(vectors.source)
            elif again.compared == BUNDLED:
                self._compare_bundled()
        self._show_state()

    # ---- what is shown, kept and shown again

    @property
    def state(self) -> EmbeddingsState:
        model, vectors, views, card = self.model_shown, self.vectors, self.views, self.vectors_card
        if vectors is None:
            raise UserError(marked("engine", "There is nothing to keep here yet. Compute vectors first."))
        source, column, other = vectors.source, self.map_settings.column, views.pair_card.other
        state = EmbeddingsState(
            model=model,
            other=other if views.currentWidget() is views.pair_card else None,
            tab=TABS[views.currentIndex()],
            kind=WORD if vectors.spans else TYPED,
            texts=lines_of(vectors, column),
            group=column or source.group,
            word=source.word,
            longest=source.max_length,
            of=source.words,
            pooling=str(card.kind_box.currentData()),
            layer=card.layer,
            method=self.map_settings.method,
            perplexity=self.map_settings.perplexity.value(),
            seed=self.map_settings.seed.value(),
            is_colored=bool(column),
            by_group=views.similarity_card.is_by_group,
            point=views.map_card.chosen_place,
            compared=views.compared,
        )
        state.check()
        return state

    def take_state(self, state: EmbeddingsState) -> None:
        about = self._about
        assert about is not None  # it is there before this is called
        if state.layer > about.config.num_hidden_layers or state.pooling not in kinds_of(about):
            raise UserError(
                marked("engine", "This scene shows a layer, or a pooling, that the model does not have.")
            )
        source = state.source
        self._coming = (source, state)
        self.source_card.put(source)
        self.vectors_card.put(state.pooling, state.layer)
        self.map_settings.put(state.method, state.perplexity, state.seed)
        if state.other is not None:
            self.views.pair_card.set_other(state.other)
        self.views.setCurrentIndex(TABS.index(state.tab))
        self._compute(source)
        self._is_stale = False

    def figures_shown(self) -> tuple[Figure, ...]:
        card = self.views.currentWidget()
        return tuple(one for one in card.findChildren(Figure) if one is card.plot and not one.is_empty)  # type: ignore[attr-defined]

    def _first_column(self, vectors: Vectors) -> str:
        """Return what to colour by at first: the label, or the groups that were typed."""
        if vectors.source.table is None:
            return next(iter(vectors.columns), "")
        return self.session.data.roles.label if self.session.data.roles else ""

    def _pooling_changed(self) -> None:
        pooling = self.vectors_card.pooling()
        if self.vectors is None or pooling is None:
            return
        if self.vectors.has(pooling):
            self.views.refresh()
        else:  # vectors of so many texts are kept for one pooling only
            self._compute(self.vectors.source)

    def show_cls(self) -> None:
        """Measure poolings: on the texts of the page where they have classes, else on bundled ones."""
        self.views.setCurrentWidget(self.views.poolings_card)
        if self.views.has_classes and self.vectors is not None and not self.vectors.spans:
            self.views.compare(self.vectors.source)
        else:
            self._compare_bundled()

    def show_word(self) -> None:
        """Follow a word of two senses through its contexts."""
        self.views.setCurrentWidget(self.views.layers_card)
        self.source_card.show_senses()

    def _compare_bundled(self) -> None:
        topics = self.source_card.topics
        if topics is not None:
            self.views.compare(TextSource(TYPED, lines=topics.sentences, words=self.tr("bundled sentences")))

    def _open_table(self) -> None:
        self.session.show_page("data")

    def _offer_command(self) -> None:
        """Let the line be copied where a command makes the vectors on screen."""
        vectors, said, lacking = self.vectors, "", ""
        if vectors is None:
            lacking = self.tr("There are no vectors yet.")
        elif vectors.source.kind == WORD:
            said = self.tr("The command writes the word's vectors at every layer to a file.")
        elif vectors.source.table is None:
            lacking = self.tr("The command reads a table, not typed sentences. Open one to copy it.")
        elif len(vectors.source.rows) < vectors.source.table.num_rows:
            said = self.tr("The command writes the vectors of all {count} rows, those on screen among them.")
            said = said.format(count=words.number(vectors.source.table.num_rows))
        else:
            said = self.tr("The command writes these vectors to a file.")
        self.copy_button.offer(lacking, said)

    def copy_command(self) -> None:
        """Put the command that writes these vectors to a file on the clipboard."""
        vectors, pooling = self.vectors, self.vectors_card.pooling()
        if vectors is not None and vectors.source.kind == WORD:
            self.copy_button.copy(self._word_command(vectors))
            return
        if vectors is None or vectors.source.table is None or pooling is None:
            return
        source, table = vectors.source, vectors.source.table
        asked = EmbeddingQuestion(
            ModelName(vectors.folder),
            table.path,
            source.column,
            label=self.map_settings.column,
            pooling=pooling.kind,
            layer=pooling.layer if pooling.kind in LAYERED else -1,
            max_length=source.max_length,
            out=Path(COMMAND_FILE),
            how=ReadSettings.of(source.overrides or {}),
        )
        self.copy_button.copy(asked.command())

    def _word_command(self, vectors: Vectors) -> str:
        source, table = vectors.source, vectors.source.table
        asked = WordInContextQuestion(ModelName(vectors.folder), source.word, out=Path(WORD_FILE))
        if table is None or source.lines:
            return replace(asked, sentences=tuple(text for _group, text in source.lines)).command()
        how = ReadSettings.of(source.overrides or {})
        return replace(asked, data=table.path, text=source.column, how=how).command()

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and self.bar.hear(event):
            set_or_hide(
                self.status, words.event_words(event) if event.total else words.tr_engine(event.stage)
            )

    def _source_changed(self) -> None:
        self._is_stale = self.vectors is not None
        self._show_state()

    def _show_state(self) -> None:
        """Show the actions and words that fit the moment."""
        is_computing = self._vectors_asked.is_asking or self.views.is_comparing
        lacking = self.source_card.lacking()
        self.stop_button.setVisible(is_computing)
        self.compute_button.setVisible(not is_computing)
        self.compute_button.setEnabled(self._about is not None and not lacking)
        self.compute_button.setToolTip(tip(lacking))
        for demonstration in (self.cls_button, self.word_button):
            demonstration.setEnabled(self._about is not None)
        self._offer_command()
        self.bar.setVisible(self.is_asking)
        ready = self.tr(
            "Press “Compute vectors”: every text becomes a point, and similar texts are close together."
        )
        self.views.set_empty_text(self.tr("Computing…") if is_computing else lacking or ready)
        if not self.is_asking:
            set_or_hide(self.status, self._state_words())

    def _state_words(self) -> str:
        vectors = self.vectors
        if vectors is None:
            return ""
        if self._is_stale:
            return self.tr("The texts at the left have changed: press “Compute vectors” to see them.")
        count, width = len(vectors.texts), words.number(vectors.values.shape[-1])
        if vectors.spans:
            said = words.counted(
                count,
                self.tr("“{word}” in one place, {width} numbers"),
                self.tr("“{word}” in {count} places, {width} numbers each"),
            )
            said = said.format(word=vectors.source.word, width=width)
        else:
            one, many = self.tr("1 text, {width} numbers"), self.tr("{count} texts, {width} numbers each")
            said = words.counted(count, one, many).format(width=width)
        parts = [said, *(words.say(note).rstrip(".") for note in vectors.notes)]
        if vectors.seconds:
            rate = words.number(len(vectors.texts) / vectors.seconds)
            took = self.tr("{time}, {rate} texts a second")
            parts.append(took.format(time=time_taken(vectors.seconds), rate=rate))
        return " · ".join(parts)


def time_taken(seconds: float) -> str:
    """Return a time so that the rate beside it can be worked out: "0.12 s", "45 s", "3 min"."""
    if seconds >= 9.5:
        return words.duration(seconds)
    return words.translate("words", "{number} s").format(number=words.scientific(seconds, 2))
