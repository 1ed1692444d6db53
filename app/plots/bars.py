"""Labels with their counts or probabilities as bars; scrolls when there are many.

Counts are scaled to the largest; a probability's bar always runs from 0 to 1, on a track as long as 1 is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QSize, Signal

from app import words
from app.look.columns import RIGHT, WHOLE, Bar, Column, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.figure import Numbers

GAP = 8
LEAST_BAR = 40  # px that are left for the longest bar where names are long


@dataclass(frozen=True, slots=True)
class LabelBar:
    """A label. share: 0 to 1, of all of them."""

    name: str
    value: float
    share: float


class BarsPlot(ColumnsFigure):
    """One row a label; a click tells which, where somebody has said that it is a door.

    dropped: a bar was dragged onto another, where `on_drop` has words for what that does. drop_help: that
    this can be done, said under the mouse.
    """

    dropped = Signal(int, int)
    on_drop: Callable[[int, int], str] | None = None
    drop_help = ""

    row_height = 30
    edges = (4.0, 4.0)
    most_summed_up = 10
    as_share = False
    highlight: str | Collection[str] | None = None
    _matter: Collection[str] = ()

    def set_bars(
        self,
        bars: Sequence[tuple[str, float]],
        *,
        shares: Sequence[float] | None = None,
        as_share: bool = False,
        highlight: str | Collection[str] | None = None,
    ) -> None:
        """Show (label, value) pairs in the given order.

        Args: shares: each bar's share, 0 to 1; of the sum of values where not given.
        as_share: the values are probabilities. highlight: the label that matters, or several.
        """
        total = sum(float(value) for _name, value in bars) or 1.0
        of_all = [value / total for _name, value in bars] if shares is None else shares
        self.as_share, self.highlight = as_share, highlight
        self._matter = {highlight} if isinstance(highlight, str) else set(highlight or ())
        pairs = zip(bars, of_all, strict=True)
        self.show_rows(LabelBar(name, float(value), share) for (name, value), share in pairs)

    def clear(self) -> None:
        self.set_bars([])

    @property
    def bars(self) -> list[tuple[str, float]]:
        """The labels with their values."""
        return [(bar.name, bar.value) for bar in self.rows]

    @property
    def full(self) -> float:
        """The value of the longest bar that there can be."""
        return 1.0 if self.as_share else max((bar.value for bar in self.rows), default=0.0) or 1.0

    def value_words(self, bar: LabelBar) -> str:
        """Return a bar's value as it is shown."""
        if self.as_share:
            return words.share(bar.value)
        return f"{words.number(bar.value)} · {words.share(bar.share)}"

    def matters(self, place: int) -> bool:
        return self.rows[place].name in self._matter

    def numbers(self) -> Numbers:
        if self.as_share:
            return [["label", "probability"], *([bar.name, bar.value] for bar in self.rows)]
        return [["label", "count", "share"], *([bar.name, int(bar.value), bar.share] for bar in self.rows)]

    def words_of(self, target: int) -> str:
        return f"{self.rows[target].name} {self.value_words(self.rows[target])}"

    def tip_of(self, target: int) -> str:
        return words.captioned(self.rows[target].name, self.value_words(self.rows[target]))

    def tip_at(self, at: QPointF) -> str:
        said = super().tip_at(at)
        return f"{said}\n{self.drop_help}" if said and self.drop_help else said

    def drop_words(self, dragged: int, target: int) -> str:
        return self.on_drop(dragged, target) if self.on_drop is not None else ""

    def drop(self, dragged: int, target: int) -> None:
        self.dropped.emit(dragged, target)

    def sizeHint(self) -> QSize:
        return QSize(300, min(10, max(3, self.num_rows)) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 3 * self.row_height)

    def columns(self) -> tuple[Column, ...]:
        width, said = self.canvas().width(), self.value_words
        names, values = (
            self._roomy(_one_line(bar.name) for bar in self.rows),
            self._roomy(map(said, self.rows)),
        )
        if not self.as_share and width - values - min(names, 0.4 * width) < 2 * LEAST_BAR:
            said = _count_words  # the share is told under the pointer; a bar has to be seen
            values = self._roomy(map(said, self.rows))
        names = max(
            names,
            self._roomy((_one_line(bar.name) for bar in self.rows if bar.name in self._matter), bold=True),
        )
        left = width - values - 2 * GAP - 12 - max(LEAST_BAR, 0.15 * width)
        return (
            Column(
                "",
                row_itself,
                lambda bar: _one_line(bar.name),
                min(names, max(width * 0.4, left)),
                side=RIGHT,
            ),
            Column("", row_itself, self._bar, least=8.0),
            Column("", row_itself, said, values, ink="muted", side=RIGHT, cut=WHOLE, gap=12.0),
        )

    def _roomy(self, texts: Iterable[str], *, bold: bool = False) -> float:
        return self.widest(texts, bold=bold) * 1.08 + 2

    def _bar(self, bar: LabelBar) -> Bar:
        return Bar(
            min(1.0, bar.value / self.full),
            "accent" if bar.name in self._matter else "bar",
            track="track" if self.as_share else "",
            height=18.0,
            radius=4.0,
        )


def _count_words(bar: LabelBar) -> str:
    return words.number(bar.value)


def _one_line(name: str) -> str:
    return " ".join(name.split())
