"""Spans of characters become tags of words: a span that cuts a word is widened to it, and told of.

Words are cut as BERT's basic split cuts them: at spaces, each punctuation mark and each Chinese character by
itself, so that a model's pieces never lie across two words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.errors import Sentence, marked

_NEAR = 16  # characters: how far from its place a span's own text is looked for
_START, _STOP = ("start", "start_offset", "begin", "start_char"), ("end", "end_offset", "stop", "end_char")
_TYPE = ("label", "labels", "type", "tag", "entity", "entity_group", "category")
KINDS = {
    "widened": Sentence(marked("engine", "a span within words is widened to them")),
    "moved": Sentence(marked("engine", "a span next to its own text is moved there")),
    "overlapping": Sentence(marked("engine", "of overlapping spans the longer one is kept")),
}


class NoSpans(ValueError):
    """What stands in the place of spans is none; its message is a marked template, `values` fill it."""

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(template)
        self.values = values


@dataclass(frozen=True, slots=True)
class Span:
    """Characters start to stop - 1 of a text, with their type. text: what the file says stands there."""

    start: int
    stop: int
    type: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Slip:
    """A span that was read otherwise than it was written: a key of KINDS, and both as text."""

    kind: str
    was: str
    became: str


@cache
def _word() -> re.Pattern[str]:
    """Return what a word looks like, made at the first use, in a few milliseconds for the marks."""
    marks = "".join(
        re.escape(char)
        for char in map(chr, range(0x300, 0xFE30))
        if unicodedata.category(char) in ("Mn", "Mc", "Me")
    )
    cjk = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af"
    joins = "\u200c\u200d\u00ad"
    return re.compile(f"[{cjk}]|(?:(?![{cjk}_])[\\w{marks}{joins}])+|[^\\s]")


def words_in(text: str) -> list[tuple[int, int]]:
    """Return where the words of a text stand."""
    return [found.span() for found in _word().finditer(text)]


def spans_from(value: Any) -> list[Span]:
    """Return the spans that a JSON value holds, as doccano, Label Studio and Prodigy write them.

    Raises: NoSpans if it is no list of [start, end, type] or of objects that say so.
    """
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise NoSpans(marked("engine", "Line {line} holds no list of spans."))
    return [_span(item) for item in value]


def _span(item: Any) -> Span:
    text = ""
    if isinstance(item, dict):
        start, stop, kind = (_first(item, names) for names in (_START, _STOP, _TYPE))
        said = item.get("text")
        text = said if isinstance(said, str) else ""
    elif isinstance(item, list) and len(item) >= 3:
        start, stop, kind = item[:3]
    else:
        start = stop = kind = None
    kind = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
    if type(start) is not int or type(stop) is not int or not isinstance(kind, str) or not kind.strip():
        template = marked("engine", "Line {line} holds a span without start, end and type: {span!r}.")
        raise NoSpans(template, span=str(item)[:80])
    return Span(start, stop, kind.strip(), text)


def _first(item: dict[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if name in item), None)


def tags_from(
    text: str, words: Sequence[tuple[int, int]], spans: Sequence[Span]
) -> tuple[list[str], list[Slip]]:
    """Return the IOB2 tag of each word, and what was read otherwise than it was written.

    Raises: NoSpans if a span lies outside the text, is empty, or says another text than stands there.
    """
    slips: list[Slip] = []
    placed: list[tuple[int, int, Span]] = []  # first word, end, span
    starts, stops = [start for start, _ in words], [stop for _, stop in words]
    for span in spans:
        span = _moved(text, span, slips)
        first = bisect_right(stops, span.start)
        end = bisect_left(starts, span.stop)
        if first >= end:
            template = marked("engine", "Line {line} has a span {span} that holds no word.")
            raise NoSpans(template, span=_bounds(span))
        wide = text[words[first][0] : words[end - 1][1]]
        if wide != text[span.start : span.stop].strip():
            slips.append(Slip("widened", text[span.start : span.stop], wide))
        placed.append((first, end, span))
    placed.sort(key=lambda one: (one[0] - one[1], one[0]))  # the longest first
    tags, owners = ["O"] * len(words), list[Span | None]([None] * len(words))
    for first, end, span in placed:
        if other := next(filter(None, owners[first:end]), None):
            slips.append(Slip("overlapping", _said(text, span), _said(text, other)))
            continue
        owners[first:end] = [span] * (end - first)
        tags[first:end] = [f"B-{span.type}", *[f"I-{span.type}"] * (end - first - 1)]
    return tags, slips


def _moved(text: str, span: Span, slips: list[Slip]) -> Span:
    """Return a span where its own text stands, if the file says that text and it stands nearby."""
    inside = 0 <= span.start < span.stop <= len(text)
    if inside and (not span.text or text[span.start : span.stop] == span.text):
        return span
    if span.text:
        low = max(0, span.start - _NEAR)
        at = text.find(span.text, low, max(0, span.stop) + _NEAR)
        if at >= 0 and text.find(span.text, at + 1, max(0, span.stop) + _NEAR) < 0:
            slips.append(Slip("moved", text[max(0, span.start) : max(0, span.stop)], span.text))
            return Span(at, at + len(span.text), span.type, span.text)
    if not inside:
        template = marked("engine", "Line {line} has a span {span} outside its text of {count} characters.")
        raise NoSpans(template, span=_bounds(span), count=len(text))
    template = marked(
        "engine", "Line {line} has a span {span} that says {said!r}, but the text there is {found!r}."
    )
    raise NoSpans(template, span=_bounds(span), said=span.text, found=text[span.start : span.stop])


def _bounds(span: Span) -> str:
    return f"{span.start}–{span.stop}"


def _said(text: str, span: Span) -> str:
    return f"{text[span.start : span.stop]} ({span.type})"
