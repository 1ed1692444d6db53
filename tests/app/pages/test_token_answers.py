"""Predict for labels of words: what is written is shown again; a long text leaves room for what is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.pages.tasks.token_labels.answers import TagAskCard
from app.pages.tasks.token_labels.requests import TaggedReply, read_written
from engine.events import result_of
from engine.train.tasks.token_labels.answers import FoundEntity, TaggedAnswer
from engine.train.tasks.token_labels.writing import writer_for

TEXT = "London rains"
WORDS = ((0, 6), (7, 12))
ONE = FoundEntity(start=0, stop=6, type="place", probability=0.5)


@pytest.mark.parametrize(
    ("answer", "is_plain", "tags"),
    [
        (TaggedAnswer(TEXT, WORDS, ("O", "O"), (0.9, 0.9), ()), False, {"O"}),
        (TaggedAnswer(TEXT, WORDS, ("B-place", "O"), (0.5, 0.9), (ONE,)), False, {"O", "B-place"}),
        (TaggedAnswer(TEXT, WORDS, ("N", "V"), (0.5, 0.9), ()), True, {"N", "V"}),
    ],
    ids=["nothing found", "a place", "plain tags"],
)
@pytest.mark.parametrize("ending", [".jsonl", ".conll"])
def test_a_file_that_was_written_is_read_again(
    tmp_path: Path, ending: str, answer: TaggedAnswer, is_plain: bool, tags: set[str]
) -> None:
    path = tmp_path / f"out{ending}"
    write: Any = writer_for(path, " ", is_plain=is_plain)
    path.write_text("".join(write(answer, line) for line in (1, 2)), encoding="utf-8")
    texts = result_of(read_written(path))
    assert len(texts) == 2 and tags <= set(texts.tags)


def test_words_and_what_is_found_stand_under_one_another_in_a_low_window(qtbot: QtBot) -> None:
    card = TagAskCard()
    qtbot.addWidget(card)
    text = "London and Paris " * 100
    words = tuple((place, place + 6) for place in range(0, len(text) - 6, 17))
    found = tuple(FoundEntity(start=a, stop=b, type="place", probability=0.5) for a, b in words)
    answer = TaggedAnswer(text, words, ("B-place",) * len(words), (0.5,) * len(words), found)
    card.resize(474, 330)
    card.show()
    card.show_reply(TaggedReply(answer, ("place",), is_plain=False), "model")
    qtbot.waitExposed(card)
    assert card.picture.geometry().bottom() < card.marks.geometry().top()
    assert card.marks.mapTo(card, card.marks.rect().bottomLeft()).y() <= card.height()
