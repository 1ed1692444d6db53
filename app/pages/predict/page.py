"""The Predict page: ask a trained model about one text, or about every row of a file.

Texts and files are asked of the same open model, side by side; an answer to a text that is no longer the one
typed is dropped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app import words
from app.look import theme
from app.look.copy_command import CopyCommandButton
from app.look.layout import column, row
from app.look.widgets import GAP, SETTINGS_WIDTH, Card, EmptyState, Page, button
from app.pages.attention.state import AttentionState
from app.pages.predict.answered_file import AnsweredFileCard
from app.pages.predict.answers import AnswersCard
from app.pages.predict.file import FileCard
from app.pages.predict.model import ModelCard
from app.pages.predict.requests import (
    FilePreview,
    ModelDescription,
    TextAnswer,
    describe,
    label_in,
    preview,
    preview_roles,
    tell,
)
from app.pages.predict.task_file import TaskFileCard
from app.pages.predict.text import OneTextCard
from app.pages.run.state import RunPageState
from app.pages.tasks.answers import TaskAnswers
from app.pages.tasks.known import row_views_of, views_of
from app.pages.tasks.views import FileViews
from app.session import Session
from app.settings import AppSettings
from app.shipped import sample_data_path
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Finished, Progress, Steps
from engine.model.model_name import ModelName
from engine.text.roles import Roles
from engine.text.table import Table
from engine.train.run.kept import name_of

EMPTY_WIDTH = 380


class PredictPage(Page):
    """The model and the file at the left; one text above, a file's answers below it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("predict_page")
        self.header.title_label.setText(self.tr("Predict"))
        self.header.set_sentence(self.tr("Ask a trained model about one text, or about every row of a file."))
        self.setAcceptDrops(True)
        self._session = session
        self._models = session.inspector.open_models
        self._model_asked = Channel(self, session.workers.models)
        self._text_asked = Channel(self, session.workers.models)
        self._rows_asked = Channel(self, session.workers.models)
        self._preview_asked = Channel(self, session.workers.files)
        self._folder: Path | None = None  # of the model
        self._described: ModelDescription | None = None
        self._asked_file: Path | None = None  # that was to be read last
        self._task_answers: dict[str, TaskAnswers] = {}  # by task, made when first needed
        self._task_before = ""  # whose own file the card at the left has
        self._make_actions()
        self._make_cards()
        self._lay_out()
        self._connect()
        self._result_changed()
        self.refresh()

    def _make_actions(self) -> None:
        self.copy_button = CopyCommandButton()
        self.copy_button.setObjectName("copy_predict_command")
        self.run_button = button(self.tr("Predict the file"), "primary", name="predict_file")
        self.stop_button = button(self.tr("Stop"), "primary", name="stop_predicting")
        for action in (self.copy_button, self.run_button, self.stop_button):
            self.header.add_action(action)

    def _make_cards(self) -> None:
        self.model_card = ModelCard(self._session)
        self.file_card = FileCard(self._session)
        self.task_file_card = TaskFileCard(self._session)
        self.text_card = OneTextCard()
        self.answers = AnswersCard()
        self.empty = EmptyState(
            self.tr(
                "There is no trained model yet. Fine-tune one first, or choose a model folder at the left."
            ),
            self.tr("Fine-tune a model"),
            least_width=EMPTY_WIDTH,
        )
        self.empty.button.setObjectName("lead_to_finetune")
        self.no_file = EmptyState(
            self.tr("Choose a file at the left, or drop one here: every row gets its answer."),
            self.tr("Choose a file…"),
            least_width=EMPTY_WIDTH,
        )

    def _lay_out(self) -> None:
        left = QWidget()
        left.setFixedWidth(SETTINGS_WIDTH)
        self.file_cards = QStackedWidget()  # of tables, of a task's own files
        self.file_cards.addWidget(self.file_card)
        self.file_cards.addWidget(self.task_file_card)
        column(self.model_card, (self.file_cards, 1), gap=GAP, parent=left)
        no_file_card = Card(self.tr("Answers"))
        no_file_card.add(self.no_file, 1)
        self.file_stack = QStackedWidget()
        self.file_stack.addWidget(no_file_card)
        self.file_stack.addWidget(self.answers)
        work = QWidget()
        column((self.text_card, 2), (self.file_stack, 3), gap=GAP, parent=work)
        empty_card = Card()
        empty_card.add(self.empty, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(empty_card)
        self.stack.addWidget(work)
        self.body.addLayout(row(left, (self.stack, 1), gap=GAP), 1)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.run_button.clicked.connect(self.predict_file)
        self.stop_button.clicked.connect(self._rows_asked.drop)
        self.model_card.chosen.connect(self.set_model)
        self.model_card.pairs.toggled.connect(self._pairs_toggled)
        self.text_card.asked.connect(self.ask)
        self.text_card.inside_wanted.connect(self._look_inside)
        self.file_card.file_wanted.connect(self.open_file)
        self.file_card.roles_wanted.connect(self._read_roles)
        self.file_card.encoding_wanted.connect(self._read_encoded)
        self.file_card.changed.connect(self.refresh)
        self.task_file_card.file_wanted.connect(self.open_file)
        self.task_file_card.changed.connect(self._task_file_changed)
        self.empty.activated.connect(self._lead_to_finetune)
        self.no_file.activated.connect(self.file_card.browse)
        self._session.training.result_changed.connect(self._result_changed)
        self._session.library.changed.connect(self._take_first)

    @property
    def is_asking(self) -> bool:
        """Whether anything is still to be answered: of a model, a text or a file."""
        asked = (self._model_asked, self._text_asked, self._rows_asked, self._preview_asked)
        return self._is_running or any(channel.is_asking for channel in asked)

    @property
    def _is_running(self) -> bool:
        """Whether a file is being answered, by whichever model that was asked to."""
        return self.file_card.is_running or self.task_file_card.is_running

    # ---- the model

    def set_model(self, folder: Path | str) -> None:
        """Ask this model from now on; it is loaded on the worker."""
        self._folder = Path(folder)
        self._described = None
        self._model_asked.drop()
        self._text_asked.drop()
        self.text_card.show_nothing()
        self.model_card.show_folder(self._folder)
        self.answers.mark_model(self._model_name())
        if self.isVisible():
            self._describe()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self._take_caret)  # Qt gives the keyboard to the first box, a moment later
        self._session.runs.find()
        if self._folder is None:
            self._take_first()
        elif self._described is None and not self.model_card.is_refused:
            self._describe()
        else:  # it may have been given a temperature meanwhile
            self.text_card.ask()

    def _take_caret(self) -> None:
        """Let what is typed be the text, for whoever was led here; who walks through the rail stays there."""
        focused = QApplication.focusWidget()
        if self.isVisible() and (focused is None or self.isAncestorOf(focused)):
            self.text_card.text_box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_first(self) -> None:
        """Ask the last model that was trained, or used, where none was chosen."""
        if self.isVisible() and self._folder is None and self.model_card.first:
            self.set_model(self.model_card.first)

    def _describe(self) -> None:
        if self._folder is not None:
            self.model_card.show_words(self.tr("Loading…"))
            self._model_asked.ask(
                self._folder,
                partial(describe, self._models, self._folder),
                heard=self._hear_description,
                refused=self._refuse_model,
                ended=self._end_description,
            )

    def _result_changed(self) -> None:
        if self._session.training.last_model is not None:
            self.set_model(self._session.training.last_model)

    def _hear_description(self, described: ModelDescription) -> None:
        if self._described is None:
            self._take_description(described)
            if not self._text_asked.is_asking:  # what is typed is asked of the new model too
                self.text_card.ask()

    def _refuse_model(self, error: BaseException) -> None:
        self._described = None
        self.model_card.show_refusal(words.say_error(error))
        self.refresh()

    def _end_description(self) -> None:
        if self._described is None:
            self.model_card.show_words("")

    def _pairs_toggled(self, wanted: bool) -> None:
        if self._described is not None and self._described.may_want_pair:
            self._take_description(self._described)
            self.text_card.ask()

    def _take_description(self, described: ModelDescription) -> None:
        if described.may_want_pair:
            described = replace(described, wants_pair=self.model_card.pairs.isChecked())
        self._described = described
        self.model_card.show_description(described)
        answers = self._answers_of(described.task)
        self.file_cards.setCurrentIndex(int(answers is not None))
        if answers is not None:
            answers.set_model(described.folder)
            if described.task != self._task_before:  # a file of another task means nothing to it
                self._task_before, file = described.task, self._session.data.task_file
                fits = file is not None and file.task == described.task
                self.task_file_card.set_path(file.path if fits and file is not None else None)
            self.task_file_card.set_suffixes(answers.suffixes)
            self.refresh()
            return
        views = row_views_of(described.task)
        self.text_card.set_views(views)
        self.answers.set_views(views)
        self.text_card.set_wants_pair(described.wants_pair)
        self.file_card.set_wants_pair(described.reads_pairs)
        shown = self.file_card.preview
        if shown is not None:
            self.file_card.offer_label(self._label_of(shown.table, shown.roles))
        self.refresh()

    def _answers_of(self, task: str) -> TaskAnswers | None:
        """Return what shows a task's answers; None where they are a table's."""
        if task not in self._task_answers:
            views = views_of(task)
            if not isinstance(views, FileViews):
                return None
            self._task_answers[task] = made = views.answers(self._session)
            self.stack.addWidget(made)
        return self._task_answers[task]

    @property
    def _own(self) -> TaskAnswers | None:
        """What shows the chosen model's answers, where they are not a table's."""
        return None if self._described is None else self._task_answers.get(self._described.task)

    def _task_file_changed(self) -> None:
        if self._own is not None and self.task_file_card.path is not None:
            self._own.show_file(self.task_file_card.path)
        self.refresh()

    def _model_name(self) -> str:
        return model_title(self._folder) if self._folder is not None else ""

    def _label_of(self, table: Table, roles: Roles) -> str:
        """Return the column that holds the labels this model knows; "" for none."""
        described = self._described
        if described is None:
            return ""
        return label_in(table, described, roles.read)

    # ---- one text

    def ask(self, text: str, pair: str) -> None:
        """Ask about a text; the answer to an older one is not shown."""
        if self._folder is None or self._own is not None:
            return
        wanted = pair if self._described is not None and self._described.wants_pair else None
        # it may be typed again, after nothing was shown
        self._text_asked.ask(
            (self._folder, text, wanted),
            partial(tell, self._models, self._folder, text, wanted),
            heard=partial(self._hear_answer, (text, pair)),
            refused=lambda error: self.text_card.show_problem(words.say_error(error)),
            again=True,
        )

    def _hear_answer(self, asked: tuple[str, str], told: TextAnswer) -> None:
        if self._described is None:
            self._take_description(told.model)
        if asked == self.text_card.texts():
            self.text_card.show_answer(told, name_of(told.model.folder))

    def _look_inside(self) -> None:
        """Open the text and its model on the pages that look inside."""
        if self._folder is not None:
            state = AttentionState.why(self._folder, *self.text_card.texts())
            self._session.show_page("attention", state)

    # ---- a whole file

    def open_file(self, path: Path, encoding: str | None = None) -> None:
        """Read a file and show its rows before anything is predicted.

        Args: encoding: chosen by a person, "" to find it out; None: as the open table is read, if it is that.
        """
        if self._own is not None:
            self.task_file_card.set_path(path)
            return
        self._asked_file = path
        self.file_card.show_refusal("")
        self.file_card.status.setText(self.tr("Reading {name}…").format(name=path.name))
        trained = (self._described.info.get("roles") or {}) if self._described else {}
        wanted = Roles.from_json(trained).with_columns(label="")
        if self._described and self._described.reads_pairs and not wanted.text_pair:
            wanted = wanted.with_columns(text_pair="?")
        same = self._session.data.table is not None and self._session.data.table.path == path
        overrides = dict(self._session.data.overrides) if same else {}
        if encoding is not None:
            overrides["encoding"] = encoding
        self._ask_preview(partial(preview, path, wanted, overrides))

    def _read_roles(self, roles: Roles) -> None:
        shown = self.file_card.preview
        if shown is not None:
            self._ask_preview(partial(preview_roles, shown.table, roles, shown.how))

    def _read_encoded(self, encoding: str) -> None:
        """Read the file again, its bytes taken for other letters."""
        if self._asked_file is not None:
            self.open_file(self._asked_file, encoding)

    def _ask_preview(self, work: Callable[[], Steps[FilePreview]]) -> None:
        refused = self._refuse_preview
        self._preview_asked.ask(work, work, heard=self._hear_preview, refused=refused)

    def _refuse_preview(self, error: BaseException) -> None:
        self.file_card.refuse_file(words.say_error(error))

    def _hear_preview(self, found: FilePreview) -> None:
        if self.file_card.preview is None or self.file_card.preview.table is not found.table:
            label = self._label_of(found.table, found.roles)
            found = replace(found, roles=found.roles.with_columns(label=label))
        self.file_card.show_preview(found)
        self.answers.show_preview(found)
        self.refresh()

    @property
    def _card(self) -> AnsweredFileCard:
        """What says which file is answered."""
        return self.file_card if self._own is None else self.task_file_card

    def predict_file(self) -> None:
        """Answer the whole file into the new one."""
        card, answers, out = self._card, self._own or self.answers, self._card.out_path
        if self._folder is None or card.path is None or out is None:
            return
        if out.exists():
            card.refuse_name(out)
            return
        card.show_refusal("")
        card.set_running(True)
        answers.start(self._model_name())
        self._rows_asked.ask(
            card.question(ModelName(self._folder), out),
            heard=lambda _nothing: None,
            refused=lambda error: card.refuse(words.say_error(error)),
            progress=partial(self._hear_file, card, answers, self._model_name(), out),
            ended=partial(self._end_file, card, answers),
            again=True,
        )
        self.refresh()

    def _hear_file(
        self, card: AnsweredFileCard, answers: AnswersCard | TaskAnswers, model: str, out: Path, event: Event
    ) -> None:
        if isinstance(event, Progress):
            card.show_progress(event.done, event.total, words.event_words(event))
        elif isinstance(event, Finished):
            card.show_written(event.path or out, event.seconds, model)
        answers.hear(event)

    def _end_file(self, card: AnsweredFileCard, answers: AnswersCard | TaskAnswers) -> None:
        answers.end()
        card.end()
        if card.has_written:
            answers.mark_model(self._model_name())
        self.refresh()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.open_file(Path(url.toLocalFile()))
                event.acceptProposedAction()
                return

    # ---- the whole

    def refresh(self) -> None:
        """Show the actions and cards that fit the moment."""
        own, is_running = self._own, self._is_running
        ready = self._described is not None and self._card.is_ready
        self.run_button.setVisible(not is_running)
        self.run_button.setEnabled(ready)
        self.stop_button.setVisible(is_running)
        self.copy_button.setEnabled(ready)
        reason = "" if ready else self.tr("Choose a model and a file first.")
        self.run_button.setToolTip(reason)
        self.copy_button.setToolTip(reason)
        if own is not None:
            self.stack.setCurrentWidget(own)
        else:
            had_model = self.stack.currentIndex() != 0
            self.stack.setCurrentIndex(0 if self._folder is None else 1)
            if not had_model and self._folder is not None:
                QTimer.singleShot(0, self, self._take_caret)
        self.file_stack.setCurrentIndex(0 if self.file_card.preview is None else 1)

    def copy_command(self) -> None:
        """Put the command that predicts the file without a window on the clipboard."""
        out = self._card.out_path
        if self._folder is not None and out is not None:
            self.copy_button.copy(self._card.question(ModelName(self._folder), out).command())

    def _lead_to_finetune(self) -> None:
        self._session.show_page("finetune", RunPageState())


def main() -> int:
    """Show the page alone, with the sample sentences as the file."""
    with TemporaryDirectory() as folder:
        app = QApplication(sys.argv)
        settings = AppSettings(Path(folder) / "settings.ini")
        theme.apply_theme(app, settings.theme)
        session = Session(settings)
        page = PredictPage(session)
        page.resize(1104, 780)
        page.show()
        if len(sys.argv) > 1:
            page.set_model(sys.argv[1])
        page.open_file(sample_data_path())
        result = app.exec()
        session.close()
    return result


if __name__ == "__main__":
    sys.exit(main())
