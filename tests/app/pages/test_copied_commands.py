"""The lines that "Copy as command" gives on pages that look inside give what is shown, run as they are."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from app.look.copy_command import CopyCommandButton
from app.pages.embeddings.commands import COMMAND_FILE, WORD_FILE
from app.pages.embeddings.page import EmbeddingsPage
from app.pages.probe.page import LAYERS, NEXT, SURPRISE, TEMPLATES, ProbePage
from app.pages.tokenizer.page import TokenizerPage
from app.session import Session
from app.settings import AppSettings
from engine.commands.command_line import main
from engine.model.weights import save_model
from tests.fakes import TOKENS, tiny_pretraining, tiny_wordpiece

A, B = "-good 'film' [MASK]\n\"$HOME\"", "playing !"  # like a flag, quotes, a gap, two lines, a shell's name
Page = TypeVar("Page", EmbeddingsPage, ProbePage, TokenizerPage)
Lines = list[str]  # what a page has on screen, as the command prints it


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session that looks into a very small model, whose folder's name needs quotes."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "a model's", tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    made = Session(AppSettings(tmp_path / "settings.ini"))
    made.inspector.choose(tmp_path / "a model's")
    made.inspector.set_text(A, B)
    yield made
    made.close()
    assert made.wait_idle()


def tokens(session: Session, qtbot: QtBot, vocabulary: str = "") -> tuple[QWidget, Lines]:
    page = shown(TokenizerPage(session), qtbot)
    view = page.text_view
    if vocabulary:
        page.bar.choose(vocabulary)
        assert session.wait_idle()
    view.max_length.setValue(9)
    view.truncation.setCurrentIndex(view.truncation.findData("head"))
    qtbot.waitUntil(lambda: view.found is not None and view.found.asked.max_length == 9)
    assert session.wait_idle()
    assert view.found is not None and view.found.num_cut and vocabulary in str(view.found.asked.first.path)
    rows = [row for row in view.found.rows if row.position is not None]
    return page, [f"{row.piece:<20}{row.id:>8}{row.segment:>9}" for row in rows]


def vocabulary(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    Path("own.txt").write_text("\n".join(TOKENS) + "\n")
    return tokens(session, qtbot, "own.txt")


def words(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    page = probe(session, qtbot)
    hidden = [n for n, word in enumerate(page.draft.words) if word.text in ("film", "playing")]
    for place in hidden:
        page.draft.toggle_word(place)
    view = page.words_view
    qtbot.waitUntil(lambda: view.answer is not None and page.inspector.workers.is_idle)
    assert view.answer is not None and len(view.answer.probed.answers) == 3
    single = [guess for answer in view.answer.probed.answers[:2] for guess in answer.guesses]
    assert len(single) == 2 * view.top_k  # "playing" has two pieces, and a line for each
    return page, [f"{guess.word:<20}{guess.probability:8.4f}" for guess in single]


def layers(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    page = probe(session, qtbot)
    for place in [n for n, word in enumerate(page.draft.words) if word.text in ("film", "playing")]:
        page.draft.toggle_word(place)
    page.tabs.setCurrentIndex(LAYERS)
    view = page.layers_view
    qtbot.waitUntil(lambda: not view.plot.is_empty and page.inspector.workers.is_idle)
    expected = []
    for gap in range(view.gaps.count()):
        view.gaps.setCurrentIndex(gap)
        view.gaps.activated.emit(gap)
        for number, layer in enumerate(view.plot.layers):
            guesses = ", ".join(f"{word} {value:.4f}" for word, value in layer.guesses)
            known = f"{layer.probability:.4f} rank {layer.rank}" if layer.rank else ""
            expected += [f"layer {number:<3}{guesses}", known]
    return page, expected


def surprise(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    session.inspector.set_text(A.replace("[MASK]", "-"), B)
    page = probe(session, qtbot, SURPRISE)
    qtbot.waitUntil(lambda: page.surprise_view.value.isVisible() and page.inspector.workers.is_idle)
    return page, [rated.text for rated in page.surprise_view.strip.words]


def follows(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    page = probe(session, qtbot, NEXT)
    qtbot.waitUntil(lambda: page.next_view.bars.isVisible() and page.inspector.workers.is_idle)
    return page, [f"{page.next_view.bars.guesses[0].probability:.1%} that it does"]


def templates(session: Session, qtbot: QtBot, file: str = "") -> tuple[QWidget, Lines]:
    page = probe(session, qtbot)
    view = page.templates_view
    view.template.setText('it\'s {good|"bad"} [MASK]')
    view.targets.setText("film, playing")
    if file:
        view.open_file(file)
    page.tabs.setCurrentIndex(TEMPLATES)
    qtbot.waitUntil(lambda: len(view.grids) == (2 if file else 1) and page.inspector.workers.is_idle)
    return page, [
        f"{word:<20}{found.score.probability:8.4f}  {found.corrected:+8.2f} compared with its prior"
        for grid in view.grids
        for row in grid.scores
        for word, found in zip(grid.targets, row, strict=True)
    ]


def template_file(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    Path("asked.csv").write_text("template,targets\n{good|bad} [MASK],film|play\n[MASK] {a|b},good\n")
    return templates(session, qtbot, "asked.csv")


def vectors(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    Path("films.tsv").write_text("text\tmy label\ngood film\ta\n\tb\n-bad 'play'\tb\nplaying\ta\n")
    session.data.open("films.tsv", separator="\t", quoting="none", header="yes")
    page = shown(EmbeddingsPage(session), qtbot)
    choose(page.source_card.kind_box, "table")
    page.vectors_card.kind_box.setCurrentIndex(page.vectors_card.kind_box.findData("max"))
    page.vectors_card.set_layer(1)
    page.compute()
    page.map_settings.color_box.setCurrentIndex(page.map_settings.color_box.findData("my label"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    return page, []


def word_in_sentences(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    page = shown(EmbeddingsPage(session), qtbot)
    page.source_card.word.setText("film")
    page.source_card.contexts.setPlainText("one | a good film\nplaying !\ntwo | -film, 'bad' film")
    choose(page.source_card.place_box, "typed")
    choose(page.source_card.kind_box, "word")
    page.compute()
    qtbot.waitUntil(lambda: bool(page.vectors and page.vectors.spans) and page.inspector.workers.is_idle)
    return page, []


def word_in_table(session: Session, qtbot: QtBot) -> tuple[QWidget, Lines]:
    Path("films.tsv").write_text("text\tmy label\ngood film\ta\n\tb\n-bad 'film'\tb\nplaying\ta\n")
    session.data.open("films.tsv", separator="\t", quoting="none", header="yes")
    page = shown(EmbeddingsPage(session), qtbot)
    page.source_card.word.setText("film")
    choose(page.source_card.place_box, "table")
    choose(page.source_card.kind_box, "word")
    page.compute()
    qtbot.waitUntil(lambda: bool(page.vectors and page.vectors.spans) and page.inspector.workers.is_idle)
    return page, []


def probe(session: Session, qtbot: QtBot, tab: int = 0) -> ProbePage:
    page = shown(ProbePage(session), qtbot)
    qtbot.waitUntil(lambda: bool(page.draft.words))
    page.tabs.setCurrentIndex(tab)
    return page


def choose(box: QComboBox, value: str) -> None:
    """Choose an entry by hand."""
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def shown(page: Page, qtbot: QtBot) -> Page:
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.session.inspector.about is not None and page.session.wait_idle())
    return page


def copied(page: QWidget, qtbot: QtBot) -> Lines:
    """Press the button; return the words of the line without the program's own."""
    button = page.findChild(CopyCommandButton)
    assert button.isEnabled(), button.toolTip()
    button.click()
    line = shlex.split(QGuiApplication.clipboard().text())
    assert line[:3] == ["python", "-m", "engine"]
    return line[3:]


SCENES = (tokens, vocabulary, words, layers, surprise, follows, templates, template_file, vectors)
WORD_SCENES = (word_in_sentences, word_in_table)


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_the_copied_line_runs_and_gives_what_is_on_screen(
    scene: Callable[[Session, QtBot], tuple[QWidget, Lines]],
    session: Session,
    qtbot: QtBot,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, expected = scene(session, qtbot)
    line = copied(page, qtbot)
    assert main(line) == 0
    printed = capsys.readouterr().out
    assert [one for one in expected if one not in printed] == [], printed
    if scene is surprise:
        assert float(page.surprise_view.value.text()) == round(float(printed.split()[-1]), 1)
    if scene is vectors:
        held, pooling = page.vectors, page.vectors_card.pooling()
        assert held is not None and pooling is not None
        found = np.load(COMMAND_FILE)
        np.testing.assert_allclose(found["embeddings"], held.at(pooling), atol=1e-6)
        assert found["labels"].tolist() == ["a", "b", "a"] and found["layer"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("scene", WORD_SCENES, ids=lambda scene: scene.__name__)
def test_the_copied_line_writes_the_vectors_of_the_word_that_are_on_screen(
    scene: Callable[[Session, QtBot], tuple[QWidget, Lines]], session: Session, qtbot: QtBot
) -> None:
    page, _ = scene(session, qtbot)
    page.views.show_view("map")
    line = copied(page, qtbot)
    assert line[0] == "word-in-context" and main(line) == 0
    held, found = page.vectors, np.load(WORD_FILE)
    np.testing.assert_allclose(found["vectors"], held.values, atol=1e-6)
    cut = [text[a:b] for text, a, b in zip(found["sentences"], found["starts"], found["stops"], strict=True)]
    assert cut == ["film"] * len(held.spans) and len(cut) > 1
    np.testing.assert_allclose(found["background"], held.background, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scene", WORD_SCENES, ids=lambda scene: scene.__name__)
def test_the_copied_line_prints_the_meanings_that_are_on_screen(
    scene: Callable[[Session, QtBot], tuple[QWidget, Lines]],
    session: Session,
    qtbot: QtBot,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, _ = scene(session, qtbot)
    found = page.views.paths_card.found
    line = copied(page, qtbot)
    assert line[0] == "meanings" and main([line[0], "--json", *line[1:]]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    seen = found.meanings.partings
    assert len(steps) == len(seen) > 2
    for printed, one in zip(steps[1:], seen[1:], strict=True):
        assert printed["other_meaning"] == pytest.approx(one.between, abs=1e-6)
        assert (printed["nearest_of_own_meaning"], printed["by_chance"]) == (one.num_right, one.chance)


@pytest.mark.slow
def test_where_no_command_does_it_the_button_says_so(session: Session, qtbot: QtBot) -> None:
    session.inspector.set_text("good film", B)
    page = probe(session, qtbot)
    assert "Mask a word" in lacking(page)
    page.tabs.setCurrentIndex(LAYERS)
    assert "Mask a word" in lacking(page)
    page.tabs.setCurrentIndex(0)
    inside = next(word for word in page.draft.words if word.text == "playing").pieces[0]
    page.draft.toggle_piece(inside)
    assert "A piece within a word" in lacking(page)
    page.tabs.setCurrentIndex(LAYERS)
    assert "A piece within a word" in lacking(page)
    embeddings = shown(EmbeddingsPage(session), qtbot)
    qtbot.waitUntil(lambda: embeddings.vectors is not None and session.inspector.workers.is_idle)
    embeddings.ask("texts")
    qtbot.waitUntil(lambda: not embeddings.vectors.spans and session.inspector.workers.is_idle)
    assert "not typed sentences" in lacking(embeddings)
    tokenizer = shown(TokenizerPage(session), qtbot)
    tokenizer.show_view("table")
    assert "No command measures a whole table" in lacking(tokenizer)
    tokenizer.show_view("text")
    assert copied(tokenizer, qtbot)[0] == "tokenize"


def lacking(page: QWidget) -> str:
    button = page.findChild(CopyCommandButton)
    assert not button.isEnabled()
    return button.toolTip()
