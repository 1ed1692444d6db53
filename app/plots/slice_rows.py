"""Slices of texts, a row each: how many are right, beside the rest; a click on one asks for its texts."""

from __future__ import annotations

from dataclasses import dataclass

from app import words
from app.look.columns import Bar, Column, figures, of, row_itself
from app.plots.columns import ColumnsFigure

LEAST_BAR, BARS = 50.0, 0.22  # px, and of the width


@dataclass(frozen=True, slots=True)
class SliceRow:
    """Some texts. share: that is right, with low and high of its interval; others: of the rest.

    chance: how often chance makes them that much worse, as a p-value in words; "" where nobody asked.
    """

    name: str
    count: int
    share: float
    low: float
    high: float
    others: float
    chance: str = ""


class SliceRowsPlot(ColumnsFigure):
    """A row for each slice, in the given order. A target is a row's place."""

    is_door = True
    head, row_height = 24, 26

    def columns(self) -> tuple[Column, ...]:
        bar, gap = max(LEAST_BAR, self.canvas().width() * BARS) - self.gap, 2 * self.gap
        share = self.widest(["00.0 %"]) + self.gap
        ends = {"low": of("low"), "high": of("high"), "the rest": of("others")}
        return (
            Column(self.tr("slice"), of("name"), saved="slice"),
            figures(self.tr("texts"), of("count"), saved="texts", width=self.widest(["00,000"]), gap=gap),
            Column(self.tr("right"), row_itself, _bar, bar),
            figures("", of("share"), words.share, ink="text", width=share, saved="share right", also=ends),
            figures(self.tr("p"), of("chance"), str, saved="chance", width=self.widest(["< 0.001"]), gap=gap),
        )

    def words_of(self, target: int) -> str:
        one = self.rows[target]
        said = self.tr(
            "{name}: {share} of {count} texts are right ({low} to {high}), {others} of the rest"
        ).format(
            name=one.name,
            share=words.share(one.share),
            count=words.number(one.count),
            low=words.share(one.low),
            high=words.share(one.high),
            others=words.share(one.others),
        )
        if not one.chance:
            return said
        return words.clauses((said, f"p {one.chance}"))

    def summary(self) -> str:
        return self.tr("{count} slices").format(count=words.number(len(self.rows)))


def _bar(one: SliceRow) -> Bar:
    return Bar(one.share, "wrong" if one.high < one.others else "accent", line=one.others)
