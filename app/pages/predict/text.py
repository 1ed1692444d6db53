"""The card for one text or pair: type, and the probabilities stand beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import TextEdit
from app.look.layout import column, row
from app.look.widgets import button
from app.pages.predict.requests import TextAnswer
from app.pages.tasks.answers import AskCard
from app.pages.tasks.known import CLASSIFICATION
from app.pages.tasks.views import RowViews
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon, yield_to_layout


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


class OneTextCard(AskCard):
    """A text, or a pair of texts, and the probability of every label beside it."""

    inside_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("text_note", parent)
        self._wants_pair = False
        self._doubt = ""
        self._views: RowViews = CLASSIFICATION
        self.text_box = OneTextBox("text", self.tr("Type or paste a text. Enter asks at once."))
        self.pair_box = OneTextBox("text_pair", "")
        self.bars = BarsPlot(self.tr("Probabilities"))
        self.bars.setObjectName("answer_bars")
        yield_to_layout(self.bars, 70)
        self.note.hide()
        boxes = column((self.text_box, 1), (self.pair_box, 1))
        self.body.addLayout(row((boxes, 1), (self.bars, 1), gap=16), 1)
        self.inside = button(self.tr("Why this answer?"), "link", name="predict_look_inside")
        self.inside.clicked.connect(self.inside_wanted)
        self.inside.hide()
        self.body.addLayout(row((self.note, 1), self.inside))
        self.add_corner(save_icon(self.bars))
        for box in (self.text_box, self.pair_box):
            box.textChanged.connect(self.typed)
            box.entered.connect(self.entered)
        self.set_views(CLASSIFICATION, wants_pair=False)

    def set_views(self, views: RowViews, *, wants_pair: bool) -> None:
        """Know what the model's answers are like, and show the second box where it reads pairs."""
        self._views, self._wants_pair = views, wants_pair
        self.pair_box.setPlaceholderText(views.second_words())
        self.pair_box.setAccessibleName(views.second_words())
        self.pair_box.setVisible(wants_pair)
        self.set_title(views.second_title() if wants_pair else self.tr("One text"))
        if self.bars.is_empty:
            self.bars.set_empty_text(views.answer_empty_words())

    def set_doubt(self, doubt: str) -> None:
        """Say with each answer why not to rely on it; "": nothing is known against it."""
        self._doubt = doubt

    def texts(self) -> tuple[str, ...]:
        """Return what is typed; a second text where the model reads pairs."""
        boxes = (self.text_box, self.pair_box) if self._wants_pair else (self.text_box,)
        return tuple(box.toPlainText() for box in boxes)

    def set_texts(self, text: str, second: str = "") -> None:
        self.text_box.setPlainText(text)
        self.pair_box.setPlainText(second)

    def ask(self) -> None:
        """Ask about what is typed now."""
        self.entered.emit()

    def show_nothing(self) -> None:
        """Show no answer."""
        self.bars.clear()
        self.bars.set_empty_text(self._views.answer_empty_words())
        self.inside.hide()
        self.set_hint("")
        self.show_note("")

    def show_reply(self, reply: TextAnswer, model: str) -> None:
        """Show the probability of every label, and what was not read."""
        names = (self.tr("text"), self.tr("second text"))
        self.bars.set_caption([(self.tr("model"), model), *zip(names, self.texts(), strict=False)])
        views = self._views
        self.set_hint(views.show_answer(self.bars, reply.labels, reply.probabilities, reply.prediction))
        self.inside.setVisible(views.has_one_label)  # the pages that look inside know classes alone
        said = [part for part in (self._doubt, self._cut_words(reply)) if part]
        self.show_note(words.sentences(said), "look" if reply.num_cut or self._doubt else "muted")

    def _cut_words(self, told: TextAnswer) -> str:
        if not told.num_cut:
            return self.tr("All {count} pieces were read.").format(count=words.number(told.num_pieces))
        text = self.tr("{cut} pieces were not read, because the model was trained on {length}.").format(
            cut=words.number(told.num_cut), length=words.number(told.num_pieces)
        )
        if told.last_words:
            end = " ".join(told.last_words.split())
            ended = self.tr("Reading ended after “…{words}”.").format(words=end)
            text = words.sentences([text, ended])
        return text
