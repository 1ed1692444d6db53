"""What changes without a head: the card with probabilities before and after, and `HeadAblation`, which asks.

The card is told what to show and says what is wanted. With nothing switched off it tells what would change
without the chosen head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import FlowRow, row, set_margins
from app.look.widgets import Card, button, set_role
from app.pages.attention import requests
from app.pages.attention.captions import MOST_ROWS, EffectRow, effect_rows
from app.pages.attention.requests import MASK, AttentionRequest
from app.pages.attention.state import AttentionChoice, Head
from app.session import Session
from app.work.worker import Channel
from engine.evaluation.statistics import p_words
from engine.events import Event, Progress
from engine.inspect.attention.ablation import EffectTable
from engine.inspect.attention.weights import AttentionMaps
from engine.inspect.loaded_model import ModelSummary
from engine.text.words import Word

if TYPE_CHECKING:
    from engine.evaluation.inside.heads import HeadsOff

SOON_MS, LATER_MS = 120, 700
SLOW_S = 0.4  # maps that take longer are not asked for again for every head that is passed over
LEAST_TABLE = 44  # px: the card does not jump between one answer and three
BESIDE = 60  # px around title and link


def digits_for(rows: Sequence[EffectRow]) -> int:
    """Return the decimals that tell every change of a table apart: two, or three where that helps."""
    changed = [one for one in rows if f"{one.before:.3f}" != f"{one.after:.3f}"]
    return 3 if any(f"{one.before:.2f}" == f"{one.after:.2f}" for one in changed) else 2


class EffectsCard(Card):
    """ "If this head is switched off": a small table, the switches, and what attention is not."""

    switch_wanted = Signal()  # the chosen heads off, or on again
    layer_wanted = Signal()
    all_on_wanted = Signal()
    ranking_wanted = Signal()  # which head matters most
    mask_wanted = Signal()  # put [MASK] in place of the locked word
    table_wanted = Signal()  # score the open table without the heads

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("attention_effects")
        self._rows: tuple[EffectRow, ...] = ()
        self._make_corner()
        self._stack = QStackedWidget()
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        set_margins(self._grid, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self._stack.setMinimumHeight(LEAST_TABLE)
        self._labels = [self._add_row(place) for place in range(MOST_ROWS)]
        self._grid.setRowStretch(MOST_ROWS, 1)
        self._make_empty()
        self._stack.addWidget(self._table)
        self._stack.addWidget(self._empty)
        self.add(self._stack, 1)
        self._make_switches()
        said = self.tr("Attention shows where a head looks, not why the model decides.")
        self.caution = label(said, "muted", wrap=True, name="attention_caution")
        self.add(self.caution)

    def _add_row(self, place: int) -> tuple[QLabel, QLabel, QLabel]:
        labels = ElidedLabel(), label("", "muted"), label("", "strong")
        right = Qt.AlignmentFlag.AlignRight
        self._grid.addWidget(labels[0], place, 0)
        self._grid.addWidget(labels[1], place, 1, right)
        self._grid.addWidget(labels[2], place, 2, right)
        for each in labels:
            each.hide()
        return labels

    def _make_corner(self) -> None:
        self.ranking_link = button(
            self.tr("Rank heads by effect"),
            "link",
            name="attention_ranking",
            tool_tip=self.tr("Turns each head off alone and sorts by the change."),
        )
        self.ranking_link.clicked.connect(self.ranking_wanted)
        self.ranking_link.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.ranking_link.setMinimumWidth(24)
        self.add_corner(self.ranking_link)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_links()

    def set_title(self, title: str) -> None:
        """Replace the title; what it leaves is the link's."""
        super().set_title(title)
        self.fit_links()

    def fit_links(self) -> None:
        """Give the links as many words as there is room for."""
        metrics, full = self.fontMetrics(), self.tr("Rank heads by effect")
        needed = self.title_label.sizeHint().width() + metrics.horizontalAdvance(full) + BESIDE
        self.ranking_link.setText(full if self.width() >= needed else self.tr("Rank…"))
        buttons = (self.switch_button, self.layer_button, self.all_on_link)
        taken = sum(each.sizeHint().width() for each in buttons if not each.isHidden())
        over = self.tr("Over the open table")
        fits = self.width() >= taken + metrics.horizontalAdvance(over) + BESIDE + 40
        self.table_link.setText(over if fits else self.tr("Table"))
        self.table_link.setAccessibleName(over)

    def _make_empty(self) -> None:
        self._empty = QWidget()
        self.reason = label("", "muted", wrap=True, name="attention_effects_reason")
        self.reason.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.mask_link = button("", "link", name="attention_mask", call=self.mask_wanted)
        row((self.reason, 1), (self.mask_link, Qt.AlignmentFlag.AlignTop), gap=6, parent=self._empty)

    def _make_switches(self) -> None:
        self.switch_button = button(
            self.tr("Head off"),
            name="attention_switch_off",
            tool_tip=self.tr("Key O. The model continues with this head’s output removed."),
        )
        self.layer_button = button(
            self.tr("Layer off"),
            name="attention_switch_layer",
            tool_tip=self.tr("Shift+O. All heads of this layer."),
        )
        self.all_on_link = button(self.tr("All on"), "link", name="attention_all_on", call=self.all_on_wanted)
        self.switch_button.clicked.connect(self.switch_wanted)
        self.layer_button.clicked.connect(self.layer_wanted)
        self.table_link = button(
            self.tr("Over the open table"),
            "link",
            name="attention_without_over_table",
            tool_tip=self.tr("Accuracy on the open table’s texts with all heads, and without these."),
        )
        self.table_link.clicked.connect(self.table_wanted)
        self.add(FlowRow(self.switch_button, self.layer_button, self.all_on_link, self.table_link))
        self.table_words = label("", "muted", wrap=True, name="attention_without_words")
        self.table_words.hide()
        self.add(self.table_words)

    def say_of_table(self, text: str) -> None:
        """Say what was found over the open table; "" for nothing."""
        self.table_words.setText(text)
        self.table_words.setVisible(bool(text))

    @property
    def rows(self) -> tuple[EffectRow, ...]:
        """The rows as they are shown."""
        return self._rows

    def texts(self) -> list[str]:
        """Return the rows as a person reads them."""
        digits = digits_for(self._rows)
        return [f"{one.name}  {one.before:.{digits}f} → {one.after:.{digits}f}" for one in self._rows]

    def show_rows(self, rows: Sequence[EffectRow]) -> None:
        """Show what changes; those beyond MOST_ROWS are left out."""
        self._rows = tuple(rows[:MOST_ROWS])
        self._stack.setCurrentWidget(self._table)
        digits = digits_for(self._rows)
        for place, labels in enumerate(self._labels):
            for each in labels:
                each.setVisible(place < len(self._rows))
            if place < len(self._rows):
                _fill(labels, self._rows[place], digits)
        self._table.setAccessibleName(words.clauses(self.texts()))

    def show_reason(self, reason: str, mask: str = "") -> None:
        """Say why there is nothing to compare. Args: mask: the word that [MASK] could take the place of."""
        self._rows = ()
        self.reason.setText(reason)
        self.mask_link.setVisible(bool(mask))
        self.mask_link.setText(self.tr("Mask “{word}”").format(word=words.shorten(mask, 16)))
        self._stack.setCurrentWidget(self._empty)


def _fill(labels: tuple[QLabel, QLabel, QLabel], effect: EffectRow, digits: int) -> None:
    before, after = f"{effect.before:.{digits}f}", f"{effect.after:.{digits}f}"
    labels[0].setText(effect.name)
    labels[1].setText(f"{before} →")
    labels[2].setText(after)
    set_role(labels[2], "strong" if before != after else "muted")
    for each in labels:
        each.setToolTip(tip(effect.tip))


class HeadAblation(QObject):
    """Asks what changes when heads are off, and keeps an `EffectsCard` up to date."""

    changed = Signal()  # other effects are known
    refused = Signal(object)
    text_wanted = Signal(str, str)

    def __init__(self, session: Session, card: EffectsCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models, self._card = session.inspector.open_models, card
        self._session = session
        self._effects_asked = Channel(self, session.workers.models)
        self._table_asked = Channel(self, session.workers.models)
        self._about: ModelSummary | None = None
        self._maps: AttentionMaps | None = None
        self._chosen = AttentionChoice()
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self._ask)
        self.effects: EffectTable | None = None
        card.mask_wanted.connect(self._mask)
        card.table_wanted.connect(self._score_table)

    def set_chosen(
        self, about: ModelSummary | None, maps: AttentionMaps | None, chosen: AttentionChoice, seconds: float
    ) -> None:
        """Show what changes for this choice. Args: seconds: that maps take.

        Maps of another model than `about`, or of another shape than the choice, are no maps here: the maps,
        the heads and the question always belong to one model.
        """
        is_of_model = maps is not None and about is not None and maps.folder == about.folder
        fits = is_of_model and maps is not None and maps.attentions.shape[:2] == chosen.shape
        before = (self._about, self._off())
        self._about, self._maps, self._chosen = about, maps if fits else None, chosen
        if (about, self._off()) != before:  # what was said of the table was said of others
            self._table_asked.drop()
            self._card.say_of_table("")
        self._show_state()
        if self._maps is None or self.reason():
            self._clear()
        else:
            self._rest.start(LATER_MS if seconds > SLOW_S and not chosen.off else SOON_MS)

    @property
    def is_waiting(self) -> bool:
        """Whether it will ask as soon as the choice rests."""
        return self._rest.isActive()

    def heads(self) -> tuple[Head, ...]:
        """Return the heads that the card speaks of when none is off: the chosen ones, or their layer's."""
        return (
            self._chosen.heads if self._chosen.of == "heads" else self._chosen.layer_heads(self._chosen.layer)
        )

    def _off(self) -> frozenset[Head]:
        """Return the heads that are off, or the chosen ones where none is."""
        return self._chosen.off or frozenset(self.heads())

    def _score_table(self) -> None:
        table, roles, about = self._session.data.table, self._session.data.roles, self._about
        if table is None or roles is None or not roles.text or about is None:
            said = self.tr("Open a table on the Data page first. One of its columns must be the text.")
            self._card.say_of_table(said)
            return
        off = self._off()
        self._card.say_of_table(self.tr("Scoring {name}…").format(name=words.shorten(table.path.name, 40)))
        work = partial(requests.score_without, self._models, about.folder, table, roles, off)
        self._table_asked.drop()
        self._table_asked.ask(
            (about.folder, table, roles, off),
            work,
            heard=self._show_scored,
            refused=lambda error: self._card.say_of_table(words.say_error(error)),
            progress=self._show_scoring,
        )

    def _show_scoring(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            self._card.say_of_table(words.event_words(event))

    def _show_scored(self, found: HeadsOff) -> None:
        told = self.tr("Accuracy: {before} with all heads, {after} without. {difference}")
        if found.asks != "labels":
            told = self.tr(
                "Masked words predicted correctly: {before} with all heads, {after} without. {difference}"
            )
        difference = self.tr("Difference {points} points ({interval}); p {p}.")
        value, interval = found.difference.value, found.difference.interval
        ends = (value, value) if interval is None else interval
        said = difference.format(
            points=_points(value),
            interval=self.tr("{low} to {high}").format(low=_points(ends[0]), high=_points(ends[1])),
            p=p_words(found.difference.p_value),
        )
        self._card.say_of_table(
            told.format(before=words.share(found.before), after=words.share(found.after), difference=said)
        )

    def _show_state(self) -> None:
        chosen, card = self._chosen, self._card
        count = len(chosen.off)
        several = len(self.heads()) > 1
        if count:
            title = (
                self.tr("Ablation: 1 head turned off")
                if count == 1
                else self.tr("Ablation: {count} heads turned off")
            )
        elif several:
            title = self.tr("Ablation of {count} heads")
        else:
            title = self.tr("Ablation")
        card.set_title(title.format(count=count or len(self.heads())))
        is_off = frozenset(self.heads()) <= chosen.off
        layer_off = frozenset(chosen.layer_heads(chosen.layer)) <= chosen.off
        off = self.tr("Heads off") if several else self.tr("Head off")
        on = self.tr("Heads on") if several else self.tr("Head on")
        card.switch_button.setText(on if is_off else off)
        card.layer_button.setText(self.tr("Layer on") if layer_off else self.tr("Layer off"))
        card.all_on_link.setVisible(bool(count))
        card.switch_button.setEnabled(self._maps is not None)
        card.layer_button.setEnabled(self._maps is not None)
        card.fit_links()

    def _clear(self) -> None:
        self._rest.stop()
        self._effects_asked.drop()
        self.effects = None
        self._card.ranking_link.setEnabled(False)
        word = self._word_to_mask()
        can_mask = self._about is not None and self._about.has_masked_words and word is not None
        self._card.show_reason(self.reason(), word.text if can_mask and word is not None else "")
        self.changed.emit()

    def _masks(self) -> list[int]:
        """Return the tokens that are masks."""
        if self._about is None or self._maps is None:
            return []
        mask_id = self._about.wordpiece.mask_id
        return [place for place, one in enumerate(self._maps.encoding.input_ids) if one == mask_id]

    def reason(self) -> str:
        """Return why nothing can change, "" where something can."""
        about, maps = self._about, self._maps
        if about is None or maps is None:
            return self.tr("There is nothing to compare yet.")
        if about.labels or (about.has_masked_words and self._masks()):
            return ""
        if about.has_next_sentence and maps.text_pair is not None:
            return ""
        if about.has_masked_words and about.has_next_sentence:
            return self.tr("Put [MASK] in the text, or type a text B, to see which answer changes.")
        if about.has_masked_words:
            return self.tr("Put [MASK] in the text to see how the guess changes.")
        if about.has_next_sentence:
            return self.tr("Type a text B to see how the next-sentence probability changes.")
        return self.tr(
            "This model has no trained masked-word, next-sentence or label head, so it "
            "gives no answer that could change. Fine-tune it, or pretrain it further. "
            "Attention is shown all the same."
        )

    def _ask(self) -> None:
        maps = self._maps
        if maps is None:
            return
        off = self._off()
        asked = AttentionRequest(maps.folder, maps.text, maps.text_pair, off)
        work = partial(requests.find_effects, self._models, asked)
        self._effects_asked.ask(
            asked, work, heard=partial(self._take_effects, asked), refused=self.refused.emit
        )

    def _take_effects(self, asked: AttentionRequest, found: EffectTable) -> None:
        maps = self._maps
        same_text = replace(asked, off=frozenset())
        if maps is None or AttentionRequest(maps.folder, maps.text, maps.text_pair) != same_text:
            self._effects_asked.drop()  # of a text that is gone, and may come back
            return
        self.effects = found
        self._card.ranking_link.setEnabled(bool(found.effects))
        self._card.show_rows(effect_rows(found, self._masks()))
        self.changed.emit()

    def _word_to_mask(self) -> Word | None:
        """Return the locked token's word, else the longest one of A."""
        maps = self._maps
        if maps is None or not maps.words:
            return None
        locked = next((word for word in maps.words if self._chosen.locked in word.pieces), None)
        first = [word for word in maps.words if word.segment == 0]
        return locked or max(first, key=lambda word: len(word.text), default=None)

    def _mask(self) -> None:
        maps, word = self._maps, self._word_to_mask()
        if maps is None or word is None:
            return
        texts = [maps.text, maps.text_pair or ""]
        said = texts[word.segment]
        texts[word.segment] = said[: word.start] + MASK + said[word.stop :]
        self.text_wanted.emit(*texts)


def _points(value: float) -> str:
    """Return a difference of shares in points."""
    return f"{100 * value:+.1f}".replace("-", "−")
