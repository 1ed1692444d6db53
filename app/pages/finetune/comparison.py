"""Ways to adapt side by side: what each has reached so far, in a figure and a table, live or read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from app import words
from app.look.labels import ElidedLabel, label
from app.look.layout import column, row
from app.look.widgets import Card, button, set_role
from app.pages.finetune.past import Past, PastSeries
from app.pages.run.progress import RunProgress
from app.pages.tasks.known import views_of
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon
from app.plots.ways import WayRow, WaysPlot
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import Sentence, UserError
from engine.events import Event, Gained, Noted, Steps
from engine.settings.finetune import ComparisonConfig
from engine.train.comparison import (
    REPORT,
    WAYS,
    beside,
    is_comparison,
    note_on_looks,
    note_on_rows,
    read_report,
)
from engine.train.metrics import LEAST_SEEDS, interval_so_far

EDGE = 8  # px around the rows of a figure


@dataclass(frozen=True, slots=True)
class SeedScores:
    """What a way has reached: the figure of each seed; a run's seconds and the mix's shares, once known."""

    values: tuple[float, ...]
    seconds: float | None = None
    layer_mix: tuple[float, ...] = ()


class ComparisonCard(Card):
    """One comparison. `closed` when a person goes back to the form."""

    closed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("comparison")
        self._session = session
        self._read = Channel(self, session.workers.quick)
        self._reached: dict[str, SeedScores] = {}
        self._metric = self._split = ""
        self._rows = 0
        self._looks: Sentence | None = None
        self.folder: Path | None = None
        self.is_running = False
        self.set_title(self.tr("Fine-tuning methods"))
        self.progress = RunProgress()
        self.saying = label("", "muted", wrap=True, name="comparison_words")
        self.plot = WaysPlot(self.tr("Fine-tuning methods"))
        self.plot.setObjectName("comparison_plot")
        self.plot.set_empty_text(self.tr("Each method appears here once its first run has ended."))
        self.mix_title = label(self.tr("What the mix of layers has learned"), "card-title")
        self.mix = BarsPlot(self.tr("Learned mix of layers"))
        self.mix.setObjectName("comparison_mix")
        self.table = QWidget()
        self.table.setObjectName("comparison_table")
        self.stop_button = button(self.tr("Stop"), name="stop_comparison")
        self.go_on_button = button(self.tr("Continue"), "primary", name="go_on_comparison")
        self.close_button = button(self.tr("Back to settings"), "link", name="close_comparison")
        self._lay_out()
        self.stop_button.clicked.connect(session.training.stop)
        self.go_on_button.clicked.connect(self._go_on)
        self.close_button.clicked.connect(self.closed)
        session.training.heard.connect(self._hear)
        session.training.changed.connect(self._show_progress)
        session.training.ended.connect(self._end)
        self._show()

    def _lay_out(self) -> None:
        self.add_corner(save_icon(self.plot))
        self.add(self.saying)
        self.add(self.progress)
        inner = QWidget()
        set_role(inner, "clear")
        column(self.plot, self.table, self.mix_title, self.mix, (QWidget(), 1), gap=8, parent=inner)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        self.add(area, 1)
        self.body.addLayout(row(self.close_button, (QWidget(), 1), self.stop_button, self.go_on_button))

    def start(self, folder: Path) -> None:
        """Show the comparison that has just begun."""
        self._forget(folder)
        self.is_running = True
        self._show()

    def show_folder(self, folder: Path | None) -> None:
        """Show an earlier comparison as its files tell it, or none; one that is under way stays."""
        if self.is_running or folder == self.folder:
            return
        self._forget(folder)
        self._show()
        if folder is not None:
            self._ask_report(folder)

    def _ask_report(self, folder: Path) -> None:
        self._read.ask(folder, partial(ended_report, folder), heard=self._take_report, refused=self._refuse)

    def _forget(self, folder: Path | None) -> None:
        self._read.drop()
        self.folder, self.is_running = folder, False
        self._reached, self._metric, self._split = {}, "", ""
        self._rows, self._shared, self._looks = 0, 0.0, None
        for figure in (self.plot, self.mix):
            figure.set_caption([(self.tr("comparison"), folder.name)] if folder is not None else [])

    def _take_report(self, report: Mapping[str, Any] | None) -> None:
        if report is None:
            return  # it was stopped, and can go on
        self._metric, self._split = report["metric"], report["split"]
        self._rows, self._shared = report["rows"][self._split], report.get("shared", 0.0)
        self._looks = note_on_looks(self._split, [one.get("looks", 0) for one in report["ways"]])
        self._reached = {
            one["way"]: SeedScores(tuple(one["values"]), one["seconds"], tuple(one["layer_mix"]))
            for one in report["ways"]
        }
        self._show()

    def _refuse(self, error: BaseException) -> None:
        self._show()
        self.saying.setText(words.say_error(error))

    @property
    def _is_mine(self) -> bool:
        return self.is_running and isinstance(self._session.training.config, ComparisonConfig)

    def _hear(self, events: list[Event]) -> None:
        if not self._is_mine:
            return
        for event in events:
            if isinstance(event, Gained):
                self._metric, self._split, self._rows = event.metric, event.split, event.rows
                self._shared = event.shared
                self._reached[event.stage] = SeedScores(event.values)
                self._show()
            elif isinstance(event, Noted) and event.level == "fine":
                self.set_hint(words.say(event.sentence))

    def _show_progress(self) -> None:
        if self._is_mine:
            self.progress.show_state(self._session.training.state)

    def _end(self) -> None:
        if not self._is_mine:
            return
        self.is_running = False
        state, folder = self._session.training.state, self.folder
        if state.outcome == "finished" and folder is not None:
            self._ask_report(folder)
        self._show()
        if state.error is not None and isinstance(state.error, UserError):
            self.saying.setText(words.say_error(state.error))

    def _go_on(self) -> None:
        if self.folder is not None:
            self._session.training.resume_comparison(self.folder)
            self.is_running = True
            self._show()

    def _show(self) -> None:
        known = {way.name: words.tr_engine(way.said) for way in WAYS}
        rows = [
            WayRow(
                known[name], one.values, interval_so_far(one.values, self._rows, self._metric, self._shared)
            )
            for name, one in self._reached.items()
            if name in known
        ]
        self.plot.set_rows(rows, self._metric)
        self.plot.setFixedHeight(self.plot.top_of(max(len(rows), len(WAYS))) + EDGE)
        self.saying.setText(self._words())
        self._fill_table(known)
        shares = next((one.layer_mix for one in self._reached.values() if one.layer_mix), ())
        self.mix.set_bars(list(zip(self._layer_names(len(shares)), shares, strict=True)), as_share=True)
        self.mix.setFixedHeight(self.mix.top_of(len(shares)) + EDGE)
        for part in (self.mix, self.mix_title):
            part.setVisible(bool(shares))
        self.progress.setVisible(self.is_running)
        self.stop_button.setVisible(self.is_running)
        self.close_button.setVisible(not self.is_running)
        is_done = any(one.seconds is not None for one in self._reached.values())
        can_go_on = not self.is_running and not is_done and self.folder is not None
        self.go_on_button.setVisible(can_go_on and is_comparison(self.folder or Path()))
        self.go_on_button.setEnabled(not self._session.training.is_running)
        if not self.is_running:
            self.set_hint(run_title(self.folder) if self.folder is not None else "")

    def _layer_names(self, count: int) -> list[str]:
        names = [self.tr("Layer {number}").format(number=number) for number in range(1, count)]
        return [self.tr("Embeddings"), *names][:count]

    def _words(self) -> str:
        if not self._reached:
            return self.tr(
                "Each method gets the same rows, splits and seeds, and steps that suffice to learn. All "
                "weights are fine-tuned, or only what is on top of a frozen encoder (feature-based)."
            )
        views = views_of(self._session.data.task_name)
        seeds = max(len(one.values) for one in self._reached.values())
        split = {"test": self.tr("test rows"), "validation": self.tr("validation rows")}[self._split]
        said = self.tr("{metric} on the {split}; a dot is a seed, the line the 95 % interval of their mean.")
        if seeds < LEAST_SEEDS:
            said = self.tr(
                "{metric} on the {split}; a dot is a seed, the line the 95 % interval over the rows alone. "
                "Fewer than three seeds decide nothing."
            )
        metric = views.metric(self._metric)
        said = said.format(metric=metric[:1].upper() + metric[1:], split=split)
        notes = (note_on_rows(self._rows), self._looks)
        return words.sentences([said, *(words.say(note) for note in notes if note is not None)])

    def _interval(self, values: tuple[float, ...]) -> tuple[float, float] | None:
        return interval_so_far(values, self._rows, self._metric, self._shared)

    def _fill_table(self, known: Mapping[str, str]) -> None:
        """Show the figures under each other, each way beside the first."""
        old = self.table.layout()
        if old is not None:
            QWidget().setLayout(old)  # takes its labels along
        grid = QGridLayout(self.table)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(18)
        in_points, against = words.is_share(self._metric), self.tr("Against fine-tuned (95 %)")
        against = self.tr("Against fine-tuned, in points (95 %)") if in_points else against
        heads = (self.tr("Method"), against, self.tr("Time per run"))
        base = next(iter(self._reached.values()), None)
        lines: list[Sequence[str]] = [heads] if self._reached else []
        for name, one in self._reached.items():
            difference = ""
            if base is not None and one is not base and len(one.values) == len(base.values):
                found, around = beside(one.values, base.values, self._rows, self._shared)
                difference = signed(found, in_points=in_points)
                if around is not None:
                    template = self.tr("{difference} ({low} to {high})")
                    low, high = (signed(end, in_points=in_points) for end in around)
                    difference = template.format(difference=difference, low=low, high=high)
            time = "" if one.seconds is None else words.duration(one.seconds)
            lines.append((known.get(name, name), difference, time))
        for line, cells in enumerate(lines):
            for place, cell in enumerate(cells):
                shown = label(cell, "" if line else "caption") if place or not line else ElidedLabel(cell)
                side = Qt.AlignmentFlag.AlignLeft if not place else Qt.AlignmentFlag.AlignRight
                grid.addWidget(shown, line, place, side)
        grid.setColumnStretch(0, 1)
        self.table.setVisible(bool(lines))


def signed(value: float, *, in_points: bool) -> str:
    """Return a difference with its sign. Args: in_points: of a share, 0.012 being 1.2 points."""
    said = f"{100 * value:+.1f}" if in_points else f"{value:+.3f}"
    return said.replace("-", "\u2212")


def ended_report(folder: Path) -> Mapping[str, Any] | None:
    """Return what a comparison has found; None: it has not come to its end. Raises: RunError: it is none."""
    return None if is_comparison(folder) and not (folder / REPORT).is_file() else read_report(folder)


def earlier_comparisons(root: Path) -> Steps[Past]:
    """Return the comparisons under the folder for runs that have come to their end, the newest first."""
    yield from ()
    found = [folder for folder in root.iterdir() if is_comparison(folder)] if root.is_dir() else []
    done = [folder for folder in found if (folder / REPORT).is_file()]
    return [(folder, "") for folder in sorted(done, reverse=True)]


class CompareButton(PastSeries):
    """The one button that starts a comparison, and the way to earlier ones."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        start, past = self.tr("Compare methods"), self.tr("Past…")
        super().__init__(session, earlier_comparisons, start, past, ("compare_ways", "comparisons"), parent)
        self.none_yet = self.tr("No comparison yet")
        self.earlier.setToolTip(self.tr("Show a finished comparison"))
        self.start.setToolTip(
            self.tr(
                "Fine-tuning, contrastive pairs, TF-IDF, and heads on a frozen encoder ([CLS], the mean of "
                "all tokens, a mix of layers). Three seeds each: which is better here, and by how much?"
            )
        )
