"""Examples as a model in pretraining reads them: each token in what was done to it, the answer under it.

Colour never stands alone: a hidden token reads [MASK] and has its answer under it, a swapped one has a broken
frame and its answer, a kept one a plain frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import ScrolledFigure
from app.plots.strokes import CENTER, paint_chip, painter_on, write

UNTOUCHED, HIDDEN, SWAPPED, KEPT = -1, 0, 1, 2
HEAD, LINE, CHIP = 30, 38, 21  # px: an example's title, a line of tokens, a token
SPACE, PAD, MARGIN = 5.0, 6.0, 18.0


@dataclass(frozen=True, slots=True)
class MaskedExample:
    """One example. tokens: as they were; shown: as the model reads them; actions: -1 to 2 for each."""

    title: str
    note: str
    is_yes: bool | None  # whether the note says yes or no; None: there is no note
    tokens: tuple[str, ...]
    shown: tuple[str, ...]
    actions: tuple[int, ...]
    segments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _PlacedToken:
    """A token of a strip, and where it stands."""

    rect: QRectF
    strip: int
    place: int


class TokensPlot(ScrolledFigure):
    """Examples under each other; they wrap at the width there is and scroll."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.strips: tuple[MaskedExample, ...] = ()
        self._placed: list[_PlacedToken] = []
        self._heads: list[float] = []
        self._letters: list[tuple[float, str]] = []
        self._scroll.verticalScrollBar().setSingleStep(LINE)

    @property
    def is_empty(self) -> bool:
        return not self.strips

    def set_strips(self, strips: Sequence[MaskedExample]) -> None:
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

    def token_words(self, strip: MaskedExample, place: int) -> str:
        """Return what was done to a token."""
        token, shown = strip.tokens[place], strip.shown[place]
        match strip.actions[place]:
            case 0:
                return self.tr("{token}: masked, the model reads {shown}").format(token=token, shown=shown)
            case 1:
                return self.tr("{token}: the model reads a random piece, {shown}").format(
                    token=token, shown=shown
                )
            case 2:
                return self.tr("{token}: shown unchanged, but asked for all the same").format(token=token)
        return ""

    def summary(self) -> str:
        said = (
            words.captioned(f"{strip.title} {strip.note}", " ".join(strip.shown)) for strip in self.strips[:1]
        )
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

    def _place_strip(self, number: int, strip: MaskedExample, y: float) -> float:
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
            self._placed.append(_PlacedToken(QRectF(x, y, room, CHIP), number, place))
            x += room + SPACE
        return y + LINE

    def paint(self, painter: QPainter, area: QRectF) -> None:
        for strip, top in zip(self.strips, self._heads, strict=True):
            self._paint_head(painter, strip, top)
        for y, letter in self._letters:
            write(painter, QRectF(4, y, MARGIN, CHIP), letter, "muted", size=11, bold=True)
        for placed in self._placed:
            if area.top() - LINE <= placed.rect.top() <= area.bottom():
                _paint_token(painter, placed.rect, self.strips[placed.strip], placed.place)

    def _paint_head(self, painter: QPainter, strip: MaskedExample, top: float) -> None:
        width = QFontMetricsF(theme.ui_font(11, bold=True)).horizontalAdvance(strip.title)
        write(painter, QRectF(4, top, width + 4, HEAD - 6), strip.title, "muted", size=11, bold=True)
        if strip.note:
            mark = QRectF(4 + width + 12, top + 5, 14, 14)
            name, ink = ("check", "fine") if strip.is_yes else ("close", "b")
            theme.icon(name, ink).paint(painter, mark.toRect())
            write(painter, QRectF(mark.right() + 6, top, 400, HEAD - 6), strip.note, size=12)


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
            HIDDEN: self.tr("masked {share}"),
            SWAPPED: self.tr("random {share}"),
            KEPT: self.tr("kept {share}"),
        }
        self._entries = [
            (action, text.format(share=words.share(counts[action] / total) if any(counts.values()) else ""))
            for action, text in said.items()
        ]
        self.setAccessibleName(words.phrases(text for _action, text in self._entries))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(360, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, x = QFontMetricsF(theme.ui_font(12)), 4.0
        samples = {HIDDEN: "[MASK]", SWAPPED: "xyz", KEPT: "abc"}
        for action, text in self._entries:
            sample = samples[action]
            room = QRectF(x, 2, metrics.horizontalAdvance(sample) + 2 * PAD, CHIP - 1)
            if x + room.width() + metrics.horizontalAdvance(text) > self.width():
                break
            _paint_marked(painter, room, sample, action, 12)
            x += room.width() + 6
            width = metrics.horizontalAdvance(text) + 4
            write(painter, QRectF(x, 0, width, self.height()), text, "muted", size=12)
            x += width + 14
        painter.end()


def _paint_token(painter: QPainter, room: QRectF, strip: MaskedExample, place: int) -> None:
    action = strip.actions[place]
    if action >= 0:
        _paint_marked(painter, room, strip.shown[place], action)
        if action != KEPT:
            under = QRectF(room.left() - 2, room.bottom() - 1, room.width() + 4, 15)
            ink = "accent" if action == HIDDEN else "b"
            write(painter, under, strip.tokens[place], ink, size=11, side=CENTER)
        return
    special = strip.tokens[place] in ("[CLS]", "[SEP]")
    write(painter, room.adjusted(0, 0, 4, 0), strip.shown[place], "muted" if special else "text")


def _paint_marked(painter: QPainter, room: QRectF, text: str, action: int, size: int = 13) -> None:
    colors = theme.current()
    fills = {HIDDEN: colors.accent_soft, SWAPPED: colors.b_soft, KEPT: colors.card}
    frames = {HIDDEN: colors.accent_soft, SWAPPED: colors.b, KEPT: colors.fine}
    paint_chip(painter, room, fills[action], frames[action], 1.2, is_dashed=action == SWAPPED)
    write(painter, room, text, size=size, side=CENTER)
