"""What stands beside the Fine-tune form while a run still lacks something: what that is, and the way on."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.look.widgets import EmptyState, button
from app.pages.finetune.model import ModelChooser
from app.session import Session
from app.shipped import starter_model

EMPTY_WIDTH = 380


class BeforeFineTuning(EmptyState):
    """Says what is lacking, with a button that leads there; `changed` when something else is."""

    changed = Signal()

    def __init__(self, session: Session, chooser: ModelChooser, parent: QWidget | None = None) -> None:
        super().__init__("", self.tr("Open data"), parent, least_width=EMPTY_WIDTH)
        self.setObjectName("empty_state")
        self._session, self._chooser = session, chooser
        self._data_problem: BaseException | None = None
        self.button.setObjectName("empty_action")
        self._random = button(self.tr("Use random weights"), "link", name="random_weights")
        self._starter = button(self.tr("Use the starter model"), "primary", name="starter_weights")
        column = cast(QVBoxLayout, self.layout())
        column.insertWidget(1, self._starter, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._random, 0, Qt.AlignmentFlag.AlignHCenter)
        self.activated.connect(self._go_on)
        self._random.clicked.connect(chooser.start_from_random_weights)
        self._starter.clicked.connect(chooser.start_from_starter)
        session.data.refused.connect(self._data_failed)
        session.data.summary_changed.connect(self._data_changed)
        if session.data.refusal is not None:
            self._data_failed(session.data.refusal)

    def missing(self) -> str:
        """Return what a run still lacks: "data", "roles", "labels", "model"; "" for nothing."""
        session = self._session
        if session.data.path is None:
            return "data"
        if session.data.task_file is not None:
            return "model" if session.model.chosen is None else ""
        if session.data.roles is None or not session.data.roles.text or not session.data.has_label:
            return "roles"
        if self._data_refusal():
            return "labels"
        return "model" if session.model.chosen is None else ""

    def missing_words(self) -> str:
        """Return what is lacking in a sentence; "" where a run can be started."""
        match self.missing():
            case "data":
                return self.tr("Fine-tuning needs a table with texts and their labels. Open one first.")
            case "roles":
                return self.tr("Choose the columns with the texts and the labels.")
            case "model":
                return self.tr(
                    "Choose what to start from. A pretrained BERT learns your labels fastest; "
                    "random weights know nothing yet."
                )
            case "" if self._session.data.summary is not None:
                return ""
        return self._data_refusal() or self.tr("The texts are still being counted.")

    def refresh(self) -> None:
        """Show what is lacking now."""
        missing = self.missing()
        self.set_text(self.missing_words())
        self._random.setVisible(missing == "model")
        self._starter.setVisible(missing == "model" and starter_model() is not None)
        columns = self.tr("Choose the columns")
        actions = {"data": self.tr("Open data"), "roles": columns, "labels": columns}
        self.button.setText(actions.get(missing, self.tr("Choose a model folder…")))

    def _data_refusal(self) -> str:
        """Return why nothing can be learned from the table as it is; "" where it can, or is not known yet."""
        summary = self._session.data.summary
        if summary is not None:
            return words.say(summary.refusal) if summary.refusal is not None else ""
        return words.say_error(self._data_problem) if self._data_problem is not None else ""

    def _go_on(self) -> None:
        if self.missing() == "model":
            self._chooser.browse()
        else:
            self._session.show_page("data")

    def _data_failed(self, error: BaseException) -> None:
        if self._session.data.path is not None and self._session.data.summary is None:
            self._data_problem = error  # it was read, but nothing can be learned from it
            self.changed.emit()

    def _data_changed(self) -> None:
        self._data_problem = None
        self.changed.emit()
