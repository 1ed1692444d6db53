"""A text that was opened in the list: what its words add to the answer, and the pages it leads to."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import ElidedLabel, label
from app.look.layout import column, row
from app.look.widgets import button, set_role
from app.pages.evaluate.requests import scored_words
from app.plots.attribution import AttributedText
from engine.inspect.attribution.gradients import Attribution

LONGEST = 700  # characters of a text that are shown
MOST_LINES = 5
NARROW = 430  # px, below which the links take two lines


class OpenedText(QWidget):
    """`led` tells where to: "attribution", "attention", "tokenizer" or "embeddings"."""

    led = Signal(str)
    doubted = Signal()  # its label is wrong
    fitted = Signal(int)  # px that it needs

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluate_opened")
        self.read: tuple[str, str] | None = None  # what the model has read of the text, once that is known
        set_role(self, "clear")
        self.text = label("", wrap=True, name="evaluate_opened_text")
        self.pair = label("", "muted", wrap=True, name="evaluate_opened_pair")
        self.words = AttributedText(self.tr("Why this answer?"))
        self.words.setObjectName("evaluate_words")
        self.words.most_lines = MOST_LINES
        self.said = ElidedLabel("", "muted")
        self.said.setObjectName("evaluate_opened_said")
        self._links = row(gap=4)
        for key, text in (
            ("attribution", self.tr("Attribution")),
            ("attention", self.tr("Attention")),
            ("tokenizer", self.tr("Tokens")),
            ("embeddings", self.tr("Neighbours")),
        ):
            link = button(text, "link", name=f"evaluate_to_{key}")
            link.clicked.connect(lambda _checked=False, key=key: self.led.emit(key))
            self._links.addWidget(link)
            if key == "attribution":
                self._explain = link
            link.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.doubt = button(self.tr("Label error?"), "link", name="evaluate_doubt")
        self.doubt.setToolTip(
            self.tr(
                "Key W. The recipe gives the row the model’s answer, or excludes it if that is "
                "the same. The file stays unchanged. Press again to undo."
            )
        )
        self.doubt.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.doubt.clicked.connect(self.doubted)
        self._links.addWidget(self.doubt)
        self._links.addStretch(1)
        self._below = row((self.said, 1), gap=4)
        column(
            self._links,
            self._below,
            self.text,
            self.pair,
            self.words,
            gap=4,
            margins=(8, 5, 8, 6),
            parent=self,
        )

    def show_text(self, text: str, pair: str | None, said: str) -> None:
        """Show a text before its words are known. Args: said: what is still to come."""
        self.text.setText(words.shorten(text, LONGEST))
        self.pair.setText("" if pair is None else words.shorten(pair, LONGEST))
        self.text.show()
        self.pair.setVisible(pair is not None)
        self.words.hide()
        self.said.setText(said)

    def set_can_explain(self, can: bool) -> None:
        """Offer what the answer rests on, and to doubt its label, or not."""
        self._explain.setVisible(can)
        self.doubt.setVisible(can)

    def show_attribution(self, found: Attribution, label_name: str) -> None:
        """Show what each word adds to the answer."""
        self.read = found.text, found.text_pair or ""
        self.text.hide()
        self.pair.hide()
        self.words.show()
        self.words.set_words(scored_words(found))
        text = self.tr("blue for “{label}”, orange against")
        self.said.setText(text.format(label=words.shorten(label_name, 40)))

    def show_problem(self, text: str) -> None:
        """Say why there is no attribution."""
        self.said.setText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW
        wanted, other = (self._below, self._links) if is_narrow else (self._links, self._below)
        if other.indexOf(self.doubt) >= 0:
            other.removeWidget(self.doubt)
            wanted.insertWidget(wanted.count() - 1, self.doubt)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            layout = self.layout()
            if layout is not None:
                needed = (
                    layout.heightForWidth(self.width())
                    if layout.hasHeightForWidth()
                    else layout.sizeHint().height()
                )
                self.fitted.emit(needed)
        return done
