"""The model that learns along: its vectors, what it says of the labels so far, and which text comes next.

It asks the workers and hears them; what a person sees at once is what was answered last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.pages.label.learn_kinds import given_labels, learn_kind
from app.pages.label.mended import edits_of, find_mended_texts
from app.pages.label.requests import (
    GivenLabels,
    KnownTexts,
    LabelTexts,
    Learned,
    Measures,
    VectorsSoFar,
    find_vectors,
    measure,
    random_ahead,
)
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.labelling.labelled import Labelled
from engine.labelling.measure import Sampled
from engine.labelling.order import RANDOM_SHARE, TURNS, Choice
from engine.labelling.random_sample import has_learned_of

if TYPE_CHECKING:
    from engine.inspect.loaded_model import ModelSummary
    from engine.text.table import Table

REST_MS = 600  # after the newest label, until all is measured


class Learner(QObject):
    """What is known of the open table's texts. `texts_changed`: others, or none. `changed`: anything else."""

    texts_changed = Signal()
    changed = Signal()
    measured = Signal()
    mended = Signal()
    refused = Signal(object)
    found_like = Signal(tuple)  # texts like another one: Choices

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._texts_asked = Channel(self, session.workers.files)
        self._mending = Channel(self, session.workers.files)
        self._mended: object = None  # of what was asked there last
        self._vectors_asked = Channel(self, session.workers.models)
        self._learning = Channel(self, session.workers.quick)
        self._measuring = Channel(self, session.workers.files)
        self._liking = Channel(self, session.workers.quick)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._measure)
        self.texts: LabelTexts | None = None
        self.known: KnownTexts | None = None
        self.learned: Learned | None = None
        self.measures: Measures | None = None
        self.progress: tuple[int, int] = (0, 0)  # of the vectors
        self.is_paused = False
        self.random_share = RANDOM_SHARE  # of the texts that come next
        self._so_far = VectorsSoFar()
        self.is_taught = False  # whether the model in hand has learned from the labels, so it is not taken
        self._about: ModelSummary | None = None  # of the model whose vectors are wanted
        self._curve: list[Sampled] = []
        self._curve_of: GivenLabels | None = None
        self._wanted: tuple[GivenLabels, tuple[Choice, ...]] | None = None  # to be learned from next
        self._number = 0  # of what was asked last

    # ---- texts and their vectors

    def take_table(self) -> None:
        """Look for texts in the open table; nothing is known of them yet."""
        data = self._session.data
        self._forget()
        self.texts = None
        self._texts_asked.drop()
        self._mending.drop()
        columns = data.roles.read if data.roles is not None else ()
        if data.table is not None and columns:
            self._mended = (data.table, columns, edits_of(data.mends.recipe, columns))
            work = partial(find_mended_texts, data.table, data.mends.recipe, tuple(columns))
            self._texts_asked.ask((data.table, columns), work, heard=self._take_texts, again=True)
        self.texts_changed.emit()

    def mend(self) -> None:
        """Have the texts as they are changed now; those that differ get other vectors."""
        data, texts = self._session.data, self.texts
        recipe = data.mends.recipe
        if texts is None or data.table is None or recipe is None:
            return
        columns = texts.columns
        about = (data.table, columns, edits_of(recipe, columns))
        if about != self._mended:
            self._mended = about
            work = partial(recipe.edited, data.table, columns)
            self._mending.ask(about, work, heard=self._take_mended)

    def _take_mended(self, table: Table) -> None:
        if self.texts is not None:
            self.texts = replace(self.texts, table=table)
            self._find_vectors(again=True)
            self.mended.emit()

    @property
    def is_looking(self) -> bool:
        """Whether the texts of the open table are still looked for."""
        return self._texts_asked.is_asking

    def take_model(self, about: ModelSummary | None) -> None:
        """Learn with this model from now on; None: with none, at random. One that has learned from these
        labels answers them too well to be measured by them, so it is not taken.
        """
        table = self._session.data.table
        self.is_taught = about is not None and table is not None and has_learned_of(about.info, table.path)
        about = None if self.is_taught else about
        if about is not self._about:
            self._forget()
            self._about = about
            self._find_vectors()
            self.changed.emit()

    def pause(self, is_paused: bool) -> None:
        """Make no vectors for now, or go on where that ended."""
        self.is_paused = is_paused
        if is_paused:
            self._vectors_asked.drop()
        else:
            self._find_vectors()
        self.changed.emit()

    @property
    def is_preparing(self) -> bool:
        """Whether vectors are still to come."""
        return self.known is None and self._about is not None and self.texts is not None

    def _forget(self) -> None:
        for channel in (self._vectors_asked, self._learning, self._measuring, self._liking):
            channel.drop()
        self._rest.stop()
        self.known = self.learned = self.measures = self._curve_of = self._wanted = None
        self._so_far, self._curve, self.progress = VectorsSoFar(), [], (0, 0)

    def _take_texts(self, texts: LabelTexts) -> None:
        self.texts = texts
        self.progress = (0, len(texts.rows))
        self._find_vectors()
        self.texts_changed.emit()

    def _find_vectors(self, *, again: bool = False) -> None:
        """Have vectors made where there are none yet. Args: again: of texts that differ from before, too."""
        texts, about = self.texts, self._about
        if texts is None or about is None or self.is_paused or not len(texts.rows):
            return
        if self.known is not None and not again:
            return
        self._vectors_asked.ask(
            (texts, about),
            partial(find_vectors, self._session.workers.open_models, about.folder, texts, self._so_far),
            heard=self._take_known,
            refused=self.refused.emit,
            progress=self._take_progress,
            again=True,
        )

    def _take_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            self.progress = (event.done, event.total)
            self.changed.emit()

    def _take_known(self, known: KnownTexts) -> None:
        """Take what is known of the texts; what was learned from other vectors is learned anew."""
        self.known, self.learned = known, None
        self._curve, self._curve_of = [], None
        self._learning.drop()
        self.changed.emit()

    # ---- what the labels teach

    def given(self, labelled: Labelled) -> GivenLabels:
        """Return labels as a model takes them, numbered in the order of the codebook."""
        assert self.texts is not None
        closed = [*labelled.skipped, *labelled.taken_over, *self._dropped(labelled)]
        skipped = self.texts.places(closed)
        return given_labels(
            labelled.kind,
            [*labelled.given.values()],
            self.texts.places([*labelled.given]),
            tuple(skipped[skipped >= 0].tolist()),
            tuple(labelled.names),
            sum(entry.why in TURNS for entry in labelled.given.values()),
        )

    def _dropped(self, labelled: Labelled) -> list[int]:
        """Return the rows without a label that are excluded from the table."""
        recipe = self._session.data.mends.recipe
        rows = recipe.left_out() if recipe is not None else {}
        return [row for row in rows if row not in labelled.given]

    def learn(self, labelled: Labelled, shown: tuple[Choice, ...]) -> None:
        """Learn from the labels, and choose what comes after the texts that are shown."""
        if self.texts is None or self.known is None:
            return
        self._wanted = (self.given(labelled), shown)
        if not self._learning.is_asking:  # else once that is heard: what is under way comes first
            self._ask()

    def _ask(self) -> None:
        if self._wanted is None or self.known is None:
            return
        (given, shown), self._wanted = self._wanted, None
        self._number += 1
        work = partial(learn_kind, self.known, given, shown, self.random_share)
        self._learning.ask(self._number, work, heard=self._take_learned)

    def look_like(self, place: int, labelled: Labelled, shown: tuple[Choice, ...]) -> None:
        """Look for the texts most similar to one; `found_like` has those without a label that do not wait."""
        if self.known is None:
            template = marked("engine", "The model has not read all texts yet, so none can be compared.")
            self.refused.emit(UserError(template))
            return
        given = self.given(labelled)
        closed = [*given.places, *given.skipped, *(choice.place for choice in shown)]
        self._number += 1
        work = partial(self.known.order.like, place, closed)
        self._liking.ask(self._number, work, heard=self.found_like.emit)

    @property
    def is_learning(self) -> bool:
        """Whether it still learns, or measures."""
        return self._learning.is_asking or self._measuring.is_asking or self._rest.isActive()

    def ahead(self, labelled: Labelled, shown: tuple[Choice, ...]) -> list[Choice]:
        """Return what comes next as far as it is known now, without what has a label meanwhile."""
        if self.texts is None:
            return []
        given = self.given(labelled)
        closed = {*given.places, *given.skipped, *(choice.place for choice in shown)}
        chosen = self.learned.ahead if self.learned is not None else ()
        left = [choice for choice in chosen if choice.place not in closed]
        return left or list(random_ahead(self.texts, [*closed]))

    def _take_learned(self, learned: Learned) -> None:
        self.learned = learned
        self._rest.start()
        self._ask()
        self.changed.emit()

    def _measure(self) -> None:
        learned, is_measured = self.learned, self._session.labels.kind.is_measured
        if self.known is None or learned is None or not learned.given.can_teach or not is_measured:
            self.measures, self._curve = None, []
            self.measured.emit()
            return
        given = learned.given
        if not _goes_on(self._curve_of, given):
            self._curve = []
        self._curve_of = given
        self._number += 1
        work = partial(measure, self.known, learned, tuple(self._curve))
        self._measuring.ask(self._number, work, heard=self._take_measures, refused=self.refused.emit)

    def _take_measures(self, found: Measures) -> None:
        self.measures, self._curve = found, list(found.points)
        self.measured.emit()


def _goes_on(before: GivenLabels | None, now: GivenLabels) -> bool:
    """Whether all that was measured before is still so: its labels are the first of those now."""
    if before is None or (before.skipped, before.labels) != (now.skipped, now.labels):
        return False
    first = now.first(len(before.places))
    return first.places == before.places and bool((first.targets == before.targets).all())
