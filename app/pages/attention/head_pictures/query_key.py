"""The query-key detail: how one token's row comes about in one head."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QWidget

from app.look.widgets import button
from app.pages.attention import captions
from app.pages.attention.head_pictures.head_picture import HeadPicture, PictureQuestion, PictureSource
from app.pages.attention.requests import explain_row, explained
from app.pages.attention.state import AttentionChoice
from app.plots.query_key import QueryKeyPlot
from engine.inspect.attention.weights import HeadAttention


class QueryKey(HeadPicture):
    """One row of the current head; from it, one goes on to Anatomy."""

    key = "query_key"
    has_options = False
    is_quick = False
    takes = HeadAttention
    figure: QueryKeyPlot

    def __init__(self) -> None:
        super().__init__()
        self.stand(QueryKeyPlot(self.tr("Query and keys")))
        self.figure.key_chosen.connect(self.locked)
        self.anatomy_link = button(
            self.tr("Next: values and the head’s output"),
            "link",
            name="attention_to_anatomy",
            tool_tip=self.tr(
                "The weighted sum of this token, layer and head, number by number, on the page Step by step"
            ),
        )
        self.anatomy_link.clicked.connect(self.anatomy_wanted)

    @property
    def label(self) -> str:
        return self.tr("Query–key")

    @property
    def tip(self) -> str:
        return self.tr("How one token’s row arises in one head")

    @property
    def link(self) -> QWidget:
        return self.anatomy_link

    def title(self, chosen: AttentionChoice) -> str:
        return captions.title(replace(chosen, heads=(chosen.current,), of="heads"))

    def question(self, seen: PictureSource) -> PictureQuestion:
        head, place = seen.chosen.current, explained(seen.maps, seen.chosen)
        return PictureQuestion(
            (seen.maps, head, place), partial(explain_row, seen.models, seen.maps, head, place)
        )

    def show_answer(self, answer: HeadAttention, chosen: AttentionChoice) -> None:
        self.figure.set_detail(answer)

    def clear(self, why: str) -> None:
        self.figure.set_empty_text(why)
        self.figure.set_detail(None)
