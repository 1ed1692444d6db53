"""Whether the texts that a pipeline pretrains on are also those that its stages are measured on.

Pretraining reads no labels, yet a model that has read a text may answer it better than a new one. Texts of
training rows are never held out; of a text that a person names nobody knows, so it is looked through.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Sentence, marked
from engine.events import Progress, Steps
from engine.settings.pipeline import PipelineConfig
from engine.text.corpus.layout import Document
from engine.train.pretraining.setup import corpus_of
from engine.train.stages import Stage, line_of


def texts_named(config: PipelineConfig, stages: list[Stage]) -> list[Stage]:
    """Return the stages whose text a person has named."""
    own = {"domain": config.stages.domain_text, "task": config.stages.task_text}
    return [stage for stage in stages if stage.pretraining is not None and own.get(stage.name)]


def count_read(stages: list[Stage], held_out: frozenset[str]) -> Steps[int]:
    """Return how many of the held-out texts stand in the texts of some stages, word for word: as a document,
    a paragraph or a sentence of it. Raises: DataError, as `Corpus.blocks`.
    """
    found = set[str]()
    for stage in stages:
        assert stage.pretraining is not None
        corpus = corpus_of(stage.pretraining, stage.pretraining.text.text)
        for documents in corpus.blocks():
            found.update(line for document in documents for line in _lines(document) if line in held_out)
            yield Progress(stage=marked("engine", "Looking for held-out texts"), done=0, total=0)
    return len(found)


def _lines(document: Document) -> Iterator[str]:
    paragraphs = [line_of(" ".join(sentences)) for sentences in document]
    yield " ".join(paragraphs)
    if len(paragraphs) > 1:
        yield from paragraphs
    yield from (line_of(sentence) for sentences in document for sentence in sentences)


def said_of(count: int, held_out: int) -> Sentence:
    """Say how many held-out texts are pretrained on. Args: held_out: how many there are."""
    template = marked(
        "engine",
        "None of the {held_out:,} validation and test texts is in the text to pretrain on, word for word.",
    )
    if count:
        template = marked(
            "engine",
            "{count:,} of {held_out:,} validation and test texts are in the text to pretrain on. Their "
            "labels are not read, but the gains may be a little too good.",
        )
    return Sentence(template, {"count": count, "held_out": held_out})
