"""Which heads matter over many texts, and where do they look?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import heads, said
from engine.questions.fields import off_field, switches
from engine.questions.over_table import MOST_LINES, TableQuestion
from engine.questions.question import Models, asked
from engine.questions.writing import aligned, write_numbers

if TYPE_CHECKING:
    from engine.evaluation.inside.heads import HeadsOff, ImportanceTable
    from engine.inspect.attention.head_measures import HeadTable

    Weighed = tuple[ImportanceTable, HeadTable, HeadsOff | None]


@dataclass(frozen=True)
class HeadsQuestion(
    TableQuestion["Weighed"],
    command="heads",
    help="show which heads matter over many texts, and where they look",
):
    """How much each head matters, what it looks at, and what is lost with some of them off."""

    label: str = asked("", "the column with the labels of a classifier", kw_only=True)
    off: tuple[str, ...] = off_field()

    def answer(self, models: Models) -> Steps[Weighed]:
        from engine.evaluation.inside.heads import heads_off, importance
        from engine.inspect.attention.head_measures import over_table

        subject = models.subject(self.model)
        on = switches(self.off, subject)
        table = yield from self.reading()
        texts = yield from self.texts(subject, table, self.label)
        weighed = yield from importance(subject, texts)
        looks = yield from over_table(subject, table, self.roles(table), self.limit)
        off = None if on is None else (yield from heads_off(subject, texts, on))
        return weighed, looks, off

    def write(self, found: Weighed, out: Path) -> None:
        write_numbers(out, _columns(found), _rows(found))

    def document(self, found: Weighed) -> Any:
        weighed, _looks, off = found
        columns = _columns(found)
        named = [dict(zip(columns, row, strict=True)) for row in _rows(found)]
        document = {"texts": weighed.num_texts, "asks": weighed.asks, "heads": named}
        return document if off is None else {**document, "off": _off_document(off)}

    def lines(self, found: Weighed) -> Iterator[str]:
        rows = list(_rows(found))[:MOST_LINES]
        shown = [[f"{row[0]}.{row[1]}", *(f"{value:.3f}" for value in row[2:5])] for row in rows]
        names = heads(
            marked("table", "head"),
            marked("table", "importance"),
            marked("table", "from"),
            marked("table", "to"),
        )
        yield from aligned([names, *shown])
        if found[2] is not None:
            yield _off_line(found[2])


def _columns(found: Weighed) -> list[str]:
    ends = [end for name in found[1].values for end in (name, f"{name} +/-")]
    return ["layer", "head", "importance", "low", "high", *ends]


def _rows(found: Weighed) -> Iterator[list[Any]]:
    """Yield what is known of each head, the most important first; layers and heads count from 1."""
    weighed, looks, _off = found
    for layer, head in weighed.ranked():
        row: list[Any] = [layer + 1, head + 1]
        row += [float(values[layer, head]) for values in (weighed.values, weighed.low, weighed.high)]
        for name, values in looks.values.items():
            row += [float(values[layer, head]), float(looks.half_interval(name)[layer, head])]
        yield row


def _off_line(off: HeadsOff) -> str:
    low, high = off.difference.interval or (off.difference.value,) * 2
    template = marked(
        "engine",
        "masked words right: {before:.3f} with all heads, {after:.3f} with {count} off; "
        "difference {less:+.3f} ({low:+.3f} to {high:+.3f}), by chance {p:.2g}",
    )
    if off.asks == "labels":
        template = marked(
            "engine",
            "labels right: {before:.3f} with all heads, {after:.3f} with {count} off; "
            "difference {less:+.3f} ({low:+.3f} to {high:+.3f}), by chance {p:.2g}",
        )
    less = off.difference
    values = {"before": off.before, "after": off.after, "count": off.num_off, "less": less.value}
    return said(template, **values, low=low, high=high, p=less.p_value)


def _off_document(off: HeadsOff) -> dict[str, Any]:
    return {
        "before": off.before,
        "after": off.after,
        "difference": off.difference.value,
        "interval": off.difference.interval,
        "p_value": off.difference.p_value,
        "heads_off": off.num_off,
        "asked": off.num_asked,
    }
