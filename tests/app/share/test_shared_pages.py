"""What is shared from a page, opened in a real browser without a network: the page's own numbers, alive."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.look.page import Page
from app.look.share_menu import SHARE_KEYS
from app.look.widgets import is_private
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.pages.runs.lines_model import TICK
from app.plots.figure import Figure
from app.settings import AppSettings
from app.share.gather import document_of
from app.share.sharing import Sharing
from engine.report.html import html_of
from engine.report.numbers import share
from engine.train.finetune import fine_tune
from tests.app.hand import Hand, OpenWindow, choose_in, come_to_rest, type_into_dialog
from tests.browser import Browser, browser_path, opened_browser
from tests.engine.tiny_runs import tiny_config

needs_browser = pytest.mark.skipif(browser_path() is None, reason="no Chromium")
SENTENCE = "The bank by the river was steep."
LOOKING = ("tokenizer", "probe", "attention", "embeddings", "anatomy", "family")
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that held rows out, where runs are kept."""
    folder = tmp_path_factory.mktemp("share")
    for seed, name in ((1, "20261120-090000-few"), (2, "20261120-100000-more")):
        config = tiny_config(folder, validation_share=0.3, seed=seed, num_epochs=seed)
        list(fine_tune(config, folder / "runs" / name))
    return folder / "runs"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with opened_browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pictures look for what can be pointed at for as long as that takes on a busy computer."""
    monkeypatch.setattr("app.plots.pointed.MOST_LOOKING_S", 60.0)


@pytest.fixture
def window(runs: Path, settings: AppSettings, open_window: OpenWindow) -> MainWindow:
    settings.runs_root = str(runs)
    made = open_window(settings)
    made.resize(1280, 800)
    made.session.inspector.set_text(SENTENCE)
    return made


def shown(window: MainWindow, key: str, qtbot: QtBot) -> Any:
    """Return a page once all of it is there."""
    window.show_page(key)
    come_to_rest(window.session, qtbot)
    return window.page(key)


def shared(window: MainWindow, page: Page, path: Path, qtbot: QtBot) -> Path:
    """Share a page as its button does, and wait for the file."""
    sharing = Sharing(window.session, window)
    sharing.share(page, str(path))
    qtbot.waitUntil(lambda: not sharing.is_writing and path.exists())
    return path


def words_in_view(page: QWidget) -> list[str]:
    """Return what labels with a number say, of those that are shared; a card of buttons alone is not."""
    found = []
    for label in page.findChildren(QLabel):
        above, inside = label, False
        while isinstance(above, QWidget) and above is not page:
            inside = inside or is_private(above) or isinstance(above, Figure) or not above.isVisible()
            above = above.parentWidget()
        said = re.sub("<[^>]*>", "", html.unescape(label.text()))
        if not inside and DIGITS.search(said) and label.property("role") != "card-title":
            found.append(said)
    return found


def alive(browser: Browser, path: Path) -> str:
    """Open a shared page; assert what holds for each of them; return what is read on it."""
    browser.wear("light")
    browser.resize(1100, 900)
    browser.open(path)
    assert browser.asked == [path.absolute().as_uri()] and browser.problems == []
    fetched = browser.run("performance.getEntriesByType('resource').map(one => one.name)")
    assert [one for one in fetched if not one.startswith("data:")] == []
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.wear("dark")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != light
    browser.wear("light")
    browser.resize(360, 700)
    assert browser.run("document.documentElement.scrollWidth") <= 360, "it is wider than a phone"
    browser.resize(1100, 900)
    assert browser.problems == []
    return str(browser.run("document.querySelector('main').textContent"))


def pointed_at(browser: Browser) -> tuple[list[str], str]:
    """Point at the first thing of a figure; return what is said of all things, and what is shown of this."""
    box = browser.run(
        "(() => { const mark = document.querySelector('.mark'); mark.scrollIntoView({block: 'center'});"
        " const box = mark.getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    browser.point_at(*box)
    said = browser.run("Array.from(document.querySelectorAll('.mark'), mark => mark.dataset.tip)")
    tip = browser.run(
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    )
    return said, tip


def cells_of(figure: Figure) -> list[str]:
    """Return the numbers of a figure as they are read."""
    cells = [cell for row in figure.numbers() for cell in row]
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells]


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("key", LOOKING)
def test_a_page_that_looks_inside_is_shared_with_its_numbers_and_its_figures_answer(
    window: MainWindow, browser: Browser, tmp_path: Path, qtbot: QtBot, key: str
) -> None:
    page = shown(window, key, qtbot)
    figures = [one for one in page.findChildren(Figure) if one.isVisible() and not one.is_empty]
    tips = {said for one in figures for _box, said in one.marks()}
    wanted = [cells_of(one) for one in figures]
    text = alive(browser, shared(window, page, tmp_path / "page.html", qtbot))
    assert browser.run("document.querySelectorAll('figure svg').length") == len(figures) > 0
    tables = browser.run(
        "Array.from(document.querySelectorAll('figure details table'), table =>"
        " Array.from(table.querySelectorAll('th,td'), cell => cell.textContent))"
    )
    assert sorted(tables) == sorted(cells for cells in wanted if cells)
    plain = " ".join(text.split())
    assert [said for said in words_in_view(page) if " ".join(said.split()) not in plain] == []
    said, tip = pointed_at(browser)
    assert tip and tip in said and set(said) <= tips
    if key in ("probe", "attention", "anatomy"):
        about = window.session.inspector.about
        assert about is not None and about.fingerprint in text and SENTENCE in text
    assert "python -m engine" in text or not page.header.copying.line()


@needs_browser
@pytest.mark.slow
def test_evaluate_is_shared_as_its_report_and_texts_only_where_they_are_ticked(
    window: MainWindow, browser: Browser, tmp_path: Path, qtbot: QtBot
) -> None:
    page = shown(window, "evaluate", qtbot)
    qtbot.waitUntil(lambda: page.opened is not None and not page.is_asking)
    text = alive(browser, shared(window, page, tmp_path / "page.html", qtbot))
    assert page.score.value.text() in text
    assert page.score.between.text().split(" to ")[0] in text
    figures = [cell for row in page.by.classes.numbers() for cell in row if isinstance(cell, float)]
    assert figures and [cell for cell in figures if share(cell).removesuffix(" %") not in text] == []
    confusion = page.confusion.numbers()
    assert all(str(cell) in text for row in confusion for cell in row)
    texts = page.opened.scored.listed.texts
    assert not [one for one in texts if one in text] and "Misclassified" not in text
    assert pointed_at(browser)[1].startswith("this model: ")
    assert browser.printed().startswith(b"%PDF")
    page.header.share.include.setChecked(True)
    text = alive(browser, shared(window, page, tmp_path / "with.html", qtbot))
    wrong = page.opened.scored.each.right < 0.5
    assert all(one in text for one, is_wrong in zip(texts, wrong, strict=True) if is_wrong)


@needs_browser
@pytest.mark.slow
def test_two_runs_are_shared_as_they_are_compared(
    window: MainWindow, browser: Browser, tmp_path: Path, qtbot: QtBot
) -> None:
    page = shown(window, "runs", qtbot)
    qtbot.waitUntil(lambda: {row.name for row in page.shown.rows} == {"few", "more"})
    for place in range(2):
        index = page.table.runs.index(place, page.table.runs.columns.index(TICK))
        at = page.table.visualRect(index).center()
        qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    come_to_rest(window.session, qtbot)
    text = alive(browser, shared(window, page, tmp_path / "page.html", qtbot))
    verdict = page.findChild(QWidget, "runs_verdict")
    assert verdict is not None and " ".join(verdict.text().split()) in " ".join(text.split())
    assert all(row.name in text for row in page.shown.rows)


@needs_browser
@pytest.mark.slow
def test_a_run_and_a_table_are_shared_without_the_texts_of_the_table(
    window: MainWindow, runs: Path, browser: Browser, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_file(runs.parent / "reviews.csv")
    page = shown(window, "data", qtbot)
    table = window.session.data.table
    assert table is not None
    text = alive(browser, shared(window, page, tmp_path / "data.html", qtbot))
    texts = table.frame["text"].tolist()
    assert table.sha256[:12] in text and not [one for one in texts if len(one) > 12 and one in text]
    window.open_run(runs / "20261120-090000-few")
    page = shown(window, "finetune", qtbot)
    qtbot.waitUntil(lambda: page.run_dir is not None)
    come_to_rest(window.session, qtbot)
    text = alive(browser, shared(window, page, tmp_path / "run.html", qtbot))
    assert "Weights, sha256" in text and "Data, sha256" in text and "python -m engine finetune" in text


@pytest.mark.slow
def test_every_page_ends_its_header_with_share_and_more_in_the_same_place(
    window: MainWindow, qtbot: QtBot
) -> None:
    places = set()
    for key in PAGES:
        page = shown(window, key, qtbot)
        share, more = page.header.share, page.header.more
        assert share.isVisible() and more.isVisible(), key
        corner = share.mapTo(window, share.rect().topLeft()), more.mapTo(window, more.rect().topRight())
        places.add((corner[0].x(), corner[1].x()))
        others = [one for one in page.header.children() if isinstance(one, QWidget) and one.isVisible()]
        assert all(one.x() < share.x() for one in others if one not in (share, more)), key
        assert html_of(document_of(page)).startswith("<!DOCTYPE html>"), key
    assert len(places) == 1


@pytest.mark.slow
def test_the_menus_share_copy_and_say_where_a_file_cannot_be_written(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    masked = SENTENCE.replace("river", "[MASK]")
    window.session.inspector.set_text(masked)
    page, hand = shown(window, "probe", qtbot), Hand(window, qtbot)
    path = tmp_path / "page.html"
    type_into_dialog(path)
    choose_in([page.header.share.share_menu], "share_page")
    qtbot.waitUntil(path.exists)
    assert html.escape(masked) in path.read_text(encoding="utf-8")
    qtbot.waitUntil(lambda: page.header.share.text().startswith("Saved"))
    choose_in([page.header.more.more_menu], "copy_probe_command_action")
    assert page.header.share.text() == "Copied"
    assert SHARE_KEYS in "".join(action.text() for action in page.header.share.share_menu.actions())
    refused: list[str] = []
    sharing = Sharing(window.session, window)
    sharing._refuse = lambda _page, error: refused.append(str(error))  # type: ignore[method-assign]
    sharing.share(page, str(tmp_path / "missing" / "page.html"))
    qtbot.waitUntil(lambda: bool(refused))
    assert "could not be written" in refused[0] and page.header.share.isEnabled()
    assert hand.find("share").isVisible()
