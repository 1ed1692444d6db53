"""The window in another language: all of it, at once, with what was open."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

import app
import app.language
import engine
import engine.language
from app.dialogs import SettingsDialog
from app.language import has_font_for, language_of, own_name, speak_in
from app.main_window import MainWindow
from app.settings import AppSettings
from app.translations import collected, completed, document
from app.windows import Windows
from engine.language import ENGLISH, catalog, known_language, languages
from tests.looks.pseudo import pseudo

SHIPPED = [language for language in languages() if language != ENGLISH]


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[str]:
    """A language with a few texts, which is chosen by nobody yet."""
    keys = [
        ("rail", "Data"),
        ("SettingsDialog", "Settings"),
        ("engine", "There is no text to look at. Type one."),
    ]
    texts = {key: pseudo(key[1]) for key in keys}
    (tmp_path / "xx.ts").write_text(document("eo", texts), encoding="utf-8")
    monkeypatch.setattr(engine.language, "FOLDER", tmp_path)
    monkeypatch.delenv("CLOZE_LANG", raising=False)
    catalog.cache_clear()
    yield "xx"
    speak_in(qapp, ENGLISH)
    catalog.cache_clear()


def test_another_language_is_taken_at_once_with_what_is_open(
    made_up: str, qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    table = tmp_path / "reviews.csv"
    table.write_text("text,label\n" + "a fine film,good\na dull film,bad\n" * 8, encoding="utf-8")
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    settings.language = ENGLISH
    windows = Windows(qapp, settings, warm_up=False)
    first = windows.window
    first.show()
    first.open_file(table)
    first.session.inspector.set_text("She sells sea shells.")
    assert first.session.wait_idle()
    first.show_settings()
    dialog = first.findChild(SettingsDialog)
    assert dialog is not None
    box = dialog.findChild(QComboBox, "settings_language")
    assert box is not None
    box.setCurrentIndex(box.findData(made_up))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: windows.window is not first)
    second = windows.window
    assert second.session.wait_idle()
    assert second.isVisible() and settings.language == made_up
    assert words_of(second) >= {pseudo("Data")} and "Data" not in words_of(second)
    assert second.session.data.path == table and second.current_page == "data"
    assert second.session.inspector.text == "She sells sea shells."
    second.close()
    assert second.session.wait_idle()
    second.deleteLater()
    windows.deleteLater()


def words_of(window: MainWindow) -> set[str]:
    return set(window.titles.values())


def test_the_environment_comes_before_the_settings_and_these_before_the_system(
    made_up: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = AppSettings(tmp_path / "settings.ini")
    settings.language = made_up
    assert language_of(settings) == made_up
    monkeypatch.setenv("CLOZE_LANG", "en")
    assert language_of(settings) == ENGLISH
    settings.language = "klingon"
    monkeypatch.setenv("CLOZE_LANG", "klingon")
    assert language_of(settings) in languages()
    assert known_language("XX_eo.UTF-8@euro") == made_up and not known_language("klingon")
    assert own_name(ENGLISH) == "English"


def test_a_language_that_no_font_can_write_is_not_taken_from_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    monkeypatch.delenv("CLOZE_LANG", raising=False)
    monkeypatch.setattr("app.language.QLocale.system", lambda: QLocale("zh_CN"))
    settings = AppSettings(tmp_path / "settings.ini")
    monkeypatch.setattr("app.language.own_name", lambda _language: "abc")
    assert has_font_for("zh") and language_of(settings) == "zh"
    monkeypatch.setattr("app.language.own_name", lambda _language: "\U0010fffd")  # private use
    assert not has_font_for("zh") and language_of(settings) == ENGLISH
    settings.language = "zh"  # a person may know better
    assert language_of(settings) == "zh"


@pytest.mark.slow
def test_no_text_is_written_so_that_it_is_not_collected() -> None:
    keys = set(collected())
    lost = [
        (file.name, node.lineno, ast.unparse(node))
        for package in (app, engine)
        for file in sorted(Path(package.__file__ or "").parent.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and (key := key_of(node)) is not None and key not in keys
    ]
    assert lost == []


def key_of(call: ast.Call) -> tuple[str, str] | None:
    """Return what a call of translate or marked names by literals; None of others."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in ("translate", "marked") or len(call.args) < 2:
        return None
    found = [one.value for one in call.args[:2] if isinstance(one, ast.Constant)]
    return (found[0], found[1]) if len(found) == 2 and all(isinstance(one, str) for one in found) else None


def placeholders(text: str) -> list[tuple[str, str | None, str | None]]:
    return sorted((name, form, turn) for _, name, form, turn in string.Formatter().parse(text) if name)


@pytest.mark.slow
@pytest.mark.parametrize("language", SHIPPED)
def test_a_language_in_the_box_says_everything_and_fills_in_what_english_does(language: str) -> None:
    texts = catalog(language).texts
    keys = collected()
    assert len(keys) > 5000
    unfinished = [key for key in keys if not texts.get(key)]
    obsolete = sorted(set(texts) - set(keys))
    assert not unfinished and not obsolete, f"run python -m app.translations: {unfinished[:5]} {obsolete[:5]}"
    for (context, source), text in texts.items():
        assert placeholders(source) == placeholders(text), (context, source, text)
        assert source.count("\n") == text.count("\n"), (context, source, text)
    written = (engine.language.FOLDER / f"{language}.ts").read_text(encoding="utf-8")
    assert written == document(catalog(language).locale, completed(keys, texts))
