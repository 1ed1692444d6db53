"""The card with the attention picture: its views, the row of choices above it, block masses below it.

It paints what it is given and tells what is wanted; it keeps no choice and asks nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import ComboBox, Slider
from app.look.labels import label
from app.look.layout import row
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import Card, button, holder, named
from app.pages.attention.head_pictures.known import make_pictures
from app.pages.attention.state import AttentionChoice
from app.plots.figure import Figure

LEAST_PICTURE = 160  # px high
BETWEEN_SHARES = 3  # px, beside the layout's own
MOST_MASSES = 6  # four blocks, [CLS] and [SEP]
LEAST_SHARE = 1  # per cent
ROOMY = 500  # px, enough for the share in words


class _OptionBox(ChoiceBox):
    """A box whose first letters say most."""

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideRight


class AttentionOptions(QWidget):
    """Four boxes and a slider in one line."""

    changed = Signal(str, object)  # a field of AttentionChoice, and what it is to be

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        boxes = self._make_boxes()
        self._boxes: dict[str, ComboBox] = {name: box for name, box, _stretch in boxes}
        self._make_slider()
        widths = [(box, stretch) for _name, box, stretch in boxes]
        row(*widths, (self.share, 4), self.share_words, gap=6, parent=self)
        self._say_share(100)

    def _make_boxes(self) -> list[tuple[str, ComboBox, int]]:
        """Return each box, the field of `AttentionChoice` that it is for, and its share of the width."""
        of = self._box(
            "of",
            self.tr("Whose attention"),
            self.tr(
                "The chosen head, or the average of several: Ctrl+click more in the mosaic. "
                "Layer, all heads: their average. Rollout: attention multiplied through all "
                "layers up to this one, with the residual path (Abnar and Zuidema 2020)."
            ),
            ("heads", self.tr("Head")),
            ("layer", self.tr("Layer")),
            ("model", self.tr("All heads")),
            ("rollout", self.tr("Rollout")),
        )
        unit = self._box(
            "unit",
            self.tr("Pieces or words"),
            self.tr("Words: attention from a word is the mean of its pieces’ rows, to a word the sum."),
            ("pieces", self.tr("Pieces")),
            ("words", self.tr("Words")),
        )
        block = self._box(
            "block",
            self.tr("Block of the pair"),
            self.tr("Which text looks at which. A→B is from the tokens of A to those of B."),
            ("all", self.tr("A and B")),
            *((one + other, f"{one.upper()} → {other.upper()}") for one in "ab" for other in "ab"),
        )
        specials = self._box(
            "specials",
            self.tr("Special tokens"),
            self.tr(
                "[CLS] and [SEP] take much attention that no word needs. No specials: they are "
                "hidden. Rescaled: they are hidden, and each remaining row sums to 1 again."
            ),
            ("show", self.tr("All tokens")),
            ("hide", self.tr("No specials")),
            ("renormalise", self.tr("Rescaled")),
        )
        return [("of", of, 10), ("unit", unit, 9), ("block", block, 10), ("specials", specials, 12)]

    def _box(self, name: str, accessible: str, tool_tip: str, *entries: tuple[str, str]) -> ComboBox:
        box = _OptionBox(f"attention_{name}", accessible)
        box.setToolTip(f"<qt>{tool_tip}</qt>")
        for value, text in entries:
            box.addItem(text, value)
        box.activated.connect(lambda _index: self.changed.emit(name, box.currentData()))
        return box

    def _make_slider(self) -> None:
        self.share = named(
            Slider(Qt.Orientation.Horizontal),
            "attention_top_share",
            self.tr("Strongest share shown"),
            tool_tip=self.tr("In each row, only the strongest cells that hold this share of it."),
        )
        self.share.setRange(LEAST_SHARE, 100)
        self.share.setValue(100)
        self.share.setMinimumWidth(36)
        self.share.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.share.valueChanged.connect(self._share_moved)
        self.share_words = label("", "muted")
        most = self.tr("top {share}").format(share=words.share(1.0, 0))
        self.share_words.setFixedWidth(self.share_words.fontMetrics().horizontalAdvance(most) + 6)

    def _share_moved(self, percent: int) -> None:
        self._say_share(percent)
        self.changed.emit("top_share", percent / 100)

    def _say_share(self, percent: int) -> None:
        self.share_words.setText(self.tr("top {share}").format(share=words.share(percent / 100, 0)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.share_words.setVisible(event.size().width() >= ROOMY)

    def show_chosen(self, chosen: AttentionChoice, *, has_pair: bool, is_one: bool) -> None:
        """Show what is chosen; emits nothing. Args: is_one: one matrix is shown, not every head's."""
        for name, box in self._boxes.items():
            value: Any = getattr(chosen, name)
            box.choose(value, or_first=True)
        several = len(chosen.heads)
        text = self.tr("Head") if several == 1 else self.tr("{count} heads")
        self._boxes["of"].setItemText(0, text.format(count=several))
        self._boxes["block"].setVisible(has_pair)
        self._boxes["of"].setEnabled(is_one)
        self.share.setEnabled(is_one)
        if round(chosen.top_share * 100) != self.share.value():
            with QSignalBlocker(self.share):
                self.share.setValue(round(chosen.top_share * 100))
            self._say_share(self.share.value())


class _Shares(QScrollArea):
    """A line that may be narrower than what stands in it."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class PictureCard(Card):
    """Heatmap, arcs, query-key detail, all heads large, and whatever tab is put beside them."""

    picture_chosen = Signal(str)
    changed = Signal(str, object)  # a field of AttentionChoice
    locked = Signal(int)  # the token's place in the encoding, -1 for none
    head_chosen = Signal(int, int)
    head_added = Signal(int, int)
    comparison_ended = Signal()
    anatomy_wanted = Signal()  # of the row that the query-key detail shows

    def __init__(self, attribution: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("attention_picture")
        self.pictures = {one.key: one for one in make_pictures(attribution)}
        self._make_toggles()
        self.options = AttentionOptions()
        self.options.changed.connect(self.changed)
        self.add(self.options)
        self._make_comparison_row()
        self._make_views()
        self._make_footer()

    def _make_toggles(self) -> None:
        self.toggles = FoldingButtons(
            "attention_view",
            self.tr("View"),
            [(one.key, one.label, one.tip) for one in self.pictures.values()],
            to_left=True,
        )
        self.toggles.chosen.connect(self.picture_chosen)
        self.add_lead(self.toggles)  # in one place, however wide the card is

    def _make_comparison_row(self) -> None:
        self._comparison = QWidget()
        self.comparison_words = label("", wrap=True, name="attention_comparison")
        end = button(self.tr("End comparison"), "link", name="attention_end_comparison")
        end.clicked.connect(self.comparison_ended)
        row((self.comparison_words, 1), end, gap=6, parent=self._comparison)
        self._comparison.hide()
        self.add(self._comparison)

    def _make_views(self) -> None:
        self._stack = QStackedWidget()
        for one in self.pictures.values():
            one.setParent(self)
            self._stack.addWidget(one.figure)
            one.locked.connect(self.locked)
            one.head_chosen.connect(self.head_chosen)
            one.head_added.connect(self.head_added)
            one.anatomy_wanted.connect(self.anatomy_wanted)
        self.add(self._stack, 1)

    def _make_footer(self) -> None:
        self._footer = QWidget()
        self._make_shares()
        pictures = self.pictures.values()
        self._links = {one.key: one.link for one in pictures if one.link is not None}
        beside = [self._links[one.key] for one in pictures if one.is_matrix and one.key in self._links]
        row((self._shares, 1), *beside, gap=6, parent=self._footer)
        self._fit_footer()
        self.add(self._footer)
        for key, link in self._links.items():
            if not self.pictures[key].is_matrix:
                self.add(link)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "_footer"):
            self._fit_footer()

    def _fit_footer(self) -> None:
        """Keep the footer as high as its link, whether that is shown or not."""
        heights = [link.sizeHint().height() for link in self._links.values()]
        self._footer.setFixedHeight(max(heights))

    def _make_shares(self) -> None:
        self._mass_labels = [(label("", "muted"), label("", "strong")) for _ in range(MOST_MASSES)]
        self._masses = row(gap=4)
        for pair in self._mass_labels:
            for each in pair:
                self._masses.addWidget(each)
            self._masses.addSpacing(BETWEEN_SHARES)
        self._masses.addStretch(1)
        shares = self._shares = _Shares(widgetResizable=True)
        shares.resized.connect(self._fit_masses)
        shares.setFrameShape(QFrame.Shape.NoFrame)
        shares.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for policy in (shares.setHorizontalScrollBarPolicy, shares.setVerticalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        shares.setWidget(holder(self._masses))
        shares.setFixedHeight(label("0").sizeHint().height())

    def figure(self, key: str) -> Any:
        """Return the widget of a picture."""
        return self.pictures[key].figure

    def figures(self) -> tuple[Figure, ...]:
        """The pictures that can be saved, in the order of the views."""
        return tuple(one.saved for one in self.pictures.values() if one.saved is not None)

    def current_figure(self) -> Figure | None:
        """The picture on screen; None for the tab that holds several."""
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, Figure) else None

    def show_chosen(self, chosen: AttentionChoice, *, has_pair: bool) -> None:
        """Show which view is chosen and how."""
        picture = self.pictures[chosen.picture]
        title = picture.title(chosen)
        self.set_title(title)
        self.toggles.set_current(picture.key)
        self._stack.setCurrentWidget(picture.figure)
        self.options.setVisible(picture.has_options)
        self._footer.setVisible(picture.is_matrix)
        for key, link in self._links.items():
            link.setVisible(key == picture.key)
        self.options.show_chosen(chosen, has_pair=has_pair, is_one=picture.is_one)
        for one in self.pictures.values():
            one.show_chosen(chosen, title)

    def show_comparison(self, text: str) -> None:
        """Say what is subtracted, and which colour is which; "" for no comparison."""
        self._comparison.setVisible(bool(text))
        self.comparison_words.setText(text)

    def show_answer(self, answer: object, chosen: AttentionChoice) -> None:
        """Paint what was answered, in every picture that can."""
        for one in self.pictures.values():
            if one.takes is not None and isinstance(answer, one.takes):
                one.show_answer(answer, chosen)

    def show_masses(self, masses: Sequence[tuple[str, str]]) -> None:
        """Say where the words' attention goes: names and shares."""
        rows = [*masses, *[("", "")] * (MOST_MASSES - len(masses))]
        for pair, texts in zip(self._mass_labels, rows, strict=True):
            for each, text in zip(pair, texts, strict=True):
                each.setText(text)
        self._fit_masses()

    def _fit_masses(self) -> None:
        """Show the shares that have room; so narrow a card leaves out the last."""
        room, gap = self._shares.width(), self._masses.spacing()
        for pair in self._mass_labels:
            room -= sum(each.sizeHint().width() for each in pair) + gap
            for each in pair:
                each.setVisible(bool(each.text()) and room >= 0)
            room -= gap + BETWEEN_SHARES

    def show_nothing(self, why: str) -> None:
        """Empty every picture and say why."""
        for one in self.pictures.values():
            one.clear(why)
        self.show_masses(())
