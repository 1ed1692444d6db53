"""Whether what a page has a model read is read: plain Python on a worker, which touches no Qt object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from app.work.texts_read import UNCUT, CorpusTexts, FileTexts, TableTexts, TextsRead, TypedTexts
from engine.errors import UserError
from engine.events import Steps
from engine.model.info import read_info
from engine.text.unknown import MOST_TEXTS, UnreadTexts, finding_unread, sample_of, vocabulary_in
from engine.train.pretraining.setup import corpus_of

Sample = tuple[list[str], list[str] | None, int]  # texts, their pairs, and how many there are in all


@dataclass(frozen=True, slots=True)
class UnreadAnswer:
    """The first of what a page has read that is not read; None: all is."""

    read: TextsRead | None = None
    found: UnreadTexts | None = None


def find_unread(asked: Sequence[TextsRead]) -> Steps[UnreadAnswer]:
    """Return the first of some texts that their vocabulary does not read, step by step."""
    for one in asked:
        try:
            found = yield from _finding(one)
        except UserError:  # a file or folder is gone or damaged, which the page itself says
            continue
        if found is not None:
            return UnreadAnswer(one, found)
    return UnreadAnswer()


def _finding(one: TextsRead) -> Steps[UnreadTexts | None]:
    texts, pairs, of_texts = _sample(one.texts)
    if not any(map(str.strip, texts)):
        return None
    tokenizer, length, truncation = one.vocabulary, one.max_length, one.truncation
    if isinstance(tokenizer, Path):
        info = read_info(tokenizer) if tokenizer.is_dir() else {}
        length = int(info.get("max_length", UNCUT)) if length is None else length
        truncation = str(info.get("truncation", truncation))
        tokenizer = vocabulary_in(tokenizer)
    return (
        yield from finding_unread(
            tokenizer,
            texts,
            pairs,
            max_length=length or None,
            truncation=truncation,
            of_texts=of_texts,
            by_model=one.is_model,
            readers=one.readers,
        )
    )


def _sample(texts: TypedTexts | TableTexts | FileTexts | CorpusTexts) -> Sample:
    if isinstance(texts, TableTexts):
        without = () if texts.recipe is None else texts.recipe.left_out()
        return sample_of(texts.table, texts.column, texts.pair, without=without)
    if isinstance(texts, TypedTexts):
        some, count = list(texts.texts[:MOST_TEXTS]), len(texts.texts)
    elif isinstance(texts, FileTexts):
        step = max(1, texts.count // MOST_TEXTS)
        some = [(text, pair or "") for text, pair in islice(texts.find(), 0, step * MOST_TEXTS, step)]
        count = max(texts.count, len(some))
    else:
        return _of_corpus(texts)
    return [text for text, _ in some], [pair for _, pair in some], count


def _of_corpus(texts: CorpusTexts) -> Sample:
    """Return the first sentences of a text for pretraining, of which nobody knows how many there are."""
    documents = corpus_of(texts.config, texts.config.text.text).documents()
    sentences = chain.from_iterable(chain.from_iterable(documents))
    some = list(islice(sentences, MOST_TEXTS))
    return some, None, len(some)
