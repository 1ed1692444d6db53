"""The heatmap: rows look at columns."""

from __future__ import annotations

from app.pages.attention.head_pictures.head_picture import MatrixPicture
from app.pages.attention.requests import AttentionDrawing
from app.pages.attention.state import AttentionChoice
from app.plots.heatmap import HeatmapPlot


class Heatmap(MatrixPicture):
    """A cell for each two tokens."""

    key = "heatmap"
    figure: HeatmapPlot

    def __init__(self) -> None:
        super().__init__()
        self.stand(HeatmapPlot(self.tr("Attention")))
        self.figure.locked.connect(self.lock_row)

    @property
    def label(self) -> str:
        return self.tr("Heatmap")

    @property
    def tip(self) -> str:
        return self.tr("Rows look at columns")

    def show_answer(self, answer: AttentionDrawing, chosen: AttentionChoice) -> None:
        self.drawn = answer
        self.figure.set_picture(answer.picture, answer.shown)
        self.figure.set_locked(self.row_of(chosen.locked))

    def show_chosen(self, chosen: AttentionChoice, title: str) -> None:
        self.figure.set_title(title)
        self.figure.set_locked(self.row_of(chosen.locked))

    def clear(self, why: str) -> None:
        self.drawn = None
        self.figure.set_empty_text(why)
        self.figure.clear()
