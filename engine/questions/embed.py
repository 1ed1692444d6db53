"""What vector has each text of a table?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.events import Event
from engine.questions.fields import device_field
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, out_field
from engine.text.reading.kinds import A_TABLE

POOLINGS = ("sentence", "mean", "cls", "max", "last_four", "pooled", "mix")


@dataclass(frozen=True)
class EmbeddingQuestion(
    Question[None], command="embed", help="write one vector for each text of a table, as an .npz file"
):
    """The vectors of a table, written as they are found: `embed_table`."""

    data: Path = asked(help=A_TABLE)
    text: str = asked(help="the column with the text")
    text_pair: str = asked("", "the column with the second text", kw_only=True)
    label: str = asked("", "a column to keep with the vectors", kw_only=True)
    pooling: str = asked(
        "",
        "how pieces become one vector; default: as the folder’s sentence-transformers files say, or mean",
        choices=("", *POOLINGS),
        kw_only=True,
    )
    layer: int = asked(-1, "0: the embeddings, -1: the last", kw_only=True)
    max_length: int | None = asked(None, "Pieces read of each text", kw_only=True)
    out: Path = out_field("the .npz to write", is_needed=True)
    device: str = device_field()
    how: ReadSettings = how_field()

    def answer(self, models: Models) -> Iterator[Event]:
        from engine.inspect.embeddings.table import embed_table

        return embed_table(
            self.model.folder,
            self.data,
            self.out,
            text=self.text,
            text_pair=self.text_pair,
            label=self.label,
            pooling=self.pooling,
            layer=self.layer,
            max_length=self.max_length,
            device=self.device,
            **self.how.named(),
        )
