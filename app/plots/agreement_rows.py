"""How far two annotators agree, by several measures or label by label: a bar with its interval a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from app import words
from app.look.columns import CUT_MIDDLE, Bar, Cell, Column, figures, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.figure import Numbers

LEAST_BAR, MOST_BAR = 32.0, 140.0  # px
WIDE = 360  # px from which an interval has room


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A measure, or a label. value: None where it cannot be told. interval: of 95 %, None as well.

    counts: rows that each annotator gave the label; None: of a measure. is_share: it is said as per cent.
    limit: a value that matters, as a line; None: none does. note: more of it, in words.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None
    counts: tuple[int, int] | None = None
    is_share: bool = True
    limit: float | None = None
    note: str = ""

    def said(self, value: float | None) -> str:
        """Return a value as it is written."""
        return words.score(value) if self.is_share else words.decimal(value, 2)

    @property
    def between(self) -> str:
        """The interval in words."""
        if self.interval is None:
            return words.score(None)
        scale, digits = (100, 1) if self.is_share else (1, 2)
        return " – ".join(words.decimal(scale * end, digits) for end in self.interval)

    @property
    def ends(self) -> tuple[float | str, float | str]:
        """The ends of the interval, "" where there is none."""
        return self.interval or ("", "")


def _count(place: int, one: AgreementRow) -> int:
    """Return the rows that one annotator gave a label."""
    return one.counts[place] if one.counts is not None else 0


def _value(one: AgreementRow) -> str:
    return one.said(one.value)


class AgreementPlot(ColumnsFigure):
    """A row for each measure, or for each label with the rows of both annotators. A target is its place."""

    head, row_height = 26, 27
    names = ("", "")  # of the annotators

    def set_names(self, first: str, other: str) -> None:
        """Say what the two columns are called."""
        self.names = first, other

    def numbers(self) -> Numbers:
        head = ["name", "rows of the first", "rows of the second", "value", "low", "high"]
        rows = [
            [one.name, *(one.counts or ("", "")), "" if one.value is None else one.value, *one.ends]
            for one in self.rows
        ]
        return [head, *rows]

    def columns(self) -> tuple[Column, ...]:
        width = self.canvas().width()
        has_counts = bool(self.rows) and self.rows[0].counts is not None
        head = self.tr("agreement") if has_counts else ""
        value = max(self.widest(map(_value, self.rows)), self.widest([head], size=self.head_size))
        between = self.widest(one.between for one in self.rows)
        count = self.widest(["00,000"])
        taken = self.widest(one.name for one in self.rows) * 1.05 + value + 7 * self.gap
        taken += (between if width >= WIDE else 0) + 2 * count * has_counts
        found = [Column("", of("name"), cut=CUT_MIDDLE)]
        for place, name in enumerate(self.names if has_counts else ()):
            rows = partial(_count, place)
            found.append(figures(words.shorten(name, 8), rows, width=count, help=name))
        bar = min(MOST_BAR, max(LEAST_BAR, width - taken))
        found += [
            Column("", row_itself, self._bar, bar, gap=2 * self.gap),
            figures(head, row_itself, _value, width=value, ink="text"),
            figures("95 %", of("between"), str, width=between, least_room=WIDE, help=words.interval_help()),
        ]
        return tuple(found)

    def _bar(self, one: AgreementRow) -> Cell:
        ends = None
        if one.interval is not None:
            low, high = (min(1.0, max(0.0, end)) for end in one.interval)
            ends = low, high
        return Bar(min(1.0, max(0.0, one.value or 0.0)), interval=ends, line=one.limit)

    def words_of(self, target: int) -> str:
        one: AgreementRow = self.rows[target]
        said = words.captioned(one.name, one.said(one.value))
        if one.interval is not None:
            low, high = map(one.said, one.interval)
            interval = self.tr("95 %: {low} to {high}").format(low=low, high=high)
            said = words.bracketed(said, interval)
        return words.sentences([words.closed(said), one.note]) if one.note else said
