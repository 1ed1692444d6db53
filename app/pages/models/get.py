"""Getting a model by its name: searched by typing, looked at first, then fetched; nothing here waits."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app import words
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, Card, button, holder, named, set_role
from app.pages.models.look_card import LookCard
from app.pages.models.offers import OffersView, offers_of
from app.pages.models.way import WayForm
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError
from engine.hub.asked import HubSettings
from engine.hub.kept import is_here, place_of, unfinished
from engine.hub.look import PublishedModel, SearchHit

REST_MS = 400  # after the last key, before a hub is asked
LEAST_TYPED = 2  # characters


class GetView(QScrollArea):
    """A field, the models that fit what stands there, and the one that is looked at."""

    closed = Signal()
    checkpoint_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setObjectName("models_get")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hub = session.hub
        self._searching, self._looking = (Channel(self, session.workers.hub) for _ in range(2))
        self._found: tuple[SearchHit, ...] = ()
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._make_parts()
        self._lay_out()
        self._connect()
        self._show_offers()
        self.look_card.show_transfer(self.hub.transfer)

    def _make_parts(self) -> None:
        self.name = named(LineEdit(), "models_name", self.tr("Name of a published model"))
        self.name.setPlaceholderText(self.tr("bert-base-chinese, hfl/rbt3, part of a name, or an address"))
        self.name.setClearButtonEnabled(True)
        self.look_button = button(self.tr("Show it"), name="models_look_at", call=self.look_at_typed)
        self.way_button = button(self.tr("Download options"), "link", name="models_show_way")
        self.way_button.setCheckable(True)
        self.checkpoint_button = button(
            self.tr("Convert a TensorFlow checkpoint…"), "link", name="models_convert"
        )
        self.close_button = button(self.tr("Close"), "link", name="models_get_close", call=self.closed)
        self.close_button.setToolTip(self.tr("Back to the models here"))
        self.way = WayForm(self.hub.way)
        self.way.hide()
        self.said = label("", "muted", wrap=True, name="models_offers_said")
        self.offers = OffersView()
        self.look_card = LookCard()

    def _lay_out(self) -> None:
        card = Card(self.tr("Get a model by name"))
        card.add_corner(self.way_button, self.close_button)
        card.add_layout(row((self.name, 1), self.look_button))
        card.add(self.way)
        card.add(self.said)
        card.add(self.offers, 1)
        card.add_layout(row(self.checkpoint_button, STRETCH))
        self.setWidget(holder(column((card, 1), self.look_card, gap=GAP)))

    def _connect(self) -> None:
        self.name.textEdited.connect(self._typed)
        self.name.returnPressed.connect(self.look_at_typed)
        self._rest.timeout.connect(self._search)
        self.way_button.toggled.connect(self.way.setVisible)
        self.way.changed.connect(self._take_way)
        self.hub.way_changed.connect(self._show_way)
        self.checkpoint_button.clicked.connect(self.checkpoint_wanted)
        self.offers.wanted.connect(self.look_at)
        self.look_card.fetch_wanted.connect(self.hub.fetch)
        self.look_card.cancel_wanted.connect(self.hub.cancel)
        self.look_card.discard_wanted.connect(self._discard)
        self.hub.changed.connect(self._show_transfer)

    def refresh(self) -> None:
        """Show again what has been begun."""
        self._show_offers()

    def _typed(self) -> None:
        """Offer what fits of what is known, and ask the hub once the hand rests."""
        self._searching.drop()
        self._found = ()
        self._show_offers()
        if len(self.name.text().strip()) >= LEAST_TYPED and not self.hub.way.offline:
            self._rest.start()
        else:
            self._rest.stop()

    def _search(self) -> None:
        text = self.name.text().strip()
        if "://" in text:
            return  # an address is looked at, not searched for
        self._say(self.tr("Searching…"))
        self.hub.search(self._searching, text, heard=self._take_found, refused=self._refuse_search)

    def _take_found(self, found: tuple[SearchHit, ...]) -> None:
        self._found = found
        self._show_offers()
        none = self.tr("The hub has no model of that name that opens here.")
        several = self.tr("{count} found at the hub")
        self._say(several.format(count=words.number(len(found))) if found else none)

    def _show_way(self) -> None:
        self.way.show_way(self.hub.way)

    def _refuse_search(self, error: BaseException) -> None:
        self._say(words.say_error(error), is_refusal=True)

    def look_at_typed(self) -> None:
        """Look at the model whose name stands in the field."""
        if self.name.text().strip():
            self.look_at(self.name.text().strip())

    def look_at(self, name: str) -> None:
        """Look at a model; its name stands in the field."""
        self._rest.stop()
        if self.name.text() != name:
            self.name.setText(name)
        self.look_card.show_looking(name)
        self.hub.look(
            self._looking,
            name,
            self.way.revision.text().strip(),
            heard=self._take_look,
            refused=self.look_card.show_refusal,
        )

    def _take_look(self, look: PublishedModel) -> None:
        out = place_of(self.hub.root, look.name)
        is_coming = self.hub.is_fetching and self.hub.transfer is not None and self.hub.transfer.out == out
        begun = 0 if is_coming else unfinished(out)
        is_whole = is_here(out, look.name, look.commit, look.sizes)
        self.look_card.show_look(look, out, begun=begun, is_here=is_whole)
        self.ensureWidgetVisible(self.look_card)

    def _take_way(self, way: HubSettings) -> None:
        self.hub.set_way(way)
        self._typed()

    def _discard(self, look: PublishedModel) -> None:
        try:
            self.hub.discard(place_of(self.hub.root, look.name))
        except UserError as error:
            self.look_card.show_refusal(error)
        self._show_offers()

    def _show_transfer(self) -> None:
        self.look_card.show_transfer(self.hub.transfer)

    def _show_offers(self) -> None:
        begun = [(name, unfinished(out)) for name, out in self.hub.begun()]
        offers = offers_of(self.name.text(), begun, self._found)
        self.offers.show_offers(offers)
        typed = self.tr("Known here. Enter looks up what you typed") if offers else ""
        typed = typed or self.tr("Enter looks up what you typed")
        self._say(typed if self.name.text().strip() else self.tr("Recommended for a start"))

    def _say(self, text: str, *, is_refusal: bool = False) -> None:
        set_role(self.said, "refusal" if is_refusal else "muted")
        self.said.setText(text)
