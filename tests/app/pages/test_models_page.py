"""The Models page by real clicks and keys, on very small real folders: the list, each model, sizes, heads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.models import requests as models_work
from app.pages.models.page import ModelsPage
from app.plots.figure import save_figure
from app.session import Session
from app.settings import AppSettings
from app.work import library
from engine.inspect import loaded_model
from engine.inspect.loaded_model import fingerprint
from engine.model.arithmetic import HeadsConfig, arithmetic
from engine.model.config import BertConfig
from engine.model.weights import save_model
from tests.fakes import foreign_folder, model_folder, stored_tensors, tiny_pretraining, tiny_wordpiece

PRETRAINING = HeadsConfig(masked_words=True, next_sentence=True)


def language_folder(path: Path, **changes: Any) -> Path:
    save_model(path, tiny_pretraining(**changes), tiny_wordpiece(), {"task": "pretraining"})
    return path


@pytest.fixture
def ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A starter model that ships, and nothing else."""
    folder = language_folder(tmp_path / "starter")
    monkeypatch.setattr("app.shipped.starter_model", lambda: folder)
    monkeypatch.setattr("app.shipped.history_run", lambda: None)
    monkeypatch.setattr("app.shipped.model_named", lambda name: None)


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path, ships: None) -> Iterator[ModelsPage]:
    """The page with a shipped model, a run's result, a classifier used lately, a folder without weights."""
    run = tmp_path / "runs" / "20250102-030405-films"
    model_folder(run / "model", seed=1)
    (run / "config.toml").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = str(tmp_path / "runs")
    for path in (tmp_path / "broken", model_folder(tmp_path / "mine", seed=2), tmp_path / "gone"):
        settings.add_recent_model(path)
    yield from _shown(Session(settings), qtbot)


@pytest.fixture
def bare(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelsPage]:
    """The page on a computer without any model."""
    monkeypatch.setattr("app.shipped.starter_model", lambda: None)
    monkeypatch.setattr("app.shipped.history_run", lambda: None)
    monkeypatch.setattr("app.shipped.model_named", lambda name: None)
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = str(tmp_path / "nowhere")
    yield from _shown(Session(settings), qtbot)


def _shown(session: Session, qtbot: QtBot) -> Iterator[ModelsPage]:
    made = ModelsPage(session)
    made.resize(1104, 772)
    qtbot.addWidget(made)
    made.show()
    settle(made, qtbot)
    yield made
    session.close()
    assert session.wait_idle()


def settle(page: ModelsPage, qtbot: QtBot) -> None:
    """Wait for the list, then for what it makes the page ask."""
    qtbot.waitUntil(lambda: page.inspector.workers.is_idle and page.parameters.check.words.text() != "")


def press(button: QPushButton, qtbot: QtBot) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def choose(page: ModelsPage, path: Path, qtbot: QtBot) -> None:
    """Click a model of the list."""
    view = page.list_card.view
    place = view.visualRect(page.list_card.model.index(page.list_card.row_of(path), 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page.entry is not None and page.entry.path == path
    qtbot.waitUntil(lambda: page.inspector.workers.is_idle)


def tab(page: ModelsPage, place: int, qtbot: QtBot) -> None:
    bar = page.tabs.tabBar()
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(place).center())
    assert page.tabs.currentIndex() == place


def type_into(page: ModelsPage, letter: str, number: int, qtbot: QtBot) -> None:
    field = page.plan_card.fields[letter]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, str(number))
    qtbot.waitUntil(lambda: not page.plan_card._rest.isActive())


def part_texts(page: ModelsPage) -> list[str]:
    """Return what is in the files, row by row, as a person reads it."""
    grid = page.folder_view.parts_card.findChild(QGridLayout)
    rows = []
    for row in range(grid.rowCount()):
        items = [grid.itemAtPosition(row, column) for column in (1, 2, 3)]
        labels = [item.widget() for item in items if item is not None]
        if labels:
            rows.append(" · ".join(one.text() for one in labels if isinstance(one, QLabel)))
    return rows


def fact(page: ModelsPage, key: str) -> str:
    value = page.folder_view.values[key]
    return value.text() if not value.isHidden() else ""


def test_what_ships_what_was_trained_and_what_was_opened_is_listed_and_the_first_is_shown(
    page: ModelsPage, tmp_path: Path
) -> None:
    shown = page.list_card.model
    texts = [shown.item(row).text() for row in range(shown.rowCount())]
    assert texts == [
        "Comes with Cloze", "Starter model", "Trained here", "films · 2 Jan 2025 03:04:05", "Opened recently",
        "mine", "broken",
    ]  # fmt: skip
    assert page.list_card.entries[0].path == tmp_path / "starter"
    assert page.parameters.sum_card.hint_label.text().startswith("Starter model · 4,")
    assert page.entry is not None and page.entry.path == tmp_path / "starter"
    assert fact(page, "answers") == "masked words, next sentence"


def test_no_file_is_read_on_the_windows_thread(
    qtbot: QtBot, page: ModelsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()
    read = [(models_work, name) for name in ("take_stock", "read_info", "count_built", "history")]
    read += [(library, name) for name in ("take_stock", "list_runs", "read_info")]
    for module, name in (*read, (loaded_model, "open_weights")):
        real = getattr(module, name)

        def spied(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            threads.add(threading.current_thread())
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, spied)
    page.refresh()
    page.open_folder(str(tmp_path / "mine"))
    qtbot.waitUntil(lambda: page.inspector.workers.is_idle and page.entry is not None)
    choose(page, tmp_path / "runs" / "20250102-030405-films" / "model", qtbot)
    page.plan_card.plan("tiny")
    qtbot.waitUntil(lambda: page.inspector.workers.is_idle)
    assert threads and threading.main_thread() not in threads


def test_a_model_says_what_is_loaded_and_missing_and_its_fingerprint_comes_when_it_is_seen(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    tab(page, 1, qtbot)
    choose(page, tmp_path / "mine", qtbot)
    assert fact(page, "fingerprint") == ""  # nobody looks: the weights are not read
    tab(page, 0, qtbot)
    qtbot.waitUntil(lambda: fact(page, "fingerprint") == fingerprint(tmp_path / "mine"))
    assert fact(page, "answers") == "3 labels: bad, good, odd"
    rows = part_texts(page)
    assert [row.split(" · ")[1].split(":")[0] for row in rows] == [
        "loaded",
        "loaded",
        "missing",
        "missing",
        "loaded",
    ]
    assert rows[-1] == "Classifier · loaded · 39"
    assert "37 pieces, all lower case" in fact(page, "vocabulary")


def test_a_model_that_was_trained_on_meanwhile_is_read_again(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    mine = tmp_path / "mine"
    choose(page, mine, qtbot)
    qtbot.waitUntil(lambda: fact(page, "fingerprint") == fingerprint(mine))
    weights = mine / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    (mine / "cloze.json").write_text(json.dumps({"chain": [{"steps": 4321}]}))
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: fact(page, "fingerprint") == fingerprint(mine))
    assert "4,321 steps" in fact(page, "trained")


def test_what_the_files_hold_beside_bert_is_unexpected_and_left_out_of_the_sum(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    tensors = stored_tensors(tmp_path / "starter")
    odd = {**tensors, "qa_outputs.weight": torch.ones(2, 12)}
    folder = foreign_folder(tmp_path / "odd", odd, {"id2label": {}})
    tiny_wordpiece().save(folder)
    page.open_folder(str(folder))
    qtbot.waitUntil(
        lambda: page.inspector.workers.is_idle and page.entry is not None and page.entry.path == folder
    )
    assert "question answering · unexpected" in part_texts(page)[-1]
    whole = sum(tensor.numel() for tensor in tensors.values())
    said = page.parameters.check.words.text()
    assert f"{whole:,} weights: the same." in said and "24 more" in said


def test_the_sum_of_a_folder_is_what_its_files_hold_part_by_part(page: ModelsPage, tmp_path: Path) -> None:
    stored = sum(tensor.numel() for tensor in stored_tensors(tmp_path / "starter").values())
    rows = page.parameters.plot.numbers()
    assert rows[-1][4] == sum(row[4] for row in rows[1:-1]) == stored  # type: ignore[misc]
    table = page.parameters.table.parts
    assert table.index(table.rowCount() - 1, 3).data() == f"{stored:,}"
    groups = [row for row in range(table.rowCount()) if table.rows[row].level == 1]
    counted = (int(table.index(row, 3).data().replace(",", "")) for row in groups)
    assert sum(counted) == stored


def test_a_folder_that_cannot_be_opened_stays_listed_and_says_why(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    choose(page, tmp_path / "broken", qtbot)
    assert "holds no weights" in fact(page, "problem")
    assert not page.look_button.isEnabled() and not page.finetune_button.isEnabled()
    assert page.folder_button.isEnabled() and not page.tabs.isTabEnabled(1)
    choose(page, tmp_path / "mine", qtbot)
    assert page.look_button.isEnabled() and page.tabs.isTabEnabled(1)


def test_it_leads_to_the_pages_that_look_inside_and_to_fine_tuning(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.session.page_requested) as asked:
        press(page.look_button, qtbot)
    assert asked.args[0] == "probe" and page.inspector.folder == tmp_path / "starter"
    choose(page, tmp_path / "mine", qtbot)
    with qtbot.waitSignal(page.session.page_requested) as asked:
        QTest.keyClick(page.list_card.view, Qt.Key.Key_Return)
    assert asked.args[0] == "attention" and page.inspector.folder == tmp_path / "mine"
    with qtbot.waitSignal(page.session.page_requested) as asked:
        press(page.finetune_button, qtbot)
    assert asked.args[0] == "finetune"
    qtbot.waitUntil(
        lambda: (
            page.session.model.chosen is not None
            and page.session.model.chosen.model == str(tmp_path / "mine")
        )
    )


class Shell(QObject):
    """Stands in for the program that shows folders."""

    url: QUrl | None = None

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.url = url


def test_its_folder_is_shown(page: ModelsPage, tmp_path: Path, qtbot: QtBot) -> None:
    shell = Shell()
    QDesktopServices.setUrlHandler("file", shell, "take")
    press(page.folder_button, qtbot)
    QDesktopServices.unsetUrlHandler("file")
    assert shell.url is not None and Path(shell.url.toLocalFile()) == tmp_path / "starter"


def test_the_arrow_keys_walk_past_the_captions(page: ModelsPage, qtbot: QtBot) -> None:
    seen = []
    page.list_card.view.setFocus()
    for _ in range(4):
        assert page.entry is not None
        seen.append(page.entry.path.name)
        QTest.keyClick(page.list_card.view, Qt.Key.Key_Down)
    assert seen == ["starter", "model", "mine", "broken"]


def test_a_folder_is_opened_from_anywhere_a_runs_by_its_result_and_a_wrong_one_is_refused(
    page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    model_folder(tmp_path / "elsewhere" / "model", seed=5)
    page.open_folder(str(tmp_path / "elsewhere"))
    wanted = tmp_path / "elsewhere" / "model"
    qtbot.waitUntil(lambda: page.entry is not None and page.entry.path == wanted)
    assert page.session.settings.recent_models[0] == str(wanted) and page.list_card.row_of(wanted) > 0
    page.open_folder(str(tmp_path))
    qtbot.waitUntil(lambda: "config.json" in page.banner.text())
    assert page.entry is not None and page.entry.path == wanted


@pytest.mark.slow
def test_a_preset_is_planned_counted_in_the_model_that_is_built_and_named(
    page: ModelsPage, qtbot: QtBot
) -> None:
    box = page.plan_card.preset_box
    box.setFocus()
    QTest.keyClicks(box, "base")
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: "the same" in page.parameters.check.words.text())
    assert "110,106,428" in page.parameters.check.words.text()
    assert page.parameters.sum_card.hint_label.text() == "planned · BERT-base, 110 M"
    assert page.parameters.formula.text().startswith("V × H + P × H + S × H + 2H + L × (12H² + 13H)")
    assert page.parameters.numbers.text().startswith("= 30,522 × 768 + 512 × 768")
    assert page.findChild(QLabel, "models_float32").text() == "440.4 MB"
    assert page.findChild(QLabel, "models_half").text() == "220.2 MB"
    assert page.entry is None and page.list_card.current is None and not page.tabs.isTabVisible(0)
    page.plan_card.plan("large")
    qtbot.waitUntil(lambda: "340 M" in page.parameters.check.words.text())


@pytest.mark.slow
def test_another_size_is_typed_and_one_that_cannot_be_is_refused_beside_the_fields(
    page: ModelsPage, qtbot: QtBot
) -> None:
    type_into(page, "H", 20, qtbot)  # three heads cannot share it
    assert "20 cannot be divided evenly among 3" in page.plan_card.refusal.text()
    assert page.entry is not None
    type_into(page, "A", 5, qtbot)
    qtbot.waitUntil(lambda: "the same" in page.parameters.check.words.text())
    assert page.plan_card.refusal.isHidden() and page.entry is None
    config = page.plan_card.config
    assert (config.hidden_size, config.num_attention_heads, config.intermediate_size) == (20, 5, 80)
    assert page.parameters.found is not None
    assert page.parameters.found.total == arithmetic(config, PRETRAINING).total


@pytest.mark.slow
def test_any_number_of_heads_has_the_same_weights_which_the_slider_shows(
    page: ModelsPage, qtbot: QtBot
) -> None:
    tab(page, 2, qtbot)
    view = page.heads
    assert view.num_heads == 3
    whole = f"{page.parameters.found.total:,}"  # type: ignore[union-attr]
    view.slider.setFocus()
    seen = {}
    for _ in range(3):
        QTest.keyClick(view.slider, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda: bool(view.check.words.text()))
        seen[view.num_heads] = (view.plot.width_of_head, view.sum.text(), view.check.words.text())
    assert list(seen) == [4, 6, 12] and [width for width, _, _ in seen.values()] == [3, 2, 1]
    assert all(whole in said for _, _, said in seen.values())
    assert "6 × 3 × (12 × 2 + 2) = 3 × (12² + 12) = 468" in seen[6][1]
    assert {row[3] for row in view.cuts.rows} == {page.parameters.found.total}  # type: ignore[union-attr]
    row = view.table.visualRect(view.cuts.index(1, 0)).center()
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert view.num_heads == 2 and view.slider.value() == 1


def test_a_click_in_the_picture_chooses_the_row_and_a_row_marks_the_picture(
    page: ModelsPage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.plan_card.plan("base")
    tab(page, 1, qtbot)
    plot, table = page.parameters.plot, page.parameters.table
    cells = {cell.part.key: cell for cell in plot.cells()}
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=cells["output"].whole.center().toPoint())
    assert plot.chosen == "output" and table.parts.key_of(table.currentIndex().row()) == "output"
    assert "12 × (3,072 × 768 + 768) = 28,320,768" in plot.readout()
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Up)
    assert plot.chosen == "intermediate"
    area = {key: cell.whole.width() * cell.whole.height() for key, cell in cells.items()}
    parts = {part.key: part.count for part in plot.found.parts}  # type: ignore[union-attr]
    for key in ("qkv", "attention_output", "output"):
        assert area[key] / area["tokens"] == pytest.approx(parts[key] / parts["tokens"], rel=0.02)
    save_figure(plot, tmp_path / "weights.csv")
    saved = (tmp_path / "weights.csv").read_text(encoding="utf-8-sig").splitlines()
    assert saved[0].startswith("part,group,formula") and saved[-1].split(",")[-2:] == ["110106428", "1.0"]
    assert dict(plot.caption)["weights"] == "110,106,428"


def test_the_smallest_part_can_be_pointed_at(page: ModelsPage, qtbot: QtBot) -> None:
    page.plan_card.plan("large")
    tab(page, 1, qtbot)
    plot = page.parameters.plot
    pooler = plot.rect_of("pooler")
    assert pooler.width() >= 3
    qtbot.mouseMove(plot, QPoint(5, 5))
    qtbot.mouseMove(plot, pooler.center().toPoint())
    assert plot.current == "pooler" and plot.readout().startswith("Pooler: H² + H")


def test_without_any_model_a_size_can_be_planned_and_the_way_to_train_one_is_offered(
    bare: ModelsPage, qtbot: QtBot
) -> None:
    assert bare.list_card.empty.isVisible() and "No model yet" in bare.list_card.empty.text()
    assert bare.parameters.found is not None
    assert bare.parameters.found.config == BertConfig.preset("base")
    with qtbot.waitSignal(bare.session.page_requested) as asked:
        press(bare.pretrain_button, qtbot)
    assert asked.args[0] == "pretrain"
