"""What people have named is shown as it is: no name of a folder, a column or a label becomes markup."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.page_stack import PAGES
from app.settings import AppSettings
from engine.settings.config import to_toml, with_values
from engine.settings.finetune import FineTuneConfig
from tests.app.hand import OpenWindow
from tests.fakes import model_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")
MARKUP = re.compile("<(?!br>)[a-z/!]", re.IGNORECASE)  # one tooltip of ours has lines
NAME = "<b>x<"  # and the folder in it: <b>x</b><img src=y>
INNER = "b><img src=y>"


@pytest.fixture
def window(settings: AppSettings, open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    place = tmp_path / NAME / INNER
    place.mkdir(parents=True)
    table = place / f"<i>{INNER}.csv"
    table.write_text("<b>text</b>,<i>label</i>\n" + "<b>good</b> film,<b>a</b>\na play,<u>b</u>\n" * 13)
    model = model_folder(place / INNER, labels=("<b>a</b>", "<u>b</u>"))
    run = place / "runs" / f"20260101-120000-{INNER}"
    run.mkdir(parents=True)
    (run / "config.toml").write_text(to_toml(with_values(FineTuneConfig(), {"data": str(table)})))
    (run / "status.json").write_text('{"state": "running", "step": 3, "num_steps": 7}')
    settings.runs_root = place / "runs"
    settings.add_recent_file(table)
    settings.add_recent_model(model)
    made = open_window(settings)
    made.session.data.open(table)
    made.session.model.choose(str(model))
    assert made.session.wait_idle()
    return made


def texts(window: QWidget) -> Iterator[tuple[str, str]]:
    """Give whatever may be taken for markup: labels that guess, and all tooltips."""
    for widget in [window, *window.findChildren(QWidget)]:
        name = f"{type(widget).__name__} {widget.objectName()}"
        yield f"tooltip of {name}", widget.toolTip()
        if isinstance(widget, QLabel) and widget.textFormat() != Qt.TextFormat.PlainText:
            yield name, widget.text()
        if isinstance(widget, QComboBox):
            for place in range(widget.count()):
                said = widget.itemData(place, Qt.ItemDataRole.ToolTipRole)
                yield f"entry of {name}", str(said or "")
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from cells(widget, name)
    for action in window.findChildren(QAction):
        yield f"action {action.text()}", action.toolTip()


def cells(view: QAbstractItemView, name: str) -> Iterator[tuple[str, str]]:
    model = view.model()
    for column in range(9):
        if not model.hasIndex(0, column):
            return
        head = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        yield f"head of {name}", str(head or "")
        for row in range(9):
            said = model.index(row, column).data(Qt.ItemDataRole.ToolTipRole)  # nothing below the last
            yield f"cell of {name}", str(said or "")


@pytest.mark.slow
def test_no_name_becomes_markup_on_any_page(window: MainWindow, qtbot: QtBot) -> None:
    found, quoted = set(), set()
    for page in PAGES:
        window.show_page(page)
        qtbot.wait(30)
        assert window.session.wait_idle()
        for where, text in texts(window):
            if MARKUP.search(text) and not text.startswith("<qt>"):
                found.add(f"{where}: {text}")
            if "<img" in text.removeprefix("<qt>"):
                found.add(f"{where}: {text}")
            if "&lt;img" in text:
                quoted.add(where)
    assert not found
    assert len(quoted) >= 5, quoted
