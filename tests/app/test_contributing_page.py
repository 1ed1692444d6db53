"""The page that the design notes show to those who add one is a page."""

from __future__ import annotations

import re
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label
from app.look.page import Page
from app.look.pending import Pending
from app.look.widgets import Card, EmptyState
from app.session import Session
from app.work.worker import Channel
from engine.text.table import Table
from tests.app.hand import Hand, ShowPage

TEXT = (Path(__file__).parents[2] / "app" / "DESIGN.md").read_text(encoding="utf-8")


def count_rows(table: Table) -> int:
    return table.num_rows


def test_the_page_in_the_notes_counts_the_rows_of_the_open_table(
    tmp_path: Path, session: Session, show_page: ShowPage[Any], qtbot: Any
) -> None:
    code = re.search(r"```python\n(.+?)```", TEXT, flags=re.DOTALL)
    assert code is not None
    known = {
        each.__name__: each
        for each in (
            *(Card, Channel, EmptyState, Page, Pending, QWidget, Session),
            *(count_rows, label, partial),
        )
    }
    made: dict[str, Any] = {**known, "words": words}
    exec(
        compile("from __future__ import annotations\n" + textwrap.dedent(code[1]), "DESIGN.md", "exec"),
        made,
    )
    hand = Hand(show_page(made["RowsPage"]), qtbot)
    assert hand.window.empty.isVisible()
    (tmp_path / "films.csv").write_text("text,label\n" + "a film,good\n" * 13, encoding="utf-8")
    session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: hand.said("rows_count") == "13")
