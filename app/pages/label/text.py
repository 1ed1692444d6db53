"""The text in view, alone in the middle: why it is shown, what the model suggests, what is most like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app import words
from app.look import theme
from app.look.inputs import EnteredLine
from app.look.labels import ElidedLabel, WholeLabel, label, set_or_hide
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, EmptyState, ScrollView, button, holder, keep_private, named, set_role
from app.pages.label.label_editor import hairline
from app.pages.label.requests import NUM_NEAREST
from app.plots.label_rows import LabelRow, SuggestedLabelsPlot
from app.plots.tag_text import TagTextPlot
from app.work.labels import LONGEST_NOTE

SIZES = ((220, 21), (700, 17))  # characters of a text, and the px of its letters up to there
SMALLEST = 15  # px
EDGE, ASIDE = 2, 6  # px around a text: the edge that shows its focus, and the room beside the words
FIRST = 100  # of the room, before what stays empty
LONGEST_NUMBER, NUMBER_WIDTH = 24, 220  # characters, px
MOST_LINES = 8  # labels under the text, of which more scroll


@dataclass(frozen=True, slots=True)
class NearText:
    """A text that has a label. similarity: the cosine."""

    label: str
    text: str
    similarity: float


class ReadText(ScrollView):
    """A text as high as it is, and no higher than there is room: then it scrolls. It has the page's keys."""

    def __init__(self, name: str) -> None:
        self.text = WholeLabel()
        super().__init__(holder(column(self.text, STRETCH, gap=0, margins=(ASIDE, EDGE, ASIDE, EDGE))))
        set_role(self, "read")
        self.text.setObjectName(f"{name}_text")
        self.setObjectName(f"{name}_read")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_text(self, text: str) -> None:
        """Show a text from its beginning, the larger the shorter it is."""
        size = next((size for most, size in SIZES if len(text) <= most), SMALLEST)
        self.text.setFont(theme.ui_font(size))
        self.text.setText(text)
        self.setAccessibleName(words.shorten(text, 400))
        self.verticalScrollBar().setValue(0)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(300, self._needed())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, min(self._needed(), 60))

    def _needed(self) -> int:
        """Return the px of the whole text, as wide as it is without a scroll bar."""
        aside, above = 2 * (EDGE + ASIDE), 4 * EDGE + 1  # a px more, so that nothing scrolls by rounding
        return self.text.heightForWidth(max(1, self.width() - aside)) + above


class TextCard(Card):
    """`given`: a person clicked a suggested label, by its place. `noted`: wrote a note. `typed`: a number, as
    far as it goes. `accepted`: it is finished.

    Args: name: of its parts, as NAME_text.
    """

    given = Signal(int)
    noted = Signal(str)
    typed = Signal(str)
    accepted = Signal()
    add_wanted = Signal()  # of the codebook that stands under the text, a label
    edit_wanted = Signal()
    toggled = Signal()  # suggestions are to be hidden, or shown

    def __init__(self, name: str = "label", parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._name = name
        self.setObjectName(f"{name}_card")
        self.line = label("", "muted", name=f"{name}_line")
        self.reason = label("", "muted", wrap=True)
        self.reason.setObjectName(f"{name}_reason")
        self.reason.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.why = label("", "pill", name=f"{name}_why")
        self.read = ReadText(name)
        self._make_lines()
        self._make_suggestions()
        self._make_nearest()
        self.work = holder(
            column(
                row(self.line, (self.reason, 1), self.why),
                (self.read, FIRST),
                (self.tags, FIRST),
                self.number,
                self.chosen,
                self.note,
                self.suggestions,
                self.nearest,
                STRETCH,
                gap=10,
            )
        )
        self.empty = EmptyState("")
        self.empty.setObjectName(f"{self._name}_done_words")
        self.add(self.work, 1)
        self.add(self.empty, 1)
        for each in (self.read, self.tags):
            each.installEventFilter(self)

    @property
    def text_view(self) -> QWidget:
        """What shows the text, and has the page's keys."""
        return self.tags if self.tags.isVisibleTo(self.work) else self.read

    def _make_lines(self) -> None:
        self.tags = TagTextPlot(self.tr("Words of the text"))
        self.tags.setObjectName(f"{self._name}_tags")
        keep_private(self.tags)
        self.tags.hide()
        self.number = named(EnteredLine(), f"{self._name}_number", self.tr("Number"))
        self.number.setPlaceholderText(self.tr("Number, Enter gives it"))
        self.number.setMaxLength(LONGEST_NUMBER)
        self.number.setMaximumWidth(NUMBER_WIDTH)
        self.number.textEdited.connect(self.typed)
        self.number.returnPressed.connect(self.accepted)
        self.number.hide()
        self.chosen = label("", "strong", wrap=True, name=f"{self._name}_chosen")
        self.chosen.hide()
        self.note = named(EnteredLine(), f"{self._name}_note", self.tr("Note"))
        self.note.setPlaceholderText(self.tr("Note on this text, Enter keeps it"))
        self.note.setMaxLength(LONGEST_NOTE)
        self.note.returnPressed.connect(lambda: self.noted.emit(self.note.text()))
        self.note.hide()

    def _make_suggestions(self) -> None:
        self.said = label("", "muted", name=f"{self._name}_suggests")
        self.plot = SuggestedLabelsPlot(self.tr("Suggested labels"))
        self.plot.setObjectName(f"{self._name}_suggestions")
        self.plot.chosen.connect(self.given)
        self.hide_button = button("", "link", name=f"{self._name}_hide_suggestions", call=self.toggled)
        add, edit = f"{self._name}_add_here", f"{self._name}_edit_here"
        self.add_button = button(self.tr("Add (A)"), "link", name=add, call=self.add_wanted)
        self.edit_button = button(self.tr("Edit (E)"), "link", name=edit, call=self.edit_wanted)
        head = row(self.said, STRETCH, self.add_button, self.edit_button, self.hide_button)
        self.suggestions = holder(column(hairline(), head, self.plot, gap=6))

    def _make_nearest(self) -> None:
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        self._near = [(label("", "strong"), ElidedLabel(""), label("", "muted")) for _ in range(NUM_NEAREST)]
        for place, parts in enumerate(self._near):
            for at, part in enumerate(parts):
                grid.addWidget(part, place, at)
        head = row(
            label(self.tr("Most similar with a label"), "muted"),
            STRETCH,
            label(self.tr("similarity"), "muted"),
        )
        self.nearest = holder(column(hairline(), head, grid, gap=6))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("keyed", "true" if event.type() == QEvent.Type.FocusIn else "false")
            set_role(self, "card")  # which has the style looked up anew
        return False

    def show_text(self, line: str, text: str, reason: str, why: str, note: str) -> None:
        """Show a text. Args: reason: why it is shown, in a sentence; why: in a word. note: on it."""
        self._show_about(line, reason, why, note)
        self._swap(self.tags, self.read)
        self.read.show_text(text)

    def show_tags(self, line: str, reason: str, why: str, note: str) -> None:
        """Show the words of a text, which `tags` is given, as `show_text` shows a text."""
        self._show_about(line, reason, why, note)
        self._swap(self.read, self.tags)

    def _show_about(self, line: str, reason: str, why: str, note: str) -> None:
        self.empty.hide()
        self.work.show()
        self.line.setText(line)
        self.reason.setText(reason)
        set_or_hide(self.why, why)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    @staticmethod
    def _swap(before: QWidget, now: QWidget) -> None:
        had_keys = before.hasFocus()
        before.hide()
        now.show()
        if had_keys:
            now.setFocus()

    def show_chosen(self, said: str) -> None:
        """Say what is chosen for the text; "": that needs no words."""
        set_or_hide(self.chosen, said)

    def typed_words(self, digits: str, name: str) -> str:
        """Return what digits that wait could still become. Args: name: of the label that Enter gives."""
        return self.tr("{digits}… Enter: {label}. Or a second digit.").format(digits=digits, label=name)

    def show_number(self, number: str | None) -> None:
        """Show the line for a number, and what is in it; None: no number is given."""
        self.number.setVisible(number is not None)
        if number is not None and number != self.number.text():
            self.number.setText(number)

    def show_done(self, said: str) -> None:
        """Say why there is no text to label."""
        self.work.hide()
        self.empty.set_text(said)
        self.empty.show()

    def show_suggestions(self, said: str, rows: Sequence[LabelRow], *, has_counts: bool, toggle: str) -> None:
        """Show what is suggested. Args: said: over it. has_counts: the codebook stands here. toggle: what
        hides the suggestions or shows them; "": there are none.
        """
        self.suggestions.setVisible(bool(said or rows))
        self.said.setText(said)
        self.hide_button.setText(toggle)
        self.hide_button.setVisible(bool(toggle))
        for one in (self.add_button, self.edit_button):
            one.setVisible(has_counts)
        self.plot.show_rows(rows)
        self.plot.set_counts(has_counts)
        self.plot.setVisible(bool(rows))
        self.plot.setFixedHeight(self.plot.row_height * min(len(rows), MOST_LINES) + 8)

    def show_nearest(self, texts: Sequence[NearText]) -> None:
        """Show the texts most like this one that have a label."""
        self.nearest.setVisible(bool(texts))
        for place, (name, text, similarity) in enumerate(self._near):
            is_there = place < len(texts)
            for part in (name, text, similarity):
                part.setVisible(is_there)
            if is_there:
                name.setText(words.shorten(texts[place].label, 24))
                text.setText(" ".join(texts[place].text[:400].split()))
                similarity.setText(words.decimal(texts[place].similarity, 2))

    def begin_note(self) -> None:
        """Give the keyboard to the note."""
        self.note.show()
        self.note.setFocus()
