"""The demonstration that raw [CLS] is a poor sentence vector: measured, and told as it comes out."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app import words
from app.look.labels import label, tip
from app.look.widgets import Card, button, set_role
from app.plots.buttons import save_icon
from app.plots.poolings import PoolingRow, PoolingsPlot
from engine.inspect.embeddings.poolings import Comparison
from engine.inspect.embeddings.vectors import KINDS
from engine.inspect.subject import About


class PoolingsCard(Card):
    """Every pooling beside the others; `asked` says on which texts."""

    asked = Signal(bool)  # True: the texts of the page, False: the bundled sentences

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Which pooling is better?"))
        self.plot = PoolingsPlot(self.tr("Poolings compared"))
        self.plot.setObjectName("embeddings_poolings")
        self.plot.set_empty_text(
            self.tr(
                "Is raw [CLS] a poor sentence vector? Measure it: for every text the nearest neighbour is "
                "looked up, and it should be of the same class."
            )
        )
        self.said = label("", wrap=True)
        self.said.setObjectName("embeddings_verdict")
        self.more = label("", "muted", wrap=True)
        self.own_button = button(self.tr("On these texts"), name="embeddings_measure_own")
        self.bundled_button = button(self.tr("On bundled sentences"), name="embeddings_measure_bundled")
        self._lay_out()
        self.add_corner(save_icon(self.plot))
        self.own_button.clicked.connect(self._own)
        self.bundled_button.clicked.connect(self._bundled)
        self.set_own("")

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.own_button)
        row.addWidget(self.bundled_button)
        row.addStretch(1)
        inner = QWidget()
        set_role(inner, "clear")
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.plot)
        column.addWidget(self.said)
        column.addWidget(self.more)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        self.body.addLayout(row)
        self.add(scroll, 1)

    def set_own(self, why_not: str) -> None:
        """Offer the texts of the page, or say why they will not do."""
        self.own_button.setEnabled(not why_not)
        self.own_button.setToolTip(tip(why_not))

    def show_comparison(self, found: Comparison, about: About, texts: str, layer: str) -> None:
        """Show what was measured. Args: texts: on what, in words. layer: of [CLS], mean and maximum."""
        rows = [
            PoolingRow(
                words.tr_engine(KINDS[one.pooling.kind][0]),
                one.agreement,
                one.separation,
                one.within,
                one.between,
                one.any_two,
                is_followed=one.pooling.kind in ("cls", "mean"),
            )
            for one in found.measured
        ]
        self.plot.set_rows(rows, found.chance)
        count, classes = words.number(found.num_texts), words.number(found.num_classes)
        on_texts = self.tr("{texts} · {count} texts, {classes} classes")
        self.set_hint(on_texts.format(texts=texts, count=count, classes=classes))
        self.said.setText(self._verdict(found, about))
        notes = [words.say(note) for note in found.notes]
        dotted = self.tr("A dotted line is what chance would reach.")
        at_layer = self.tr("[CLS], mean and maximum are taken at layer {layer}.").format(layer=layer)
        self.more.setText(" ".join([self._likeness(found), dotted, at_layer, *notes]))

    def clear(self) -> None:
        """Show nothing: another model or other texts."""
        self.plot.clear()
        self.said.setText("")
        self.more.setText("")
        self.set_hint("")

    def _verdict(self, found: Comparison, about: About) -> str:
        difference, cls, mean = found.difference("mean", "cls"), found.of("cls"), found.of("mean")
        assert difference is not None and cls is not None and mean is not None
        values = {
            "mean": words.share(mean.agreement),
            "cls": words.share(cls.agreement),
            "points": words.decimal(100 * abs(difference.value), 1),
            "low": words.decimal(100 * min(abs(difference.low), abs(difference.high)), 1),
            "high": words.decimal(100 * max(abs(difference.low), abs(difference.high)), 1),
            "from": words.decimal(100 * difference.low, 1).replace("-", "−"),
            "to": words.decimal(100 * difference.high, 1).replace("-", "−"),
        }
        first = self.tr(
            "With the mean of all pieces {mean} of the nearest neighbours are of the same class, with "
            "[CLS] {cls}."
        )
        if difference.verdict > 0:
            text = self.tr("Raw [CLS] is the poorer vector here, by {points} points (95 %: {low} to {high}).")
        elif difference.verdict < 0:
            text = self.tr(
                "[CLS] is the better vector here, by {points} points (95 %: {low} to {high}): the rule does "
                "not hold."
            )
        else:
            text = self.tr(
                "The difference could be chance (95 %: {from} to {to} points): these texts do not show that "
                "[CLS] is poorer."
            )
        tuned = self.tr("This model was fine-tuned to put its answer into [CLS].") if about.labels else ""
        return " ".join(part for part in (first.format(**values), text.format(**values), tuned) if part)

    def _likeness(self, found: Comparison) -> str:
        """Return how much all vectors point the same way."""
        cls, mean = found.of("cls"), found.of("mean")
        assert cls is not None and mean is not None
        text = self.tr(
            "Any two texts are {cls} alike with [CLS] and {mean} with the mean: the nearer to 1, the less a "
            "high similarity says."
        )
        return text.format(cls=words.decimal(cls.any_two, 2), mean=words.decimal(mean.any_two, 2))

    @Slot()
    def _own(self) -> None:
        self.asked.emit(True)

    @Slot()
    def _bundled(self) -> None:
        self.asked.emit(False)
