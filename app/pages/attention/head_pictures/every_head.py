"""All heads: every head of every layer, large."""

from __future__ import annotations

from app.pages.attention.head_pictures.head_picture import HeadPicture
from app.pages.attention.state import AttentionChoice
from app.plots.attention_image import MosaicPicture
from app.plots.mosaic import MosaicPlot


class EveryHeadPicture(HeadPicture):
    """Every head as a square; it is drawn with the small one beside it, and asks nothing of its own."""

    key, name = "heads", "mosaic_large"
    is_one = False
    is_mosaic = True
    takes = MosaicPicture
    figure: MosaicPlot

    def __init__(self) -> None:
        super().__init__()
        self.stand(MosaicPlot(self.tr("All heads")))
        self.figure.head_chosen.connect(self.head_chosen)
        self.figure.head_added.connect(self.head_added)

    @property
    def label(self) -> str:
        return self.tr("All heads")

    @property
    def tip(self) -> str:
        return self.tr("Every head of every layer, large")

    def title(self, chosen: AttentionChoice) -> str:
        return self.label

    def show_answer(self, answer: MosaicPicture, chosen: AttentionChoice) -> None:
        self.figure.set_mosaic(answer)
        self.show_chosen(chosen, "")

    def show_chosen(self, chosen: AttentionChoice, title: str) -> None:
        self.figure.set_chosen(chosen.heads)
        self.figure.set_off(chosen.off)

    def clear(self, why: str) -> None:
        self.figure.set_empty_text(why)
        self.figure.clear()
