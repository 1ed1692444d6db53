"""The arcs: the strongest weights as lines between tokens, in two columns or over one line."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.look.widgets import button
from app.pages.attention.head_pictures.head_picture import MatrixPicture
from app.pages.attention.requests import AttentionDrawing
from app.pages.attention.state import AttentionChoice
from app.plots.arcs import ArcsPlot


class Arcs(MatrixPicture):
    """Lines between tokens. is_line: they stand over one line of them."""

    key = "arcs"
    figure: ArcsPlot

    def __init__(self) -> None:
        super().__init__()
        self.is_line = False
        self.stand(ArcsPlot(self.tr("Attention as arcs")))
        self.figure.locked.connect(self.lock_row)
        self.layout_link = button(
            self.tr("One line"),
            "link",
            name="attention_arcs_layout",
            tool_tip=self.tr("Arcs over one line of tokens, or between two columns"),
        )
        self.layout_link.clicked.connect(self.turn)

    @property
    def label(self) -> str:
        return self.tr("Arcs")

    @property
    def tip(self) -> str:
        return self.tr("The strongest weights as lines between tokens")

    @property
    def link(self) -> QWidget:
        return self.layout_link

    def set_line(self, is_line: bool) -> None:
        """Draw the arcs over one line of tokens, or between two columns."""
        if is_line != self.is_line:
            self.turn()

    def turn(self) -> None:
        """Draw the arcs over one line of tokens, or between two columns again."""
        self.is_line = not self.is_line
        self.figure.set_layout("line" if self.is_line else "columns")
        self.layout_link.setText(self.tr("Columns") if self.is_line else self.tr("One line"))

    def show_answer(self, answer: AttentionDrawing, chosen: AttentionChoice) -> None:
        self.drawn = answer
        if answer.cells is not None:
            self.figure.set_arcs(answer.shown, answer.cells)
        self.figure.set_locked(self.row_of(chosen.locked))

    def show_chosen(self, chosen: AttentionChoice, title: str) -> None:
        self.figure.set_title(title)
        self.figure.set_locked(self.row_of(chosen.locked))

    def clear(self, why: str) -> None:
        self.drawn = None
        self.figure.set_empty_text(why)
        self.figure.clear()
