"""One text or pair, step by step: boxes, the strip of steps, the picture, the rows, and why."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QSplitter,
    QTextEdit,
    QWidget,
)

from app import words
from app.look import theme
from app.look.boxes import ElidedBox
from app.look.inputs import SpinBox
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import GAP, Card, named, tidy_spin
from app.pages.anatomy.state import AnatomyState, Walk
from app.pages.inside.texts import TextPair
from app.pages.tokenizer.requests import MOST_CHARACTERS, TextToCut, Tokenization, is_model, look
from app.pages.tokenizer.rows import CHARACTERS, PIECE, ChipDelegate, RowsView, TokenRows
from app.pages.tokenizer.state import LONGEST, PADDINGS, STEPS, TokenizerState
from app.pages.tokenizer.steps import StepCard, StepStrip
from app.pages.tokenizer.vocabulary import VocabularyBar
from app.pages.tokenizer.words import summary
from app.plots.buttons import yield_to_layout
from app.plots.pieces import PiecesPlot
from app.session import Session
from app.work.worker import Channel
from engine.text.tokenizer import TRUNCATIONS

QUICK = 20_000  # characters that do not wait for a model's answer
REST_MS = 150  # after the last turn at a spin box
DETAIL_WIDTH, NARROW_DETAIL = 340, 284
NARROW = 900  # px of the page's width, below which a column of the rows gives way
WIDTHS, NARROW_WIDTHS = (78, 124, 76, 84, 62, 96), (74, 84, 66, 80, 58, 96)


class TextView(QWidget):
    """Everything about one text; asks when shown and when the text, a vocabulary or a length changes."""

    refused = Signal(object)
    answered = Signal()

    def __init__(self, session: Session, bar: VocabularyBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._inspector, self._bar = session, session.inspector, bar
        self._quick = Channel(self, session.workers.quick)
        self._long = Channel(self, session.workers.files)  # a text that takes its time
        self.found: Tokenization | None = None
        self._row = self._wanted_row = -1
        self.texts = TextPair(session, name="tokenizer")
        self.strip, self.detail = StepStrip(), StepCard()
        self.plot = named(PiecesPlot(self.tr("Text and pieces")), "tokenizer_pieces")
        self.rows = TokenRows(self)
        self.rows_view = RowsView("tokenizer_rows", self.tr("Input"))
        most = SpinBox(minimum=3, maximum=LONGEST, value=512)
        said = self.tr("The maximum number of rows, including [CLS] and [SEP]")
        self.max_length = named(most, "tokenizer_max_length", self.tr("Max length"), tool_tip=said)
        self.truncation, self.padding = ElidedBox(), ElidedBox()
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._set_up()
        self._lay_out()
        self._connect()

    # ---- asking

    def ask(self) -> None:
        """Look at the shared text anew."""
        self._rest.stop()
        inspector, first = self._inspector, self._bar.first
        if first is None:  # a large one takes seconds to read
            reading, none = self.tr("Reading the vocabulary…"), self.tr("Choose a vocabulary above.")
            self.plot.set_empty_text(reading if self._bar.is_reading else none)
            return
        if not inspector.text and not inspector.text_pair:
            self._quick.drop()
            self._long.drop()
            self._show(None)
            return
        asked = TextToCut(
            text=inspector.text[:MOST_CHARACTERS],
            text_pair=inspector.text_pair[:MOST_CHARACTERS] if inspector.text_pair else None,
            first=first,
            second=self._bar.second,
            max_length=self.max_length.value(),
            truncation=self.truncation.currentData(),
            padding=self.padding.currentData(),
        )
        is_quick = len(inspector.text) + len(inspector.text_pair) < QUICK
        wanted, other = (self._quick, self._long) if is_quick else (self._long, self._quick)
        other.drop()
        wanted.ask(asked, partial(look, asked), heard=self._show, refused=self.refused.emit)

    def set_limit(self, longest: int) -> None:
        """Offer the length that the vocabulary's model reads."""
        self.max_length.blockSignals(True)
        self.max_length.setValue(min(longest, LONGEST))
        self.max_length.blockSignals(False)

    def _show(self, found: Tokenization | None) -> None:
        is_same = found is not None and self.found is not None and _is_same(found, self.found)
        before = self._row if is_same else -1
        self.found, self._row = found, -1
        self.plot.set_empty_text(self.tr("Type a text above to see the pieces that it is split into."))
        first = self._bar.first
        self.detail.anatomy_link.setVisible(found is not None and first is not None and is_model(first.path))
        self.strip.set_tokenization(found)
        self.detail.set_tokenization(found)
        self.rows.set_tokenization(found)
        self.plot.set_columns(found.columns if found else (), has_beside=bool(found and found.beside))
        self.pieces_card.set_hint(self._hint())
        self._set_captions()
        cut = found.num_cut if found else 0
        self.rows_card.set_hint(self.tr("{count} truncated").format(count=words.number(cut)) if cut else "")
        self._mark(-1)
        self.detail.set_word(0, -1)
        if found is not None:
            wanted, self._wanted_row = self._wanted_row, -1
            before = before if wanted < 0 else wanted
            least = 1 if wanted < 0 else 0
            self.choose_row(before if least <= before < len(found.rows) else self._first_row())
        self.answered.emit()

    @property
    def chosen_row(self) -> int:
        """The row of the piece that is shown everywhere; -1 for none."""
        return self._row

    def take_state(self, state: TokenizerState) -> None:
        """Look at the shared text cut in this way, at one step and one row."""
        with QSignalBlocker(self.max_length):
            self.max_length.setValue(state.most)
        self.truncation.choose(state.truncation)
        self.padding.choose(state.padding)
        if state.step in STEPS:
            self.strip.set_current(state.step)
            self.detail.show_step(state.step)
        self._wanted_row = state.row
        self.ask()
        if self.found is not None and not (self._quick.is_asking or self._long.is_asking):
            self._show(self.found)

    def _first_row(self) -> int:
        """Return the row to begin with: of the first word that took more than one piece, or is unknown."""
        assert self.found is not None
        rows = self.found.rows
        odd = (
            number
            for number, row in enumerate(rows)
            if (word := self.found.word_of(row)) is not None
            and word.outcome in ("pieces", "unknown", "likeliest", "partly", "merged")
        )
        return next(odd, 1 if len(rows) > 1 else 0)

    def _hint(self) -> str:
        if self.found is None:
            return ""
        said = summary(self.found)
        if self.found.num_left_out:
            more = self.tr("{count} more words are in the rows below")
            said = f"{said} · {more.format(count=words.number(self.found.num_left_out))}"
        inspector = self._inspector
        if max(len(inspector.text), len(inspector.text_pair)) > MOST_CHARACTERS:
            only = self.tr("only the first {count} characters").format(count=words.number(MOST_CHARACTERS))
            said = f"{only} · {said}"
        return said

    def _set_captions(self) -> None:
        """Say beside a saved picture what it is of."""
        if self.found is None:
            return
        asked, names = self.found.asked, self._bar.names
        lines = [
            (self.tr("vocabulary"), names[0]),
            (self.tr("pieces in the vocabulary"), str(asked.first.wordpiece.vocab_size)),
        ]
        if asked.second is not None:
            lines.append((self.tr("second vocabulary"), names[-1]))
        lines.append((self.tr("text A"), asked.text))
        if asked.text_pair is not None:
            lines.append((self.tr("text B"), asked.text_pair))
        for figure in self.detail.searches:
            figure.set_caption(lines[:2])
        self.plot.set_caption(
            [*lines, (self.tr("most rows"), str(asked.max_length)), (self.tr("cut"), asked.truncation)]
        )

    # ---- one piece, shown everywhere

    def choose_row(self, row: int) -> None:
        """Tie a piece to its characters, its row and its reason."""
        if self.found is None or not 0 <= row < len(self.found.rows):
            return
        self._row = row
        self.plot.set_current(row)
        self.rows_view.go_to(row)
        self._mark(row)
        one = self.found.rows[row]
        self.detail.set_word(one.segment, one.word)

    def show_anatomy(self) -> None:
        """Go on to what the vocabulary's model makes of the chosen piece first."""
        first = self._bar.first
        if first is None:
            return
        walk = Walk(step="sum", piece=max(0, self._row))
        state = AnatomyState(first.path, self._inspector.text, self._inspector.text_pair, walk)
        self._session.show_page("anatomy", state)

    def _hover(self, row: int) -> None:
        self._mark(row if row >= 0 else self._row)

    def _word_chosen(self, segment: int, place: int) -> None:
        if self.found is not None:
            first = self.found.traces[segment].words[place].first
            row = next(
                (n for n, r in enumerate(self.found.rows) if r.segment == segment and r.place == first), -1
            )
            self.choose_row(row)

    def _change_chosen(self, segment: int, place: int) -> None:
        if self.found is not None:
            change = self.found.traces[segment].changes[place]
            self._highlight(segment, change.start, change.stop)

    def _cursor_moved(self) -> None:
        """Choose the piece of the character that the cursor stands at."""
        segment = 0 if self.texts.box_a.hasFocus() else 1
        box = self.texts.box_b if segment else self.texts.box_a
        if self.found is None or not box.hasFocus() or segment >= len(self.found.traces):
            return
        text = self.found.traces[segment].text
        if not box.toPlainText().startswith(text):
            return
        place = _place(text, box.textCursor().position())
        for number, one in enumerate(self.found.rows):
            is_there = one.start <= place < max(one.stop, one.start + 1)
            if one.segment == segment and one.place >= 0 and is_there:
                self.choose_row(number)
                return

    def _mark(self, row: int) -> None:
        """Mark in the boxes what a row's piece was made of."""
        if self.found is None or row < 0 or self.found.rows[row].place < 0:
            self._highlight(0, 0, 0)
        else:
            one = self.found.rows[row]
            self._highlight(one.segment, one.start, one.stop)

    def _highlight(self, segment: int, start: int, stop: int) -> None:
        for number, box in enumerate((self.texts.box_a, self.texts.box_b)):
            marks = []
            if number == segment and stop > start and self.found is not None:
                text = self.found.traces[segment].text
                if box.toPlainText().startswith(text):
                    marks = [_selection(box, _units(text, start), _units(text, stop), segment)]
            box.setExtraSelections(marks)

    # ---- building

    def _set_up(self) -> None:
        self.rows_view.show_model(self.rows, WIDTHS)
        self.rows_view.setItemDelegateForColumn(PIECE, ChipDelegate(self.rows_view))
        tidy_spin(self.max_length, 64)
        for value in TRUNCATIONS:
            self.truncation.addItem(words.choice_word("truncation", value), value)
        paddings = (self.tr("No padding"), self.tr("Pad to 8, 16…"), self.tr("Pad to the maximum"))
        for text, value in zip(paddings, PADDINGS, strict=True):
            self.padding.addItem(text, value)
        for box, name, said, tooltip in (
            (
                self.truncation,
                "truncation",
                self.tr("Truncation"),
                self.tr("What is truncated when a text is too long"),
            ),
            (
                self.padding,
                "padding",
                self.tr("Padding"),
                self.tr("[PAD] rows that make all texts the same length"),
            ),
        ):
            named(box, f"tokenizer_{name}", said, tool_tip=tooltip)
            box.setMinimumWidth(92)
            box.setMaximumWidth(146)

    def _lay_out(self) -> None:
        self.pieces_card = Card(self.tr("Text and pieces"))
        self.pieces_card.add_corner(self.plot.save_button())
        yield_to_layout(self.plot, 84)
        self.pieces_card.add(self.plot, 1)
        self.rows_card = Card(self.tr("Input"))
        at_most = label(self.tr("at most"), "muted", buddy=self.max_length)
        for widget in (at_most, self.max_length, self.truncation, self.padding):
            self.rows_card.add_corner(widget)
        self.rows_card.add(self.rows_view, 1)
        left = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False, handleWidth=GAP)
        left.addWidget(self.pieces_card)
        left.addWidget(self.rows_card)
        left.setSizes([270, 290])
        self.detail.setFixedWidth(DETAIL_WIDTH)
        below = row((left, 1), self.detail, gap=GAP)
        column(self.texts, self.strip, (below, 1), gap=GAP, parent=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < NARROW
        self.detail.setFixedWidth(NARROW_DETAIL if is_narrow else DETAIL_WIDTH)
        if is_narrow != self.rows_view.isColumnHidden(CHARACTERS):
            widths = NARROW_WIDTHS if is_narrow else WIDTHS
            self.rows_view.set_widths(widths, hidden=(CHARACTERS,) if is_narrow else ())

    def _connect(self) -> None:
        self.strip.chosen.connect(self.detail.show_step)
        self.detail.word_chosen.connect(self._word_chosen)
        self.detail.change_chosen.connect(self._change_chosen)
        self.detail.anatomy_wanted.connect(self.show_anatomy)
        self.plot.chosen.connect(self.choose_row)
        self.plot.hovered.connect(self._hover)
        self.rows_view.walked.connect(self.choose_row)
        self._rest.timeout.connect(self.ask)
        self.max_length.valueChanged.connect(self._rest.start)
        self.truncation.activated.connect(self.ask)
        self.padding.activated.connect(self.ask)
        for box in (self.texts.box_a, self.texts.box_b):
            box.cursorPositionChanged.connect(self._cursor_moved)
        theme.on_theme_change(self, self._mark_again)

    def _mark_again(self) -> None:
        self._mark(self._row)


def _is_same(one: Tokenization, other: Tokenization) -> bool:
    """Whether two looks are at the same pieces, cut or filled up in another way."""
    same_text = (one.asked.text, one.asked.text_pair) == (other.asked.text, other.asked.text_pair)
    return same_text and one.asked.first is other.asked.first


def _units(text: str, place: int) -> int:
    """Return a place in a text in Qt's units of 16 bits."""
    return place if text.isascii() else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2


def _place(text: str, units: int) -> int:
    """Return the character at a place in Qt's units."""
    if text.isascii():
        return units
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace"))


def _selection(box: QPlainTextEdit, start: int, stop: int, segment: int) -> QTextEdit.ExtraSelection:
    """Return the mark of some characters in the colour of their text."""
    colors = theme.current()
    found = QTextEdit.ExtraSelection()
    form = QTextCharFormat()
    form.setBackground(QColor(colors.b_soft if segment else colors.accent_soft))
    cursor = QTextCursor(box.document())
    cursor.setPosition(start)
    cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
    found.format, found.cursor = form, cursor
    return found
