"""The Predict page: ask a trained model about one text, or about every row of a file.

Texts and files are asked of the same open model, side by side; an answer to a text that is no longer the one
typed is dropped.
"""

from __future__ import annotations

import sys
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
from app.look.widgets import GAP, SETTINGS_WIDTH, Card, EmptyState, button
from app.pages.attention.state import AttentionState
from app.pages.predict.answered_file import AnsweredFileCard
from app.pages.predict.file import FileCard
from app.pages.predict.model import ModelCard
from app.pages.predict.requests import ModelDescription, describe
from app.pages.predict.rows import EMPTY_WIDTH, RowAnswers
from app.pages.predict.state import PredictedFile, PredictState
from app.pages.run.state import RunPageState
from app.pages.stated_page import InBar, StatedPage
from app.pages.tasks.answers import TaskAnswers
from app.pages.tasks.known import views_of
from app.pages.tasks.views import FileViews
from app.session import Session
from app.settings import AppSettings
from app.shipped import sample_data_path
from app.work.inspector import LONGEST_KEPT
from app.work.labels import table_behind
from app.work.library import FILES
from app.work.texts_read import FINE_TUNE, TableTexts, TextsRead, TypedTexts, typed
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Finished, Progress
from engine.labelling.table_shares import SHEET, SharesFound
from engine.model.model_name import ModelName
from engine.questions.cost import CostQuestion
from engine.text.small_sheet import sheet_place


class PredictPage(StatedPage[PredictState]):
    """What the model says of itself and the file at the left; one text above, a file's answers below it."""

    state_kind = PredictState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("predict_page")
        self.header.title_label.setText(self.tr("Predict"))
        self.header.set_sentence(self.tr("Ask a trained model about one text, or about every row of a file."))
        self.setAcceptDrops(True)
        self._session, self._inspector = session, session.inspector
        self._model_asked = Channel(self, session.workers.models)
        self._rows_asked = Channel(self, session.workers.models)
        self._asked_of: Path | None = None  # the model that is described, or will be
        self._described: ModelDescription | None = None
        self._make_actions()
        self._make_cards()
        self._lay_out()
        self._connect()
        self._take_hand()
        self._offer_known()
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
        self.file_card, self.task_file_card = FileCard(self._session), AnsweredFileCard(self._session)
        self.rows = RowAnswers(self._session)
        self.text_card, self.answers = self.rows.usual_card, self.rows.answers
        self._own: dict[str, TaskAnswers] = {}  # of tasks whose files are no tables, made when first needed
        self._shown: TaskAnswers = self.rows  # what the chosen model answers
        self.empty = EmptyState("", self.tr("Fine-tune a model"), least_width=EMPTY_WIDTH)
        self.empty.button.setObjectName("lead_to_finetune")

    def _lay_out(self) -> None:
        left = QWidget()
        left.setFixedWidth(SETTINGS_WIDTH)
        self.file_cards = QStackedWidget()  # of tables, of a task's own files
        self.file_cards.addWidget(self.file_card)
        self.file_cards.addWidget(self.task_file_card)
        column(self.model_card, (self.file_cards, 1), gap=GAP, parent=left)
        self.empty_card = Card()
        self.empty_card.add(self.empty, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty_card)
        self.stack.addWidget(self.rows)
        self.body.addLayout(row(left, (self.stack, 1), gap=GAP), 1)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.run_button.clicked.connect(self.predict_file)
        self.stop_button.clicked.connect(self._rows_asked.drop)
        self._inspector.model_changed.connect(self._take_hand)
        self.model_card.pairs.toggled.connect(self._pairs_toggled)
        self.text_card.inside_wanted.connect(self._look_inside)
        self.file_card.opened.connect(self.rows.show_preview)
        self.task_file_card.opened.connect(self._show_task_file)
        self.file_card.changed.connect(self.refresh)
        self.task_file_card.changed.connect(self.refresh)
        self.empty.activated.connect(self._lead_on)
        self.rows.no_file.activated.connect(self._take_known)
        self._session.data.opened.connect(self._offer_known)
        self.rows.why_not.asking = self._cost_question
        self._session.training.result_changed.connect(self._result_changed)
        self._session.library.changed.connect(self._take_first)

    @property
    def is_asking(self) -> bool:
        """Whether anything is still to be answered: of a model, a text or a file."""
        asked = (self._model_asked, self.file_card, self._shown)
        return self._is_running or any(one.is_asking for one in asked)

    @property
    def _is_running(self) -> bool:
        """Whether a file is being answered, by whichever model that was asked to."""
        return self.file_card.is_running or self.task_file_card.is_running

    # ---- what is shown, as a value

    @property
    def state(self) -> PredictState:
        typed = tuple(text[:LONGEST_KEPT] for text in self._shown.texts_in_hand())
        return PredictState(self._folder, typed, self._card.file)

    @property
    def in_bar(self) -> InBar:
        file = self._card.path
        return InBar(
            wanted=FILES,
            data="" if file is None else file.name,
            take_file=self.open_file,
            has_text=self._inspector.is_given,
            with_pair=len(self._shown.ask_card.texts()) > 1,
        )

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        described = self._described
        if described is None:
            return ()
        first, *others = self._shown.ask_card.texts()
        texts: list[TableTexts | TypedTexts] = [typed(first, "\n".join(others))]
        preview = self.file_card.preview if self._card is self.file_card else None
        if preview is not None and preview.roles.text:
            texts.append(TableTexts(preview.table, preview.roles.text, preview.roles.text_pair))
        read = partial(TextsRead, described.folder, max_length=described.max_length, deed=FINE_TUNE)
        return tuple(read(one) for one in texts)

    def restore_state(self, state: PredictState) -> None:
        """Show what was shown when the last window closed, but for what is gone."""
        if state.model is not None and not (state.model / "config.json").is_file():
            state = replace(state, model=None)
        if state.file is not None and not (state.file.path.is_absolute() and state.file.path.is_file()):
            state = replace(state, file=None)
        super().restore_state(state)

    def goes_on_with(self, state: PredictState) -> bool:
        return state.model is None or self._folder in (None, state.model)

    def open_state(self, state: PredictState) -> None:
        if state.model not in (None, self._folder):
            self.set_model(state.model)

    def is_open(self, state: PredictState) -> bool:
        return self._folder is None or self._described is not None or self.model_card.is_refused

    def take_state(self, state: PredictState) -> None:
        if any(state.texts):
            self.model_card.pairs.setChecked(len(state.texts) > 1)
            self._inspector.set_text(
                *state.texts, *(() if len(state.texts) > 1 else [self._inspector.text_pair])
            )
            self._shown.take_text()
        if state.file is not None:
            self._card.open_file(state.file)

    # ---- the model

    @property
    def _folder(self) -> Path | None:
        """The model in hand."""
        return self._inspector.folder

    def set_model(self, folder: Path | str) -> None:
        """Have this model in hand, and ask it."""
        self._inspector.hold(folder)

    def _take_hand(self) -> None:
        """Ask the model in hand from now on; it is loaded on the worker."""
        if self._folder == self._asked_of:
            return
        self._asked_of, self._described = self._folder, None
        self._model_asked.drop()
        self._shown.set_model(None)
        self.model_card.begin()
        self._shown.mark_model(self._model_name())
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
            self._shown.ask()
        self.take_up()

    def _take_caret(self) -> None:
        """Let what is typed be the text, for whoever was led here; who walks through the rail stays there."""
        focused = QApplication.focusWidget()
        is_free = focused is None or focused.isAncestorOf(self) or self.isAncestorOf(focused)
        if self.isVisible() and is_free:
            self.text_card.text_box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_first(self) -> None:
        """Ask the last model that was trained, or used, where none is in hand."""
        if self.isVisible() and self._folder is None and self.model_card.first:
            self.set_model(self.model_card.first)

    def _describe(self) -> None:
        if self._folder is not None:
            self.model_card.show_words(self.tr("Loading…"))
            self._model_asked.ask(
                self._folder,
                partial(describe, self._session.inspector.open_models, self._folder),
                heard=self._hear_description,
                refused=self._refuse_model,
                ended=self._end_description,
            )

    def _result_changed(self) -> None:
        if self._session.training.last_model == self._folder:  # trained anew
            self._asked_of = None
            self._take_hand()

    def _hear_description(self, described: ModelDescription) -> None:
        self._take_description(described)
        self.take_up()

    def _refuse_model(self, error: BaseException) -> None:
        self.model_card.show_refusal(words.say_error(error), self._folder)
        self.refresh()
        self.take_up()

    def _end_description(self) -> None:
        if self._described is None:
            self.model_card.show_words("")

    def _pairs_toggled(self, _wanted: bool) -> None:
        if self._described is not None and self._described.may_want_pair:
            self._take_description(self._described)
            self._shown.ask()

    def _take_description(self, described: ModelDescription) -> None:
        if described.may_want_pair:
            described = replace(described, wants_pair=self.model_card.pairs.isChecked())
        self._described, self._shown = described, self._answers_of(described.task)
        self.model_card.show_description(described)
        self.file_cards.setCurrentWidget(self._card)
        if self._shown is self.rows:
            self.rows.describe(described)
        self._shown.set_model(described.folder)
        self._card.set_model(described, self._shown.suffixes)
        self.refresh()

    def _answers_of(self, task: str) -> TaskAnswers:
        """Return what shows a task's answers."""
        views = views_of(task)
        if not isinstance(views, FileViews):
            return self.rows
        if task not in self._own:
            self._own[task] = views.answers(self._session)
            self.stack.addWidget(self._own[task])
        return self._own[task]

    def _model_name(self) -> str:
        return model_title(self._folder) if self._folder is not None else ""

    def _look_inside(self) -> None:
        """Open the text and its model on the pages that look inside."""
        if self._folder is not None:
            state = AttentionState.why(self._folder, *self.text_card.texts())
            self._session.show_page("attention", state)

    # ---- a whole file

    @property
    def _card(self) -> AnsweredFileCard:
        """What says which file is answered."""
        return self.file_card if self._shown is self.rows else self.task_file_card

    def open_file(self, path: Path) -> None:
        """Take a file, and show what is in it before anything is predicted."""
        self._card.open_file(PredictedFile(path))

    def _show_task_file(self, path: Path) -> None:
        self._shown.show_file(path)

    def predict_file(self) -> None:
        """Answer the whole file into the new one."""
        card, answers, out = self._card, self._shown, self._card.out_path
        if self._folder is None or card.path is None or out is None:
            return
        for taken in (out, sheet_place(out, SHEET)):
            if taken.exists():
                card.refuse_name(out, taken)
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
        self, card: AnsweredFileCard, answers: TaskAnswers, model: str, out: Path, event: Event
    ) -> None:
        if isinstance(event, Progress):
            card.show_progress(event.done, event.total, words.event_words(event))
        elif isinstance(event, Finished):
            card.show_written(event.path or out, event.seconds, model)
        answers.hear(event)
        if isinstance(event, SharesFound):
            self.rows.shares.show_written(out)

    @property
    def _known(self) -> Path | None:
        """The open table, or the one that it is a labelled copy of."""
        path = self.file_card.known
        return None if path is None else table_behind(path, self._session.settings.recent_files)

    def _offer_known(self) -> None:
        known = self._known
        self.rows.offer_file("" if known is None else known.name)

    def _take_known(self) -> None:
        """Take the open table where there is one, else ask for a file."""
        known = self._known
        if known is None:
            self.file_card.browse()
        else:
            self.open_file(known)

    def _cost_question(self, watts: float) -> CostQuestion | None:
        """Return what there is to ask of the model's cost; None while there is no model or no file."""
        shown = self.file_card.preview
        if self._folder is None or shown is None or not shown.roles.text:
            return None
        model, table = ModelName(self._folder), shown.table
        return CostQuestion(
            model, data=table.path, text=shown.roles.text, watts=watts, how=shown.how, table=table
        )

    def _end_file(self, card: AnsweredFileCard, answers: TaskAnswers) -> None:
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
        is_running, ready = self._is_running, self._described is not None and self._card.is_ready
        self.run_button.setVisible(not is_running)
        self.run_button.setEnabled(ready)
        self.stop_button.setVisible(is_running)
        self.copy_button.setEnabled(ready)
        reason = "" if ready else self.tr("Choose a model and a file first.")
        self.run_button.setToolTip(reason)
        self.copy_button.setToolTip(reason)
        had_model = self.stack.currentWidget() is not self.empty_card
        lacks = self._folder is None or self.model_card.is_refused
        self._show_empty()
        self.stack.setCurrentWidget(self.empty_card if lacks else self._shown)
        if not had_model and not lacks:
            QTimer.singleShot(0, self, self._take_caret)
        self.in_bar_changed.emit()

    @property
    def _offered(self) -> str:
        """The model to offer in place of one that cannot answer; "": none."""
        return self.model_card.offered if self._folder is not None else ""

    def _show_empty(self) -> None:
        """Say why nothing can be asked, and what helps: a trained model, where there is one."""
        first = self._offered
        said = self.tr("No trained model is chosen yet. Fine-tune one first, or choose one above.")
        if self._folder is None:
            self.model_card.show_words(self.tr("None is chosen yet."))
        else:
            said = self.tr("The model in hand cannot answer here. Choose a trained one above.")
        self.empty.set_text(said)
        use = self.tr("Use {name}").format(name=words.shorten(model_title(first), 28)) if first else ""
        self.empty.button.setText(use or self.tr("Fine-tune a model"))

    def _lead_on(self) -> None:
        if self._offered:
            self.set_model(self._offered)
        else:
            self._session.show_page("finetune", RunPageState())

    def copy_command(self) -> None:
        """Put the command that predicts the file without a window on the clipboard."""
        out = self._card.out_path
        if self._folder is not None and out is not None:
            self.copy_button.copy(self._card.question(ModelName(self._folder), out).command())


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
