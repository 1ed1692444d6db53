"""Where the words and pieces of a text stand, and how they are painted; only what is on screen is painted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextLayout,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.widgets import set_role
from app.plots.figure import paint_ring
from app.plots.word_flow import is_right_to_left

if TYPE_CHECKING:
    from app.plots.pieces import Chip, Column, PiecesPlot

GUTTER, PAD = 52.0, 6.0  # px left of a line; beside a piece's text
TEXT, TIE, CHIP, IDS, BESIDE, GAP = 20.0, 9.0, 22.0, 15.0, 25.0, 14.0  # px, from the top of a line
SPACE, NEAR, JOINED = 12.0, 3.0, 5.0  # px: between words, between the pieces of one, words without a blank
NARROWEST = 18.0  # px of a piece


@dataclass(slots=True)
class _Placed:
    """A column and where it stands. chips, beside: a rectangle for each piece."""

    column: Column
    room: QRectF
    chips: list[QRectF] = field(default_factory=list)
    beside: list[QRectF] = field(default_factory=list)


class PiecesCanvas(QWidget):
    """All columns, placed once for a width."""

    def __init__(self, plot: PiecesPlot) -> None:
        super().__init__()
        self._plot = plot
        self._placed: list[_Placed] = []
        self._of_row: dict[int, tuple[int, int]] = {}  # row -> column, chip
        self._hovered: tuple[int, int] | None = None
        self.setMouseTracking(True)
        set_role(self, "clear")

    @property
    def line(self) -> float:
        """Height of a line of text with all that stands under it."""
        return TEXT + TIE + CHIP + IDS + GAP + (BESIDE if self._plot.has_beside else 0.0)

    # ---- placing

    def place(self) -> None:
        """Wrap all columns at the width there is."""
        self._placed, self._hovered = [], None
        columns, right = self._plot.columns, max(240.0, self.width() - 6.0)
        measured = [_measure(column, right - GUTTER) for column in columns]
        x, y = GUTTER, 2.0
        for number, (column, (room, chips, beside)) in enumerate(zip(columns, measured, strict=True)):
            turns = number > 0 and column.segment != columns[number - 1].segment
            x += (JOINED if column.joined else SPACE) if x > GUTTER else 0
            needed = room
            if column.text and number + 1 < len(columns) and not columns[number + 1].text:
                needed += SPACE + measured[number + 1][0]  # so that no mark stands alone on a line
            if x > GUTTER and (turns or x + needed > right):
                x, y = GUTTER, y + self.line
            placed = _Placed(column, QRectF(x, y, room, self.line - GAP))
            top = y + TEXT + TIE
            placed.chips = _beside_each_other(chips, x, top, CHIP, x + room)
            placed.beside = _beside_each_other(beside, x, top + CHIP + IDS, CHIP, x + room)
            self._placed.append(placed)
            x += room
        if is_right_to_left([column.text for column in self._plot.columns if column.text]):
            self._mirror(right)
        self._of_row = {
            chip.row: (number, place)
            for number, placed in enumerate(self._placed)
            for place, chip in enumerate(placed.column.chips)
        }
        self.setMinimumHeight(int(y + self.line) if self._placed else 0)
        self.update()

    def _mirror(self, right: float) -> None:
        for placed in self._placed:
            for rect in (placed.room, *placed.chips, *placed.beside):
                rect.moveRight(right - (rect.left() - GUTTER))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.place()

    def sizeHint(self) -> QSize:
        return QSize(480, self.minimumHeight())

    # ---- which piece

    def chip_of(self, row: int) -> tuple[Column | None, Chip | None]:
        """Return the column and piece of a row."""
        number, place = self._of_row.get(row, (-1, -1))
        if number < 0:
            return None, None
        column = self._placed[number].column
        return column, column.chips[place]

    def show_row(self, row: int) -> None:
        """Scroll to the piece of a row."""
        if row in self._of_row:
            room = self._placed[self._of_row[row][0]].room
            self._plot.reveal(room.left(), room.bottom())
            self._plot.reveal(room.left(), room.top())  # where both have no room, the text counts

    def next_row(self, row: int, by: int) -> int:
        """Return the row of the piece before or after; the first where there is none yet."""
        rows = list(self._of_row)
        if row not in self._of_row:
            return rows[0] if rows else -1
        return rows[min(max(rows.index(row) + by, 0), len(rows) - 1)]

    def end_row(self, *, last: bool) -> int:
        """Return the row of the first or the last piece."""
        rows = list(self._of_row)
        return rows[-1 if last else 0] if rows else -1

    def row_on_line(self, row: int, by: int) -> int:
        """Return the row of the nearest piece a line above or below; the same where there is none."""
        if row not in self._of_row:
            return self.next_row(row, 1)
        number, place = self._of_row[row]
        here = self._placed[number].chips[place]
        wanted = self._placed[number].room.top() + by * self.line
        near = [
            (abs(rect.center().x() - here.center().x()), chip.row)
            for placed in self._placed
            if abs(placed.room.top() - wanted) < 1
            for rect, chip in zip(placed.chips, placed.column.chips, strict=True)
        ]
        return min(near)[1] if near else row

    def rect_of(self, row: int) -> QRectF:
        """Return where the piece of a row stands."""
        number, place = self._of_row[row]
        return QRectF(self._placed[number].chips[place])

    def text_rect_of(self, row: int) -> QRectF:
        """Return where the characters of the piece of a row stand."""
        number, place = self._of_row[row]
        placed = self._placed[number]
        left, right = _span(_layout(placed), placed, placed.column.chips[place])
        return QRectF(left, placed.room.top(), right - left, TEXT)

    # ---- the pointer

    def _at(self, at: QPointF) -> tuple[int, int] | None:
        for number, placed in enumerate(self._placed):
            if not placed.room.adjusted(-2, 0, 2, 0).contains(at):
                continue
            for place, rect in enumerate(placed.chips):
                if rect.adjusted(-1, -2, 1, IDS).contains(at):
                    return number, place
            if at.y() <= placed.room.top() + TEXT + TIE and placed.column.text:
                layout = _layout(placed)
                for place, chip in enumerate(placed.column.chips):
                    left, right = _span(layout, placed, chip)
                    if left <= at.x() <= right:
                        return number, place
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._plot.setFocus(Qt.FocusReason.MouseFocusReason)
        found = self._at(event.position())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            self._plot.choose(self._placed[found[0]].column.chips[found[1]].row)

    def _hover(self, found: tuple[int, int] | None) -> None:
        if found != self._hovered:
            self._hovered = found
            shape = Qt.CursorShape.ArrowCursor if found is None else Qt.CursorShape.PointingHandCursor
            self.setCursor(shape)
            row = -1 if found is None else self._placed[found[0]].column.chips[found[1]].row
            self._plot.hovered.emit(row)
            self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            asked = cast(QHelpEvent, event)
            found = self._at(QPointF(asked.pos()))
            said = ""
            if found is not None:
                column = self._placed[found[0]].column
                said = self._plot.chip_words(column, column.chips[found[1]])
            else:
                said = self._beside_words(QPointF(asked.pos()))
            QToolTip.showText(asked.globalPos(), tip(said), self)
            return True
        return super().event(event)

    def _beside_words(self, at: QPointF) -> str:
        for placed in self._placed:
            for chip, rect in zip(placed.column.beside, placed.beside, strict=True):
                if rect.contains(at):
                    return self._plot.chip_words(placed.column, chip)
        return ""

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(event.rect()).adjusted(0, -self.line, 0, self.line)
        marked = set()
        if not self._plot.is_saving:
            marked = {self._of_row.get(self._plot.current), self._hovered} - {None}
        for number, placed in enumerate(self._placed):
            if self._begins_line(number):
                self._paint_gutter(painter, number)
            if area.intersects(placed.room):
                self._paint_column(
                    painter, placed, {spot[1] for spot in marked if spot and spot[0] == number}
                )
        painter.end()

    def _begins_line(self, number: int) -> bool:
        return number == 0 or self._placed[number].room.top() > self._placed[number - 1].room.top()

    def _paint_gutter(self, painter: QPainter, number: int) -> None:
        """Name the lines, on the first line of each text."""
        placed, colors = self._placed[number], theme.current()
        segment, top = placed.column.segment, placed.room.top()
        if number and self._placed[number - 1].column.segment == segment:
            return
        painter.setFont(theme.ui_font(13, bold=True))
        painter.setPen(colors.color("b" if segment else "accent"))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        name = words.translate("PiecesPlot", "B") if segment else words.translate("PiecesPlot", "A")
        painter.drawText(QRectF(2, top, GUTTER, TEXT), left, name)
        painter.setFont(theme.ui_font(11))
        painter.setPen(colors.color("muted"))
        top += TEXT + TIE
        lines = [(CHIP, words.translate("PiecesPlot", "pieces")), (IDS, words.translate("PiecesPlot", "ids"))]
        lines += [(CHIP, words.translate("PiecesPlot", "second"))] if self._plot.has_beside else []
        for height, name in lines:
            painter.drawText(QRectF(2, top, GUTTER, height), left, name)
            top += height

    def _paint_column(self, painter: QPainter, placed: _Placed, marked: set[int]) -> None:
        column, room, layout = placed.column, placed.room, _layout(placed)
        for place, (chip, rect) in enumerate(zip(column.chips, placed.chips, strict=True)):
            if column.text:
                span = _span(layout, placed, chip)
                _paint_tie(painter, placed, span, rect, chip, is_marked=place in marked)
            _paint_chip(painter, rect, chip, column.shade)
            if place in marked:
                paint_ring(painter, rect.adjusted(-1, -1, 1, 1), 1.5)
        if column.text:
            is_cut = all(chip.kind == "cut" for chip in column.chips)
            painter.setPen(theme.current().color("muted" if is_cut else "text"))
            layout.draw(painter, QPointF(room.left(), room.top() + 1))
        painter.setFont(theme.ui_font(11))
        for chip, rect in zip(column.chips, placed.chips, strict=True):
            painter.setPen(theme.current().color("muted"))
            under = QRectF(rect.left() - 8, rect.bottom(), rect.width() + 16, IDS)
            painter.drawText(under, Qt.AlignmentFlag.AlignCenter, str(chip.id))
        for chip, rect in zip(column.beside, placed.beside, strict=True):
            _paint_chip(painter, rect, chip, column.shade, is_second=True)


def _measure(column: Column, most: float) -> tuple[float, list[float], list[float]]:
    """Return how wide a column is, at most `most`, and how wide each of its pieces would like to be."""
    plain, small = QFontMetricsF(theme.ui_font()), QFontMetricsF(theme.ui_font(11))
    chips = [
        max(plain.horizontalAdvance(chip.text), small.horizontalAdvance(str(chip.id)) - PAD)
        for chip in column.chips
    ]
    beside = [plain.horizontalAdvance(chip.text) for chip in column.beside]
    lines = [[max(NARROWEST, width + 2 * PAD) for width in line] for line in (chips, beside)]
    sums = [sum(line) + NEAR * max(0, len(line) - 1) for line in lines]
    return min(most, max(plain.horizontalAdvance(column.text), *sums)), lines[0], lines[1]


def _beside_each_other(
    widths: list[float], x: float, top: float, height: float, right: float
) -> list[QRectF]:
    """Return a rectangle for each width; what has no room left of `right` gets less."""
    total = sum(widths) + NEAR * max(0, len(widths) - 1)
    scale = min(1.0, (right - x) / total) if total else 1.0
    found = []
    for width in widths:
        found.append(QRectF(x, top, width * scale, height))
        x += (width + NEAR) * scale
    return found


def _layout(placed: _Placed) -> QTextLayout:
    """Return a column's text laid out on one line, in any direction."""
    layout = QTextLayout(placed.column.text, theme.ui_font())
    layout.beginLayout()
    line = layout.createLine()
    if line.isValid():
        line.setLineWidth(max(placed.room.width(), 1.0) + 4)
    layout.endLayout()
    return layout


def _span(layout: QTextLayout, placed: _Placed, chip: Chip) -> tuple[float, float]:
    """Return from where to where the characters of a piece stand."""
    if not layout.lineCount():
        return placed.room.left(), placed.room.left()
    text, line = placed.column.text, layout.lineAt(0)
    edges = [
        cast(tuple[float, int], line.cursorToX(len(text[:at].encode("utf-16-le")) // 2))[0]
        for at in (chip.start, chip.stop)
    ]
    return placed.room.left() + min(edges), placed.room.left() + max(edges)


def _fill(segment: int, shade: int) -> str:
    colors = theme.current()
    soft = colors.b_soft if segment else colors.accent_soft
    return theme.mix(colors.card, soft, 1.0 if shade else 0.55)


def _paint_tie(
    painter: QPainter,
    placed: _Placed,
    span: tuple[float, float],
    rect: QRectF,
    chip: Chip,
    *,
    is_marked: bool,
) -> None:
    """Paint what ties a piece to its characters: a band from those down to it."""
    if chip.kind in ("special", "padding"):
        return
    top = placed.room.top() + TEXT
    left, right = span[0] + 0.5, max(span[1] - 0.5, span[0] + 1.5)
    band = QPainterPath(QPointF(left, top))
    band.lineTo(right, top)
    band.cubicTo(
        right, top + TIE * 0.5, rect.right() - 4, rect.top() - TIE * 0.5, rect.right() - 4, rect.top()
    )
    band.lineTo(rect.left() + 4, rect.top())
    band.cubicTo(rect.left() + 4, rect.top() - TIE * 0.5, left, top + TIE * 0.5, left, top)
    colors = theme.current()
    ink = colors.b if placed.column.segment else colors.accent
    ink = colors.muted if chip.kind == "cut" else ink
    ground = theme.mix(colors.card, ink, 0.45 if is_marked else 0.16)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawPath(band)
    if is_marked:
        painter.drawRoundedRect(QRectF(left - 1, top - TEXT + 1, right - left + 2, TEXT - 1), 3, 3)
    painter.setBrush(QColor(theme.mix(colors.card, ink, 0.8)))
    painter.drawRect(QRectF(left, top - 1.5, right - left, 1.5))


def _paint_chip(painter: QPainter, rect: QRectF, chip: Chip, shade: int, *, is_second: bool = False) -> None:
    colors = theme.current()
    ink = colors.b if chip.segment else colors.accent
    fill, frame, text = _fill(chip.segment, shade), _fill(chip.segment, shade), colors.text
    style = Qt.PenStyle.SolidLine
    if chip.kind == "unknown":
        fill, frame, text, style = colors.card, colors.wrong, colors.wrong, Qt.PenStyle.DashLine
    elif chip.kind in ("special", "padding"):
        fill, frame, text = colors.card, theme.mix(colors.card, ink, 0.45), colors.muted
    elif chip.kind == "cut":
        fill, frame, text = colors.card, colors.line, colors.muted
    elif is_second:
        fill, frame = colors.card, theme.mix(colors.card, ink, 0.45)
    painter.setPen(QPen(QColor(frame), 1.2, style))
    painter.setBrush(QColor(fill))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.setFont(theme.ui_font())
    painter.setPen(QColor(text))
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(chip.text, Qt.TextElideMode.ElideMiddle, max(rect.width() - 4, 8))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, shown)
    if chip.kind == "cut":
        half = metrics.horizontalAdvance(shown) / 2 + 1
        painter.drawLine(rect.center() - QPointF(half, 0), rect.center() + QPointF(half, 0))
