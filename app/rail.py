"""The rail at the window's left edge: which pages there are, in which order, under which headings.

The order is that of a person's work: numbers where one thing follows another, signs elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QWidget

from app.look import theme
from app.look.inputs import ToolButton
from app.look.labels import ElidedLabel, label
from app.look.layout import STRETCH, column, row
from app.look.widgets import ScrollView, named, set_role
from app.words import phrases, translate
from engine.errors import marked

WIDTH, WIDEST, ROW = 200, 240, 28  # px; all rows fit a window of 640 px


@dataclass(frozen=True, slots=True)
class RailPage:
    """A page of the window. key: its folder in app/pages. name: what `cloze --page` calls it. number: of the
    step that it is; 0: of no order. uses: what of the thread, in the order of its work; the bar shows these.
    """

    key: str
    name: str
    title: str
    number: int = 0
    uses: tuple[str, ...] = ()


MODEL, DATA, TEXT = "model", "data", "text"  # the thread: one of each for the whole window
LECTURES = "lectures"  # a menu
START = RailPage("welcome", "start", marked("rail", "Start"))
LEARN = marked("rail", "Learn")  # the heading that the lectures stand under
LOOK_INSIDE = (
    RailPage("tokenizer", "tokenizer", marked("rail", "Tokenizer"), uses=(MODEL, TEXT)),
    RailPage("probe", "masked-words", marked("rail", "Masked words"), uses=(MODEL, TEXT)),
    RailPage("attention", "attention", marked("rail", "Attention"), uses=(MODEL, TEXT)),
    RailPage("embeddings", "embeddings", marked("rail", "Embeddings"), uses=(MODEL,)),
    RailPage("anatomy", "step-by-step", marked("rail", "Step by step"), uses=(MODEL, TEXT)),
)
GROUPS = (
    (
        marked("rail", "Your model"),
        (
            RailPage("data", "data", marked("rail", "Data"), 1, (DATA,)),
            RailPage("label", "label", marked("rail", "Label"), 2, (DATA, MODEL)),
            RailPage("finetune", "fine-tune", marked("rail", "Fine-tune"), 3, (DATA,)),
            RailPage("evaluate", "evaluate", marked("rail", "Evaluate"), 4, (MODEL, DATA)),
            RailPage("predict", "predict", marked("rail", "Predict"), 5, (MODEL, TEXT)),
        ),
    ),
    (marked("rail", "Look inside"), LOOK_INSIDE),
    (LEARN, (RailPage("family", "family", marked("rail", "BERT’s family")),)),
    (
        marked("rail", "Library"),
        (
            RailPage("models", "models", marked("rail", "Models")),
            RailPage("runs", "runs", marked("rail", "Runs")),
            RailPage("pretrain", "pretrain", marked("rail", "Pretrain")),
        ),
    ),
)
RAIL_PAGES = {page.key: page for page in (START, *(page for _heading, pages in GROUPS for page in pages))}
# what a page is called in a command -> its key
NAMES = {page.name: page.key for page in RAIL_PAGES.values()} | {"lectures": LECTURES}
LOOKING = tuple(page.key for page in LOOK_INSIDE)


def title_of(page: RailPage) -> str:
    """Return what a page is called in the person's language."""
    return translate("rail", page.title)


def heading_words(heading: str) -> str:
    """Return what a group of pages is called in the person's language."""
    return translate("rail", heading)


class Rail(QFrame):
    """The list of pages, which scrolls in a very low window; arrow keys move within it.

    Args: head: above all. lectures: stands first among what one learns from. foot: at the bottom.
    """

    chosen = Signal(str)  # the key of a page

    def __init__(
        self, head: QWidget, lectures: QWidget, foot: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        set_role(self, "rail")
        self.setFixedWidth(WIDTH)
        self._buttons: dict[str, QToolButton] = {}
        self._states: dict[str, QLabel] = {}
        parts = [head, self._entry(START)]
        for heading, pages in GROUPS:
            caption = label(heading_words(heading).upper(), "caption")
            caption.setContentsMargins(10, 6, 0, 0)
            parts += [caption, *([lectures] if heading == LEARN else []), *map(self._entry, pages)]
        self._in_order = [part for part in parts if isinstance(part, QToolButton)]
        inner = self._inner = QWidget()
        column(*parts, STRETCH, foot, gap=0, margins=(8, 10, 8, 6), parent=inner)
        self._pane = ScrollView(inner)
        column(self._pane, gap=0, parent=self)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setFixedWidth(max(WIDTH, min(WIDEST, self._inner.minimumSizeHint().width() + 1)))

    def _entry(self, page: RailPage) -> QWidget:
        """Return a page's button; its object name is rail_<key>, that of its state rail_<key>_state."""
        entry, title = ToolButton(), title_of(page)
        entry.setText(f"\u2002{title}")  # a style sheet has no word for the room between icon and text
        entry.setAccessibleName(title)
        entry.setObjectName(f"rail_{page.key}")
        entry.setCheckable(True)
        entry.setAutoExclusive(True)
        entry.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        entry.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        entry.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        entry.setIconSize(QSize(16, 16))
        entry.setFixedHeight(ROW)
        set_role(entry, "nav")
        theme.on_theme_change(
            entry,
            lambda: entry.setIcon(theme.digit_icon(page.number) if page.number else theme.icon(page.key)),
        )
        entry.clicked.connect(lambda: self.chosen.emit(page.key))
        state = named(ElidedLabel("", "muted"), f"rail_{page.key}_state")
        state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        state.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row(STRETCH, state, margins=(0, 0, 9, 0), parent=entry)
        self._buttons[page.key], self._states[page.key] = entry, state
        return entry

    def set_state(self, key: str, text: str, *, is_running: bool = False) -> None:
        """Say at the right of a page how far one is there; "": nothing is done. Blue while something runs."""
        state = self._states[key]
        state.setText(text)
        set_role(state, "accent" if is_running else "muted")
        title = title_of(RAIL_PAGES[key])
        self._buttons[key].setAccessibleName(phrases((title, text)) if text else title)

    def set_current(self, key: str) -> None:
        """Show which page is open; emits nothing. The keyboard goes along if it is here, or nowhere."""
        self._buttons[key].setChecked(True)
        self._pane.ensureWidgetVisible(self._buttons[key])
        held = self.window().focusWidget()  # also while the window is not the active one, or not shown yet
        if held is None or held in self._buttons.values():
            self._buttons[key].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entries = self._in_order
        here = next((i for i, entry in enumerate(entries) if entry.hasFocus()), -1)
        move = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        if here >= 0 and move:
            entries[(here + move) % len(entries)].setFocus(Qt.FocusReason.TabFocusReason)
            self._pane.ensureWidgetVisible(entries[(here + move) % len(entries)])
        else:
            super().keyPressEvent(event)
