"""Finds heads: asks for measures over the text or the open table, or for each head's effect, and sorts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app import words
from app.pages.attention.captions import watched_words
from app.pages.attention.head_list import HeadValues
from app.pages.attention.heads import POSITION, RANKING, HeadsCard
from app.pages.attention.state import Chosen
from app.pages.attention.tasks import Asked, Looked, measures_task, ranking_task, table_task
from app.session import Session
from engine.events import Event, Progress
from engine.inspect.attention.ablation import EveryHead, Watched
from engine.inspect.attention.head_measures import MEASURES, TableMeasures, patterns
from engine.text.table import Table

KEYS = ("attention_measures", "attention_table", "attention_ranking")
ASCENDING = ("entropy",)  # the most focused head first


class Finder(QObject):
    """Fills a `HeadsCard` with what its measure says of every head."""

    failed = Signal(object)

    def __init__(self, session: Session, card: HeadsCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._laboratory, self._card = session, session.laboratory, card
        self._chosen = Chosen()
        self._looked: Looked | None = None
        self._measured: tuple[Looked, Mapping[str, np.ndarray]] | None = None
        self._over: tuple[Path, Table, TableMeasures] | None = None
        self._ranked: tuple[Asked, Watched, EveryHead] | None = None
        self._under_way: object = None  # what the long question that runs is about
        self._watched: Watched | None = None  # whose change a head's effect is
        card.sort_changed.connect(self.find)
        card.stop_wanted.connect(self.stop)

    def take(self, looked: Looked | None, chosen: Chosen) -> None:
        """Sort the heads of another look."""
        self._looked, self._chosen = looked, chosen
        if self._measured is not None and self._measured[0] is not looked:
            self._measured = None  # lets go of the old look
        if looked is None:
            self.stop()
            self._card.show_values(None, chosen)
            self._card.tell_measure()  # not what was found in a text that is gone
        else:
            self.find()

    def watch(self, watched: Watched | None) -> None:
        """Rank heads by the change of this answer."""
        changed, self._watched = watched != self._watched, watched
        if changed and self._card.measure == RANKING:
            self.find()

    def take_chosen(self, chosen: Chosen) -> None:
        """Remember what is chosen now."""
        self._chosen = chosen

    @Slot()
    def find(self) -> None:
        """Show the heads in the order that is asked for, or ask for what is not known yet."""
        if self._looked is None:
            return
        measure = self._card.measure
        if measure == POSITION:
            self._drop_but("attention_measures")
            if self._card.is_list:
                self._find_in_text(self._looked)
            else:
                self._card.show_values(None, self._chosen)
        elif measure == RANKING:
            self._find_ranking(self._looked)
        elif self._card.is_over_table:
            self._find_over_table(self._looked)
        else:
            self._find_in_text(self._looked)

    @Slot()
    def stop(self) -> None:
        """Give up measuring."""
        for key in KEYS:
            self._laboratory.drop(key)
        self._card.show_progress(None)

    # ---- one text

    def _find_in_text(self, looked: Looked) -> None:
        self._drop_but("attention_measures")
        if self._measured is not None and self._measured[0] is looked:
            self._show(self._measured[1])
            return
        self._laboratory.ask(
            "attention_measures",
            partial(measures_task, looked.look),
            heard=partial(self._take_measures, looked),
            failed=self.failed.emit,
            light=True,
        )

    def _take_measures(self, looked: Looked, found: Mapping[str, np.ndarray]) -> None:
        self._measured = (looked, found)
        if looked is self._looked and not self._card.is_over_table:
            self._show(found)

    def _show(self, found: Mapping[str, np.ndarray], said: str = "") -> None:
        measure = self._card.measure
        is_plain = measure == POSITION
        one = MEASURES.get("entropy" if is_plain else measure)
        if one is None:
            return
        if one.name not in found:
            self._card.show_values(None, self._chosen)
            self._card.say(self.tr("Only a pair of texts has this measure."))
            return
        self._card.say(said or words.tr_engine(one.help))
        kind = "share" if one.is_share else ""
        unit = words.tr_engine(one.unit)
        label = words.tr_engine(one.label)
        held = HeadValues(measure, label, found[one.name], kind, unit, is_plain, _named(found))
        self._card.show_values(held, self._chosen, ascending=measure in ASCENDING)

    # ---- the open table

    def _find_over_table(self, looked: Looked) -> None:
        table, roles = self._session.table, self._session.roles
        if table is None or roles is None or not roles.text:
            self._card.show_values(None, self._chosen)
            self._card.say(
                self.tr("Open a table on the Data page first; one of its columns must be the text.")
            )
            return
        self._drop_but("attention_table")
        folder = looked.asked.folder
        if self._over is not None and self._over[0] == folder and self._over[1] is table:
            self._show_over(self._over[2])
            return
        if self._is_on_its_way("attention_table", (folder, table)):
            return  # only the measure is another one
        self._card.show_progress(-1.0)
        self._laboratory.ask(
            "attention_table",
            partial(table_task, folder, table, roles),
            heard=partial(self._take_over, folder, table),
            failed=self.failed.emit,
            heard_progress=self._progressed,
            ended=self._ended,
        )

    def _take_over(self, folder: Path, table: Table, found: TableMeasures) -> None:
        self._over = (folder, table, found)
        if self._card.is_over_table:
            self._show_over(found)

    def _show_over(self, found: TableMeasures) -> None:
        one, many = self.tr("Means over one text{cut}."), self.tr("Means over {count} texts{cut}.")
        was, were = self.tr("; one was cut"), self.tr("; {count} were cut")
        cut = words.counted(found.num_cut, was, were) if found.num_cut else ""
        self._show(found.values, words.counted(found.num_texts, one, many).format(cut=cut))

    # ---- each head off alone

    def _find_ranking(self, looked: Looked) -> None:
        watched = self._watched
        if watched is None:
            self._card.show_values(None, self._chosen)
            self._card.say(self.tr("There is no answer that could change; see below."))
            return
        self._drop_but("attention_ranking")
        asked = Asked(looked.asked.folder, looked.asked.text, looked.asked.text_pair)
        if self._ranked is not None and self._ranked[:2] == (asked, watched):
            self._show_ranking(self._ranked[2])
            return
        if self._is_on_its_way("attention_ranking", (asked, watched)):
            return
        self._card.show_progress(-1.0)
        self._laboratory.ask(
            "attention_ranking",
            partial(ranking_task, asked, watched),
            heard=partial(self._take_ranking, asked),
            failed=self.failed.emit,
            heard_progress=self._progressed,
            ended=self._ended,
        )

    def _take_ranking(self, asked: Asked, found: EveryHead) -> None:
        self._ranked = (asked, found.watched, found)
        if self._card.measure == RANKING:
            self._show_ranking(found)

    def _show_ranking(self, found: EveryHead) -> None:
        said = self.tr("{answer}: {before} with all on. Below: each head off alone.").format(
            answer=watched_words(found.watched, []), before=words.share(found.before)
        )
        self._card.say(said)
        held = HeadValues(RANKING, self.tr("Change when off"), found.changes, "change")
        self._card.show_values(held, self._chosen)

    # ---- on the way

    def _is_on_its_way(self, key: str, about: tuple[object, object]) -> bool:
        """Whether this very question runs; if not, it counts as the one that does from now on."""
        same = isinstance(self._under_way, tuple) and self._under_way[0] == about[0]
        same = same and (self._under_way[1] is about[1] or self._under_way[1] == about[1])  # type: ignore[index]
        self._under_way = about
        return same and self._laboratory.is_asking(key)

    def _drop_but(self, kept: str) -> None:
        for key in KEYS:
            if key != kept and self._laboratory.is_asking(key):
                self._laboratory.drop(key)
        if not any(self._laboratory.is_asking(key) for key in KEYS[1:]):
            self._card.show_progress(None)

    def _progressed(self, event: Event) -> None:
        if isinstance(event, Progress):
            share = event.done / event.total if event.total else -1.0
            self._card.show_progress(share, words.event_words(event))

    def _ended(self) -> None:
        if not any(self._laboratory.is_asking(key) for key in KEYS[1:]):
            self._card.show_progress(None)


def _named(found: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], ...]:
    """Return for each layer and head the words for what most of its attention goes to."""
    return tuple(
        tuple(words.tr_engine(MEASURES[name].label) if name else "" for name in row)
        for row in patterns(found)
    )
