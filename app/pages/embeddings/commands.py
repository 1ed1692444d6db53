"""The line that gives without the window what the page shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.pages.embeddings.requests import WORD, Vectors
from engine.inspect.embeddings.vectors import LAYERED, PoolingConfig
from engine.model.model_name import ModelName
from engine.questions.embed import EmbeddingQuestion
from engine.questions.how_read import ReadSettings
from engine.questions.meanings import MeaningsQuestion
from engine.questions.word_in_context import WordInContextQuestion

COMMAND_FILE = "embeddings.npz"
WORD_FILE = "word.npz"


def command_of(vectors: Vectors, pooling: PoolingConfig, column: str, *, with_meanings: bool) -> str:
    """Return the command that makes vectors, or compares a word's meanings; "" where there is none.

    Args: column: of the table, with the meaning or with what is kept beside a text.
    """
    source, model = vectors.source, ModelName(vectors.folder)
    if source.kind == WORD and with_meanings:
        return _meanings_command(vectors, column)
    how = ReadSettings.of(source.overrides or {})
    if source.kind == WORD:
        asked = WordInContextQuestion(model, source.word, out=Path(WORD_FILE))
        if source.table is None or source.lines:
            return replace(asked, sentences=tuple(text for _group, text in source.lines)).command()
        return replace(asked, data=source.table.path, text=source.column, how=how).command()
    if source.table is None:
        return ""
    return EmbeddingQuestion(
        model,
        source.table.path,
        source.column,
        label=column,
        pooling=pooling.kind,
        layer=pooling.layer if pooling.kind in LAYERED else -1,
        max_length=source.max_length,
        out=Path(COMMAND_FILE),
        how=how,
    ).command()


def _meanings_command(vectors: Vectors, column: str) -> str:
    source = vectors.source
    asked = MeaningsQuestion(ModelName(vectors.folder), source.word)
    if source.table is None or source.lines:
        lines = (f"{group} | {text}" if group else text for group, text in source.lines)
        return replace(asked, sentences=tuple(lines)).command()
    how = ReadSettings.of(source.overrides or {})
    return replace(asked, data=source.table.path, text=source.column, label=column, how=how).command()
