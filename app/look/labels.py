"""Labels: as they are, over as many lines as they take, or as much of their words as fits the room.

People's own text is always shown as plain text, never guessed to be markup.
"""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.look.direction import in_sentence

MOST_HEIGHT = 10_000  # px
LEAST_WORDS = 24  # px of words that are elided
MOST_SHOWN = 2_000  # characters on one line
_UNIT = re.compile(  # the room between a number and its unit, in Chinese what is counted: "3 分钟", "第 3 层"
    r"(?<=\d) (?=(?:%|s|min|h|MB|GB)(?!\w)|[\u4e00-\u9fff])|(?<=[<>第]) (?=\d)"
)
_JOINED = re.compile(_UNIT.pattern.replace(" ", "\N{NO-BREAK SPACE}"))
_ISOLATES = re.compile("[\u2068\u2069]")
PART = " · "  # between things known of one thing, the weightiest first


def label(
    text: str = "",
    role: str = "",
    *,
    wrap: bool = False,
    parent: QWidget | None = None,
    name: str = "",
    tool_tip: str = "",
    buddy: QWidget | None = None,
) -> QLabel:
    """Return a label that shows its text as it is; numbers and sentences can be selected and copied.

    Args: buddy: what it names.
    """
    result = (_Wrapped if wrap else _Plain)(parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wrap)
    result.setText(text)
    result.setObjectName(name)
    result.setToolTip(tool_tip)
    if role not in ("title", "card-title", "caption"):
        result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        result.setProperty("role", role)
    if buddy is not None:
        result.setBuddy(buddy)
    return result


class _Plain(QLabel):
    """A label as it is; names in it that are read from the right do not turn the words around them."""

    def setText(self, text: str) -> None:
        super().setText(in_sentence(text))

    def text(self) -> str:
        return _ISOLATES.sub("", super().text())


class _Wrapped(_Plain):
    """A label of several lines; a number and its unit, "< 0.01 %" or "2 s", are never torn apart."""

    def setText(self, text: str) -> None:
        super().setText(_UNIT.sub("\N{NO-BREAK SPACE}", text))

    def text(self) -> str:
        return _JOINED.sub(" ", super().text())


def fitting(text: str, metrics: QFontMetrics | QFontMetricsF, width: float) -> str:
    """Return what of a text fits: without its last parts ("a · b · c"), or cut with an ellipsis."""
    if len(text) > MOST_SHOWN:  # what takes long to measure never fits
        text = f"{text[:MOST_SHOWN]}…"
    shown, *parts = text.split(PART)
    for part in parts:
        longer = f"{shown}{PART}{part}"
        if metrics.horizontalAdvance(longer) > width:
            break
        shown = longer
    return metrics.elidedText(shown, Qt.TextElideMode.ElideRight, max(0, int(width)))


def set_or_hide(target: QLabel, text: str) -> None:
    """Set a label's text; without one the label takes no room."""
    target.setText(text)
    target.setVisible(bool(text))


class WholeLabel(_Plain):
    """Plain text over as many lines as it takes; a card gives it the room for all of them."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(in_sentence(text), parent, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def hasHeightForWidth(self) -> bool:
        return False  # it sets its height itself: layouts within layouts lose count of it

    def setText(self, text: str) -> None:
        super().setText(text)
        self._claim()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._claim()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._claim()

    def _claim(self) -> None:
        room = QRect(0, 0, max(1, self.width()), MOST_HEIGHT)
        needed = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self.text()).height()
        self.setFixedHeight(max(self.fontMetrics().height(), needed))


class ElidedLabel(QLabel):
    """One line of plain text, shortened when there is no room; the whole text is the tooltip then."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText)
        self._full = self._tip = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._full = text
        self.setAccessibleName(text)
        self._fit()
        self.updateGeometry()

    def text(self) -> str:
        """Return the text before it was shortened."""
        return self._full

    def sizeHint(self) -> QSize:
        inset = self.width() - self.contentsRect().width()  # the style sheet's padding, too
        return QSize(
            self.fontMetrics().horizontalAdvance(self._full) + 2 + inset, super().sizeHint().height()
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_WORDS, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        shown = fitting(self._full, self.fontMetrics(), self.contentsRect().width())
        if (said := in_sentence(shown)) != super().text():
            super().setText(said)
        if self.toolTip() in ("", self._tip):  # else its owner has said more
            self._tip = tip(self._full) if shown != self._full else ""
            self.setToolTip(self._tip)


def tip(text: str) -> str:
    """Return a text for a tooltip: it wraps, and whatever looks like markup in it is shown as it is."""
    return f"<qt>{html.escape(text)}</qt>" if len(text) > 60 or "<" in text else text
