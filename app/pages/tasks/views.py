"""What the pages ask of a task's views: words for it, a picture of its files, of its scores, of its answers.

The Data, Fine-tune and Predict pages know no task: they ask what stands here, through known.py. A task
answers for each row of a table (`RowViews`), or has files of its own (`FileViews`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from PySide6.QtCore import QCoreApplication

from app import words
from app.look.widgets import Card
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.answers import AskCard, TaskAnswers
from app.pages.tasks.scores import TaskScores
from app.plots.bars import BarsPlot
from app.words import TrContext
from engine.events import Evaluated, Predicted
from engine.text.roles import USUAL, Role
from engine.train.metrics import ONE_ANSWER

if TYPE_CHECKING:
    from app.session import Session
    from app.work.models import OpenModels
    from app.work.tables import TableSummary
    from app.work.task_files import FileSummary, TaskFile

    Summary = TableSummary | FileSummary

translate = QCoreApplication.translate
FEW_LABELS = 6  # up to here bars keep the labels' order and do not jump; above, the likeliest stand first


class TaskPreview(Card):
    """A file of a task's own on the Data page, in the place of a table. A child class shows it."""

    def show_file(self, file: TaskFile) -> None:
        """Show what stands in a file; it is in memory, and only what is in sight may be drawn."""
        raise NotImplementedError


class TaskViews(TrContext, ABC):
    """One task in the window.

    name: as the engine's `Kind` has it. main_metric: by which the best moment is chosen. shares: metrics that
    are the share of right rows. lowest: that the main one can be; the highest is 1. useless: how a run says
    itself that it answers nothing of use. has_one_label: a text does; which words it rests on can be shown,
    and it be doubted. is_of_numbers: which are neither right nor wrong, and measured by a correlation.
    """

    name: ClassVar[str]
    main_metric: ClassVar[str]
    shares: ClassVar[frozenset[str]] = frozenset()
    lowest: ClassVar[float] = 0.0
    useless: ClassVar[str] = ONE_ANSWER
    has_one_label: ClassVar[bool] = False
    is_of_numbers: ClassVar[bool] = False

    @abstractmethod
    def title(self) -> str:
        """Return what the task is called."""

    @abstractmethod
    def words(self, summary: Summary) -> str:
        """Return what is learned from the open data: "One text → 5 labels"."""

    def model_words(self, num_labels: int, *, is_pair: bool) -> str:
        """Return what a model answers that learned it. Args: is_pair: it reads pairs of texts."""
        return self.title()

    @abstractmethod
    def metrics(self) -> Mapping[str, str]:
        """Return what its metrics are called within a sentence: "accuracy", "entity F1"."""

    @abstractmethod
    def scores(self) -> TaskScores:
        """Return a card for its scores."""

    def bars(self, summary: Summary) -> list[tuple[str, int]]:
        """Return what is drawn of the open data's labels: each with its rows, the commonest first."""
        labels = getattr(summary, "shown_labels", summary.labels)
        counted = zip(labels, map(int, summary.counts), strict=True)
        return sorted(counted, key=lambda bar: -bar[1])

    def bars_title(self) -> str:
        """Return what stands over the open data's labels."""
        return self.tr("Labels")

    def curve_words(self) -> str:
        """Return what will appear where its main metric is drawn."""
        text = self.tr("{metric} on validation rows appears here after each evaluation.")
        return text.format(metric=self.metric_title())

    def score_words(self, event: Evaluated) -> str:
        """Return its main metric in an evaluation, with its interval if it has one; "" if it is missing."""
        value = event.metrics.get(self.main_metric)
        return "" if value is None else words.score(value)

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        """Yield what a careful colleague would say of an evaluation. Args: is_over: the run has ended."""
        yield from ()

    def metric(self, name: str) -> str:
        """Return what a metric is called within a sentence."""
        return self.metrics().get(name, name)

    def metric_title(self, name: str = "") -> str:
        """Return what a metric is called above a picture. Args: name: "" for its main one."""
        name = self.metric(name or self.main_metric)
        return name[:1].upper() + name[1:]

    def value(self, name: str, value: float, rows: int) -> str:
        """Return the value of a metric, with its interval where it is a share of rows."""
        return words.with_interval(value, rows if name in self.shares else 0)

    def mark_words(self, mark: tuple[str, ...]) -> str:
        """Return in a few words what texts have in common that have a mark of this task's answers, where it
        marks them.
        """
        return " ".join(mark)


class FileViews(TaskViews):
    """A task whose files are no tables."""

    @abstractmethod
    def preview(self, session: Session) -> TaskPreview:
        """Return what shows its files on the Data page."""

    @abstractmethod
    def answers(self, session: Session) -> TaskAnswers:
        """Return what the Predict page shows at the right."""


class RowViews(TaskViews):
    """A task that answers once for each row of a table.

    has_probability: whether these answers have one. roles: what columns of its tables are for.
    """

    has_probability: ClassVar[bool] = True
    roles: ClassVar[tuple[Role, ...]] = USUAL

    def given_words(self) -> str:
        """Return what stands over the column of a file by which its answers are scored."""
        return translate("TaskViews", "Given labels")

    def ask_card(self) -> AskCard | None:
        """Return what a text is typed into, with the answer to it; None: boxes with bars of the labels."""
        return None

    def ask(self, models: OpenModels, folder: Path, *texts: str) -> Any:
        """Return the reply that this card shows, asked on the models worker. Raises: UserError."""
        raise NotImplementedError

    def second_words(self) -> str:
        """Return what is typed beside a text, where there is more to type."""
        return translate("TaskViews", "And the second text.")

    def second_title(self) -> str:
        """Return what stands over a text and what is typed beside it."""
        return translate("TaskViews", "Two texts")

    def show_answer(self, bars: BarsPlot, labels: Sequence[str], values: np.ndarray, answered: str) -> str:
        """Draw the answer to one text; return it in a few words, "" where the drawing is these.

        Args: values: (C,) of the labels, or the number. answered: what a file would have.
        """
        pairs = [(name, float(value)) for name, value in zip(labels, values, strict=True)]
        best = max(pairs, key=lambda pair: pair[1])
        if len(pairs) > FEW_LABELS:
            pairs.sort(key=lambda pair: -pair[1])
        bars.set_bars(pairs, as_share=True, highlight=best[0])
        text = translate("TaskViews", "{label} · {share}")
        return text.format(label=words.shorten(best[0], 40), share=words.share(best[1]))

    def answer_empty_words(self) -> str:
        """Return what will appear where the answer to one text is drawn."""
        return translate("TaskViews", "The probability of each label appears here.")

    def predictions(self, event: Predicted) -> Sequence[str]:
        """Return the answers to rows as they are shown."""
        return event.predictions

    def probabilities(self, event: Predicted) -> list[str]:
        """Return what stands beside each prediction."""
        best = event.probabilities.max(axis=1) if event.probabilities.size else []
        return [words.share(float(value)) for value in best]

    def counts_title(self) -> str:
        """Return what stands over how often each answer was given."""
        return translate("TaskViews", "Predicted labels")

    def answer_counts(self, event: Predicted) -> list[tuple[str, int]]:
        """Return how often each answer was given, the commonest first."""
        counts = Counter(event.predictions)
        return sorted(((name, counts[name]) for name in event.labels), key=lambda bar: -bar[1])
