"""Pinned sentences: written before a run, watched while it learns, and a box to ask anything in between."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import label
from app.look.widgets import PAGE_MARGIN, Card, button
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.readings import BRIEF_ROW, ROW, ReadingsPlot, split_gap
from app.stories.known import story
from engine.events import Pinned

MOST_PINS = 20
DEBOUNCE_MS = 300
_GAPS = re.compile(r"\[[^\[\]]+\]")


def problem_of(sentence: str) -> str:
    """Return why a sentence cannot be pinned; "" where it can."""
    gaps = len(_GAPS.findall(sentence))
    if gaps == 1 and split_gap(sentence)[1].strip():
        return ""
    if gaps > 1:
        return words.translate("Pins", "one mask at a time")
    return words.translate("Pins", "no [word] or [MASK]")


def lines_of(text: str) -> list[str]:
    """Return the sentences of a text, one a line."""
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


class PinsEditor(QWidget):
    """One sentence a line; below it, what is wrong with the first that cannot be asked."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.text = TextEdit(tabChangesFocus=True)
        self.text.setObjectName("pins")
        self.text.setAccessibleName(self.tr("Pinned sentences"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.text.setMinimumHeight(64)
        self.text.setPlaceholderText(story().pins[-1])
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName("refusal_pins")
        self.refusal.hide()
        column.addWidget(self.text, 1)
        column.addWidget(self.refusal)
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self._take_edited)
        self.text.textChanged.connect(self._timer.start)

    def sentences(self) -> list[str]:
        """Return the sentences that can be asked."""
        return [line for line in lines_of(self.text.toPlainText()) if not problem_of(line)][:MOST_PINS]

    def put(self, sentences: Sequence[str]) -> None:
        """Show these sentences."""
        self.text.setPlainText("\n".join(sentences))
        self._timer.stop()
        self._take_edited()

    def _take_edited(self) -> None:
        lines = lines_of(self.text.toPlainText())
        bad = [(line, problem_of(line)) for line in lines if problem_of(line)]
        said = ""
        if bad:
            template = self.tr("“{sentence}” is skipped: {problem}.")
            said = template.format(sentence=words.shorten(bad[0][0], 40), problem=bad[0][1])
        elif len(lines) > MOST_PINS:
            said = self.tr("Only the first {count} are watched.").format(count=MOST_PINS)
        self.refusal.setText(said)
        self.refusal.setVisible(bool(said))
        self.changed.emit()


class PinsCard(Card):
    """The editor before a run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("pins_card")
        self.set_title(self.tr("Pinned sentences"))
        self.editor = PinsEditor()
        self.editor.put(story().pins)
        self.editor.changed.connect(self._show_count)
        self.title_label.setToolTip(
            self.tr("Sentences that are asked again and again during training, one per line.")
        )
        self.add(self.editor, 1)
        self._show_count()

    def _show_count(self) -> None:
        self.set_hint(self.tr("one per line, the word to guess in [brackets]"))


class PinsDialog(QDialog):
    """Changes what is watched in a run that is under way."""

    wanted = Signal(list)

    def __init__(self, sentences: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pins_dialog")
        self.setWindowTitle(self.tr("Pinned sentences"))
        self.resize(560, 320)
        column = QVBoxLayout(self)
        column.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 16)
        column.setSpacing(12)
        column.addWidget(
            label(self.tr("One sentence per line, the word to guess in [brackets], or [MASK]."), wrap=True)
        )
        self.editor = PinsEditor()
        self.editor.put(sentences)
        column.addWidget(self.editor, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        cancel = button(self.tr("Cancel"), name="pins_cancel")
        cancel.clicked.connect(self.reject)
        watch = button(self.tr("Watch these"), "primary", name="pins_watch")
        watch.clicked.connect(self._accept)
        row.addWidget(cancel)
        row.addWidget(watch)
        column.addLayout(row)

    def _accept(self) -> None:
        self.wanted.emit(self.editor.sentences())
        self.accept()


class PinnedCard(Card):
    """What the model makes of the pinned sentences now, and a question of one's own."""

    asked = Signal(str)
    edit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("pinned_card")
        self.set_title(self.tr("Pinned sentences"))
        self.plot = ReadingsPlot(self.tr("Pinned sentences"))
        self.plot.setObjectName("pinned_plot")
        yield_to_layout(self.plot, ROW + 6)
        self.edit = button(self.tr("Edit"), "link", name="edit_pins")
        self.edit.clicked.connect(self.edit_wanted)
        self.add_corner(self.edit)
        self.add_corner(save_icon(self.plot))
        self.add(self.plot, 1)
        self._add_question()
        self.answer = ReadingsPlot(self.tr("Answer"), is_brief=True)
        self.answer.setObjectName("answer_plot")
        self.answer.setFixedHeight(BRIEF_ROW + 6)
        self.status = label("", "muted")
        self.status.setObjectName("question_status")
        below = QHBoxLayout()
        below.addWidget(self.status)
        below.addWidget(self.answer, 1)
        self.body.addLayout(below)
        self.clear()

    def _add_question(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.question = LineEdit()
        self.question.setObjectName("question")
        self.question.setAccessibleName(self.tr("A sentence with [MASK] to ask the model"))
        self.question.setPlaceholderText(self.tr("Ask it: The [MASK] was full of people."))
        self.ask_button = button(self.tr("Ask"), name="ask")
        self.question.returnPressed.connect(self._ask)
        self.ask_button.clicked.connect(self._ask)
        row.addWidget(self.question, 1)
        row.addWidget(self.ask_button)
        self.body.addLayout(row)

    def clear(self) -> None:
        """Empty everything for a new run."""
        self.plot.clear()
        self.answer.clear()
        self.answer.hide()
        self.say("")
        self.set_hint("")
        self.plot.set_empty_text(self.tr("The guesses for each sentence appear here after the first step."))

    def hear(self, event: Pinned) -> None:
        """Show what the model answers."""
        if event.is_question:
            self.answer.clear()
            self.answer.append(event.step, event.readings)
            self.say(self._answer_words(event))
            self.answer.show()
        else:
            self.plot.append(event.step, event.readings)
            self.set_hint(self.tr("step {step}").format(step=words.number(event.step)))

    def _answer_words(self, event: Pinned) -> str:
        """Return when it was answered, and what became of the right word where one was given."""
        said = self.tr("Now:")
        if event.step:
            said = self.tr("At step {step}:").format(step=words.number(event.step))
        for reading in event.readings[:1]:
            if reading.right is not None and reading.probability is not None:
                template = self.tr("{when} “{word}” is guess {rank}, {share}.")
                said = template.format(
                    when=said,
                    word=words.shorten(reading.right, 20),
                    rank=words.number(reading.rank or 0),
                    share=words.probability(reading.probability),
                )
        return said

    def say(self, text: str) -> None:
        """Say below the question what becomes of it."""
        self.answer.hide()
        self.status.setText(text)
        self.status.setVisible(bool(text))

    def set_askable(self, askable: bool) -> None:
        """Allow questions while there is a model to answer them."""
        self.question.setEnabled(askable)
        self.ask_button.setEnabled(askable)

    def _ask(self) -> None:
        sentence = " ".join(self.question.text().split())
        if not sentence:
            return
        problem = problem_of(sentence)
        if problem:
            self.say(self.tr("Write [MASK] in place of a word: {problem}.").format(problem=problem))
            return
        self.asked.emit(sentence)
