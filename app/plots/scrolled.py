"""Pictures that are as tall as they need to be and scroll; among them those of rows of one height."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.look import theme
from app.look.layout import Margins, column
from app.look.widgets import set_role
from app.plots.pointed import PointedFigure, Target, row_after
from app.plots.strokes import paint_edge, painter_on


class ScrolledFigure(PointedFigure):
    """Base of the pictures that are painted inside a scroll area; the canvas in it is what is saved.

    A child class paints in `paint`, and says with `set_content_height` how much room that takes.
    """

    rim: Margins = 3  # px around the canvas

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._canvas = _Canvas(self)
        self._scroll = QScrollArea(self, widgetResizable=True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._canvas)
        column(self._scroll, margins=self.rim, parent=self)
        theme.on_theme_change(self, self._canvas.update)

    def canvas(self) -> QWidget:
        return self._canvas

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint what lies in a part of the canvas."""
        raise NotImplementedError

    def place(self) -> None:
        """Lay out anew what depends on the canvas's width."""

    def place_anew(self) -> None:
        """Lay out other things than before; shown first, for only then has the canvas its width."""
        self._scroll.setVisible(not self.is_empty)
        self.place()

    def set_content_height(self, height: int) -> None:
        """Make room for what is painted, and show it if there is something."""
        self._scroll.setVisible(not self.is_empty)
        self._canvas.setMinimumHeight(height)  # which a picture that is not in view would not shrink to
        self._canvas.resize(self._canvas.width(), max(height, self._scroll.viewport().height()))
        self.updateGeometry()
        self._canvas.update()
        self.update()

    def reveal(self, target: Target) -> None:
        room = self.rect_of(target)
        self._scroll.ensureVisible(0, int(room.center().y()), 0, int(room.height()))


class RowsFigure(ScrolledFigure):
    """Base of the pictures of rows of one height; up, down, Home, End and the page keys walk them.

    A target is a row's place from the top, None for none.
    """

    row_height = 24
    head = 0  # px over the first row

    @property
    def num_rows(self) -> int:
        raise NotImplementedError

    def things(self) -> Iterable[Target] | None:
        return range(self.num_rows)

    @property
    def is_empty(self) -> bool:
        return not self.num_rows

    @property
    def content_height(self) -> int:
        """How high all rows are together."""
        return self.top_of(self.num_rows)

    def top_of(self, row: int) -> int:
        """Return where a row begins."""
        return self.head + row * self.row_height

    def rows_changed(self) -> None:
        """Show other rows than before; none of them is marked."""
        self.set_content_height(self.content_height)
        self.forget()

    def rows_grown(self) -> None:
        """Show the rows as they are now; a row that is still there stays marked."""
        self.set_content_height(self.content_height)
        if self.current is not None and self.current >= self.num_rows:
            self.forget()
        self.describe()

    def rect_of(self, target: int) -> QRectF:
        return QRectF(0, self.top_of(target), self._canvas.width(), self.row_height)

    def target_at(self, at: QPointF) -> int | None:
        row = int((at.y() - self.head) // self.row_height)
        return row if 0 <= row < self.num_rows else None

    def after(self, event: QKeyEvent) -> int | None:
        return row_after(event, self.current, self.num_rows)

    def rows_in(self, area: QRectF) -> Iterator[tuple[int, QRectF]]:
        """Return the rows that lie in a part of the canvas, each with its place."""
        for row in range(self.num_rows):
            room = self.rect_of(row)
            if room.bottom() >= area.top() and room.top() <= area.bottom():
                yield row, room

    def paint_mark(self, painter: QPainter) -> None:
        """Paint the ring around the row that is marked; a saved picture has none."""
        if self.current is not None and not self._saving:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_edge(painter, self.rect_of(self.current).adjusted(1, 1, -1, -1), width=1.5, radius=4)


class _Canvas(QWidget):
    """Where a scrolled picture is painted. The mouse over it is the picture's."""

    def __init__(self, figure: ScrolledFigure) -> None:
        super().__init__()
        self._figure = figure
        self.setMouseTracking(True)
        set_role(self, "clear")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._figure.paint(painter, QRectF(event.rect()))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._figure.place()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._figure.mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._figure.mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._figure.mouseReleaseEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._figure.leaveEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            return self._figure.event(event)
        return super().event(event)
