"""The lines of the table of runs as Qt sees them: what each cell says, and how strongly."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import words
from app.look import theme
from app.look.labels import PART, tip
from app.pages.runs.rows import (
    RunRow,
    RunRows,
    cell_words,
    column_words,
    data_name,
    ended_words,
    metric_words,
    model_name,
    moment_words,
    score_words,
    state_line,
    task_words,
    untested_words,
    why_words,
)
from app.pages.runs.state import RunsState
from app.plots.interval import IntervalScale

Index = QModelIndex | QPersistentModelIndex
TICK, NAME, PICTURE, SCORE, SPREAD = "tick", "name", "picture", "score", "spread"
WHERE = "where"  # of lines that were not all trained here
METRIC, STATE = "metric", "state"  # of lines that are not all measured alike, or not all trained to the end
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class RunsModel(QAbstractTableModel):
    """The lines as Qt sees them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown, self.state = RunRows(), RunsState()
        self.columns: tuple[str, ...] = ()
        self._scales: dict[str, IntervalScale] = {}

    def put(self, shown: RunRows, state: RunsState) -> None:
        """Show other lines."""
        self.beginResetModel()
        self.shown, self.state = shown, state
        metric, ended = (METRIC,) if len(shown.metrics) > 1 else (), (STATE,) if shown.has_ended_early else ()
        measured = (*metric, PICTURE, SCORE, SPREAD, *ended)
        where = (WHERE,) if shown.has_hosts else ()
        self.columns = (TICK, NAME, *shown.settings, *where, "seeds", *measured, "time", "size", "when")
        found = [row.reached for row in shown.rows if row.reached is not None]
        self._scales = {
            metric: IntervalScale.over(
                end for one in found if one.metric == metric for end in (*one.values, *(one.interval or ()))
            )
            for metric in shown.metrics
        }
        self.endResetModel()

    def scale(self, metric: str) -> IntervalScale:
        """Return the scale of the pictures of a metric: an accuracy and a correlation share none."""
        return self._scales[metric]

    def row(self, index: Index) -> RunRow:
        return self.shown.rows[index.row()]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.shown.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self.row(index), self.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._tip(row, column)).replace("\n", "<br>")
        if role == Qt.ItemDataRole.FontRole:
            is_bold = column in row.odd or (column == NAME and row.is_group) or column == SCORE
            return theme.ui_font(bold=is_bold and not row.is_seed)
        if role == Qt.ItemDataRole.ForegroundRole:
            strong = column in (NAME, SCORE, "seeds") or column in row.odd
            return theme.current().color("text" if strong and not row.is_seed else "muted")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT if column in (NAME, PICTURE) else RIGHT
        return None

    def _text(self, row: RunRow, column: str) -> str:
        if column == TICK:
            return self.state.letter(row.key)
        if column == NAME:
            return row.name
        if column == PICTURE:
            return (
                ""
                if row.reached is not None
                else state_line(row.facts, self.state.measure.split, row.heard)[1]
            )
        said = cell_words(row, column)
        if column == SCORE and METRIC in self.columns and row.reached and words.is_share(row.reached.metric):
            return self.tr("{score} %").format(score=said)
        return said

    def _tip(self, row: RunRow, column: str) -> str:
        facts = row.facts
        if column == TICK:
            return self.tr("Tick two to compare them, or up to six to overlay their curves")
        if column in (PICTURE, SCORE, SPREAD) and row.reached is not None:
            return self.score_tip(row)
        if column == PICTURE:
            return state_line(facts, self.state.measure.split, row.heard)[1]
        if column == STATE:
            return self._ended_tip(row)
        if column == "when":
            return moment_words(max(one.began for one in row.runs))
        if column in self.shown.settings:
            value = facts.settings.get(column)
            return words.captioned(
                words.label_of(column), words.choice_word(column, value) if isinstance(value, str) else value
            )
        parts = [row.name, PART.join([task_words(facts), data_name(facts), model_name(facts.model)])]
        parts += [words.listed(facts.tags)] if facts.tags else []
        parts += [words.shorten(facts.note, 400)] if facts.note else []
        parts.append(facts.path if not row.is_group else self.tr("{count} seeds").format(count=len(row.runs)))
        return "\n".join(parts)

    def score_tip(self, row: RunRow) -> str:
        """Return a score in full: its interval, its rows, its seeds."""
        found = row.reached
        assert found is not None
        parts = [f"{metric_words(found.metric)} {score_words(found.metric, found.mean, 2)}"]
        if found.interval is not None:
            low, high = (score_words(found.metric, end) for end in found.interval)
            text = self.tr("95 % over the {rows} texts: {low} to {high}")
            parts.append(text.format(low=low, high=high, rows=words.number(found.rows)))
        if len(found.values) > 1:
            each = words.listed(score_words(found.metric, value) for value in found.values)
            text = self.tr("by seed: {each}; ± is their standard deviation")
            parts.append(text.format(each=each))
        return "\n".join([*parts, *filter(None, [self._ended_tip(row)])])

    def _ended_tip(self, row: RunRow) -> str:
        """Return how far a run with a score has come, and what was not measured of it."""
        facts = row.facts
        parts = [ended_words(facts, row.heard), untested_words(facts)]
        if facts.state not in ("finished", "running"):
            parts.append(why_words(facts))
        return PART.join(filter(None, parts))

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heading(column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT if column == NAME else RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return words.label_of(column) if column in self.shown.settings else None
        return None

    def heading(self, column: str) -> str:
        """Return what stands over a column, with the mark of the order."""
        if column in (TICK, PICTURE, SPREAD):
            return ""
        if column == SCORE:
            metrics = self.shown.metrics
            said = metric_words(metrics[0]) if len(metrics) == 1 else self.tr("score")
        else:
            said = column_words("seed" if column == "seeds" and not self.state.is_grouped else column)
        mark = " ▾" if self.state.is_descending else " ▴"
        return said + (mark if self.state.sort == column else "")
