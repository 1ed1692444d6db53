"""The bar names what the page in view shows, whatever was done before: never something else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.anatomy.state import AnatomyState
from app.pages.attention.page import AttentionPage
from app.pages.attention.state import AttentionState
from app.pages.embeddings.questions import TEXTS_QUESTION, TUNED_QUESTION, WORD_QUESTION
from app.pages.embeddings.state import EmbeddingsState
from app.pages.evaluate.page import EvaluatePage
from app.pages.evaluate.state import EvaluateState
from app.pages.inside.page import LookingPage
from app.pages.predict.page import PredictPage
from app.pages.predict.state import PredictState
from app.pages.probe.state import ProbeState
from app.pages.run.state import RunPageState
from app.rail import DATA, MODEL, RAIL_PAGES, TEXT
from app.settings import AppSettings
from app.work.titles import model_title
from engine.errors import UserError
from engine.model.weights import save_model
from engine.settings.finetune import FineTuneConfig
from engine.train.finetune import fine_tune
from engine.train.run.kept import of_one_run, run_of
from engine.train.run.runs import MODEL as RESULT
from engine.train.run.runs import read_config
from tests.app.hand import OpenWindow
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

WALK = 60  # steps
VISITED = (
    "welcome", "data", "finetune", "evaluate", "predict", "tokenizer", "probe", "attention", "embeddings",
    "anatomy",
)  # fmt: skip
OTHERS = ("beside", "second", "other")  # what states call a second model
SAID = ("good film", "bad play !", "look at the good film", "a bad , bad play")


def shown_by(window: MainWindow) -> dict[str, str]:
    """Return what the page in view shows, from its state and not from what it tells the bar."""
    key, session = window.current_page, window.session
    page: Any = window.page_in_view
    try:
        state = page.state
    except (AttributeError, UserError):
        state = None
    inspector, table = session.inspector, session.data.path
    said = {
        MODEL: model_title(inspector.folder) if inspector.folder is not None else "none yet",
        DATA: table.name if table is not None else "none yet",
        TEXT: "  +  ".join(text for text in (inspector.text, inspector.text_pair) if text) or "none yet",
    }
    model = getattr(state, "vocabulary", None) or getattr(state, "model", None)
    if model is not None:
        said[MODEL] = model_title(model)
    other = next((each for each in (getattr(state, name, None) for name in OTHERS) if each is not None), None)
    if other is not None:
        said[MODEL] += f" vs {model_title(other)}"
    if key == "finetune" and state.run is not None:
        said[DATA] = Path(cast(FineTuneConfig, read_config(state.run)).data.data).name
    if key == "evaluate":
        said[DATA] = rows_of(page, state)
    if key == "predict":
        said[TEXT] = "  +  ".join(text for text in state.texts if text) or "none yet"
    if isinstance(state, ProbeState | AttentionState | AnatomyState):
        said[TEXT] = "  +  ".join(text for text in (state.text, state.text_pair) if text) or "none yet"
    uses = RAIL_PAGES[key].uses
    if isinstance(state, EmbeddingsState) and page.vectors.source.table is not None:
        uses, said[DATA] = (*uses, DATA), page.vectors.source.table.path.name
    if key == "predict" and state.file is not None:
        uses, said[DATA] = (*uses, DATA), state.file.path.name
    return {one: said[one] for one in uses}


def models_on_screen(window: MainWindow) -> list[Path]:
    """Return the models that what is on screen was computed with."""
    page: Any = window.page_in_view
    found: list[Path] = []
    if (
        isinstance(page, LookingPage)
        and cast(QWidget, page.work.parentWidget()).isVisible()
        and page._shown is not None
    ):
        found.append(page._shown.folder)
    if isinstance(page, AttentionPage) and page.maps is not None:
        figure = page.picture.current_figure()
        found += (
            [page.maps.folder] if figure is not None and figure.isVisible() and not figure.is_empty else []
        )
    if isinstance(page, EvaluatePage) and page.opened is not None:
        found.append(page.opened.model)
    if isinstance(page, PredictPage) and not page.text_card.bars.is_empty and page._shown.folder is not None:
        found.append(page._shown.folder)
    return found


def rows_of(page: Any, state: EvaluateState) -> str:
    """Return what the Evaluate page is scored on."""
    if state.texts.data:
        return Path(state.texts.data).name
    if page.opened is None:
        return "none yet"
    return f"{page.opened.file.name} · {state.texts.part} rows"


class Walker:
    """Somebody who does one thing after another in a window, and restarts it now and then."""

    def __init__(
        self,
        settings: AppSettings,
        open_window: OpenWindow,
        classifiers: list[Path],
        guessers: list[Path],
        tables: list[Path],
        seed: int,
    ) -> None:
        self._settings, self._open, self._random = settings, open_window, random.Random(seed)
        self.classifiers, self.models, self.tables = classifiers, [*classifiers, *guessers], tables
        for path in self.models:
            settings.add_recent_model(path)
        self.window = open_window(settings)
        self.did = "started"

    def step(self) -> None:
        """Do one of many things, and wait until it is done."""
        call = self._random.choice(
            (self.turn, self.turn, self.turn, self.take_model, self.take_table, self.type_text, self.link,
             self.go_back, self.go_forward, self.compare, self.restart, self.offer, self.take_offer)
        )  # fmt: skip
        self.did = call.__name__
        call()
        held = self.window.session.inspector.folder  # before anything has been opened or computed
        shown = models_on_screen(self.window)
        assert all(held is not None and of_one_run(one, held) for one in shown), (
            self.did,
            self.window.current_page,
            held,
            shown,
        )
        self.rest()

    def rest(self) -> None:
        for _ in range(3):
            QApplication.processEvents()
            assert self.window.session.wait_idle()

    def turn(self) -> None:
        self.window.show_page(self._random.choice(VISITED))

    def take_model(self) -> None:
        """Choose from the bar's menu, where the page has a model."""
        if MODEL in self.window.bar.uses:
            self.window.bar.open_models()
            self._choose("thread_models")

    def take_table(self) -> None:
        if DATA in self.window.bar.uses:
            self.window.session.settings.add_recent_file(self._random.choice(self.tables))
            self.window.bar.open_tables()
            self._choose("thread_tables")

    def _choose(self, name: str) -> None:
        menu = self.window.findChild(QMenu, name)
        assert menu is not None
        actions = [one for one in menu.actions() if one.isCheckable()]
        if actions:
            self._random.choice(actions).trigger()
        menu.close()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def type_text(self) -> None:
        self.window.bar.edit_text()
        editor = self.window.bar.editor
        if editor is not None and TEXT in self.window.bar.uses:
            editor.text.setPlainText(self._random.choice(SAID))
            editor.pair.setPlainText(self._random.choice(("", "", *SAID)))
            editor.close()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def link(self) -> None:
        """Follow a link that brings its own model and text."""
        model, other = self._random.choice(self.models), self._random.choice(self.models)
        told, said = self._random.choice(self.classifiers), self._random.choice(SAID)
        key, state = self._random.choice(
            (
                ("attention", AttentionState(model=model, text=said)),
                ("probe", ProbeState(model=model, beside=other, text=said)),
                ("anatomy", AnatomyState(model=model, text=said)),
                ("evaluate", EvaluateState(told)),
                ("finetune", RunPageState(run_of(told))),
                ("evaluate", EvaluateState(told, beside=self.classifiers[0])),
                ("predict", PredictState(told, (said,))),
            )
        )
        self.window.session.show_page(key, state)

    def go_back(self) -> None:
        self.window._places.go_back()

    def go_forward(self) -> None:
        self.window._places.go_forward()

    def compare(self) -> None:
        """Ask a second model, or no longer, where the page can."""
        page: Any = self.window.page_in_view
        other = self._random.choice((None, *self.models))
        if self.window.current_page == "probe":
            page.draft.set_beside(other)
        elif self.window.current_page == "tokenizer":
            page.bar.choose_second(other)
        elif self.window.current_page == "embeddings":
            page.ask(self._random.choice((WORD_QUESTION, TEXTS_QUESTION, TUNED_QUESTION)))

    def offer(self) -> None:
        """Let a training end."""
        self.window.session.training.left.emit(self._random.choice(self.models))

    def take_offer(self) -> None:
        if self.window.bar.newer.isVisible():
            self.window.bar.newer.click()

    def restart(self) -> None:
        self.window.close()
        self.rest()
        self.window = self._open(self._settings)
        self.window.reopen()  # as at every start


def made_classifiers(folder: Path) -> list[Path]:
    """Return two classifiers with their runs."""
    runs, found = folder / "runs", []
    for name in ("first", "second"):
        data = write_table(folder / f"{name}.csv", reviews(40))
        start = model_folder(folder / "start")
        config = tiny_config(folder, data=str(data), model=str(start), validation_share=0.3, num_epochs=1)
        list(fine_tune(config, runs / name))
        found.append(runs / name / RESULT)
    return found


def made_guessers(folder: Path) -> list[Path]:
    """Return two models that guess words."""
    for name in ("guesser", "other"):
        save_model(folder / name, tiny_pretraining(), tiny_wordpiece(), {})
    return [folder / "guesser", folder / "other"]


def made_tables(folder: Path) -> list[Path]:
    return [write_table(folder / f"table-{seed}.csv", reviews(30, seed)) for seed in range(2)]


@pytest.mark.slow
def test_the_bar_never_names_anything_but_what_the_page_shows(
    settings: AppSettings, open_window: OpenWindow, tmp_path: Path, no_models_ship: None
) -> None:
    models = made_classifiers(tmp_path), made_guessers(tmp_path)
    walker = Walker(settings, open_window, *models, made_tables(tmp_path), seed=7)
    done: list[str] = []
    for _ in range(WALK):
        walker.step()
        done.append(f"{walker.did} -> {walker.window.current_page}")
        assert walker.window.bar.shown() == shown_by(walker.window), done[-8:]


@pytest.fixture
def guessers(settings: AppSettings, tmp_path: Path, no_models_ship: None) -> list[Path]:
    """Two models that this computer knows, the first used last."""
    models = made_guessers(tmp_path)
    for path in reversed(models):
        settings.add_recent_model(path)
    return models


def test_a_model_that_a_training_has_left_is_offered_and_one_click_puts_it_in_hand(
    settings: AppSettings, open_window: OpenWindow, guessers: list[Path]
) -> None:
    window = open_window(settings)
    window.show_page("attention")
    assert window.session.wait_idle()
    window.session.training.left.emit(guessers[1])
    assert window.bar.shown()[MODEL] == "guesser" and window.bar.newer.isVisible()
    window.bar.newer.click()
    assert window.bar.shown()[MODEL] == "other" and not window.bar.newer.isVisible()


def test_the_model_in_hand_is_there_again_after_a_restart_and_is_opened_where_it_is_looked_into(
    settings: AppSettings, open_window: OpenWindow, guessers: list[Path]
) -> None:
    window = open_window(settings)
    window.session.inspector.hold(guessers[1])
    window.close()
    again = open_window(settings)
    inspector = again.session.inspector
    assert inspector.folder == guessers[1] and inspector.about is None and not inspector.is_opening
    again.show_page("probe")
    assert again.bar.shown()[MODEL] == "other"
    assert again.session.wait_idle() and inspector.about is not None and inspector.folder == guessers[1]


def test_a_folder_that_cannot_be_opened_is_named_and_marked(
    settings: AppSettings, open_window: OpenWindow, guessers: list[Path], tmp_path: Path
) -> None:
    window = open_window(settings)
    window.session.inspector.hold(tmp_path / "gone")
    window.show_page("attention")
    assert window.session.wait_idle()
    button = window.bar.buttons[MODEL]
    assert window.bar.shown()[MODEL] == "gone" and button.mark.isVisible()
    assert "gone" in button.toolTip() and "no folder" in button.toolTip()


def test_what_is_typed_in_the_bar_is_the_text_of_every_page_and_a_lecture_gives_it_back(
    settings: AppSettings, open_window: OpenWindow, guessers: list[Path], qtbot: QtBot
) -> None:
    window = open_window(settings)
    window.show_page("probe")
    assert window.session.wait_idle()
    window.bar.edit_text()
    editor = window.bar.editor
    assert editor is not None and editor.text.textCursor().hasSelection()
    qtbot.keyClicks(editor.text, "good film")
    qtbot.keyClick(editor.text, Qt.Key.Key_Return)
    assert window.session.inspector.text == "good film" and window.bar.shown()[TEXT] == "good film"
    window.set_bare(True)
    window.session.inspector.choose(guessers[1])
    window.session.inspector.set_text("bad play", "look !")
    assert window.session.wait_idle() and not window.bar.isVisible()
    window.set_bare(False)
    assert window.bar.shown() == {MODEL: "guesser", TEXT: "good film"}
