"""What the looking-inside pages are made of: a page that waits for a model and says what it lacks.

A page overrides `model_ready` and `text_ready`; both are called on the window's thread, only while the page
is on screen, and only when there is something new. What it shows can be kept and shown again: of that it says
its own part (`own_values`, `other_models`), and takes it back (`take_own`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app import words
from app.look.banner import Banner
from app.look.widgets import GAP, Card, EmptyState, Page, button
from app.pages.inside.model_bar import SubjectBar
from app.plots.figure import Figure
from app.session import Session
from app.work.page_state import MODEL, PageState
from engine.errors import ModelError, UserError, marked
from engine.inspect.loaded_model import ModelSummary


class LookingPage(Page):
    """Header, the row that chooses the model, and `work`: the page's own, once a fitting model is open.

    Args: needs: "masked_words", "next_sentence" or "labels" if the page is nothing without that head.
    """

    shows_text = True  # the one that the pages share

    def __init__(self, session: Session, *, needs: str = "", parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.session, self.inspector = session, session.inspector
        self._needs = needs
        self._shown: ModelSummary | None = None
        self._studied: tuple[str, str] | None = None
        self._to_show: PageState | None = None  # until its model is open
        self.subject_bar = SubjectBar(session)
        self.banner = Banner(name="looking_banner")
        self.empty = EmptyState("", self.tr("Choose a model folder…"))
        self.empty.setObjectName("looking_empty")
        self.empty.button.setObjectName("looking_choose")
        self.pretrain_button = button(self.tr("Pretrain a model"), name="looking_pretrain")
        self._lay_out_looking()
        self.empty.activated.connect(self.subject_bar.choose_folder)
        self.pretrain_button.clicked.connect(self._lead_to_training)
        self.inspector.model_changed.connect(self._catch_up)
        self.inspector.text_changed.connect(self._catch_up)
        self._catch_up()

    # ---- for the page

    def model_ready(self, about: ModelSummary) -> None:
        """Show what a model says; another one than before, or the first."""

    def text_ready(self) -> None:
        """Look at the shared text; called after `model_ready` too."""

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

    def page_state(self) -> PageState:
        """Return what the page shows. Raises: UserError: there is nothing yet, or nothing that can be
        kept.
        """
        about, inspector = self.inspector.about, self.inspector
        if about is None or self._lacking():
            raise UserError(marked("engine", "There is nothing to keep here yet. Choose a model first."))
        texts = (inspector.text, inspector.text_pair) if self.shows_text else ("", "")
        return PageState(self.own_values(), {MODEL: about.folder, **self.other_models()}, *texts)

    def show_state(self, state: PageState) -> None:
        """Show what was kept, as soon as its model is open. Raises: UserError: it is not what this
        page keeps.
        """
        folder = state.models.get(MODEL)
        if folder is None:
            raise UserError(marked("engine", "This scene cannot be shown: it names no model."))
        self.check_own(state)
        self._to_show = state
        if folder != self.inspector.folder or self.inspector.refusal is not None:
            self.inspector.choose(folder)
        if self.shows_text:
            self.inspector.set_text(state.text, state.text_pair)
        self._catch_up()

    @property
    def is_state_shown(self) -> bool:
        """Whether what was to be shown has been taken up, or was refused."""
        return self._to_show is None or bool(self._lacking())

    def own_values(self) -> dict[str, Any]:
        """Return what the page shows beside model and text, as JSON has it. Raises: UserError: it
        cannot be kept.
        """
        return {}

    def other_models(self) -> Mapping[str, Path]:
        """Return the models beside the one that is looked into, by what they are for."""
        return {}

    def check_own(self, state: PageState) -> None:
        """Refuse what this page did not keep. Raises: UserError."""

    def take_own(self, state: PageState) -> None:
        """Show what `own_values` gave; its model and its text are there. Raises: UserError: they do
        not fit.
        """

    def figures_shown(self) -> tuple[Figure, ...]:
        """Return the pictures that say what the page shows, the first first."""
        return ()

    def _take_state(self) -> None:
        state = self._to_show
        if state is None or self.inspector.folder != state.models[MODEL]:
            return
        self._to_show = None
        try:
            self.take_own(state)
        except UserError as error:
            self.refuse(error)

    # ---- the frame

    def _lay_out_looking(self) -> None:
        card = Card()
        card.add(self.empty, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.pretrain_button)
        row.addStretch(1)
        empty_layout = self.empty.layout()
        assert isinstance(empty_layout, QVBoxLayout)
        empty_layout.addLayout(row)
        inner = QWidget()
        self.work = QVBoxLayout(inner)
        self.work.setContentsMargins(0, 0, 0, 0)
        self.work.setSpacing(GAP)
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
                inspector.choose(known[0].path)
        self.subject_bar.refresh()
        self._catch_up()

    @Slot()
    def _catch_up(self) -> None:
        inspector = self.inspector
        lacking = self._lacking()
        self._show_empty(lacking)
        if not self.isVisible() or inspector.about is None or lacking:
            return
        if inspector.about is not self._shown:
            self._shown, self._studied = inspector.about, None
            self.accept()
            self.model_ready(inspector.about)
        if (inspector.text, inspector.text_pair) != self._studied:
            self._studied = (inspector.text, inspector.text_pair)
            self.text_ready()
        self._take_state()

    def _lacking(self) -> str:
        """Return why there is nothing to show, or nothing."""
        inspector = self.inspector
        if inspector.refusal is not None:
            return words.say_error(inspector.refusal)
        if inspector.folder is None:
            return self.tr(
                "Choose the model to look into: a folder with config.json and weights, such as one that was "
                "trained here."
            )
        if inspector.about is not None and self._needs:
            try:
                inspector.about.require(self._needs)
            except ModelError as error:
                return words.say_error(error)
        return ""

    def _show_empty(self, lacking: str) -> None:
        is_first = self.inspector.about is None and self._shown is None
        self.empty.set_text(lacking or self.tr("Opening the model…"))
        self.empty.button.setVisible(bool(lacking))
        self.pretrain_button.setVisible(bool(lacking))
        labels = self._needs == "labels"
        self.pretrain_button.setText(self.tr("Fine-tune a model") if labels else self.tr("Pretrain a model"))
        self._stack.setCurrentIndex(0 if lacking or is_first else 1)

    @Slot()
    def _lead_to_training(self) -> None:
        self.session.page_requested.emit("finetune" if self._needs == "labels" else "pretrain")
