"""The Evaluate page: a model and labelled texts above, its scores below, and the texts behind every number.

Every picture only filters the list. What is computed is asked of workers; a click that comes while something
is under way is answered by what was asked last.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.error_dialog import show_error
from app.look.files import ask_file, ask_save
from app.look.labels import PART, ElidedLabel, label
from app.look.layout import column, row
from app.look.widgets import GAP, Card, EmptyState, Page, button, named
from app.pages.choose.model_box import ModelBox
from app.pages.evaluate import requests
from app.pages.evaluate.by import ScoresBy
from app.pages.evaluate.compare import CompareCard, names_of
from app.pages.evaluate.requests import Parts, Places
from app.pages.evaluate.score import ScoreCard
from app.pages.evaluate.state import ANSWER, DIFFER, LABEL, Both, Filter, Found, Listing, Opened, Source
from app.pages.evaluate.texts import TextsCard
from app.pages.tasks.known import views_of
from app.pages.tasks.views import TaskScores
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.confusion import ConfusionPlot
from app.session import Session
from app.work.library import FILES
from app.work.titles import model_title
from app.work.worker import Channel
from engine.commands.evaluate import evaluate_command
from engine.evaluation.baselines import Baseline
from engine.evaluation.slices import MEANING
from engine.events import Event, Progress
from engine.inspect.attribution.gradients import Attribution
from engine.text.recipe import DROP, RELABEL, SUSPECTED, Step

SCORE_WIDTH, LEAST_SCORE = 272, 250  # px
NARROW = 940  # px of the page; below, its cards are narrower
LOW = 700  # px of the page, below which a comparison takes the room of a sentence
LEAST_TOP, USUAL_TOP = 190, 268  # px of the cards above the list
TOP_SHARE = 0.48  # of what they share with it
ABOVE = 130  # px of the page above both
LEAST_CONFUSION = 150
SPLITS = ("validation", "test")


class EvaluatePage(Page):
    """The model and the texts on top; score, scores by, confusion; the list, which never leaves."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("evaluate_page")
        self.header.title_label.setText(self.tr("Evaluate"))
        self.header.set_sentence(
            self.tr("Score a model on labelled texts, and read the texts behind every number.")
        )
        self.session = session
        self.folder: Path | None = None
        self.source: Source | None = None
        self.opened: Opened | None = None
        self.both: Both | None = None
        self._beside: Path | None = None  # the model that is to be compared
        self._parts = Parts((), "")
        self._columns: dict[str, tuple[str, ...]] = {}
        self._open_place = -1
        self._part = ""  # that another page has led to, and the cell of its confusion
        self._cell: tuple[int, int] | None = None
        self._scores: dict[str, TaskScores] = {}
        workers = session.workers
        self._parts_asked, self._list_asked = (Channel(self, workers.quick) for _ in range(2))
        self._score_asked, self._words_asked, self._other_asked = (
            Channel(self, workers.models) for _ in range(3)
        )
        self._slices_asked, self._ends_asked, self._export_asked = (
            Channel(self, workers.files) for _ in range(3)
        )
        self._why_asked, self._meaning_asked = (Channel(self, workers.models) for _ in range(2))
        self._warmth_asked, self._near_asked = (
            Channel(self, worker) for worker in (workers.quick, workers.files)
        )
        self._make()
        self._lay_out()
        self._connect()
        self._show_nothing()
        self._take_wish()

    # ---- building

    def _make(self) -> None:
        self.copy_button = named(CopyCommandButton(), "copy_evaluate_command")
        self.compare_button = button(self.tr("Compare with…"), name="evaluate_compare")
        self.save_button = button(self.tr("Save report…"), icon="save", name="evaluate_save")
        for action in (self.copy_button, self.save_button, self.compare_button):
            self.header.add_action(action)
        self.model_box = ModelBox("evaluate_model", self.tr("Model"), self.session, wanted=FILES)
        self.part_box = ChoiceBox("evaluate_part", self.tr("Labelled texts"))
        for box in (self.model_box, self.part_box):
            box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            box.setFixedWidth(256)
        self.facts = ElidedLabel("", "muted")
        self.facts.setObjectName("evaluate_facts")
        self.state = label("", "muted", name="evaluate_state")
        self.progress = named(QProgressBar(textVisible=False), "evaluate_progress")
        self.progress.setFixedWidth(120)
        self.stop = button(self.tr("Stop"), "link", name="evaluate_stop")
        self.refusal = label("", "refusal", wrap=True, name="evaluate_refusal")
        self.score = ScoreCard()
        self.by = ScoresBy()
        self.confusion = named(ConfusionPlot(self.tr("Confusion")), "evaluate_confusion")
        self.confusion.is_door = True
        yield_to_layout(self.confusion, LEAST_CONFUSION)
        self.confusion_card = Card(self.tr("Confusion"), self.tr("click a cell"))
        self.confusion_card.add_corner(save_icon(self.confusion))
        self.confusion_card.add(self.confusion, 1)
        self.compare_card = CompareCard(self.session)
        self.texts = TextsCard()
        self.no_model = EmptyState(
            self.tr("There is no trained model yet. Fine-tune one first, or choose a model folder above."),
            self.tr("Fine-tune a model"),
        )
        self.no_texts = EmptyState(
            self.tr("Choose labelled texts above: what a run kept apart, the open table, or any file."),
            self.tr("Choose a file…"),
        )
        self.busy = label("", "muted", name="evaluate_busy")
        self.busy.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def _lay_out(self) -> None:
        self.body.addLayout(
            row(
                self.model_box, label(self.tr("on"), "muted"), self.part_box, (self.facts, 1), self.state,
                self.progress, self.stop, gap=10,
            )
        )  # fmt: skip
        self.body.addWidget(self.model_box.refusal)
        self.body.addWidget(self.refusal)
        of_classes = QWidget()
        row((self.by, 8), (self.confusion_card, 5), gap=GAP, parent=of_classes)
        self.kinds = QStackedWidget()  # of one label a text; of other tasks
        self.kinds.addWidget(of_classes)
        self.kinds.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self._top = top = QWidget()
        top.setMinimumHeight(LEAST_TOP)
        row(self.score, (self.kinds, 1), gap=GAP, parent=top)
        work = QWidget()
        column((top, 5), self.compare_card, (self.texts, 6), gap=GAP, parent=work)
        self.stack = QStackedWidget()
        for one in (self.no_model, self.no_texts, self.busy):
            card = Card()
            card.add(one, 1)
            self.stack.addWidget(card)
        self.stack.addWidget(work)
        self.body.addWidget(self.stack, 1)
        self.compare_card.hide()

    def _connect(self) -> None:
        self.model_box.chosen.connect(lambda folder: self.set_model(Path(str(folder))))
        self.part_box.chosen.connect(self._part_chosen)
        self.stop.clicked.connect(self._stop)
        self.copy_button.clicked.connect(self.copy_command)
        self.compare_button.clicked.connect(self._compare_clicked)
        self.save_button.clicked.connect(self._ask_report)
        self.compare_card.wanted.connect(self.compare)
        self.compare_card.ended.connect(self.end_comparison)
        self.compare_card.chosen.connect(self.filter)
        self.score.baseline_wanted.connect(self._count_words)
        self.by.chosen.connect(self.filter)
        self.by.slices_wanted.connect(self._find_slices)
        self.by.meaning_wanted.connect(self._group_by_meaning)
        self.score.near_wanted.connect(self._group_near)
        self.by.temperature_wanted.connect(self._set_temperature)
        self.confusion.chosen.connect(lambda true, predicted: self.filter(Filter(ANSWER, (true, predicted))))
        self.texts.wanted.connect(self._list)
        self.texts.opened.connect(self._open_text)
        self.texts.led.connect(self.lead)
        self.texts.doubted.connect(self.doubt)
        self.texts.export_wanted.connect(self._ask_export)
        self.no_model.activated.connect(partial(self.session.page_requested.emit, "finetune"))
        self.no_texts.activated.connect(self.choose_file)
        self.session.result_changed.connect(self._result_changed)
        self.session.evaluation_wanted.connect(self._take_wish)
        self.session.library.changed.connect(self._take_first)
        self.session.table_changed.connect(self._fill_parts)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW
        self.score.setFixedWidth(LEAST_SCORE if is_narrow else SCORE_WIDTH)
        for box in (self.model_box, self.part_box):
            box.setFixedWidth(190 if is_narrow else 256)
        self._fit()

    def _fit(self) -> None:
        """Leave the list its room where a comparison takes some."""
        is_low = self.height() < LOW and not self.compare_card.isHidden()
        self.score.set_compact(is_low)
        least = LEAST_TOP if is_low else USUAL_TOP
        self._top.setMaximumHeight(max(least, int(TOP_SHARE * (self.height() - ABOVE))))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.texts.take_last_off():
            return
        super().keyPressEvent(event)

    @property
    def is_asking(self) -> bool:
        """Whether anything is still to be answered."""
        asked = (
            self._parts_asked, self._list_asked, self._score_asked, self._words_asked, self._other_asked,
            self._slices_asked, self._ends_asked, self._why_asked, self._export_asked, self._warmth_asked,
            self._meaning_asked, self._near_asked,
        )  # fmt: skip
        return any(channel.is_asking for channel in asked)

    # ---- the model and its texts

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.find_runs()
        self._take_first()

    @Slot()
    def _take_first(self) -> None:
        """Take the last model that was trained, or used, where none was chosen."""
        offered = [entry for entry in self.session.library.offered(FILES) if entry.problem is None]
        if self.isVisible() and self.folder is None and offered:
            self.set_model(offered[0].path)

    @Slot()
    def _result_changed(self) -> None:
        if self.session.last_model is not None:
            self.set_model(self.session.last_model)

    @Slot()
    def _take_wish(self) -> None:
        """Show what another page has led to."""
        wish, self.session.wanted_evaluation = self.session.wanted_evaluation, None
        if wish is not None:
            folder, self._part, self._cell = wish
            self.set_model(folder)

    def set_model(self, folder: Path) -> None:
        """Score this model from now on, at first on what its run kept apart."""
        self._beside = None
        self.folder = Path(folder).absolute()
        self.model_box.set_choice(self.folder)
        self.end_comparison()
        self._parts = Parts((), "")
        self._take(None)
        self._parts_asked.drop()
        self._parts_asked.ask(
            self.folder,
            partial(requests.parts_of_model, self.folder),
            heard=self._hear_parts,
            refused=self._refuse,
        )

    def _hear_parts(self, parts: Parts) -> None:
        self._parts = parts
        self._fill_parts()
        part, self._part = self._part, ""
        if parts.splits:
            self.show_source(Source(parts.folder, part=part if part in parts.splits else parts.splits[0]))

    @Slot()
    def _fill_parts(self) -> None:
        """Offer what the run kept apart, the file that is open, and any other."""
        self.part_box.clear()
        folder = self.folder
        if folder is None:
            return
        titles = {
            "validation": self.tr("Validation part of {name}"),
            "test": self.tr("Test part of {name}"),
        }
        for split in self._parts.splits:
            name = words.shorten(self._parts.name, 40)
            self.part_box.add_choice(titles[split].format(name=name), Source(folder, part=split))
        path = self.session.table_path
        sources = [Source(folder, data=str(path), how=self._how())] if path is not None else []
        if self.source is not None and self.source.data and self.source.data != str(path):
            sources.append(Source(folder, data=self.source.data, how=self.source.how))
        for source in sources:
            self.part_box.add_choice(Path(source.data).name, source, source.data)
        self.part_box.add_action(self.tr("Choose a file…"), self.choose_file)
        self._show_choice()

    def _how(self) -> dict[str, str]:
        """Return how the open file is read, and its columns where a person has chosen them."""
        session = self.session
        roles = session.roles
        found = {**session.table_overrides, **session.file_settings}
        if roles is not None and session.table is not None and roles.label:
            found |= {"text": roles.text, "text_pair": roles.text_pair, "label": roles.label}
        return {name: value for name, value in found.items() if value}

    def _show_choice(self) -> None:
        keys = [getattr(self.part_box.itemData(i), "key", None) for i in range(self.part_box.count())]
        wanted = None if self.source is None else self.source.key
        self.part_box.setCurrentIndex(keys.index(wanted) if wanted is not None and wanted in keys else -1)

    @Slot(object)
    def _part_chosen(self, source: Any) -> None:
        if isinstance(source, Source):
            self.show_source(source)

    @Slot()
    def choose_file(self) -> None:
        """Ask for a labelled file."""
        start = self.session.settings.recent_files[0] if self.session.settings.recent_files else ""
        ask_file(
            self, self.tr("Choose labelled texts"), self.open_file, name="evaluate_file_dialog", start=start
        )

    @Slot(str)
    def open_file(self, path: Path | str) -> None:
        """Score the model on a labelled file."""
        if self.folder is not None:
            own = self.session.table_path is not None and Path(path) == self.session.table_path
            self.show_source(
                Source(self.folder, data=str(Path(path).absolute()), how=self._how() if own else {})
            )

    def show_source(self, source: Source) -> None:
        """Score the model on these texts, and show what it comes to."""
        self.end_comparison()
        self._take(None)
        self.source = source
        self._fill_parts()
        self.refusal.setText("")
        self._show_busy(self.tr("Reading…"))
        self._score_asked.drop()
        self._score_asked.ask(
            source.key,
            partial(requests.score, source),
            heard=self._take,
            refused=self._refuse,
            progress=self._hear_progress,
            ended=self._end_scoring,
        )

    def _hear_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress.setRange(0, event.total)
            self.progress.setValue(event.done)
            self._show_busy(words.event_words(event))

    def _show_busy(self, text: str) -> None:
        self.state.setText(text if self.stack.currentIndex() == 3 else "")
        self.busy.setText(text)
        self.progress.setVisible(True)
        self.stop.setVisible(True)
        if self.opened is None:
            self.stack.setCurrentIndex(2)

    @Slot()
    def _stop(self) -> None:
        for channel in (self._score_asked, self._other_asked, self._words_asked):
            channel.drop()

    def _end_scoring(self) -> None:
        self.progress.hide()
        self.stop.hide()
        if self.opened is None:
            self._show_nothing()

    def _refuse(self, error: BaseException) -> None:
        self.refusal.setText(words.say_error(error))
        self.refusal.show()
        self.compare_card.show_nothing("")

    def _show_nothing(self) -> None:
        self.stack.setCurrentIndex(0 if self.folder is None else 1)
        self.progress.hide()
        self.stop.hide()
        self.state.setText("")
        self.facts.setText("")
        self.refusal.setVisible(bool(self.refusal.text()))
        self.copy_button.setEnabled(False)
        self.compare_button.setEnabled(False)
        self.save_button.setEnabled(False)

    def _take(self, opened: Opened | None) -> None:
        """Show scored texts; None: none."""
        self.opened, self.both, self._columns, self._open_place = opened, None, {}, -1
        asked = (self._list_asked, self._slices_asked, self._ends_asked, self._words_asked)
        for channel in (*asked, self._meaning_asked, self._near_asked):
            channel.drop()
        can_count = opened is not None and opened.can_count and opened.report.is_of_classes
        self.score.show_opened(opened, can_count=can_count)
        self.by.show_opened(opened)
        if opened is None:
            self.confusion.clear()
            self.texts.show_scored(None)
            self._show_nothing()
            return
        self.refusal.setText("")
        self.refusal.hide()
        self.stack.setCurrentIndex(3)
        self.copy_button.setEnabled(True)
        self.compare_button.setEnabled(True)
        self.save_button.setEnabled(True)
        self._show_facts(opened)
        self._show_kind(opened)
        self.texts.name_models("", "")
        self.texts.show_scored(opened.scored)
        cell, self._cell = self._cell, None
        if cell is not None and max(cell) < len(opened.scored.each.names):
            self.filter(Filter(ANSWER, cell))
        if opened.report.is_of_classes:
            self._ends_asked.drop()
            self._ends_asked.ask(
                opened.source.key, partial(requests.f1_intervals, opened.report), heard=self.by.show_intervals
            )
        if self._beside is not None:
            self.compare(self._beside)

    def _show_facts(self, opened: Opened) -> None:
        report, source = opened.report, opened.source
        parts = [words.counted(report.count, self.tr("1 text"), self.tr("{count} texts"))]
        if report.is_of_classes:
            count = len(opened.scored.each.names)
            parts.append(words.counted(count, self.tr("1 label"), self.tr("{count} labels")))
        if opened.is_learned:
            parts.append(self.tr("the model has learned from this file: choose a part that was kept apart"))
        elif source.part == "validation":
            parts.append(self.tr("they chose the best checkpoint"))
        elif source.part:
            parts.append(self.tr("seen by no training"))
        repeating = report.num_repeating
        if repeating:
            parts.append(
                words.counted(repeating, self.tr("1 repeats another"), self.tr("{count} repeat others"))
            )
        self.facts.setText(PART.join(parts))
        self.state.setText(self.tr("scored in {time}").format(time=words.duration(opened.seconds)))

    def _show_kind(self, opened: Opened) -> None:
        if opened.report.is_of_classes:
            self.kinds.setCurrentIndex(0)
            self.confusion.set_confusion(opened.scored.each.names, opened.report.classes.confusion)
            return
        task = opened.scored.task
        if task not in self._scores:
            self._scores[task] = scores = views_of(task).scores()
            scores.set_door(True)
            scores.label_wanted.connect(self._list_label)
            self.kinds.addWidget(self._scores[task])
        event = opened.scored.evaluated
        self._scores[task].set_evaluations({event.split: event}, {})
        self.kinds.setCurrentWidget(self._scores[task])

    # ---- the list

    @Slot(str)
    def _list_label(self, name: str) -> None:
        wanted = Filter(LABEL, (name,))
        if wanted not in self.texts.listing.filters:
            self.filter(wanted)

    @Slot(object)
    def filter(self, wanted: Filter) -> None:
        """List the texts behind a number; the same again lists all of them."""
        self.texts.toggle(wanted)

    @Slot(object)
    def _list(self, listing: Listing) -> None:
        opened = self.opened
        if opened is None:
            return
        self.by.show_listing(listing)
        answer = listing.of(ANSWER)
        cell = (int(answer.values[0]), int(answer.values[1])) if answer is not None else (-1, -1)
        self.confusion.set_marked(cell if min(cell) >= 0 else None)
        self._list_asked.drop()
        self._list_asked.ask(
            listing,
            partial(requests.choose, opened, listing, self._columns, self.both),
            heard=self._hear_places,
        )

    def _hear_places(self, places: Places) -> None:
        self.texts.show_places(places, self.both)

    @Slot(int)
    def _open_text(self, place: int) -> None:
        self._open_place = place
        self._why_asked.drop()
        opened, detail = self.opened, self.texts.detail
        if place < 0 or opened is None or detail is None:
            return
        listed, each = opened.scored.listed, opened.scored.each
        text = listed.texts[place] if len(listed.texts) else ""
        pair = None if listed.pairs is None else listed.pairs[place]
        is_of_labels = opened.scored.task == "classification"
        detail.show_text(text, pair, self.tr("Finding what it rests on…") if is_of_labels else "")
        detail.set_can_explain(is_of_labels)
        if is_of_labels:
            name = each.names[each.predicted[place]]
            models, folder = self.session.inspector.open_models, opened.source.model
            self._why_asked.ask(
                (folder, place, name),
                partial(requests.explain, models, folder, text, pair, name),
                heard=partial(self._hear_why, place, name),
                refused=self._refuse_why,
            )

    def _hear_why(self, place: int, name: str, found: Attribution) -> None:
        if place == self._open_place and self.texts.detail is not None:
            self.texts.detail.show_attribution(found, name)

    def _refuse_why(self, error: BaseException) -> None:
        if self.texts.detail is not None:
            self.texts.detail.show_problem(words.say_error(error))

    @Slot(int)
    def doubt(self, place: int) -> None:
        """Say that a text's label is wrong, in the recipe of its table; said again, take that back."""
        opened, session = self.opened, self.session
        if opened is None or opened.scored.task != "classification" or place < 0:
            return
        listed, each, row = opened.scored.listed, opened.scored.each, int(opened.scored.listed.rows[place])
        name = opened.file.name if opened.file is not None else self.tr("the file")
        table, roles = session.table, session.roles
        if table is None or roles is None or not roles.label or table.path != opened.file:
            said = self.tr("Open {name} on the Data page first: mends are kept with the open table.")
            self._tell(said.format(name=name))
            return
        kept = listed.texts[place] if len(listed.texts) else None
        there = table.frame[roles.text].array[row] if row < table.num_rows else None
        if there is None or (kept is not None and there.strip() != kept.strip()):
            self._tell(self.tr("{name} is not as it was: its rows are other ones.").format(name=name))
            return
        answered = each.names[each.predicted[place]]
        line, is_same = words.number(int(table.lines[row])), each.predicted[place] == each.true[place]
        recipe = session.doctor.recipe
        if recipe is not None and row in recipe.decided():
            session.doctor.decide(row, None)
            self._tell(self.tr("Line {line}: taken back.").format(line=line))
        elif is_same:
            session.doctor.decide(row, Step(DROP, reason=SUSPECTED))
            said = self.tr("Line {line} is left out: the model gives it the same label.")
            self._tell(said.format(line=line))
        else:
            step = Step(RELABEL, label=answered, column=roles.label, reason=SUSPECTED)
            session.doctor.decide(row, step)
            said = self.tr("Line {line} is {label} from now on; the file stays as it is.")
            self._tell(said.format(line=line, label=words.shorten(answered, 40)))

    def _tell(self, text: str) -> None:
        """Say what became of a text, where it is open; else above the list."""
        if self.texts.detail is not None:
            self.texts.detail.show_problem(text)
        self.state.setText(text)

    @Slot(str)
    def lead(self, where: str) -> None:
        """Look at the text that is open on another page."""
        opened, place = self.opened, self._open_place
        if opened is None or place < 0:
            return
        listed, inspector = opened.scored.listed, self.session.inspector
        inspector.choose(opened.source.model)
        whole = listed.texts[place], "" if listed.pairs is None else listed.pairs[place]
        read = None if self.texts.detail is None else self.texts.detail.read
        inspector.set_text(*(read or whole))
        if where == "attribution":
            inspector.want_explanation()
        self.session.page_requested.emit("attention" if where == "attribution" else where)

    @Slot()
    def _ask_export(self) -> None:
        ask_save(
            self,
            self.tr("Export these texts"),
            self.export,
            name="evaluate_export_dialog",
            suggested=self.tr("texts.csv"),
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
        )

    @Slot(str)
    def export(self, path: str) -> None:
        """Write the listed texts with their answers."""
        if self.opened is not None:
            self._export_asked.drop()
            self._export_asked.ask(
                path,
                partial(requests.export, Path(path), self.opened.scored, self.texts.rows.places),
                heard=self._hear_exported,
                refused=self._refuse_export,
            )

    def _refuse_export(self, error: BaseException) -> None:
        show_error(error, self)

    def _hear_exported(self, path: Path) -> None:
        self.state.setText(self.tr("Written to {name}").format(name=path.name))

    @Slot()
    def _ask_report(self) -> None:
        ask_save(
            self,
            self.tr("Save the report"),
            self.save_report,
            name="evaluate_report_dialog",
            suggested=self.tr("report.md"),
            filters=[self.tr("Markdown (*.md)")],
            suffix="md",
        )

    @Slot(str)
    def save_report(self, path: str) -> None:
        """Write all that is known of the texts as Markdown."""
        opened = self.opened
        if opened is None:
            return
        texts = self.part_box.currentText() or Path(opened.source.data).name
        titles = model_title(opened.source.model), texts
        said = self.compare_card.sentence.text() if self.both is not None else ""
        work = partial(
            requests.save_report, Path(path), opened, titles, self.score.counted, self.by.found, said
        )
        self._export_asked.drop()
        self._export_asked.ask(path, work, heard=self._hear_exported, refused=self._refuse_export)

    # ---- what is asked for by a click

    @Slot()
    def _count_words(self) -> None:
        if self.opened is not None:
            self._words_asked.drop()
            self._words_asked.ask(
                self.opened.source.key,
                partial(requests.count_words, self.opened),
                heard=self._hear_words,
                refused=self._refuse_words,
            )

    def _hear_words(self, found: Baseline) -> None:
        self.score.show_words(found)

    def _refuse_words(self, error: BaseException) -> None:
        self.score.show_words(None)
        self._refuse(error)

    @Slot(bool)
    def _set_temperature(self, is_kept: bool) -> None:
        opened = self.opened
        if opened is not None:
            self._warmth_asked.drop()
            self._warmth_asked.ask(
                (opened.source.key, is_kept),
                partial(requests.set_temperature, opened, is_kept=is_kept),
                heard=self._hear_temperature,
                refused=self._refuse,
            )

    def _hear_temperature(self, _is_kept: bool) -> None:
        if self.source is not None:
            self.show_source(self.source)

    @Slot()
    def _find_slices(self) -> None:
        if self.opened is not None:
            self._slices_asked.ask(
                self.opened.source.key, partial(requests.find_slices, self.opened), heard=self._hear_slices
            )

    @Slot()
    def _group_by_meaning(self) -> None:
        if self.opened is not None:
            self._meaning_asked.drop()
            self._meaning_asked.ask(
                self.opened.source.key,
                partial(requests.group_by_meaning, self.opened),
                heard=self._hear_meaning,
                refused=self._refuse_meaning,
                progress=self._hear_meaning_progress,
            )

    def _hear_meaning(self, names: tuple[str, ...]) -> None:
        opened = self.opened
        if opened is not None:
            self._slices_asked.drop()
            self._slices_asked.ask(
                (opened.source.key, MEANING),
                partial(requests.find_slices, opened, names),
                heard=self._hear_slices_by_meaning,
            )

    def _hear_slices_by_meaning(self, found: Found) -> None:
        self._hear_slices(found)
        self.by.show_by(MEANING)

    def _refuse_meaning(self, error: BaseException) -> None:
        self.by.searched.setText(words.say_error(error))

    def _hear_meaning_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.by.searched.setText(words.event_words(event))

    @Slot()
    def _group_near(self) -> None:
        if self.opened is not None:
            self._near_asked.drop()
            self._near_asked.ask(
                self.opened.source.key, partial(requests.group_near, self.opened), heard=self._take_near
            )

    def _take_near(self, opened: Opened) -> None:
        """Show the intervals with near copies drawn together; all else stays as it was."""
        if self.opened is not None and self.opened.source == opened.source:
            self.opened = opened
            self.score.show_near(opened)
            self.by.show_again(opened)
            self._ends_asked.drop()
            self._ends_asked.ask(
                (opened.source.key, "near"),
                partial(requests.f1_intervals, opened.report),
                heard=self.by.show_intervals,
            )

    def _hear_slices(self, found: Found) -> None:
        self._columns = dict(found.columns)
        self.by.show_found(found)

    # ---- a second model

    @Slot()
    def _compare_clicked(self) -> None:
        self.compare_card.setVisible(True)
        self._fit()
        self.compare_card.box.set_own(leave_out=self.folder)
        self.compare_card.box.set_choice(None)
        self.compare_card.show_nothing("")
        self.compare_card.box.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(object)
    def compare(self, folder: Path) -> None:
        """Ask a second model about the same texts."""
        opened = self.opened
        if opened is None:
            return
        self.refusal.hide()
        self.compare_card.setVisible(True)
        self._fit()
        self.compare_card.box.set_choice(folder)
        self.compare_card.show_nothing(self.tr("Asking the second model…"))
        self._other_asked.drop()
        self._other_asked.ask(
            (opened.source.key, folder),
            partial(requests.compare, opened, folder),
            heard=self._hear_both,
            refused=self._refuse,
            progress=self._hear_other_progress,
        )

    def _hear_other_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.compare_card.show_nothing(words.event_words(event))

    def _hear_both(self, both: Both) -> None:
        if self.opened is None:
            return
        self.both = both
        self.compare_card.show_both(both, self.opened.source.model)
        self.texts.name_models(*names_of(self.opened.source.model, both.other))
        listing, beside = self.texts.listing, self._beside
        self._beside = None
        self.texts.set_listing(listing.toggled(Filter(DIFFER, ("any",))) if beside is not None else listing)

    def show_difference(self, first: Path, part: str, second: Path) -> None:
        """List the texts that a run kept apart where a second model answers otherwise than its result."""
        self._part = part
        self.set_model(first)
        self._beside = Path(second)

    @Slot()
    def end_comparison(self) -> None:
        """Show one model alone."""
        self._other_asked.drop()
        self.compare_card.hide()
        self._fit()
        was_both, self.both = self.both is not None, None
        if was_both:
            self.texts.name_models("", "")
            differ = self.texts.listing.of("differ")
            listing = self.texts.listing if differ is None else self.texts.listing.without(differ)
            self.texts.set_listing(listing)

    @Slot()
    def copy_command(self) -> None:
        """Put the command on the clipboard that finds the same figures."""
        source = self.opened.source if self.opened is not None else None
        if source is not None:
            self.copy_button.copy(evaluate_command(source.model, source.data, source.part, source.how))
