"""What a click asks for beside the scores of texts: a baseline, slices, groups by meaning, near copies, a
temperature. Each answer goes to the card that asked.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app import words
from app.pages.evaluate import requests
from app.pages.evaluate.by import ScoresBy
from app.pages.evaluate.opened_scores import OpenedScores, WorseSlices
from app.pages.evaluate.score import ScoreCard
from app.session import Session
from app.work.worker import Channel
from engine.evaluation.baselines import Baseline, counting_words
from engine.evaluation.meaning import groups_by_meaning
from engine.evaluation.report import f1_intervals
from engine.evaluation.slices import MEANING
from engine.events import Event, Progress


class Further(QObject):
    """Asks about the texts that are scored; `regrouped` tells of the same with other intervals."""

    refused = Signal(object)
    regrouped = Signal(object)  # Opened
    temperature_changed = Signal()
    found = Signal()  # slices, and the columns that they are of

    def __init__(self, session: Session, score: ScoreCard, by: ScoresBy) -> None:
        super().__init__(by)
        self.score, self.by = score, by
        self.opened: OpenedScores | None = None
        self.columns: dict[str, tuple[str, ...]] = {}  # cells, of which slices are made
        workers = session.workers
        self._words_asked, self._meaning_asked = (Channel(self, workers.models) for _ in range(2))
        self._slices_asked, self._ends_asked, self._near_asked = (
            Channel(self, workers.files) for _ in range(3)
        )
        self._warmth_asked = Channel(self, workers.quick)
        score.baseline_wanted.connect(self._count_words)
        score.near_wanted.connect(self._group_near)
        by.slices_wanted.connect(self.find_slices)
        by.meaning_wanted.connect(self._group_by_meaning)
        by.temperature_wanted.connect(self._set_temperature)

    @property
    def _channels(self) -> tuple[Channel, ...]:
        return (
            self._words_asked, self._meaning_asked, self._slices_asked, self._ends_asked, self._near_asked,
            self._warmth_asked,
        )  # fmt: skip

    @property
    def is_asking(self) -> bool:
        """Whether anything is still to be answered."""
        return any(channel.is_asking for channel in self._channels)

    def take(self, opened: OpenedScores | None) -> None:
        """Ask about these texts from now on; what was asked of others is dropped."""
        self.opened, self.columns = opened, {}
        for channel in self._channels:
            channel.drop()
        if opened is not None and opened.report.is_of_classes:
            self._ends_asked.ask(
                opened.source, partial(f1_intervals, opened.report), heard=self.by.show_intervals
            )

    def stop(self) -> None:
        """Count words no further."""
        self._words_asked.drop()

    def _count_words(self) -> None:
        if self.opened is not None:
            self._words_asked.ask(
                self.opened.source,
                partial(counting_words, self.opened.scored, self.opened.model, self.opened.source.part),
                heard=self._hear_words,
                refused=self._refuse_words,
                again=True,
            )

    def _hear_words(self, found: Baseline) -> None:
        self.score.show_words(found)

    def _refuse_words(self, error: BaseException) -> None:
        self.score.show_words(None)
        self.refused.emit(error)

    def _set_temperature(self, is_kept: bool) -> None:
        opened = self.opened
        if opened is not None:
            self._warmth_asked.ask(
                (opened.source, is_kept),
                partial(requests.set_temperature, opened, is_kept=is_kept),
                heard=self._hear_temperature,
                refused=self.refused.emit,
                again=True,
            )

    def _hear_temperature(self, _is_kept: bool) -> None:
        self.temperature_changed.emit()

    def find_slices(self) -> None:
        """Look for slices that are worse than the rest, once."""
        if self.opened is not None:
            self._slices_asked.ask(
                self.opened.source, partial(requests.find_slices, self.opened), heard=self._hear_slices
            )

    def _group_by_meaning(self) -> None:
        if self.opened is not None:
            self._meaning_asked.ask(
                self.opened.source,
                partial(groups_by_meaning, self.opened.model, self.opened.scored.listed),
                heard=self._hear_meaning,
                refused=self._refuse_meaning,
                progress=self._hear_meaning_progress,
                again=True,
            )

    def _hear_meaning(self, names: tuple[str, ...]) -> None:
        opened = self.opened
        if opened is not None:
            self._slices_asked.ask(
                (opened.source, MEANING),
                partial(requests.find_slices, opened, names),
                heard=self._hear_slices_by_meaning,
                again=True,
            )

    def _hear_slices_by_meaning(self, found: WorseSlices) -> None:
        self._hear_slices(found)
        self.by.show_by(MEANING)

    def _refuse_meaning(self, error: BaseException) -> None:
        self.by.searched.setText(words.say_error(error))

    def _hear_meaning_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.by.searched.setText(words.event_words(event))

    def _group_near(self) -> None:
        if self.opened is not None:
            self._near_asked.ask(
                self.opened.source,
                partial(requests.group_near, self.opened),
                heard=self._take_near,
                again=True,
            )

    def _take_near(self, opened: OpenedScores) -> None:
        """Show the intervals with near copies drawn together; all else stays as it was."""
        if self.opened is not None and self.opened.source == opened.source:
            self.opened = opened
            self.regrouped.emit(opened)
            self.score.show_near(opened)
            self.by.show_again(opened)
            self._ends_asked.ask(
                (opened.source, "near"),
                partial(f1_intervals, opened.report),
                heard=self.by.show_intervals,
                again=True,
            )

    def _hear_slices(self, found: WorseSlices) -> None:
        self.columns = dict(found.columns)
        self.by.show_found(found)
        self.found.emit()
