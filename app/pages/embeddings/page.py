"""The Embeddings page: texts as points, their neighbours, and two demonstrations that are measured.

Vectors are computed when asked for; then pooling, layer, map and colours follow at once from what is held.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.labels import ElidedLabel, set_or_hide, tip
from app.look.widgets import GAP, SETTINGS_WIDTH, button, set_role
from app.pages.embeddings.requests import WORD, Held, Source, vectors_task
from app.pages.embeddings.settings import MapSettings, VectorsCard
from app.pages.embeddings.tabs import KEYS, POOLINGS, Views
from app.pages.embeddings.texts import TYPED, SourceCard
from app.pages.inside.page import LookingPage
from app.session import Session
from engine.commands.command_line import embed_command, word_command
from engine.events import Event, Progress
from engine.inspect.embeddings.vectors import KINDS, LAYERED
from engine.inspect.subject import About

VECTORS = "embeddings vectors"
COMMAND_FILE = "embeddings.npz"
WORD_FILE = "word.npz"
NARROW = 860  # px; below, the buttons of the header are short of room


class EmbeddingsPage(LookingPage):
    """Settings at the left; map, similarity, layers and poolings as tabs."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("embeddings_page")
        self.header.title_label.setText(self.tr("Embeddings"))
        self.header.set_sentence(self.tr("See what is alike."))
        self._held: Held | None = None
        self._about: About | None = None
        self._is_stale = False
        self._make_parts()
        self._lay_out()
        self._connect()
        self.forget_when_gone(VECTORS, *KEYS)
        self._show_state()

    def _make_parts(self) -> None:
        self.source_card = SourceCard(self.session)
        self.vectors_card = VectorsCard()
        self.map_settings = MapSettings()
        self.views = Views(self.session, self.vectors_card, self.map_settings)
        self.compute_button = button(self.tr("Compute vectors"), "primary", name="embeddings_compute")
        self.stop_button = button(self.tr("Stop"), "primary", name="embeddings_stop")
        self.cls_button = button(self.tr("[CLS] or mean?"), name="embeddings_demo_cls")
        self.word_button = button(self.tr("Follow “bank”"), name="embeddings_demo_word")
        self.cls_button.setToolTip(self.tr("Measure whether raw [CLS] is a poor sentence vector"))
        self.word_button.setToolTip(self.tr("See how a word's vector moves with its context"))
        self.copy_button = CopyCommandButton()
        self.copy_button.setObjectName("copy_embeddings_command")
        copying = (self.copy_button, self.cls_button, self.word_button)
        for action in (*copying, self.compute_button, self.stop_button):
            self.header.add_action(action)

    def _lay_out(self) -> None:
        inner = QWidget()
        set_role(inner, "clear")
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for card in (self.source_card, self.vectors_card, self.map_settings):
            column.addWidget(card)
        column.addStretch(1)
        left = QScrollArea(widgetResizable=True)
        left.setFrameShape(QScrollArea.Shape.NoFrame)
        left.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        left.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        left.setFixedWidth(SETTINGS_WIDTH)
        left.setWidget(inner)
        self.status = ElidedLabel("", "muted")
        self.status.setObjectName("embeddings_status")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(120)
        self.bar.hide()
        foot = QHBoxLayout()
        foot.setSpacing(12)
        foot.addWidget(self.status, 1)
        foot.addWidget(self.bar)
        right = QVBoxLayout()
        right.setSpacing(6)
        right.addWidget(self.views, 1)
        right.addLayout(foot)
        across = QHBoxLayout()
        across.setSpacing(GAP)
        across.addWidget(left)
        across.addLayout(right, 1)
        self.work.addLayout(across, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.copy_button.set_short(event.size().width() < NARROW)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.compute_button.clicked.connect(self.compute)
        self.stop_button.clicked.connect(self._stop)
        self.cls_button.clicked.connect(self.show_cls)
        self.word_button.clicked.connect(self.show_word)
        self.source_card.changed.connect(self._source_changed)
        self.source_card.entered.connect(self.compute)
        self.source_card.table_wanted.connect(self._open_table)
        self.vectors_card.changed.connect(self._pooling_changed)
        self.views.failed.connect(self._failed)
        self.views.busy_changed.connect(self._show_state)
        self.views.progressed.connect(self._show_progress)
        self.views.bundled_wanted.connect(self._compare_bundled)

    # ---- the model

    def model_ready(self, about: About) -> None:
        kinds = tuple(kind for kind in KINDS if kind != "mix" or about.info.get("layer_mix"))
        if not about.has_pooler:
            kinds = tuple(kind for kind in kinds if kind != "pooled")
        self._about = about
        self.source_card.set_about(about)
        self.vectors_card.set_about(about, kinds)
        senses = self.source_card.senses
        self.word_button.setText(self.tr("Follow “{word}”").format(word=senses.word if senses else ""))
        self.views.set_about(about)
        self._show_state()
        if self._held is not None:  # another checkpoint: the same texts again
            self._compute(self._held.source)
        elif self.session.table is None and not self.source_card.has_typed:
            self.source_card.show_topics()  # something to see at once

    # ---- vectors

    @Slot()
    def compute(self) -> None:
        """Compute the vectors of the texts that are meant, in place of those there are."""
        source = self.source_card.source()
        if source is not None:
            self._compute(source)
        self._show_state()

    def _compute(self, source: Source) -> None:
        self.vectors_card.set_word(source.kind == WORD)
        folder, pooling = self.laboratory.folder, self.vectors_card.pooling()
        if folder is None or pooling is None or self._about is None:
            return
        self.accept()
        group = self.tr("sense") if source.kind == WORD else self.tr("group")
        self.laboratory.ask(
            VECTORS,
            lambda bench: vectors_task(bench, folder, source, pooling, group),
            heard=self._take_held,
            failed=self._failed,
            ended=self._show_state,
            heard_progress=self._show_progress,
        )
        self._show_state()

    @Slot()
    def _stop(self) -> None:
        for key in (VECTORS, *KEYS):
            self.laboratory.drop(key)
        self._show_state()

    def _take_held(self, held: Held) -> None:
        before, self._held, self._is_stale = self._held, held, False
        if self._about is not None:
            self.vectors_card.set_about(self._about, held.kinds)
        self.vectors_card.set_word(bool(held.spans))
        same_columns = before is not None and before.columns.keys() == held.columns.keys()
        self.map_settings.set_held(held, "" if same_columns else self._first_column(held))
        self.views.set_held(held)
        self._show_state()

    def _first_column(self, held: Held) -> str:
        """Return what to colour by at first: the label, or the groups that were typed."""
        if held.source.table is None:
            return next(iter(held.columns), "")
        return self.session.roles.label if self.session.roles else ""

    @Slot()
    def _pooling_changed(self) -> None:
        pooling = self.vectors_card.pooling()
        if self._held is None or pooling is None:
            return
        if self._held.has(pooling):
            self.views.refresh()
        else:  # vectors of so many texts are held for one pooling only
            self._compute(self._held.source)

    # ---- the demonstrations

    @Slot()
    def show_cls(self) -> None:
        """Measure poolings: on the texts of the page where they have classes, else on bundled ones."""
        self.views.setCurrentWidget(self.views.poolings_card)
        if self.views.has_classes and self._held is not None and not self._held.spans:
            self.views.compare(self._held.source)
        else:
            self._compare_bundled()

    @Slot()
    def show_word(self) -> None:
        """Follow a word of two senses through its contexts."""
        self.views.setCurrentWidget(self.views.layers_card)
        self.source_card.show_senses()

    @Slot()
    def _compare_bundled(self) -> None:
        topics = self.source_card.topics
        if topics is not None:
            self.views.compare(Source(TYPED, lines=topics.sentences, words=self.tr("bundled sentences")))

    @Slot()
    def _open_table(self) -> None:
        self.session.page_requested.emit("data")

    # ---- as a command

    def _offer_command(self) -> None:
        """Let the line be copied where a command makes the vectors on screen."""
        held, said, lacking = self._held, "", ""
        if held is None:
            lacking = self.tr("There are no vectors yet.")
        elif held.source.kind == WORD:
            said = self.tr("The command writes the word's vectors at every layer to a file.")
        elif held.source.table is None:
            lacking = self.tr("The command reads a table, not typed sentences. Open one to copy it.")
        elif len(held.source.rows) < held.source.table.num_rows:
            said = self.tr("The command writes the vectors of all {count} rows, those on screen among them.")
            said = said.format(count=words.number(held.source.table.num_rows))
        else:
            said = self.tr("The command writes these vectors to a file.")
        self.copy_button.offer(lacking, said)

    @Slot()
    def copy_command(self) -> None:
        """Put the command that writes these vectors to a file on the clipboard."""
        held, pooling = self._held, self.vectors_card.pooling()
        if held is not None and held.source.kind == WORD:
            self.copy_button.copy(self._word_command(held))
            return
        if held is None or held.source.table is None or pooling is None:
            return
        source, table = held.source, held.source.table
        command = embed_command(
            held.folder,
            table.path,
            COMMAND_FILE,
            source.overrides,
            text=source.column,
            label=self.map_settings.column,
            pooling=pooling.kind,
            layer=pooling.layer if pooling.kind in LAYERED else None,
            max_length=source.max_length,
        )
        self.copy_button.copy(command)

    def _word_command(self, held: Held) -> str:
        source, table = held.source, held.source.table
        if table is None or source.lines:
            sentences = [sentence for _group, sentence in source.lines]
            return word_command(held.folder, source.word, WORD_FILE, sentences)
        return word_command(
            held.folder,
            source.word,
            WORD_FILE,
            data=table.path,
            text=source.column,
            overrides=source.overrides,
        )

    # ---- the whole

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.refuse(error)

    @Slot(object)
    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            set_or_hide(
                self.status, words.event_words(event) if event.total else words.tr_engine(event.stage)
            )
            self.bar.setRange(0, event.total)
            self.bar.setValue(event.done)

    @Slot()
    def _source_changed(self) -> None:
        self._is_stale = self._held is not None
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        """Show the actions and words that fit the moment."""
        is_busy = any(self.laboratory.is_asking(key) for key in (VECTORS, *KEYS))
        is_computing = self.laboratory.is_asking(VECTORS) or self.laboratory.is_asking(POOLINGS)
        lacking = self.source_card.lacking()
        self.stop_button.setVisible(is_computing)
        self.compute_button.setVisible(not is_computing)
        self.compute_button.setEnabled(self._about is not None and not lacking)
        self.compute_button.setToolTip(tip(lacking))
        for demonstration in (self.cls_button, self.word_button):
            demonstration.setEnabled(self._about is not None)
        self._offer_command()
        self.bar.setVisible(is_busy)
        ready = self.tr("Press “Compute vectors”: every text becomes a point, and like texts lie together.")
        self.views.set_empty_text(self.tr("Computing…") if is_computing else lacking or ready)
        if not is_busy:
            set_or_hide(self.status, self._state_words())

    def _state_words(self) -> str:
        held = self._held
        if held is None:
            return ""
        if self._is_stale:
            return self.tr("The texts at the left have changed: press “Compute vectors” to see them.")
        count, width = len(held.texts), words.number(held.vectors.shape[-1])
        if held.spans:
            said = words.counted(
                count,
                self.tr("“{word}” in one place, {width} numbers"),
                self.tr("“{word}” in {count} places, {width} numbers each"),
            )
            said = said.format(word=held.source.word, width=width)
        else:
            one, many = self.tr("1 text, {width} numbers"), self.tr("{count} texts, {width} numbers each")
            said = words.counted(count, one, many).format(width=width)
        parts = [said, *(words.say(note).rstrip(".") for note in held.notes)]
        if held.seconds:
            rate = words.number(len(held.texts) / held.seconds)
            took = self.tr("{time}, {rate} texts a second")
            parts.append(took.format(time=time_taken(held.seconds), rate=rate))
        return " · ".join(parts)


def time_taken(seconds: float) -> str:
    """Return a time so that the rate beside it can be worked out: "0.12 s", "45 s", "3 min"."""
    if seconds >= 9.5:
        return words.duration(seconds)
    return words.translate("words", "{number} s").format(number=words.scientific(seconds, 2))
