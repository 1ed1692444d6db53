"""The Fine-tune page: teach a pretrained BERT your labels and watch it learn.

The page starts nothing by itself and keeps no state of the run: the session does, and tells it in events.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app import words
from app.look import theme
from app.look.widgets import Card, EmptyState, button
from app.pages.finetune.charts import FineTuneCharts
from app.pages.finetune.facts import facts_of
from app.pages.finetune.setup import APART, FineTuneSetup
from app.pages.run.facts import Fact
from app.pages.run.page import TrainingPage
from app.session import LABEL_CHOICES, Session, sample_data_path
from app.settings import AppSettings
from app.shipped import starter_model
from app.work.tables import NEW
from engine.commands.command_line import finetune_command
from engine.events import Started
from engine.settings.finetune import FineTuneConfig, values_of
from engine.text.examples import Roles
from engine.train.run.runs import new_run_dir

EMPTY_WIDTH = 380


class FineTunePage(TrainingPage):
    """Settings at the left, the run at the right, at most three actions above."""

    key, kind = "finetune", FineTuneConfig
    setup: FineTuneSetup
    charts: FineTuneCharts
    inside = "attention"  # a classifier guesses no words

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setObjectName("finetune_page")
        self.header.title_label.setText(self.tr("Fine-tune"))
        self.header.set_sentence(self.tr("Teach a pretrained BERT your labels and watch it learn."))
        self.try_button.setText(self.tr("Try it on a text"))
        self._data_problem: BaseException | None = None
        self._own: dict[str, Any] = {}  # settings while others are lent for one training
        self.setup = FineTuneSetup(session)
        self.setup.setObjectName("setup_card")
        self.charts = FineTuneCharts()
        self.lay_out(self._empty_card())
        self._connect()
        self._hear_session()

    def _empty_card(self) -> Card:
        """Return what stands beside the form while something is lacking."""
        self.empty = EmptyState("", self.tr("Open data"))
        self.empty.setObjectName("empty_state")
        self.empty.button.setObjectName("empty_action")
        self.empty.label.setMinimumWidth(EMPTY_WIDTH)
        self.random_link = button(self.tr("Start from random weights"), "link", name="random_weights")
        self.starter_button = button(
            self.tr("Start from the starter model"), "primary", name="starter_weights"
        )
        column = cast(QVBoxLayout, self.empty.layout())
        column.insertWidget(1, self.starter_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.random_link, 0, Qt.AlignmentFlag.AlignHCenter)
        card = Card()
        card.add(self.empty, 1)
        return card

    def _connect(self) -> None:
        self.empty.activated.connect(self._empty_action)
        self.random_link.clicked.connect(self.setup.chooser.start_from_random_weights)
        self.starter_button.clicked.connect(self.setup.chooser.start_from_starter)
        self.setup.changed.connect(self._setup_changed)
        self.session.training_ended.connect(self.put_back)
        self.session.table_problem.connect(self._data_failed)
        self.session.study_changed.connect(self._data_changed)

    def missing(self) -> str:
        """Return what a run still lacks: "data", "roles", "labels", "model"; "" for nothing."""
        session = self.session
        if session.table is None:
            return "data"
        if session.roles is None or not session.roles.text or not session.roles.label:
            return "roles"
        if self._data_refusal():
            return "labels"
        return "model" if session.model is None else ""

    def reason(self) -> str:
        missing = self.missing()
        ready = not missing and self.session.study is not None
        return "" if ready else self._missing_words(missing)

    def show_moment(self) -> None:
        missing = self.missing()
        self.stack.setCurrentIndex(0 if missing and not self._has_run else 1)
        self.empty.set_text(self._missing_words(missing))
        self.random_link.setVisible(missing == "model")
        self.starter_button.setVisible(missing == "model" and starter_model() is not None)
        self.charts.show_before([] if self._has_run else self.setup.remarks())
        columns = self.tr("Choose the columns")
        actions = {"data": self.tr("Open data"), "roles": columns, "labels": columns}
        self.empty.button.setText(actions.get(missing, self.tr("Choose a model folder…")))

    def _missing_words(self, missing: str) -> str:
        match missing:
            case "data":
                return self.tr("Fine-tuning needs a table with texts and their labels. Open one first.")
            case "roles":
                return self.tr("Say which column holds the texts and which the labels.")
            case "model":
                return self.tr(
                    "Choose what to start from: a pretrained BERT learns your labels soonest; "
                    "random weights know nothing yet."
                )
        return self._data_refusal() or self.tr("The texts are still being counted.")

    def _data_refusal(self) -> str:
        """Return why nothing can be learned from the table as it is; "" where it can, or is not known yet."""
        study = self.session.study
        if study is not None:
            return words.say(study.refusal) if study.refusal is not None else ""
        return words.say_error(self._data_problem) if self._data_problem is not None else ""

    @Slot()
    def _empty_action(self) -> None:
        if self.missing() == "model":
            self.setup.chooser.browse()
        else:
            self.session.page_requested.emit("data")

    @Slot(object)
    def _data_failed(self, error: BaseException) -> None:
        if self.session.table is not None and self.session.study is None:  # read, but not to be learned from
            self._data_problem = error
            self.refresh()

    @Slot()
    def _data_changed(self) -> None:
        self._data_problem = None
        self.refresh()

    @Slot()
    def _setup_changed(self) -> None:
        self.refresh()

    def command(self, config: FineTuneConfig) -> str:
        return finetune_command(config, new_run_dir(self.session.runs_root, Path(config.data.data).stem))

    def facts(self, config: FineTuneConfig, started: Started | None) -> list[Fact]:
        return facts_of(config, started)

    def lead_on(self) -> None:
        self.session.page_requested.emit("predict")

    def lend(self, values: dict[str, Any]) -> None:
        """Put other settings into the form for one training; the person's own come back with its end."""
        own = self.setup.form.values()
        self._own = {name: own[name] for name in values} | self._own
        self.setup.set_values(values)

    @Slot()
    def put_back(self) -> None:
        """Show the person's own settings again, where others were lent."""
        own, self._own = self._own, {}
        if own:
            self.setup.set_values(own)

    def take_settings(self, config: FineTuneConfig) -> list[str]:
        session, data, gone = self.session, config.data, list[str]()
        values = values_of(config)
        self.setup.take_apart(data.data, *(values.pop(name) for name in APART))
        self.setup.form.set_values(values)
        overrides = {name: getattr(data, name) for name in session.table_overrides}
        if Path(data.data).is_file():
            roles = Roles(data.text, data.text_pair, data.label)
            choices = {name: bool(getattr(data, name)) for name in LABEL_CHOICES}
            session.open_table(data.data, roles=roles, label_choices=choices, **overrides)
        else:
            gone.append(data.data)
        model = config.model
        if model.model.startswith(NEW) or Path(model.model).is_dir():
            session.set_model(model.model, model.vocab, model.lowercase)
        else:
            gone.append(model.model)
        return gone


def main() -> int:
    """Show the page alone: the sample sentences, a small model from random weights."""
    with TemporaryDirectory() as folder:
        app = QApplication(sys.argv)
        settings = AppSettings(Path(folder) / "settings.ini")
        settings.runs_root = folder
        theme.apply_theme(app, settings.theme)
        session = Session(settings)
        page = FineTunePage(session)
        page.resize(1104, 780)
        page.show()
        session.open_table(sample_data_path())
        page.setup.chooser.start_from_random_weights()
        result = app.exec()
        session.close()
    return result


if __name__ == "__main__":
    sys.exit(main())
