"""How a text file is laid out, told from its beginning; its lines as documents of paragraphs of sentences.

Documents come out in the order of the file; nothing but white space and WikiText's "=" marks is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from engine.text.corpus.sentences import split_sentences

Document = list[list[str]]  # paragraphs of sentences

LAYOUTS = ("", "paragraphs", "sentences", "lines")
MAX_DOCUMENT = 1 << 22  # characters; a longer document goes on as another, so that memory stays bounded
_SAMPLE = 2000  # lines
_HEADING = re.compile(r"((?:= )+)([^=\s](?:.*[^=\s])?) ((?: ?=)+)")
_STOP_AT_END = re.compile("[.!?…。！？；:：][\"'”’»)\\]」』）]*$")
_FEW = 1000


@dataclass(frozen=True, slots=True)
class CorpusLayout:
    """A layout, and two things that it may come with.

    headings: documents begin at WikiText's " = Title = ", and blank lines mean nothing.
    wrapped: a paragraph takes several lines and a blank one ends it; the file is one document.
    """

    layout: str
    headings: bool = False
    wrapped: bool = False


def find_form(text: str, *, whole: bool, alone: bool, asked: str = "") -> CorpusLayout:
    """Return the form of a file that begins with `text`.

    Args: whole: `text` is all of the file. alone: there is no other file. asked: the layout, "" to detect it.

    A sentence a line, if hardly a line holds two. Without a blank line between them, lines of several
    sentences are taken for documents of their own, unless the file is short and one of several.
    """
    lines = text.strip().replace("\r\n", "\n").replace("\r", "\n").split("\n")[:_SAMPLE]
    lines = [line.strip() for line in lines]
    full = list(filter(None, lines))
    if asked in ("", "paragraphs") and _has_headings(full):
        return CorpusLayout("paragraphs", headings=True)
    if asked or not full:
        return CorpusLayout(asked or "paragraphs")
    if _is_wrapped(lines):
        return CorpusLayout("paragraphs", wrapped=True)
    if _is_sentences(full):
        return CorpusLayout("sentences")
    short = whole and len(full) < _FEW
    return CorpusLayout("paragraphs" if "" in lines or (short and not alone) else "lines")


def _has_headings(full: Sequence[str]) -> bool:
    found = [match[1] for line in full if (match := _HEADING.fullmatch(line))]
    return "= " in found and len(found) >= 2


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether blank lines stand between paragraphs whose lines are broken at a width, not at a stop."""
    inner = [line for line, following in pairwise(lines) if line and following]
    if "" not in lines or len(inner) < 5:
        return False
    widest = sorted(map(len, inner))[len(inner) * 95 // 100]
    num_long = sum(len(line) >= 0.7 * widest for line in inner)
    num_stops = sum(_STOP_AT_END.search(line) is not None for line in inner)
    num_longer = sum(len(line) > 1.3 * widest for line in lines)
    some = 30 <= widest <= 160 and num_longer <= 0.02 * len(lines)
    return some and num_long >= 0.6 * len(inner) and num_stops <= 0.4 * len(inner)


def _is_sentences(full: Sequence[str]) -> bool:
    num_several = sum(len(split_sentences(line)) > 1 for line in full)
    return num_several <= 0.15 * len(full)


def paragraphs_in(lines: Sequence[str], form: CorpusLayout, begun: list[str]) -> list[str]:
    """Return the paragraphs of some lines (for `sentences`: the sentences), "" where a document ends.

    Args: begun: the lines of a wrapped paragraph that goes on in the next call; changed.
    """
    stripped = [line.strip() for line in lines]
    if form.wrapped:
        return _joined(stripped, begun)
    if not form.headings:
        return stripped
    out = []
    for line in filter(None, stripped):
        if match := _HEADING.fullmatch(line):
            out += ["", match[2]] if match[1] == "= " else [match[2]]
        else:
            out.append(line)
    return out


def _joined(lines: Sequence[str], begun: list[str]) -> list[str]:
    out = []
    for line in lines:
        if line:
            if begun and not (begun[-1][-1] >= "\u2e80" and line[0] >= "\u2e80"):
                begun.append(" ")
            begun.append(line)
        if begun and (not line or len(begun) > MAX_DOCUMENT // 100):
            out.append("".join(begun))
            begun.clear()
    return out


@dataclass(slots=True)
class Builder:
    """Paragraphs go in, whole documents come out."""

    num_cut: int = 0  # documents that were too long
    _document: Document = field(default_factory=list)
    _size: int = 0

    def add(self, paragraphs: Sequence[str], layout: str) -> list[Document]:
        """Return the documents that end within `paragraphs`, of which "" ends one."""
        if layout == "lines":
            parts = ([part for part in text.split("\n") if part.strip()] for text in paragraphs if text)
            return [document for some in parts if (document := list(map(split_sentences, some)))]
        done = []
        for text in paragraphs:
            if not text:
                done += self._end()
                continue
            if layout == "sentences":
                self._document = self._document or [[]]
                self._document[0].append(text)
            else:
                self._document.append(split_sentences(text))
            self._size += len(text)
            if self._size > MAX_DOCUMENT:
                self.num_cut += 1
                done += self._end()
        return done

    def _end(self) -> list[Document]:
        document, self._document, self._size = self._document, [], 0
        return [document] if document else []
