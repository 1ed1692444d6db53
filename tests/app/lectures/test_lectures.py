"""Lectures: their file, what is kept, the editor, stepping by keys, a model that is not here, text size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app import shipped
from app.language import speak_in
from app.lectures.bar import SIZES
from app.lectures.editor import LectureEditor
from app.lectures.find import ModelPlaces, find, fingerprint_of, mark_of
from app.lectures.lecture import Lecture, Scene, SceneModel, read_lecture, to_json, write_lecture
from app.main_window import MainWindow
from app.page_stack import PAGES, is_kept
from app.settings import AppSettings
from engine.errors import UserError
from engine.language import ENGLISH
from tests.app.hand import OpenWindow, come_to_rest
from tests.looks.looking_scenes import PAIR, SENTENCE, language_model, wordpiece

SCENE = Scene(
    "Eine Überschrift",
    "Ein Satz.",
    "probe",
    {"model": SceneModel("one", "0123456789ab")},
    SENTENCE,
    "",
    {"tab": "words", "words": [1]},
)


def to_document(scene: Scene) -> dict[str, Any]:
    """Return a scene as a lecture's file has it."""
    (found,) = json.loads(to_json(Lecture("L", (scene,))))["scenes"]
    return dict(found)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_model(tmp_path_factory.mktemp("models") / "one")


@pytest.fixture
def window(open_window: OpenWindow, settings: AppSettings, model: Path, qtbot: QtBot) -> MainWindow:
    window = open_window(settings)
    window.session.inspector.choose(model)
    window.session.inspector.set_text(SENTENCE)
    window.show_page("attention")
    come_to_rest(window.session, qtbot)
    return window


def keep(window: MainWindow, title: str, sentence: str, qtbot: QtBot) -> None:
    """Keep the open page as a person does: Ctrl+K, a title, a sentence, Keep."""
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    dialog: Any = next(
        one for one in QApplication.topLevelWidgets() if one.objectName() == "keep_scene_dialog"
    )
    count = len(window.lectures.current.lecture.scenes)
    dialog.title.selectAll()
    qtbot.keyClicks(dialog.title, title)
    qtbot.keyClicks(dialog.sentence, sentence)
    qtbot.mouseClick(dialog.keep_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.lectures.current.lecture.scenes) == count + 1)
    come_to_rest(window.session, qtbot)


def test_a_lecture_is_the_same_after_its_file(tmp_path: Path) -> None:
    lecture = Lecture("Wie BERT liest 读", (SCENE, SCENE))
    write_lecture(tmp_path / "one.json", lecture)
    assert read_lecture(tmp_path / "one.json") == lecture
    assert str(tmp_path) not in (tmp_path / "one.json").read_text(encoding="utf-8")


def test_a_lecture_says_its_language_and_a_file_of_before_is_english(tmp_path: Path) -> None:
    found = json.loads(to_json(Lecture("L", (SCENE,), "zh")))
    assert list(found)[:3] == ["format", "version", "language"] and found["language"] == "zh"
    del found["language"]
    (tmp_path / "old.json").write_text(json.dumps(found), encoding="utf-8")
    assert read_lecture(tmp_path / "old.json") == Lecture("L", (SCENE,), ENGLISH)


@pytest.mark.slow
def test_a_lecture_stays_in_its_language_and_one_that_is_made_has_the_window_s(
    qapp: QApplication, open_window: OpenWindow, settings: AppSettings, qtbot: QtBot
) -> None:
    speak_in(qapp, "zh")
    try:
        made = open_window(settings)
        assert made.lectures.current.lecture.language == "zh"
        english = shipped.other_lectures()[0]
        made.show_lecture(english.path)
        qtbot.waitUntil(lambda: made.lectures.player.is_on)
        come_to_rest(made.session, qtbot)
        scene = read_lecture(english.path).scenes[0]
        bar = made.lectures.player.bar
        assert (bar.title.text(), bar.sentence.text()) == (scene.title, scene.sentence)
        made.lectures.player.end()
        made.lectures.current.start_new()
        assert made.lectures.current.lecture.language == "zh"
    finally:
        speak_in(qapp, ENGLISH)


def test_scenes_are_moved_told_and_taken_out() -> None:
    one, two = SCENE, Scene("B", "", "family")
    lecture = Lecture("L", (one, two))
    assert lecture.moved(0, 1).scenes == (two, one)
    assert lecture.moved(0, -1) is lecture
    assert lecture.without(0).scenes == (two,)
    assert lecture.told(1, sentence="S").scenes[1].sentence == "S"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "something"}, "not a lecture"),
        ({"version": 99}, "newer version"),
        ({"version": "1"}, "damaged"),
        ({"scenes": [1]}, "damaged"),
        ({"scenes": [{"title": "A"}]}, "damaged"),
        ({"scenes": None}, "damaged"),
        ({"title": 7}, "damaged"),
        ({"language": "x" * 21}, "damaged"),
        ({"scenes": [{"values": {"off": [[1, 1]] * 200_000}}]}, "more than 500000 values"),
        ({"scenes": [to_document(SCENE)] * 501}, "damaged"),
        ({"scenes": [{**to_document(SCENE), "models": {str(n): {} for n in range(21)}}]}, "damaged"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_file_that_is_no_lecture_is_refused_in_a_sentence(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    found = {**json.loads(to_json(Lecture("L", (SCENE,)))), **change}
    (tmp_path / "bad.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_lecture(tmp_path / "bad.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["told.cloze", "told.CLOZE"])
def test_a_lecture_that_is_double_clicked_is_shown(
    name: str, window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    write_lecture(tmp_path / name, Lecture("Told", (SCENE,)))
    window.open_file(str(tmp_path / name))
    qtbot.waitUntil(lambda: window.lectures.current.lecture.title == "Told")
    assert window.session.data.path is None


def test_a_lecture_that_could_not_be_opened_again_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Save it as two"):
        write_lecture(tmp_path / "long.json", Lecture("L", (SCENE,) * 501))
    assert not list(tmp_path.iterdir())


def test_models_are_found_by_what_they_hold_wherever_they_lie(tmp_path: Path, model: Path) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("\n".join(wordpiece().tokens), encoding="utf-8")
    marks = (mark_of(model), mark_of(vocabulary), SceneModel("gone", "f" * 12))
    elsewhere = tmp_path / "elsewhere" / "copy"
    elsewhere.parent.mkdir()
    model_bytes = {file.name: file.read_bytes() for file in model.iterdir()}
    elsewhere.mkdir()
    for name, data in model_bytes.items():
        (elsewhere / name).write_bytes(data)
    found = find(marks, ModelPlaces((elsewhere, vocabulary, tmp_path / "no such"), tmp_path / "runs"))
    assert found == {marks[0].fingerprint: elsewhere, marks[1].fingerprint: vocabulary}
    assert fingerprint_of(elsewhere) == fingerprint_of(model)


@pytest.mark.slow
def test_scenes_are_kept_and_stepped_through_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    page: Any = window.page("attention")
    page.choose_head(2, 1)
    come_to_rest(window.session, qtbot)
    keep(window, "A head", "Where it looks.", qtbot)
    window.session.inspector.set_text(*PAIR)
    page.show_picture("arcs")
    come_to_rest(window.session, qtbot)
    keep(window, "A pair", "", qtbot)
    window.show_page("anatomy")
    come_to_rest(window.session, qtbot)
    keep(window, "Number by number", "", qtbot)
    window.show_page("models")
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    lectures = window.lectures
    QTest.keyClick(window, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: lectures.player.is_on)
    assert window.isFullScreen() and not window.rail.isVisible() and not window.status.isVisible()
    come_to_rest(window.session, qtbot)
    bar, player = lectures.player.bar, lectures.player
    assert (bar.title.text(), bar.sentence.text(), bar.count.text()) == (
        "A head",
        "Where it looks.",
        "1 of 3",
    )
    assert window.current_page == "attention" and page.chosen.current == (2, 1)
    assert not page.header.isVisible() and window.session.inspector.text == SENTENCE
    for key, place in (
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Space, 2),
        (Qt.Key.Key_PageDown, 2),
        (Qt.Key.Key_PageUp, 1),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 2),
        (Qt.Key.Key_Left, 1),
    ):
        QTest.keyClick(page if player.place == 1 else window, key)
        qtbot.waitUntil(lambda place=place: player.place == place)  # type: ignore[misc]
        come_to_rest(window.session, qtbot)
    assert page.chosen.picture == "arcs" and window.session.inspector.text == PAIR[0]
    box = QPlainTextEdit(page)  # who types keeps the arrows and the space
    box.show()
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    QTest.keyClick(box, Qt.Key.Key_Left)
    assert player.place == 1 and " " in box.toPlainText()
    QTest.keyClick(box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not box.hasFocus())
    assert player.is_on
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not player.is_on)
    assert window.rail.isVisible() and page.header.isVisibleTo(page) and not window.isFullScreen()
    assert window.current_page == "models"


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_the_text_size_enlarges_all_of_a_page_and_is_taken_back(window: MainWindow, qtbot: QtBot) -> None:
    keep(window, "A head", "", qtbot)
    player, page = window.lectures.player, window.page("attention")
    width = page.width()
    player.start(0, full_screen=False)
    window.resize(1920, 1200)
    come_to_rest(window.session, qtbot)
    assert player.percent == 150 and page.width() >= width  # as fits the screen, until a size is chosen
    player.set_size(100)
    come_to_rest(window.session, qtbot)
    plain = page.width()
    assert plain > width
    player.set_size(200)
    come_to_rest(window.session, qtbot)
    assert player.percent == 200 and abs(page.width() - plain / 2) <= 1 and page.isVisible()
    window.resize(1024, 640)  # not all of it has room then, so it is less, and says so
    qtbot.waitUntil(lambda: player.percent < 200)
    least = window.pages.minimumSizeHint()
    assert page.width() >= least.width() and player.bar.size_box.currentData() == player.percent
    assert "does not fit" in player.bar.size_box.toolTip()
    window.resize(1920, 1200)
    qtbot.waitUntil(lambda: player.percent == 200)
    QTest.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: player.percent == SIZES[-2])
    QTest.keyClick(player.zoom.viewport(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not player.is_on)
    assert window.pages.parent() is not None and window.pages.graphicsProxyWidget() is None
    come_to_rest(window.session, qtbot)
    assert page.isVisible() and page.window() is window


@pytest.mark.slow
def test_a_model_that_is_not_here_is_named_and_its_folder_can_be_chosen(
    window: MainWindow, model: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    keep(window, "One", "", qtbot)
    current, player = window.lectures.current, window.lectures.player
    here = current.lecture.scenes[0]
    gone = Scene(
        "Gone", "", "attention", {"model": SceneModel("lost model", "f" * 12)}, SENTENCE, "", here.values
    )
    other = Scene("Newer", "", "no such page")
    bad = Scene("Bad", "", "attention", here.models, SENTENCE, "", {**here.values, "heads": []})
    current.take(Lecture("L", (gone, here, other, bad)))
    come_to_rest(window.session, qtbot)
    player.start(0, full_screen=False)
    come_to_rest(window.session, qtbot)
    assert "lost model" in player.hole.label.text() and player.hole.button.isVisible()
    player.step(1)  # the rest goes on
    come_to_rest(window.session, qtbot)
    assert not player.hole.isVisible() and window.pages.isVisible()
    player.step(1)
    assert "does not have" in player.hole.label.text() and not player.hole.button.isVisible()
    player.step(1)
    assert "heads" in player.hole.label.text()
    player.go(0)
    player.question.read(tmp_path)  # no model
    come_to_rest(window.session, qtbot)
    assert player.hole.isVisible()
    player.go(0)
    player.question.read(model)
    come_to_rest(window.session, qtbot)
    assert not player.hole.isVisible() and window.session.inspector.folder == model
    assert "not with “lost model”" in player.bar.note.text() and player.bar.note.isVisible()
    player.step(1)
    assert not player.bar.note.isVisible()  # it is the model that is meant
    player.end()


@pytest.mark.slow
def test_a_family_that_is_not_here_is_asked_for_as_a_family(
    open_window: OpenWindow, settings: AppSettings, model: Path, qtbot: QtBot
) -> None:
    window = open_window(settings)
    current, player = window.lectures.current, window.lectures.player
    current.take(Lecture("L", (Scene("Gone", "", "family", {"family": SceneModel("lost", "f" * 12)}),)))
    come_to_rest(window.session, qtbot)
    player.start(0, full_screen=False)
    qtbot.mouseClick(player.hole.button, Qt.MouseButton.LeftButton)
    dialog: Any = window.findChild(QWidget, "lecture_family_dialog")
    dialog.fileSelected.emit(str(model))
    dialog.reject()
    assert "no family" in player.hole.label.text() and player.hole.button.isVisible()
    player.end()


@pytest.mark.slow
def test_the_editor_renames_moves_deletes_and_what_is_not_saved_outlives_the_window(
    open_window: OpenWindow, settings: AppSettings, tmp_path: Path, qtbot: QtBot
) -> None:
    window = open_window(settings)
    current = window.lectures.current
    current.take(Lecture("Draft", (SCENE, Scene("B", "", "family"), Scene("C", "", "anatomy"))))
    window.lectures.edit()
    editor = window.lectures.editor
    assert isinstance(editor, LectureEditor)
    editor.list.setCurrentRow(1)
    editor.scene_title.selectAll()
    qtbot.keyClicks(editor.scene_title, "Renamed")
    editor.list.setCurrentRow(2)  # what was typed belongs to the scene before
    qtbot.waitUntil(lambda: current.lecture.scenes[1].title == "Renamed")
    assert editor.scene_title.text() == "C"
    qtbot.mouseClick(editor.up_button, Qt.MouseButton.LeftButton)
    assert [one.title for one in current.lecture.scenes] == [
        SCENE.title,
        "C",
        "Renamed",
    ] and editor.place == 1
    qtbot.mouseClick(editor.delete_button, Qt.MouseButton.LeftButton)
    assert [one.title for one in current.lecture.scenes] == [SCENE.title, "Renamed"]
    come_to_rest(window.session, qtbot)
    editor.close()

    again = open_window(settings)  # as after the next start
    qtbot.waitUntil(lambda: len(again.lectures.current.lecture.scenes) == 2)
    current = again.lectures.current
    assert current.is_changed and current.path is None
    current.save(tmp_path / "saved.json")
    qtbot.waitUntil(lambda: not current.is_changed)
    come_to_rest(again.session, qtbot)
    assert read_lecture(tmp_path / "saved.json") == current.lecture and current.recent == (
        tmp_path / "saved.json",
    )
    assert not list(again.session.runs.root.parent.glob("unsaved*"))


def test_a_page_without_a_state_says_which_pages_have_one(
    open_window: OpenWindow, settings: AppSettings
) -> None:
    window = open_window(settings)
    window.show_page("runs")
    kept = [window.titles[page] for page in PAGES if is_kept(page)]
    said = f"Go to {', '.join(kept[:-1])} or {kept[-1]}."
    with pytest.raises(UserError, match=said):
        _ = window.lectures.page_here


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
@pytest.mark.parametrize(("kind", "index"), [(0, 0), (1, 1)])
def test_an_export_has_every_figure_with_its_caption_while_the_window_goes_on(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, kind: int, index: int
) -> None:
    keep(window, "A <head> & more", "Where it *looks*.", qtbot)
    window.show_page("anatomy")
    come_to_rest(window.session, qtbot)
    window.page("anatomy").step(3)  # into the first layer, from where on the end is shown
    keep(window, "Number by number", "", qtbot)
    current, folder = window.lectures.current, tmp_path / "lecture"
    gone = Scene("Gone", "", "probe", {"model": SceneModel("lost model", "f" * 12)}, SENTENCE)
    current.take(current.lecture.with_scene(gone))
    come_to_rest(window.session, qtbot)
    window.lectures.export()
    dialog: Any = next(
        one for one in QApplication.topLevelWidgets() if one.objectName() == "lecture_export_dialog"
    )
    dialog.path.setText(str(folder))
    dialog.kind.setCurrentIndex(kind)
    dialog.index.setCurrentIndex(index)
    text, page = window.session.inspector.text, window.current_page
    qtbot.mouseClick(dialog.go_button, Qt.MouseButton.LeftButton)
    assert dialog.is_exporting and dialog.go_button.text() == "Stop"
    qtbot.waitUntil(lambda: not dialog.is_exporting)
    assert "3 scenes" in dialog.said.text() and dialog.open_button.isVisible()
    assert (window.session.inspector.text, window.current_page) == (text, page)  # it went on by itself
    written = (folder / ("index.html", "index.md")[index]).read_text(encoding="utf-8")
    suffix = (".png", ".svg")[kind]
    figures = sorted(folder.glob(f"*{suffix}"))
    assert len(figures) == 3 and all(one.stat().st_size > 1000 for one in figures)
    assert all(one.name in written and one.with_suffix(".txt").read_text().strip() for one in figures)
    for figure in figures:
        said = figure.with_suffix(".txt").read_text(encoding="utf-8")
        assert "weights, sha256: " in said and "text: " in said, figure.name
        assert figure.with_suffix(".csv").stat().st_size > 10
    caption = figures[0].with_suffix(".txt").read_text(encoding="utf-8")
    assert f"weights, sha256: {current.lecture.scenes[0].models['model'].fingerprint}" in caption
    assert "lost model" in written and str(tmp_path) not in written
    assert ("&lt;head&gt; &amp; more" in written) == (index == 0)
    dialog.close()
    come_to_rest(window.session, qtbot)


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_an_export_as_one_file_holds_all_figures_and_nothing_lies_beside_it(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    keep(window, "A <head> & more", "Where it *looks*.", qtbot)
    current, folder = window.lectures.current, tmp_path / "lecture"
    gone = Scene("Gone", "", "probe", {"model": SceneModel("lost model", "f" * 12)}, SENTENCE)
    current.take(current.lecture.with_scene(gone))
    window.lectures.export()
    dialog: Any = next(
        one for one in QApplication.topLevelWidgets() if one.objectName() == "lecture_export_dialog"
    )
    dialog.path.setText(str(folder))
    dialog.index.setCurrentIndex(2)
    assert not dialog.kind.isEnabled()
    qtbot.mouseClick(dialog.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.is_exporting)
    (written,) = folder.iterdir()
    text = written.read_text(encoding="utf-8")
    assert written.suffix == ".html" and text.count("<svg") == 1 and "default-src 'none'" in text
    assert "A &lt;head&gt; &amp; more" in text and "lost model" in text and str(tmp_path) not in text
    assert current.lecture.scenes[0].models["model"].fingerprint in text and 'class="mark"' in text
    dialog.close()
    come_to_rest(window.session, qtbot)


@pytest.mark.slow
def test_an_export_can_be_stopped_and_a_folder_that_cannot_be_written_is_told(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    keep(window, "One", "", qtbot)
    window.lectures.export()
    dialog: Any = next(
        one for one in QApplication.topLevelWidgets() if one.objectName() == "lecture_export_dialog"
    )
    (tmp_path / "file").write_text("no folder")
    dialog.path.setText(str(tmp_path / "file"))
    dialog.begin()
    qtbot.waitUntil(lambda: not dialog.is_exporting)
    assert "file" in dialog.said.text() and dialog.said.text() != ""
    dialog.path.setText(str(tmp_path / "out"))
    dialog.begin()
    qtbot.mouseClick(dialog.go_button, Qt.MouseButton.LeftButton)
    assert not dialog.is_exporting and "Stopped" in dialog.said.text()
    assert not (tmp_path / "out" / "index.html").exists()
    dialog.close()


@pytest.mark.slow
def test_the_lecture_that_was_saved_last_is_in_hand_when_the_window_opens_again(
    open_window: OpenWindow, settings: AppSettings, tmp_path: Path, qtbot: QtBot
) -> None:
    current = open_window(settings).lectures.current
    current.take(Lecture("Saved", (Scene("Gone", "", "no such page"),)))
    current.save(tmp_path / "saved.json")
    qtbot.waitUntil(lambda: not current.is_changed and not current.is_busy)

    again = open_window(settings)  # as after the next start
    again.lectures.start()  # F5, before the file can have been read
    qtbot.waitUntil(lambda: again.lectures.player.is_on)
    assert again.lectures.current.lecture.title == "Saved" and again.lectures.editor is None
    again.lectures.player.end()
    again.lectures.current.start_new()
    come_to_rest(again.session, qtbot)
    assert not open_window(settings).lectures.current.is_reading
