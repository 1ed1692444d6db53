"""Examples as a model in pretraining reads them: each token in what was done to it, the answer under it.

Colour never stands alone: a hidden token reads [MASK] and has its answer under it, a swapped one has a broken
frame and its answer, a kept one a plain frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import ScrolledFigure

UNTOUCHED, HIDDEN, SWAPPED, KEPT = -1, 0, 1, 2
HEAD, LINE, CHIP = 30, 38, 21  # px: an example's title, a line of tokens, a token
SPACE, PAD, MARGIN = 5.0, 6.0, 18.0


@dataclass(frozen=True, slots=True)
class Strip:
    """One example. tokens: as they were; shown: as the model reads them; actions: -1 to 2 for each."""

    title: str
    note: str
    is_yes: bool | None  # whether the note says yes or no; None: there is no note
    tokens: tuple[str, ...]
    shown: tuple[str, ...]
    actions: tuple[int, ...]
    segments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A token of a strip, and where it stands."""

    rect: QRectF
    strip: int
    place: int


class TokensPlot(ScrolledFigure):
    """Examples under each other; they wrap at the width there is and scroll."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.strips: tuple[Strip, ...] = ()
        self._placed: list[_Placed] = []
        self._heads: list[float] = []
        self._letters: list[tuple[float, str]] = []
        self._scroll.verticalScrollBar().setSingleStep(LINE)

    @property
    def is_empty(self) -> bool:
        return not self.strips

    def set_strips(self, strips: Sequence[Strip]) -> None:
        """Show these examples."""
        self.strips = tuple(strips)
        self.place_anew()
        self.forget()

    def clear(self) -> None:
        """Show nothing."""
        self.set_strips([])

    def counts(self) -> dict[int, int]:
        """Return action -> tokens of all examples."""
        found = dict.fromkeys((UNTOUCHED, HIDDEN, SWAPPED, KEPT), 0)
        for strip in self.strips:
            for action in strip.actions:
                found[action] += 1
        return found

    def numbers(self) -> Numbers:
        names = {UNTOUCHED: "", HIDDEN: "hidden", SWAPPED: "random", KEPT: "kept"}
        rows: Numbers = [["example", "pair", "place", "segment", "token", "shown", "action"]]
        for number, strip in enumerate(self.strips, start=1):
            every = zip(strip.segments, strip.tokens, strip.shown, strip.actions, strict=True)
            for place, (segment, token, shown, action) in enumerate(every):
                rows.append([number, strip.note, place, segment, token, shown, names[action]])
        return rows

    def token_words(self, strip: Strip, place: int) -> str:
        """Return what was done to a token."""
        token, shown = strip.tokens[place], strip.shown[place]
        match strip.actions[place]:
            case 0:
                return self.tr("{token}: hidden, the model reads {shown}").format(token=token, shown=shown)
            case 1:
                return self.tr("{token}: the model reads a random piece, {shown}").format(
                    token=token, shown=shown
                )
            case 2:
                return self.tr("{token}: shown as it is, and asked for all the same").format(token=token)
        return ""

    def summary(self) -> str:
        said = (f"{strip.title} {strip.note}: {' '.join(strip.shown)}" for strip in self.strips[:1])
        return " ".join(said)

    def words_of(self, target: int) -> str:
        placed = self._placed[target]
        return self.token_words(self.strips[placed.strip], placed.place) or self.summary()

    def tip_of(self, target: int) -> str:
        placed = self._placed[target]
        return self.token_words(self.strips[placed.strip], placed.place)

    def rect_of(self, target: int) -> QRectF:
        return self._placed[target].rect

    def target_at(self, at: QPointF) -> int | None:
        under = (i for i, placed in enumerate(self._placed) if placed.rect.adjusted(0, 0, 0, 16).contains(at))
        return next(under, None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._scroll.keyPressEvent(event)

    def place(self) -> None:
        """Wrap all tokens at the width there is, and ask for the height that they need."""
        self._placed, self._heads, self._letters, y = [], [], [], 0.0
        for number, strip in enumerate(self.strips):
            self._heads.append(y)
            y = self._place_strip(number, strip, y + HEAD) + 10
        self.set_content_height(int(y))

    def _place_strip(self, number: int, strip: Strip, y: float) -> float:
        plain, small = QFontMetricsF(theme.ui_font()), QFontMetricsF(theme.ui_font(11))
        left = 4.0 if strip.is_yes is None else 4.0 + MARGIN
        width, x = max(200.0, self.canvas().width() - 8.0), left
        if strip.is_yes is not None:
            self._letters.append((y, self.tr("A")))
        for place, (token, shown, action) in enumerate(
            zip(strip.tokens, strip.shown, strip.actions, strict=True)
        ):
            room = plain.horizontalAdvance(shown) + (2 * PAD if action >= 0 else 2)
            if action in (HIDDEN, SWAPPED):
                room = max(room, small.horizontalAdvance(token) + 4)
            turned = place > 0 and strip.segments[place] != strip.segments[place - 1]
            if turned or (x + room > width and x > left):
                x, y = left, y + LINE
            if turned:
                self._letters.append((y, self.tr("B")))
            self._placed.append(_Placed(QRectF(x, y, room, CHIP), number, place))
            x += room + SPACE
        return y + LINE

    def paint(self, painter: QPainter, area: QRectF) -> None:
        for strip, top in zip(self.strips, self._heads, strict=True):
            self._paint_head(painter, strip, top)
        painter.setFont(theme.ui_font(11, bold=True))
        painter.setPen(theme.current().color("muted"))
        for y, letter in self._letters:
            painter.drawText(QRectF(4, y, MARGIN, CHIP), Qt.AlignmentFlag.AlignVCenter, letter)
        for placed in self._placed:
            if area.top() - LINE <= placed.rect.top() <= area.bottom():
                _paint_token(painter, placed.rect, self.strips[placed.strip], placed.place)

    def _paint_head(self, painter: QPainter, strip: Strip, top: float) -> None:
        colors = theme.current()
        painter.setFont(theme.ui_font(11, bold=True))
        painter.setPen(colors.color("muted"))
        middle = Qt.AlignmentFlag.AlignVCenter
        width = QFontMetricsF(painter.font()).horizontalAdvance(strip.title)
        painter.drawText(QRectF(4, top, width + 4, HEAD - 6), middle, strip.title)
        if strip.note:
            mark = QRectF(4 + width + 12, top + 5, 14, 14)
            name, ink = ("check", "fine") if strip.is_yes else ("close", "b")
            theme.icon(name, ink).paint(painter, mark.toRect())
            painter.setFont(theme.ui_font(12))
            painter.setPen(colors.color("text"))
            painter.drawText(QRectF(mark.right() + 6, top, 400, HEAD - 6), middle, strip.note)


class TokensLegend(QWidget):
    """What the three marks mean, with how often each is there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[int, str]] = []
        self.setFixedHeight(24)

    def set_counts(self, counts: dict[int, int]) -> None:
        """Say what each mark means; counts as `TokensPlot.counts` gives them."""
        total = sum(counts.values()) or 1
        said = {
            HIDDEN: self.tr("hidden {share}"),
            SWAPPED: self.tr("random {share}"),
            KEPT: self.tr("kept {share}"),
        }
        self._entries = [
            (action, text.format(share=words.share(counts[action] / total) if any(counts.values()) else ""))
            for action, text in said.items()
        ]
        self.setAccessibleName(", ".join(text for _action, text in self._entries))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(360, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, x = QFontMetricsF(theme.ui_font(12)), 4.0
        samples = {HIDDEN: "[MASK]", SWAPPED: "xyz", KEPT: "abc"}
        for action, text in self._entries:
            sample = samples[action]
            room = QRectF(x, 2, metrics.horizontalAdvance(sample) + 2 * PAD, CHIP - 1)
            if x + room.width() + metrics.horizontalAdvance(text) > self.width():
                break
            _paint_chip(painter, room, sample, action, 12)
            x += room.width() + 6
            painter.setFont(theme.ui_font(12))
            painter.setPen(theme.current().color("muted"))
            width = metrics.horizontalAdvance(text) + 4
            painter.drawText(QRectF(x, 0, width, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += width + 14
        painter.end()


def _paint_token(painter: QPainter, room: QRectF, strip: Strip, place: int) -> None:
    action, colors = strip.actions[place], theme.current()
    if action >= 0:
        _paint_chip(painter, room, strip.shown[place], action)
        if action != KEPT:
            painter.setFont(theme.ui_font(11))
            painter.setPen(colors.color("accent" if action == HIDDEN else "b"))
            under = QRectF(room.left() - 2, room.bottom() - 1, room.width() + 4, 15)
            painter.drawText(under, Qt.AlignmentFlag.AlignCenter, strip.tokens[place])
        return
    special = strip.tokens[place] in ("[CLS]", "[SEP]")
    painter.setFont(theme.ui_font())
    painter.setPen(colors.color("muted" if special else "text"))
    painter.drawText(room.adjusted(0, 0, 4, 0), Qt.AlignmentFlag.AlignVCenter, strip.shown[place])


def _paint_chip(painter: QPainter, room: QRectF, text: str, action: int, size: int = 13) -> None:
    colors = theme.current()
    fills = {HIDDEN: colors.accent_soft, SWAPPED: colors.b_soft, KEPT: colors.card}
    frames = {HIDDEN: colors.accent_soft, SWAPPED: colors.b, KEPT: colors.fine}
    style = Qt.PenStyle.DashLine if action == SWAPPED else Qt.PenStyle.SolidLine
    painter.setPen(QPen(QColor(frames[action]), 1.2, style))
    painter.setBrush(QColor(fills[action]))
    painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.setFont(theme.ui_font(size))
    painter.setPen(colors.color("text"))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
