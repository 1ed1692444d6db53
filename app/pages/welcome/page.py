"""The Welcome page: three ways in, what was done lately, and what ships with Cloze to try it on.

It opens things and leads to the page that shows them; it keeps nothing. Files are looked at on a worker only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QMenu, QPushButton, QWidget

from app import shipped, words
from app.look.labels import PART, label, tip
from app.look.layout import STRETCH, row
from app.look.page import Page
from app.look.widgets import GAP, button, set_role
from app.pages.choose.model_box import FolderQuestion
from app.pages.inside import sample_menu
from app.pages.run.state import RunPageState
from app.pages.welcome.found import (
    LONGEST_NAME,
    FoundRun,
    LookPlaces,
    RecentWork,
    look,
    run_words,
)
from app.pages.welcome.parts import CLAUSE, NEW_LINE, ListCard, ListEntry, Piece, WayCard
from app.session import Session
from app.shipped import sample_data_path
from app.work.library import ModelEntry, entry_words
from app.work.titles import model_title, shape_words
from app.work.worker import Channel
from engine.errors import UserError
from engine.text.vocabulary import MASK
from engine.train.run.runs import MODEL

HIDDEN_WORD = f"The children {MASK} playing in the garden."
MASKED_WORDS = "masked_words"  # of `Inventory.answers`
MOST_MODELS = 10
POLARITY = "polarity"  # the sample that a first classifier learns from
TALL = 660  # pixels of the page from which there is room for sketches
LEVELS = {"crashed": "look", "failed": "wrong"}


class WelcomePage(Page):
    """Where a person begins. The window opens the file dialog and the sample text.

    It is the one page without a state: it lists what there is, and what is chosen here is shown elsewhere.
    """

    tour_wanted = Signal()
    open_wanted = Signal()  # a table of one's own
    sample_text_wanted = Signal()  # to pretrain on
    lecture_wanted = Signal(object)  # the path of one

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("welcome_page")
        self.header.title_label.setText(self.tr("Start"))
        self.header.set_sentence(
            self.tr("A workbench for BERT. Everything runs on this computer; nothing is sent anywhere.")
        )
        self.session, self.inspector = session, session.inspector
        self._found = RecentWork()
        self.tour_button = button(self.tr("Take the tour"), icon="play", name="welcome_tour")
        self.tour_button.setToolTip(self.tr("A few minutes: a table, a training, and what is inside a model"))
        self.header.add_action(self.tour_button)
        self._found_asked = Channel(self, session.workers.quick)
        self._make_ways()
        self._make_lists()
        self._lay_out()
        self._connect()
        self._show()

    # ---- building

    def _make_ways(self) -> None:
        self.look_card = WayCard(
            "probe",
            self.tr("See how BERT works"),
            self.tr("Watch it read a sentence, or hide a word yourself and read its guesses."),
            self._pieces(
                self.tr("The children ? playing in the garden. | The +bank by the -river was steep.")
            ),
        )
        self.watch_button = self._way(
            self.look_card, self.tr("Watch BERT read a sentence"), "welcome_watch", "primary"
        )
        self.guess_button = self._way(self.look_card, self.tr("Guess a hidden word"), "welcome_guess")
        self.choose_button = self._way(
            self.look_card, self.tr("Choose a model folder…"), "welcome_choose_model", "primary"
        )
        self.teach_card = WayCard(
            "finetune",
            self.tr("Train a classifier"),
            self.tr("From texts that have labels, such as reviews, it learns to label new ones."),
            self._pieces(self.tr("A warm, clever film → +good | Dull and far too long → -bad")),
        )
        self.reviews_button = self._way(self.teach_card, self.tr("Try film reviews"), "welcome_reviews")
        self.open_button = self._way(self.teach_card, self.tr("Open your own table…"), "welcome_open")
        self.pretrain_card = WayCard(
            "pretrain",
            self.tr("Pretrain a model"),
            self.tr("From plain text alone, in any language, a new BERT learns by guessing hidden words."),
            self._pieces(self.tr("The ? rose over the hills, and | the ? began to ? at last.")),
        )
        self.text_button = self._way(self.pretrain_card, self.tr("Try a sample text"), "welcome_text")
        self.own_text_button = self._way(
            self.pretrain_card, self.tr("Choose your own text"), "welcome_own_text"
        )

    def _way(self, card: WayCard, text: str, name: str, role: str = "") -> QPushButton:
        result = button(text, role, name=name)
        card.add(result)
        return result

    def _pieces(self, text: str) -> list[Piece]:
        """Return the words of a sketch: ? is hidden, + and - stand before those on chips, | ends a line."""
        found = []
        for word in text.split():
            if word == "|":
                found.append((NEW_LINE, ""))
            elif word == "?" or word.startswith("+"):
                found.append((word.removeprefix("+"), "accent_soft"))
            else:
                found.append((word.removeprefix("-"), "b_soft" if word.startswith("-") else ""))
        return found

    def _make_lists(self) -> None:
        self.recent_card = ListCard(self.tr("Recent work"))
        self.samples_card = ListCard(self.tr("Sample data"))
        self.models_card = ListCard(self.tr("Models"))
        self.models_link = button(self.tr("All models"), "link", name="welcome_all_models")
        self.models_link.setToolTip(self.tr("What is on this computer, what it can do, what it is made of"))
        self.models_card.add_link(self.models_link)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setSpacing(GAP)
        lists = (self.recent_card, self.samples_card, self.models_card)
        for column, (way, card) in enumerate(zip(self._ways(), lists, strict=True)):
            grid.addWidget(way, 0, column)
            grid.addWidget(card, 1, column)
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(1, 1)
        self.body.addLayout(grid, 1)
        self.body.addWidget(self._lecture_row())

    def _lecture_row(self) -> QWidget:
        """Return the lectures in the box, in a line; nothing of it in a build without them."""
        result = QWidget()
        result.setObjectName("welcome_lectures")
        links: list[QPushButton] = []
        for place, one in enumerate(shipped.lectures(), start=1):
            link = button(
                words.tr_engine(one.title),
                "link",
                name=f"welcome_lecture_{place}",
                tool_tip=tip(words.tr_engine(one.words)),
            )
            link.clicked.connect(partial(self._show_lecture, one.path))
            links.append(link)
        row(label(self.tr("Lectures"), "card-title"), *links, STRETCH, gap=14, parent=result)
        result.setVisible(bool(links))
        return result

    def _show_lecture(self, path: Path, _checked: bool = False) -> None:
        self.lecture_wanted.emit(path)

    def _ways(self) -> tuple[WayCard, ...]:
        return self.look_card, self.teach_card, self.pretrain_card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for way in self._ways():
            way.sketch.setVisible(event.size().height() >= TALL)

    def _connect(self) -> None:
        session = self.session
        self.tour_button.clicked.connect(self.tour_wanted)
        self.guess_button.clicked.connect(self._guess)
        self.watch_button.clicked.connect(self._watch)
        self.choose_button.clicked.connect(self._choose_model)
        self.reviews_button.clicked.connect(self._try_reviews)
        self.open_button.clicked.connect(self.open_wanted)
        self.text_button.clicked.connect(self._try_text)
        self.own_text_button.clicked.connect(partial(session.show_page, "pretrain", RunPageState()))
        self.models_link.clicked.connect(partial(session.show_page, "models"))
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
        samples = {str(sample.path) for sample in shipped.samples()} | {str(sample_data_path())}
        wanted = LookPlaces(
            runs_root=self.session.runs.root,
            tables=tuple(path for path in settings.recent_files if path not in samples),
            kept_run=shipped.history_run(),
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
        library, starter = self.session.library, shipped.starter_model()
        whole = [entry.path for entry in library.offered() if entry.inventory is not None]
        guesses = [entry.path for entry in library.offered(MASKED_WORDS)]
        return starter or next(iter([*guesses, *whole]), None)

    def _show(self) -> None:
        subject = self._subject()
        missing = self.tr("The starter model is missing from this installation.")
        lecture, starter = self._first_lecture, shipped.starter_model()
        self.watch_button.setVisible(lecture is not None and starter is not None)  # of which it tells
        if lecture is not None:
            self.watch_button.setToolTip(tip(words.tr_engine(lecture.words)))
        set_role(self.guess_button, "" if self.watch_button.isVisibleTo(self) else "primary")
        self.guess_button.setVisible(subject is not None)
        self.choose_button.setVisible(subject is None)
        remark = ""
        if subject is None:
            remark = self.tr("{missing} Choose a model folder, or pretrain one.").format(missing=missing)
        elif shipped.starter_model() is None:
            name = words.shorten(model_title(subject), LONGEST_NAME)
            remark = self.tr("{missing} In its place: {name}.").format(missing=missing, name=name)
        self.look_card.set_remark(remark)
        self._show_recent()
        self._show_samples()
        self._show_models()

    def _show_recent(self) -> None:
        found = self._found
        runs = [self._run_entry(place, run) for place, run in enumerate(found.runs, start=1)]
        tables = [self._table_entry(place, path) for place, path in enumerate(found.tables, start=1)]
        empty = self.tr("Nothing yet. Models you train and tables you open are kept here, to continue with.")
        if found.problem is not None:
            empty = words.say(found.problem)
        self.recent_card.list.set_entries([*runs, *tables], empty)
        hint = self.tr("{count} runs").format(count=words.number(found.num_runs))
        if found.problem is not None and (runs or tables):  # the whole sentence where the mouse rests
            self.recent_card.set_hint(self.tr("Not all can be read"))
            self.recent_card.hint_label.setToolTip(tip(empty))
            return
        self.recent_card.hint_label.setToolTip("")
        self.recent_card.set_hint(hint if found.num_runs > len(runs) else "")

    def _run_entry(self, place: int, run: FoundRun) -> ListEntry:
        return ListEntry(
            name=f"welcome_run_{place}",
            title=words.shorten(run.name, LONGEST_NAME),
            detail=run_words(run),
            icon=run.page,
            tooltip=words.say(run.info.problem)
            if run.info.problem is not None
            else QDir.toNativeSeparators(str(run.info.path)),
            call=partial(self._open_run, run),
            level="wrong" if run.info.problem is not None else LEVELS.get(run.info.state, ""),
        )

    def _table_entry(self, place: int, path: Path) -> ListEntry:
        return ListEntry(
            name=f"welcome_table_{place}",
            title=words.shorten(path.name, LONGEST_NAME),
            detail=self.tr("Table in {folder}").format(folder=path.parent.name or path.anchor),
            icon="data",
            tooltip=QDir.toNativeSeparators(str(path)),
            call=partial(self._open_table, path),
        )

    def _show_samples(self) -> None:
        entries = [
            ListEntry(
                name=f"welcome_sample_{sample.key}",
                title=words.tr_engine(sample.title),
                detail=CLAUSE.split(words.tr_engine(sample.words))[0],
                icon="data",
                tooltip=f"{words.tr_engine(sample.words)} ({sample.licence})",
                call=partial(self._open_sample, sample),
            )
            for sample in shipped.samples()
        ]
        sentences = ListEntry(
            name="welcome_sentences",
            title=self.tr("Sentences to look at"),
            detail=self.tr("{count} sentences and pairs").format(
                count=words.number(len(shipped.sample_sentences()))
            ),
            icon="probe",
            tooltip=self.tr("Choose one; Masked words or Attention opens with it"),
            call=self._offer_sentences,
        )
        run = self._found.kept_run
        self.samples_card.list.set_entries([*entries, *([self._example_run(run)] if run else []), sentences])

    def _example_run(self, run: FoundRun) -> ListEntry:
        return ListEntry(
            name="welcome_example_run",
            title=words.shorten(run.name, LONGEST_NAME),
            detail=self.tr("Its pretraining: loss, pinned sentences"),
            icon="pretrain",
            tooltip=self.tr(
                "How a tiny model learned from Wikipedia, from its first step to its last. The "
                "form keeps your own settings, for its training text does not ship with Cloze."
            ),
            call=partial(self._open_run, run),
        )

    def _show_models(self) -> None:
        library = self.session.library
        models = [model for model in library.offered() if model.is_read][:MOST_MODELS]
        names = {shipped.starter_model(): "welcome_starter", _result(shipped.history_run()): "welcome_kept"}
        entries: list[ListEntry] = []
        for model in models:
            own = len(entries) - sum(entry.name in names.values() for entry in entries) + 1
            entries.append(self._model_entry(names.get(model.path, f"welcome_model_{own}"), model))
        self.models_card.list.set_entries(entries, self.tr("Models that you train or open appear here."))

    def _model_entry(self, name: str, model: ModelEntry) -> ListEntry:
        is_kept = name == "welcome_kept"
        detail = entry_words(model) if model.problem is None else words.say_error(model.problem)
        if is_kept and model.inventory is not None and self._found.num_kept:
            moments = self.tr("{count} moments of its training")
            detail = PART.join(
                (
                    shape_words(model.inventory.config),
                    moments.format(count=words.number(self._found.num_kept)),
                )
            )
        return ListEntry(
            name=name,
            title=words.shorten(model.title, LONGEST_NAME),
            detail=detail,
            icon="history" if is_kept else _page_of(model),
            tooltip=QDir.toNativeSeparators(str(model.path)),
            call=partial(self._open_model, model),
            level="" if model.problem is None else "wrong",
        )

    # ---- ways in

    def _look(self, folder: Path, text: str, pair: str, page: str) -> None:
        """Open a model and a text on a page that looks inside."""
        self.inspector.set_text(text, pair)
        if folder != self.inspector.folder:
            self.inspector.choose(folder)
        self.session.show_page(page)

    def _guess(self) -> None:
        subject = self._subject()
        if subject is not None:
            self._look(subject, HIDDEN_WORD, "", "probe")

    def _watch(self) -> None:
        if self._first_lecture is not None:
            self.lecture_wanted.emit(self._first_lecture.path)

    def _choose_model(self) -> None:
        self.question.ask()

    def _model_chosen(self, folder: str) -> None:
        self._look(Path(folder), HIDDEN_WORD, "", "probe")

    def _refuse_model(self, error: UserError) -> None:
        self.look_card.set_remark(words.say_error(error))

    def _try_reviews(self) -> None:
        """Open the sample with the starter model, ready to be trained."""
        session, starter = self.session, shipped.starter_model()
        sample = next((one for one in shipped.samples() if one.key == POLARITY), None)
        if sample is None:
            session.data.open(sample_data_path())
        else:
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

    def _open_table(self, path: Path, _checked: bool = False) -> None:
        self.session.data.open(path)
        self.session.show_page("data")

    def _open_sample(self, sample: shipped.ShippedTable, _checked: bool = False) -> None:
        self.session.data.open(sample.path, roles=sample.roles)
        self.session.show_page("data")

    def _open_model(self, model: ModelEntry, _checked: bool = False) -> None:
        self._look(model.path, self.inspector.text, self.inspector.text_pair, _page_of(model))

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


def _page_of(model: ModelEntry) -> str:
    """Return the page that shows most of a model: one that guesses no words still attends."""
    return "probe" if model.fits(MASKED_WORDS) else "attention"


def _result(run: Path | None) -> Path | None:
    return None if run is None else run / MODEL
