"""A text over its pieces: each word as it was written, the pieces under it, their ids, and what ties them.

Colour never stands alone: an unknown word has a broken frame, what is cut is struck through, a mark of the
model's own has a frame and no ground. Under the pieces may stand those of a second vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
)

from app import words
from app.look import theme
from app.plots.figure import Figure, Numbers, paint_ring
from app.plots.pieces_layout import (
    CHIP,
    GUTTER,
    IDS,
    TEXT,
    TIE,
    PieceChip,
    PlacedColumn,
    WordColumn,
    line_height,
    placed_columns,
)
from app.plots.scrolled import ScrolledFigure
from app.plots.strokes import CENTER, level_line, paint_chip, write
from app.plots.word_flow import word_after


class PiecesPlot(ScrolledFigure):
    """Columns that wrap at the width there is; a click, the arrow keys and others choose a piece.

    A target is the row of a piece in the model, -1 for none. What is chosen stays marked.
    """

    nothing = -1
    chosen = Signal(int)  # the row of a piece that was clicked or walked to
    hovered = Signal(int)  # the row of the piece under the pointer, -1 for none
    wanted_size = (480, 180)
    least_size = (200, 84)
    columns: tuple[WordColumn, ...] = ()
    has_beside = False
    _placed: Sequence[PlacedColumn] = ()
    _of_row: Mapping[int, tuple[PlacedColumn, int]] = MappingProxyType({})  # row -> where its piece stands

    @property
    def is_empty(self) -> bool:
        return not self.columns

    def set_columns(self, columns: Sequence[WordColumn], *, has_beside: bool = False) -> None:
        """Show these words. Args: has_beside: keep a line for the second vocabulary."""
        self.columns, self.has_beside = tuple(columns), has_beside
        self.place_anew()
        self._hovered = -1
        self._walked = self._walked if self._walked in self._of_row else -1
        self.setAccessibleDescription(self.summary())

    def clear(self) -> None:
        """Show nothing."""
        self.set_columns([])

    def set_current(self, row: int) -> None:
        """Mark the piece of a row; emits nothing. -1: none."""
        if row != self._walked:
            self._walked = row
            if row in self._of_row:
                self.reveal(row)
            self.canvas().update()

    def numbers(self) -> Numbers:
        names = ["text", "piece", "id", "segment", "characters", "kind", "second vocabulary"]
        rows: Numbers = [[*names]]
        for column in self.columns:
            beside = " ".join(chip.text for chip in column.beside)
            for number, chip in enumerate(column.chips):
                span = column.text[chip.start : chip.stop]
                first = beside if number == 0 else ""
                rows.append([column.text, chip.text, chip.id, chip.segment, span, chip.kind, first])
        return rows

    def chip_words(self, column: WordColumn, chip: PieceChip) -> str:
        """Return what is said of a piece under the pointer and to screen readers."""
        span = words.shorten(column.text[chip.start : chip.stop], 60)
        said = {
            "special": self.tr("{piece}, id {id}: a special token around a text"),
            "padding": self.tr("{piece}, id {id}: padding. The attention mask is 0, so it is not read"),
            "unknown": self.tr("{piece}, id {id}: the vocabulary cannot spell “{span}”"),
            "cut": self.tr("{piece}, id {id}: truncated, so the model does not see “{span}”"),
        }.get(chip.kind, self.tr("{piece}, id {id}, from “{span}”"))
        return said.format(piece=chip.text, id=chip.id, span=span)

    def place(self) -> None:
        """Wrap all columns at the width there is."""
        line = line_height(self.has_beside)
        self._placed = placed_columns(self.columns, max(240.0, self.canvas().width() - 6.0), line)
        self._of_row = {
            chip.row: (placed, number)
            for placed in self._placed
            for number, chip in enumerate(placed.column.chips)
        }
        self.set_content_height(int(self._placed[-1].room.top() + line) if self._placed else 0)

    def target_at(self, at: QPointF) -> int:
        for placed in self._placed:
            if not placed.room.adjusted(-2, 0, 2, 0).contains(at):
                continue
            for chip, rect in zip(placed.column.chips, placed.chips, strict=True):
                if rect.adjusted(-1, -2, 1, IDS).contains(at):
                    return chip.row
            if at.y() <= placed.room.top() + TEXT + TIE and placed.column.text:
                layout = placed.layout()
                for chip in placed.column.chips:
                    left, right = placed.span(layout, chip)
                    if left <= at.x() <= right:
                        return chip.row
        return -1

    def rect_of(self, target: int) -> QRectF:
        placed, number = self._of_row[target]
        return QRectF(placed.chips[number])

    def text_rect_of(self, row: int) -> QRectF:
        """Return where the characters of the piece of a row stand."""
        placed, number = self._of_row[row]
        left, right = placed.span(placed.layout(), placed.column.chips[number])
        return QRectF(left, placed.room.top(), right - left, TEXT)

    def words_of(self, target: int) -> str:
        placed, number = self._of_row[target]
        return self.chip_words(placed.column, placed.column.chips[number])

    def summary(self) -> str:
        return " ".join(chip.text for column in self.columns[:60] for chip in column.chips)

    def tip_at(self, at: QPointF) -> str:
        for placed in self._placed:
            for chip, rect in zip(placed.column.beside, placed.beside, strict=True):
                if rect.contains(at):
                    return self.chip_words(placed.column, chip)
        return super().tip_at(at)

    def after(self, event: QKeyEvent) -> int:
        rows = list(self._of_row)
        here = rows.index(self.current) if self.current in self._of_row else None
        place = word_after(event, here, [self.rect_of(row) for row in rows])
        return -1 if place is None else rows[place]

    def walk_to(self, target: int, event: QKeyEvent) -> None:
        super().walk_to(target, event)
        self.chosen.emit(target)

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self._mark(self._hovered, target)
        self.chosen.emit(target)

    def let_go(self) -> bool:
        return False  # what is chosen stays so

    def current_changed(self) -> None:
        self.hovered.emit(self._hovered)

    def reveal(self, target: int) -> None:
        room = self._of_row[target][0].room
        for y in (room.bottom(), room.top()):  # where both have no room, the text counts
            self._scroll.ensureVisible(int(room.left()), int(y), 0, 4)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.current < 0 and self._of_row and event.reason() != Qt.FocusReason.MouseFocusReason:
            first = next(iter(self._of_row))
            self.go_to(first)
            self.chosen.emit(first)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        Figure.focusOutEvent(self, event)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        line = line_height(self.has_beside)
        area = area.adjusted(0, -line, 0, line)
        marked = set() if self._saving else {self._walked, self._hovered}
        for number, placed in enumerate(self._placed):
            if self._begins_line(number):
                self._paint_gutter(painter, number)
            if area.intersects(placed.room):
                self._paint_column(painter, placed, marked)

    def _begins_line(self, number: int) -> bool:
        return number == 0 or self._placed[number].room.top() > self._placed[number - 1].room.top()

    def _paint_gutter(self, painter: QPainter, number: int) -> None:
        """Name the lines, on the first line of each text."""
        placed = self._placed[number]
        segment, top = placed.column.segment, placed.room.top()
        if number and self._placed[number - 1].column.segment == segment:
            return
        name, ink = (self.tr("B"), "b") if segment else (self.tr("A"), "accent")
        write(painter, QRectF(2, top, GUTTER, TEXT), name, ink, bold=True)
        top += TEXT + TIE
        lines = [(CHIP, self.tr("pieces")), (IDS, self.tr("ids"))]
        lines += [(CHIP, self.tr("second"))] if self.has_beside else []
        for height, name in lines:
            write(painter, QRectF(2, top, GUTTER, height), name, "muted", size=11)
            top += height

    def _paint_column(self, painter: QPainter, placed: PlacedColumn, marked: set[int]) -> None:
        column, room, layout = placed.column, placed.room, placed.layout()
        for chip, rect in zip(column.chips, placed.chips, strict=True):
            if column.text:
                span = placed.span(layout, chip)
                _paint_tie(painter, placed, span, rect, chip, is_marked=chip.row in marked)
            _paint_piece(painter, rect, chip, column.shade)
            if chip.row in marked:
                paint_ring(painter, rect.adjusted(-1, -1, 1, 1), 1.5)
        if column.text:
            is_cut = all(chip.kind == "cut" for chip in column.chips)
            painter.setPen(theme.current().color("muted" if is_cut else "text"))
            layout.draw(painter, QPointF(room.left(), room.top() + 1))
        for chip, rect in zip(column.chips, placed.chips, strict=True):
            under = QRectF(rect.left() - 8, rect.bottom(), rect.width() + 16, IDS)
            write(painter, under, str(chip.id), "muted", size=11, side=CENTER)
        for chip, rect in zip(column.beside, placed.beside, strict=True):
            _paint_piece(painter, rect, chip, column.shade, is_second=True)


def _fill(segment: int, shade: int) -> str:
    colors = theme.current()
    soft = colors.b_soft if segment else colors.accent_soft
    return theme.mix(colors.card, soft, 1.0 if shade else 0.55)


def _paint_tie(
    painter: QPainter,
    placed: PlacedColumn,
    span: tuple[float, float],
    rect: QRectF,
    chip: PieceChip,
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


def _paint_piece(
    painter: QPainter, rect: QRectF, chip: PieceChip, shade: int, *, is_second: bool = False
) -> None:
    colors = theme.current()
    ink = colors.b if chip.segment else colors.accent
    fill, frame, text = _fill(chip.segment, shade), _fill(chip.segment, shade), colors.text
    if chip.kind == "unknown":
        fill, frame, text = colors.card, colors.wrong, colors.wrong
    elif chip.kind in ("special", "padding"):
        fill, frame, text = colors.card, theme.mix(colors.card, ink, 0.45), colors.muted
    elif chip.kind == "cut":
        fill, frame, text = colors.card, colors.line, colors.muted
    elif is_second:
        fill, frame = colors.card, theme.mix(colors.card, ink, 0.45)
    paint_chip(painter, rect, fill, frame, 1.2, is_dashed=chip.kind == "unknown")
    metrics = QFontMetricsF(theme.ui_font())
    shown = metrics.elidedText(chip.text, Qt.TextElideMode.ElideMiddle, max(rect.width() - 4, 8))
    write(painter, rect, shown, QColor(text), side=CENTER)
    if chip.kind == "cut":
        half = metrics.horizontalAdvance(shown) / 2 + 1
        level_line(painter, rect.center().x() - half, rect.center().x() + half, rect.center().y())
