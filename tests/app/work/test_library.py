"""Which models are offered, and what they are called: the same on every page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QMenu, QTabBar

from app import shipped
from app.main_window import MainWindow
from app.pages.choose.model_box import ModelBox
from app.settings import AppSettings
from app.work.library import OPENED, TRAINED, ModelLibrary, look
from app.work.titles import model_title, run_title
from engine.events import result_of
from engine.runs.marks import set_marks
from engine.settings.config import to_toml, with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.runs import MODEL, document_of
from tests.app.hand import OpenWindow
from tests.engine.made_runs import made_run
from tests.fakes import model_folder

RUN = "20250102-030405-films"
NAME = "films · 2 Jan 2025 03:04:05"
BOXES = {
    "finetune": "model_choice",
    "pretrain": "start_choice",
}
IN_BAR = ("predict", "probe", "attention", "embeddings")  # of the model in hand


def in_menu(window: MainWindow) -> list[str]:
    """Return the models that the bar offers over the page in view."""
    window.bar.open_models()
    menu = window.findChild(QMenu, "thread_models")
    assert menu is not None
    names = [action.text().partition("\t")[0] for action in menu.actions() if action.isCheckable()]
    menu.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return names


def make_run(root: Path, name: str = RUN) -> Path:
    run = root / name
    model_folder(run / "model")
    model_folder(run / "history" / "step-00000037")
    (run / "config.toml").write_text(to_toml(FineTuneConfig()), encoding="utf-8")
    (run / "status.json").write_text('{"state": "finished", "step": 37}', encoding="utf-8")
    return run


@pytest.fixture
def window(settings: AppSettings, open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """A first start on a computer where a run lies already, and nothing was ever opened."""
    make_run(tmp_path / "runs")
    return open_window(settings)


def offered(window: MainWindow, page: str) -> list[str]:
    window.show_page(page)
    QApplication.processEvents()
    if page in IN_BAR:
        return in_menu(window)
    box = window.page(page).findChild(QComboBox, BOXES[page])
    return [box.itemText(place) for place in range(box.count())]


@pytest.mark.slow
@pytest.mark.skipif(shipped.starter_model() is None, reason="this build has no models in the box")
def test_every_model_of_this_computer_is_offered_at_the_first_start(window: MainWindow) -> None:
    for page in ("finetune", "pretrain", "probe"):
        names = offered(window, page)
        assert {"Starter model", "Small model with its history", NAME} <= set(names), page
    assert NAME in offered(window, "predict")  # the only one that tells labels apart
    window.session.inspector.hold(shipped.tuned_model())
    assert "Starter model" not in offered(window, "predict")


@pytest.mark.slow
def test_a_model_has_one_name_on_every_page(window: MainWindow, tmp_path: Path) -> None:
    model = tmp_path / "runs" / RUN / "model"
    window.session.model.choose(str(model))
    window.session.inspector.choose(model)
    assert window.session.wait_idle()
    for page in (*BOXES, "predict", "probe"):
        assert any(text.split(" · 2×")[0] == NAME for text in offered(window, page)), page
    window.show_page("models")
    assert window.session.wait_idle()
    listed = window.page("models").list_card.model
    assert NAME in [listed.item(row).text() for row in range(listed.rowCount())]
    assert window.session.inspector.about.name == NAME
    window.show_page("probe")
    assert window.bar.shown()["model"] == NAME


def test_names_tell_runs_and_their_weights_apart(tmp_path: Path) -> None:
    first, second = make_run(tmp_path), make_run(tmp_path, "20250102-030406-films")
    assert run_title(first) == NAME != run_title(second)
    assert model_title(first / "history" / "step-00000037") == f"{NAME}, step 37"
    assert model_title(model_folder(tmp_path / "bert-base")) == "bert-base"


def test_a_model_that_is_gone_is_not_offered(window: MainWindow, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runs" / RUN / "model")
    window.session.runs.find()
    assert window.session.wait_idle()
    window.session.training.ended.emit()  # pages look again
    assert NAME not in offered(window, "finetune")


def models_in(box: QComboBox) -> list[str]:
    """Return what a box calls its models, the chosen one by its name alone."""
    data = [str(box.itemData(place) or "") for place in range(box.count())]
    places = [place for place, path in enumerate(data) if Path(path).is_absolute() and Path(path).is_dir()]
    return [box.itemText(place).split(" · 2×")[0] for place in places]


@pytest.mark.slow
def test_every_page_offers_the_same_models_in_the_same_order_under_the_same_names(
    window: MainWindow, tmp_path: Path
) -> None:
    session, mine, other = window.session, model_folder(tmp_path / "mine"), model_folder(tmp_path / "other")
    session.model.choose(str(mine))
    assert session.wait_idle()
    session.inspector.choose(other)
    assert session.wait_idle()
    expected = [entry.title for entry in session.library.offered()]
    assert expected[:2] == ["other", "mine"] and expected[-1] == NAME
    for page, name in BOXES.items():
        assert models_in(window.page(page).findChild(QComboBox, name)) == expected, page
    for page in ("probe", "attention", "embeddings"):
        assert offered(window, page) == expected, page
    window.show_page("tokenizer")
    assert session.wait_idle()
    for name in ("tokenizer_vocabulary", "tokenizer_second"):
        assert models_in(window.page("tokenizer").findChild(QComboBox, name)) == expected, name
    window.show_page("predict")
    assert session.wait_idle()
    with_labels = [entry.title for entry in session.library.offered("labels")]
    assert in_menu(window) == [title for title in expected if title in ("other", *with_labels)]
    assert with_labels == [title for title in expected if title in with_labels]
    window.show_page("models")
    assert session.wait_idle()
    listed = [entry.title for entry in window.page("models").list_card.entries]
    assert sorted(listed) == sorted(expected)
    opened = [entry.title for entry in window.page("models").list_card.entries if entry.origin == OPENED]
    assert opened == ["other", "mine"]


@pytest.mark.slow
def test_a_folder_that_is_no_model_is_refused_in_the_same_words_below_every_box(
    window: MainWindow, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    said = set()
    for page in ("finetune", "pretrain", "tokenizer"):
        window.show_page(page)
        assert window.session.wait_idle()
        for box in window.page(page).findChildren(ModelBox):
            for bar in window.page(page).findChildren(QTabBar) if not box.isVisible() else ():
                bar.setCurrentIndex(bar.count() - 1)  # the box of a second model stands on the last tab
            if not box.isVisible():
                window.page(page).show_view("side")  # the box that adds a vocabulary to those compared
            before = box.currentData()
            box.question.read(tmp_path / "nothing")
            assert window.session.wait_idle()
            assert box.refusal.isVisible() and box.currentData() == before, page
            assert box.refusal.mapTo(window, QPoint()).y() > box.mapTo(window, QPoint()).y(), page
            said.add(box.refusal.text())
    window.show_page("data")
    window.page("data").lengths_card.model_question.read(tmp_path / "nothing")
    assert window.session.wait_idle()
    said.add(window.page("data").banner.text())
    window.show_page("models")
    window.page("models").open_folder(str(tmp_path / "nothing"))
    assert window.session.wait_idle()
    said.add(window.page("models").banner.text())
    assert len(said) == 1 and "config.json" in said.pop()


@pytest.mark.slow
def test_choose_a_folder_leaves_the_choice_where_it_was_when_the_dialog_is_left(window: MainWindow) -> None:
    window.show_page("finetune")
    assert window.session.wait_idle()
    box = window.page("finetune").findChild(ModelBox, "model_choice")
    before = box.currentData()
    place = box.findText("Choose a folder…")
    box.setCurrentIndex(place)
    box.activated.emit(place)
    dialog = window.findChild(QFileDialog, "model_choice_dialog")
    assert dialog is not None and box.currentData() == before
    dialog.reject()
    assert box.currentData() == before and not box.refusal.isVisible()


def test_a_library_offers_every_run_once_the_newest_first_and_what_is_chosen_in_any_case(
    tmp_path: Path,
) -> None:
    runs, settings = tmp_path / "runs", AppSettings(tmp_path / "settings.ini")
    first = make_run(runs, "20250102-030405-films")
    for number in range(60):
        run = runs / f"20250102-0304{number:02d}-many"
        (run / "model").mkdir(parents=True)
        (run / "config.toml").touch()
        (run / "model" / "config.json").touch()
    (runs / "20260101-000000-cut-off").mkdir()
    (runs / "20260101-000000-cut-off" / "config.toml").touch()  # it has no model
    library = ModelLibrary(settings)
    found = result_of(look(runs, library.recent, {}))
    library.set_found(found.entries)
    trained = [entry.path.parent.name for entry in library.offered() if entry.origin == TRAINED]
    assert len(trained) == 61 and trained == sorted(trained, reverse=True)
    assert [entry.path for entry in library.own("labels")] == [first / "model"]
    tuned = (shipped.tuned_model(), shipped.chinese_tuned_model())
    shipping = [path for path in tuned if path is not None]
    assert [entry.path for entry in library.offered("labels")] == [*shipping, first / "model"]
    kept = first / "history" / "step-00000037"
    assert library.offered("labels", chosen=kept)[0].path == kept
    library.remember(first / "model", trained=True)
    library.remember(kept)
    assert library.offered()[0].path == first / "model"
    assert settings.recent_models == [str(first / "model")]
    again = result_of(look(runs, library.recent, {entry.path: entry for entry in found.entries}))
    assert all(new is old for new, old in zip(again.entries, found.entries, strict=True))  # not read again


def test_the_name_of_a_run_tells_which_model_it_began_with(tmp_path: Path) -> None:
    told = []
    for second, model in enumerate(
        ("/models/bert-base", "new:tiny", str(made_run(tmp_path, "news") / MODEL))
    ):
        run = tmp_path / f"20250102-03040{second}-films"
        run.mkdir()
        config = with_values(FineTuneConfig(), {"model": model, "data": "films.csv"})
        (run / "config.toml").write_text(document_of(config), encoding="utf-8")
        told.append(run_title(run).split(" · ")[1])
    assert told == ["bert-base", "new tiny", "news"]
    run = tmp_path / "20250102-030405-films"
    run.mkdir()
    config = with_values(config, {"label": "sentiment", "way": "auto", "take": "contrastive"})
    (run / "config.toml").write_text(document_of(config), encoding="utf-8")
    assert run_title(run).startswith("films · sentiment · Contrastive pairs · news · ")


def test_a_run_that_was_given_a_name_has_it_on_every_page(tmp_path: Path) -> None:
    run = made_run(tmp_path, "films")
    before = run_title(run)
    set_marks(run, name="two epochs")
    assert run_title(run).split(" · ")[-1] == before.split(" · ")[-1]
    assert model_title(run / "model").startswith("two epochs · ")
