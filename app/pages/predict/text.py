"""The card for one text or pair: type, and the probabilities stand beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import words
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import Card, button, set_role
from app.pages.predict.requests import TextAnswer
from app.pages.tasks.known import CLASSIFICATION, row_views_of
from app.pages.tasks.views import RowViews
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon, yield_to_layout

TYPING_STOPS_MS = 350


class OneTextBox(TextEdit):
    """A text to be asked about: Enter asks at once, Shift+Enter is a new line, Tab leaves."""

    entered = Signal()

    def __init__(self, name: str, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, tabChangesFocus=True, placeholderText=placeholder)
        self.setObjectName(name)
        self.setAccessibleName(placeholder)
        self.setMinimumHeight(52)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class OneTextCard(Card):
    """Emits `asked` when typing stops or Enter is pressed; shows the answer that it is given."""

    asked = Signal(str, str)
    inside_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("One text"))
        self._wants_pair = False
        self._views: RowViews = CLASSIFICATION
        self.text_box = OneTextBox("text", self.tr("Type or paste a text; Enter asks at once."))
        self.pair_box = OneTextBox("text_pair", CLASSIFICATION.second_words())
        self.bars = BarsPlot(self.tr("Probabilities"))
        self.bars.setObjectName("answer_bars")
        yield_to_layout(self.bars, 70)
        self._empty = CLASSIFICATION.answer_empty_words()
        self.bars.set_empty_text(self._empty)
        self.note = label("", "muted", wrap=True)
        self.note.setObjectName("text_note")
        self.note.hide()
        boxes = column((self.text_box, 1), (self.pair_box, 1))
        self.body.addLayout(row((boxes, 1), (self.bars, 1), gap=16), 1)
        self.inside = button(self.tr("See what the answer rests on"), "link", name="predict_look_inside")
        self.inside.clicked.connect(self.inside_wanted)
        self.inside.hide()
        below = QHBoxLayout()
        below.addWidget(self.note, 1)
        below.addWidget(self.inside)
        self.body.addLayout(below)
        self.add_corner(save_icon(self.bars))
        self._timer = QTimer(self, singleShot=True, interval=TYPING_STOPS_MS)
        self._timer.timeout.connect(self.ask)
        for box in (self.text_box, self.pair_box):
            box.textChanged.connect(self._typed)
            box.entered.connect(self.ask)
        self.set_wants_pair(False)

    def set_wants_pair(self, wanted: bool) -> None:
        """Show the second box where the model reads pairs."""
        self._wants_pair = wanted
        self.pair_box.setVisible(wanted)
        self._show_title()

    def _show_title(self) -> None:
        self.set_title(self._views.second_title() if self._wants_pair else self.tr("One text"))

    def set_views(self, views: RowViews) -> None:
        """Know what the model's answers are like."""
        self._views, self._empty = views, views.answer_empty_words()
        self.pair_box.setPlaceholderText(views.second_words())
        self.pair_box.setAccessibleName(views.second_words())
        self._show_title()
        if self.bars.is_empty:
            self.bars.set_empty_text(self._empty)

    def texts(self) -> tuple[str, str]:
        """Return what is typed; the second is empty where the model reads single texts."""
        return self.text_box.toPlainText(), self.pair_box.toPlainText() if self._wants_pair else ""

    def is_complete(self) -> bool:
        """Return whether there is something to ask about."""
        text, pair = self.texts()
        return bool(text.strip()) and (bool(pair.strip()) or not self._wants_pair)

    def ask(self) -> None:
        """Ask about what is typed now."""
        self._timer.stop()
        if self.is_complete():
            self.asked.emit(*self.texts())

    def _typed(self) -> None:
        if self.is_complete():
            self._timer.start()
        else:
            self._timer.stop()
            self.show_nothing()

    def show_nothing(self) -> None:
        """Show no answer."""
        self.bars.clear()
        self.bars.set_empty_text(self._empty)
        self.inside.hide()
        self.set_hint("")
        self._show_note("", "muted")

    def show_problem(self, text: str) -> None:
        """Say why there is no answer."""
        self.show_nothing()
        self._show_note(text, "refusal")

    def show_answer(self, told: TextAnswer, model: str) -> None:
        """Show the probability of every label, and what was not read."""
        text, pair = self.texts()
        second = [(self.tr("second text"), pair)] if pair else []
        self.bars.set_caption([(self.tr("model"), model), (self.tr("text"), text), *second])
        views = row_views_of(told.model.task)
        self.set_hint(views.show_answer(self.bars, told.labels, told.probabilities, told.prediction))
        self.inside.setVisible(views.has_one_label)  # the pages that look inside know classes alone
        self._show_note(self._cut_words(told), "look" if told.num_cut else "muted")

    def _cut_words(self, told: TextAnswer) -> str:
        if not told.num_cut:
            return self.tr("All {count} pieces were read.").format(count=words.number(told.num_pieces))
        text = self.tr("{cut} pieces were not read: the model was trained on {length}.").format(
            cut=words.number(told.num_cut), length=words.number(told.num_pieces)
        )
        if told.last_words:
            end = " ".join(told.last_words.split())
            text += " " + self.tr("Reading ended after “…{words}”.").format(words=end)
        return text

    def _show_note(self, text: str, role: str) -> None:
        self.note.setText(text)
        set_role(self.note, role)
        self.note.setVisible(bool(text))
