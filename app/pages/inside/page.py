"""What the looking-inside pages are made of: a page that waits for a model and says what it lacks.

A page overrides `model_ready` and `text_ready`; both are called on the window's thread, only while the page
is on screen, and only when there is something new. A state is taken up after both.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app import words
from app.look.banner import Banner
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, Card, EmptyState, button
from app.pages.choose.model_box import FolderQuestion
from app.pages.inside.kept_page import KeptPage
from app.pages.inside.model_bar import SubjectBar
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.page_state import State
from app.work.texts_read import TextsRead, typed
from engine.errors import ModelError, UserError, marked
from engine.inspect.loaded_model import ModelSummary
from engine.train.run.kept import of_one_run


class LookingPage(KeptPage[State]):
    """Header, and `work`: the page's own, once a fitting model is in hand and open.

    Args: needs: "masked_words", "next_sentence" or "labels" if the page is nothing without that head.
    """

    def __init__(self, session: Session, *, needs: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.inspector = session, session.inspector
        self._needs = needs
        self._shown: ModelSummary | None = None
        self._studied: tuple[str, str] | None = None
        self.subject_bar = SubjectBar(session)
        self.question = FolderQuestion(session, self, name="looking_model_dialog")
        self.banner = Banner(name="looking_banner")
        self.empty = EmptyState("", self.tr("Choose a model folder…"))
        self.empty.setObjectName("looking_empty")
        self.empty.button.setObjectName("looking_choose")
        self.pretrain_button = button(self.tr("Pretrain a model"), name="looking_pretrain")
        self._lay_out_looking()
        self.empty.activated.connect(self.question.ask)
        self.question.chosen.connect(self.inspector.choose)
        self.question.refused.connect(self.refuse)
        self.pretrain_button.clicked.connect(self._lead_to_training)
        self.inspector.model_changed.connect(self._catch_up)
        self.inspector.text_changed.connect(self._catch_up)
        self._catch_up()

    # ---- for the page

    def model_ready(self, about: ModelSummary) -> None:
        """Show what a model says; another one than before, or the first."""

    def text_ready(self) -> None:
        """Look at the shared text; called after `model_ready` too."""

    def forget(self) -> None:
        """Show nothing that was found of the model before; called before `model_ready`."""

    def refuse(self, error: BaseException | str) -> None:
        """Say above the work why a question has no answer."""
        self.banner.show_text("look", error if isinstance(error, str) else words.say_error(error))

    def accept(self) -> None:
        """Take a refusal away: the question has an answer now."""
        self.banner.hide()

    def offer_beginning(self, error: UserError) -> None:
        """Say above the work that a text cannot be read; offer its beginning where it is too long."""
        about = self.inspector.about
        most = error.sentence.values.get("most")
        if about is None or most is None:
            self.refuse(error)
            return
        said = self.tr("Read the first {count}").format(count=words.number(int(most)))
        self.banner.show_text("look", words.say_error(error), [(said, partial(self._read_beginning, about))])

    def _read_beginning(self, about: ModelSummary, _checked: bool = False) -> None:
        inspector = self.inspector
        text, pair = about.beginning(inspector.text, inspector.pair)
        inspector.set_text(text, pair or "")

    # ---- what is shown, kept and shown again

    @property
    def model_shown(self) -> Path:
        """The model that is looked into, for a state. Raises: UserError: there is none yet."""
        about = self.inspector.about
        if about is None or self._lacking():
            raise UserError(marked("engine", "There is nothing to keep here yet. Choose a model first."))
        return about.folder

    def model_shared(self) -> Path | None:
        about = self.inspector.about
        return None if about is None or self._lacking() else about.folder

    @property
    def is_state_shown(self) -> bool:
        return super().is_state_shown or bool(self._lacking())

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        about, inspector = self.inspector.about, self.inspector
        if about is None or self._lacking():
            return ()
        texts = typed(inspector.text, inspector.text_pair)
        return (TextsRead(about.wordpiece, texts, about.max_length, take=inspector.choose),)

    def goes_on_with(self, state: State) -> bool:
        inspector = self.inspector
        texts = (getattr(state, "text", inspector.text), getattr(state, "text_pair", inspector.text_pair))
        is_in_hand = inspector.folder in (None, state.model)  # type: ignore[attr-defined]  # every page has one
        return is_in_hand and texts == (inspector.text, inspector.text_pair)

    def open_state(self, state: State) -> None:
        model: Path = state.model  # type: ignore[attr-defined]  # every page of these has one
        if model != self.inspector.folder or self.inspector.refusal is not None:
            self.inspector.choose(model)
        if hasattr(state, "text"):
            self.inspector.set_text(state.text, getattr(state, "text_pair", ""))
        self._catch_up()

    def is_open(self, state: State) -> bool:
        inspector = self.inspector
        is_there = inspector.about is not None and not self._lacking()
        return is_there and inspector.folder == state.model  # type: ignore[attr-defined]  # as above

    # ---- the frame

    def _lay_out_looking(self) -> None:
        card = Card()
        card.add(self.empty, 1)
        empty_layout = self.empty.layout()
        assert isinstance(empty_layout, QVBoxLayout)
        empty_layout.addLayout(row(STRETCH, self.pretrain_button, STRETCH))
        inner = QWidget()
        self.work = column(gap=GAP, parent=inner)
        self._stack = QStackedWidget()
        self._stack.addWidget(card)
        self._stack.addWidget(inner)
        self.body.addWidget(self.subject_bar)
        self.body.addWidget(self.banner)
        self.body.addWidget(self._stack, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        inspector = self.inspector
        if inspector.folder is None:
            known = self.session.library.offered()
            if known:
                inspector.hold(known[0].path)
        self.subject_bar.refresh()
        self._catch_up()

    def _catch_up(self) -> None:
        inspector = self.inspector
        if self.isVisible():
            inspector.open()
        lacking = self._lacking()
        self._show_empty(lacking)
        if not self.isVisible() or inspector.about is None or lacking:
            return
        if inspector.about is not self._shown:
            before, self._shown, self._studied = self._shown, inspector.about, None
            if before is not None and not of_one_run(before.folder, inspector.about.folder):
                self.forget()
            self.accept()
            self.model_ready(inspector.about)
        if (inspector.text, inspector.text_pair) != self._studied:
            self._studied = (inspector.text, inspector.text_pair)
            self.text_ready()
        self.take_up()

    def _lacking(self) -> str:
        """Return why there is nothing to show, or nothing."""
        inspector = self.inspector
        if inspector.refusal is not None:
            return words.say_error(inspector.refusal)
        if inspector.folder is None:
            return self.tr(
                "Choose a model to look into: a folder with config.json and weights, such as "
                "one trained here."
            )
        if inspector.about is not None and self._needs:
            try:
                inspector.about.require(self._needs)
            except ModelError as error:
                return words.say_error(error)
        return ""

    def _show_empty(self, lacking: str) -> None:
        about, folder, shown = self.inspector.about, self.inspector.folder, self._shown
        is_step = folder is not None and shown is not None and of_one_run(folder, shown.folder)
        is_coming = about is None and not is_step  # else another model than the bar names would be shown
        self.empty.set_text(lacking or self.tr("Opening the model…"))
        self.empty.button.setVisible(bool(lacking))
        self.pretrain_button.setVisible(bool(lacking))
        labels = self._needs == "labels"
        self.pretrain_button.setText(self.tr("Fine-tune a model") if labels else self.tr("Pretrain a model"))
        self._stack.setCurrentIndex(0 if lacking or is_coming else 1)

    def _lead_to_training(self) -> None:
        self.session.show_page("finetune" if self._needs == "labels" else "pretrain", RunPageState())
