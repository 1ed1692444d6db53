"""Asks which runs to make of those that are chosen: more seeds, every combination, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QStackedWidget, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit, SpinBox
from app.look.labels import label
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, holder, named, tidy_spin
from app.pages.runs.rows import RunRow, column_words, setting_words
from engine.errors import UserError
from engine.runs.sweep import drawn, grid, repeated, seeds_for
from engine.train.run.runs import AnyConfig

SEEDS, GRID, RANDOM = "seeds", "grid", "random"
NUM_ROWS = 3  # settings that can be varied at once
SWEPT = (
    *("learning_rate", "num_epochs", "batch_size", "warmup_ratio", "weight_decay", "hidden_dropout"),
    *("max_length", "layer_decay", "frozen_layers", "new_layers", "embedding_rate", "label_smoothing"),
    *("encoder", "pooling", "rare_labels", "mask_rate", "next_sentence"),
)
USUAL_SEEDS, MOST_SEEDS, MOST_DRAWN = 5, 50, 200


@dataclass(frozen=True, slots=True)
class SweepRuns:
    """Runs to be made of one line. host: that trains them; "": this computer."""

    name: str
    configs: tuple[AnyConfig, ...]
    halving: bool = False
    host: str = ""


class SweepDialog(QDialog):
    """Says how many runs that makes, and about how long they take, before they are put into the queue."""

    wanted = Signal(list)  # of Wanted

    def __init__(
        self,
        rows: Sequence[RunRow],
        configs: Sequence[AnyConfig],
        kind: str = SEEDS,
        parent: QWidget | None = None,
        *,
        hosts: Sequence[str] = (),
    ) -> None:
        """Args: configs: the settings of each line's first run. hosts: other computers that can train."""
        super().__init__(parent)
        self.setObjectName("sweep_dialog")
        self.setWindowTitle(self.tr("Repeat with more seeds, or sweep"))
        self.setMinimumWidth(560)
        self._rows, self._configs = tuple(rows), tuple(configs)
        self.kind = SegmentedButtons(
            "sweep_kind",
            [
                (
                    SEEDS,
                    self.tr("More seeds"),
                    self.tr("The same settings again, to separate chance from skill"),
                ),
                (GRID, self.tr("Every combination"), self.tr("Of the named values")),
                (RANDOM, self.tr("Random sample"), self.tr("Between two numbers, or from several values")),
            ],
        )
        self.pages = QStackedWidget()
        self.pages.addWidget(self._seed_page())
        self.pages.addWidget(self._value_page())
        self.where = ChoiceBox("sweep_where", self.tr("Where"))
        self.where.addItem(self.tr("This computer"), "")
        there = list(dict.fromkeys(facts.host for one in self._rows for facts in one.runs))
        for host in dict.fromkeys(filter(None, [*there, *hosts])):
            self.where.add_choice(host, host)
        self.where.choose(there[0] if len(there) == 1 else "", or_first=True)
        where = holder(form_rows((self.tr("Where"), self.where)))
        if self.where.count() == 1:
            where.hide()
        self.said = label("", wrap=True, name="sweep_said")
        self.go = button(self.tr("Add to the queue"), "primary", name="sweep_go")
        cancel = button(self.tr("Cancel"))
        self.go.clicked.connect(self._send)
        cancel.clicked.connect(self.reject)
        buttons = dialog_buttons(accept=self.go, reject=cancel)
        parts = (self.kind, self.pages, where, self.said, buttons)
        column(*parts, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        self.kind.chosen.connect(self._count)
        self.kind.set_current(kind)
        self._count()

    def _seed_page(self) -> QWidget:
        page = QWidget()
        most = max(len(one.runs) for one in self._rows)
        self.seeds = named(SpinBox(), "sweep_seeds", self.tr("Total seeds"))
        self.seeds.setRange(2, MOST_SEEDS)
        self.seeds.setValue(max(USUAL_SEEDS, most + 1))
        tidy_spin(self.seeds)
        self.seeds.setFixedWidth(88)
        self.seeds.valueChanged.connect(self._count)
        caption = self.tr("Total seeds of each line") if len(self._rows) > 1 else self.tr("Total seeds")
        said = label(self._names(), "muted", wrap=True)
        column(said, form_rows((caption, row(self.seeds, STRETCH))), STRETCH, parent=page)
        return page

    def _value_page(self) -> QWidget:
        page = QWidget()
        self.names: list[ChoiceBox] = []
        self.values: list[QLineEdit] = []
        rows = []
        known = self._rows[0].facts.settings
        for place in range(NUM_ROWS):
            box = ChoiceBox(f"sweep_name_{place}", self.tr("Setting"))
            box.addItem(self.tr("choose a setting"), "")
            for name in (one for one in SWEPT if one in known):
                box.addItem(words.label_of(name), name)
            values = named(LineEdit(), f"sweep_values_{place}", self.tr("Values"))
            box.activated.connect(self._count)
            values.textChanged.connect(self._count)
            box.setMinimumWidth(180)
            self.names.append(box)
            self.values.append(values)
            rows.append(row((box, 1), (values, 2)))
        self.count = named(SpinBox(), "sweep_count", self.tr("Runs"))
        self.count.setRange(1, MOST_DRAWN)
        self.count.setValue(10)
        self.count.setFixedWidth(88)
        tidy_spin(self.count)
        self.count.valueChanged.connect(self._count)
        self.count_label = label(self.tr("runs"))
        halving = QCheckBox(self.tr("Stop the worse two thirds early (successive halving)"))
        self.halving = named(halving, "sweep_halving")
        self.halving.setToolTip(
            self.tr(
                "All train for a ninth of their steps, the best third for a third, the best of those for all"
            )
        )
        self.halving.toggled.connect(self._count)
        foot = row(self.count, self.count_label, (self.halving, 1))
        column(*rows, foot, parent=page)
        return page

    def _names(self) -> str:
        return words.listed(one.name for one in self._rows)

    def _count(self) -> None:
        """Say what would be made, or why it cannot be."""
        kind = self.kind.current
        self.pages.setCurrentIndex(0 if kind == SEEDS else 1)
        self.count.setVisible(kind == RANDOM)
        self.count_label.setVisible(kind == RANDOM)
        for box, values in zip(self.names, self.values, strict=True):
            name = box.currentData()
            now = setting_words(name, self._rows[0].facts.settings.get(name)) if name else ""
            example = self.tr("separated by commas; now {value}")
            if kind == RANDOM:
                example = self.tr("minimum, maximum; now {value}")
            values.setPlaceholderText(example.format(value=now) if name else "")
            values.setEnabled(bool(name))
        try:
            found = self._found()
            count = sum(len(one.configs) for one in found)
            self.said.setText(self._said(found, count))
            self.go.setEnabled(count > 0)
        except UserError as error:
            self.said.setText(words.say_error(error))
            self.go.setEnabled(False)

    def _said(self, found: Sequence[SweepRuns], count: int) -> str:
        if not count:
            if self.kind.current == SEEDS:
                return self.tr("They already have so many seeds.")
            return self.tr("Choose settings, and their values.")
        said = words.counted(count, self.tr("This gives one run"), self.tr("This gives {count} runs"))
        low = high = 0.0  # seconds, as long as the quickest and the slowest of the runs that are known
        for one, line in zip(found, self._rows, strict=False):
            known = [facts.seconds for facts in line.runs if facts.seconds] or [0.0]
            low += len(one.configs) * min(known)
            high += len(one.configs) * max(known)
        parts = [said]
        if high and not (found and found[0].halving):
            parts.append(self.tr("of {time} in total").format(time=words.duration_range(low, high)))
        text = self.tr("{runs}. They run one after another, even when the window is closed.")
        return text.format(runs=" ".join(parts))

    def _choices(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for box, values in zip(self.names, self.values, strict=True):
            given = [one.strip() for one in values.text().split(",") if one.strip()]
            if box.currentData() and given:
                found[str(box.currentData())] = given
        return found

    def _found(self) -> list[SweepRuns]:
        """Return the runs to be made. Raises: UserError."""
        kind = self.kind.current
        if kind == SEEDS:
            used = [[facts.seed for facts in one.runs] for one in self._rows]
            lacking = seeds_for(used, self.seeds.value())
            return [
                SweepRuns(line.name, tuple(repeated(config, seeds)))
                for line, config, seeds in zip(self._rows, self._configs, lacking, strict=True)
            ]
        choices = self._choices()
        if not choices:
            return []
        config, line = self._configs[0], self._rows[0]
        is_drawn = kind == RANDOM
        made = drawn(config, choices, self.count.value()) if is_drawn else grid(config, choices)
        names = words.listed(map(column_words, choices))
        return [SweepRuns(f"{line.name}, {names}", tuple(made), self.halving.isChecked() and len(made) > 2)]

    def _send(self) -> None:
        host = str(self.where.currentData())
        self.wanted.emit([replace(one, host=host) for one in self._found() if one.configs])
        self.accept()
