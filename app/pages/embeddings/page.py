"""The Embeddings page: four questions, the first of them answered as soon as there is a model.

Vectors are computed once; then pooling, layer, map and colours follow at once from those there are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.labels import WholeLabel, set_or_hide, tip
from app.look.layout import STRETCH, column, row, stacked
from app.look.pending import ProgressLine
from app.look.widgets import GAP, SETTINGS_WIDTH, Card, button, holder, keep_private, named
from app.pages.embeddings import requests
from app.pages.embeddings.commands import command_of
from app.pages.embeddings.questions import QuestionBar
from app.pages.embeddings.requests import WORD, TextSource, Vectors
from app.pages.embeddings.sentences import SentencesCard, sentence_lines
from app.pages.embeddings.settings import PCA, MapSettings, VectorsCard
from app.pages.embeddings.state import EmbeddingsState, lines_of
from app.pages.embeddings.tabs import (
    BUNDLED,
    CLS_QUESTION,
    OWN,
    TABS,
    TEXTS_QUESTION,
    TUNED_QUESTION,
    VIEWS,
    WORD_QUESTION,
    Views,
)
from app.pages.embeddings.texts import TABLE, TYPED, SourceCard
from app.pages.inside.page import LookingPage
from app.pages.stated_page import InBar
from app.plots.figure import Figure
from app.session import Session
from app.work.texts_read import TableTexts, TextsRead, TypedTexts
from app.work.titles import model_title
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.contexts import typed_lines
from engine.inspect.embeddings.vectors import kinds_of
from engine.inspect.loaded_model import ModelSummary

LOW = 600  # px of the page, below which the answer is brief, and the sentences have its room
REST_MS = 700  # after the last key, before a word is followed through what was typed


class EmbeddingsPage(LookingPage[EmbeddingsState]):
    """A question and its picture; at the right the answer in words, or what the vectors are made of."""

    state_kind = EmbeddingsState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("embeddings_page")
        self.header.title_label.setText(self.tr("Embeddings"))
        self.header.set_sentence(
            self.tr("Where the model puts words and texts: similar ones lie close together.")
        )
        self._vectors_asked = Channel(self, session.workers.models)
        self._partner_asked = Channel(self, session.workers.quick)
        self.vectors: Vectors | None = None  # an old answer stays until a new one comes
        self._about: ModelSummary | None = None
        self._is_stale = False
        self._meant: TextSource | None = None  # whose vectors are on their way
        self._coming: tuple[TextSource, EmbeddingsState] | None = None  # of the vectors that are on their way
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._make_parts()
        self._lay_out()
        self._connect()
        self._show_state()

    def _make_parts(self) -> None:
        self.source_card = SourceCard(self.session)
        self.vectors_card = VectorsCard()
        self.map_settings = MapSettings()
        self.views = Views(self.session, self.vectors_card, self.map_settings)
        self.sentences = SentencesCard()
        self.questions = QuestionBar()
        self.compute_button = button(self.tr("Compute vectors"), "primary", name="embeddings_compute")
        self.stop_button = button(self.tr("Stop"), "link", name="embeddings_stop", call=self._stop)
        self.change_button = button(self.tr("Change"), "link", name="embeddings_change", call=self._turn)
        self.change_button.setToolTip(self.tr("Choose other texts, another pooling, layer or map"))
        self.method = named(WholeLabel("", "muted"), "embeddings_made")
        self.copy_button = named(CopyCommandButton(), "copy_embeddings_command")
        self.header.add_action(self.copy_button)

    def _lay_out(self) -> None:
        self.right = stacked(self._answer_side(), self._settings_side())
        side = holder(column((self.right, 1), self._made_card(), gap=GAP))
        side.setFixedWidth(SETTINGS_WIDTH)
        self.work.addWidget(self.questions)
        self.work.addLayout(row((self.views, 1), side, gap=GAP), 1)

    def _answer_side(self) -> QWidget:
        """Return the answer, and the sentences of a word."""
        self.filler = QWidget()
        return holder(column(self.views.answer, (self.sentences, 1), (self.filler, 1), gap=GAP))

    def _made_card(self) -> Card:
        """Return how the picture was made, and how far the next one is."""
        self.status = named(WholeLabel("", "muted"), "embeddings_status")
        self.bar = ProgressLine(width=72)
        self.bar.hide()
        self.stop_button.hide()
        made = Card()
        made.body.setSpacing(4)
        made.body.addLayout(row((self.method, 1), self.change_button))
        made.body.addLayout(row((self.status, 1), self.bar, self.stop_button))
        return made

    def _settings_side(self) -> QWidget:
        """Return what the vectors are made of."""
        settings = column(self.source_card, self.vectors_card, self.map_settings, STRETCH, gap=GAP)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(holder(settings))
        return holder(column((scroll, 1), self.compute_button))

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.compute_button.clicked.connect(self.compute)
        self.questions.chosen.connect(self.ask)
        self.questions.own_wanted.connect(self.ask_own)
        self.source_card.changed.connect(self._source_changed)
        self.source_card.entered.connect(self.compute)
        self.source_card.table_wanted.connect(self._open_table)
        self.source_card.contexts.textChanged.connect(self._contexts_typed)
        self._rest.timeout.connect(self.compute)
        self.vectors_card.changed.connect(self._pooling_changed)
        self.map_settings.changed.connect(self._show_method)
        self.views.refused.connect(self.refuse)
        self.views.busy_changed.connect(self._show_state)
        self.views.progressed.connect(self._show_progress)
        self.views.bundled_wanted.connect(self._compare_bundled)
        self.views.question_changed.connect(self._show_question)
        self.views.currentChanged.connect(self.in_bar_changed)
        self.views.answered.connect(self._show_sentences)
        self.sentences.edited.connect(self._edit_sentence)
        self.sentences.edit_wanted.connect(partial(self._open, self.source_card.contexts))
        paths = self.views.paths_card.plot
        self.sentences.chosen.connect(self._choose_use)
        self.views.map_card.asked.connect(self.sentences.choose_use)
        self.sentences.pointed.connect(paths.point_to)
        paths.chosen.connect(self.sentences.choose_use)
        paths.hovered.connect(self._light)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.views.answer.set_brief(self.height() < LOW)

    def forget(self) -> None:
        self.views.forget()

    @property
    def in_bar(self) -> InBar:
        pair, table = self.views.pair_card, None if self.vectors is None else self.vectors.source.table
        is_pair = self.views.currentWidget() is pair and pair.other is not None
        return InBar(
            other=model_title(pair.other) if is_pair and pair.other is not None else "",
            data=None if table is None else table.path.name,
        )

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        source, read = self.source_card.source(), super().texts_read
        if source is None:
            return ()
        if source.table is not None:
            texts: TableTexts | TypedTexts = TableTexts(source.table, source.column)
        else:
            texts = TypedTexts(tuple((text, "") for _group, text in source.lines))
        length = source.max_length if source.kind != WORD else None
        return tuple(replace(one, texts=texts, max_length=length or one.max_length) for one in read)

    def model_ready(self, about: ModelSummary) -> None:
        self._about = about
        self.source_card.set_about(about)
        self.vectors_card.set_about(about, kinds_of(about))
        self.views.set_about(about)
        self._show_question()
        if self.vectors is not None:  # another checkpoint: the same texts again
            self._compute(self.vectors.source)
        elif self._to_show is None and not self.source_card.has_typed:
            self.ask(WORD_QUESTION)  # something to see at once

    # ---- questions

    def ask(self, question: str) -> None:
        """Answer one of QUESTIONS."""
        self._close()
        {
            WORD_QUESTION: self.show_word,
            TEXTS_QUESTION: self.show_texts,
            CLS_QUESTION: self.show_cls,
            TUNED_QUESTION: self.show_tuned,
        }[question]()
        self._show_question()

    def show_word(self) -> None:
        """Follow the word that was followed before, or one of two meanings, through its sentences."""
        self.views.show_view("paths")
        if self.vectors is not None and self.vectors.spans:
            self._stay(self.vectors)
            return
        if not self.source_card.has_word:
            self.source_card.show_senses()
            return
        self.source_card.choose_kind(WORD)
        self.compute()

    def show_texts(self) -> None:
        """Show which texts are similar: those of the open table, or bundled ones."""
        self.views.show_view("map")
        self._ask_for_texts()

    def show_cls(self) -> None:
        """Measure poolings: on the texts of the page where they have classes, else on bundled ones."""
        self.views.show_view("poolings")
        if self.views.has_classes and self.vectors is not None and not self.vectors.spans:
            self.views.compare(self.vectors.source)
        else:
            self._compare_bundled()

    def show_tuned(self) -> None:
        """Show the same texts by another model: the one that this was fine-tuned from, or into."""
        self.views.show_view("pair")
        self._ask_for_texts()
        folder = self.inspector.folder
        if folder is not None and self.views.pair_card.other is None:
            known = tuple(entry.path for entry in self.session.library.offered())
            work = partial(requests.find_partner, folder, known)
            self._partner_asked.ask((folder, known), work, heard=self._take_partner, refused=self.refuse)

    def _take_partner(self, folder: Path | None) -> None:
        if folder is not None and self.views.pair_card.other is None:
            self.views.pair_card.set_other(folder)

    def _ask_for_texts(self) -> None:
        """Have vectors of whole texts: those there are, of the open table, or of bundled sentences."""
        if self.vectors is not None and not self.vectors.spans:
            self._stay(self.vectors)
            return
        if self.session.data.table is not None:
            self.source_card.choose_kind(TABLE)
            self.compute()
        elif self.source_card.typed.toPlainText().strip():
            self.source_card.choose_kind(TYPED)
            self.compute()
        else:
            self.source_card.show_topics()

    def _stay(self, vectors: Vectors) -> None:
        """Keep the vectors there are; those of another kind that are on their way are not wanted any more."""
        kind = vectors.source.kind
        if self._meant is not None and self._meant.kind != kind:
            self._vectors_asked.drop()
            self._meant = None
        self.source_card.choose_kind(kind)
        self.vectors_card.set_word(kind == WORD)
        self.views.refresh()

    def ask_own(self) -> None:
        """Have a word and its sentences typed."""
        self.ask(WORD_QUESTION)
        self._open(self.source_card.word)
        self.source_card.word.selectAll()

    def _turn(self) -> None:
        """Show what the vectors are made of, or the answer again."""
        if self.right.currentIndex():
            self._close()
        else:
            self._open()

    def _open(self, focus: QWidget | None = None) -> None:
        """Show what the vectors are made of, with the caret where it is wanted."""
        self.right.setCurrentIndex(1)
        self.change_button.setText(self.tr("Done"))
        if focus is not None:
            focus.setFocus(Qt.FocusReason.TabFocusReason)

    def _close(self) -> None:
        self.right.setCurrentIndex(0)
        self.change_button.setText(self.tr("Change"))

    def _show_question(self) -> None:
        """Press the chip of the question, and show the parts that go with it."""
        question = self.views.question
        vectors, senses = self.vectors, self.source_card.senses
        word = vectors.source.word if vectors is not None and vectors.spans else self.source_card.word.text()
        self.questions.set_word(word or (senses.word if senses else ""))
        self.questions.set_current(question)
        self.sentences.setVisible(question == WORD_QUESTION)
        self.filler.setVisible(question != WORD_QUESTION)
        self._show_method()
        self._offer_command()

    def _show_method(self) -> None:
        """Say in a line how the picture was made."""
        question = self.views.question
        if question == WORD_QUESTION:
            first = self.tr("Vector at the word")
        elif question == CLS_QUESTION:
            first = self.tr("Every pooling")
        else:
            first = self.vectors_card.pooling_words()
        parts = [first]
        if question in (TEXTS_QUESTION, TUNED_QUESTION) or self.views.currentIndex() == TABS.index("map"):
            parts.append("PCA" if self.map_settings.method == PCA else "t-SNE")
        elif question == WORD_QUESTION:
            parts.append("PCA")
        self.method.setText(words.phrases([*parts, self.tr("cosine")]))

    # ---- sentences of a word

    def _choose_use(self, use: int) -> None:
        """Choose on the picture the use whose row was chosen."""
        self.views.paths_card.plot.set_chosen(use)
        if self.views.currentWidget() is self.views.map_card and use >= 0:
            self.views.choose_place(use)

    def _light(self, use: int) -> None:
        """Light the row of the use under the pointer, else of the one that is chosen."""
        self.sentences.choose_use(use if use >= 0 else self.views.paths_card.plot.chosen_use)

    def _show_sentences(self) -> None:
        """Show a word's sentences with their meanings at the layer that is shown."""
        vectors, card = self.vectors, self.views.paths_card
        if vectors is None or not vectors.spans or card.found is None or card.found.vectors is not vectors:
            return
        is_typed = bool(vectors.source.lines) or vectors.source.table is None
        self.sentences.put(sentence_lines(card), can_add=is_typed)

    def _edit_sentence(self, place: int, typed: str) -> None:
        """Replace, add or remove a sentence. Args: place: among the lines; typed: "" removes it."""
        if self.vectors is None:
            return
        source = self.vectors.source
        lines = [*source.lines]
        lines[place : place + 1] = typed_lines(typed)
        if lines:
            self.source_card.put(replace(source, lines=tuple(lines)))
            self.compute()

    # ---- vectors

    def compute(self) -> None:
        """Compute the vectors of the texts that are meant, in place of those there are."""
        self._rest.stop()
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
        group = self.tr("meaning") if source.kind == WORD else self.tr("group")
        is_new = self._vectors_asked.ask(
            (folder, self._about.fingerprint, source, pooling),
            partial(requests.find_vectors, self.inspector.open_models, folder, source, pooling, group),
            heard=self._take_vectors,
            refused=self.refuse,
            progress=self._show_progress,
            ended=self._ended,
        )
        if is_new:
            self._meant = source
        self._show_state()

    def _ended(self) -> None:
        """Wait no longer for vectors: they are there, were refused, or are not wanted any more."""
        if not self._vectors_asked.is_asking:
            self._meant = None
        self._show_state()

    @property
    def is_asking(self) -> bool:
        """Whether something to show is still to come."""
        return self._vectors_asked.is_asking or self.views.is_asking

    def _stop(self) -> None:
        self._vectors_asked.drop()
        self._meant = None
        self.views.stop()
        self._show_state()

    def _take_vectors(self, vectors: Vectors) -> None:
        before, self.vectors, self._is_stale, self._meant = self.vectors, vectors, False, None
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
        self._settle_view(vectors)
        if again is not None:
            self.views.similarity_card.set_order(again.by_group)
            self.views.refresh()
            self.views.choose_place(again.point)
            if again.compared == OWN:
                self.views.compare(vectors.source)
            elif again.compared == BUNDLED:
                self._compare_bundled()
        self._show_state()

    def _settle_view(self, vectors: Vectors) -> None:
        """Turn to a view that other vectors have: those of a word, or of texts."""
        views = VIEWS[WORD_QUESTION if vectors.spans else TEXTS_QUESTION]
        tab = TABS[self.views.currentIndex()]
        if tab in VIEWS[WORD_QUESTION] and tab not in views:
            self.views.show_view(views[0])
        self._show_question()

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
            point=views.chosen_place,
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
        self._close()
        self.views.show_view(state.tab)
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
        if self._meant is None and self.vectors.has(pooling):
            self.views.refresh()
        else:  # vectors of so many texts are kept for one pooling only
            self._compute(self._meant if self._meant is not None else self.vectors.source)

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
        elif self._compares_meanings:
            said = self.tr("The command prints these figures for every layer.")
        elif vectors.source.kind == WORD:
            said = self.tr("The command writes the word’s vectors at every layer to a file.")
        elif vectors.source.table is None:
            lacking = self.tr("The command reads a table, not typed sentences. Open a table to copy it.")
        elif len(vectors.source.rows) < vectors.source.table.num_rows:
            said = self.tr("The command writes the vectors of all {count} rows, including those on screen.")
            said = said.format(count=words.number(vectors.source.table.num_rows))
        else:
            said = self.tr("The command writes these vectors to a file.")
        self.copy_button.offer(lacking, said)

    def copy_command(self) -> None:
        """Put the command for what is shown on the clipboard."""
        vectors, pooling, column = self.vectors, self.vectors_card.pooling(), self.map_settings.column
        if vectors is not None and pooling is not None:
            said = command_of(vectors, pooling, column, with_meanings=self._compares_meanings)
            self.copy_button.copy(said)

    @property
    def _compares_meanings(self) -> bool:
        """Whether a word's meanings are on screen."""
        found = self.views.paths_card.found
        if found is None or self.views.currentWidget() is not self.views.paths_card:
            return False
        return found.vectors is self.vectors and bool(found.meanings.partings)

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and self.bar.hear(event):
            set_or_hide(self.status, words.event_words(event) if event.total else words.say(event.sentence))

    def _contexts_typed(self) -> None:
        if self.source_card.contexts.hasFocus():
            self._rest.start()

    def _source_changed(self) -> None:
        self._is_stale = self.vectors is not None
        self.reading_changed.emit()
        self._show_state()

    def _show_state(self) -> None:
        """Show the actions and words that fit the moment."""
        is_computing = self._vectors_asked.is_asking or self.views.is_comparing
        lacking = self.source_card.lacking()
        self.stop_button.setVisible(is_computing)
        self.compute_button.setEnabled(self._about is not None and not lacking and not is_computing)
        self.compute_button.setToolTip(tip(lacking))
        self._offer_command()
        self.bar.setVisible(self.is_asking)
        self.in_bar_changed.emit()
        ready = self.tr("Every text becomes a point, and similar texts are close together.")
        self.views.set_empty_text(self.tr("Computing…") if is_computing else lacking or ready)
        if not self.is_asking:
            set_or_hide(self.status, self._state_words())

    def _state_words(self) -> str:
        vectors = self.vectors
        if vectors is None:
            return ""
        if self._is_stale:
            return self.tr("The texts have changed: press “Compute vectors” to see them.")
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
