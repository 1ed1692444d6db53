"""What every picture has: a name, its numbers, a way to save both, and a ring when it has the keyboard.

A picture is saved as it looks, without the ring and the hover; its numbers are what was given to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QWidget

from app import words
from app.look import theme
from app.look.error_dialog import show_error
from app.look.files import ask_save
from app.look.inputs import ToolButton
from app.look.widgets import set_role
from app.plots.figure_files import KINDS, SCREEN_DPI, file_stem, picture_bytes, write_file
from app.plots.save_dialog import SaveDialog
from app.plots.strokes import paint_edge, painter_on
from engine.errors import UserError
from engine.text.table import write_csv

Numbers = list[list[str | float | int]]
SCALE = 2  # of PNG files beside the screen


class Figure(QWidget):
    """Base of all pictures. A child class paints itself in `paint` or holds a canvas, and gives `numbers`."""

    wanted_size = (320, 220)  # px
    least_size: tuple[int, int] | None = None  # px; None: no less than Qt finds
    is_dim = False  # whether a newer answer is on its way

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes do, and what stands beside them
        self._title = ""
        self._empty_text = ""
        self._saving = False
        self.caption: tuple[tuple[str, str], ...] = ()
        self.set_title(title)
        theme.on_theme_change(self, self.update)

    @property
    def title(self) -> str:
        return self._title

    def set_title(self, title: str) -> None:
        """Name the picture, for screen readers and as the file name that is offered."""
        self._title = title
        self.setAccessibleName(title)

    def set_caption(self, lines: Iterable[tuple[str, str]]) -> None:
        """Say what a person must know of the picture where it stands alone: (name, value) pairs.

        Such as the model, its fingerprint, the text, layer and head. Saved beside the picture.
        """
        self.caption = tuple(lines)

    def set_empty_text(self, text: str) -> None:
        """Say what fills this picture while it is empty."""
        self._empty_text = text
        self.update()

    @property
    def empty_text(self) -> str:
        return self._empty_text

    @property
    def is_empty(self) -> bool:
        return len(self.numbers()) < 2

    def numbers(self) -> Numbers:
        """Return the table behind the picture, the header first."""
        raise NotImplementedError

    def canvas(self) -> QWidget:
        """Return the widget that is saved as the picture."""
        return self

    def marks(self) -> list[tuple[QRectF, str]]:
        """Return what answers to the pointer in a shared picture: boxes on the canvas, and their words."""
        return []

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        if dim != self.is_dim:
            self.is_dim = dim
            self.canvas().update()

    def set_saving(self, saving: bool) -> None:
        """Leave out what belongs to the screen only, such as the hover."""
        self._saving = saving

    def menu(self, parent: QWidget | None = None) -> QMenu:
        """Return the menu of what can be taken along."""
        menu = QMenu(parent or self)
        actions = (
            (self.tr("Save picture…"), self.save_picture),
            (self.tr("Copy numbers"), self.copy_numbers),
            (self.tr("Save numbers…"), self.save_numbers),
        )
        for text, call in actions:
            menu.addAction(text, call)
        menu.aboutToShow.connect(lambda: self._enable(menu))
        self._enable(menu)
        return menu

    def save_button(self) -> QToolButton:
        """Return a small "Save…" button with the same menu, for the corner of a card."""
        result = ToolButton()
        result.setText(self.tr("Save…"))
        set_role(result, "corner")
        result.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        result.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        result.setAccessibleName(self.tr("Save {title}").format(title=self._title))
        result.setToolTip(self.tr("Save the picture or its numbers"))
        result.setMenu(self.menu(result))
        return result

    def save_picture(self) -> None:
        """Ask where to, how wide and what beside it, and save."""
        dialog = SaveDialog(self._title, self.canvas(), self._write, self.window())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save_numbers(self) -> None:
        """Ask where to, and save the numbers."""
        ask_save(
            self,
            self.tr("Save numbers"),
            self._write_numbers,
            name="save_numbers_dialog",
            suggested=file_stem(self._title) + ".csv",
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
        )

    def _write(self, path: Path, width_mm: float, dpi: int) -> None:
        save_figure(self, path, width_mm=width_mm, dpi=dpi)

    def _write_numbers(self, path: str) -> None:
        try:
            save_figure(self, path)
        except UserError as error:
            show_error(error, self)

    def copy_numbers(self) -> None:
        """Put the numbers on the clipboard, tab-separated."""
        lines = ("\t".join(str(cell) for cell in row) for row in self.numbers())
        QApplication.clipboard().setText("\n".join(lines))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint what lies in a part of the canvas; a picture without a canvas, all of it, while not empty."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.canvas() is self and not self.is_empty:
            self.paint(painter, QRectF(self.rect()))
        self.paint_frame(painter)
        painter.end()

    def paint_frame(self, painter: QPainter) -> None:
        """Paint the words for an empty picture and the focus ring."""
        if self.is_empty and self._empty_text:
            painter.setPen(theme.current().color("muted"))
            inner = self.rect().adjusted(24, 8, -24, -8)
            painter.drawText(inner, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._empty_text)
        if self.hasFocus() and not self._saving:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_edge(painter, QRectF(self.ring_room()).adjusted(1, 1, -1, -1), "focus", 2, 5)

    def ring_room(self) -> QRect:
        """Return what the focus ring goes round."""
        return self.rect()

    def sizeHint(self) -> QSize:
        return QSize(*self.wanted_size)

    def minimumSizeHint(self) -> QSize:
        return QSize(*self.least_size) if self.least_size else super().minimumSizeHint()

    def _enable(self, menu: QMenu) -> None:
        for action in menu.actions():
            action.setEnabled(not self.is_empty)


def save_figure(
    figure: QWidget, path: Path | str, *, width_mm: float | None = None, dpi: int = SCREEN_DPI * SCALE
) -> None:
    """Save a picture by the suffix of `path`: .png, .svg, .pdf; .csv, its numbers; .txt, its caption.

    The file is written beside and renamed, so that an older one is never half lost.
    Args:   width_mm: how wide the picture is printed; None: as wide as on screen. dpi: dots an inch of a PNG.
    Raises: UserError if the suffix is another one or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".csv" and isinstance(figure, Figure):
        header, *rows = figure.numbers()
        # the mark tells spreadsheets it is UTF-8
        write_csv(path, [str(name) for name in header], rows, bom=True)
    elif kind == ".txt" and isinstance(figure, Figure):
        write_file(path, caption_text(figure).encode())
    elif kind in KINDS:
        with clean_canvas(figure) as canvas:
            data = picture_bytes(canvas, kind, width_mm, dpi)
        write_file(path, data)
    else:
        raise UserError(
            words.translate(
                "figure", "{path} cannot be saved. Its name must end in .png, .svg, .pdf, .csv or .txt."
            ),
            path=path.name,
        )


def caption_text(figure: Figure) -> str:
    """Return the caption as it is saved: the title, then a line for each thing that is to be known."""
    lines = [figure.title, *(words.captioned(name, value) for name, value in figure.caption)]
    return "\n".join(line for line in lines if line.strip()) + "\n"


def paint_ring(painter: QPainter, rect: QRect | QRectF, width: float = 2) -> None:
    """Paint the mark around the one cell or bar that the keyboard or the mouse is on."""
    half = width / 2
    paint_edge(painter, QRectF(rect).adjusted(half, half, -half, -half), width=width)


def ink_on(background: str) -> QColor:
    """Return a text colour with a contrast of at least 4.5:1 on any background."""
    colors = theme.current()
    for candidate in (colors.text, colors.on_accent):
        if theme.contrast(candidate, background) >= 4.5:
            return QColor(candidate)
    return QColor(max("#000000", "#ffffff", key=lambda ink: theme.contrast(ink, background)))


@contextmanager
def clean_canvas(figure: QWidget) -> Iterator[QWidget]:
    """Have a figure leave out what belongs to the screen only; give the widget that is painted."""
    if not isinstance(figure, Figure):
        yield figure
        return
    figure.set_saving(True)
    try:
        yield figure.canvas()
    finally:
        figure.set_saving(False)
        figure.update()
