"""Saving a picture from its dialog: width, kinds, numbers and caption beside it, and refusals in place."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.plots.bars import BarsPlot
from app.plots.figure_files import picture_bytes
from app.plots.save_dialog import SaveDialog


@pytest.fixture
def plot(qtbot: QtBot) -> BarsPlot:
    made = BarsPlot("Guesses for the first gap")
    qtbot.addWidget(made)
    made.resize(400, 200)
    made.set_bars([("bank", 0.7), ("river", 0.3)], as_share=True)
    made.set_caption([("model", "wiki"), ("fingerprint", "22412578025c"), ("text", "the [MASK]")])
    made.show()
    return made


def asked(plot: BarsPlot) -> SaveDialog:
    plot.save_picture()
    return next(dialog for dialog in plot.findChildren(SaveDialog) if dialog.isVisible())


def save(qtbot: QtBot, plot: BarsPlot, path: Path, kind: str, width_mm: float) -> SaveDialog:
    dialog = asked(plot)
    dialog.path.setText(str(path))
    dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
    dialog.width_mm.setValue(width_mm)
    qtbot.mouseClick(dialog.findChild(QPushButton, "save_accept"), Qt.MouseButton.LeftButton)
    return dialog


@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf"])
def test_a_picture_is_saved_with_its_numbers_and_its_caption(
    qtbot: QtBot, plot: BarsPlot, tmp_path: Path, kind: str
) -> None:
    save(qtbot, plot, tmp_path / "picture", kind, 85)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"picture{kind}", "picture.csv", "picture.txt"]
    )
    assert (tmp_path / "picture.txt").read_text() == (
        "Guesses for the first gap\nmodel: wiki\nfingerprint: 22412578025c\ntext: the [MASK]\n"
    )
    assert "bank" in (tmp_path / "picture.csv").read_text()


@pytest.mark.slow
def test_the_width_is_that_of_the_file(qtbot: QtBot, plot: BarsPlot, tmp_path: Path) -> None:
    save(qtbot, plot, tmp_path / "narrow", ".png", 85)
    save(qtbot, plot, tmp_path / "wide", ".png", 254)
    assert QImage(str(tmp_path / "narrow.png")).width() == round(85 / 25.4 * 300)
    assert QImage(str(tmp_path / "wide.png")).width() == 3000
    save(qtbot, plot, tmp_path / "lines", ".svg", 170)
    head = (tmp_path / "lines.svg").read_text()[:200]
    width = float(head.split('width="')[1].split("mm")[0])
    assert width == pytest.approx(170, abs=0.5)


def test_what_cannot_be_written_is_said_in_the_dialog(qtbot: QtBot, plot: BarsPlot, tmp_path: Path) -> None:
    dialog = save(qtbot, plot, tmp_path / "missing" / "picture", ".png", 85)
    assert dialog.isVisible()
    assert "cannot be written" in dialog.refusal.text()


def test_a_file_that_will_be_replaced_is_named_before(qtbot: QtBot, plot: BarsPlot, tmp_path: Path) -> None:
    (tmp_path / "picture.csv").write_text("older")
    dialog = asked(plot)
    dialog.path.setText(str(tmp_path / "picture"))
    assert "picture.csv will be replaced" in dialog.hint.text()
    dialog.numbers.setChecked(False)
    assert "replaced" not in dialog.hint.text()


def test_an_svg_is_well_formed_whatever_characters_its_texts_hold(qtbot: QtBot) -> None:
    odd = "a\x00\x01\x08\x0b\x1f\ufffe\uffff\ud800<b>&\x7f\t\nz中😀"
    plot = BarsPlot(odd)
    qtbot.addWidget(plot)
    plot.resize(400, 200)
    plot.set_bars([(odd, 0.7), ("river", 0.3)], as_share=True)
    plot.setAccessibleName(odd)
    label = QLabel(odd, plot, textFormat=Qt.TextFormat.PlainText)
    label.resize(400, 40)
    root = ElementTree.fromstring(picture_bytes(plot, ".svg", None, 96))
    assert any("<b>&" in (one.text or "") for one in root.iter())
