"""The five steps from text to rows: the strip that names them, and the card that explains the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QStackedWidget,
    QWidget,
)

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, column, stacked
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import Card, button, named
from app.pages.tokenizer.requests import Tokenization
from app.pages.tokenizer.rows import LinesModel, RowsView
from app.pages.tokenizer.state import STEPS
from app.pages.tokenizer.words import (
    change_words,
    changes_words,
    clean_words,
    frame_words,
    kind_words,
    match_words,
    rows_words,
    seen,
    split_words,
    words_words,
)
from app.plots.buttons import save_icon
from app.plots.figure import Figure
from app.plots.merges import MergesPlot
from app.plots.pieces_ladder import LadderPlot
from app.plots.spelled_ways import WaysPlot
from engine.text.merges import MergedBytes, merges_of
from engine.text.trace import TracedWord
from engine.text.ways import SpelledWays, ways_of

MATCH = "match"
BESIDE = 34  # px around the words of a step


class StepStrip(SegmentedButtons):
    """The steps as buttons in a row, which say what came of each where there is room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        steps = ((key, "", "") for key in STEPS)
        super().__init__("tokenizer_step", tuple(steps), parent, gap=8, height=30, is_wide=True)
        self._names = (
            self.tr("Clean"), self.tr("Split"), self.tr("Pieces"),
            self.tr("Special tokens"), self.tr("Model input"),
        )  # fmt: skip
        self._said = [""] * len(STEPS)
        self.set_current(MATCH)
        self.set_tokenization(None)

    def set_tokenization(self, found: Tokenization | None) -> None:
        """Say beside each step what came of it."""
        said = [""] * len(STEPS)
        if found is not None:
            count = words.number
            num_words = sum(len(trace.words) for trace in found.traces)
            num_special = sum(row.kind == "special" for row in found.rows)
            said = [
                changes_words(sum(len(trace.changes) for trace in found.traces)),
                words_words(num_words),
                count(sum(len(trace.ids) for trace in found.traces)),
                self.tr("{count} added").format(count=count(num_special)),
                self.tr("{count} of {most}").format(
                    count=count(found.num_real), most=count(found.asked.max_length)
                ),
            ]
        self._said = said
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return what the names take, whatever is written beside them: a hidden page is not asked anew."""
        width, least = self.fontMetrics().horizontalAdvance, super().minimumSizeHint()
        named = zip(self._short(), self.buttons.values(), strict=True)
        beyond = sum(width(entry.text()) - width(short) for short, entry in named)
        return QSize(least.width() - beyond, least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _short(self) -> list[str]:
        return [f"{number}  {name}" for number, name in enumerate(self._names, start=1)]

    def _fit(self) -> None:
        """Write what came of each step where all of them have room for it; it is always told."""
        metrics, room = self.fontMetrics(), self.width() / len(STEPS) - BESIDE
        short = self._short()
        told = list(zip(short, self._said, strict=True))
        whole = [f"{text} · {more}" if more else text for text, more in told]
        has_room = all(metrics.horizontalAdvance(text) <= room for text in whole)
        for entry, less, more in zip(self.buttons.values(), short, whole, strict=True):
            entry.setText(more if has_room else less)
            entry.setToolTip("" if has_room else more)
            entry.setAccessibleName(more)


class StepCard(Card):
    """What the chosen step did, and why. The signals carry a segment and a place in its trace."""

    word_chosen = Signal(int, int)  # segment, word
    change_chosen = Signal(int, int)  # segment, change
    anatomy_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("tokenizer_detail")
        self._found: Tokenization | None = None
        self.texts = tuple(label("", wrap=True) for _ in STEPS)
        self.changes = LinesModel((self.tr("From"), self.tr("To"), self.tr("Why")), parent=self)
        self.split = LinesModel((self.tr("Word"), self.tr("Kind")), parent=self)
        self.changes_view = RowsView("tokenizer_changes", self.tr("What cleaning changed"))
        self.changes_view.show_model(self.changes, (80, 56))
        self.split_view = RowsView("tokenizer_words", self.tr("Words of the basic split"))
        self.split_view.show_model(self.split, (150,))
        self.ladder = named(LadderPlot(self.tr("The search for a word’s pieces")), "tokenizer_ladder")
        self.merges = named(MergesPlot(self.tr("The merges of a word’s bytes")), "tokenizer_merges")
        self.ways = named(WaysPlot(self.tr("The ways to spell a word")), "tokenizer_ways")
        self.searches: tuple[Figure, ...] = (self.ladder, self.merges, self.ways)
        self._saves = tuple(map(save_icon, self.searches))
        self.add_corner(*self._saves)
        self._lay_out()
        self.changes_view.walked.connect(self._change_walked)
        self.split_view.walked.connect(self._word_walked)
        self.show_step(MATCH)

    def _lay_out(self) -> None:
        self._stack, self._search = QStackedWidget(), stacked(*self.searches)
        below: tuple[QWidget | None, ...] = (self.changes_view, self.split_view, self._search, None, None)
        for number, (key, text, widget) in enumerate(zip(STEPS, self.texts, below, strict=True)):
            text.setObjectName(f"tokenizer_why_{key}")
            page = QWidget()
            column(text, STRETCH if widget is None else (widget, 1), parent=page)
            assert self._stack.addWidget(page) == number
        self.add(self._stack, 1)
        self.anatomy_link = button(
            self.tr("Next: embeddings"),
            "link",
            name="tokenizer_to_anatomy",
            tool_tip=self.tr(
                "What the model does with this row first, number by number, on the page Step by step"
            ),
        )
        self.anatomy_link.clicked.connect(self.anatomy_wanted)
        self.anatomy_link.hide()  # until there are pieces
        self.add(self.anatomy_link)

    def show_step(self, key: str) -> None:
        """Explain another step."""
        step = STEPS.index(key)
        self._stack.setCurrentIndex(step)
        self.set_title(
            (
                self.tr("1  The text is cleaned"), self.tr("2  It is split into words"),
                self.tr("3  Words become pieces"), self.tr("4  Special tokens are added"),
                self.tr("5  The model input"),
            )[step]
        )  # fmt: skip
        self._is_match = key == MATCH
        self._show_saves()

    def set_tokenization(self, found: Tokenization | None) -> None:
        """Explain a text, or nothing."""
        self._found = found
        for text, say in zip(
            self.texts, (clean_words, split_words, None, frame_words, rows_words), strict=True
        ):
            text.setText(say(found) if found is not None and say is not None else "")
        num_changes = sum(len(trace.changes) for trace in found.traces) if found else 0
        self.changes.set_lines(num_changes, self._change_cell)
        self.changes_view.setVisible(num_changes > 0)
        self.split.set_lines(sum(len(trace.words) for trace in found.traces) if found else 0, self._word_cell)

    def set_word(self, segment: int, place: int) -> None:
        """Explain the match of a word, and choose it among the words; place -1: none."""
        word: TracedWord | None = None
        ways: SpelledWays | None = None
        merges: MergedBytes | None = None
        if self._found is not None and place >= 0:
            word = self._found.traces[segment].words[place]
            asked = self._found.asked.first.wordpiece, self._found.traces[segment], word
            ways, merges = ways_of(*asked), merges_of(*asked)
            self.split_view.go_to(place + (len(self._found.traces[0].words) if segment else 0))
        else:
            self.split_view.go_to(-1)
        said = match_words(word, ways, merges) if self._found is not None else ""
        self.texts[STEPS.index(MATCH)].setText(said)
        has_search = word is not None and bool(word.matches)
        unknown = self._found.asked.first.wordpiece.unk_id if self._found else -1
        self.ladder.set_word(word if has_search else None, unknown)
        self.merges.set_merges(merges)
        self.ways.set_ways(ways)
        self._search.setCurrentWidget(self.ways if ways else self.merges if merges else self.ladder)
        self._show_saves()

    def _show_saves(self) -> None:
        """Offer to save the picture that is shown."""
        for figure, save in zip(self.searches, self._saves, strict=True):
            save.setVisible(self._is_match and self._search.currentWidget() is figure)
            save.setEnabled(not figure.is_empty)

    # ---- lists of A, then of B

    def _place(self, line: int, sizes: list[int]) -> tuple[int, int]:
        return (0, line) if line < sizes[0] else (1, line - sizes[0])

    def _change_at(self, line: int) -> tuple[int, int]:
        assert self._found is not None
        return self._place(line, [len(trace.changes) for trace in self._found.traces])

    def _word_at(self, line: int) -> tuple[int, int]:
        assert self._found is not None
        return self._place(line, [len(trace.words) for trace in self._found.traces])

    def _change_cell(self, line: int, column: int) -> str:
        assert self._found is not None
        segment, place = self._change_at(line)
        change = self._found.traces[segment].changes[place]
        if column == 2:
            return change_words(change)
        text = change.after if column else change.before
        return seen(text) if text else "–"

    def _word_cell(self, line: int, column: int) -> str:
        assert self._found is not None
        segment, place = self._word_at(line)
        word = self._found.traces[segment].words[place]
        return kind_words(word) if column else words.shorten(word.text, 60)

    def _change_walked(self, line: int) -> None:
        self.change_chosen.emit(*self._change_at(line))

    def _word_walked(self, line: int) -> None:
        self.word_chosen.emit(*self._word_at(line))
