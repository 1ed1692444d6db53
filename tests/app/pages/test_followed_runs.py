"""A run that another process trains is drawn on its page as it goes, until it ends."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.pages.finetune.page import FineTunePage
from app.session import Session
from engine.train.run.lock import locked
from engine.train.run.runs import LOCK, METRICS, STATUS
from tests.app.hand import Hand, ShowPage
from tests.engine.made_runs import made_run


@pytest.fixture
def page(show_page: ShowPage[FineTunePage]) -> FineTunePage:
    return show_page(FineTunePage)


@pytest.mark.slow
def test_a_run_that_was_started_elsewhere_is_followed_to_its_end(
    page: FineTunePage, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    path = made_run(session.runs.root, "films", steps=4, state="running")
    whole = made_run(session.runs.root, "whole", steps=9, number=1)
    text = (path / METRICS).read_text()
    with locked(path / LOCK):
        page.show_run(path)
        qtbot.waitUntil(lambda: hand.said("run_where") == "Step 4 of 4")
        assert "runs in another process" in hand.said("outcome")
        added = (whole / METRICS).read_text().splitlines()[5:]
        (path / METRICS).write_text(text + "\n".join(added) + "\n")
        qtbot.waitUntil(lambda: hand.said("run_where") == "Step 9 of 4")
        (path / STATUS).write_text((whole / STATUS).read_text())
    qtbot.waitUntil(lambda: hand.said("outcome").startswith("Finished"))
    page.leave_run()
