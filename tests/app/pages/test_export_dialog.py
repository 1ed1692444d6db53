"""The dialog "Export" by real clicks: for which tool, where to, what is said, what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.export import dialog as export_dialog
from app.pages.export.dialog import ExportDialog, export_model
from app.pages.models.page import ModelsPage
from app.session import Session
from engine.errors import Sentence
from engine.events import Event, Progress
from engine.export.int8 import Small
from engine.export.targets.graph import GraphFolder
from engine.export.targets.target import ExportedTarget, ExportTarget
from engine.model.sentence_files import SentenceConfig, read_sentence_files
from tests.app.hand import Hand, ShowPage
from tests.fakes import model_folder


@pytest.fixture
def model(tmp_path: Path, no_models_ship: None) -> Path:
    return model_folder(tmp_path / "films")


@pytest.fixture
def dialog(session: Session, model: Path, show_page: ShowPage[ModelsPage], qtbot: QtBot) -> ExportDialog:
    return export_model(session, model, show_page(ModelsPage))


@pytest.fixture
def hand(dialog: ExportDialog, qtbot: QtBot) -> Hand:
    return Hand(dialog, qtbot)


def wait(hand: Hand, words: str) -> None:
    hand.qtbot.waitUntil(lambda: words in hand.said("export_said") and hand.find("export_start").isEnabled())


@pytest.mark.slow
def test_a_model_of_the_list_is_exported_and_the_result_is_told(
    session: Session, model: Path, tmp_path: Path, show_page: ShowPage[ModelsPage], qtbot: QtBot
) -> None:
    session.library.remember(str(model))
    page = show_page(ModelsPage)
    on_page = Hand(page, qtbot)
    on_page.click("models_export")
    found = page.window().findChild(ExportDialog, "export_dialog")
    assert isinstance(found, ExportDialog) and found.windowTitle() == "Export films"
    hand = Hand(found, qtbot)
    assert hand.shown("export_pooling", "export_int8", "export_progress", "export_show_folder") == []
    hand.click("export_sentence-transformers")
    assert hand.shown("export_pooling", "export_int8") == ["export_pooling"]
    assert hand.said("export_path").endswith("films-sentence-transformers")
    hand.choose("export_pooling", "[CLS]")
    hand.click("export_normed")
    hand.type("export_path", str(tmp_path / "out"))
    hand.click("export_start")
    wait(hand, "Reopened: the vectors")
    assert f"Written to {tmp_path / 'out'}." in hand.said("export_said")
    assert read_sentence_files(tmp_path / "out")[0] == SentenceConfig("cls", True, 41)
    assert hand.shown("export_show_folder", "export_progress") == ["export_show_folder"]
    hand.click("export_zip")
    assert hand.said("export_path") == str(tmp_path / "films.zip") and not hand.said("export_said")
    hand.click("export_close")


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_no_button_moves_and_nothing_behind_is_clicked_while_a_model_is_exported(
    dialog: ExportDialog, hand: Hand, model: Path, tmp_path: Path
) -> None:
    places = []

    def look() -> None:
        QApplication.processEvents()
        button = dialog.start_button
        places.append((dialog.height(), button.mapTo(dialog, button.rect().topLeft()).toTuple()))

    look()
    for kind in ("sentence-transformers", "zip", "transformers"):
        hand.click(f"export_{kind}")
        look()
    hand.type("export_path", str(tmp_path / "out"))
    hand.click("export_start")
    look()
    wait(hand, "Written to")
    look()
    assert len(set(places)) == 1 and dialog.isModal()


@pytest.mark.slow
def test_what_cannot_be_written_is_said_in_the_dialog(dialog: ExportDialog, hand: Hand, model: Path) -> None:
    hand.type("export_path", str(model / "vocab.txt"))
    hand.click("export_start")
    wait(hand, "already exists. Choose a new folder.")
    hand.click("export_close")


@pytest.mark.parametrize("is_kept", [True, False])
def test_eight_bits_are_kept_only_by_a_click_and_leave_nothing_otherwise(
    is_kept: bool, dialog: ExportDialog, hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, out = tmp_path / ".out.int8.partial", tmp_path / "out"

    def exported(wanted: ExportTarget) -> Iterator[Event]:
        assert isinstance(wanted, GraphFolder) and wanted.with_int8
        yield Progress(stage="Exporting", done=0, total=0)
        out.mkdir()
        waiting.write_bytes(b"8")
        return ExportedTarget(
            out, (), Small(waiting, out, (Sentence("accuracy 0.9 at full precision, 0.8 in 8 bits."),))
        )

    monkeypatch.setattr(export_dialog, "export", exported)
    hand.click("export_onnx")
    assert hand.shown("export_data") == []
    hand.click("export_int8")
    assert hand.shown("export_data", "export_keep") == ["export_data"]
    hand.click("export_start")
    wait(hand, "accuracy 0.9 at full precision, 0.8 in 8 bits.")
    assert waiting.exists() and not (out / "model.int8.onnx").exists()
    if is_kept:
        hand.click("export_keep")
        wait(hand, "is kept: model.int8.onnx.")
        assert (out / "model.int8.onnx").exists() and hand.shown("export_keep") == []
    hand.click("export_close")
    assert not waiting.exists() and (out / "model.int8.onnx").exists() == is_kept


def test_stop_ends_what_is_under_way(
    dialog: ExportDialog, hand: Hand, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = list[str]()

    def endless(_wanted: ExportTarget) -> Iterator[Event]:
        try:
            while True:
                yield Progress(stage="Exporting", done=0, total=0)
        finally:
            ended.append("closed")

    monkeypatch.setattr(export_dialog, "export", endless)
    hand.click("export_start")
    hand.qtbot.waitUntil(
        lambda: hand.said("export_close") == "Stop" and hand.said("export_said") == "Exporting"
    )
    assert not hand.find("export_path").isEnabled()
    hand.click("export_close")
    hand.qtbot.waitUntil(lambda: ended == ["closed"])
