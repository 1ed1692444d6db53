"""The tab with two models: the same texts before and after, in one picture, and what became of them in
words.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, FoldingRow, row
from app.look.widgets import Card, named
from app.pages.choose.model_box import ModelBox
from app.pages.embeddings.requests import TwoModels
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.marks import Coloring
from app.plots.two_maps import TwoMaps
from app.session import Session
from app.work.titles import model_title
from engine.inspect.embeddings.poolings import Shift
from engine.inspect.embeddings.projection import Projection

BOX_WIDTH = 290


class PairCard(Card):
    """The page's model at the left, another at the right; `model_chosen` tells which."""

    model_chosen = Signal(object)  # Path

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("embeddings_pair_card")
        self.set_title(self.tr("Two models"))
        self.pair: TwoModels | None = None
        self.other: Path | None = None
        self.box = ModelBox("embeddings_other", self.tr("The other model"), session)
        self.box.setPlaceholderText(self.tr("Choose a model"))
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setFixedWidth(BOX_WIDTH)
        self.box.setToolTip(self.tr("The model on the right. The page’s own model is on the left."))
        self.plot = named(TwoMaps(self.tr("Two models")), "embeddings_two_maps")
        yield_to_layout(self.plot, 140)
        self.said = label("", wrap=True, name="embeddings_pair_words")  # the page says it
        compared = FoldingRow(is_late=True)
        compared.put(label(self.tr("Compare with"), "muted"), row(self.box, STRETCH))
        self.add(compared)
        self.add(self.box.refusal)
        self.add(self.plot, 1)
        self.add_corner(save_icon(self.plot))
        self.box.chosen.connect(self._chosen)

    def _chosen(self, folder: str) -> None:
        self.set_other(Path(folder))

    def set_other(self, folder: Path | None) -> None:
        """Put another model at the right."""
        self.other = folder
        self.box.set_choice(folder)
        self.model_chosen.emit(folder)

    def show_pair(self, pair: TwoModels, coloring: Coloring | None, group: str) -> None:
        """Show two maps. Args: coloring: of all texts of the vectors. group: what the classes are called."""
        self.pair = pair
        texts = [pair.vectors.texts[place] for place in pair.places[pair.before.places].tolist()]
        colors = None if coloring is None else coloring.at(pair.places[pair.before.places])
        titles = (self._title(pair.vectors.folder), self._title(pair.folder))
        axes = (self._axes(pair.before), self._axes(pair.after))
        self.plot.set_maps(titles, (pair.before.points, pair.after.points), texts, colors, axes)
        self.set_hint(self.tr("{count} texts on both").format(count=words.number(len(texts))))
        self.said.setText(self._words(pair, titles, group))

    def clear(self, why: str) -> None:
        """Show nothing, and what fills it."""
        self.pair = None
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.said.setText(why)
        self.set_hint("")

    def _title(self, folder: Path) -> str:
        return words.shorten(model_title(folder), 60)

    def _axes(self, found: Projection) -> tuple[str, str]:
        if found.shares is None:
            return self.tr("Nearby points are similar; distances between far groups mean little."), ""
        axis = self.tr("axis {number}: {share} of variance")
        first, second = (
            axis.format(number=number, share=words.share(share))
            for number, share in enumerate(found.shares, start=1)
        )
        return first, second

    def _words(self, pair: TwoModels, titles: tuple[str, str], group: str) -> str:
        """Return what became of the classes; also where it is not what one would like."""
        kind = "PCA" if pair.before.shares is not None else "t-SNE"  # names, the same in all languages
        own = self.tr(
            "Each map is a {kind} of that model’s own vectors: compare what lies together, not where."
        )
        own = own.format(kind=kind)
        own = words.sentences((learned_words(pair.num_learned, len(pair.places)), own))
        if pair.shift is None:
            ask = self.tr("To compare the classes in both models, colour the texts by a column with classes.")
            return f"{ask} {own}"
        whole = self.tr("Nearest texts are found from the full vectors, not on the map.")
        return f"{shift_words(pair.shift, titles, group)} {own} {whole}"


def learned_words(count: int | None, total: int) -> str:
    """Return that a model was trained on texts that are shown; "" where not. Args: count: of them, None: on
    some of the table.
    """
    if count == 0:
        return ""
    if count is None:
        return words.translate(
            "PairCard", "A model here was trained on rows of this table: new texts may move less."
        )
    said = words.translate(
        "PairCard",
        "A model here was trained on {count} of these {all} texts. New texts may move less.",
    )
    return said.format(count=words.number(count), all=words.number(total))


def shift_words(shift: Shift, titles: tuple[str, str], group: str) -> str:
    """Return in a sentence how often the nearest text is of the same class, by two models."""
    first = words.translate(
        "PairCard",
        "The nearest text has the same {group} for {before} of {count} texts with {one}, for {after} "
        "with {other} "
        "(by chance {chance}).",
    ).format(
        group=words.shorten(group, 24),
        before=words.share(shift.before),
        after=words.share(shift.after),
        count=words.number(shift.num_texts),
        one=titles[0],
        other=titles[1],
        chance=words.share(shift.chance, 0),
    )
    values = {
        "points": words.decimal(100 * abs(shift.difference.value), 1),
        "low": words.decimal(100 * min(abs(shift.difference.low), abs(shift.difference.high)), 1),
        "high": words.decimal(100 * max(abs(shift.difference.low), abs(shift.difference.high)), 1),
        "from": words.decimal(100 * shift.difference.low, 1),
        "to": words.decimal(100 * shift.difference.high, 1),
    }
    said = {
        1: words.translate("PairCard", "That is {points} points more (95 %: {low} to {high})."),
        -1: words.translate("PairCard", "That is {points} points less (95 %: {low} to {high})."),
        0: words.translate("PairCard", "The difference could be chance (95 %: {from} to {to} points)."),
    }[shift.difference.verdict]
    return f"{first} {said.format(**values)}"
