"""Whether all words of the window have their room and can be read: every page, size, scale and theme.

    python -m tests.looks.fits FOLDER [--pages data,probe] [--sizes 1024x640] [--scales 200] [--themes light]

Opens the window with nothing, with the starter model, and with a table and a fine-tuned model, leaves PNGs
of pages (of their tabs in the first theme), and lists what is elided, cut
off, lies outside what holds it or over its neighbour, makes the window larger than it was asked to be, or has
too little contrast with what is behind it. What may be so stands in `ACCEPTED`, with the reason. The exit
code is 1 where anything else is found. A scale is Qt's own, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("CLOZE_FONT", "inter")

import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt, QTextBoundaryFinder
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton, QAbstractScrollArea, QAbstractSpinBox, QApplication, QComboBox, QLabel, QLineEdit,
    QPushButton, QScrollArea, QStyle, QStyleOptionComboBox, QTabBar, QTableView, QToolButton, QWidget,
)  # fmt: skip

from app import shipped
from app.application import make_application
from app.look import theme
from app.look.columns import WordsCell
from app.look.labels import ElidedLabel, WholeLabel
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.session import Session
from app.settings import AppSettings

SIZES = ("1024x640", "1280x800", "1920x1200")
SCALES = (100, 150, 200)
THEMES = ("light", "dark", "contrast")
CONTRAST, LARGE_CONTRAST, LARGE = 4.5, 3.0, 19  # after WCAG 2.2; from how many px bold words count as large
THIN = 0.8  # of its contrast that a thin stroke keeps on screen, where its edges are smoothed
REST_MS, LONGEST_S, PATIENCE_S = 80, 60, 900
MOST_COLUMNS, HEAD_PADDING = 40, 16  # px, about as the style sheet has it
TOUCH = QSizeF(3, 6)  # px of two painted words' boxes that may be the same
ICON_ALONE = Qt.ToolButtonStyle.ToolButtonIconOnly


@dataclass(frozen=True, slots=True)
class Fault:
    """kind: what is wrong. name: of the widget, or its class. text: that it shows."""

    page: str
    kind: str
    name: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.page:<11} {self.kind:<9} {self.name:<28} {self.text!r}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Patterns of what may be so, and why. size: in which window; "*": in any."""

    page: str
    kind: str
    name: str
    why: str
    size: str = "*"


NAMES = "a model's name is of any length: the list and the tip have it whole"
SIDE_BY_SIDE = "two or three names share the bar of a small window: menus and tips have them whole"
LISTED = "choices in a language of long words: the list under the box has them whole"
CHOICES = (
    *("way", "task_choice", "start_choice", "text_choice", "size_choice", "vocab_choice", "where_choice"),
    *("sort", "unit", "order", "heads", "top", "padding", "truncation"),
)
BOXES = ("_model", "model_choice", "tokenizer_vocabulary", "data_choice", "family_box", "file_choice")
ACCEPTED = (
    *(Accepted("*", "elided", f"*{box}", NAMES) for box in BOXES),
    Accepted("models", "elided", "ElidedLabel", NAMES),
    Accepted("*", "elided", "thread_*_value", SIDE_BY_SIDE, "1024x640"),
    Accepted("*", "elided", "thread_*_value", SIDE_BY_SIDE, "1280x800"),
    Accepted("*", "elided", "thread_model_value", NAMES),
    Accepted("*", "elided", "rail_*_state", "the page says it, and so does the tip"),
    Accepted("finetune", "cut", "setting_learning_rate", "seen while it is empty; its tip says it"),
    *(Accepted("*", "elided", f"*{box}", LISTED) for box in CHOICES),
    Accepted("probe", "cut", "probe_tabs", "seven tabs: those beyond scroll into view", "1024x640"),
    Accepted(
        "embeddings", "cut", "qt_tabwidget_tabbar", "a click on what is seen of it shows all", "1024x640"
    ),
    Accepted("*", "head", "*", "of a narrow column: its tip has it whole, and it can be drawn wider"),
    Accepted("*", "painted", "figure", "names and texts of people are of any length: the tip has them whole"),
)


# ---- looking


def faults(window: MainWindow, page: str) -> Iterator[Fault]:
    """Yield what is wrong with the window as it is on screen now."""
    pixels, painted = _grabbed(window)
    if (
        window.minimumSizeHint().width() > window.width()
        or window.minimumSizeHint().height() > window.height()
    ):
        yield Fault(page, "window", "main_window", f"needs {window.minimumSizeHint().toTuple()}")
    for kind, name, text in painted:
        yield Fault(page, kind, name, text)
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not _is_in_view(widget):
            continue
        name = widget.objectName() or type(widget).__name__
        for kind, text in _of_widget(widget):
            yield Fault(page, kind, name, text)
        text = _text_of(widget)
        if text and widget.isEnabled() and (found := _contrast(pixels, widget, window)) is not None:
            yield Fault(page, "contrast", name, f"{found:.1f}: {text}")


def _of_widget(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Yield kind and text of what is wrong with the room of one widget."""
    text = _text_of(widget)
    if isinstance(widget, ElidedLabel):
        if "…" in QLabel.text(widget) and "…" not in widget.text():  # parts that are left out whole are fine
            yield "elided", widget.text()
    elif isinstance(widget, QLabel) and text:
        high = _height_of(widget) if widget.wordWrap() else widget.minimumSizeHint().height()
        if widget.height() + 1 < min(high, widget.sizeHint().height()) or _is_narrow(widget):
            yield "cut", text
    elif isinstance(widget, QAbstractButton) and text and _is_narrow(widget):
        yield "cut", text
    elif isinstance(widget, QComboBox):
        said = widget.currentText() or widget.placeholderText()
        if widget.fontMetrics().horizontalAdvance(said) > _field(widget).width() + 1:
            yield "elided", said
    elif isinstance(widget, QAbstractSpinBox):
        edit = widget.lineEdit()
        room = edit.contentsRect().marginsRemoved(edit.textMargins()).width()
        if edit.fontMetrics().horizontalAdvance(edit.text()) > room:
            yield "cut", edit.text()
    elif isinstance(widget, QLineEdit) and widget.placeholderText() and not widget.text():
        room = widget.contentsRect().width() - 20  # the style sheet's padding
        if widget.fontMetrics().horizontalAdvance(widget.placeholderText()) > room + 2:
            yield "cut", widget.placeholderText()
    elif isinstance(widget, QTabBar):
        shown = [tab for tab in range(widget.count()) if widget.isTabVisible(tab)]
        if shown and widget.tabRect(shown[-1]).right() > widget.width():
            yield "cut", widget.tabText(shown[-1])
    elif isinstance(widget, QScrollArea) and (inner := widget.widget()) is not None:
        is_shut = widget.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if is_shut and inner.width() > widget.viewport().width() + 1:
            yield "hidden", f"{inner.width()} px in {widget.viewport().width()}"
    elif isinstance(widget, QTableView) and widget.horizontalHeader().isVisible():
        is_told = widget.horizontalHeader().textElideMode() != Qt.TextElideMode.ElideNone
        yield from (("head" if is_told else "cut", head) for head in _narrow_heads(widget))
    parent = widget.parentWidget()
    is_held = not isinstance(parent and parent.parentWidget(), QAbstractScrollArea)
    if text and parent and is_held and not parent.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry()):
        yield "outside", text
    if text and isinstance(widget, QLabel | QAbstractButton):
        yield from (("over", f"{text} | {other}") for other in _neighbours_under(widget))


def _height_of(label: QLabel) -> int:
    """Return the px that the lines of a label take, as wide as it is."""
    if isinstance(label, WholeLabel):
        lines = QTextDocument(documentMargin=0)  # Qt's own figure grows with the height that a label has
        lines.setDefaultFont(label.font())
        lines.setPlainText(label.text())
        lines.setTextWidth(label.contentsRect().width())
        return math.ceil(lines.size().height())
    return label.heightForWidth(label.width())


def _narrow_heads(view: QTableView) -> Iterator[str]:
    """Yield the heads of a table's columns that have less room than their words."""
    header, model = view.horizontalHeader(), view.model()
    for column in range(min(header.count(), MOST_COLUMNS)):
        head = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        taken = header.fontMetrics().horizontalAdvance(head) + HEAD_PADDING
        if not header.isSectionHidden(column) and header.sectionSize(column) < taken:
            yield head


def _is_narrow(widget: QLabel | QAbstractButton) -> bool:
    if isinstance(widget, QLabel) and widget.wordWrap():
        return any(
            widget.fontMetrics().horizontalAdvance(word) > widget.contentsRect().width()
            for word in _unbroken(_text_of(widget))
        )
    if isinstance(widget, QLabel | QPushButton):
        return widget.width() < widget.minimumSizeHint().width()
    beside = 0 if widget.icon().isNull() else widget.iconSize().width() + 4
    return widget.width() < widget.fontMetrics().horizontalAdvance(widget.text()) + beside + 4


def _unbroken(text: str) -> Iterator[str]:
    """Yield the parts of a text that no line is broken in: words, and Chinese characters with what closes."""
    finder, start = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Line, text), 0
    while (end := finder.toNextBoundary()) > 0:
        yield text[start:end].strip()
        start = end


def _neighbours_under(widget: QWidget) -> Iterator[str]:
    """Yield the words of later siblings that lie over a widget's."""
    parent = widget.parentWidget()
    siblings = (
        parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly) if parent else []
    )
    for other in siblings[siblings.index(widget) + 1 :] if widget in siblings else []:
        if isinstance(other, QLabel | QAbstractButton) and other.isVisible() and _text_of(other):
            shared = widget.geometry().intersected(other.geometry())
            if shared.width() > 1 and shared.height() > 1:
                yield _text_of(other)


def _text_of(widget: QWidget) -> str:
    if isinstance(widget, QLabel):
        return QLabel.text(widget).strip()
    if isinstance(widget, QToolButton) and widget.toolButtonStyle() == ICON_ALONE:
        return widget.text().strip() if widget.icon().isNull() else ""
    return widget.text().strip() if isinstance(widget, QAbstractButton) else ""


def _field(box: QComboBox) -> QRect:
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    part = QStyle.SubControl.SC_ComboBoxEditField
    return box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box)


def _is_in_view(widget: QWidget) -> bool:
    """Whether no scroll area hides a part of a widget."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QAbstractScrollArea):
        above = above.parentWidget()
    return above is None or widget.visibleRegion().boundingRect().size() == widget.size()


def _grabbed(window: MainWindow) -> tuple[QImage, list[tuple[str, str, str]]]:
    """Return the window as a picture; of what was elided or cut as it was painted, kind, figure and text."""
    found: list[tuple[str, str, str]] = []
    boxes: dict[QWidget, dict[str, QRectF]] = {}
    whole, draw = WordsCell.shown_in, QPainter.drawText

    def told(self: WordsCell, width: float) -> str:
        shown = whole(self, width)
        if shown != self.text:
            found.append(("painted", "figure", self.text))
        return shown

    def drawn(self: QPainter, *how: Any) -> Any:
        figure, (text, box) = self.device(), _written(self, how)
        if isinstance(figure, QWidget) and text.strip():
            name, before = figure.objectName() or type(figure).__name__, boxes.setdefault(figure, {})
            if not _holds(self.window(), box):
                found.append(("cut", name, text))
            for other, its in before.items():
                common = box.intersected(its)
                if other != text and common.width() > TOUCH.width() and common.height() > TOUCH.height():
                    found.append(("over", name, f"{text} | {other}"))
            before[text] = box
        return draw(self, *how)

    WordsCell.shown_in, QPainter.drawText = told, drawn  # type: ignore[method-assign]
    try:
        image = window.grab().toImage()
    finally:
        WordsCell.shown_in, QPainter.drawText = whole, draw  # type: ignore[method-assign]
    return image.convertToFormat(QImage.Format.Format_RGB32), found


def _written(painter: QPainter, how: Sequence[Any]) -> tuple[str, QRectF]:
    """Return what `drawText` writes, and where, in the painter's own px."""
    text = next((one for one in how if isinstance(one, str)), "")
    if isinstance(how[0], QPointF | QPoint):
        box = QFontMetricsF(painter.font()).boundingRect(text).translated(QPointF(how[0]))
    elif isinstance(how[0], QRectF | QRect) and isinstance(how[1], str):
        box = painter.boundingRect(QRectF(how[0]), text, how[2])
    elif isinstance(how[0], QRectF | QRect):
        box = painter.boundingRect(QRectF(how[0]), int(how[1]), text)
    else:
        return "", QRectF()
    return text, painter.worldTransform().mapRect(box)


def _holds(window: QRect, box: QRectF) -> bool:
    """Whether words have their room from side to side; above and below a font has some of its own."""
    return window.left() - 1 <= box.left() and box.right() <= window.right() + 2


def _contrast(pixels: QImage, widget: QWidget, window: MainWindow) -> float | None:
    """Return the contrast of a widget's words with their ground where that is too little, else None.

    The ground is the commonest colour there, the ink the one that differs most from it.
    """
    ratio = pixels.devicePixelRatio()
    corner, inner = widget.mapTo(window, QPoint(0, 0)), widget.rect().adjusted(3, 3, -3, -3)
    left, top = round((corner.x() + 3) * ratio), round((corner.y() + 3) * ratio)
    width, height = round(inner.width() * ratio), round(inner.height() * ratio)
    part = pixels.copy(left, top, max(1, width), max(1, height))
    values = np.frombuffer(part.constBits(), np.uint32).reshape(part.height(), -1)
    colors, counts = np.unique(values, return_counts=True)
    if len(colors) < 2:
        return None  # its words are hidden
    ground = _hex(int(colors[counts.argmax()]))
    best = max(theme.contrast(_hex(int(color)), ground) for color in colors)
    font = widget.font()
    is_large = font.pixelSize() >= LARGE and font.weight() >= 600
    wanted = (LARGE_CONTRAST if is_large else CONTRAST) * (THIN if ratio < 2 else 1.0)
    return best if best < wanted else None


def _hex(pixel: int) -> str:
    return QColor.fromRgb(pixel).name()


# ---- walking


def _window() -> MainWindow:
    folder = Path(tempfile.mkdtemp())
    settings = AppSettings(folder / "settings.ini")
    settings.runs_root = folder / "runs"
    return MainWindow(Session(settings), warm_up=False)


def look(
    out: Path, pages: Sequence[str], sizes: Sequence[str], scale: int, themes: Sequence[str]
) -> list[Fault]:
    """Look at pages and their tabs in all sizes and themes of one scale; leave their pictures.

    In the first of the sizes they are also looked at with nothing open, and with the starter model alone.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    found: list[Fault] = []
    for state, in_sizes in (("empty", sizes[:1]), ("starter", sizes[:1]), ("open", sizes)):
        window = _window()
        window.show()
        if state == "open":
            window.session.data.open(shipped.sample_data_path())
            window.session.model.choose(str(shipped.tuned_model()))
        elif state == "starter":
            window.session.inspector.choose(shipped.starter_model() or "")
        for mode, size, page in product(themes, in_sizes, pages):
            if theme.mode() != mode:
                theme.apply_theme(application, mode)
            wanted = QSize(*map(int, size.split("x")))
            for tab in _tabs(window, page, wanted, only_first=mode != themes[0]):
                seen = [one for one in faults(window, page) if not _is_accepted(one, size)]
                found += seen
                window.grab().save(str(out / f"{page}{tab}-{state}-{size}-{scale}-{mode}.png"))
        window.close()
        assert window.session.wait_idle(PATIENCE_S)
    return found


def _tabs(window: MainWindow, page: str, size: QSize, *, only_first: bool) -> Iterator[str]:
    """Bring a page and each of its tabs into view, one after the other; yield what a picture is called."""
    window.resize(size)
    window.show_page(page)
    _rest(window)
    shown = window.page_in_view
    bars = [] if shown is None else [bar for bar in shown.findChildren(QTabBar) if bar.isVisible()]
    yield ""
    for place in range(1, bars[0].count() if bars and not only_first else 0):
        bars[0].setCurrentIndex(place)
        _rest(window)
        yield f"-{place + 1}"
    if bars:
        bars[0].setCurrentIndex(0)


def _rest(window: MainWindow) -> None:
    for _ in range(3):  # an answer may ask the next question; what takes longer is shown as it stands then
        window.session.wait_idle(LONGEST_S)
        QTest.qWait(REST_MS)


def _is_accepted(one: Fault, size: str) -> bool:
    return any(
        fnmatchcase(one.page, each.page)
        and fnmatchcase(one.kind, each.kind)
        and fnmatchcase(one.name, each.name)
        and fnmatchcase(size, each.size)
        for each in ACCEPTED
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.looks.fits")
    parser.add_argument("out", type=Path)
    for name, values in (("pages", PAGES), ("sizes", SIZES), ("scales", SCALES), ("themes", THEMES)):
        parser.add_argument(f"--{name}", default=",".join(map(str, values)))
    parser.add_argument("--child", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    pages, sizes, themes = (value.split(",") for value in (asked.pages, asked.sizes, asked.themes))
    if asked.child:
        make_application(["fits"], AppSettings(Path(tempfile.mkdtemp()) / "settings.ini"))
        found = look(asked.out, pages, sizes, asked.child, themes)
        (asked.out / f"{asked.child}.json").write_text(json.dumps([asdict(one) for one in found]))
        return 0
    seen: Counter[Fault] = Counter()
    for scale in asked.scales.split(","):
        around = {**os.environ, "QT_SCALE_FACTOR": str(int(scale) / 100)}
        command = [sys.executable, "-m", "tests.looks.fits", str(asked.out), "--child", scale]
        command += ["--pages", asked.pages, "--sizes", asked.sizes, "--themes", asked.themes]
        subprocess.run(command, env=around, check=True)
        seen.update(Fault(**one) for one in json.loads((asked.out / f"{scale}.json").read_text()))
    for one, times in sorted(seen.items(), key=lambda pair: pair[0].line):
        print(f"{times:>3} x {one.line}")
    print(f"{len(seen)} faults")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
