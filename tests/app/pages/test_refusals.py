"""What a model refuses is said once: no page asks it again by itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.pages.attention.page import AttentionPage
from app.pages.attention.state import PICTURES
from app.pages.embeddings.page import EmbeddingsPage
from app.pages.embeddings.tabs import TABS as EMBEDDINGS_TABS
from app.pages.inside.page import LookingPage
from app.pages.probe.page import TABS as PROBE_TABS
from app.pages.probe.page import ProbePage
from app.work.worker import Channel
from engine.model.weights import save_model
from tests.app.hand import ShowPage, come_to_rest
from tests.fakes import tiny_pretraining, tiny_wordpiece

TEXT, PAIR = "good [MASK] play", "bad film!"


def open_probe(page: Any, tab: str) -> None:
    page.tabs.setCurrentIndex(PROBE_TABS.index(tab))


def open_embeddings(page: Any, tab: str) -> None:
    page.views.setCurrentIndex(EMBEDDINGS_TABS.index(tab))


VIEWS: list[tuple[type[LookingPage], str, Callable[[Any, str], None]]] = [
    *((ProbePage, tab, open_probe) for tab in PROBE_TABS),
    *((AttentionPage, picture, AttentionPage.show_picture) for picture in PICTURES),
    *((EmbeddingsPage, tab, open_embeddings) for tab in EMBEDDINGS_TABS),
]


def ask_anew(page: Any) -> None:
    """Ask the page's model what it was not asked before."""
    page.inspector.set_text("film [MASK] play", "good film!")
    if isinstance(page, ProbePage):
        page.templates_view.template.setText("a [MASK] film")
        page.templates_view.refresh()
    if isinstance(page, EmbeddingsPage):
        page.source_card.typed.setPlainText("good | a film\nbad | bad film")
        page.compute()
    if isinstance(page, EmbeddingsPage) and page.views.currentWidget() is page.views.poolings_card:
        page.show_cls()


@pytest.mark.slow
@pytest.mark.parametrize("kind, view, open_view", VIEWS, ids=lambda value: getattr(value, "__name__", value))
def test_what_is_refused_is_not_asked_again_until_something_has_changed(
    kind: type[LookingPage],
    view: str,
    open_view: Callable[[Any, str], None],
    show_page: ShowPage[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    save_model(tmp_path / "model", tiny_pretraining(), tiny_wordpiece(), {})
    page = show_page(kind)
    session, asked, ask = page.session, list[tuple[Channel, Hashable]](), Channel.ask

    def count(channel: Channel, about: Hashable, *work: Any, **hearers: Any) -> bool:
        is_new = ask(channel, about, *work, **hearers)
        asked.extend([(channel, about)] if is_new else [])
        return is_new

    page.inspector.set_text(TEXT, PAIR)
    page.inspector.choose(tmp_path / "model")
    assert session.wait_idle()
    open_view(page, view)
    assert session.wait_idle()
    (tmp_path / "model" / "model.safetensors").write_bytes(b"broken while it is open")
    monkeypatch.setattr(Channel, "ask", count)
    for change in (
        partial(ask_anew, page),
        partial(page.inspector.set_text, "good film " * 1000),  # longer than it reads
        partial(page.inspector.choose, tmp_path),  # no model at all
    ):
        asked.clear()
        change()
        assert session.wait_idle(30), "it asks without end"
        for _ in range(2):  # what a clock of the page does, it does now, and once more
            for timer in page.findChildren(QTimer):
                if timer.isActive() and not timer.isSingleShot():
                    timer.timeout.emit()
            come_to_rest(session, qtbot)
        assert len(asked) == len(set(asked))
    assert page.inspector.refusal is not None
