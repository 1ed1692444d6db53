"""The Family page: one question on top, eight members in columns below, the oldest left.

An answer to an older question is never shown; the sentence stays when the tab changes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QWidget,
)

from app import words
from app.look.banner import Banner
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.labels import PART, WholeLabel, label
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, Card, EmptyState, Page, Pane, button, named, set_role
from app.pages.family.answers import columns_of, labels_of
from app.pages.family.requests import (
    ANALOGY,
    CLAIMS,
    FILL,
    NEAREST,
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
from app.pages.family.train_dialog import TrainDialog
from app.plots.family_columns import FamilyColumns, Labels
from app.session import Session
from app.work.worker import Channel
from engine.commands.family import ask_command
from engine.errors import UserError
from engine.events import Event, Progress
from engine.family.card import INFORMED
from engine.family.members import ABOUT
from engine.settings.family import FamilyConfig

KINDS = (FILL, WRITE, NEAREST, SENSES, ANALOGY, TASK, CLAIMS)
GAP_WORD = "____"  # what stands for [MASK] in the question
PAUSE_MS = 350  # of typing, after which a question is asked
BOX, NARROW_BOX = 300, 180  # px
NARROW = 900  # px of the page
EXAMPLES = (
    ("The ____ flows into the sea.", "river"),
    ("He was born in ____ and moved to London.", "england"),
    ("She is the ____ of the king.", "queen"),
    ("The capital of France is ____.", "paris"),
)
FIRST = {WRITE: "The city is", NEAREST: "river", SENSES: "bank", ANALOGY: "man king woman"}
SENTENCES = (
    "The bank of the river was covered with trees.",
    "The boat came to the bank of the river.",
    "The bank gave money to the company.",
    "The national bank of the country was founded in 1900.",
)


class FamilyPage(Page):
    """Tabs of questions; the question; the columns, or the claims."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("family_page")
        self.header.title_label.setText(self.tr("Family"))
        self.header.set_sentence(
            self.tr("One question to eight models, from counting to BERT, all trained on the same text.")
        )
        self.session, self._opened = session, OpenFamilies()
        self.told: Told | None = None  # an old answer stays until a new one comes
        self.kind = FILL
        self._texts = {FILL: EXAMPLES[0][0], **FIRST}
        self._found = Channel(self, session.workers.files)
        self._asked = Channel(self, session.workers.models)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.ask)
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
        self.tabs = named(
            QTabBar(drawBase=False, expanding=False), "family_tabs", self.tr("Kind of question")
        )
        for text in (
            self.tr("Fill the blank"),
            self.tr("Go on writing"),
            self.tr("Nearest words"),
            self.tr("A word in sentences"),
            self.tr("Analogies"),
            self.tr("Same task"),
            self.tr("Claims"),
        ):
            self.tabs.addTab(text)
        self.box = ChoiceBox("family_box", self.tr("Family"))
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setFixedWidth(BOX)
        self.question_label = label(self.tr("Question"), "card-title")
        self.question = named(QLineEdit(), "family_question", self.tr("Question"))
        self.answer_label = label(self.tr("Answer"), "muted")
        self.answer = named(QLineEdit(EXAMPLES[0][1]), "family_answer", self.tr("Answer"))
        self.answer.setFixedWidth(120)
        self.examples = button(self.tr("Examples"), "link", name="family_examples")
        self.sentences = named(QPlainTextEdit("\n".join(SENTENCES)), "family_sentences", self.tr("Sentences"))
        self.sentences.setTabChangesFocus(True)
        self.sentences.setFixedHeight(92)
        self.banner = Banner(name="family_banner")
        self.columns = named(FamilyColumns(self.tr("Family")), "family_columns")
        self.columns.hint = self.tr("Click to put it into the blank")
        self.claims = WholeLabel()
        self.claims.setObjectName("family_claims")
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
            self.question_label, (self.question, 1), self.answer_label, self.answer, self.examples, gap=10
        )
        self.card.add_layout(asked)
        self.card.add(self.sentences)
        self.card.add(self.banner)
        self.answers = QStackedWidget()
        inner = QWidget()
        column(self.claims, STRETCH, parent=inner)
        self.answers.addWidget(self.area)
        self.answers.addWidget(Pane(inner))
        self.card.add(self.answers, 1)
        work = QWidget()
        column(row((self.tabs, 1), self.box, gap=GAP), (self.card, 1), gap=GAP, parent=work)
        self.views = QStackedWidget()
        self.views.addWidget(self.empty)
        self.views.addWidget(work)
        self.body.addWidget(self.progress)
        self.body.addWidget(self.views, 1)
        self.progress.hide()

    def _connect(self) -> None:
        self.area.horizontalScrollBar().valueChanged.connect(self.columns.set_shift)
        self.tabs.currentChanged.connect(self.choose_tab)
        self.box.chosen.connect(self._choose_family)
        for line in (self.question, self.answer):
            line.textEdited.connect(self._pause.start)
            line.returnPressed.connect(self.ask)
        self.sentences.textChanged.connect(self._pause.start)
        self.columns.entry_chosen.connect(self.take_word)
        self.copy_button.clicked.connect(self.copy_command)
        self.save_button.clicked.connect(self.columns.save_picture)
        self.train_button.clicked.connect(self.open_dialog)
        self.empty.activated.connect(self.open_dialog)
        self.examples.clicked.connect(self._offer_examples)
        self.session.training_heard.connect(self._show_progress)
        self.session.training_ended.connect(self._training_ended)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.box.setFixedWidth(BOX if event.size().width() >= NARROW else NARROW_BOX)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    # which family

    @Slot()
    def refresh(self) -> None:
        """Look which families there are, and ask the chosen one."""
        root = self.session.runs_root
        self._found.ask(object(), partial(families, root), heard=self._show_families)
        self._show_progress()

    def _show_families(self, found: tuple[Found, ...]) -> None:
        before: Path | None = self.box.currentData()
        self.box.clear()
        for one in found:
            where = self.tr("In the box") if one.is_shipped else one.path.name
            minutes = self.tr("{minutes} min each").format(minutes=f"{one.minutes:.3g}")
            said = PART.join([where, one.text, *([minutes] if one.minutes else [])])
            self.box.add_choice(said, one.path, one.path)
        places = [one.path for one in found]
        if before in places:
            self.box.setCurrentIndex(places.index(before))
        self.empty.set_text(
            self.tr(
                "No family is trained yet. Eight models learn from one text of yours, one after the other."
            )
        )
        self.views.setCurrentIndex(1 if found else 0)
        self.ask()

    @Slot(object)
    def _choose_family(self, _folder: Path) -> None:
        self.ask()

    # the question

    @Slot(int)
    def choose_tab(self, place: int) -> None:
        """Show another kind of question; each keeps its own words."""
        self._texts[self.kind] = self.question.text() or self._texts.get(self.kind, "")
        self.kind = KINDS[place]
        is_fill = self.kind == FILL
        for widget in (self.answer_label, self.answer, self.examples):
            widget.setVisible(is_fill)
        self.sentences.setVisible(self.kind == SENSES)
        for widget in (self.question_label, self.question, self.copy_button):
            widget.setVisible(self.kind not in (CLAIMS, TASK))
        self.save_button.setVisible(self.kind != CLAIMS)
        said = {
            WRITE: self.tr("Beginning"),
            NEAREST: self.tr("Word"),
            SENSES: self.tr("Word"),
            ANALOGY: self.tr("A is to B as C is to"),
        }
        self.question_label.setText(said.get(self.kind, self.tr("Question")))
        self.question.setText(self._texts.get(self.kind, ""))
        self.columns.hint = self.tr("Click to put it into the blank") if is_fill else ""
        self.answers.setCurrentIndex(1 if self.kind == CLAIMS else 0)
        self.ask()

    @property
    def asked(self) -> Question | None:
        """What is to be asked now, None without a family."""
        folder = self.box.currentData()
        if folder is None:
            return None
        text = self.question.text().replace(GAP_WORD, " [MASK] ").strip()
        answer = self.answer.text().strip().lower() if self.kind == FILL else ""
        texts = tuple(self.sentences.toPlainText().splitlines()) if self.kind == SENSES else ()
        if self.kind == TASK:
            return Question(folder, TASK, "", table=self.session.table, roles=self.session.roles)
        return Question(folder, self.kind, text, answer, texts)

    @Slot()
    def ask(self) -> None:
        """Put the question to the family."""
        self._pause.stop()
        question = self.asked
        if question is None or not self.isVisible():
            return
        is_task = question.kind == TASK
        if is_task and (question.table is None or question.roles is None or not question.roles.label):
            self.columns.set_columns((), Labels())
            said = self.tr("Open a table with texts and labels on the page Data first.")
            lead = partial(self.session.page_requested.emit, "data")
            self.banner.show_text("look", said, [(self.tr("Open a table"), lead)], closable=False)
            return
        about = (question.folder, question.kind, question.text, question.answer, question.texts)
        self._asked.ask(
            (*about, id(question.table)),
            partial(ask, self._opened, question),
            heard=self._hear,
            refused=self._refuse,
            progress=self._wait if is_task else None,
        )

    def _wait(self, event: Event) -> None:
        if isinstance(event, Progress):
            done = words.share(event.done / max(1, event.total), 0)
            self.banner.show_text(
                "note", self.tr("The family learns from your table: {share}").format(share=done)
            )

    def _hear(self, told: Told) -> None:
        self.told = told
        self.banner.hide()
        if told.question.kind == CLAIMS:
            self._show_claims(told)
            return
        self.columns.set_caption(
            [(self.tr("Family"), told.question.folder.name), (self.tr("Question"), told.question.text)]
        )
        self.columns.set_columns(columns_of(told), labels_of(told))

    def _refuse(self, error: BaseException) -> None:
        self.banner.show_text("look", words.say_error(error))

    def _show_claims(self, told: Told) -> None:
        verdicts = {
            "holds": self.tr("Holds"),
            "does not hold": self.tr("Does not hold"),
            "cannot be told": self.tr("Cannot be told"),
        }
        lines = []
        for one in told.report.get("claims", []):
            said = self.tr(
                "{verdict}: {claim}\n{measure}: {first} and {second}, difference {difference} "
                "(95 %: {low} to {high}), over {count} texts."
            )
            figures = {name: f"{one[name]:+.3f}" for name in ("difference", "low", "high")}
            figures |= {name: f"{one[name]:.3f}" for name in ("first", "second")}
            lines.append(
                said.format(
                    verdict=verdicts.get(one["verdict"], one["verdict"]),
                    claim=words.tr_engine(one["claim"]),
                    measure=words.tr_engine(one["measure"]),
                    count=words.number(one["count"]),
                    **figures,
                )
            )
        last = self.tr(
            "A verdict is computed from this family alone: a larger one may show what this one does not."
        )
        notes = [words.tr_engine(INFORMED)] if told.report.get("informed_start") else []
        self.claims.setText("\n\n".join([*lines, *notes, last]))

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
        for text, answer in EXAMPLES:
            menu.addAction(text, partial(self.take_example, text, answer))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.examples.mapToGlobal(self.examples.rect().bottomLeft()))

    def take_example(self, text: str, answer: str) -> None:
        """Ask an example."""
        self.question.setText(text)
        self.answer.setText(answer)
        self.ask()

    @Slot()
    def copy_command(self) -> None:
        """Copy the line that asks the same in a terminal."""
        question = self.asked
        if question is not None:
            self.copy_button.copy(
                ask_command(question.folder, question.kind, question.text, question.answer, question.texts)
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
            self.session.start_training(config)
        except UserError as error:
            self._say_above(error)
        self._show_progress()

    def _say_above(self, error: BaseException) -> None:
        self.progress.setText(words.say_error(error))
        self.progress.show()

    @Slot()
    def _show_progress(self) -> None:
        is_ours = self.session.is_training and isinstance(self.session.training_config, FamilyConfig)
        self.train_button.setEnabled(not self.session.is_training)
        if not is_ours:
            return
        state = self.session.training
        started = state.started
        name = started.run_dir.name if started is not None else ""
        said = ABOUT[name].said if name in ABOUT else self.tr("The text is prepared")
        template = self.tr("{member} learns: {share}. The status bar stops it; what is learned is kept.")
        self.progress.setText(template.format(member=said, share=words.share(state.share, 0)))
        self.progress.show()

    @Slot()
    def _training_ended(self) -> None:
        self.train_button.setEnabled(True)
        if isinstance(self.session.training_config, FamilyConfig):
            self.progress.hide()
            self.refresh()
