"""A window in another language has no English left; the finder of it finds what it is for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.language import speak_in
from app.settings import AppSettings
from engine.language import ENGLISH
from tests.app.conftest import open_window
from tests.app.hand import OpenWindow
from tests.looks.english import is_english, said

__all__ = ["open_window"]
PAGES = ("welcome", "data", "label", "finetune", "predict", "evaluate", "models", "runs", "pretrain")


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    speak_in(qapp, "zh")
    yield
    speak_in(qapp, ENGLISH)


def test_sentences_are_english_and_names_texts_and_commands_are_not() -> None:
    assert is_english("hint", "Open a table first") and is_english("tip", "打开 the other table。")
    for text in ("打开 JSON lines 文件", "见 Devlin et al. 2019", "python -m engine runs", "按微平均 F1 计"):
        assert not is_english("hint", text), text
    assert not is_english("table_view", "a fine film")


@pytest.mark.slow
@pytest.mark.usefixtures("no_models_ship", "chinese")
def test_a_chinese_window_has_no_english_but_names(settings: AppSettings, open_window: OpenWindow) -> None:
    settings.language = "zh"
    window = open_window(settings)
    found = set()
    for page in PAGES:
        window.show_page(page)
        assert window.session.wait_idle()
        QApplication.processEvents()
        found |= {(page, name, text) for name, text in said(window) if is_english(name, text)}
    window.show_settings()
    found |= {("settings", name, text) for name, text in said(window) if is_english(name, text)}
    assert not found
