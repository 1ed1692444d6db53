"""The Family page: five scenes of one question each, and more questions; members beside one another below.

What is shown answers what is asked: it goes where the question is another kind's, another family's or is
refused. The sentence stays when the scene changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QWidget

from app import words
from app.look.banner import Banner
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.files import ask_files
from app.look.inputs import DoubleSpinBox, LineEdit, SpinBox, TextEdit
from app.look.labels import PART, ElidedLabel, label, tip
from app.look.layout import column, row, stacked
from app.look.widgets import GAP, Card, EmptyState, button, holder, named, tidy_spin
from app.pages.family import fairness
from app.pages.family.action import Action
from app.pages.family.beneath import Beneath, BeneathRoom
from app.pages.family.draft import FamilyDraft
from app.pages.family.kinds.kind import (
    ANSWER,
    FIRST,
    SECOND,
    SEED,
    SENTENCES,
    TEMPERATURE,
    FamilyAnswer,
    FamilyKind,
    TypedQuestion,
)
from app.pages.family.kinds.kind import GAP as BLANK
from app.pages.family.kinds.known import KIND_OF, SCENES
from app.pages.family.kinds.others import titles_of
from app.pages.family.others_bar import OthersBar
from app.pages.family.pictures import Pictures
from app.pages.family.requests import FamilyEntry, OpenFamilies, ask, known
from app.pages.family.state import MOST_SEED, FamilyState
from app.pages.family.tabs import SceneTabs
from app.pages.family.train_dialog import TrainDialog
from app.pages.family.training_switch import PRACTICE, TrainingSwitch
from app.pages.inside.kept_page import KeptPage
from app.plots.figure import Figure
from app.session import Session
from app.work.texts_read import ASK, UNCUT, TextsRead, TypedTexts
from app.work.worker import Channel
from engine.errors import UserError
from engine.events import Event, Progress
from engine.family.members import ABOUT
from engine.family.questions.go_on import MOST_TEMPERATURE
from engine.family.questions.question import FamilyQuestion
from engine.family.trainings import training_number
from engine.language import ENGLISH
from engine.settings.family import FamilyConfig
from engine.text.languages import CHINESE
from engine.text.unknown import ENGLISH as IN_ENGLISH
from engine.text.vocabulary import MASK

PAUSE_MS = 350  # of typing, after which a question is asked
LOW, WIDE = 660, 900  # px of the page, below which it is low, or not wide
NARROW_BOX = 190  # px
GAP_SHOWN = "▁▁▁"  # the blank, where the sentence is large
PATIENCE_MS = 500  # after which it is said that an answer takes a while
BOX = 300  # px
SPIN = 72  # px


class FamilyPage(KeptPage[FamilyState]):
    """The question and the scenes on top; the picture; beneath it further members, and whether it is fair."""

    state_kind = FamilyState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("family_page")
        self.header.title_label.setText(self.tr("BERT’s family"))
        self.header.set_sentence(self.tr("One question to several generations of language models."))
        self.session, self._opened = session, OpenFamilies()
        self.draft = FamilyDraft()
        self.answered: FamilyAnswer[Any] | None = None  # what is shown
        self._is_found = False
        self._done: FamilyAnswer[Any] | None = None  # what took long, kept
        self._entries: dict[Path, FamilyEntry] = {}
        self._practices: dict[str, fairness.PracticeModel] = {}  # by their language
        self._is_low = False
        self._found = Channel(self, session.workers.files)
        self._asked = Channel(self, session.workers.models)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.ask)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._say_waiting)
        self._make()
        self._lay_out()
        self._connect()
        self._show_typed()
        self._show_kind()

    def _make(self) -> None:
        self.copy_button = named(CopyCommandButton(), "copy_family_command")
        self.train_button = button(self.tr("Train a family…"), name="family_train", call=self.open_dialog)
        for action in (self.copy_button, self.train_button):
            self.header.add_action(action)
        self.tabs = SceneTabs()
        self.training = TrainingSwitch()
        self.box = ChoiceBox("family_box", self.tr("Family"), width=NARROW_BOX)
        self.question_label = label(self.tr("Question"), "card-title")
        self.question = named(LineEdit(), "family_question", self.tr("Question"))
        self.answer_label = label(self.tr("Answer"), "muted")
        self.answer = named(LineEdit(), "family_answer", self.tr("Answer"))
        self.answer.setFixedWidth(120)
        self.second_label = label(self.tr("Then"), "muted")
        self.second = named(LineEdit(), "family_second", self.tr("Second sentence"))
        self.others = OthersBar(self.session)
        self.action = Action()
        self.examples = button(self.tr("Examples"), "link", name="family_examples", call=self._offer_examples)
        self.sentences = named(TextEdit(), "family_sentences", self.tr("Sentences"))
        self.sentences.setToolTip(tip(self.tr("An empty line begins another sense of the word.")))
        self.sentences.setTabChangesFocus(True)
        self.sentences.setFixedHeight(92)
        self.temperature = DoubleSpinBox(minimum=0.0, maximum=MOST_TEMPERATURE, decimals=1, singleStep=0.1)
        self.seed = SpinBox(minimum=0, maximum=MOST_SEED)
        self.temperature_label, self.seed_label = (
            label(said, "muted") for said in (self.tr("Temperature"), self.tr("Seed"))
        )
        for spin, name, said in (
            (self.temperature, "family_temperature", self.tr("Temperature")),
            (self.seed, "family_seed", self.tr("Seed")),
        ):
            tidy_spin(named(spin, name, said), SPIN)
        self._fields: dict[str, tuple[QWidget, ...]] = {
            TEMPERATURE: (self.temperature_label, self.temperature),
            SEED: (self.seed_label, self.seed),
            ANSWER: (self.answer_label, self.answer),
            SECOND: (self.second_label, self.second),
            SENTENCES: (self.sentences,),
        }
        for one in (part for parts in self._fields.values() for part in parts):
            one.hide()  # until a question wants it: hidden later, it would widen the page for a moment
        self.hidden_label = label(self.tr("Which word is hidden?"), "muted")
        self.sentence = named(ElidedLabel("", "big"), "family_sentence")
        self.hidden = label("", "muted", name="family_hidden")
        self.banner = Banner(name="family_banner")
        self.pictures = Pictures()
        self.columns = self.pictures.columns
        self.beneath = Beneath()
        self.more, self.note = self.beneath.more, self.beneath.note
        self.progress = label("", "muted", name="family_progress")
        self.empty = named(EmptyState("", self.tr("Train a family…")), "family_empty")

    def _lay_out(self) -> None:
        self.card = Card()
        asked = row(
            self.question_label, (self.question, 1), self.answer_label, self.answer, self.second_label,
            (self.second, 1), self.temperature_label, self.temperature, self.seed_label, self.seed,
            self.examples, (self.box, Qt.AlignmentFlag.AlignRight), gap=10,
        )  # fmt: skip
        self.heading = holder(row(self.hidden_label, (self.sentence, 1), self.hidden, gap=16))
        self.card.add(self.heading)
        self.card.add(self.action)
        self.card.add(self.others)
        self.card.add(self.sentences)
        self.card.add(self.banner)
        self.card.add(self.pictures, 1)
        self.head = row((self.tabs, 1, Qt.AlignmentFlag.AlignLeft), self.training, gap=GAP)
        work = QWidget()
        column(asked, self.head, (self.card, 1), self.beneath, gap=GAP, parent=work)
        self.views = stacked(self.empty, work)
        self.views.setCurrentIndex(1)  # until it is known that there is no family
        self.body.addWidget(self.progress)
        self.body.addWidget(self.views, 1)
        self.progress.hide()

    def _connect(self) -> None:
        self.tabs.chosen.connect(self.choose_kind)
        self.training.chosen.connect(self._choose_training)
        self.box.chosen.connect(self._choose_family)
        for line in (self.question, self.answer, self.second):
            line.textEdited.connect(self._pause.start)
            line.returnPressed.connect(self.ask)
        self.sentences.textChanged.connect(self._pause.start)
        for spin in (self.temperature, self.seed):
            spin.valueChanged.connect(self._pause.start)
        self.pictures.entry_chosen.connect(self.take_word)
        self.pictures.member_chosen.connect(self._tell_of)
        self.pictures.all_turned.connect(lambda is_all: self._choose_members(None if is_all else ()))
        self.more.chosen.connect(self._choose_members)
        self.beneath.told_of.connect(self._tell_of)
        self.others.chosen.connect(self.choose_others)
        self.action.wanted.connect(self._act)
        self.action.stopped.connect(self.stop)
        self.copy_button.clicked.connect(self.copy_command)
        self.empty.activated.connect(self.open_dialog)
        self.session.training.heard.connect(self._show_progress)
        self.session.training.ended.connect(self._training_ended)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the scenes their longer words where these fit beside the switch; else it goes below them."""
        room, ways = self.body.contentsRect().width(), QBoxLayout.Direction
        is_low = self.height() < LOW
        if is_low != self._is_low:
            self._is_low = is_low
            self._show_heading()
            self._show_beneath()
        self.box.setFixedWidth(BOX if room >= WIDE else NARROW_BOX)
        self.sentences.setFixedHeight(56 if is_low else 92)
        self.training.name(self._given(is_short=room < WIDE), is_short=room < WIDE)
        beside = self.training.sizeHint().width() + GAP if self.training.isVisibleTo(self) else 0
        fits = self.tabs.fit(room - beside)
        if not fits:
            self.tabs.fit(room)
        self.head.setDirection(ways.LeftToRight if fits else ways.TopToBottom)
        self.pictures.learning.fit(self.height())

    def _given(self, *, is_short: bool) -> str:
        """Return what each member was given, "" while that is not known."""
        entry = None if self.draft.folder is None else self._entries.get(self.draft.folder)
        known = self.answered or entry
        return "" if known is None else fairness.given_to_each(known.report, is_short=is_short)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        by = ways.get(Qt.Key(event.key()), 0)
        if by and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.step(by)
        else:
            super().keyPressEvent(event)

    def step(self, by: int) -> None:
        """Turn to the scene so many on; from another question to the first, and never round the ends."""
        keys = [kind.key for kind in SCENES]
        here = keys.index(self.kind.key) if self.kind.key in keys else -by
        self.choose_kind(keys[min(max(0, here + by), len(keys) - 1)])
        self.tabs.focus_current()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def set_bare(self, bare: bool) -> None:
        super().set_bare(bare)
        self.box.setVisible(not bare)  # a scene has one family; its room is needed
        self.others.setVisible(self.kind.takes_others and not bare)
        self._show_heading()
        self._show_beneath()

    # which family

    def refresh(self) -> None:
        """Look which families there are, and ask the chosen one."""
        root = self.session.runs.root
        self._found.ask(object(), partial(known, root), heard=self._show_known)
        self._patience.start()
        self._show_progress()

    def _show_known(self, found: tuple[tuple[FamilyEntry, ...], dict[str, fairness.PracticeModel]]) -> None:
        families, self._practices = found
        self._show_families(families)

    def _included(self, entry: FamilyEntry) -> str:
        return self.tr("Included, Chinese") if entry.language == "zh" else self.tr("Included")

    def _show_families(self, found: tuple[FamilyEntry, ...]) -> None:
        before: Path | None = self.box.currentData()
        self.box.clear()
        for one in found:
            names = (self._included(one),) if one.is_shipped else (one.path.name, one.text)
            given = fairness.given_to_each(one.report, is_short=True)
            said = PART.join([*names, *([self.tr("{given} each").format(given=given)] if given else [])])
            self.box.add_choice(said, one.path, one.path)
        self._entries = {one.path: one for one in found}
        places = [one.path for one in found]
        if before is not None and before not in places and before.is_dir():  # it lies elsewhere
            self.box.add_choice(before.name, before, before)
            places.append(before)
        if before in places:
            self.box.setCurrentIndex(places.index(before))
        self.empty.set_text(
            self.tr(
                "No family is trained yet. Eight models are trained on one of your texts, one "
                "after the other."
            )
        )
        if not self._is_found:
            self.banner.hide()  # that families are looked for
        self._is_found = True
        self.views.setCurrentIndex(1 if places else 0)
        self._choose_family(self.box.currentData())
        self.take_up()

    def _choose_family(self, folder: Path | None) -> None:
        language = self.draft.language if folder is None else self._language(folder)
        self.show_question(replace(self._as_typed(), folder=folder).speak(language))

    def _take_family(self, folder: Path) -> None:
        self.box.choose(folder)
        self._choose_family(folder)

    def _language(self, folder: Path) -> str:
        return self._entries[folder].language if folder in self._entries else ENGLISH

    # the question

    @property
    def kind(self) -> FamilyKind[Any]:
        """The kind of question that is shown."""
        return self.draft.kind

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """What is typed, by the words of the family; a family that ships reads the other language."""
        entry = None if self.draft.folder is None else self._entries.get(self.draft.folder)
        if entry is None or entry.vocabulary is None or not self.kind.has_words:
            return ()
        typed = self.draft.typed
        texts = (typed.question, typed.second, *typed.sentences.splitlines())
        shipped = [one for one in self._entries.values() if one.is_shipped]
        families = {one.vocabulary: one.path for one in shipped if one.vocabulary is not None}
        readers = {
            CHINESE if one.language == "zh" else IN_ENGLISH: one.vocabulary
            for one in shipped
            if one.vocabulary is not None
        }
        return (
            TextsRead(
                entry.vocabulary,
                TypedTexts(tuple((text.replace(BLANK, MASK), "") for text in texts if text.strip())),
                UNCUT,
                deed=ASK,
                is_model=False,
                take=lambda vocabulary: self._take_family(families[vocabulary]),
                readers=readers,
            ),
        )

    def choose_kind(self, key: str) -> None:
        """Show another kind of question; each keeps its own words."""
        self.show_question(self._as_typed().choose(KIND_OF[key]))

    def show_question(self, draft: FamilyDraft) -> None:
        """Show a question and ask it: the one way in, for a scene, an example and a lecture alike."""
        is_another = draft.kind is not self.kind
        self.draft = draft
        self.reading_changed.emit()
        self._show_typed()
        if is_another:
            self._show_kind()
        self.tabs.show_kind(draft.kind.key)
        self.ask()
        if self.answered is not None and self.answered.question == self.asked:
            self._show_answer(self.answered)  # which is not asked again, though shown otherwise

    def _show_kind(self) -> None:
        """Show the fields of a kind, and nothing answered yet."""
        kind = self.kind
        for name, widgets in self._fields.items():
            for widget in widgets:
                widget.setVisible(name in kind.fields)
        for widget in (self.question_label, self.question):
            widget.setVisible(kind.has_words)
        self.examples.setVisible(bool(kind.examples(self.draft.texts)))
        self.copy_button.setVisible(kind.has_command)
        self.question_label.setText(kind.label)
        self.pictures.show_kind(self.draft)
        self.others.setVisible(kind.takes_others and not self.is_bare)
        self.beneath.member = ""
        self._forget()

    # who answers

    @property
    def _practice(self) -> fairness.PracticeModel | None:
        """The BERT that was trained longer, in the language of the family."""
        return self._practices.get(self.draft.language)

    @property
    def _bert(self) -> Path | None:
        """The BERT that answers for the family's, where it can be asked this."""
        return None if self._why_not() or self._practice is None else self._practice.folder

    def _why_not(self) -> str:
        """Return why the BERT trained longer cannot answer this, "" where it can."""
        entry = None if self.draft.folder is None else self._entries.get(self.draft.folder)
        return fairness.why_not(
            self._practice,
            is_chinese=self.draft.language == "zh" and bool(self._practices),
            has_bert=entry is None or entry.has_bert,
            can=self.kind.can_practice,
        )

    def _choose_training(self, key: str) -> None:
        self.show_question(replace(self._as_typed(), practice=key == PRACTICE))

    def _choose_members(self, more: tuple[str, ...] | None) -> None:
        """Show the first three and some more. Args: more: None, all side by side."""
        self.draft = replace(self._as_typed(), members=() if more is None else (FIRST, *more))
        if self.answered is not None:
            self._show_answer(self.answered)

    def choose_others(self, folders: tuple[Path, ...]) -> None:
        """Have these models answer next to the members."""
        self.others.show_others(folders)
        self.show_question(replace(self._as_typed(), others=folders))

    def _tell_of(self, member: str) -> None:
        """Tell in words of a member, as its column calls it, or of what is fair; "": of none."""
        self.beneath.member = member
        self._show_beneath()

    def _show_beneath(self) -> None:
        """Show who else there is, and what has to be known of the figures above."""
        kind, why = self.kind, self._why_not()
        is_scene = kind in SCENES and self.answered is not None
        self.training.setVisible(is_scene and kind.has_figures)
        self.training.show_training(is_practice=self.draft.practice, why_not=why)
        room = BeneathRoom(self._is_low, self.is_bare)
        self.beneath.show_answer(self.draft, self.answered, self._practice, why, room)
        self._fit()

    def _show_typed(self) -> None:
        typed = self.draft.typed
        self.question.setText(typed.question)
        self.question.setCursorPosition(0)
        self.answer.setText(typed.answer)
        self.second.setText(typed.second)
        with QSignalBlocker(self.sentences):
            self.sentences.setPlainText(typed.sentences)
        with QSignalBlocker(self.temperature), QSignalBlocker(self.seed):
            self.temperature.setValue(typed.temperature)
            self.seed.setValue(typed.seed)
        self._show_heading()

    def _show_heading(self) -> None:
        """Show the sentence large, and which word is hidden."""
        is_blank = ANSWER in self.kind.fields and not self.is_bare and not self._is_low
        self.heading.setVisible(is_blank)
        typed = self.draft.typed
        self.sentence.setText(typed.question.replace("[MASK]", GAP_SHOWN).replace(BLANK, GAP_SHOWN))
        hidden = self.tr("Hidden: {word}").format(word=typed.answer) if typed.answer else ""
        self.hidden.setText(hidden)

    def _as_typed(self) -> FamilyDraft:
        """Return the question with what stands in the fields."""
        fields = (self.question.text(), self.answer.text(), self.second.text(), self.sentences.toPlainText())
        drawn = (round(self.temperature.value(), 1), self.seed.value())
        return replace(self.draft, typed=TypedQuestion(*fields, *drawn))

    @property
    def asked(self) -> FamilyQuestion[Any] | None:
        """What is to be asked now, None without a family."""
        given = self.draft.given(self.session.data.table, self.session.data.roles, self._bert)
        return None if given is None else self.kind.question(given)

    def ask(self) -> None:
        """Put the question to the family."""
        self._pause.stop()
        self.draft = self._as_typed()
        self._show_heading()
        question = self.asked
        if question is None or not self.isVisible():
            return
        if not self._can_be_asked(question):
            self._forget()
            return
        if self.answered is not None and self.answered.question.folder != question.folder:
            self._forget()
        if self._done is not None and self._done.question == question:
            self._asked.drop()
            self._hear(self._done)
            self._show_action()
            return
        self._asked.ask(
            question,
            partial(ask, self._opened, self.session.workers.open_models, question),
            heard=self._hear,
            refused=self._refuse,
            progress=self._wait if self.kind.tells_progress else None,
            ended=self._show_action,
        )
        self._patience.start()
        self._show_action()

    def _say_waiting(self) -> None:
        """Say that something is under way where nothing is to be seen yet."""
        if not self._is_found or (self._asked.is_asking and self.answered is None and self.banner.isHidden()):
            self.banner.show_text("note", self.tr("Opening the family and asking it…"), closable=False)

    def _forget(self) -> None:
        """Show no answer, and let the same be asked again."""
        self._asked.drop()
        self.answered = None
        self.pictures.clear()
        self._show_beneath()
        self._show_action()

    def _can_be_asked(self, question: FamilyQuestion[Any]) -> bool:
        """Whether there is what the question is about; else say what is missing."""
        lacks = self.kind.lacks(question)
        if lacks:
            lead = partial(self.session.show_page, "data")
            self.banner.show_text("look", lacks, [(self.tr("Open a table"), lead)], closable=False)
        elif lacks is not None:
            self.banner.hide()
        return lacks is None

    # what is shown, kept and shown again

    @property
    def state(self) -> FamilyState:
        draft = self._as_typed()
        row = self.pictures.last_row() or draft.wanted_row
        return draft.state(row, titles_of(draft.asked_others))

    def is_open(self, state: FamilyState) -> bool:
        return self._is_found  # which families there are

    def figures_shown(self) -> tuple[Figure, ...]:
        """Return the pictures that say what the page shows."""
        return self.pictures.figures()

    def take_state(self, state: FamilyState) -> None:
        folder = state.family
        places = [self.box.itemData(place) for place in range(self.box.count())]
        if folder not in places:
            self.box.add_choice(folder.name, folder, folder)
            places.append(folder)
        self.box.setCurrentIndex(places.index(folder))
        self.views.setCurrentIndex(1)
        now = self._as_typed().speak(self._language(folder))
        now = now.take(state)
        self.others.show_others(now.others, state.others.gone)
        self.show_question(now)
        QTimer.singleShot(0, self.pictures, self.pictures.reveal_row)  # of an answer that is there already

    # what takes long

    def _show_action(self) -> None:
        """Say what can be done beside the question now."""
        is_asking = self._asked.is_asking
        is_missing = not self.banner.isHidden() and not is_asking
        table = "" if self.session.data.table is None or is_missing else self.session.data.table.path.name
        is_slow = self.kind.is_slow or bool(self.draft.asked_others)
        self.action.show_offer(self.kind.offer(self.answered, table), is_busy=is_asking and is_slow)

    def _act(self) -> None:
        if self.kind.asks_files:
            ask_files(
                self, self.kind.files_title, partial(self.take_files, self.kind), name="family_files_dialog"
            )
            return
        if self.kind.draws:
            self.seed.setValue((self.seed.value() + 1) % MOST_SEED)
        elif self.answered is not None:
            self.draft = self.draft.tune(self.session.data.table)
        self.ask()

    def stop(self) -> None:
        """Stop what takes long; what was found stays."""
        self._asked.drop()
        self.draft = replace(self.draft, tuned=None)
        self.banner.hide()
        self._show_action()

    def take_files(self, kind: FamilyKind[Any], files: list[str]) -> None:
        """Ask from files."""
        self.draft = self.draft.take_files(kind, tuple(map(Path, files)))
        self.ask()

    def _wait(self, event: Event) -> None:
        if isinstance(event, Progress):
            done = words.share(event.done / max(1, event.total), 0)
            self.banner.show_text("note", self.kind.progress.format(share=done))

    def _hear(self, answered: FamilyAnswer[Any]) -> None:
        self.answered, kind = answered, self.kind
        if answered.is_whole or not kind.tells_progress:
            self.banner.hide()
        if answered.is_whole and kind.keeps_answer:
            self._done = answered
        self._show_answer(answered)

    def _show_answer(self, answered: FamilyAnswer[Any]) -> None:
        question, report = answered.question, answered.report
        lines = [
            (self.tr("Family"), question.folder.name),
            (self.tr("Trained on"), words.listed(map(str, report.get("text", ())))),
            (self.tr("Given to each"), fairness.given_to_each(report)),
            (self.tr("Trainings of each"), words.number(report.get("trainings", 1))),
        ]
        if answered.bert is not None:
            lines.append((self.tr("BERT"), self.tr("the starter model")))
        if self.draft.asked_others:
            lines.append((self.tr("Other models"), words.listed(titles_of(self.draft.asked_others))))
        asked = zip(
            (self.tr("Question"), self.tr("Answer")), self.kind.caption(self.draft.typed), strict=True
        )
        self.pictures.show_answer(self.draft, answered, [*lines, *(line for line in asked if line[1])])
        self._show_beneath()

    def _refuse(self, error: BaseException) -> None:
        self.banner.show_text("look", words.say_error(error))
        self.draft = self.draft.take_files(self.kind, ())  # what cannot be read is not asked again
        self._forget()

    def take_word(self, word: str) -> None:
        """Take up a word of an answer, such as a guess into the blank."""
        question = self.kind.taken(self.question.text(), word)
        if question is not None:
            self.take(TypedQuestion(question))

    def _offer_examples(self) -> None:
        menu = QMenu(self)
        for one in self.kind.examples(self.draft.texts):
            menu.addAction(one.title, partial(self.take, one.typed))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.examples.mapToGlobal(self.examples.rect().bottomLeft()))

    def take(self, typed: TypedQuestion) -> None:
        """Ask as if it were typed."""
        self.show_question(replace(self.draft, typed=typed))

    def copy_command(self) -> None:
        """Copy the line that asks the same in a terminal."""
        self.draft = self._as_typed()
        if self.asked is not None:
            self.copy_button.copy(self.asked.command())

    # training

    def open_dialog(self) -> None:
        """Ask which family to train."""
        dialog = TrainDialog(self.session, self)
        dialog.wanted.connect(self.train)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

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

    def _show_progress(self) -> None:
        config = self.session.training.config
        self.train_button.setEnabled(not self.session.training.is_running)
        if not self.session.training.is_running or not isinstance(config, FamilyConfig):
            return
        state = self.session.training.state
        started = state.started
        name = started.run_dir.name if started is not None else ""
        said = ABOUT[name].said if name in ABOUT else self.tr("Preparing the text")
        if started is not None and name in ABOUT and config.family.trainings > 1:
            said = self.tr("{member}, training {number} of {count}").format(
                member=said, number=training_number(started.run_dir), count=config.family.trainings
            )
        template = self.tr(
            "Training {member}: {share}. You can stop in the status bar; what it has learned is kept."
        )
        self.progress.setText(template.format(member=said, share=words.share(state.share, 0)))
        self.progress.show()

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
