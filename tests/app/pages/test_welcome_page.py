"""The Welcome page: every way in by a click or a key, recent work, and a build that ships without models."""

from __future__ import annotations

import ast
import csv
import inspect
import json
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import Qt, QTranslator
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu
from pytestqt.qtbot import QtBot

from app import shipped
from app.pages.run.state import RunPageState
from app.pages.welcome import found as welcome_found
from app.pages.welcome.page import WelcomePage
from app.session import Session
from app.settings import AppSettings
from app.shipped import TABLES
from app.stories import english
from app.stories.known import STORIES
from app.stories.story import SampleGroup, SampleText
from app.work.training import TrainingJob
from engine.hub import recommended
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.weights import save_model
from engine.settings.config import to_toml, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.text.roles import Roles
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

LEFT = Qt.MouseButton.LeftButton
LOW = (848, 545)  # what a window of 1024 x 640 leaves to a page, less a banner


def language_model(path: Path) -> Path:
    save_model(path, tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    return path


def make_run(root: Path, name: str, config: FineTuneConfig | PretrainConfig, **status: object) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    kind = "pretrain" if isinstance(config, PretrainConfig) else "finetune"
    (folder / "config.toml").write_text(f'task = "{kind}"\n{to_toml(config)}', encoding="utf-8")
    (folder / "status.json").write_text(json.dumps(status))
    return folder


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build with the starter, a run that kept its weights, and one sample."""
    folder = tmp_path / "assets"
    language_model(folder / "models" / "starter")
    run = make_run(folder / "models", "tiny", PretrainConfig(), state="finished", step=13)
    for path in ("history/step-00000007", "model"):
        shutil.copytree(folder / "models" / "starter", run / path)
    samples = folder / "samples"
    samples.mkdir()
    (samples / "films.csv").write_text("id,said,mood\n" + "7,a film,good\n8,another,bad\n" * 13)
    said = {"title": "Films", "size": "26 rows", "words": "Good or bad", "licence": "CC BY 4.0"}
    films = shipped.ShippedTable(
        key="polarity", file="films.csv", roles=Roles(text="said", label="mood"), **said
    )
    gone = shipped.ShippedTable(key="gone", file="gone.csv", roles=Roles(text="said"), **said)
    sentences = (SampleText("a film & play", "two"), SampleText("a [MASK] film", "a gap"))
    told = replace(STORIES["en"], sentences=(SampleGroup("", sentences),))
    monkeypatch.setattr(shipped, "TABLES", (films, gone))
    monkeypatch.setitem(STORIES, "en", told)
    monkeypatch.setattr(shipped, "assets", lambda: folder)
    return folder


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path, assets: Path) -> Iterator[WelcomePage]:
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    session = Session(settings)
    made = WelcomePage(session)
    made.led_to = []  # type: ignore[attr-defined]
    session.page_requested.connect(lambda *led: made.led_to.append(led))  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    made.resize(1104, 772)
    yield made
    session.close()
    assert session.wait_idle()


def show(page: WelcomePage) -> Session:
    """Show the page, as the window does, and wait for what it looks for."""
    page.hide()
    page.show()
    assert page.session.wait_idle()
    return page.session


def click(qtbot: QtBot, page: WelcomePage, name: str) -> None:
    def shown() -> list[QAbstractButton]:
        return [
            one for one in page.findChildren(QAbstractButton, name) if one.isVisible() and one.isEnabled()
        ]

    qtbot.waitUntil(
        lambda: len(shown()) == 1
    )  # a list that has just been filled shows its rows a moment later
    qtbot.mouseClick(shown()[0], LEFT)
    assert page.session.wait_idle()


def recent(page: WelcomePage) -> list[tuple[str, str]]:
    return [(row.entry.title, row.entry.detail) for row in page.recent_card.list.rows]


def led_to(page: WelcomePage) -> list[str]:
    return [key for key, _state in page.led_to]  # type: ignore[attr-defined]


def test_one_click_asks_the_starter_for_a_hidden_word_and_one_shows_how_it_reads(
    qtbot: QtBot, page: WelcomePage, assets: Path
) -> None:
    inspector = show(page).inspector
    click(qtbot, page, "welcome_guess")
    assert inspector.about is not None and inspector.about.folder == assets / "models" / "starter"
    assert inspector.text == "The [MASK] said that the patient would feel better." and led_to(page) == [
        "probe"
    ]
    (assets / "lectures").mkdir()
    scenes = [{"title": "One", "sentence": "word " * 259}, {"title": "Two", "sentence": ""}]
    (assets / "lectures" / "how-bert-reads.json").write_text(json.dumps({"scenes": scenes}))
    show(page)
    assert page.look_card.length.text() == "2 scenes, about 2 min"  # 261 words, and 20 s to look
    with qtbot.waitSignal(page.lecture_wanted) as wanted:
        click(qtbot, page, "welcome_watch")
    assert wanted.args == [assets / "lectures" / "how-bert-reads.json"]


@pytest.mark.slow
def test_one_click_makes_everything_ready_to_train_on_film_reviews(
    qtbot: QtBot, page: WelcomePage, assets: Path
) -> None:
    session = show(page)
    click(qtbot, page, "welcome_reviews")
    assert led_to(page) == ["finetune"] and session.data.path == assets / "samples" / "films.csv"
    assert session.data.roles == Roles("said", "", "mood") and session.data.summary is not None
    assert session.model.chosen is not None and Path(session.model.chosen.model) == shipped.starter_model()
    other = model_folder(assets / "other")
    session.model.choose(str(other))
    assert session.wait_idle()
    click(qtbot, page, "welcome_reviews")
    assert session.model.chosen.model == str(other)  # what a person has chosen stays


def test_the_first_thing_a_new_person_reads_says_what_will_stand_there(
    qtbot: QtBot, page: WelcomePage
) -> None:
    show(page)
    assert recent(page) == [] and not page.recent_card.isVisible() and page.first_day.isVisible()
    qtbot.waitUntil(lambda: page.samples_card.width() > page.look_card.width())  # across the page
    make_run(page.session.runs.root, "20250102-120000-talk", PretrainConfig(), state="stopped", step=7)
    show(page)
    assert page.recent_card.isVisible() and not page.first_day.isVisible()
    qtbot.waitUntil(lambda: page.samples_card.width() < page.look_card.width())


def test_runs_come_with_what_became_of_them_and_those_cut_off_first(qtbot: QtBot, page: WelcomePage) -> None:
    root = page.session.runs.root
    make_run(root, "20250102-120000-talk", PretrainConfig(), state="stopped", step=7)
    films = with_values(FineTuneConfig(), {"data": "films.csv"})
    make_run(root, "20250101-120000-films", films, state="running", step=120, num_steps=400)
    make_run(root, "20250103-120000-news", films, state="finished", metric="accuracy", best_metric=0.793)
    make_run(root, "20250104-120000-torn", films)
    (root / "20250104-120000-torn" / "config.toml").write_text("torn", encoding="utf-8")
    show(page)
    assert [title for title, _detail in recent(page)] == [
        "films · 1 Jan 2025 12:00:00", "news · 3 Jan 2025 12:00:00", "talk · 2 Jan 2025 12:00:00",
    ]  # fmt: skip
    (_, cut_off), (_, news), (_, talk) = recent(page)
    assert (cut_off, news, talk) == ("step 120 of 400", "79.3 % right", "step 7")
    rows = [row.entry for row in page.recent_card.list.rows]
    assert [(one.state, one.ink, one.verb) for one in rows] == [
        ("interrupted", "look", "Resume"), ("finished", "fine", "Evaluate"), ("stopped", "muted", "Resume"),
    ]  # fmt: skip
    assert all(one.when == "today" for one in rows)  # its files were written just now
    click(qtbot, page, "welcome_run_3")
    assert page.led_to == [("pretrain", RunPageState(root / "20250102-120000-talk"))]  # type: ignore[attr-defined]


def test_while_a_model_is_in_training_no_earlier_run_takes_its_place(
    qtbot: QtBot, page: WelcomePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(page.session.runs.root, "20250101-120000-films", FineTuneConfig(), state="stopped")
    show(page)
    monkeypatch.setattr(TrainingJob, "is_running", property(lambda _self: True))
    page.session.training.config = FineTuneConfig()
    click(qtbot, page, "welcome_run_1")
    assert page.led_to == [("finetune", None)]  # type: ignore[attr-defined]


def test_runs_are_never_read_on_the_windows_thread(
    page: WelcomePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[threading.Thread] = []
    monkeypatch.setattr(
        welcome_found, "list_runs", lambda _root: seen.append(threading.current_thread()) or []
    )
    show(page)
    assert seen and threading.main_thread() not in seen


def test_keys_alone_lead_from_the_first_button_to_a_table_used_lately(
    qtbot: QtBot, page: WelcomePage, tmp_path: Path
) -> None:
    kept, gone = tmp_path / "kept.csv", tmp_path / "gone.csv"
    kept.write_text("text,label\n" + "a film,good\na play,bad\n" * 7)
    for path in (gone, tmp_path / "assets" / "samples" / "films.csv", kept):
        page.session.settings.add_recent_file(path)  # the sample stands in its own list
    make_run(page.session.runs.root, "films", FineTuneConfig(), state="failed", step=3)
    session = show(page)
    assert [title for title, _detail in recent(page)] == ["films", "kept.csv"]
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.tour_button.setFocus()
    reached = []
    while "welcome_run_1" not in reached:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget().objectName())
        assert len(reached) < 12, reached
    assert reached[:2] == ["welcome_hidden_word", "welcome_guess"] and "welcome_own_text" in reached
    for _ in range(3):  # there are two rows, and no way out of them
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert QApplication.focusWidget().objectName() == "welcome_table_1"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert session.wait_idle()
    assert session.data.path == kept and led_to(page) == ["data"]


def test_a_hidden_word_is_guessed_on_the_page_and_a_click_hides_another(
    qtbot: QtBot, page: WelcomePage, assets: Path
) -> None:
    show(page)
    plot = page.look_card.plot
    sentence, word = english.STORY.start
    assert plot.shown.words[1] == word and len(plot.shown.guesses) == 4
    model = LoadedModel.open(assets / "models" / "starter")
    for hidden in (1, 5):
        qtbot.mouseClick(plot, LEFT, pos=plot.rect_of(hidden).center().toPoint())
        qtbot.waitUntil(lambda hidden=hidden: plot.shown.hidden == hidden and not plot.is_dim)
        answer = probe(model, sentence, words=[hidden], top_k=4).answers[0]
        assert [word for word, _share in plot.shown.guesses] == [one.word for one in answer.guesses]
        assert 0 < sum(plot.shown.looks_at) < 1  # the rest goes to [CLS] and [SEP]


def test_a_model_in_the_box_that_cannot_be_opened_is_told_with_a_way_out(
    page: WelcomePage, assets: Path
) -> None:
    (assets / "models" / "starter" / "model.safetensors").write_bytes(b"torn")
    show(page)
    assert page.look_card.remark.isVisible() and page.look_card.remark.text()
    assert page.choose_button.isVisible() and not page.look_card.plot.shown.guesses


def test_samples_have_as_many_rows_and_labels_as_is_said() -> None:
    for table in TABLES:
        path, roles = table.path, table.roles
        if path.suffix != ".csv":
            continue
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        said = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", table.size)]
        assert said[0] == len(rows), table.key
        labels = {one for row in rows for one in row[roles.label].split("|")}
        if table.key not in ("similarity", "chinese_similarity", "corrections"):  # a number, or a text, each
            assert said[1] == len(labels), table.key


def test_sample_data_opens_in_its_roles_and_sentences_where_they_show(
    qtbot: QtBot, page: WelcomePage
) -> None:
    session = show(page)
    click(qtbot, page, "welcome_sample_polarity")
    assert session.data.roles == Roles("said", "", "mood") and led_to(page) == ["data"]
    click(qtbot, page, "welcome_sentences")
    menu = page.findChild(QMenu, "welcome_sentences_menu")
    assert menu is not None and menu.isVisible()
    offered = [action.text() for action in menu.actions() if action.isEnabled()]
    assert offered == ["a film && play", "a [MASK] film"]
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert session.wait_idle()
    assert session.inspector.text == "a film & play" and led_to(page)[-1] == "attention"


class UpperCase(QTranslator):
    """Says what it knows of the engine's words in capitals."""

    known = frozenset[str]()

    def translate(self, context, text, disambiguation=None, n=-1) -> str | None:
        return text.upper() if context == "engine" and text in self.known else None

    def isEmpty(self) -> bool:
        return False


def test_what_samples_are_called_and_what_they_show_is_collected_and_translated(
    qtbot: QtBot, qapp: QApplication, page: WelcomePage, assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "TABLES", TABLES)
    monkeypatch.setitem(STORIES, "en", english.STORY)
    for table in TABLES:
        (assets / "samples" / table.file).touch()
    translator = UpperCase()
    translator.known = _collected(shipped) | _collected(english) | _collected(recommended)
    qapp.installTranslator(translator)
    try:
        show(page)
        entries = [row.entry for row in page.samples_card.list.rows]
        click(qtbot, page, "welcome_sentences")
    finally:
        qapp.removeTranslator(translator)
    menu = page.findChild(QMenu, "welcome_sentences_menu")
    assert menu is not None
    entries = [entry for entry in entries if entry.name.startswith("welcome_sample_")]
    said = [text for entry in entries for text in (entry.title, entry.detail)]
    headings = menu.actions()
    said += [heading.text() for heading in headings]
    under = [action for heading in headings for action in heading.menu().actions()]
    said += [action.text().strip() for action in under if not action.isEnabled()]  # what each shows
    offered = [action.text() for action in under if action.isEnabled()]
    menu.close()
    assert offered == [f"{one.text}  ·  {one.pair}" if one.pair else one.text for one in english.STORY.texts]
    assert len(said) == 2 * len(TABLES) + len(headings) + len(english.STORY.texts) and len(headings) == 6
    assert [text for text in said if not text or text != text.upper()] == []


def _collected(module: ModuleType) -> frozenset[str]:
    """Return the engine's words in a module that lupdate finds: literals in marked("engine", ...)."""
    calls = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call))
    marks = (call.args for call in calls if ast.unparse(call.func) == "marked")
    found = [[arg.value for arg in args if isinstance(arg, ast.Constant)] for args in marks]
    return frozenset(pair[1] for pair in found if len(pair) == 2 and pair[0] == "engine")


def test_pretraining_the_tour_and_a_table_of_ones_own_are_asked_of_the_window(
    qtbot: QtBot, page: WelcomePage
) -> None:
    show(page)
    asked = ((page.tour_wanted, "welcome_tour"), (page.open_wanted, "welcome_open"))
    for signal, name in (*asked, (page.sample_text_wanted, "welcome_text")):
        with qtbot.waitSignal(signal):
            click(qtbot, page, name)
    click(qtbot, page, "welcome_own_text")
    assert led_to(page) == ["pretrain", "pretrain"]


def test_without_the_starter_the_page_says_so_and_another_model_takes_its_place(
    qtbot: QtBot, page: WelcomePage, assets: Path, tmp_path: Path
) -> None:
    shutil.rmtree(assets / "models")
    session = show(page)
    assert "missing" in page.look_card.remark.text() and page.look_card.remark.isVisible()
    assert page.choose_button.isVisible() and not page.guess_button.isVisible()
    session.settings.add_recent_model(language_model(tmp_path / "mine"))
    session.settings.add_recent_model(model_folder(tmp_path / "moods"))  # newer, but guesses no words
    show(page)
    assert "mine" in page.look_card.remark.text() and not page.choose_button.isVisible()
    click(qtbot, page, "welcome_guess")
    assert session.inspector.folder == tmp_path / "mine"
    click(qtbot, page, "welcome_reviews")
    assert session.data.table is not None and session.model.chosen is None and led_to(page)[-1] == "finetune"


def test_a_folder_for_runs_that_cannot_be_read_is_said_in_place(
    page: WelcomePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_root: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(welcome_found, "list_runs", refuse)
    show(page)
    assert "Permission denied" in page.recent_card.list.empty.text()


def test_a_damaged_run_is_told_and_hides_no_other(page: WelcomePage) -> None:
    root = page.session.runs.root
    for name in ("20260101-120000-sound", "20260101-130000-spoilt", "20260101-140000-unread"):
        (root / name).mkdir(parents=True)
        (root / name / "config.toml").write_text("", encoding="utf-8")
        (root / name / "status.json").write_text('{"state": "stopped", "step": 7}', encoding="utf-8")
    (root / "20260101-130000-spoilt" / "status.json").write_text('{"step": null}', encoding="utf-8")
    (root / "20260101-140000-unread" / "config.toml").write_text("[[[", encoding="utf-8")
    show(page)
    spoilt, sound = (row.entry for row in page.recent_card.list.rows)
    assert sound.detail == "step 7" and (spoilt.state, spoilt.verb) == ("damaged", "Open…")
    page.resize(page.width() - 40, page.height())  # as the hint fits itself anew
    QApplication.processEvents()
    assert "20260101-140000-unread cannot be read" in page.recent_card.hint_label.toolTip()


@pytest.mark.usefixtures("styled")
def test_the_page_fits_a_low_window_with_everything_on_it(page: WelcomePage, assets: Path) -> None:
    shutil.rmtree(assets / "models")
    page.resize(*LOW)
    show(page)
    least = page.minimumSizeHint()
    assert least.width() <= LOW[0] - 8 and least.height() <= LOW[1]
