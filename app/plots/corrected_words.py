"""A text with the places that are wrong or changed: above what belongs there, below what a model says.

Colour never stands alone: what is said of a place is written at it.
"""

from __future__ import annotations

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.tagged_words import TaggedWordsPlot, TagMark

LONGEST = 60  # characters of a place that are read out


class CorrectedWordsPlot(TaggedWordsPlot):
    """The words of a text; in the lane above what is right, in the one below what is said."""

    def color_of(self, kind: str) -> str:
        return theme.current().accent

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "word", "right", "model"]]
        for place, one in enumerate(self.words):
            rows.append([place, one.text, _said(one.true), _said(one.predicted)])
        return rows

    def summary(self) -> str:
        found = [
            self.words_of(place)
            for place, one in enumerate(self.words)
            if one.true is not None or one.predicted is not None
        ]
        return words.clauses(found[:20]) or self.tr("Nothing is changed in this text.")

    def words_of(self, target: int) -> str:
        one = self.words[target]
        said = [words.shorten(one.text, LONGEST)]
        if one.true is not None:
            said.append(self.tr("right: {text}").format(text=one.true.type))
        if one.predicted is not None:
            said.append(self.tr("model: {text}").format(text=one.predicted.type))
            if one.predicted.note:
                said.append(one.predicted.note)
        return " · ".join(said)


def _said(mark: TagMark | None) -> str:
    return "" if mark is None else mark.type
