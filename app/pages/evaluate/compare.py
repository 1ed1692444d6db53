"""A second model on the same texts: whether it is better, in a sentence, and the texts where they differ."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look import theme
from app.look.inputs import ToolButton
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, button, named, set_role
from app.pages.choose.model_box import ModelBox
from app.pages.evaluate.opened_scores import ScoredPair
from app.session import Session
from app.work.library import FILES
from app.work.text_filter import ANY, DIFFER, FIRST, SECOND, Filter
from app.work.titles import model_title


class CompareCard(Card):
    """`wanted`: another model; `chosen`: a filter; `ended`: no comparison any more."""

    wanted = Signal(object)  # Path
    chosen = Signal(object)  # Filter
    ended = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("evaluate_compare_card")
        self.box = ModelBox("evaluate_other", self.tr("Second model"), session, wanted=FILES)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setFixedWidth(256)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.sentence = label("", wrap=True, name="evaluate_verdict")
        self.close_button = named(ToolButton(), "evaluate_compare_end", self.tr("End the comparison"))
        self.close_button.setToolTip(self.tr("End the comparison"))
        self.close_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_role(self.close_button, "corner")
        theme.on_theme_change(
            self.close_button, lambda: self.close_button.setIcon(theme.icon("close", "muted"))
        )
        self.links = {key: button("", "link", name=f"evaluate_differ_{key}") for key in (ANY, FIRST, SECOND)}
        captions = row(label(self.tr("compared with"), "muted"), self.box, gap=10)
        top = Qt.AlignmentFlag.AlignTop
        beside = column(captions, STRETCH)
        self.body.addLayout(row(beside, (self.sentence, 1), (self.close_button, top), gap=16))
        self.body.addLayout(row(*self.links.values(), STRETCH, gap=16))
        self.body.setSpacing(2)
        self.add(self.box.refusal)
        for key, link in self.links.items():
            link.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            link.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(Filter(DIFFER, (key,))))
        self.box.chosen.connect(lambda folder: self.wanted.emit(Path(str(folder))))
        self.close_button.clicked.connect(self.ended)
        self.show_nothing("")

    def show_nothing(self, said: str) -> None:
        """Show no comparison. Args: said: what is under way."""
        self.sentence.setText(said or self.tr("Choose a second model. It predicts the same texts."))
        for link in self.links.values():
            link.hide()

    def show_both(self, both: ScoredPair, first: Path) -> None:
        """Show how two models compare."""
        names = names_of(first, both.other)
        found = both.compared
        self.sentence.setText(words.say(found.sentence(*names)))
        differing = words.number(len(found.differing))
        text = self.tr("{count} of {total} answered differently")
        self.links[ANY].setText(text.format(count=differing, total=words.number(len(found))))
        only = found.difference.only_first or 0, found.difference.only_second or 0
        texts = self.tr("only the first right: {count}"), self.tr("only the second right: {count}")
        for key, text, count in zip((FIRST, SECOND), texts, only, strict=True):
            self.links[key].setText(text.format(count=words.number(count)))
        has_hits = found.difference.only_first is not None
        self.links[ANY].setVisible(True)
        for key in (FIRST, SECOND):
            self.links[key].setVisible(has_hits)


def names_of(first: Path, second: Path) -> tuple[str, str]:
    """Return what two models are called; A and B where that is the same."""
    found = model_title(first), model_title(second)
    return found if found[0] != found[1] else ("A", "B")
