"""Getting a model by its name, by real clicks and keys, from a hub of our own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from app.pages.models.offers import offers_of
from app.pages.models.page import ModelsPage
from app.session import Session
from app.status_bar import StatusBar
from engine.model.weights import save_model
from tests.app.hand import Hand, ShowPage
from tests.engine.model.checkpoints import tensors_of, written
from tests.fakes import tiny_pretraining, tiny_wordpiece
from tests.local_hub import Fault, LocalHub

pytestmark = pytest.mark.slow  # each question to a hub is a process

NAME, WEIGHTS = "google-bert/bert-tiny-tests", "model.safetensors"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    save_model(tmp_path / "published", tiny_pretraining(max_position_embeddings=9000), tiny_wordpiece(), {})
    with LocalHub() as made:
        made.publish(NAME, tmp_path / "published", license="apache-2.0", language=["en"])
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("NO_PROXY", "*")
        yield made


@pytest.fixture
def page(no_models_ship: None, hub: LocalHub, show_page: ShowPage[ModelsPage]) -> ModelsPage:
    return show_page(ModelsPage)


def names(hand: Hand) -> list[str]:
    model = hand.find("models_offers").model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def click_offer(hand: Hand, name: str) -> None:
    view: QListView = hand.find("models_offers")
    row = names(hand).index(name)
    place = view.visualRect(view.model().index(row, 0)).center()
    hand.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))


def looked(hand: Hand) -> None:
    """Wait until a model has been looked at, and can be fetched."""
    hand.qtbot.waitUntil(lambda: not hand.said("models_look_said").startswith("Looking"))
    assert hand.shown("models_fetch"), hand.said("models_look_said")


@pytest.mark.parametrize(
    ("typed", "some", "none"),
    [
        ("RoBERTa-wwm-ext", {"hfl/chinese-roberta-wwm-ext"}, {"FacebookAI/roberta-base"}),
        ("macbert", {"hfl/chinese-macbert-base"}, {"google-bert/bert-base-chinese"}),
        ("electra", {"google/electra-small-discriminator"}, {"hfl/rbt3"}),
        ("chinese", {"hfl/rbt3", "nghuyong/ernie-3.0-nano-zh"}, {"google-bert/bert-base-cased"}),
    ],
)
def test_models_are_offered_by_their_name_their_family_and_their_language(
    typed: str, some: set[str], none: set[str]
) -> None:
    offered = {one.name for one in offers_of(typed, (), ())}
    assert some <= offered and not none & offered


def test_a_name_is_typed_found_looked_at_fetched_cancelled_gone_on_with_and_chosen(
    page: ModelsPage, hand: Hand, hub: LocalHub, session: Session, qtbot: QtBot
) -> None:
    hand.click("models_get_button")
    assert "hfl/rbt3" in names(hand) and hand.shown("models_fetch", "models_cancel") == []
    qtbot.keyClicks(hand.find("models_name"), "tiny")
    qtbot.waitUntil(lambda: NAME in names(hand))
    assert hand.said("models_offers_said") == "1 found at the hub"
    click_offer(hand, NAME)
    looked(hand)
    assert hand.said("models_look_kind") == "BertForPreTraining · 2×12 · 37 pieces · en"
    assert "masked words, next sentence" in hand.said("models_look_loaded")
    assert hub.served[WEIGHTS] <= 2**16

    hub.faults[WEIGHTS] = Fault(stall_at=200_000)
    hand.click("models_fetch")
    qtbot.waitUntil(lambda: session.hub.transfer is not None and session.hub.transfer.share > 0.3)
    assert session.hub.words().startswith("Downloading bert-tiny-tests") and not session.busy.words
    bar = StatusBar(session)
    qtbot.addWidget(bar)
    assert (
        bar.job.text().startswith("Downloading bert-tiny-tests")
        and 0.3 < bar.bar.value() / bar.bar.maximum() < 1
    )
    hand.click("models_cancel")
    qtbot.waitUntil(lambda: not session.hub.is_fetching)
    assert "are here and are kept" in hand.said("models_progress") and hand.said("models_fetch") == "Continue"
    assert not session.hub.words() and hand.shown("models_bar", "models_discard") != []

    hub.faults.clear()
    hub.served.clear()
    hand.click("models_fetch")
    qtbot.waitUntil(lambda: page.entry is not None and page.entry.origin == "fetched")
    assert hub.served[WEIGHTS] == len(hub.models[NAME][WEIGHTS]) - 200_000
    assert page.banner.text() == "bert-tiny-tests is here. It is offered on every page."
    assert page.entry is not None and page.entry.path == session.hub.root / NAME
    assert [entry.path for entry in session.library.offered()] == [page.entry.path]
    qtbot.waitUntil(lambda: NAME in hand.said("models_fact_source"))
    hub.served.clear()
    hand.click("models_get_button")
    assert not page.banner.isVisible()
    hand.click("models_look_at")  # the same again
    qtbot.waitUntil(lambda: "this version is here" in hand.said("models_look_files"))
    assert hand.said("models_fetch") == "Show it" and hand.said("models_look_place") == str(page.entry.path)
    hand.click("models_fetch")
    qtbot.waitUntil(lambda: hand.shown("models_tabs") != [] and not session.hub.is_fetching)
    assert hub.served[WEIGHTS] <= 2**16  # its beginning, when it was looked at
    hand.click("models_finetune")
    qtbot.waitUntil(lambda: session.model.chosen is not None)
    assert session.model.chosen is not None and Path(session.model.chosen.model) == page.entry.path


def test_what_is_wrong_is_said_beside_what_was_asked_and_what_was_begun_is_offered_again(
    page: ModelsPage, hand: Hand, hub: LocalHub, session: Session, qtbot: QtBot
) -> None:
    hand.click("models_get_button")
    hub.faults["api"] = Fault(status=401)
    qtbot.keyClicks(hand.find("models_name"), "hfl/none")
    qtbot.keyClick(hand.find("models_name"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: f"{hub.host} does not show you hfl/none" in hand.said("models_look_said"))
    assert hand.shown("models_fetch") == []

    hub.faults = {WEIGHTS: Fault(cut_at=150_000, status=0)}
    page.get_view.look_at(NAME)
    looked(hand)
    hub.faults = {WEIGHTS: Fault(status=410)}
    hand.click("models_fetch")
    qtbot.waitUntil(lambda: not session.hub.is_fetching)
    assert hand.said("models_progress").startswith("localhost:")
    hand.type("models_name", "")
    page.get_view.refresh()
    assert names(hand)[0] == NAME  # begun: its small files are here
    hand.click("models_discard")
    assert NAME not in names(hand)


def test_another_way_to_ask_is_taken_only_where_it_is_one(
    page: ModelsPage, hand: Hand, hub: LocalHub, session: Session, qtbot: QtBot
) -> None:
    hand.click("models_get_button")
    hand.click("models_show_way")
    hand.type("models_mirror", "nonsense")
    assert hand.shown("models_mirror_refusal") and session.hub.way.mirror == ""
    hand.type("models_mirror", "http://127.0.0.1:9")
    hand.click("models_transport_xet")
    assert (session.hub.way.mirror, session.hub.way.transport) == ("http://127.0.0.1:9", "xet")
    assert not session.hub.way.send_token
    hand.find("models_token").click()
    assert session.hub.way.send_token
    hand.type("models_mirror", "http://127.0.0.1:9/other")  # what was allowed was allowed to one address
    assert not session.hub.way.send_token and not hand.find("models_token").isChecked()
    hand.type("models_mirror", "http://127.0.0.1:9")
    assert not session.hub.way.send_token
    qtbot.keyClicks(hand.find("models_name"), "tiny")
    qtbot.waitUntil(lambda: "127.0.0.1:9 cannot be reached" in hand.said("models_offers_said"))


def test_a_checkpoint_that_is_opened_or_chosen_becomes_a_model_folder(
    page: ModelsPage, hand: Hand, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "uncased_L-2"
    folder.mkdir()
    written(folder, tensors_of())
    page.open_folder(str(folder))
    qtbot.waitUntil(lambda: "is a TensorFlow checkpoint" in page.banner.text())
    hand.click("models_banner_action_1")
    qtbot.waitUntil(lambda: page.entry is not None and page.entry.path == session.hub.root / "uncased_L-2")
    assert page.banner.text().startswith("Converted:")
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    hand.click("models_get_button")
    hand.open_dialog("models_convert", tmp_path / "zipped.zip")
    qtbot.waitUntil(lambda: page.entry is not None and page.entry.path == session.hub.root / "zipped")
