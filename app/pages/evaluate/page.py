"""The Evaluate page: labelled texts above, the scores of the model in hand, the texts behind every number.

Every picture only filters the list. What is computed is asked of workers; a click that comes while something
is under way is answered by what was asked last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.error_dialog import show_error
from app.look.files import ask_save, beside
from app.look.labels import PART, ElidedLabel, label
from app.look.layout import column, row
from app.look.pending import Pending, ProgressLine
from app.look.widgets import GAP, Card, EmptyState, button, named
from app.pages.evaluate import requests
from app.pages.evaluate.by import ScoresBy
from app.pages.evaluate.compare import CompareCard, names_of
from app.pages.evaluate.further import Further
from app.pages.evaluate.opened_scores import OpenedScores, ScoredPair
from app.pages.evaluate.part_box import PartBox
from app.pages.evaluate.reading import TextFollower
from app.pages.evaluate.requests import Parts
from app.pages.evaluate.score import ScoreCard
from app.pages.evaluate.state import KEPT_APART, EvaluateState, Listing
from app.pages.evaluate.texts import TextsCard
from app.pages.run.state import RunPageState
from app.pages.stated_page import InBar, RowsChoice, StatedPage
from app.pages.tasks.known import views_of
from app.pages.tasks.scores import TaskScores
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.confusion import ConfusionPlot
from app.session import Session
from app.work.library import FILES
from app.work.text_filter import ANSWER, COLUMN, DIFFER, Filter
from app.work.texts_read import FINE_TUNE, FileTexts, TextsRead
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.model.model_name import ModelName
from engine.questions.evaluate import EvaluationQuestion
from engine.report.blocks import Document

SCORE_WIDTH, LEAST_SCORE = 272, 250  # px
PART_WIDTH, NARROW_PART_WIDTH = 330, 290
NARROW = 940  # px of the page; below, its cards are narrower
LOW = 700  # px of the page, below which a comparison takes the room of a sentence
LEAST_TOP, USUAL_TOP = 190, 268  # px of the cards above the list
TOP_SHARE = 0.48  # of what they share with it
ABOVE = 130  # px of the page above both
LEAST_CONFUSION = 150


class EvaluatePage(StatedPage[EvaluateState]):
    """The texts on top; score, scores by, confusion; the list, which never leaves."""

    state_kind = EvaluateState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluate_page")
        self.header.title_label.setText(self.tr("Evaluate"))
        self.header.set_sentence(self.tr("Score a model and read its errors."))
        self.session = session
        self.folder: Path | None = None
        self.labelled = KEPT_APART  # what it is scored on
        self.opened: OpenedScores | None = None
        self.both: ScoredPair | None = None
        self._parts = Parts(())
        self._scores: dict[str, TaskScores] = {}
        workers = session.workers
        self._parts_asked, self._list_asked = (Channel(self, workers.quick) for _ in range(2))
        self._score_asked, self._other_asked = (Channel(self, workers.models) for _ in range(2))
        self._export_asked = Channel(self, workers.files)
        self._make()
        self._lay_out()
        self._connect()
        self._show_busy("")
        self._take(None)

    # ---- building

    def _make(self) -> None:
        self.copy_button = named(CopyCommandButton(), "copy_evaluate_command")
        self.compare_button = button(self.tr("Compare with…"), name="evaluate_compare")
        self.save_button = button(self.tr("Save report as text…"), icon="save", name="evaluate_save")
        self._actions = (self.copy_button, self.save_button, self.compare_button)
        self.header.add_action(self.compare_button)
        self.header.add_action(self.copy_button)
        self.header.add_more(self.save_button)
        self.part_box = PartBox(self.session)
        self.part_box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.part_box.setFixedWidth(PART_WIDTH)
        self.facts = ElidedLabel("", "muted")
        self.facts.setObjectName("evaluate_facts")
        self.said = label("", "muted", name="evaluate_state")
        self.progress = ProgressLine("evaluate_progress", width=120)
        self.stop = button(self.tr("Stop"), "link", name="evaluate_stop")
        self.refusal = label("", "refusal", wrap=True, name="evaluate_refusal")
        self.score = ScoreCard()
        self.by = ScoresBy()
        self.confusion = named(ConfusionPlot(self.tr("Confusion")), "evaluate_confusion")
        self.confusion.is_door = True
        yield_to_layout(self.confusion, LEAST_CONFUSION)
        self.confusion_card = Card(self.tr("Confusion"))
        self.confusion_card.set_hint("", deed=self.tr("click a cell"))
        self.confusion_card.add_corner(save_icon(self.confusion))
        self.confusion_card.add(self.confusion, 1)
        self.compare_card = CompareCard(self.session)
        self.texts = TextsCard()
        self.reading = TextFollower(self.session, self.texts)
        self.further = Further(self.session, self.score, self.by)
        self.no_model = EmptyState("", self.tr("Fine-tune a model"))
        self.no_texts = EmptyState("", self.tr("Choose a file…"))

    def _lay_out(self) -> None:
        self.body.addLayout(
            row(
                label(self.tr("Scored on"), "muted"), self.part_box, (self.facts, 1), self.said,
                self.progress, self.stop, gap=10,
            )
        )  # fmt: skip
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
        self.stack = Pending(work, self.no_model, self.no_texts, name="evaluate")
        self.body.addWidget(self.stack, 1)
        self.compare_card.hide()

    def _connect(self) -> None:
        self.session.inspector.model_changed.connect(self._take_hand)
        self.part_box.chosen.connect(lambda texts: self.show_state(EvaluateState(texts=texts)))
        self.part_box.file_wanted.connect(self.open_file)
        self.stop.clicked.connect(self._stop)
        self.copy_button.clicked.connect(self.copy_command)
        self.compare_button.clicked.connect(self._compare_clicked)
        self.save_button.clicked.connect(self._ask_report)
        self.compare_card.wanted.connect(self.compare)
        self.compare_card.ended.connect(self.end_comparison)
        self.compare_card.chosen.connect(self.filter)
        self.by.chosen.connect(self.filter)
        self.further.refused.connect(self.refuse)
        self.further.found.connect(self.take_up)
        self.further.regrouped.connect(self._take_regrouped)
        self.further.temperature_changed.connect(lambda: self.show_state(EvaluateState(texts=self.labelled)))
        self.confusion.chosen.connect(lambda true, predicted: self.filter(Filter(ANSWER, (true, predicted))))
        self.texts.wanted.connect(self._list)
        self.reading.told.connect(self.said.setText)
        self.texts.export_wanted.connect(self._ask_export)
        self.no_model.activated.connect(self._lead_on)
        self.no_texts.activated.connect(self.part_box.choose_file)
        self.session.training.result_changed.connect(self._result_changed)
        self.session.library.changed.connect(self._take_first)
        self.session.data.opened.connect(self._fill_parts)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW
        self.score.setFixedWidth(LEAST_SCORE if is_narrow else SCORE_WIDTH)
        self.part_box.setFixedWidth(NARROW_PART_WIDTH if is_narrow else PART_WIDTH)
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
        own = (self._parts_asked, self._list_asked, self._score_asked, self._other_asked, self._export_asked)
        return any(one.is_asking for one in (*own, self.reading, self.further))

    # ---- what is shown, as a value

    @property
    def state(self) -> EvaluateState:
        return EvaluateState(
            model=self.folder,
            texts=self.labelled,
            listing=self.texts.listing,
            beside=None if self.both is None else self.both.other,
            by=self.by.views.current,
            sure=self.by.sure.current,
            place=self.texts.opened_place,
        )

    @property
    def in_bar(self) -> InBar:
        return InBar(
            wanted=FILES,
            other="" if self.both is None else model_title(self.both.other),
            data=self.part_box.currentText(),
            choices=tuple(
                RowsChoice(
                    title, partial(self.part_box.chosen.emit, texts), title == self.part_box.currentText()
                )
                for title, texts in self.part_box.offered
            ),
            take_file=self.open_file,
        )

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        opened = self.opened
        if opened is None or not len(opened.scored.listed.texts):
            return ()
        listed = opened.scored.listed
        find = partial(zip_longest, listed.texts, listed.pairs or ())
        return (TextsRead(opened.model, FileTexts(opened, find, len(listed.texts)), deed=FINE_TUNE),)

    def goes_on_with(self, state: EvaluateState) -> bool:
        return state.model is None or self.session.inspector.folder in (None, state.model)

    def open_state(self, state: EvaluateState) -> None:
        """Score a model, also one that was scored before: it may have been trained anew since."""
        inspector = self.session.inspector
        folder = inspector.folder if state.model is None else state.model.absolute()
        if folder != self.folder:
            self._parts = Parts(())
        self.folder, self.labelled = folder, state.texts
        if folder is not None and folder != inspector.folder:
            inspector.hold(folder)
        self._score_asked.drop()
        self.end_comparison()
        self.refusal.setText("")
        self._take(None)
        self._fill_parts()
        if folder is None:
            self._take_first()
            return
        self._parts_asked.ask(
            folder,
            partial(requests.parts_of_model, folder),
            heard=partial(self._hear_parts, folder),
            refused=self._refuse_texts,
            ended=self.take_up,
            again=True,
        )

    def is_open(self, state: EvaluateState) -> bool:
        if self.opened is None:  # there may be nothing to score
            return not (self._parts_asked.is_asking or self._score_asked.is_asking)
        has_columns = state.listing.of(COLUMN) is None or self.by.found is not None
        return has_columns and (state.beside is None or self.both is not None)

    def take_state(self, state: EvaluateState) -> None:
        self.by.show_view(state.by or self.by.views.current)
        self.by.show_sure(state.sure or self.by.sure.current)
        if self.opened is not None:
            listing = requests.fitted(state.listing, self.opened, self.further.columns, self.both)
            self.texts.show_listing(listing, state.place)

    def refuse(self, error: BaseException) -> None:
        """Say in place why something cannot be shown."""
        self.refusal.setText(words.say_error(error))
        self.refusal.show()
        self.compare_card.show_nothing("")

    # ---- the model and its texts

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.runs.find()
        self._take_first()
        self.take_up()

    @property
    def _first(self) -> Path | None:
        """The model to take where none is in hand that can be scored: the last trained, or used."""
        offered = [entry for entry in self.session.library.own(FILES) if entry.problem is None]
        return offered[0].path if offered else None

    def _take_first(self) -> None:
        """Have a model in hand, where there is none; else score the one there is."""
        if self.isVisible() and self.session.inspector.folder is None and self._first is not None:
            self.session.inspector.hold(self._first)
        self._take_hand()
        if self.isVisible() and not self._can_be_scored:
            self._show_nothing()  # another model may be the last one trained by now

    def _take_hand(self) -> None:
        """Score the model in hand from now on."""
        if self.isVisible() and self.session.inspector.folder != self.folder:
            self.show_state(EvaluateState())

    @property
    def _offered(self) -> Path | None:
        """The model to offer where the one in hand predicts nothing: one that only ships, too."""
        offered = self.session.library.offered(FILES) if self.folder is not None else ()
        return next((one.path for one in offered if one.problem is None), None)

    def _lead_on(self) -> None:
        if self._offered is not None:
            self.session.inspector.hold(self._offered)
        else:
            self.session.show_page("finetune", RunPageState())

    def _result_changed(self) -> None:
        """Score the model in hand again, where it has been trained anew."""
        if self.session.training.last_model == self.folder and self.folder is not None:
            self._parts = Parts(())
            self.show_state(EvaluateState(texts=self.labelled))

    def _fill_parts(self) -> None:
        self.part_box.setEnabled(self.folder is not None)
        self.part_box.offer(self._parts, self.labelled)
        self.in_bar_changed.emit()

    def open_file(self, path: Path | str) -> None:
        """Score the model on a labelled file."""
        self.show_state(EvaluateState(texts=self.part_box.texts_of(Path(path))))

    def _hear_parts(self, folder: Path, parts: Parts) -> None:
        self._parts, self.labelled = parts, parts.choose(self.labelled)
        self._fill_parts()
        if self.labelled == KEPT_APART:
            self.no_texts.set_text(self._no_texts_words())
            return
        source = EvaluationQuestion(ModelName(folder), **self.labelled.named())
        self._show_busy(self.tr("Reading…"))
        self._score_asked.ask(
            source,
            partial(requests.score, source),
            heard=self._take,
            refused=self._refuse_texts,
            progress=self._hear_progress,
            ended=partial(self._show_busy, ""),
            again=True,
        )

    def _hear_progress(self, event: Event) -> None:
        if self.progress.hear(event):
            self._show_busy(words.event_words(event))

    def _show_busy(self, text: str) -> None:
        """Say that texts are being scored; "": no longer."""
        self.progress.setVisible(bool(text))
        self.stop.setVisible(bool(text))
        if text:
            self.stack.show_asking(text)
        elif self.opened is None:
            self._show_nothing()

    def _stop(self) -> None:
        for channel in (self._score_asked, self._other_asked):
            channel.drop()
        self.further.stop()
        self._to_show = None

    def _refuse_texts(self, error: BaseException) -> None:
        if not self.give_up(error):
            self.show_state(EvaluateState())

    @property
    def _can_be_scored(self) -> bool:
        """Whether the model in hand answers, as far as anybody has read its files."""
        known = [entry for entry in self.session.library.entries if entry.path == self.folder]
        return self.folder is not None and all(entry.fits(FILES) or not entry.is_read for entry in known)

    def _show_nothing(self) -> None:
        """Say what is missing, and what helps."""
        first = self._offered
        said = self.tr("No trained model is chosen yet. Fine-tune one first, or choose one above.")
        if self.folder is not None:
            said = self.tr("The model in hand predicts no labels. Choose a trained one above.")
        use = "" if first is None else words.shorten(model_title(first), 60)
        self.no_model.set_text(said)
        self.no_model.button.setText(
            self.tr("Use {name}").format(name=use) if use else self.tr("Fine-tune a model")
        )
        self.no_texts.set_text(self._no_texts_words())
        self.stack.show_nothing(self.no_texts if self._can_be_scored else self.no_model)
        self.said.setText("")
        self.facts.setText("")
        self.refusal.setVisible(bool(self.refusal.text()))

    def _no_texts_words(self) -> str:
        """Say what can be scored; of a model that all rows have taught, how good it was found to be."""
        choose = self.tr("Choose labelled texts above: held-out rows of a run, the open table, or any file.")
        if not (judged := self._judged_words()):
            return choose
        text = self.tr(
            "All labelled rows taught this model. {judged}. Choose other labelled texts to score it on."
        )
        return text.format(judged=judged)

    def _judged_words(self) -> str:
        """Return the model's cross-validated score; "" where it has none."""
        judged = self._parts.judged
        if judged is None or judged.interval is None:
            return ""
        said = self.tr("Cross-validated accuracy: {value} (95 %: {low} to {high})")
        value, low, high = map(words.score, (judged.value, *judged.interval))
        return said.format(value=value, low=low, high=high)

    def _take(self, opened: OpenedScores | None) -> None:
        """Show scored texts; None: none."""
        self.opened = opened
        self.reading_changed.emit()
        self._list_asked.drop()
        self.reading.take(opened)
        self.further.take(opened)
        can_count = opened is not None and opened.can_count and opened.report.is_of_classes
        self.score.show_opened(opened, can_count=can_count)
        self.by.show_opened(opened)
        for action in self._actions:
            action.setEnabled(opened is not None)
        if opened is None:
            self.confusion.clear()
            self.texts.show_scored(None)
            self._show_nothing()
            return
        self.refusal.hide()
        self.stack.show_answer()
        self._show_facts(opened)
        self._show_kind(opened)
        self.texts.show_scored(opened.scored)
        state = self._to_show
        if state is not None and state.beside is not None:
            self.compare(state.beside)
        if state is not None and state.listing.of(COLUMN) is not None:
            self.further.find_slices()
        self.take_up()

    def _take_regrouped(self, opened: OpenedScores) -> None:
        """Keep the same texts with other intervals, for what is exported."""
        self.opened = opened
        self.reading.take_again(opened)

    def _show_facts(self, opened: OpenedScores) -> None:
        report, source = opened.report, opened.source
        parts = [words.counted(report.count, self.tr("1 text"), self.tr("{count} texts"))]
        if opened.num_seen:
            one = self.tr("the model was trained on 1")
            many = self.tr("the model was trained on {count}")
            if opened.num_seen == report.count:
                many = self.tr("the model was trained on all of them, so choose a held-out part")
            parts.append(words.counted(opened.num_seen, one, many))
        if judged := self._judged_words():
            parts.append(judged)
        if report.is_of_classes:
            count = len(opened.scored.each.names)
            parts.append(words.counted(count, self.tr("1 label"), self.tr("{count} labels")))
        if source.part == "validation":
            parts.append(self.tr("also used to pick the checkpoint"))
            if "micro_f1_at_half" in opened.scored.evaluated.metrics:
                parts.append(self.tr("half of them also used to set the thresholds"))
        elif report.has_chosen:
            parts.append(self.tr("half of them also used to fit the temperature"))
        elif source.part and opened.num_seen == 0:
            parts.append(self.tr("not used in training"))
        repeating = report.num_repeating
        if repeating:
            parts.append(
                words.counted(repeating, self.tr("1 repeats another"), self.tr("{count} repeat others"))
            )
        self.facts.setText(PART.join(parts))
        self.said.setText(self.tr("scored in {time}").format(time=words.duration(opened.seconds)))

    def _show_kind(self, opened: OpenedScores) -> None:
        if opened.report.is_of_classes:
            self.kinds.setCurrentIndex(0)
            counts = opened.report.classes.confusion
            if counts is not None:
                self.confusion.set_confusion(opened.scored.each.names, counts)
            else:
                self.confusion.refuse()
            return
        task = opened.scored.task
        if task not in self._scores:
            self._scores[task] = scores = views_of(task).scores()
            scores.set_door(True)
            scores.stand_beside_texts()
            scores.texts_wanted.connect(lambda _split, wanted: self.filter(wanted))
            self.kinds.addWidget(self._scores[task])
        event = opened.scored.evaluated
        self._scores[task].set_evaluations({event.split: event}, {})
        self.kinds.setCurrentWidget(self._scores[task])

    # ---- the list

    def filter(self, wanted: Filter) -> None:
        """List the texts behind a number; the same again lists all of them."""
        self.texts.toggle(wanted)

    def _list(self, listing: Listing) -> None:
        opened = self.opened
        if opened is None:
            return
        self.by.show_listing(listing)
        answer = listing.of(ANSWER)
        cell = (int(answer.values[0]), int(answer.values[1])) if answer is not None else (-1, -1)
        self.confusion.set_marked(cell if min(cell) >= 0 else None)
        self._list_asked.ask(
            listing,
            partial(requests.choose, opened, listing, self.further.columns, self.both),
            heard=lambda places: self.texts.show_places(places, self.both),
            again=True,
        )

    def _ask_export(self) -> None:
        title, kind = self.tr("Export these texts"), self.tr("Tables (*.csv)")
        self._ask_where(title, self.export, "evaluate_export_dialog", self.tr("texts.csv"), kind, "csv")

    def _ask_report(self) -> None:
        title, kind = self.tr("Save the report"), self.tr("Markdown (*.md)")
        self._ask_where(title, self.save_report, "evaluate_report_dialog", self.tr("report.md"), kind, "md")

    def _ask_where(
        self, title: str, chosen: Callable[[str], None], name: str, suggested: str, kind: str, suffix: str
    ) -> None:
        """Ask where to write, at first beside the file of these texts, where that is known."""
        file = self.opened.file if self.opened is not None else None
        recent = self.session.settings.recent_files
        at = beside([file, *recent] if file is not None else recent) / suggested
        ask_save(self, title, chosen, name=name, suggested=at, filters=[kind], suffix=suffix)

    def export(self, path: str) -> None:
        """Write the listed texts with their answers."""
        if self.opened is not None:
            self._write(partial(requests.export, Path(path), self.opened.scored, self.texts.rows.places))

    def _write(self, work: Callable[[], Path]) -> None:
        self._export_asked.ask(work, work, heard=self._hear_written, refused=self._refuse_writing)

    def _refuse_writing(self, error: BaseException) -> None:
        show_error(error, self)

    def _hear_written(self, path: Path) -> None:
        self.said.setText(self.tr("Written to {name}").format(name=path.name))

    def save_report(self, path: str) -> None:
        """Write all that is known of the texts as Markdown."""
        opened = self.opened
        if opened is None:
            return
        texts = self.part_box.currentText() or Path(opened.source.data).name
        titles = model_title(opened.model), texts
        said = self.compare_card.sentence.text() if self.both is not None else ""
        found = self.score.counted, self.by.found
        self._write(partial(requests.save_report, Path(path), opened, titles, *found, said))

    def own_document(self, has_texts: bool) -> Callable[[], Document] | None:
        opened = self.opened
        if opened is None:
            return None
        said = self.compare_card.sentence.text() if self.both is not None else ""
        found = self.score.counted, self.by.found
        return partial(requests.document_of, opened, model_title(opened.model), *found, said, has_texts)

    # ---- a second model

    def _compare_clicked(self) -> None:
        self._open_comparison(None)
        self.compare_card.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_comparison(self, other: Path | None, said: str = "") -> None:
        """Give a second model its room. Args: said: what is under way."""
        self.compare_card.setVisible(True)
        self._fit()
        self.compare_card.box.set_own(leave_out=self.folder)
        self.compare_card.box.set_choice(other)
        self.compare_card.show_nothing(said)

    def compare(self, folder: Path) -> None:
        """Ask a second model about the same texts."""
        opened = self.opened
        if opened is None:
            return
        self.refusal.hide()
        self._open_comparison(folder, self.tr("Asking the second model…"))
        self._other_asked.ask(
            (opened.source, folder),
            partial(requests.compare, opened, folder, names_of(opened.model, folder)),
            heard=self._hear_both,
            refused=self._refuse_other,
            progress=self._hear_other_progress,
            again=True,
        )

    def _hear_other_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.compare_card.show_nothing(words.event_words(event))

    def _hear_both(self, both: ScoredPair) -> None:
        if self.opened is None:
            return
        self.both = both
        self.in_bar_changed.emit()
        self.compare_card.show_both(both, self.opened.model)
        self.texts.name_models(*names_of(self.opened.model, both.other))
        self.texts.set_listing(self.texts.listing)
        self.take_up()

    def _refuse_other(self, error: BaseException) -> None:
        if not self.give_up(error):
            self.end_comparison()

    def end_comparison(self) -> None:
        """Show one model alone."""
        self._other_asked.drop()
        self.compare_card.hide()
        self._fit()
        was_both, self.both = self.both is not None, None
        if was_both:
            self.in_bar_changed.emit()
            self.texts.name_models("", "")
            differ, listing = self.texts.listing.of(DIFFER), self.texts.listing
            self.texts.set_listing(listing if differ is None else listing.without(differ))

    def copy_command(self) -> None:
        """Put the command on the clipboard that finds the same figures."""
        if self.opened is not None:
            self.copy_button.copy(replace(self.opened.source, json=True).command())
