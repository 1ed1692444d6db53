"""A page's frame: margins, a header whose last two buttons are the same on every page, and a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from app.look.copy_command import CopyCommandButton
from app.look.labels import ElidedLabel, label
from app.look.layout import STRETCH, FoldingRow, column, row
from app.look.share_menu import MoreButton, ShareButton, SharedFigure
from app.look.widgets import GAP, PAGE_MARGIN, set_role

if TYPE_CHECKING:
    from engine.report.blocks import Document


class PageHeader(QWidget):
    """Title, a sentence of purpose, at most three actions at the right; Save or send, and what is rarer.

    The sentence has a line of its own where it lacks room beside the actions.
    """

    def __init__(self, page: Page, title: str, sentence: str) -> None:
        super().__init__(page)
        self.title_label = label(title, "title")
        self.sentence_label = ElidedLabel(sentence, "muted")
        self.facts = list[QWidget]()
        self.more = MoreButton()
        self.share = ShareButton(page.figures_shown, lambda: self.copying)
        self._actions: QHBoxLayout = row(STRETCH, self.share, self.more, gap=GAP)
        self._words = column(self.title_label, self.sentence_label, gap=2)
        self._line = FoldingRow(gap=GAP)
        self._line.put((self._words, 1), self._actions)
        self._lines = column(self._line, gap=2, parent=self)
        self._is_under = False
        for each in (self.share, self.more):
            self._actions.setAlignment(each, Qt.AlignmentFlag.AlignVCenter)

    @property
    def copying(self) -> CopyCommandButton | None:
        """What copies the command of the page; None where it has none."""
        return self.more.kept.findChild(CopyCommandButton)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            said = self.sentence_label.sizeHint().width()
            is_under = said + GAP + self._actions.sizeHint().width() > self.width()
            if is_under != self._is_under:
                self._is_under = is_under
                (self._lines if is_under else self._words).addWidget(self.sentence_label)
        return super().event(event)

    def set_sentence(self, text: str) -> None:
        """Replace the sentence under the title."""
        self.sentence_label.setText(text)

    def add_fact(self, fact: QWidget) -> None:
        """Add what is known of all that is shown, left of the actions."""
        self.facts.append(fact)
        fact.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._actions.insertWidget(1, fact, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_action(self, action: QWidget) -> None:
        """Add a button, or a row of them, at the right; what copies the command goes into the menus."""
        if isinstance(action, CopyCommandButton):
            self.add_more(action)
            action.copied.connect(self.share.say)
            return
        self._actions.insertWidget(self._actions.count() - 2, action, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_more(self, button: QAbstractButton) -> None:
        """Add a button whose place is the menu of what is rarer."""
        self.more.take(button)


class Page(QWidget):
    """A page's frame: margins, a header, and a body below it."""

    def __init__(self, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = PageHeader(self, title, sentence)
        self.body = column(gap=GAP)
        around = (PAGE_MARGIN, 16, PAGE_MARGIN, 12)
        column(self.header, (self.body, 1), gap=GAP, margins=around, parent=self)
        self.is_bare = False

    def set_bare(self, bare: bool) -> None:
        """Show the work without title and actions, or with them again; a page leaves out its words on
        keys.
        """
        self.is_bare = bare
        self.header.setVisible(not bare)

    # ---- what is taken along

    def figures_shown(self) -> Sequence[SharedFigure]:
        """Return the figures that say what the page shows, the first first."""
        return ()

    def provenance(self) -> list[tuple[str, str]]:
        """Return what a stranger needs to find the same again, as names and values, such as the data."""
        return []

    def model_shared(self) -> Path | None:
        """Return the folder of the model that the page shows, whose name and hash are shared with it."""
        return None

    def own_document(self, has_texts: bool) -> Callable[[], Document] | None:
        """Return what makes the page to send on a worker, where it is more than what is in view; None: it is
        that. Args: has_texts: with the texts of a person's table.
        """
        return None
