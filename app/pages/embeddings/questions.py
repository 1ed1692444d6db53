"""The page's questions as chips; where there is little room they are short."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLayout, QWidget

from app import words
from app.look.layout import STRETCH, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import button, set_role
from app.pages.embeddings.tabs import CLS_QUESTION, TEXTS_QUESTION, TUNED_QUESTION, WORD_QUESTION

GAP, ROOM = 5, 20  # px between two questions, and around the words of one
LEAST = 200  # px
LONGEST = 16  # characters of a word


class QuestionBar(QWidget):
    """Emits `chosen` with one of QUESTIONS, and `own_wanted` where another word is to be asked about."""

    chosen = Signal(str)
    own_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word = ""
        self._short = {
            WORD_QUESTION: self.tr("Two meanings?"),
            TEXTS_QUESTION: self.tr("Similar texts?"),
            CLS_QUESTION: self.tr("Is [CLS] good?"),
            TUNED_QUESTION: self.tr("Fine-tuned?"),
        }
        shown = {
            WORD_QUESTION: self.tr("See how a word’s vector moves with its context"),
            TEXTS_QUESTION: self.tr("Every text as a point, with its nearest neighbours"),
            CLS_QUESTION: self.tr("Measure whether raw [CLS] is a poor sentence vector"),
            TUNED_QUESTION: self.tr("The same texts by two models, such as before and after fine-tuning"),
        }
        entries = [(key, text, shown[key]) for key, text in self._whole().items()]
        self.chips = SegmentedButtons("embeddings_question", entries, gap=GAP)
        for chip in self.chips.buttons.values():
            set_role(chip, "question")
        self.own_button = button(
            self.tr("Ask your own…"),
            "link",
            name="embeddings_own",
            tool_tip=self.tr("Follow another word through your own sentences"),
            call=self.own_wanted,
        )
        inner = row(self.chips, STRETCH, self.own_button, gap=GAP, parent=self)
        inner.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # it becomes shorter where it must
        self.chips.chosen.connect(self.chosen)

    def set_current(self, question: str) -> None:
        """Press the chip of a question; emits nothing."""
        self.chips.set_current(question)

    def set_word(self, word: str) -> None:
        """Ask about another word."""
        self._word = word
        self._fit()

    def _whole(self) -> dict[str, str]:
        about = self.tr("Does a word have two meanings?")
        if self._word:
            word = words.shorten(self._word, LONGEST)
            about = self.tr("Does “{word}” have two meanings?").format(word=word)
        return {
            WORD_QUESTION: about,
            TEXTS_QUESTION: self.tr("Which of my texts are similar?"),
            CLS_QUESTION: self.tr("Is [CLS] a good sentence vector?"),
            TUNED_QUESTION: self.tr("Did fine-tuning move my texts?"),
        }

    def _fit(self) -> None:
        """Put the questions on their chips as far as there is room."""
        whole, chips = self._whole(), self.chips.buttons
        room = self.width() - self.own_button.sizeHint().width() - GAP
        for shown in (whole, self._short):
            widths = {
                key: chip.fontMetrics().horizontalAdvance(shown[key]) + ROOM for key, chip in chips.items()
            }
            if sum(widths.values()) + GAP * len(widths) <= room:
                break
        for key, chip in chips.items():
            chip.setText(shown[key])
            chip.setMinimumWidth(widths[key])
            chip.setAccessibleName(whole[key])

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, super().minimumSizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
