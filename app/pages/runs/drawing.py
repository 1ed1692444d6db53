"""How the table of runs is painted: ticks with their letters, folds, scores as pictures on one scale."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from app.look import theme
from app.look.direction import paint_line
from app.look.labels import PART
from app.pages.runs.lines_model import LEFT, NAME, PICTURE, RIGHT, SCORE, TICK, Index, RunsModel
from app.pages.runs.rows import RunRow, scale_words, state_line
from app.plots.interval import paint_interval

ROW = 24  # px
BOX = 14
PAD = 8


class RunsHeading(QHeaderView):
    """The headings, with the scale over the pictures."""

    def __init__(self, table: QTableView, runs: RunsModel) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._table, self._runs = table, runs
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumHeight(28)
        self.setMinimumSectionSize(1)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        runs, colors = self._runs, theme.current()
        column = runs.columns[section]
        painter.save()
        painter.fillRect(rect, colors.color("card"))
        painter.setPen(colors.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        area = QRectF(rect)
        painter.setFont(theme.ui_font(11 if column == PICTURE else 12))
        sorts = runs.state.sort == column
        painter.setPen(colors.color("text" if sorts else "muted"))
        if column == PICTURE:
            self._paint_scale(painter, area)
        else:
            inner = rect.adjusted(PAD + (ROW if column == NAME else 0), 0, -PAD, 0)
            said = painter.fontMetrics().elidedText(
                runs.heading(column), Qt.TextElideMode.ElideRight, inner.width() + 2
            )
            paint_line(painter, QRectF(inner), LEFT if column == NAME else RIGHT, said)
        painter.restore()

    def _paint_scale(self, painter: QPainter, area: QRectF) -> None:
        metrics = self._runs.shown.metrics
        if len(metrics) > 1:
            said = QCoreApplication.translate("runs", "one scale per metric")
            side, width = Qt.TextElideMode.ElideRight, int(area.width()) - 2 * PAD
            said = painter.fontMetrics().elidedText(said, side, width)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, said)
        if len(metrics) != 1:
            return
        scale = self._runs.scale(metrics[0])
        ticks = scale.ticks(area.width())
        for value, said in zip(ticks, scale_words(metrics[0], ticks), strict=True):
            x = scale.x_of(value, area)
            painter.drawText(
                QRectF(x - 30, area.top(), 60, area.height()), Qt.AlignmentFlag.AlignCenter, said
            )

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 28)


class RunsDrawing(QStyledItemDelegate):
    """Paints the cells: the tick with its letter, the fold, the score as a picture."""

    def __init__(self, table: QTableView, runs: RunsModel) -> None:
        super().__init__(table)
        self._table, self._runs = table, runs

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        runs = self._runs
        row, column = runs.row(index), runs.columns[index.column()]
        area = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_back(painter, area, index, row)
        if column == TICK:
            self._paint_tick(painter, area, row)
        elif column == NAME:
            self._paint_name(painter, area, index, row)
        elif column == PICTURE:
            self._paint_picture(painter, area, row)
        else:
            self._paint_text(painter, area.adjusted(PAD, 0, -PAD, 0), index)
        painter.restore()

    def _paint_back(self, painter: QPainter, area: QRectF, index: Index, row: RunRow) -> None:
        color = self._color_of(row)
        if color is not None:
            faint = theme.mix(theme.current().card, color.name(), 0.1)
            painter.fillRect(area, QColor(faint))
        current = self._table.currentIndex()
        if current.isValid() and current.row() == index.row():
            painter.fillRect(
                area,
                theme.current().color("hover")
                if color is None
                else QColor(color.red(), color.green(), color.blue(), 30),
            )
            if self._table.hasFocus():
                painter.setPen(QPen(theme.current().color("focus"), 1))
                painter.drawLine(area.topLeft(), area.topRight())
                painter.drawLine(area.bottomLeft(), area.bottomRight())

    def _color_of(self, row: RunRow) -> QColor | None:
        """Return the colour of a ticked line."""
        ticked = self._runs.state.ticked
        return QColor(theme.category(ticked.index(row.key))) if row.key in ticked else None

    def _paint_tick(self, painter: QPainter, area: QRectF, row: RunRow) -> None:
        colors, color = theme.current(), self._color_of(row)
        box = QRectF(area.left() + 4, area.center().y() - BOX / 2, BOX, BOX)
        painter.setPen(QPen(color or colors.color("muted"), 1))
        painter.setBrush(color or colors.color("field"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if color is None:
            return
        painter.setPen(QPen(colors.color("on_accent"), 1.8))
        x, y = box.left(), box.top()
        painter.drawPolyline([QPointF(x + 3.5, y + 7.5), QPointF(x + 6, y + 10), QPointF(x + 10.5, y + 4.5)])
        painter.setPen(color)
        painter.setFont(theme.ui_font(bold=True))
        painter.drawText(area.adjusted(BOX + 10, 0, 0, 0), LEFT, self._runs.state.letter(row.key))

    def _paint_name(self, painter: QPainter, area: QRectF, index: Index, row: RunRow) -> None:
        colors = theme.current()
        if row.is_group:
            icon = theme.icon("chevron-down" if row.is_open else "chevron-right", "muted")
            icon.paint(painter, QRect(int(area.left()) + 4, int(area.center().y()) - 8, 16, 16))
        indent = ROW
        if row.is_seed:
            painter.setPen(QPen(colors.color("line"), 1))
            x, last = area.left() + 12, self._is_last_seed(index)
            bottom = area.center().y() if last else area.bottom()
            painter.drawLine(QPointF(x, area.top()), QPointF(x, bottom))
            painter.drawLine(QPointF(x, area.center().y()), QPointF(x + 12, area.center().y()))
            indent += 16
        inner = area.adjusted(indent, 0, -PAD, 0)
        self._paint_text(painter, inner, index)
        used = painter.fontMetrics().horizontalAdvance(row.name) + 8
        said = PART.join(row.facts.tags) if not row.is_seed else ""
        if said and inner.width() - used > 40:
            painter.setFont(theme.ui_font(11))
            painter.setPen(colors.color("muted"))
            rest = inner.adjusted(used, 0, 0, 0)
            painter.drawText(
                rest,
                LEFT,
                painter.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, int(rest.width())),
            )

    def _is_last_seed(self, index: Index) -> bool:
        rows = self._runs.shown.rows
        return index.row() + 1 >= len(rows) or not rows[index.row() + 1].is_seed

    def _paint_picture(self, painter: QPainter, area: QRectF, row: RunRow) -> None:
        colors, runs = theme.current(), self._runs
        if row.reached is None:
            self._paint_state(painter, area, row)
            return
        found = row.reached
        scale = runs.scale(found.metric)
        painter.setPen(QPen(colors.color("line"), 1, Qt.PenStyle.DotLine))
        for tick in scale.ticks(area.width()) if len(runs.shown.metrics) == 1 else ():
            x = scale.x_of(tick, area)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        color = self._color_of(row) or colors.color("muted" if row.is_seed else "text")
        paint_interval(painter, area, scale, found.mean, found.interval, found.values, color)

    def _paint_state(self, painter: QPainter, area: QRectF, row: RunRow) -> None:
        """Paint where a run is, or where it ended and why."""
        level, said = state_line(row.facts, self._runs.state.measure.split, row.heard)
        colors = theme.current()
        left = area.left() + 10
        if level != "note":
            theme.icon(level, level).paint(painter, QRect(int(left), int(area.center().y()) - 8, 16, 16))
            left += 22
        is_lost = row.heard is not None and not row.heard.is_connected  # since when needs the room
        if row.facts.state == "running" and row.facts.num_steps and not is_lost:
            bar = QRectF(left, area.center().y() - 2, 48, 4)
            painter.fillRect(bar, colors.color("track"))
            share = min(1.0, row.facts.step / row.facts.num_steps)
            painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * share, 4), colors.color("accent"))
            left += 56
        painter.setPen(QColor(colors.level(level)))
        painter.setFont(theme.ui_font())
        inner = QRectF(left, area.top(), area.right() - PAD - left, area.height())
        painter.drawText(
            inner,
            LEFT,
            painter.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, int(inner.width())),
        )

    def _paint_text(self, painter: QPainter, area: QRectF, index: Index) -> None:
        painter.setFont(index.data(Qt.ItemDataRole.FontRole))
        row, runs = self._runs.row(index), self._runs
        color = index.data(Qt.ItemDataRole.ForegroundRole)
        if runs.columns[index.column()] == SCORE and self._color_of(row) is not None:
            color = theme.current().color("text")
        painter.setPen(color)
        text = str(index.data() or "")
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()) + 1)
        painter.drawText(area, index.data(Qt.ItemDataRole.TextAlignmentRole), shown)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW)
