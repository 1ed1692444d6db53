"""Which words an answer rests on: the question, the coloured text, the strongest words, and the sum.

Stands in a card of whatever page holds it. It asks by itself where that is quick and the widget is on screen;
what takes longer waits for the button, and can be stopped.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, column, row, set_margins, stacked
from app.look.pending import ProgressLine
from app.look.widgets import EmptyState, button, named
from app.pages.attention import attribution_words as said
from app.pages.attention import requests
from app.pages.attention.attribution_choices import AttributionChoices
from app.pages.attention.attribution_words import SumCheck
from app.pages.attention.resting_words import RestingWordsDialog
from app.plots.attribution import AttributedBars, AttributedText
from app.plots.buttons import save_icon
from app.session import Session
from app.work.worker import Channel
from engine.device import busy, flops_estimate
from engine.errors import UserError
from engine.events import Event, Progress
from engine.inspect.attribution.gradients import FEWEST_STEPS, INTEGRATED, Attribution
from engine.inspect.attribution.path import num_operations
from engine.inspect.loaded_model import ModelSummary
from engine.settings.shared import DeviceConfig
from engine.text.tokenizer import Encoding
from engine.text.words import Word, words_of
from engine.train.plan import told

QUICK_S = 2.0  # a result that takes longer waits for the button
OVERHEAD = 2.0  # of an attribution over its matrix products alone, as measured
SIDE_BY_SIDE = 620  # px: below, the bars stand under the text


class AttributionCard(QWidget):
    """Asks why a model answers as it does; `set_subject` says about what."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attribution_card")
        self._session, self._models = session, session.inspector.open_models
        self._dialog: RestingWordsDialog | None = None
        self._result_asked = Channel(self, session.workers.models)
        self._about: ModelSummary | None = None
        self._text = ""
        self._pair: str | None = None
        self._encoding: Encoding | None = None
        self._words: tuple[Word, ...] = ()
        self._waits = False  # for the button: it was stopped or refused
        self.result: Attribution | None = None
        self.choices = AttributionChoices()
        self.go_button = button(self.tr("Explain"), "primary", name="attribution_go", call=self._go)
        self.choices.first.addWidget(self.go_button)
        self.over_button = button(
            self.tr("Over the open table…"),
            name="attribution_over_table",
            tool_tip=self.tr("Which words drive the answers over many texts, word by word"),
        )
        self.over_button.clicked.connect(self._ask_over_table)
        self._make_pictures()
        self._make_foot()
        self._lay_out()
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._ask_if_quick)
        self.choices.changed.connect(self._renew)
        self.choices.unit_changed.connect(self._show_result)
        self.picture.word_chosen.connect(self._hide_word)
        self.bars.word_pointed.connect(self._mark_word)
        self._show_state(self.tr("Open a model and type a text."))

    def _make_pictures(self) -> None:
        self.heading = label("", "strong", wrap=True, name="attribution_heading")
        self.picture = named(AttributedText(self.tr("Attribution")), "attribution_text")
        self.bars_heading = label(self.tr("Most influential words"), "strong")
        self.bars = named(AttributedBars(self.tr("Most influential words")), "attribution_bars")
        self.bars.setMinimumWidth(210)
        self.bars.set_empty_text(self.tr("The most influential words appear here."))

    def _make_foot(self) -> None:
        self.sum = SumCheck()
        self.state = label("", "muted", wrap=True, name="attribution_state")
        self.progress = ProgressLine("attribution_progress")
        self.meaning = label("", wrap=True, name="attribution_meaning")
        self.refusal = label("", "refusal", wrap=True, name="attribution_refusal")
        self.caution = label(
            self.tr(
                "Blue words with + support the answer, orange words with − oppose it. Attention "
                "weights are not used: where a head looks does not show why the model decides."
            ),
            "muted",
            wrap=True,
        )

    def _lay_out(self) -> None:
        left = column(
            row((self.heading, 1), save_icon(self.picture)),
            *(self.picture, self.sum, self.state, self.progress, self.meaning),
            STRETCH,
            row(self.over_button, STRETCH),
            self.caution,
        )
        right = column(row((self.bars_heading, 1), save_icon(self.bars)), (self.bars, 1))
        inner = QWidget()
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        set_margins(self._sides, 0)
        self._sides.setSpacing(20)
        self._sides.addLayout(left, 3)
        self._sides.addLayout(right, 2)
        self.empty = named(EmptyState(""), "attribution_empty")
        self._stack = stacked(inner, self.empty)
        column(self.choices, self.refusal, (self._stack, 1), gap=10, margins=(0, 4, 0, 0), parent=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= SIDE_BY_SIDE
        directions = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(directions[0] if beside else directions[1])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._later.start()

    def set_subject(self, text: str, text_pair: str | None, about: ModelSummary | None) -> None:
        """Ask about this text, or pair, and this model from now on; None while there is no model."""
        if (text, text_pair, about) == (self._text, self._pair, self._about) and self._encoding is not None:
            return
        self._text, self._pair, self._about = text, text_pair, about
        self._encoding, self._words = None, ()
        problem = ""
        if about is not None:
            try:
                self._encoding = about.encode(text, text_pair)
            except UserError as error:
                problem = words.say_error(error)
        if about is not None and self._encoding is not None:
            self._words = words_of(self._encoding, text, text_pair)
            self.choices.set_subject(about, self._encoding, self._words)
        self._renew()
        if problem:
            self._refuse(problem)

    def _renew(self) -> None:
        """Forget the result on screen, show the plain words, and ask where that is quick."""
        self._result_asked.drop()
        self.result, self._waits = None, False
        self.refusal.hide()
        self.choices.setEnabled(self._encoding is not None)
        lacking = self._lacking()
        self.empty.set_text(lacking)
        self._stack.setCurrentIndex(1 if lacking else 0)
        self.choices.setVisible(not lacking)
        self.over_button.setVisible(self._about is not None and len(self._about.labels) > 1)
        if self._encoding is None or lacking:
            self.picture.clear()
            self.bars.clear()
            self._show_state("")
            return
        places = self.choices.asked_places()
        plain = said.plain_words(self._words, self._encoding, places, self._text, self._pair)
        self.picture.set_words(plain, can_hide=self.choices.can_hide)
        self.bars.clear()
        self._show_state(self._forecast_words())
        self._later.start()

    def _lacking(self) -> str:
        """Return which heads are missing and the way, where nothing can be asked."""
        if self._encoding is None or self.choices.wanted is not None or self._about is None:
            return ""
        if self._about.has_masked_words:
            return self.tr(
                "No word here can be masked. Type a text, or replace a word with [MASK], to see "
                "which words drive the guess."
            )
        if self._about.has_next_sentence:
            return self.tr(
                "This model only answers whether B follows A. Type a second text to see which "
                "words drive its answer."
            )
        return self.tr(
            "The model {name} has no trained head: no labels, no masked words, no next "
            "sentence. It gives no answer to explain. Fine-tune it, pretrain it further, or "
            "choose another model."
        ).format(name=self._about.name)

    def _seconds(self) -> float:
        """Return about how long a result takes."""
        if self._about is None or self._encoding is None or self.choices.wanted is None:
            return 0.0
        points = FEWEST_STEPS + 1 if self.choices.wanted.method == INTEGRATED else 1
        operations = num_operations(self._about.config, len(self._encoding.input_ids), points)
        return OVERHEAD * operations / flops_estimate(DeviceConfig())

    def _forecast_words(self) -> str:
        seconds = self._seconds()
        if seconds <= QUICK_S:
            return ""
        time = told(seconds, busy())
        between = words.duration_range(time.low, time.high)
        return self.tr("This takes {duration}. Press Explain.").format(duration=between)

    def _ask_over_table(self) -> None:
        """Open the window that asks the same of many texts."""
        table, roles, about = self._session.data.table, self._session.data.roles, self._about
        if about is None or table is None or roles is None or not roles.text:
            self._refuse(self.tr("Open a table on the Data page first. One of its columns must be the text."))
            return
        self._dialog = RestingWordsDialog(self._session, about, table, roles, self)
        self._dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._dialog.open()

    @property
    def is_asking(self) -> bool:
        """Whether a result is still to come."""
        return self._result_asked.is_asking

    def ask_about(self, folder: Path) -> bool:
        """Ask once this is about a model, however long that takes, unless it was given up; whether it is."""
        is_about = self._about is not None and self._about.folder == folder
        if is_about and self.result is None and not self.is_asking and not self._waits:
            self._ask()
        return is_about

    def _ask_if_quick(self) -> None:
        if self.isVisible() and not self._waits and self._seconds() <= QUICK_S:
            self._ask()

    def _go(self) -> None:
        self._waits = self.is_asking
        if self.is_asking:
            self._result_asked.drop()
            self._show_state(self.tr("Stopped. Press Explain to begin again."))
        else:
            self._ask()

    def _ask(self) -> None:
        wanted, about = self.choices.wanted, self._about
        if self._encoding is None or wanted is None or about is None:
            return
        is_new = self._result_asked.ask(
            (about.folder, about.fingerprint, self._text, self._pair, wanted),
            partial(requests.explain_answer, self._models, about.folder, self._text, self._pair, wanted),
            heard=self._take,
            refused=self._fail,
            progress=self._show_progress,
            ended=self._end,
        )
        if is_new:
            self.refusal.hide()
            self._show_state(self.tr("Asking the model…"), is_running=True)

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total > 1:
            told = self.tr("Step {done} of {total}")
            self.state.setText(told.format(done=words.number(event.done), total=words.number(event.total)))
            self.progress.hear(event)

    def _take(self, result: Attribution) -> None:
        self.result = result
        self._show_result()

    def _fail(self, error: BaseException) -> None:
        self._waits = True
        self._refuse(words.say_error(error))

    def _end(self) -> None:
        if not self.is_asking and self.result is None and self.progress.isVisibleTo(self):
            self._waits = True
            self._show_state("")

    def _refuse(self, sentence: str) -> None:
        self.refusal.setText(sentence)
        self.refusal.show()
        self._show_state("")

    def _show_state(self, text: str, *, is_running: bool = False) -> None:
        """Show what goes on in the place of a result."""
        self.state.setText(text)
        self.state.setVisible(bool(text))
        self.progress.setRange(0, 0 if is_running else 1)
        self.progress.setVisible(is_running)
        self.sum.hide()
        self.meaning.hide()
        self.go_button.setText(self.tr("Stop") if is_running else self.tr("Explain"))
        self.go_button.setEnabled(self.result is None)
        if not is_running:
            self.heading.setText("")

    def _show_result(self) -> None:
        result = self.result
        if result is None:
            return
        unit = self.choices.unit.current
        scored = said.scored_words(result) if unit == "words" else said.scored_pieces(result)
        self._show_state("")
        self.heading.setText(said.answer_words(result))
        strongest = (
            self.tr("Most influential words") if unit == "words" else self.tr("Most influential pieces")
        )
        self.bars_heading.setText(strongest)
        self.bars.set_title(strongest)
        self.picture.set_words(scored, can_hide=self.choices.can_hide)
        self.bars.set_words(scored)
        for figure in (self.picture, self.bars):
            figure.set_caption(said.caption(result, unit))
        if result.method == INTEGRATED:
            self.sum.show_result(result)
            self.sum.show()
        self.meaning.setText(said.meaning_words(result))
        self.meaning.show()

    def _hide_word(self, index: int) -> None:
        """Hide the word that was clicked, and ask for it."""
        if self._encoding is None:
            return
        if self.choices.unit.current == "words":
            self.choices.hide_word(self._words[index])
            return
        places = [place for place, special in enumerate(self._encoding.special_tokens_mask) if not special]
        word = next((word for word in self._words if places[index] in word.pieces), None)
        if word is not None:
            self.choices.hide_word(word)

    def _mark_word(self, place: int) -> None:
        """Show in the text which word a bar is of."""
        scored = self.bars.scored
        if not 0 <= place < len(scored) or not scored[place].is_shown:
            self.picture.mark(None)
            return
        self.picture.mark(sum(each.is_shown for each in scored[:place]))
