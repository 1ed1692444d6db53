"""Writes a document as one HTML file that opens anywhere and loads nothing: no script, font or picture from
elsewhere, and a policy in its head that forbids the browser to fetch any.

Light or dark as the reader's system is, one column on a phone, all of it on paper. Every text is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import singledispatchmethod

from engine.errors import marked
from engine.language import spoken
from engine.report.blocks import (
    Block,
    Command,
    Document,
    Drawing,
    Facts,
    KeyNumbers,
    Quote,
    Said,
    Section,
    Table,
    WeighedText,
)
from engine.report.drawing import Palette, drawn, printable
from engine.report.style import SCRIPT, STYLE

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
MOST_ROWS = 500  # of a table, which says how many it has beyond
MOST_CELLS = 60_000
WORDS = {  # of the page's own
    "numbers": marked("engine", "Numbers of this figure"),
    "more": marked("engine", "{count} more rows are in the saved numbers."),
    "undrawn": marked("engine", "This figure could not be drawn."),
}


def html_of(document: Document) -> str:
    """Return a document as a whole HTML file, UTF-8."""
    writer = _Writer({**{name: spoken(text) for name, text in WORDS.items()}, **document.words})
    body = [f"<h1>{escape(document.title)}</h1>"]
    if document.sentence:
        body.append(f'<p class="sentence">{escape(document.sentence)}</p>')
    body += [writer.block(one) for one in document.blocks]
    if document.facts:
        body.append(f"<section><h2>{escape(document.facts_title)}</h2>{facts_html(document.facts)}</section>")
    footer = f"<footer>{escape(document.footer)}</footer>" if document.footer else ""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{escape(document.language)}"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
            f"<title>{escape(document.title)}</title>",
            f"<style>{STYLE}",
            f":root{{{writer.palette.rules(False)}}}",
            f"@media screen and (prefers-color-scheme:dark){{:root{{{writer.palette.rules(True)}}}}}",
            "</style></head><body><main>",
            *body,
            f"</main>{footer}",
            '<div id="tip" role="status" hidden></div>',
            f"<script>{SCRIPT}</script>",
            "</body></html>\n",
        ]
    )


def escape(text: str) -> str:
    """Return a text as HTML shows it, whatever it holds."""
    return html.escape(printable(text))


def facts_html(facts: Facts) -> str:
    """Return names and values under each other."""
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts if value.strip())
    return f"<dl>{''.join(rows)}</dl>"


class _Writer:
    """Writes blocks; counts the drawings, whose names must differ."""

    def __init__(self, words: dict[str, str]) -> None:
        self.palette = Palette()
        self._words = words
        self._num_drawings = 0

    @singledispatchmethod
    def block(self, block: Block) -> str:
        """Return a block as HTML."""
        raise TypeError(f"no block: {block!r}")

    @block.register
    def _(self, block: Said) -> str:
        kinds = " ".join(kind for kind in (block.level, "quiet" if block.is_quiet else "") if kind)
        return f'<p class="{escape(kinds)}">{escape(block.text)}</p>'

    @block.register
    def _(self, block: Quote) -> str:
        name = f"<span>{escape(block.name)}</span>" if block.name else ""
        return f'<blockquote dir="auto">{name}{escape(block.text)}</blockquote>'

    @block.register
    def _(self, block: KeyNumbers) -> str:
        shown = (
            f'<div class="key"><span>{escape(one.name)}</span><b>{escape(one.value)}</b>'
            f"<span>{escape(one.about)}</span></div>"
            for one in block.numbers
        )
        return f'<div class="keys">{"".join(shown)}</div>'

    @block.register
    def _(self, block: Table) -> str:
        made = "".join(self._table(block))
        if not block.is_folded:
            title = f"<h3>{escape(block.title)}</h3>" if block.title else ""
            return title + made
        return f"<details><summary>{escape(block.title)}</summary>{made}</details>"

    def _table(self, table: Table) -> Iterator[str]:
        most = min(MOST_ROWS, MOST_CELLS // max(1, len(table.head)))
        kinds = _kinds(table.head, table.rows[:most])
        heads = (
            f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.head, kinds, strict=True)
        )
        yield f'<div class="wide"><table><thead><tr>{"".join(heads)}</tr></thead><tbody>'
        for row in table.rows[:most]:
            cells = (
                f'<td{kind} dir="auto">{escape(cell)}</td>' for cell, kind in zip(row, kinds, strict=False)
            )
            yield f"<tr>{''.join(cells)}</tr>"
        yield "</tbody></table></div>"
        if len(table.rows) > most:
            yield f'<p class="quiet">{escape(self._words["more"].format(count=len(table.rows) - most))}</p>'
        if table.note:
            yield f'<p class="quiet">{escape(table.note)}</p>'

    @block.register
    def _(self, block: Drawing) -> str:
        self._num_drawings += 1
        try:
            picture = drawn(block, f"f{self._num_drawings}-", self.palette, block.title)
        except ValueError:
            picture = f"<p>{escape(self._words['undrawn'])}</p>"
        caption = facts_html(block.caption) if block.caption else ""
        named = f"<figcaption>{caption}</figcaption>" if caption else ""
        numbers = "" if block.numbers is None else self.block(block.numbers)
        return f'<figure><div class="wide">{picture}</div>{named}{numbers}</figure>'

    @block.register
    def _(self, block: WeighedText) -> str:
        said = f'<p class="quiet">{escape(block.said)}</p>' if block.said else ""
        return f'<p class="weighed" dir="auto">{"".join(_weighed(block))}</p>{said}'

    @block.register
    def _(self, block: Command) -> str:
        name = f"<h3>{escape(block.name)}</h3>" if block.name else ""
        return f'{name}<pre class="command"><code>{escape(block.line)}</code></pre>'

    @block.register
    def _(self, block: Section) -> str:
        hint = f'<span class="hint">{escape(block.hint)}</span>' if block.hint else ""
        title = f"<h2>{escape(block.title)}{hint}</h2>" if block.title or hint else ""
        return f"<section>{title}{''.join(map(self.block, block.blocks))}</section>"


def _kinds(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the class of each column: of numbers where each of its cells is one, with its unit."""
    columns = ([row[place] for row in rows if place < len(row) and row[place]] for place in range(len(head)))
    return [' class="n"' if cells and all(map(is_number, cells)) else "" for cells in columns]


def is_number(text: str) -> bool:
    """Whether a cell is a number with its unit or interval, and no sentence."""
    bare = text.strip().lstrip("+-−<>≈ (")
    return (bare[:1].isdigit() and len(text) < 40) or text.strip() in ("–", "-")


def _weighed(block: WeighedText) -> Sequence[str]:
    most = max((abs(word.weight) for word in block.words), default=0.0) or 1.0
    found: list[str] = []
    for word in block.words:
        strength = min(1.0, abs(word.weight) / most)
        kind = "against" if word.weight < 0 else "for"
        tip = f"<i>{escape(word.said)}</i>" if word.said else ""
        found.append("" if word.is_joined or not found else " ")
        found.append(
            f'<span class="{kind}" tabindex="0" style="--w:{strength:.3f}">{escape(word.text)}{tip}</span>'
        )
    return found
