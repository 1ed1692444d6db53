"""The list of models to get: begun ones, recommended ones, found ones, each a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QListView, QWidget

from app import words
from app.look import theme
from app.look.labels import PART
from app.look.widgets import named
from app.pages.models.two_lines import ROW, THING, TwoLines, two_lines_item
from engine.hub.look import SearchHit
from engine.hub.recommended import LANGUAGES, RECOMMENDED

LEAST_ROWS = 2


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model that can be got, as its line says."""

    name: str
    weights: str = ""
    language: str = ""
    licence: str = ""
    said: str = ""


def offers_of(
    text: str, begun: Sequence[tuple[str, int]], found: Sequence[SearchHit]
) -> tuple[ModelOffer, ...]:
    """Return what to offer for what was typed. Args: begun: name and bytes that are here."""
    wanted = text.strip().lower()
    known = {one.name: one for one in RECOMMENDED}
    offers = [_begun(name, size) for name, size in begun if wanted in name.lower()]
    offers += [
        ModelOffer(
            one.name,
            _millions(one.millions * 1e6),
            PART.join((one.family, words.tr_engine(LANGUAGES[one.language]))),
            one.licence,
            words.tr_engine(one.good_for),
        )
        for one in known.values()
        if one.fits(wanted, words.tr_engine(LANGUAGES[one.language]))
    ]
    offers += [_found(one) for one in found]
    return tuple({offer.name: offer for offer in reversed(offers)}.values())[::-1]


def _begun(name: str, size: int) -> ModelOffer:
    said = words.translate("models", "started: {size} are here")
    return ModelOffer(name, said=said.format(size=words.file_size(size)))


def _found(one: SearchHit) -> ModelOffer:
    said = [] if one.downloads is None else [
        words.translate("models", "downloaded {count} times recently").format(
            count=words.number(one.downloads)
        )
    ]  # fmt: skip
    if one.gated:
        said.append(words.translate("models", "its terms have to be accepted"))
    return ModelOffer(one.name, _millions(one.weights), "", one.licence, words.phrases(said))


def _millions(count: float | None) -> str:
    if count is None:
        return ""
    digits = 0 if count >= 1e8 else 1
    return words.translate("models", "{count} M").format(count=words.decimal(count / 1e6, digits))


class OffersView(QListView):
    """The lines; a click or Enter wants one looked at."""

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "models_offers", self.tr("Models to get"))
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.offers: tuple[ModelOffer, ...] | None = None
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.setItemDelegate(TwoLines(self))
        self.clicked.connect(self._want)
        self.activated.connect(self._want)
        theme.on_theme_change(self, self.viewport().update)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), LEAST_ROWS * ROW)  # a card of what is looked at is beneath

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), LEAST_ROWS * ROW)

    def show_offers(self, offers: Sequence[ModelOffer]) -> None:
        """Show other lines."""
        if tuple(offers) == self.offers:
            return
        self.offers = tuple(offers)
        self._items.clear()
        for offer in offers:
            second = PART.join(filter(None, (offer.language, offer.licence, offer.said)))
            self._items.appendRow(two_lines_item(offer, offer.name, offer.weights, second, second))

    def _want(self, index: QModelIndex) -> None:
        offer = index.data(THING)
        if isinstance(offer, ModelOffer):
            self.wanted.emit(offer.name)
