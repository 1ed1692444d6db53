"""The Family page: one question on top, eight members in columns below, the oldest left.

What is shown answers what is asked: it goes where the question is another kind's, another family's or is
refused. The sentence stays when the tab changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app import words
from app.look.banner import Banner
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.files import ask_files
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import PART, WholeLabel, label, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, Card, EmptyState, Page, Pane, button, named, set_role
from app.pages.family import kept
from app.pages.family.action import Action
from app.pages.family.answers import claims_text, columns_of, labels_of
from app.pages.family.examples import BLANKS, FIRST, SECOND, WORDS, sentences_of
from app.pages.family.learning import Learning
from app.pages.family.requests import (
    ANALOGY,
    CLAIMS,
    FILES,
    FILL,
    FOLLOWS,
    NEAREST,
    RESULTS,
    SENSES,
    TASK,
    WRITE,
    Found,
    OpenFamilies,
    Question,
    Told,
    ask,
    families,
)
from app.pages.family.tabs import KindTabs
from app.pages.family.train_dialog import TrainDialog
from app.plots.family_columns import FamilyColumns
from app.plots.figure import Figure
from app.plots.member_column import Labels
from app.session import Session
from app.work.page_state import PageState
from app.work.worker import Channel
from engine.commands.family import ask_command
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.family.members import ABOUT
from engine.settings.family import FamilyConfig

KINDS = (FILL, WRITE, NEAREST, SENSES, ANALOGY, FILES, FOLLOWS, TASK, RESULTS, CLAIMS)
WITHOUT_WORDS = (FILES, TASK, RESULTS, CLAIMS)  # kinds that ask no sentence
GAP_WORD = "____"  # what stands for [MASK] in the question
PAUSE_MS = 350  # of typing, after which a question is asked
PATIENCE_MS = 500  # after which it is said that an answer takes a while
BOX = 300  # px


class FamilyPage(Page):
    """Tabs of questions; the question; the columns, or the claims."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("family_page")
        self.header.title_label.setText(self.tr("Family"))
        self.header.set_sentence(
            self.tr("One question to several generations of language models, all trained on the same text.")
        )
        self.session, self._opened = session, OpenFamilies()
        self.told: Told | None = None  # what is shown
        self.kind = FILL
        self._to_show: PageState | None = None  # until it is known which families there are
        self._row = ("", "", "")  # that a scene wants to be seen, and of which kind and question
        self._is_found = False
        self._is_chinese = False  # what the questions are in
        self._texts = dict(FIRST[False])
        self._files: dict[str, tuple[Path, ...]] = {FILES: (), CLAIMS: ()}  # that are asked from
        self._tuned: tuple[Path, int] | None = None  # the family and table that are fine-tuned
        self._done: tuple[Hashable, Told] | None = None  # what took long, kept
        self._found = Channel(self, session.workers.files)
        self._asked = Channel(self, session.workers.models)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.ask)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._say_waiting)
        self._make()
        self._lay_out()
        self._connect()
        self.choose_tab(0)

    def _make(self) -> None:
        self.copy_button = CopyCommandButton()
        self.copy_button.setObjectName("copy_family_command")
        self.save_button = button(self.tr("Save figure…"), icon="save", name="family_save")
        self.train_button = button(self.tr("Train a family…"), name="family_train")
        for action in (self.copy_button, self.save_button, self.train_button):
            self.header.add_action(action)
        self.tabs = KindTabs()
        self.box = ChoiceBox("family_box", self.tr("Family"))
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setFixedWidth(BOX)
        self.question_label = label(self.tr("Question"), "card-title")
        self.question = named(LineEdit(), "family_question", self.tr("Question"))
        self.answer_label = label(self.tr("Answer"), "muted")
        self.answer = named(LineEdit(BLANKS[False][0][1]), "family_answer", self.tr("Answer"))
        self.answer.setFixedWidth(120)
        self.second_label = label(self.tr("Then"), "muted")
        self.second = named(LineEdit(SECOND[False]), "family_second", self.tr("Second sentence"))
        self.action = Action()
        self.examples = button(self.tr("Examples"), "link", name="family_examples")
        self.sentences = named(TextEdit(), "family_sentences", self.tr("Sentences"))
        self.sentences.setPlainText(sentences_of(FIRST[False][SENSES], False))
        self.sentences.setToolTip(tip(self.tr("An empty line begins another sense of the word.")))
        self.sentences.setTabChangesFocus(True)
        self.sentences.setFixedHeight(92)
        self.banner = Banner(name="family_banner")
        self.columns = named(FamilyColumns(self.tr("Family")), "family_columns")
        self.columns.hint = self.tr("Click to put it into the blank")
        self.claims = WholeLabel()
        self.claims.setObjectName("family_claims")
        self.learning = Learning()
        self.progress = label("", "muted", name="family_progress")
        self.empty = EmptyState("", self.tr("Train a family…"))
        self.empty.setObjectName("family_empty")

    def _lay_out(self) -> None:
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        set_role(self.columns, "clear")
        self.area.setWidget(self.columns)
        self.card = Card()
        asked = row(
            self.question_label, (self.question, 1), self.answer_label, self.answer, self.second_label,
            (self.second, 1), self.examples, gap=10,
        )  # fmt: skip
        self.card.add_layout(asked)
        self.card.add(self.action)
        self.card.add(self.sentences)
        self.card.add(self.banner)
        self.answers = QStackedWidget()
        inner = QWidget()
        column(self.claims, STRETCH, parent=inner)
        self.answers.addWidget(self.area)
        self.answers.addWidget(Pane(inner))
        self.card.add(self.answers, 1)
        self.card.add(self.learning)
        work = QWidget()
        self.head = row((self.tabs, 1), self.box, gap=GAP)
        column(self.head, (self.card, 1), gap=GAP, parent=work)
        self.views = QStackedWidget()
        self.views.addWidget(self.empty)
        self.views.addWidget(work)
        self.views.setCurrentIndex(1)  # until it is known that there is no family
        self.body.addWidget(self.progress)
        self.body.addWidget(self.views, 1)
        self.progress.hide()

    def _connect(self) -> None:
        self.area.horizontalScrollBar().valueChanged.connect(self.columns.set_shift)
        self.area.verticalScrollBar().valueChanged.connect(self.columns.scrolled)
        self.tabs.currentChanged.connect(self.choose_tab)
        self.box.chosen.connect(self._choose_family)
        for line in (self.question, self.answer, self.second):
            line.textEdited.connect(self._pause.start)
            line.returnPressed.connect(self.ask)
        self.sentences.textChanged.connect(self._pause.start)
        self.columns.entry_chosen.connect(self.take_word)
        self.action.wanted.connect(self._act)
        self.action.stopped.connect(self.stop)
        self.copy_button.clicked.connect(self.copy_command)
        self.save_button.clicked.connect(self.columns.save_picture)
        self.train_button.clicked.connect(self.open_dialog)
        self.empty.activated.connect(self.open_dialog)
        self.examples.clicked.connect(self._offer_examples)
        self.session.training.heard.connect(self._show_progress)
        self.session.training.ended.connect(self._training_ended)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room, ways = self.body.contentsRect().width(), QBoxLayout.Direction
        beside = self.tabs.fit(room - BOX - GAP)  # the tabs are never cut: else the box goes below them
        if not beside:
            self.tabs.fit(room)
        self.head.setDirection(ways.LeftToRight if beside else ways.TopToBottom)
        self.learning.fit(event.size().height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def set_bare(self, bare: bool) -> None:
        super().set_bare(bare)
        self.box.setVisible(not bare)  # a scene has one family; its room is needed

    # which family

    @Slot()
    def refresh(self) -> None:
        """Look which families there are, and ask the chosen one."""
        root = self.session.runs.root
        self._found.ask(object(), partial(families, root), heard=self._show_families)
        self._patience.start()
        self._show_progress()

    def _show_families(self, found: tuple[Found, ...]) -> None:
        before: Path | None = self.box.currentData()
        self.box.clear()
        for one in found:
            where = self.tr("In the box") if one.is_shipped else one.path.name
            minutes = self.tr("{minutes} min each").format(minutes=f"{one.minutes:.3g}")
            said = PART.join([where, one.text, *([minutes] if one.minutes else [])])
            self.box.add_choice(said, one.path, one.path)
        self._chinese = {one.path: one.is_chinese for one in found}
        places = [one.path for one in found]
        if before is not None and before not in places and before.is_dir():  # it lies elsewhere
            self.box.add_choice(before.name, before, before)
            places.append(before)
        if before in places:
            self.box.setCurrentIndex(places.index(before))
        self.empty.set_text(
            self.tr(
                "No family is trained yet. Eight models learn from one text of yours, one after the other."
            )
        )
        if not self._is_found:
            self.banner.hide()  # that families are looked for
        self._is_found = True
        self.views.setCurrentIndex(1 if places else 0)
        self._choose_family(self.box.currentData())
        self._take_state()

    @Slot(object)
    def _choose_family(self, folder: Path | None) -> None:
        is_chinese = self._chinese.get(folder, False) if folder is not None else self._is_chinese
        if is_chinese != self._is_chinese:
            self._speak(is_chinese)
        self.ask()

    def _speak(self, is_chinese: bool) -> None:
        """Put the questions that nobody has changed into the language of the family."""
        before, now = FIRST[self._is_chinese], FIRST[is_chinese]
        texts = {**self._texts, self.kind: self.question.text()}
        if texts[FILL] == before[FILL]:
            self.answer.setText(BLANKS[is_chinese][0][1])
        if self.second.text() == SECOND[self._is_chinese]:
            self.second.setText(SECOND[is_chinese])
        if texts[SENSES] == before[SENSES]:
            self.sentences.setPlainText(sentences_of(now[SENSES], is_chinese))
        for kind, text in before.items():
            if texts.get(kind) == text:
                self._texts[kind] = now[kind]
        self._is_chinese = is_chinese
        self.question.setText(self._texts.get(self.kind, ""))

    # the question

    @Slot(int)
    def choose_tab(self, place: int) -> None:
        """Show another kind of question; each keeps its own words."""
        self._texts[self.kind] = self.question.text() or self._texts.get(self.kind, "")
        self.kind = KINDS[place]
        shown = {
            FILL: (self.answer_label, self.answer, self.examples),
            SENSES: (self.sentences, self.examples),
            FOLLOWS: (self.second_label, self.second),
        }
        for widget in {one for some in shown.values() for one in some}:
            widget.setVisible(widget in shown.get(self.kind, ()))
        for widget in (self.question_label, self.question):
            widget.setVisible(self.kind not in WITHOUT_WORDS)
        self.copy_button.setVisible(self.kind not in (TASK, CLAIMS))
        self.save_button.setVisible(self.kind != CLAIMS)
        said = {
            WRITE: self.tr("Beginning"),
            NEAREST: self.tr("Word"),
            SENSES: self.tr("Word"),
            ANALOGY: self.tr("A is to B as C is to"),
            FOLLOWS: self.tr("First"),
        }
        self.question_label.setText(said.get(self.kind, self.tr("Question")))
        self.question.setText(self._texts.get(self.kind, ""))
        self.columns.hint = self.tr("Click to put it into the blank") if self.kind == FILL else ""
        self.answers.setCurrentIndex(1 if self.kind == CLAIMS else 0)
        self._forget()
        self.ask()

    @property
    def asked(self) -> Question | None:
        """What is to be asked now, None without a family."""
        folder = self.box.currentData()
        if folder is None:
            return None
        text = self.question.text().replace(GAP_WORD, " [MASK] ").strip()
        if self.kind == TASK:
            table, roles = self.session.data.table, self.session.data.roles
            return Question(folder, TASK, "", table=table, roles=roles, fine_tune=self._is_tuned(folder))
        if self.kind in WITHOUT_WORDS:
            return Question(folder, self.kind, "", files=self._files.get(self.kind, ()))
        answers = {FILL: self.answer.text().strip().lower(), FOLLOWS: self.second.text().strip()}
        texts = self.sentences.toPlainText() if self.kind == SENSES else ""
        return Question(folder, self.kind, text, answers.get(self.kind, ""), texts)

    def _is_tuned(self, folder: Path) -> bool:
        return self._tuned == (folder, id(self.session.data.table))

    @Slot()
    def ask(self) -> None:
        """Put the question to the family."""
        self._pause.stop()
        question = self.asked
        if question is None or not self.isVisible():
            return
        if not self._can_be_asked(question):
            self._forget()
            return
        if self.told is not None and self.told.question.folder != question.folder:
            self._forget()
        about = (
            *(question.folder, question.kind, question.text, question.answer, question.texts),
            *(question.files, question.fine_tune, id(question.table), str(question.roles)),
        )
        if self._done is not None and self._done[0] == about:
            self._asked.drop()
            self._hear(self._done[1])
            self._show_action()
            return
        self._asked.ask(
            about,
            partial(ask, self._opened, question),
            heard=partial(self._hear_of, about),
            refused=self._refuse,
            progress=self._wait if question.kind in (TASK, FILES, CLAIMS) else None,
            ended=self._show_action,
        )
        self._patience.start()
        self._show_action()

    @Slot()
    def _say_waiting(self) -> None:
        """Say that something is under way where nothing is to be seen yet."""
        if not self._is_found or (self._asked.is_asking and self.told is None and self.banner.isHidden()):
            self.banner.show_text("note", self.tr("The family is being opened and asked…"), closable=False)

    def _forget(self) -> None:
        """Show no answer, and let the same be asked again."""
        self._asked.drop()
        self.told = None
        self.columns.set_columns((), Labels())
        self.claims.setText("")
        self.learning.hide()
        self._show_action()

    def _can_be_asked(self, question: Question) -> bool:
        """Whether there is what the question is about; else say what is missing."""
        if question.kind == FILES and not question.files:
            self.banner.hide()
            return False
        has_labels = question.roles is not None and bool(question.roles.label)
        if question.kind != TASK or (question.table is not None and has_labels):
            return True
        said = self.tr("Open a table with texts and labels on the page Data first.")
        lead = partial(self.session.page_requested.emit, "data")
        self.banner.show_text("look", said, [(self.tr("Open a table"), lead)], closable=False)
        return False

    # what is shown, kept and shown again

    def page_state(self) -> PageState:
        """Return what the page shows. Raises: UserError: there is nothing yet, or it is of a table."""
        folder = self.box.currentData()
        if folder is None:
            raise UserError(marked("engine", "There is no family to ask yet. Train one first."))
        return PageState(kept.values_of(self), {kept.FAMILY: folder})

    def show_state(self, state: PageState) -> None:
        """Show what was kept, once families are known. Raises: UserError: it is not what this page keeps."""
        kept.read(state, KINDS)
        self._to_show = state
        self._take_state()

    @property
    def is_state_shown(self) -> bool:
        """Whether what was to be shown has been taken up."""
        return self._to_show is None

    def has_files(self, kind: str) -> bool:
        """Whether the open question is of this kind and asked from files."""
        return self.kind == kind and bool(self._files.get(kind))

    def figures_shown(self) -> tuple[Figure, ...]:
        """Return the pictures that say what the page shows; none where it is told in words."""
        found = (self.columns, *self.learning.findChildren(Figure))
        return tuple(one for one in found if one.isVisible() and not one.is_empty)

    def _take_state(self) -> None:
        state = self._to_show
        if state is None or not self.isVisible() or not self._is_found:
            return
        self._to_show = None
        folder, found = state.models[kept.FAMILY], kept.read(state, KINDS)
        places = [self.box.itemData(place) for place in range(self.box.count())]
        if folder not in places:
            self.box.add_choice(folder.name, folder, folder)
            places.append(folder)
        self.box.setCurrentIndex(places.index(folder))
        self.views.setCurrentIndex(1)
        self._choose_family(folder)
        self._texts[found.kind] = found.question
        self._row = found.row, found.kind, found.question
        if found.kind == CLAIMS:
            self._files[CLAIMS] = ()
        if found.kind == self.kind:
            self.question.setText(found.question)
        for line, text, kind in ((self.answer, found.answer, FILL), (self.second, found.second, FOLLOWS)):
            if found.kind == kind:
                line.setText(text)
        if found.kind == SENSES:
            with QSignalBlocker(self.sentences):
                self.sentences.setPlainText(found.sentences)
        self.tabs.setCurrentIndex(KINDS.index(found.kind))
        self.ask()
        QTimer.singleShot(0, self, self._reveal_row)  # of an answer that is there already

    # what takes long

    @Slot()
    def _show_action(self) -> None:
        """Say what can be done beside the question now."""
        is_missing = self.kind == TASK and not self.banner.isHidden() and not self._asked.is_asking
        table = "" if self.session.data.table is None or is_missing else self.session.data.table.path.name
        self.action.show_of(self.kind, self.told, table, is_busy=self._asked.is_asking)

    @Slot()
    def _act(self) -> None:
        if self.kind == TASK:
            if self.told is not None and self.told.question.kind == TASK:
                self._tuned = (self.box.currentData(), id(self.session.data.table))
            self.ask()
        else:
            title = self.tr("Questions about words") if self.kind == FILES else self.tr("Pairs of sentences")
            ask_files(self, title, partial(self.take_files, self.kind), name="family_files_dialog")

    @Slot()
    def stop(self) -> None:
        """Stop what takes long; what was found stays."""
        self._asked.drop()
        self._tuned = None
        self.banner.hide()
        self._show_action()

    def take_files(self, kind: str, files: list[str]) -> None:
        """Ask from files: of words all of them, of sentences the first."""
        paths = tuple(map(Path, files))
        self._files[kind] = paths if kind == FILES else paths[:1]
        self.ask()

    def _hear_of(self, about: Hashable, told: Told) -> None:
        is_whole = told.fine_tuned is None or len(told.fine_tuned) == len(told.names)
        if told.question.kind in (TASK, FILES) and is_whole and len(told.rows) == len(told.question.files):
            self._done = about, told
        self._hear(told)

    def _wait(self, event: Event) -> None:
        if isinstance(event, Progress):
            done = words.share(event.done / max(1, event.total), 0)
            self.banner.show_text(
                "note", self.tr("The family learns from your table: {share}").format(share=done)
            )

    def _hear(self, told: Told) -> None:
        self.told = told
        if not self._asked.is_asking or told.fine_tuned is None:
            self.banner.hide()
        if told.question.kind == CLAIMS:
            self.claims.setText(claims_text(told.report))
            return
        if told.question.kind == RESULTS:
            self.learning.set_report(told.report)
            self.learning.show()
        lines = [
            (self.tr("Family"), told.question.folder.name),
            (self.tr("Trained on"), ", ".join(map(str, told.report.get("text", ())))),
            (self.tr("Minutes each"), f"{told.report.get('minutes', 0.0):.3g}"),
        ]
        for figure in self.learning.findChildren(Figure):
            figure.set_caption(lines)
        asked = [(self.tr("Question"), told.question.text), (self.tr("Answer"), told.question.answer)]
        self.columns.set_caption([*lines, *(line for line in asked if line[1])])
        self.columns.set_columns(columns_of(told), labels_of(told))
        QTimer.singleShot(0, self, self._reveal_row)  # once there is room for the columns

    @Slot()
    def _reveal_row(self) -> None:
        """Move the columns up until a scene's row is seen."""
        if self._wanted_row:
            over = self.columns.end_of(self._wanted_row) - self.area.viewport().height()
            self.area.verticalScrollBar().setValue(max(0, over))

    @property
    def _wanted_row(self) -> str:
        row, *of = self._row
        return row if of == [self.kind, self.question.text()] else ""

    def last_row(self) -> str:
        """Return the last row that is seen where the columns are moved up, else the one of a scene."""
        top = self.area.verticalScrollBar().value()
        return self.columns.row_above(top + self.area.viewport().height()) if top else self._wanted_row

    def _refuse(self, error: BaseException) -> None:
        self.banner.show_text("look", words.say_error(error))
        if self.kind in self._files:  # what cannot be read is not asked again
            self._files[self.kind] = ()
        self._forget()

    @Slot(str)
    def take_word(self, word: str) -> None:
        """Put a guess into the blank; the sentence then ends with the next one."""
        if self.kind != FILL:
            return
        text = self.question.text()
        gap = GAP_WORD if GAP_WORD in text else "[MASK]"
        filled = text.replace(gap, word, 1)
        if GAP_WORD not in filled and "[MASK]" not in filled:
            tokens = filled.split(" ")
            after = next((n + 1 for n, token in enumerate(tokens) if token.strip(".,;") == word), len(tokens))
            if after < len(tokens):
                tail = tokens[after][len(tokens[after].rstrip(".,;")) :]
                tokens[after] = GAP_WORD + tail
            else:
                tokens.append(GAP_WORD)
            filled = " ".join(tokens)
        self.question.setText(filled)
        self.answer.clear()
        self.ask()

    @Slot()
    def _offer_examples(self) -> None:
        menu = QMenu(self)
        if self.kind == SENSES:
            for word in WORDS[self._is_chinese]:
                menu.addAction(word, partial(self.take_sentences, word))
        else:
            for text, answer in BLANKS[self._is_chinese]:
                menu.addAction(text, partial(self.take_example, text, answer))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.examples.mapToGlobal(self.examples.rect().bottomLeft()))

    def take_example(self, text: str, answer: str) -> None:
        """Ask an example."""
        self.question.setText(text)
        self.answer.setText(answer)
        self.ask()

    def take_sentences(self, word: str) -> None:
        """Ask a word with the sentences that are there for it."""
        self.question.setText(word)
        self.sentences.setPlainText(sentences_of(word, self._is_chinese))
        self.ask()

    @Slot()
    def copy_command(self) -> None:
        """Copy the line that asks the same in a terminal."""
        question = self.asked
        if question is not None:
            self.copy_button.copy(
                ask_command(
                    *(question.folder, question.kind, question.text, question.answer),
                    texts=question.texts.splitlines(),
                    files=question.files,
                )
            )

    # training

    @Slot()
    def open_dialog(self) -> None:
        """Ask which family to train."""
        dialog = TrainDialog(self)
        dialog.wanted.connect(self.train)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(object)
    def train(self, config: FamilyConfig) -> None:
        """Train a family, in the window's one training."""
        try:
            self.session.training.start(config)
        except UserError as error:
            self._say_above(error)
        self._show_progress()

    def _say_above(self, error: BaseException) -> None:
        self.progress.setText(words.say_error(error))
        self.progress.show()

    @Slot()
    def _show_progress(self) -> None:
        is_ours = self.session.training.is_running and isinstance(self.session.training.config, FamilyConfig)
        self.train_button.setEnabled(not self.session.training.is_running)
        if not is_ours:
            return
        state = self.session.training.state
        started = state.started
        name = started.run_dir.name if started is not None else ""
        said = ABOUT[name].said if name in ABOUT else self.tr("The text is prepared")
        template = self.tr("{member} learns: {share}. The status bar stops it; what is learned is kept.")
        self.progress.setText(template.format(member=said, share=words.share(state.share, 0)))
        self.progress.show()

    @Slot()
    def _training_ended(self) -> None:
        self.train_button.setEnabled(True)
        if not isinstance(self.session.training.config, FamilyConfig):
            return
        error = self.session.training.state.error
        if error is not None:
            self._say_above(error)
        else:
            self.progress.hide()
        self.refresh()
