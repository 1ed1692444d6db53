"""One text in several vocabularies side by side: a column each, with its pieces and what it did to the text.

Three small ones, a kind each, are trained on the spot from sample texts, so that all kinds can be compared
without any download. What a column says is computed from the text, never known from a name.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QSizePolicy, QWidget

from app import words
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row
from app.look.pending import Pending, ProgressLine
from app.look.widgets import GAP, Card, EmptyState, button, named, set_role
from app.pages.choose.model_box import BoxChoice, ModelBox
from app.pages.choose.new_model import ask_for_vocabulary, vocabularies, vocabulary_name
from app.pages.inside.texts import TextPair
from app.pages.tokenizer.requests import (
    MOST_COMPARED,
    ComparedText,
    OpenVocabulary,
    compare,
    open_three_kinds,
    read_vocabulary,
)
from app.pages.tokenizer.vocabulary import VocabularyBar, name_of_vocabulary
from app.pages.tokenizer.words import pieces_words, topic_words, unknown_words, way_words
from app.plots.piece_flow import PieceFlow
from app.session import Session
from app.work.worker import Channel
from engine.events import Event
from engine.inspect.treatment import TOPICS

COLUMN_WIDTH, TOPIC_WIDTH = 188, 72  # px, at least; of the names of the rows
MOST_COLUMNS = 8
ADD = "add"


class SideBySideView(QWidget):
    """Asks when it is shown, and when the text or a vocabulary changes.

    steps_wanted: a vocabulary whose steps a person wants to see.
    """

    refused = Signal(object)
    steps_wanted = Signal(object)  # the vocabulary's path

    def __init__(self, session: Session, bar: VocabularyBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._inspector, self._bar = session, session.inspector, bar
        files, quick = session.workers.files, session.workers.quick
        self._training, self._reading, self._comparing = (
            Channel(self, files),
            Channel(self, quick),
            Channel(self, quick),
        )
        self.trained: tuple[OpenVocabulary, ...] = ()
        self.added: list[OpenVocabulary] = []
        self.found: tuple[ComparedText, ...] = ()
        self.flows: list[PieceFlow] = []
        self._is_asked = False
        self.texts = TextPair(session, name="tokenizer_side", with_pair=False)
        self.add_box = ModelBox(
            "tokenizer_add", self.tr("Add a vocabulary"), session, vocabulary_will_do=True
        )
        self.said = label("", "muted", wrap=True, name="tokenizer_side_said")
        self.cut = label("", "muted", wrap=True, name="tokenizer_side_cut")
        self.cut.hide()
        self.progress = ProgressLine("tokenizer_side_progress", width=140)
        self.progress.hide()
        self.empty = named(EmptyState(""), "tokenizer_side_empty")
        self._lay_out()
        self._connect()

    @property
    def vocabularies(self) -> tuple[OpenVocabulary, ...]:
        """All that are compared: those of the bar, those that were added, the three that are trained here."""
        named_above = [one for one in (self._bar.first, self._bar.second) if one is not None]
        trained = {one.path: one for one in self.trained}
        found = {one.path: one for one in (*named_above, *self.added) if one.path not in trained}
        return (*list(found.values())[: MOST_COLUMNS - len(trained)], *trained.values())

    # ---- asking

    def catch_up(self) -> None:
        """Compare, if this is on screen."""
        if not self.isVisible():
            return
        if not self._is_asked:
            self._is_asked = True
            self.progress.show()
            self.said.setText(self.tr("Three small vocabularies are being trained on sample texts…"))
            self._training.ask(
                "three kinds",
                open_three_kinds,
                heard=self._take_trained,
                refused=self._refuse_training,
                progress=self._show_progress,
                ended=self.progress.hide,
            )
        text, those = self._inspector.text[:MOST_COMPARED], self.vocabularies
        is_cut = len(self._inspector.text) > MOST_COMPARED
        only = self.tr("Only the first {count} characters are compared.")
        self.cut.setText(only.format(count=words.number(MOST_COMPARED)))
        self.cut.setVisible(is_cut)
        if not text.strip() or not those:
            self._comparing.drop()
            self._show(())
            return
        work = partial(compare, text, those)
        self._comparing.ask((text, *those), work, heard=self._show, refused=self.refused.emit)

    def add(self, path: Path | str) -> None:
        """Compare one more vocabulary: a model's folder or a vocab.txt."""
        path = Path(path).absolute()
        work = partial(read_vocabulary, path)
        self._reading.ask(path, work, heard=self._take_added, refused=self.refused.emit, again=True)
        self.add_box.set_choice(ADD)

    def remove(self, path: Path) -> None:
        """Compare one vocabulary less."""
        self.added = [one for one in self.added if one.path != path]
        self.catch_up()

    def _take_trained(self, found: tuple[OpenVocabulary, ...]) -> None:
        self.trained = found
        self.said.setText(
            self.tr(
                "The last three were trained here on the same English and Chinese passages of Wikipedia, to "
                "about the same size."
            )
        )
        self._bar.offer([one.path for one in found])
        self.catch_up()

    def _refuse_training(self, error: BaseException) -> None:
        self._is_asked = False  # the next time that this is shown there may be room on the disk
        self.said.setText(self.tr("No vocabulary could be trained here."))
        self.refused.emit(error)

    def _take_added(self, found: OpenVocabulary) -> None:
        self.added = [*(one for one in self.added if one.path != found.path), found]
        self.catch_up()

    def _show_progress(self, event: Event) -> None:
        self.progress.hear(event)

    # ---- showing

    def _show(self, found: tuple[ComparedText, ...]) -> None:
        self.found = found
        self.flows = []
        if not found:
            self.empty.set_text(self.tr("Type a text above to see how each vocabulary splits it."))
            self.views.show_nothing(self.empty)
            return
        inner = QWidget()
        set_role(inner, "clear")
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 4, 0)
        grid.setHorizontalSpacing(GAP + 4)
        grid.setVerticalSpacing(8)
        topics = [topic for topic in TOPICS if any(topic in one.treatment.said for one in found)]
        for line, topic in enumerate(topics, start=4):
            head = label(topic_words(topic), "muted")
            head.setFixedWidth(TOPIC_WIDTH)
            grid.addWidget(head, line, 0, Qt.AlignmentFlag.AlignTop)
        for place, one in enumerate(found, start=1):
            grid.setColumnStretch(place, 1)
            grid.setColumnMinimumWidth(place, COLUMN_WIDTH)
            self._fill(grid, place, one, topics)
        grid.setRowStretch(grid.rowCount(), 1)
        bar = self._scroll.horizontalScrollBar()
        scrolled = bar.value()
        self._scroll.setWidget(inner)
        bar.setValue(scrolled)
        self.views.show_answer()

    def _fill(self, grid: QGridLayout, place: int, one: ComparedText, topics: list[str]) -> None:
        top = Qt.AlignmentFlag.AlignTop
        name = name_of_vocabulary(one.vocabulary.path)
        title = ElidedLabel(name, "card-title")
        title.setToolTip(tip(name))
        steps = button(self.tr("Steps"), "link", tool_tip=self.tr("See step by step how it splits the text"))
        steps.setObjectName(f"tokenizer_steps_{place}")
        steps.setAccessibleName(self.tr("Steps of {name}").format(name=name))
        steps.clicked.connect(partial(self._want_steps, one.vocabulary.path))
        close = button(self.tr("Remove"), "link", name=f"tokenizer_remove_{place}")
        close.setAccessibleName(self.tr("Remove {name}").format(name=name))
        close.clicked.connect(partial(self._removed, one.vocabulary.path))
        if all(added.path != one.vocabulary.path for added in self.added):
            close.hide()
        grid.addLayout(row((title, 1), steps, close, gap=8), 0, place)
        grid.addWidget(label(way_words(one.vocabulary), "muted", wrap=True), 1, place, top)
        counted = label(pieces_words(one.treatment.num_pieces), "big")
        counted.setObjectName(f"tokenizer_pieces_{place}")
        unknown = label(
            unknown_words(one.treatment.num_unknown), "refusal" if one.treatment.num_unknown else "muted"
        )
        grid.addLayout(row(counted, (unknown, 1), gap=8), 2, place)
        flow = named(PieceFlow(self.tr("Pieces of {name}").format(name=name)), f"tokenizer_flow_{place}")
        flow.set_words(one.pieces)
        flow.set_caption([(self.tr("vocabulary"), name), (self.tr("text"), self._inspector.text)])
        self.flows.append(flow)
        grid.addWidget(flow, 3, place, top)
        for line, topic in enumerate(topics, start=4):
            sentences = one.treatment.said.get(topic, ())
            text = label(words.sentences(words.say(sentence) for sentence in sentences), wrap=True)
            text.setObjectName(f"tokenizer_{topic}_{place}")
            grid.addWidget(text, line, place, top)

    def _want_steps(self, path: Path, _checked: bool = False) -> None:
        self.steps_wanted.emit(path)

    def _removed(self, path: Path, _checked: bool = False) -> None:
        self.remove(path)

    # ---- building

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.catch_up()

    def _connect(self) -> None:
        self.add_box.chosen.connect(self._choose)
        self._inspector.text_changed.connect(self.catch_up)

    def _choose(self, path: str) -> None:
        if path != ADD:
            self.add(path)

    def _lay_out(self) -> None:
        settings = self._session.settings
        files = [BoxChoice(vocabulary_name(path), path, path) for path in vocabularies(settings)]
        ask = partial(ask_for_vocabulary, self, settings, self._choose)
        first = BoxChoice(self.tr("Add a vocabulary…"), ADD)
        self.add_box.set_own([first], files, [(self.tr("Choose a vocab.txt…"), ask)])
        self.add_box.set_choice(ADD)
        self.add_box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.add_box.setFixedWidth(220)
        self._scroll = QScrollArea(widgetResizable=True)
        set_role(self._scroll, "clear")
        card = Card()
        card.add(self._scroll, 1)
        self.views = Pending(card, self.empty, name="tokenizer_side")
        head = row((self.said, 1), self.progress, self.add_box, gap=10)
        column(self.texts, head, self.cut, self.add_box.refusal, (self.views, 1), gap=GAP, parent=self)
