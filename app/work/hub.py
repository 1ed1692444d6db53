"""A model hub as the window knows it: how it is asked, and the one model that is being fetched.

Asking is done by a process of its own, which a worker hears; whatever page is open, the transfer goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import words
from app.settings import AppSettings
from app.work.later import later
from app.work.library import models_root
from app.work.worker import Channel, Workers
from engine.errors import Sentence
from engine.events import Event, Fetched, Finished, Noted
from engine.hub.asked import TRANSPORTS, HubSettings, is_address, is_name, other_hub
from engine.hub.kept import begun_in, discard, place_of

if TYPE_CHECKING:
    from engine.hub.download import downloading
    from engine.hub.look import PublishedModel, SearchHit, looking, searching
else:
    downloading = later("engine.hub.download", "downloading")
    looking = later("engine.hub.look", "looking")
    searching = later("engine.hub.look", "searching")

MIRROR, TRANSPORT, OFFLINE = "hub_mirror", "hub_transport", "hub_offline"
TOKEN_TO = "hub_token_to"  # the address beside its own hub that a person lets the token go to


@dataclass(frozen=True, slots=True)
class Transfer:
    """A model that is fetched, or was. moved: how far it is; None before the first byte.

    refusal: why it ended before it was whole; None where it did not, and where a person has cancelled it.
    """

    look: PublishedModel
    out: Path
    moved: Fetched | None = None
    is_running: bool = True
    is_whole: bool = False
    refusal: BaseException | None = None
    notes: tuple[Sentence, ...] = ()

    @property
    def share(self) -> float:
        """How much of it is here, 0..1."""
        return self.moved.done / max(1, self.moved.total) if self.moved is not None else 0.0


class Hub(QObject):
    """Remembers the way to a hub, and fetches one model at a time."""

    changed = Signal()  # the transfer
    way_changed = Signal()
    fetched = Signal(object)  # Path

    def __init__(
        self,
        settings: AppSettings,
        runs_root: Callable[[], Path],
        workers: Workers,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.transfer: Transfer | None = None
        self._settings, self._runs_root, self._workers = settings, runs_root, workers
        self._fetching = Channel(self, workers.transfer)

    @property
    def way(self) -> HubSettings:
        """How a hub is asked, as a person has said."""
        mirror = self._settings.value(MIRROR, "")
        allowed = self._settings.value(TOKEN_TO, "")
        transport = self._settings.value(TRANSPORT, TRANSPORTS[0])
        return HubSettings(
            mirror=mirror if is_address(mirror) else "",
            transport=transport if transport in TRANSPORTS else TRANSPORTS[0],
            offline=self._settings.value(OFFLINE, False),
            send_token=bool(allowed) and allowed == other_hub(mirror),
        )

    def set_way(self, way: HubSettings) -> None:
        """Ask otherwise from now on."""
        self._settings.set_value(MIRROR, way.mirror)
        self._settings.set_value(TRANSPORT, way.transport)
        self._settings.set_value(OFFLINE, way.offline)
        self._settings.set_value(TOKEN_TO, other_hub(way.mirror) if way.send_token else "")
        self.way_changed.emit()

    def set_offline(self, is_offline: bool) -> None:
        """Ask no hub, or ask again."""
        self.set_way(replace(self.way, offline=is_offline))

    @property
    def root(self) -> Path:
        """The folder that fetched models lie in."""
        return models_root(self._runs_root())

    @property
    def is_fetching(self) -> bool:
        return self.transfer is not None and self.transfer.is_running

    def begun(self) -> list[tuple[str, Path]]:
        """Return name and place of the models of which a part has come."""
        busy = self.transfer.out if self.transfer is not None and self.transfer.is_running else None
        return [(name, out) for name, out in begun_in(self.root) if out != busy]

    def search(
        self,
        asked: Channel,
        text: str,
        *,
        heard: Callable[[tuple[SearchHit, ...]], None],
        refused: Callable[[BaseException], None],
    ) -> None:
        """Search for models by words of their names, through a channel of the view that asks."""
        way = self.way
        asked.ask(("search", text, way), partial(searching, text, way), heard=heard, refused=refused)

    def look(
        self,
        asked: Channel,
        name: str,
        revision: str,
        *,
        heard: Callable[[PublishedModel], None],
        refused: Callable[[BaseException], None],
    ) -> None:
        """Look at a model, through a channel of the view that asks."""
        way = self.way
        asked.ask(
            ("look", name),
            partial(looking, name, revision, way, self._place_of(name)),
            heard=heard,
            refused=refused,
            again=True,  # it may have changed
        )

    def _place_of(self, name: str) -> Path | None:
        """Return where a model would lie, of a name as it was typed; None where that is no plain name."""
        return place_of(self.root, name) if is_name(name) else None

    def fetch(self, look: PublishedModel) -> None:
        """Fetch a model that was looked at, or go on with it; nothing while another one comes."""
        if self.is_fetching:
            return
        out = place_of(self.root, look.name)
        self.transfer = Transfer(look, out)
        self._fetching.ask(
            object(),
            partial(downloading, look.name, out, settings=self.way, look=look),
            heard=lambda _: None,
            progress=self._hear,
            refused=self._refuse,
            ended=self._end,
            again=True,
        )
        self.changed.emit()

    def cancel(self) -> None:
        """End the transfer; what has come is kept."""
        if self.is_fetching:
            self._fetching.drop()

    def discard(self, out: Path) -> None:
        """Throw away what has come of a model. Raises: UserError: it comes now."""
        discard(out)
        if self.transfer is not None and self.transfer.out == out:
            self.transfer = None
        self.changed.emit()

    def words(self) -> str:
        """Return what is to be told of the transfer wherever one is; "" without one."""
        if self.transfer is None or not self.transfer.is_running:
            return ""
        said = words.translate("hub", "Downloading {name}: {share}")
        name = self.transfer.look.name.rpartition("/")[2]
        return said.format(name=words.shorten(name, 40), share=words.share(self.transfer.share, 0))

    def _hear(self, event: Event) -> None:
        assert self.transfer is not None
        if isinstance(event, Fetched):
            self.transfer = replace(self.transfer, moved=event)
        elif isinstance(event, Noted):
            self.transfer = replace(self.transfer, notes=(*self.transfer.notes, event.sentence))
        elif isinstance(event, Finished):
            self.transfer = replace(self.transfer, is_whole=True)
        self.changed.emit()

    def _refuse(self, error: BaseException) -> None:
        assert self.transfer is not None
        self.transfer = replace(self.transfer, refusal=error)

    def _end(self) -> None:
        transfer = self.transfer
        if transfer is None:
            return
        self.transfer = replace(transfer, is_running=False)
        self.changed.emit()
        if transfer.is_whole:
            self.fetched.emit(transfer.out)
