"""What the vocabulary makes of the open table: pieces per word, [UNK], lengths, the rows that are cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QProgressBar,
    QWidget,
)

from app import words
from app.look.inputs import SpinBox
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row, stacked
from app.look.widgets import GAP, Card, EmptyState, button, keep_private, named, tidy_spin
from app.pages.tokenizer.requests import measure
from app.pages.tokenizer.rows import LinesModel, RowsView
from app.pages.tokenizer.vocabulary import VocabularyBar
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.histogram import HistogramPlot
from app.session import Session
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.inspect.tokenizing import TableTokens

FIGURES_WIDTH = 420
MOST_BARS = 60
Line = tuple[str, str, Callable[[TableTokens], str]]


class TableTokensView(QWidget):
    """Measures the open table when it is on screen; can be stopped."""

    refused = Signal(object)

    def __init__(self, session: Session, bar: VocabularyBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._bar = session, bar
        self._measuring = Channel(self, session.workers.files)
        self.found: tuple[TableTokens, ...] = ()
        self._cut = np.empty(0, dtype=np.int64)
        self._asked: tuple[object, ...] = ()  # what was measured, or stopped
        self.empty = named(EmptyState("", self.tr("Open a table")), "tokenizer_no_table")
        self.name = ElidedLabel("", "muted")
        self.progress = QProgressBar(textVisible=False)
        self.stop_button = button(self.tr("Stop"), name="tokenizer_stop", call=self.stop)
        self.again_button = button(self.tr("Measure"), name="tokenizer_measure", call=self.measure_again)
        most = SpinBox(minimum=3, maximum=4096, value=session.model.max_length)
        said = self.tr("How many pieces of a row are read at most, as in training, including [CLS] and [SEP]")
        self.max_length = named(most, "tokenizer_table_length", self.tr("Max length"), tool_tip=said)
        histogram = HistogramPlot(self.tr("Lengths of the rows"), x_label=self.tr("pieces"))
        self.histogram = named(histogram, "tokenizer_lengths")
        self.unknown = named(BarsPlot(self.tr("Unknown words")), "tokenizer_unknown")
        self.cut = LinesModel(
            (self.tr("Line"), self.tr("Pieces"), self.tr("Truncated"), self.tr("Text")),
            right=(0, 1, 2),
            parent=self,
        )
        self.cut_view = RowsView("tokenizer_cut_rows", self.tr("Truncated rows"))
        self._lay_out()
        self._connect()
        self._show_state()

    # ---- asking

    def catch_up(self) -> None:
        """Measure, if this is on screen and something is new."""
        table, roles, first = self._session.data.table, self._session.data.roles, self._bar.first
        self._show_state()
        if not self.isVisible() or table is None or roles is None or not roles.text or first is None:
            return
        now = (table, roles, first, self._bar.second)
        if now != self._asked:
            self._asked = now
            self._clear()
            vocabularies = [one for one in (first, self._bar.second) if one is not None]
            self._measuring.ask(
                (table, roles, *vocabularies),
                partial(measure, table, roles, vocabularies),
                again=True,
                heard=self._take,
                refused=self.refused.emit,
                progress=self._show_progress,
                ended=self._show_state,
            )
            self._show_state()

    def stop(self) -> None:
        """Stop measuring; what was counted is let go."""
        self._measuring.drop()
        self._show_state()

    def measure_again(self) -> None:
        """Begin anew after a stop."""
        self._asked = ()
        self.catch_up()

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            self.progress.setMaximum(event.total)
            self.progress.setValue(event.done)

    def _take(self, found: tuple[TableTokens, ...]) -> None:
        self.found = found
        self._show_figures()
        self._show_cut()
        one = found[0]
        bars = [(word, count) for word, count in one.unknown_words[:MOST_BARS]]
        total = max(1, one.num_unknown)
        self.unknown.set_bars(bars, shares=[count / total for _word, count in bars])
        self.unknown.set_empty_text(self.tr("Every word of the table can be spelled. None is unknown."))
        self.unknown_card.set_hint(
            self.tr("{count} different").format(count=words.number(one.num_unknown_words))
            if one.num_unknown_words
            else ""
        )
        self._show_state()

    def _clear(self) -> None:
        self.found = ()
        self.progress.setRange(0, 0)
        self.histogram.clear()
        self.unknown.clear()
        self.unknown.set_empty_text("")
        self.unknown_card.set_hint("")
        self._show_figures()
        self._show_cut()

    def _show_state(self) -> None:
        table, roles = self._session.data.table, self._session.data.roles
        has_text = table is not None and roles is not None and bool(roles.text)
        self._stack.setCurrentIndex(1 if has_text else 0)
        self.empty.set_text(
            self.tr("No table is open. Open one to see how this vocabulary splits all its rows.")
            if table is None
            else self.tr("No column of the table is the text. Choose one on the Data page.")
        )
        busy = self._measuring.is_asking
        for widget, is_shown in (
            (self.progress, busy),
            (self.stop_button, busy),
            (self.again_button, not busy and not self.found),
        ):
            widget.setVisible(is_shown)
        if table is not None and roles is not None:
            columns = " + ".join(roles.read)
            self.name.setText(f"{table.path.name} · {columns}")

    # ---- figures

    def _lines(self) -> tuple[Line, ...]:
        most = self.max_length.value()
        number, share = words.number, words.share

        def at(part: float) -> Callable[[TableTokens], str]:
            return lambda one: number(one.percentile(part))

        return (
            (self.tr("Rows"), "", lambda one: number(len(one.lengths))),
            (
                self.tr("Pieces per word"),
                self.tr(
                    "1 if every word is in the vocabulary. Without punctuation; an unknown word is one piece"
                ),
                lambda one: words.decimal(one.fertility, 2),
            ),
            (
                self.tr("Words that are one piece"),
                self.tr("Share of words that are whole in the vocabulary, without punctuation"),
                lambda one: share(one.whole_share),
            ),
            (
                self.tr("Unknown pieces"),
                "",
                lambda one: _small_share(one.unknown_share, one.num_unknown),
            ),
            (self.tr("Rows with unknown pieces"), "", lambda one: number(int((one.unknown > 0).sum()))),
            (self.tr("Half of the rows: up to"), self.tr("Pieces, including [CLS] and [SEP]"), at(0.5)),
            (self.tr("90 % of them: up to"), "", at(0.9)),
            (self.tr("99 % of them: up to"), "", at(0.99)),
            (self.tr("The longest row"), "", at(1.0)),
            (
                self.tr("Rows truncated at {most}").replace("{most}", number(most)),
                "",
                lambda one: _share_of(len(one.cut_rows(most)), len(one.lengths), brief=len(self.found) > 1),
            ),
            (
                self.tr("Pieces truncated at {most}").replace("{most}", number(most)),
                "",
                lambda one: share(one.lost_share(most)),
            ),
        )

    def _show_figures(self) -> None:
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(0, 1)
        right = Qt.AlignmentFlag.AlignRight
        if len(self.found) > 1:
            heads = (self.tr("first"), self.tr("second"))
            for place, (head, name) in enumerate(zip(heads, self._bar.names, strict=False), start=1):
                named = label(head, "muted")
                named.setToolTip(tip(name))
                named.setAlignment(right)
                grid.addWidget(named, 0, place)
        for line, (name, help_text, say) in enumerate(self._lines(), start=1):
            named = label(name, "muted")
            named.setToolTip(help_text)
            grid.addWidget(named, line, 0)
            for place, one in enumerate(self.found, start=1):
                value = label(say(one))
                value.setAlignment(right)
                grid.addWidget(value, line, place)
        grid.setRowStretch(grid.rowCount(), 1)
        while (old := self.figures_card.body.takeAt(0)) is not None:
            widget = old.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.figures_card.add(inner, 1)
        if self.found:
            self.histogram.set_values(self.found[0].lengths, self.max_length.value())
            self.histogram_card.set_hint(self.histogram.words())
            self._set_captions()
        else:
            self.histogram_card.set_hint("")

    def _set_captions(self) -> None:
        """Say beside the saved pictures what they are of."""
        lines = [(self.tr("vocabulary"), self._bar.names[0]), (self.tr("table"), self.name.text())]
        self.unknown.set_caption(lines)
        self.histogram.set_caption([*lines, (self.tr("most pieces"), str(self.max_length.value()))])

    def _show_cut(self) -> None:
        self._cut = self.found[0].cut_rows(self.max_length.value()) if self.found else self._cut[:0]
        self.cut.set_lines(len(self._cut), self._cut_cell)
        none = self.tr("none has more than {most} pieces") if self.found else ""
        none = none.format(most=words.number(self.max_length.value()))
        self.cut_card.set_hint(self.tr("the longest first") if len(self._cut) else none)

    def _cut_cell(self, line: int, column: int) -> str:
        table, roles = self._session.data.table, self._session.data.roles
        row, length = int(self._cut[line]), int(self.found[0].lengths[self._cut[line]])
        if table is None or roles is None or row >= table.num_rows:
            return ""
        if column == 3:
            return words.shorten(str(table.frame[roles.text].iloc[row]), 200)
        return words.number((int(table.lines[row]), length, length - self.max_length.value())[column])

    def _length_changed(self, most: int) -> None:
        self._session.model.set_max_length(most)
        self._show_figures()
        self._show_cut()

    # ---- building

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.catch_up()

    def _connect(self) -> None:
        session = self._session
        self.empty.activated.connect(partial(session.show_page, "data"))
        self.max_length.valueChanged.connect(self._length_changed)
        session.model.max_length_changed.connect(self.max_length.setValue)
        session.data.opened.connect(self.catch_up)
        session.data.roles_changed.connect(self.catch_up)

    def _lay_out(self) -> None:
        tidy_spin(self.max_length, 64)
        self.cut_view.show_model(self.cut, (72, 72, 72))
        self.progress.setFixedWidth(160)
        self.figures_card, self.histogram_card = (
            Card(self.tr("All rows")),
            Card(self.tr("Lengths of the rows")),
        )
        self.cut_card, self.unknown_card = Card(self.tr("Truncated rows")), Card(self.tr("Unknown words"))
        for card in (self.cut_card, self.unknown_card):
            keep_private(card)
        self._fill_cards()
        inner = QWidget()
        head = row((self.name, 1), self.progress, self.stop_button, self.again_button, gap=10)
        column(head, (self._grid(), 1), gap=GAP, parent=inner)
        card = Card()
        card.add(self.empty, 1)
        self._stack = stacked(card, inner)
        column(self._stack, parent=self)

    def _fill_cards(self) -> None:
        self.histogram_card.add_corner(
            label(self.tr("at most"), "muted"), self.max_length, save_icon(self.histogram)
        )
        self.histogram_card.add(self.histogram, 1)
        self.cut_card.add(self.cut_view, 1)
        self.unknown_card.add_corner(save_icon(self.unknown))
        self.unknown_card.add(self.unknown, 1)
        for plot, least in ((self.histogram, 110), (self.unknown, 100)):
            yield_to_layout(plot, least)

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(GAP)
        grid.addWidget(self.figures_card, 0, 0)
        grid.addWidget(self.histogram_card, 0, 1)
        grid.addWidget(self.unknown_card, 1, 0)
        grid.addWidget(self.cut_card, 1, 1)
        self.figures_card.setFixedWidth(FIGURES_WIDTH)
        self.unknown_card.setFixedWidth(FIGURES_WIDTH)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 1)
        return grid


def _small_share(share: float, count: int) -> str:
    """Return a share that is never rounded to nothing."""
    return words.probability(share) if count else words.share(0.0, 0)


def _share_of(count: int, total: int, *, brief: bool) -> str:
    share = words.share(count / total if total else 0.0)
    return share if brief else f"{words.number(count)} · {share}"
