"""The Runs page: all runs in one table; what is ticked is compared below it.

The table is read from the index of runs on a worker, again whenever something may have changed; curves and
answers are read only of what is ticked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.banner import Banner
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.pending import Pending
from app.look.widgets import GAP, Card, EmptyState, button, named
from app.pages.evaluate.state import EvaluateState, Listing
from app.pages.run.state import RunPageState
from app.pages.runs.actions import RunActions
from app.pages.runs.better import BetterCard
from app.pages.runs.curves import CurvesCard
from app.pages.runs.queue_strip import QueueStrip
from app.pages.runs.requests import (
    CurveLine,
    CurveRequest,
    CurveStore,
    ReadRuns,
    compare,
    draw_curves,
    read_runs,
)
from app.pages.runs.rows import RunRow, RunRows, column_words, data_name, measure_words, name_of, shown
from app.pages.runs.state import RunsState
from app.pages.runs.table import RunsTable
from app.pages.stated_page import StatedPage
from app.session import Session
from app.work.hosts import copying_words
from app.work.text_filter import DIFFER, ONE, Filter
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import RunError, marked
from engine.events import Event, Progress
from engine.questions.labelled import LabelledTexts
from engine.remote.contact import Contact
from engine.runs.facts import RunFacts
from engine.runs.groups import ListedRun, ScoreColumn, measures_of, pair_of
from engine.train.run.runs import MODEL

MOST_NAMED = 3  # of what is trained elsewhere
WATCH_MS = 2000  # between two looks at the folders while a run is under way somewhere
LOWER, LEAST_LOWER, MOST_LOWER = 0.39, 244, 340  # of the height, that what is ticked may take; px


class RunsPage(StatedPage[RunsState]):
    """Filters, the table, and below it what is said of the ticked lines."""

    state_kind = RunsState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_page")
        self.header.title_label.setText(self.tr("Runs"))
        self.header.set_sentence(self.tr("Which run is really better?"))
        self.session = session
        self._state = RunsState()
        self.runs: tuple[ListedRun, ...] = ()
        self._heard: Mapping[str, Contact] = {}  # of runs of other computers, by their paths
        self.shown = RunRows()
        self._is_read = self._is_copying = False
        self._store = CurveStore()
        quick, files = session.workers.quick, session.workers.files
        self._listing = Channel(self, quick)
        self.acting = RunActions(session, self)
        self._drawing, self._comparing = Channel(self, files), Channel(self, files)
        self._again = QTimer(self, singleShot=True, interval=WATCH_MS)
        self._again.timeout.connect(self.refresh)
        self._make_parts()
        self._lay_out()
        self._connect()
        self._show()

    # what stands where

    def _make_parts(self) -> None:
        self.copy_button = CopyCommandButton()
        self.export_button = button(self.tr("Export…"), icon="save", name="runs_export")
        self.repeat_button = button(self.tr("Repeat with more seeds…"), "primary", name="runs_repeat")
        self.repeat_button.setToolTip(
            self.tr("For the ticked lines, or the selected one, one after another in a queue")
        )
        self.header.add_action(self.repeat_button)
        self.header.add_action(self.copy_button)
        self.header.add_more(self.export_button)
        self.queue_strip = QueueStrip(self.session.queue)
        self.elsewhere = label("", "muted", wrap=True, name="runs_elsewhere")
        self.elsewhere.setToolTip(
            self.tr("Runs that a terminal starts do not wait. The command queue add puts one into the queue.")
        )
        self.elsewhere.hide()
        self.banner = Banner(name="runs_banner")
        self.search = named(LineEdit(), "runs_search", self.tr("Search"))
        self.search.setPlaceholderText(self.tr("Search names, notes, tags…"))
        self.search.setClearButtonEnabled(True)
        self.data = ChoiceBox("runs_data", self.tr("Data"))
        self.grouping = ChoiceBox("runs_grouping", self.tr("Grouping"))
        self.grouping.addItem(self.tr("By settings"), True)
        self.grouping.addItem(self.tr("Run by run"), False)
        self.measure = ChoiceBox("runs_measure", self.tr("Score"))
        self.actions_button = button(self.tr("Actions"), name="runs_actions")
        self.count = label("", "muted", name="runs_count")
        self.table = RunsTable()
        self.table_card = Card(self.tr("Runs"))
        self.table_card.add(self.table, 1)
        self.empty = EmptyState(
            self.tr("No run yet. Every training, here or in a terminal, is listed here and can be compared."),
            self.tr("Train a model"),
        )
        self.nothing = EmptyState(self.tr("No run matches."), self.tr("Show all"))
        self.curves, self.better = CurvesCard(), BetterCard()
        self.hint = label(
            self.tr("Tick two lines to see whether one is better. Up to six are overlaid."),
            "muted",
        )

    def _lay_out(self) -> None:
        boxes = ((self.search, 2), (self.data, 2), (self.grouping, 2), (self.measure, 2))
        across = row(*boxes, self.actions_button, STRETCH, self.count)
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(240)
        for box in (self.data, self.grouping, self.measure):
            box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            box.setMinimumWidth(96)
            box.setMaximumWidth(196)
        self.filters = QWidget()
        column(across, parent=self.filters)
        self.below = QWidget()
        row((self.curves, 5), (self.better, 3), gap=GAP, parent=self.below)
        self.views = Pending(self.table_card, self.nothing, self.empty, name="runs", framed=False)
        self.views.show_asking(self.tr("Reading the runs…"))
        for part in (self.banner, self.queue_strip, self.elsewhere, self.filters):
            self.body.addWidget(part)
        self.body.addWidget(self.views, 1)
        self.body.addWidget(self.below)
        self.body.addWidget(self.hint)

    def _connect(self) -> None:
        session, acting = self.session, self.acting
        acting.changed.connect(self.refresh)
        acting.done.connect(self._tell)
        acting.refused.connect(self.refuse)
        session.training.started.connect(self.refresh)
        session.training.ended.connect(self.refresh)
        self.search.textChanged.connect(self._search)
        self.data.activated.connect(self._filter)
        self.grouping.activated.connect(self._filter)
        self.measure.activated.connect(self._filter)
        self.empty.activated.connect(partial(session.show_page, "finetune", RunPageState()))
        self.nothing.activated.connect(self._show_all)
        self.table.ticked.connect(self._tick)
        self.table.folded.connect(self._fold)
        self.table.sorted_by.connect(self._sort)
        self.table.opened.connect(self._open)
        self.table.rename_wanted.connect(partial(self._do, acting.rename))
        self.table.delete_wanted.connect(partial(self._do, acting.delete))
        self.table.menu_wanted.connect(self._show_menu)
        self.table.current_changed.connect(self._show_actions)
        self.actions_button.clicked.connect(self._show_actions_menu)
        self.curves.wanted.connect(self._ask_curves)
        self.better.settings_wanted.connect(partial(self._do, acting.compare_settings))
        self.better.texts_wanted.connect(self._read_texts)
        self.copy_button.clicked.connect(partial(self._do, self._copy_command, ticked_first=True))
        self.export_button.clicked.connect(self._show_export_menu)
        self.repeat_button.clicked.connect(partial(self._do, acting.repeat, ticked_first=True))
        session.queue.changed.connect(self.refresh)
        session.hosts.copying_changed.connect(self._show_copying)
        session.hosts.copied.connect(self._tell_copied)
        session.hosts.refused.connect(lambda _run_dir, error: self.refuse(error))
        QShortcut(QKeySequence(Qt.Key.Key_Slash), self, self.search.setFocus)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.below.setFixedHeight(min(MOST_LOWER, max(LEAST_LOWER, int(LOWER * event.size().height()))))

    # reading

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._again.stop()

    def refresh(self) -> None:
        """Look at the folders again; only what has changed is read."""
        if not self.isVisible():
            return
        root = self.session.runs.root
        self._listing.ask(
            root,
            partial(read_runs, root),
            heard=self._take_runs,
            progress=self._show_progress,
            refused=self.refuse,
            again=True,
        )

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and not self._is_read:
            text = self.tr("Reading the runs: {done} of {total}")
            done, total = words.number(event.done), words.number(event.total)
            self.views.show_asking(text.format(done=done, total=total))

    def _take_runs(self, read: ReadRuns) -> None:
        runs = read.runs
        if (runs, read.heard) != (self.runs, self._heard) or not self._is_read:
            self.runs, self._heard, self._is_read = runs, read.heard, True
            self._fill_boxes()
            self._show()
        under_way = [run.facts for run in runs if run.facts.state == "running"]
        self._show_elsewhere([facts for facts in under_way if not facts.host])
        self.take_up()
        if self.isVisible() and under_way:
            self._again.start()

    def _show_elsewhere(self, under_way: Sequence[RunFacts]) -> None:
        """Say what is trained beside the window and its queue: the two wait for each other, not for that."""
        job = self.session.queue.state.running
        known = {self.session.training.run_dir, self.session.runs.root / job.run if job is not None else None}
        names = [
            name_of([facts])
            for facts in under_way
            if not known & {Path(facts.path), *Path(facts.path).parents}
        ]
        self.elsewhere.setVisible(bool(names))
        if names:
            text = words.counted(
                len(names),
                self.tr("Also training, started elsewhere: {names}. It does not wait, so both are slower."),
                self.tr("Also training, started elsewhere: {names}. They do not wait, so all are slower."),
            )
            shown = words.listed(words.shorten(name, 40) for name in names[:MOST_NAMED])
            self.elsewhere.setText(text.format(names=shown + (" …" if names[MOST_NAMED:] else "")))

    def _fill_boxes(self) -> None:
        facts = [run.facts for run in self.runs]
        self.data.clear()
        self.data.add_choice(self.tr("All data"), "")
        named_data = {one.data: data_name(one) for one in facts}
        for place, name in sorted(named_data.items(), key=lambda pair: pair[1].casefold()):
            self.data.add_choice(name, place, place)
        self.measure.clear()
        for measure in measures_of(facts) or [ScoreColumn()]:
            self.measure.add_choice(measure_words(measure), measure)
        self._state = self._fitted(self.state)
        self._show_boxes()

    # what is looked at

    def _search(self, text: str) -> None:
        self._look(replace(self.state, search=text))

    def _filter(self) -> None:
        measure = self.measure.currentData()
        self._look(
            replace(
                self.state,
                data=self.data.currentData() or "",
                is_grouped=bool(self.grouping.currentData()),
                measure=measure if isinstance(measure, ScoreColumn) else ScoreColumn(),
            )
        )

    def _show_all(self) -> None:
        self._look(replace(self.state, search="", data=""))

    def _tick(self, key: str) -> None:
        self._look(self.state.tick(key))

    def _fold(self, key: str, is_open: bool) -> None:
        self._look(self.state.fold(key, is_open))

    def _sort(self, column: str) -> None:
        self._look(self.state.sort_by(column))

    @property
    def state(self) -> RunsState:
        return self._state

    def is_open(self, state: RunsState) -> bool:
        return self._is_read

    def take_state(self, state: RunsState) -> None:
        self._look(self._fitted(state))

    def _fitted(self, state: RunsState) -> RunsState:
        """Return the same of the runs there are: data and scores that none of them has give way."""
        facts = [run.facts for run in self.runs]
        found = measures_of(facts) or [ScoreColumn()]
        return replace(
            state,
            data=state.data if state.data in {one.data for one in facts} else "",
            measure=state.measure if state.measure in found else found[0],
        )

    def _look(self, state: RunsState) -> None:
        """Look at the runs this way."""
        if state == self.state:
            return
        are_ticks = replace(state, ticked=self.state.ticked) == self.state
        self._state = state
        self._show_boxes()
        if are_ticks:
            self.table.set_ticks(state)
            self._show_ticked()
            self._show_actions()
        else:
            self._show()

    def _show_boxes(self) -> None:
        """Let the boxes say how the runs are looked at."""
        if self.search.text() != self.state.search:
            self.search.setText(self.state.search)
        for box, value in (
            (self.data, self.state.data),
            (self.grouping, self.state.is_grouped),
            (self.measure, self.state.measure),
        ):
            places = [place for place in range(box.count()) if box.itemData(place) == value]
            box.setCurrentIndex(places[0] if places else 0)

    def _show(self) -> None:
        """Show the table as it is looked at, and what is ticked in it."""
        self.shown = shown(self.runs, self.state, self._heard)
        self._state = self.state.keep({one.key for one in self.shown.rows})
        self.table.put(self.shown, self.state)
        self.filters.setVisible(bool(self.runs))
        of = self.tr("{shown} of {total} runs")
        if self._is_read:
            self._show_place()
            self.count.setText(
                of.format(shown=words.number(self.shown.num_runs), total=words.number(len(self.runs)))
            )
        self._show_hint()
        self._show_ticked()
        self._show_actions()

    def _show_place(self) -> None:
        if self.shown.rows:
            self.views.show_answer()
        else:
            self.views.show_nothing(self.nothing if self.runs else self.empty)

    def _show_hint(self) -> None:
        parts = [self.shown.same] if self.shown.same else []
        if self.table.dropped:
            names = words.listed(map(column_words, self.table.dropped))
            parts.append(self.tr("no room for: {names}").format(names=names))
        self.table_card.set_hint(" · ".join(parts))

    def ticked_rows(self) -> list[RunRow]:
        """Return the ticked lines, A first."""
        by_key = {one.key: one for one in self.shown.rows}
        return [by_key[key] for key in self.state.ticked]

    def _show_ticked(self) -> None:
        rows = self.ticked_rows()
        self.below.setVisible(bool(rows))
        self.hint.setVisible(bool(self.shown.rows) and not rows)
        if not rows:
            return
        self._ask_curves()
        if len(rows) < 2:
            self.better.show_waiting(self.tr("Tick a second line to compare it with A."))
            self.better.settings.setEnabled(False)
            return
        self.better.settings.setEnabled(True)
        a, b = rows[:2]
        about = (a.runs, b.runs, self.state.measure)
        self._comparing.ask(
            repr([(one.path, one.ended) for one in (*a.runs, *b.runs)]) + repr(self.state.measure),
            partial(compare, *about),
            heard=lambda found: self.better.show_versus(found, a, b),
            refused=lambda error: self.better.show_waiting(words.say_error(error)),
        )

    def _ask_curves(self) -> None:
        asked = tuple(
            CurveRequest(
                self.state.letter(one.key),
                one.name,
                tuple(facts.path for facts in one.runs),
                self.state.measure.metric or one.facts.metric,
            )
            for one in self.ticked_rows()
        )
        what = self.curves.choice.current
        steps = tuple(facts.step for one in self.ticked_rows() for facts in one.runs)
        self._drawing.ask(
            (asked, what, steps),
            partial(draw_curves, self._store, asked, what),
            heard=self._take_curves,
            progress=self._show_reading,
            refused=lambda error: self.curves.show_refusal(words.say_error(error)),
        )

    def _take_curves(self, drawn: tuple[CurveLine, ...]) -> None:
        rows = self.ticked_rows()
        metric = self.state.measure.metric or (rows[0].facts.metric if rows else "")
        self.curves.show_drawn(drawn, metric)

    def _show_reading(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            self.curves.show_reading(event.done / event.total)

    def _read_texts(self) -> None:
        """Lead to the texts of which A or B alone gets one right, of a seed that both have."""
        a, b = self.ticked_rows()[:2]
        first, second = pair_of(a.runs, b.runs)
        model, other = (Path(facts.path) / MODEL for facts in (first, second))
        if all((one / "config.json").is_file() for one in (model, other)):
            texts, one_right = LabelledTexts(part=self.state.measure.split), Filter(DIFFER, (ONE,))
            self.session.show_page("evaluate", EvaluateState(model, texts, Listing((one_right,)), other))
        elif there := next((one for one in (first, second) if self.acting.lacks_weights(one)), None):
            self._offer_weights(there)
        else:
            self.refuse(RunError(marked("engine", "One of the two runs left no model to ask.")))

    def _offer_weights(self, facts: RunFacts) -> None:
        """Say that what a run has learned is on another computer, and offer to have it come."""
        text = self.tr("What {name} learned is still on {host} only.")
        call = partial(self.acting.copy_weights, facts)
        said = text.format(name=name_of([facts]), host=facts.host)
        self.banner.show_text("look", said, [(self.tr("Download the weights"), call)])

    def _show_copying(self) -> None:
        """Say how far weights on their way are."""
        copying = self.session.hosts.copying
        if copying is not None:
            actions = [(self.tr("Cancel"), self.session.hosts.cancel_copying)]
            if self._is_copying:
                self.banner.change_text(copying_words(copying))
            else:
                self.banner.show_text("note", copying_words(copying), actions, closable=False)
        elif self._is_copying:
            self.banner.hide()
            self.refresh()
        self._is_copying = copying is not None

    # what can be done

    def _choose(self, *, ticked_first: bool = False) -> list[RunRow]:
        """Say what an action is about: the line with the keyboard where it is not ticked; else all that is.

        Args: ticked_first: all that is ticked, wherever the keyboard is.
        """
        current, ticked = self.table.current_row(), self.ticked_rows()
        alone = [] if current is None else [current]
        beside = bool(alone) and current not in ticked and not (ticked_first and ticked)
        self.acting.chosen = alone if beside else ticked or alone
        self.acting.line, self.acting.ticked, self.acting.shown = current, ticked, self.shown
        self.acting.measure = self.state.measure
        return self.acting.chosen

    def _do(self, call: Callable[[], object], *_: object, ticked_first: bool = False) -> None:
        """Act on what is chosen now."""
        if self._choose(ticked_first=ticked_first):
            call()

    def _show_actions(self) -> None:
        has = bool(self._choose())
        self.actions_button.setEnabled(has)
        self.copy_button.setEnabled(has)
        self.repeat_button.setEnabled(has)
        self.export_button.setEnabled(bool(self.shown.rows))

    def _show_menu(self, at: QPoint) -> None:
        if self._choose():
            self.acting.menu().popup(at)

    def _show_actions_menu(self) -> None:
        self._choose(ticked_first=True)
        self.acting.menu().popup(self.actions_button.mapToGlobal(QPoint(0, self.actions_button.height() + 2)))

    def _show_export_menu(self) -> None:
        self._choose(ticked_first=True)
        menu = self.acting.export_menu(self.curves.plot)
        menu.popup(self.header.more.mapToGlobal(QPoint(0, self.header.more.height() + 2)))

    def _copy_command(self) -> None:
        if command := self.acting.command():
            self.copy_button.copy(command)

    def _open(self, row: RunRow) -> None:
        if row.is_group and not row.is_open:
            self._fold(row.key, True)
        else:
            self.acting.open_row(row)

    def _tell_copied(self, run_dir: Path) -> None:
        self._tell(self.tr("What {name} learned is here.").format(name=run_title(run_dir)))

    def _tell(self, text: str) -> None:
        self._is_copying = False  # the banner says something else
        self.banner.show_text("fine", text)

    def refuse(self, error: BaseException) -> None:
        """Say in place why something cannot be shown or done."""
        self._to_show = None
        self._is_copying = False
        self.banner.show_text("look", words.say_error(error))
