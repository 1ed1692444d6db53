"""Why not a large language model? What this model costs here, and how far it agrees with one’s labels."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import DoubleSpinBox
from app.look.labels import label, set_or_hide
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, ScrollView, button, named, tidy_spin
from app.pages.tasks.tile import ScoreTile
from app.session import Session
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.labelling.answering_cost import CITED, WhyNot, energy_words
from engine.questions.cost import WATTS, CostQuestion

WATTS_WIDTH = 92  # px
Asking = Callable[[float], CostQuestion | None]  # watts of a core -> what is asked; None: nothing can be


class WhyNotCard(Card):
    """Figures above, sentences below; measured by a click. asking: says what is asked, by the watts."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Why not a large language model?"), parent=parent)
        self.setObjectName("why_not_card")
        self.asking: Asking = lambda _watts: None
        self._asked = Channel(self, session.workers.models)
        self.tiles = {name: ScoreTile(f"why_not_{name}") for name in ("speed", "energy", "agreement")}
        self.said = label("", "muted", wrap=True, name="why_not_words")
        self.cited = label("", "muted", wrap=True, name="why_not_cited")
        self.refusal = label("", "refusal", wrap=True, name="refusal_why_not")
        self.watts = named(
            DoubleSpinBox(minimum=0.1, maximum=1000.0, value=WATTS, decimals=1), "why_not_watts"
        )
        self.watts.setSuffix(" W")
        tidy_spin(self.watts, WATTS_WIDTH)
        caption = label(self.tr("A core at work takes"), "muted", buddy=self.watts)
        self.watts_row = QWidget()
        row(caption, self.watts, gap=8, parent=self.watts_row)
        self.watts_row.setToolTip(
            self.tr("Assumed where the processor’s own meter cannot be read. It changes the energy alone.")
        )
        self.measure_button = button(self.tr("Measure"), name="why_not_measure", call=self.measure)
        self._figures = QWidget()
        row(*self.tiles.values(), STRETCH, gap=28, parent=self._figures)
        inner = QWidget()
        parts = (self._figures, self.said, self.cited, self.refusal, row(self.watts_row, STRETCH))
        column(*parts, STRETCH, gap=10, parent=inner)
        self.add_corner(self.measure_button)
        self.add(ScrollView(inner), 1)
        self.begin()

    @property
    def is_asking(self) -> bool:
        return self._asked.is_asking

    def begin(self) -> None:
        """Say what a click brings; nothing is measured yet."""
        self._asked.drop()
        self._figures.hide()
        self.cited.hide()
        self.refusal.hide()
        self.said.setText(
            self.tr(
                "Measure how many rows of the file this model answers in a second, and what energy they "
                "take. How far its answers agree with your labels is shown, too."
            )
        )

    def measure(self) -> None:
        """Measure, on the worker."""
        question = self.asking(self.watts.value())
        if question is None:
            set_or_hide(self.refusal, self.tr("Choose a model and a file first."))
            return
        self.refusal.hide()
        self.measure_button.setEnabled(False)
        self._asked.ask(
            question,
            heard=self.show_found,
            refused=lambda error: set_or_hide(self.refusal, words.say_error(error)),
            progress=self._show_progress,
            ended=self._end,
            again=True,
        )

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.said.setText(words.event_words(event))

    def _end(self) -> None:
        self.measure_button.setEnabled(True)

    def show_found(self, found: WhyNot) -> None:
        """Show what was measured."""
        cost = found.cost
        rate = (
            words.number(round(cost.rows_per_s))
            if cost.rows_per_s >= 10
            else words.decimal(cost.rows_per_s, 1)
        )
        self.tiles["speed"].put(self.tr("Rows per second"), rate)
        self.tiles["energy"].put(
            self.tr("For 1,000 rows"),
            energy_words(cost.watt_hours),
            self.tr("By the processor’s own meter.")
            if cost.joules is not None
            else self.tr("Processor time was measured; the watts of a core are assumed."),
        )
        self.tiles["agreement"].setVisible(bool(found.agreements))
        if found.agreements:
            one = found.agreements[0]
            said = self.tr("On {count} texts that the model did not learn from.")
            share, count = words.share(one.raw.value, 0), words.number(one.rows)
            self.tiles["agreement"].put(self.tr("Agrees with your labels"), share, said.format(count=count))
        cited = len(CITED)
        told = [words.say(one) for one in found.sentences()]
        self.said.setText("\n".join(told[:-cited]))
        self.cited.setText("\n".join(told[-cited:]))
        self.watts_row.setVisible(cost.joules is None)
        self._figures.show()
        self.cited.show()
