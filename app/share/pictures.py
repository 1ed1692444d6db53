"""A figure as a drawing to send: painted for light and for dark, with what answers to the pointer."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.look import theme
from app.plots.figure import Figure, clean_canvas
from app.plots.figure_files import picture_bytes
from app.words import translate
from engine.report.blocks import Drawing, Mark, Table

LONGEST_WORDS = 2_000  # that are said of one thing


def drawing_of(figure: Figure, *, has_words: bool = True) -> Drawing:
    """Return a figure as it looks, on the window's thread. Args: has_words: with its numbers and what is said
    of its things, which may be people's texts.
    """
    with clean_canvas(figure) as canvas:
        light, dark = (_painted(figure, canvas, colors) for colors in (theme.LIGHT, theme.DARK))
    marks = [
        Mark(box.x(), box.y(), box.width(), box.height(), said[:LONGEST_WORDS])
        for box, said in (figure.marks() if has_words else ())
    ]
    caption = tuple((name, value) for name, value in figure.caption if value.strip())
    return Drawing(light, figure.title, dark, caption, marks, numbers_of(figure) if has_words else None)


def numbers_of(figure: Figure) -> Table | None:
    """Return the table behind a figure, folded; None where it has no rows."""
    head, *rows = figure.numbers()
    if not rows:
        return None
    said = [tuple(map(_said, row)) for row in rows]
    return Table(tuple(map(str, head)), said, translate("share", "Numbers of this figure"), is_folded=True)


def _said(cell: str | float | int) -> str:
    """Return a cell as it is read: a number with as many digits as say something."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _painted(figure: Figure, canvas: QWidget, colors: theme.Theme) -> str:
    with theme.worn(figure, colors):
        return picture_bytes(canvas, ".svg", None, 0).decode("utf-8", "replace")
