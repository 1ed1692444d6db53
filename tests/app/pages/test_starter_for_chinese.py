"""A table in Chinese is given the starter that reads it, where the button offers one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import shipped
from app.pages.finetune.page import FineTunePage
from app.session import Session
from tests.app.hand import Hand, ShowPage

CHINESE = "".join(
    f"这本书很{'好' if row % 2 else '坏'}看{row}，{'正' if row % 2 else '负'}\n" for row in range(40)
)
ENGLISH = "".join(
    f"a {'good' if row % 2 else 'bad'} book {row},{'pos' if row % 2 else 'neg'}\n" for row in range(40)
)


@pytest.mark.parametrize(
    ("rows", "name"),
    [(CHINESE.replace("，", ","), "chinese"), (ENGLISH, "starter")],
    ids=["Chinese", "English"],
)
def test_the_starter_that_is_offered_reads_the_tables_language(
    session: Session,
    show_page: ShowPage[FineTunePage],
    tmp_path: Path,
    qtbot: QtBot,
    rows: str,
    name: str,
) -> None:
    (tmp_path / "reviews.csv").write_text("text,label\n" + rows, encoding="utf-8")
    session.data.open(tmp_path / "reviews.csv")
    qtbot.waitUntil(lambda: session.data.summary is not None)
    Hand(show_page(FineTunePage), qtbot).click("starter_weights")
    qtbot.waitUntil(lambda: session.model.chosen is not None)
    assert session.model.chosen is not None
    assert session.model.chosen.model == str(shipped.assets() / "models" / name)
