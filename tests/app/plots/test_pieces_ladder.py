"""The staircase of a word's pieces: what is found stands there as the vocabulary has it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from app.plots.pieces_ladder import LadderPlot
from engine.text.trace import Match, TracedWord


@pytest.mark.parametrize("letters", ["bananarama", "אבגדהוזחטי"])
def test_a_piece_that_continues_a_word_keeps_its_mark_however_narrow_it_is(
    letters: str, qtbot: QtBot
) -> None:
    plot = LadderPlot("Pieces")
    qtbot.addWidget(plot)
    plot.resize(220, 300)
    start = len(letters) - 2
    found = Match(start, len(letters), (f"##{letters[start:]}",), 7)
    matches = (Match(0, start, (letters[:start],), 5), found)
    word = TracedWord(letters, 0, len(letters), "word", "pieces", 0, 2, matches)
    plot.set_word(word)
    drawn = list[str]()

    class Heard(QPainter):
        def drawText(self, *given: object) -> None:
            drawn.append(str(given[-1]))

    picture = QImage(600, 400, QImage.Format.Format_RGB32)
    painter = Heard(picture)
    plot.paint(painter, QRectF(plot.canvas().rect()))
    painter.end()
    assert f"##{letters[start:]}" in drawn or "##" in drawn
