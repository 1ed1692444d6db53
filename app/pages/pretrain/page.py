"""The Pretrain page: from plain text to a language model, every choice visible before and while it learns.

The page starts nothing by itself and keeps no state of the run: the session does, and tells it in events.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.pages.pretrain.advice import DROP_REPEATED, TextFacts, on_text
from app.pages.pretrain.before import BeforePretraining
from app.pages.pretrain.charts import PretrainCharts
from app.pages.pretrain.facts import facts_of
from app.pages.pretrain.findings import TEXT, Findings, answer
from app.pages.pretrain.pins import PinsDialog
from app.pages.pretrain.setup import PretrainSetupCard
from app.pages.run.alone import show_alone
from app.pages.run.facts import Fact
from app.pages.run.page import TrainingPage
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.tables import NEW
from app.work.texts_read import START, UNCUT, CorpusTexts, TextsRead
from app.work.training import run_name
from app.work.worker import Channel
from engine.commands.language import pretrain_command
from engine.commands.remote import where_words
from engine.events import Started
from engine.settings.config import values_of, with_values
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import new_run_dir


class PretrainPage(TrainingPage):
    """Settings at the left; at the right the text and what will be seen of it, or the run."""

    kind = PretrainConfig
    setup: PretrainSetupCard
    charts: PretrainCharts
    inside = "probe"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setObjectName("pretrain_page")
        self.setAcceptDrops(True)
        self.header.title_label.setText(self.tr("Pretrain"))
        self.header.set_sentence(self.tr("Teach a BERT a language from plain text, and watch it learn."))
        self.try_button.setText(self.tr("Fine-tune it"))
        self.setup = PretrainSetupCard(session)
        self.findings = Findings(session, self)
        self.before = BeforePretraining()
        self.charts = PretrainCharts()
        self._question_asked = Channel(self, session.workers.models)
        self._pins: list[str] = []  # of the run that is shown
        self.lay_out(self.before)
        self._connect()
        self.setup.pins = tuple(self.before.pins.editor.sentences())
        self._hear_session()
        self.setup.check()

    def _connect(self) -> None:
        self.setup.changed.connect(self._setup_changed)
        for finding in (self.findings.text, self.findings.examples, self.findings.outlook):
            finding.changed.connect(self._show_findings)
        text = self.before.text
        text.files_wanted.connect(self.setup.text.browse_files)
        text.folder_wanted.connect(self.setup.text.browse_folder)
        text.sample_wanted.connect(self.take_sample)
        text.mend_wanted.connect(self._mend)
        self.before.pins.editor.changed.connect(self._pins_changed)
        self.charts.pinned.asked.connect(self._ask)
        self.charts.pinned.edit_wanted.connect(self._edit_pins)

    def reason(self) -> str:
        if not self.setup.text.has_text:
            return self.tr("Choose the training text.")
        if self.findings.text.error is not None:
            return words.say_error(self.findings.text.error)
        if self.setup.start.problem is not None:
            return words.say_error(self.setup.start.problem)
        if self.setup.refusal is not None:
            return words.say_error(self.setup.refusal)
        remarks = on_text(self.text_facts())
        return next((remark.text for remark in remarks if remark.level == "wrong"), "")

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """The beginning of the text, by a vocabulary that is not made from it."""
        start = self.setup.start
        if self.shows_run or not self.setup.text.has_text or start.learns_vocabulary or start.info is None:
            return ()
        values = self.setup.values()
        config = with_values(PretrainConfig(), {name: values[name] for name in TEXT if name in values})
        made = self.tr("Make one from the text"), partial(start.take_vocabulary, "")
        return (
            TextsRead(
                start.info.wordpiece,
                CorpusTexts(config),
                UNCUT,
                deed=START,
                is_model=not start.is_new,
                take=lambda folder: start.start_from(str(folder)),
                own=made if start.is_new else None,
            ),
        )

    def text_facts(self) -> TextFacts:
        """Return what the advice on the text is about."""
        forecast = self.findings.forecast
        return TextFacts(
            report=self.findings.report,
            asks_pairs=bool(self.setup.form.values()["next_sentence"]),
            drops_repeated=self.setup.drops_repeated,
            epochs=forecast.epochs if forecast is not None else 0.0,
        )

    def _setup_changed(self) -> None:
        self._ask_workers()
        self.before.forecast.show_shape(self.setup.shape)
        self._show_findings()
        self.refresh()

    def _ask_workers(self) -> None:
        """Find out about the settings as they are, where somebody looks at the page."""
        if not self.isVisible() or self.shows_run:
            return
        text = whole = None
        if self.setup.text.has_text:
            values = self.setup.values()
            text = with_values(PretrainConfig(), {name: values[name] for name in TEXT})
            if self.setup.refusal is None and self.setup.start.problem is None:
                whole = self.setup.config()
        self.findings.ask(text, whole)

    def _show_findings(self) -> None:
        mended = self.setup.refusal is None and self.setup.start.problem is None
        facts = self.text_facts() if self.setup.text.has_text else None
        self.before.show_findings(self.findings, facts, mended=mended, host=self.setup.where.host)
        self.refresh()

    def take_sample(self) -> None:
        self.setup.form.set_values({"next_sentence": False})  # each of its documents is one sentence
        self.setup.text.take_sample()

    def _mend(self, name: str, value: bool) -> None:
        if name == DROP_REPEATED:
            self.setup.set_drops_repeated(value)
        else:
            self.setup.form.set_values({name: value})

    def _pins_changed(self) -> None:
        self.setup.pins = tuple(self.before.pins.editor.sentences())

    def take(self, paths: Sequence[str]) -> None:
        """Take what was dropped on the window as the text to learn from."""
        if not self.is_running and paths:
            self.leave_run()
            self.setup.text.take(paths)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()) and not self.is_running:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.take([url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask_workers()

    def command(self, config: PretrainConfig) -> str:
        place = new_run_dir(self.session.runs.root, run_name(config))
        return pretrain_command(config, place, where_words(self.host_shown))

    def facts(self, config: PretrainConfig, started: Started | None) -> list[Fact]:
        return facts_of(config, started)

    def take_settings(self, config: PretrainConfig) -> list[str]:
        values = values_of(config)
        places = [place for place in config.text.text.split("\n") if place.strip()]
        gone = [place for place in places if not Path(place).exists()]
        if gone:  # as of the run that ships, whose text does not
            del values["text"]
        if not config.start.model.startswith(NEW) and not Path(config.start.model).is_dir():
            gone.append(config.start.model)
            del values["model"]
        self.setup.set_values(values)
        self.before.pins.editor.put(config.budget.pins.split("\n"))
        self._ask_workers()
        return gone

    def show_cards(self) -> None:
        super().show_cards()
        is_asked = self.is_running and self.session.training.questions is not None  # not of another computer
        self.charts.pinned.set_askable(is_asked or self.model_folder is not None)
        self.charts.pinned.edit.setVisible(is_asked)

    def use_model(self) -> None:
        """Take the model to where it learns labels."""
        if self.model_folder is not None:
            self.session.model.choose(str(self.model_folder))
        self.session.show_page("finetune", RunPageState())

    def show_config(self, config: PretrainConfig) -> None:
        self._pins = [line for line in config.budget.pins.split("\n") if line.strip()]
        is_new = config.start.model.startswith(NEW)
        self.charts.advice.is_new = is_new
        self.charts.advice.vocab_size = config.start.vocab_size if is_new else 0

    def _ask(self, sentence: str) -> None:
        """Put a question to the model in training, or to the one that the run has left."""
        pinned, questions = self.charts.pinned, self.session.training.questions
        if self.is_running and questions is not None:
            questions.ask(sentence)
            paused = self.session.training.state.state == "paused"
            pinned.say(
                self.tr("It answers when training continues.")
                if paused
                else self.tr("It answers between two steps…")
            )
        elif self.model_folder is not None:
            pinned.say(self.tr("Asking the model…"))
            models = self.session.inspector.open_models
            self._question_asked.ask(
                (self.model_folder, sentence),
                partial(answer, models, self.model_folder, sentence),
                heard=pinned.hear,
                refused=lambda error: pinned.say(words.say_error(error)),
                again=True,
            )

    def _edit_pins(self) -> None:
        dialog = PinsDialog(self._pins, self)
        dialog.wanted.connect(self._pin)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _pin(self, sentences: list[str]) -> None:
        self._pins = sentences
        if self.session.training.questions is not None:
            self.session.training.questions.pin(sentences)


def main() -> int:
    """Show the page alone."""
    return show_alone(PretrainPage, lambda page: page.take(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
