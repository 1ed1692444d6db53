"""Pictures of the pages that look inside, judged by what they show and by whether a person can read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollBar,
    QTabBar,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.look import theme
from app.look.labels import ElidedLabel
from app.main_window import MainWindow
from app.pages.attention.state import PICTURES
from app.pages.embeddings.tabs import QUESTIONS
from app.plots.attention_image import ramp
from app.plots.figure import Figure
from app.rail import LOOKING
from app.settings import AppSettings
from engine.inspect.attention.weights import AttentionMaps, look
from engine.inspect.loaded_model import LoadedModel
from tests.app.hand import whole_window
from tests.journeys.looking_hand import LookingHand
from tests.looks.looking_scenes import (
    CHINESE,
    LONGEST,
    NUM_HEADS,
    NUM_LAYERS,
    PAIR,
    SENTENCE,
    TOO_LONG,
    classifier,
    language_model,
)
from tests.looks.pictures import FOLDER, SIZES

pytestmark = pytest.mark.slow  # whole windows, seen as pictures

TEXTS = {"one": (SENTENCE, ""), "pair": PAIR, "chinese": CHINESE, "long": (TOO_LONG, "")}
RAW = re.compile(r"Traceback|\w+(Error|Exception)\b|object at 0x|\bNone\b|\bnan\b|\{\w+\}|\bengine\.\w")
ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly
ROOM = 8  # px around a button's words
LAYOUT_ROUNDS = 3  # a card that is resized lays out what lies in it a moment later


@pytest.fixture(params=["light", "dark"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def window(qapp: QApplication, settings: AppSettings, qtbot: QtBot, mode: str) -> Iterator[MainWindow]:
    theme.apply_theme(qapp, mode)  # before there is a window: to repaint one takes longer than to make it
    with whole_window(settings, qtbot, SIZES[""]) as made:
        yield made


@pytest.fixture
def hand(window: MainWindow, qtbot: QtBot) -> LookingHand:
    return LookingHand(window, qtbot)


def look_into(hand: LookingHand, folder: Path, text: str, pair: str = "") -> None:
    """Open a model and a text on all pages."""
    hand.inspector.choose(folder)
    hand.inspector.set_text(text, pair)
    hand.wait(lambda: hand.inspector.about is not None)


def come_to_rest(hand: LookingHand, page: str) -> None:
    """Wait until a page shows all that it has asked."""
    hand.window.show_page(page)
    shown: Any = hand.window.page(page)

    def is_at_rest() -> bool:
        waits = page == "attention" and shown.ablation.is_waiting
        return bool(hand.inspector.workers.is_idle and not waits)

    hand.wait(is_at_rest)


# ---- what is judged on every page


def cut(window: MainWindow) -> list[str]:
    """Return what shows less than its whole words, and does not say so by an ellipsis."""
    found = []
    for each in window.findChildren(QWidget):
        if not isinstance(each, QLabel | QAbstractButton) or isinstance(each, ElidedLabel):
            continue
        room = each.visibleRegion().boundingRect()
        if (
            not each.text() or not each.isVisible() or room.isEmpty()
        ):  # also where it is scrolled out of sight
            continue
        if isinstance(each, QLabel) and each.wordWrap():
            is_cut = each.heightForWidth(each.width()) > each.height() + 1
        elif isinstance(each, QLabel):
            is_cut = min(each.width(), room.width()) < each.sizeHint().width()
        else:
            icon = 0 if each.icon().isNull() else each.iconSize().width()
            if icon and isinstance(each, QToolButton) and each.toolButtonStyle() == ICON_ONLY:
                continue
            is_cut = room.width() < each.fontMetrics().horizontalAdvance(each.text()) + icon + ROOM
        if is_cut:
            found.append(f"{each.objectName()} {each.text()!r} {each.size()} of {each.sizeHint()}")
    return found


def nameless(window: MainWindow) -> list[str]:
    """Return the controls that the keyboard reaches and a screen reader could not name."""
    found = []
    for each in window.findChildren(QWidget):
        inner = isinstance(each, QScrollBar) or isinstance(each.parent(), QAbstractSpinBox | QComboBox)
        if inner or not each.isVisible() or not each.focusPolicy() & Qt.FocusPolicy.TabFocus:
            continue
        told = QAccessible.queryAccessibleInterface(each)
        if told is None or not told.text(QAccessible.Text.Name).strip():
            found.append(f"{type(each).__name__} {each.objectName()} in {each.parent()}")
    return found


def raw(window: MainWindow) -> list[str]:
    """Return what is said on screen in a program's words instead of a person's."""
    said = [each.text() for each in window.findChildren(QLabel) if each.isVisible()]
    said += [each.empty_text for each in window.findChildren(Figure) if each.isVisible() and each.is_empty]
    said += [each.placeholderText() for each in window.findChildren(QLineEdit) if each.isVisible()]
    return [text for text in said if RAW.search(text)]


def leave(window: MainWindow, name: str) -> QImage:
    """Leave a picture of the window for people to look at; return it."""
    FOLDER.mkdir(exist_ok=True)
    QApplication.processEvents()
    image = window.grab().toImage()
    image.save(str(FOLDER / f"looking-{name}.png"))
    return image


def judge(window: MainWindow, name: str) -> None:
    """Leave a picture, and refuse what cannot be read on it, once all has its place."""
    for _ in range(LAYOUT_ROUNDS):
        QApplication.processEvents()
    leave(window, name)
    for fault in (cut, nameless, raw):
        assert not fault(window), name


def test_every_page_can_be_read_with_any_text(hand: LookingHand, tmp_path: Path, mode: str) -> None:
    model = language_model(tmp_path / "a small model")
    for state, texts in TEXTS.items():
        look_into(hand, model, *texts)
        for page in LOOKING:
            come_to_rest(hand, page)
            judge(hand.window, f"{page}-{state}-{mode}")
            if state == "long":
                assert_too_long_is_said(hand, page)
    hand.window.resize(SIZES["-small"])
    look_into(hand, model, *TEXTS["pair"])
    for page in LOOKING:
        come_to_rest(hand, page)
        judge(hand.window, f"{page}-pair-small-{mode}")


def assert_too_long_is_said(hand: LookingHand, page: str) -> None:
    """Check that a page refuses a text by its number of pieces, and that the tokenizer shows what is cut."""
    reason = f"this model reads at most {LONGEST}"
    if page == "probe":
        assert reason in hand.find("probe_nothing_masked").label.text()
    elif page == "attention":
        heatmap = hand.find("attention_heatmap")
        assert heatmap.is_empty and reason in heatmap.empty_text
    elif page == "tokenizer":
        kinds = [chip.kind for column in hand.find("tokenizer_pieces").columns for chip in column.chips]
        assert "cut" in kinds and len(kinds) - kinds.count("cut") == LONGEST


@pytest.mark.usefixtures("no_models_ship")
def test_every_page_can_be_read_without_a_model(hand: LookingHand, tmp_path: Path, mode: str) -> None:
    for page in LOOKING:
        come_to_rest(hand, page)
        judge(hand.window, f"{page}-nothing-{mode}")
        shown: Any = hand.window.page(page)
        if page != "tokenizer":  # a vocabulary is all that it needs
            assert shown.empty.isVisible() and shown.empty.button.isVisible()
            assert "Choose a model to look into" in shown.empty.label.text()
    (tmp_path / "empty").mkdir()
    hand.inspector.choose(tmp_path / "empty")
    come_to_rest(hand, "attention")
    judge(hand.window, f"attention-refused-{mode}")
    look_into(hand, classifier(tmp_path / "labels"), *PAIR)
    for page in ("probe", "attention"):
        come_to_rest(hand, page)
        judge(hand.window, f"{page}-classifier-{mode}")
    assert hand.find("attention_effects").rows


def test_every_view_can_be_read(hand: LookingHand, tmp_path: Path, mode: str) -> None:
    look_into(hand, language_model(tmp_path / "a small model"), *PAIR)
    come_to_rest(hand, "attention")
    for view in PICTURES[1:]:  # beside the one that is open
        hand.click(f"attention_view_{view}")
        come_to_rest(hand, "attention")
        if view == "attribution":
            hand.wait(lambda: not hand.find("attribution_bars").is_empty)
        judge(hand.window, f"attention-{view}-{mode}")
    come_to_rest(hand, "probe")
    every_tab(hand, "probe", hand.find("probe_tabs"), mode)
    come_to_rest(hand, "embeddings")
    for question in QUESTIONS:
        hand.click(f"embeddings_question_{question}")
        come_to_rest(hand, "embeddings")
        every_tab(hand, "embeddings", hand.find("embeddings_tabs").tabBar(), f"{question}-{mode}")
    hand.click("embeddings_change")
    judge(hand.window, f"embeddings-change-{mode}")


def every_tab(hand: LookingHand, page: str, tabs: QTabBar, mode: str) -> None:
    """Look at each view that is offered."""
    for tab in [one for one in range(tabs.count()) if tabs.isVisible() and tabs.isTabVisible(one)]:
        hand.click_at(tabs, QPointF(tabs.tabRect(tab).center()))
        assert tabs.currentIndex() == tab
        come_to_rest(hand, page)
        judge(hand.window, f"{page}-tab-{tab}-{mode}")
    come_to_rest(hand, page)
    judge(hand.window, f"{page}-{mode}")


# ---- where the strongest attention is


def levels(image: QImage, area: QRectF, corner: QPoint) -> np.ndarray:
    """Return the steps of the ramp in a part of a picture, (height, width); -1 for other colours.

    Args: area: of a widget. corner: where that widget stands in the picture.
    """
    colors = theme.current()
    steps = ramp(colors.card, colors.accent)
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1) | np.uint32(0xFF000000)
    part = area.toRect().translated(corner)
    pixels = pixels[part.top() : part.bottom() + 1, part.left() : part.right() + 1]
    order = np.argsort(steps)
    places = np.searchsorted(steps[order], pixels).clip(max=255)
    return np.where(steps[order][places] == pixels, order[places], -1)


def strongest_on_screen(
    image: QImage, plot: Figure, area: QRectF, shape: tuple[int, ...]
) -> set[tuple[int, int]]:
    """Return the cells (row, column) in which the strongest colour of a picture lies.

    A pixel at the edge of a cell may be its neighbour's, so cells with few such pixels do not count.
    """
    seen = levels(image, area, plot.mapTo(plot.window(), QPoint(0, 0)))
    places = np.argwhere(seen == seen.max()) + 0.5
    counts = Counter(map(tuple, (places / seen.shape * shape).astype(int).tolist()))
    return {cell for cell, count in counts.items() if count > max(counts.values()) / 2}


def strongest(weights: np.ndarray, top: float = 0.0) -> set[tuple[int, int]]:
    """Return the cells that no eye could tell from the strongest: two steps of colour below it at most.

    The last colour is of a weight four times an even share at least, so that a head that looks everywhere
    alike is pale. Args: top: the largest of all heads where they share one scale.
    """
    step = max(float(weights.max()), 4 / len(weights), top) / 255
    return set(map(tuple, np.argwhere(weights >= weights.max() - 2 * step).tolist()))


def in_words(seen: AttentionMaps, weights: np.ndarray) -> np.ndarray:
    """Return weights between whole words, by hand: rows averaged, columns summed; specials stay alone."""
    groups = [list(word.pieces) for word in seen.words]
    inside = {place for group in groups for place in group}
    groups = sorted([*groups, *([place] for place in range(len(weights)) if place not in inside)])
    columns = np.stack([weights[:, group].sum(1) for group in groups], 1)
    return np.stack([columns[group].mean(0) for group in groups])


def test_the_strongest_colour_is_where_the_strongest_attention_is(
    hand: LookingHand, tmp_path: Path, mode: str
) -> None:
    folder = language_model(tmp_path / "a small model")
    text, pair = "She has a riverbank, the old boat.", "The river is near!"
    look_into(hand, folder, text, pair)
    come_to_rest(hand, "attention")
    seen = look(LoadedModel.open(folder), text, pair)
    words = np.array([token not in ("[CLS]", "[SEP]") for token in seen.encoding.tokens])
    heatmap = hand.find("attention_heatmap")
    shown: list[set[tuple[int, int]]] = []
    for layer, head in ((0, 0), (1, 2)):
        hand.press(heatmap, "]" * (layer * NUM_HEADS + head))
        weights = seen.attentions[layer, head]
        for name, specials, unit in (
            ("plain", "All tokens", "Pieces"),
            ("hidden", "No specials", "Pieces"),
            ("words", "All tokens", "Words"),
        ):
            hand.choose("attention_specials", specials)
            hand.choose("attention_unit", unit)
            expected = in_words(seen, weights) if unit == "Words" else weights
            expected = expected[np.ix_(words, words)] if specials == "No specials" else expected
            hand.wait(lambda wanted=expected: is_shown(heatmap, wanted))
            for size, pixels in SIZES.items():
                hand.window.resize(pixels)
                image = leave(hand.window, f"strongest-{name}{size}-{mode}")
                found = strongest_on_screen(image, heatmap, heatmap.frame().area, expected.shape)
                where = tuple(np.argwhere(expected == expected.max())[0].tolist())
                assert where in found and found <= strongest(expected), (name, size, layer, head)
                shown.append(found)
    assert sum(len(found) == 1 for found in shown) > len(shown) / 2, "a test of pictures that are all alike"
    hand.choose("attention_unit", "Pieces")
    hand.window.resize(SIZES[""])
    check_tiles(hand, seen, mode)


def is_shown(heatmap: Any, expected: np.ndarray) -> bool:
    """Whether a heatmap holds these weights."""
    values = heatmap.shown.values if heatmap.shown is not None else np.zeros(0)
    return values.shape == expected.shape and np.allclose(values, expected, atol=1e-6)


def check_tiles(hand: LookingHand, seen: AttentionMaps, mode: str) -> None:
    """Check each head's small picture, in the order of a measure."""
    mosaic = hand.find("attention_mosaic")
    hand.choose("attention_sort", "[SEP]")
    hand.click("attention_heads_as_mosaic")
    hand.wait(lambda: mosaic.isVisible() and mosaic.is_sorted)
    come_to_rest(hand, "attention")
    image = leave(hand.window, f"mosaic-sorted-{mode}")
    for layer, head in np.ndindex(NUM_LAYERS, NUM_HEADS):
        if (layer, head) in mosaic.chosen:
            continue  # its ring lies over the cells at the edge
        weights = seen.attentions[layer, head]
        where = tuple(np.argwhere(weights == weights.max())[0].tolist())
        found = strongest_on_screen(image, mosaic, mosaic.tile_rect(layer, head), weights.shape)
        assert where in found and found <= strongest(weights, float(seen.attentions.max())), (layer, head)
