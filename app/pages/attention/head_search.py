"""Finds heads: asks for measures over the text or the open table, or for each head's effect, and sorts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from app import words
from app.pages.attention import requests
from app.pages.attention.captions import watched_words
from app.pages.attention.heads import HeadsCard, HeadValues
from app.pages.attention.requests import AttentionRequest
from app.pages.attention.state import IMPORTANCE, POSITION, RANKING, AttentionChoice
from app.session import Session
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.inspect.attention.ablation import EveryHead, WatchedAnswer
from engine.inspect.attention.head_measures import MEASURES, HeadTable, measure, patterns
from engine.inspect.attention.weights import AttentionMaps

if TYPE_CHECKING:
    from engine.evaluation.inside.heads import ImportanceTable

ASCENDING = ("entropy",)  # the most focused head first


class HeadSearch(QObject):
    """Fills a `HeadsCard` with what its measure says of every head."""

    refused = Signal(object)

    def __init__(self, session: Session, card: HeadsCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._models, self._card = session, session.inspector.open_models, card
        self._text_asked = Channel(self, session.workers.quick)
        self._table_asked = Channel(self, session.workers.models)
        self._weighing_asked = Channel(self, session.workers.models)
        self._ranking_asked = Channel(self, session.workers.models)
        self._found: dict[Channel, Any] = {}  # what each was answered last
        self._chosen = AttentionChoice()
        self._maps: AttentionMaps | None = None
        self._watched: WatchedAnswer | None = None  # whose change a head's effect is
        card.sort_changed.connect(self.find)
        card.stop_wanted.connect(self.stop)

    def set_maps(self, maps: AttentionMaps | None, chosen: AttentionChoice) -> None:
        """Sort the heads of other maps."""
        if maps is not self._maps:
            self._text_asked.drop()  # which lets go of the maps before
        self._maps, self._chosen = maps, chosen
        if maps is None:
            self.stop()
            self._card.show_values(None, chosen)
            self._card.say_measure()  # not what was found in a text that is gone
        else:
            self.find()

    def watch(self, watched: WatchedAnswer | None) -> None:
        """Rank heads by the change of this answer."""
        changed, self._watched = watched != self._watched, watched
        if changed and self._card.measure == RANKING:
            self.find()

    def set_chosen(self, chosen: AttentionChoice) -> None:
        """Remember what is chosen now."""
        self._chosen = chosen

    def find(self) -> None:
        """Show the heads in the order that is asked for, or ask for what is not known yet."""
        if self._maps is None:
            return
        if self._card.measure == RANKING:
            self._rank(self._maps)
        elif self._card.is_over_table:
            self._measure_table(self._maps)
        elif self._card.measure == POSITION and not self._card.is_list:
            self._stop_but(self._text_asked)
            self._card.show_values(None, self._chosen)
        else:
            self._ask(self._text_asked, self._maps, partial(measure, self._maps), self._show)

    def stop(self) -> None:
        """Give up measuring."""
        self._stop_but(None)

    def _measure_table(self, maps: AttentionMaps) -> None:
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or not roles.text:
            self._stop_but(None)
            self._card.show_values(None, self._chosen)
            self._card.say(
                self.tr("Open a table on the Data page first. One of its columns must be the text.")
            )
            return
        if self._card.measure == IMPORTANCE:
            weigh = partial(requests.weigh_heads, self._models, maps.folder, table, roles)
            self._ask(self._weighing_asked, (maps.folder, table, roles), weigh, self._show_importance)
            return
        work = partial(requests.measure_table, self._models, maps.folder, table, roles)
        self._ask(self._table_asked, (maps.folder, table, roles), work, self._show_table)

    def _rank(self, maps: AttentionMaps) -> None:
        if self._watched is None:
            self._stop_but(None)
            self._card.show_values(None, self._chosen)
            self._card.say(self.tr("No answer could change; see below."))
            return
        asked = AttentionRequest(maps.folder, maps.text, maps.text_pair)
        work = partial(requests.rank_heads, self._models, asked, self._watched)
        self._ask(self._ranking_asked, (asked, self._watched), work, self._show_ranking)

    def _ask(
        self, channel: Channel, about: Hashable, work: Callable[[], Any], show: Callable[[Any], None]
    ) -> None:
        """Show what is known already, or ask for it in place of whatever else is under way."""
        self._stop_but(channel)
        is_new = channel.ask(
            about,
            work,
            heard=partial(self._take, channel, show),
            refused=self.refused.emit,
            progress=self._show_progress,
            ended=self._show_whether_busy,
        )
        if is_new:
            self._found.pop(channel, None)
            if channel is not self._text_asked:
                self._card.show_progress(-1.0)
        elif channel in self._found:
            show(self._found[channel])

    def _take(self, channel: Channel, show: Callable[[Any], None], found: object) -> None:
        self._found[channel] = found
        show(found)

    def _stop_but(self, kept: Channel | None) -> None:
        for channel in (self._text_asked, self._table_asked, self._weighing_asked, self._ranking_asked):
            if channel is not kept and channel.is_asking:
                channel.drop()
        self._show_whether_busy()

    def _show_whether_busy(self) -> None:
        slow = (self._table_asked, self._weighing_asked, self._ranking_asked)
        if not any(channel.is_asking for channel in slow):
            self._card.show_progress(None)

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            share = event.done / event.total if event.total else -1.0
            self._card.show_progress(share, words.event_words(event))

    def _show(
        self,
        found: Mapping[str, np.ndarray],
        said: str = "",
        half: Callable[[str], np.ndarray] | None = None,
    ) -> None:
        by = self._card.measure
        is_plain = by == POSITION
        one = MEASURES.get("entropy" if is_plain else by)
        if one is None:
            return
        if one.name not in found:
            self._card.show_values(None, self._chosen)
            self._card.say(self.tr("Only pairs of texts have this measure."))
            return
        self._card.say(said or words.tr_engine(one.help))
        kind = "share" if one.is_share else ""
        unit = words.tr_engine(one.unit)
        label = words.tr_engine(one.label)
        sides = half and half(one.name)
        values = HeadValues(by, label, found[one.name], kind, unit, is_plain, _named(found), sides)
        self._card.show_values(values, self._chosen, ascending=by in ASCENDING)

    def _show_table(self, found: HeadTable) -> None:
        one, many = self.tr("Means over one text{cut}."), self.tr("Means over {count} texts{cut}.")
        was, were = self.tr("; one was truncated"), self.tr("; {count} were truncated")
        cut = words.counted(found.num_cut, was, were) if found.num_cut else ""
        said = words.counted(found.num_texts, one, many).format(cut=cut)
        self._show(found.values, said, found.half_interval)

    def _show_importance(self, found: ImportanceTable) -> None:
        one = self.tr("Over one text: the slope of {asked}.")
        many = self.tr("Over {count} texts: the slope of {asked}.")
        asked = self.tr("the label’s loss") if found.asks == "labels" else self.tr("the loss of masked words")
        self._card.say(words.counted(found.num_texts, one, many).format(asked=asked))
        half = found.high - found.values
        values = HeadValues(IMPORTANCE, self.tr("Importance"), found.values, "", half=half)
        self._card.show_values(values, self._chosen)

    def _show_ranking(self, found: EveryHead) -> None:
        said = self.tr("{answer}: {before} with all heads on. Below, each head off alone.").format(
            answer=watched_words(found.watched, []), before=words.share(found.before)
        )
        self._card.say(said)
        values = HeadValues(RANKING, self.tr("Change when off"), found.changes, "change")
        self._card.show_values(values, self._chosen)


def _named(found: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], ...]:
    """Return for each layer and head the words for what most of its attention goes to."""
    return tuple(
        tuple(words.tr_engine(MEASURES[name].label) if name else "" for name in row)
        for row in patterns(found)
    )
