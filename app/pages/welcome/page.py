"""The Start page: BERT guessing a word, two ways to a model of one's own, what was done lately, and samples.

It opens things and leads to the page that shows them; it keeps nothing. Files are looked at on a worker only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QPushButton, QWidget

from app import shipped, words
from app.look.labels import PART, WholeLabel, label, tip
from app.look.layout import FoldingRow, column
from app.look.page import Page
from app.look.widgets import GAP, Card, ScrollView, button, set_role
from app.pages.choose.model_box import FolderQuestion
from app.pages.inside import sample_menu
from app.pages.run.state import RunPageState
from app.pages.welcome.found import (
    LONGEST_NAME,
    FoundRun,
    LookPlaces,
    RecentWork,
    day_of,
    look,
    run_words,
    state_of,
    verb_of,
)
from app.pages.welcome.guess import GuessCard
from app.pages.welcome.parts import ListCard, ListEntry
from app.session import Session
from app.stories.known import language_here, story
from app.work.titles import model_title
from app.work.worker import Channel
from engine.errors import UserError
from engine.hub.recommended import LANGUAGES
from engine.text.vocabulary import MASK
from engine.train.run.runs import MODEL

MASKED_WORDS = "masked_words"  # of `Inventory.answers`
WIDE = 1000  # px of the page from which samples stand in three columns
SHARES = (62, 39)  # of the width: what is live and what goes on; what is begun


class WelcomePage(Page):
    """Where a person begins. The window opens the file dialog and the sample text.

    It is the one page without a state: it lists what there is, and what is chosen here is shown elsewhere.
    """

    tour_wanted = Signal()
    open_wanted = Signal()  # a table of one's own
    sample_text_wanted = Signal()  # to pretrain on
    lecture_wanted = Signal(object)  # the path of one
    own_text_wanted = Signal()  # the caret in the text of Masked words

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("welcome_page")
        self.header.title_label.setText(self.tr("Start"))
        self.header.set_sentence(
            self.tr("A workbench for BERT. Nothing leaves this computer unless you send it.")
        )
        self.session, self.inspector = session, session.inspector
        self._found = RecentWork()
        self.tour_button = button(self.tr("Take the tour"), icon="play", name="welcome_tour")
        self.tour_button.setToolTip(
            self.tr("A few minutes: a table, a training run, and what is inside a model")
        )
        self.header.add_action(self.tour_button)
        self._found_asked = Channel(self, session.workers.quick)
        self._make_ways()
        self._make_lists()
        self._lay_out()
        self._connect()
        self._show()

    # ---- building

    def _make_ways(self) -> None:
        self.look_card = GuessCard(self.session)
        self.guess_button, self.watch_button = self.look_card.own_button, self.look_card.watch_button
        self.choose_button = self.look_card.choose_button
        self.reviews_button = button(words.tr_engine(story().table.name), name="welcome_reviews")
        self.open_button = button(self.tr("Open a table…"), name="welcome_open")
        to_label = partial(self.session.show_page, "label")
        self.label_button = button(self.tr("Label texts"), name="welcome_label", call=to_label)
        self.teach_card = Card()
        self.teach_card.add(WholeLabel(self.tr("Make a classifier from your table"), "card-title"))
        said = self.tr("From texts with labels, a model learns to label new ones.")
        self.teach_card.add(WholeLabel(said, "muted"))
        size = words.tr_engine(shipped.home_table().size).replace(", ", PART)
        for title, detail, door in (
            (self.tr("Your own table"), self.tr("CSV, Excel, SQLite and more"), self.open_button),
            (self.tr("No labels yet?"), self.tr("Give them by pressing keys"), self.label_button),
            (self.tr("No table at hand?"), size, self.reviews_button),
        ):
            line = QFrame()
            set_role(line, "line")
            self.teach_card.add(line)
            text = column(label(title, "strong"), WholeLabel(detail, "muted"), gap=0)
            offer = FoldingRow(is_late=True)
            offer.put((text, 1), door)
            self.teach_card.add(offer, 1)  # spare room goes to all alike
        self.text_button = button(self.tr("Try a sample text"), name="welcome_text")
        self.own_text_button = button(self.tr("Choose a text…"), name="welcome_own_text")
        self.pretrain_card = self._way(
            self.tr("Pretrain a model"),
            self.tr("From plain text, in any language, by guessing hidden words."),
            self.own_text_button,
            self.text_button,
        )

    def _way(self, title: str, text: str, *buttons: QPushButton) -> Card:
        card = Card(title)
        card.add(WholeLabel(text, "muted"))
        card.body.addStretch(1)
        doors = FoldingRow()
        doors.put(*((each, 1) for each in buttons))
        card.add(doors)
        return card

    def _make_lists(self) -> None:
        self.recent_card = ListCard(self.tr("Continue"))
        self.samples_card = ListCard(self.tr("Samples"))
        self.first_day = label(self.tr("What you make appears here."), "muted", name="welcome_first_day")

    def _lay_out(self) -> None:
        ways = column((self.teach_card, 1), self.pretrain_card, gap=GAP)
        grid = self._grid = QGridLayout()
        grid.setSpacing(GAP)
        grid.addWidget(self.look_card, 0, 0)
        grid.addLayout(ways, 0, 1)
        grid.addWidget(self.recent_card, 1, 0)
        grid.addWidget(self.samples_card, 1, 1)
        for place, share in enumerate(SHARES):
            grid.setColumnStretch(place, share)
        grid.setRowStretch(1, 1)
        inner = QWidget()
        column((grid, 1), self.first_day, gap=GAP, parent=inner)
        self.body.addWidget(ScrollView(inner), 1)  # a low window scrolls
        self._is_first_day: bool | None = None
        self._show_day(True)

    def _show_day(self, is_first: bool) -> None:
        """Put the samples first while there is nothing to continue with."""
        if is_first == self._is_first_day:
            return
        self._is_first_day = is_first
        self._grid.removeWidget(self.samples_card)
        self._grid.removeWidget(self.recent_card)
        self.recent_card.setVisible(not is_first)
        self.first_day.setVisible(is_first)
        self._set_columns()
        if is_first:
            self._grid.addWidget(self.samples_card, 1, 0, 1, 2)
        else:
            self._grid.addWidget(self.recent_card, 1, 0)
            self._grid.addWidget(self.samples_card, 1, 1)

    def _set_columns(self) -> None:
        many = 3 if self.width() >= WIDE else 2
        self.samples_card.list.set_columns(many if self._is_first_day else 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_columns()

    def _connect(self) -> None:
        session = self.session
        self.tour_button.clicked.connect(self.tour_wanted)
        self.guess_button.clicked.connect(self._guess)
        self.watch_button.clicked.connect(self._watch)
        self.look_card.choose_wanted.connect(self._choose_model)
        self.reviews_button.clicked.connect(self._try_reviews)
        self.open_button.clicked.connect(self.open_wanted)
        self.text_button.clicked.connect(self._try_text)
        self.own_text_button.clicked.connect(partial(session.show_page, "pretrain", RunPageState()))
        session.runs.crashed_changed.connect(self.look_again)
        session.training.ended.connect(self.look_again)
        session.library.changed.connect(self._show)
        self.question = FolderQuestion(session, self, name="model_dialog")
        self.question.chosen.connect(self._model_chosen)
        self.question.refused.connect(self._refuse_model)

    # ---- what there is

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.runs.find()
        self.look_again()

    def look_again(self) -> None:
        """Look on the worker for what was done lately, while the page is on screen."""
        if not self.isVisible():
            return
        settings = self.session.settings
        samples = {str(sample.path) for sample in shipped.TABLES}
        wanted = LookPlaces(
            runs_root=self.session.runs.root,
            tables=tuple(path for path in settings.recent_files if path not in samples),
            kept_run=shipped.history_run(),
            lecture=self._first_lecture,
        )
        # there may be more by now
        self._found_asked.ask(wanted, partial(look, wanted), heard=self._take, again=True)

    def _take(self, found: RecentWork) -> None:
        self._found = found
        self._show()

    @property
    def _first_lecture(self) -> shipped.ShippedLecture | None:
        return next(iter(shipped.lectures()), None)

    def _subject(self) -> Path | None:
        """Return the model to look into: the starter, or else the newest that guesses, or can be opened."""
        library, starter = self.session.library, shipped.home_model()
        whole = [entry.path for entry in library.offered() if entry.inventory is not None]
        guesses = [entry.path for entry in library.offered(MASKED_WORDS)]
        return starter or next(iter([*guesses, *whole]), None)

    def _show(self) -> None:
        subject = self._subject()
        missing = self.tr("The starter model is missing from this installation.")
        lecture, starter = self._first_lecture, shipped.home_model()
        if lecture is None or starter is None:  # of which it tells
            self.look_card.show_lecture("", "")
        else:
            self.look_card.show_lecture(lecture.title, self._length())
            self.watch_button.setToolTip(tip(lecture.words))
        remark = ""
        if subject is None:
            remark = self.tr("{missing} Choose a model folder, or pretrain one.").format(missing=missing)
        elif shipped.home_model() is None:
            name = words.shorten(model_title(subject), LONGEST_NAME)
            remark = self.tr("{missing} Used instead: {name}.").format(missing=missing, name=name)
        self.look_card.show_model(subject, remark)
        self._show_recent()
        self._show_samples()

    def _length(self) -> str:
        """Return how long the first lecture is, in words; "" until its file is read."""
        scenes, minutes = self._found.lecture
        if not scenes:
            return ""
        said = self.tr("{scenes} scenes, about {minutes} min")
        return said.format(scenes=words.number(scenes), minutes=words.number(minutes))

    def _show_recent(self) -> None:
        found = self._found
        runs = [self._run_entry(place, run) for place, run in enumerate(found.runs, start=1)]
        tables = [self._table_entry(place, *one) for place, one in enumerate(found.tables, start=1)]
        empty = "" if found.problem is None else words.say(found.problem)
        self._show_day(not (runs or tables or empty))
        self.recent_card.list.set_entries([*runs, *tables], empty)
        hint = self.tr("{count} runs").format(count=words.number(found.num_runs))
        if found.problem is not None and (runs or tables):  # the whole sentence where the mouse rests
            self.recent_card.set_hint(self.tr("Not all can be read"))
            self.recent_card.hint_label.setToolTip(tip(empty))
            return
        self.recent_card.hint_label.setToolTip("")
        self.recent_card.set_hint(hint if found.num_runs > len(runs) else "")

    def _run_entry(self, place: int, run: FoundRun) -> ListEntry:
        state, ink = state_of(run)
        is_scored = run.info.state == "finished" and run.page == "finetune" and run.info.problem is None
        return ListEntry(
            name=f"welcome_run_{place}",
            title=words.shorten(run.name, LONGEST_NAME),
            detail=run_words(run),
            icon=run.page,
            tooltip=words.say(run.info.problem)
            if run.info.problem is not None
            else QDir.toNativeSeparators(str(run.info.path)),
            call=partial(self._evaluate if is_scored else self._open_run, run),
            state=state,
            ink=ink,
            when=day_of(run),
            verb=verb_of(run),
        )

    def _table_entry(self, place: int, path: Path, size: int, written: float) -> ListEntry:
        said = self.tr("{size} in {folder}")
        return ListEntry(
            name=f"welcome_table_{place}",
            title=words.shorten(path.name, LONGEST_NAME),
            detail=said.format(size=words.file_size(size), folder=path.parent.name or path.anchor),
            icon="data",
            tooltip=QDir.toNativeSeparators(str(path)),
            call=partial(self._open_table, path),
            state=self.tr("table"),
            when=words.day(written),
            verb=self.tr("Open…"),
        )

    def _show_samples(self) -> None:
        entries = [
            ListEntry(
                name=f"welcome_sample_{sample.key}",
                title=_title(sample),
                detail=words.tr_engine(sample.size),
                icon="data",
                tooltip=f"{words.tr_engine(sample.words)} ({sample.licence})",
                call=partial(self._open_sample, sample),
            )
            for sample in shipped.samples()
        ]
        sentences = ListEntry(
            name="welcome_sentences",
            title=self.tr("Sentences to look at"),
            detail=self.tr("{count} sentences and pairs").format(count=words.number(len(story().texts))),
            icon="probe",
            tooltip=self.tr("Choose one to open in Masked words or Attention"),
            call=self._offer_sentences,
        )
        run = self._found.kept_run
        self.samples_card.list.set_entries([*entries, *([self._example_run(run)] if run else []), sentences])

    def _example_run(self, run: FoundRun) -> ListEntry:
        return ListEntry(
            name="welcome_example_run",
            title=words.shorten(run.name, LONGEST_NAME),
            detail=self.tr("Pretraining: loss, pinned sentences"),
            icon="pretrain",
            tooltip=self.tr(
                "How a tiny model was trained on Wikipedia, from the first step to the last. "
                "The form keeps your own settings, because the training text does not ship "
                "with Cloze."
            ),
            call=partial(self._open_run, run),
        )

    # ---- ways in

    def _look(self, folder: Path, text: str, pair: str, page: str) -> None:
        """Open a model and a text on a page that looks inside."""
        self.inspector.set_text(text, pair)
        if folder != self.inspector.folder:
            self.inspector.choose(folder)
        self.session.show_page(page)

    def _guess(self) -> None:
        """Lead to the same sentence and the same hidden word, with the caret in the text."""
        subject = self._subject()
        if subject is not None:
            self._look(subject, self.look_card.masked_text(), "", "probe")
            self.own_text_wanted.emit()

    def _watch(self) -> None:
        if self._first_lecture is not None:
            self.lecture_wanted.emit(self._first_lecture.path)

    def _choose_model(self) -> None:
        self.question.ask()

    def _model_chosen(self, folder: str) -> None:
        self._look(Path(folder), self.look_card.masked_text(), "", "probe")

    def _refuse_model(self, error: UserError) -> None:
        self.look_card.set_remark(words.say_error(error))

    def _try_reviews(self) -> None:
        """Open the sample with the starter model, ready to be trained."""
        session, starter, sample = self.session, shipped.home_model(), shipped.home_table()
        session.data.open(sample.path, roles=sample.roles)
        if session.model.chosen is None and starter is not None:
            session.model.choose(str(starter))
        self.session.show_page("finetune", RunPageState())

    def _try_text(self) -> None:
        self.sample_text_wanted.emit()
        self.session.show_page("pretrain", RunPageState())

    # ---- rows

    def _open_run(self, run: FoundRun, _checked: bool = False) -> None:
        """Show a run on its page; while one of its kind is in training, that one."""
        training = self.session.training
        is_taken = training.is_running and type(training.config) is type(run.config)
        self.session.show_page(run.page, None if is_taken else RunPageState(run.info.path))

    def _evaluate(self, run: FoundRun, checked: bool = False) -> None:
        """Show how good a run's model is; the run itself where its model is gone."""
        from app.pages.evaluate.state import EvaluateState  # here: it brings what takes long to import

        model = run.info.path / MODEL
        if not model.is_dir():
            self._open_run(run)
        else:
            self.session.show_page("evaluate", EvaluateState(model))

    def _open_table(self, path: Path, _checked: bool = False) -> None:
        self.session.data.open(path)
        self.session.show_page("data")

    def _open_sample(self, sample: shipped.ShippedTable, _checked: bool = False) -> None:
        self.session.data.open(sample.path, roles=sample.roles)
        self.session.show_page("data")

    def _offer_sentences(self, _checked: bool = False) -> None:
        menu = QMenu(self)
        menu.setObjectName("welcome_sentences_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        sample_menu.fill(menu, self._take_sentence)
        last = self.samples_card.list.rows[-1]
        menu.popup(last.mapToGlobal(QPoint(0, last.height())))

    def _take_sentence(self, text: str, pair: str, _checked: bool = False) -> None:
        """Look at a sentence with the model that is open, or the one to begin with."""
        subject = self._subject()
        page = "probe" if MASK in text or pair else "attention"
        folder = self.inspector.folder or subject
        if folder is None:
            self.inspector.set_text(text, pair)
            self.session.show_page(page)
        else:
            self._look(folder, text, pair, page)


def _title(sample: shipped.ShippedTable) -> str:
    """Return what a sample is called, with its language where that is not the window's."""
    title = words.tr_engine(sample.title)
    is_own = sample.language == language_here()
    return title if is_own else f"{title}{PART}{words.tr_engine(LANGUAGES[sample.language])}"
