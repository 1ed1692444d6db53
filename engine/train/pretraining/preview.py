"""Examples as the model will see them: what was hidden, what stands in its place, what follows what."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import Sentence, marked
from engine.events import Event, Progress
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.corpus import Corpus, Document
from engine.text.corpus.cutter import cutter_for
from engine.text.corpus.instances import Instances, TokenColumns, collate_masked, paired, single
from engine.text.corpus.masking import Masker
from engine.text.corpus.new_vocabulary import train_vocabulary
from engine.text.corpus.token_writer import sentences_of
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece
from engine.train.prepare import vocabulary_named
from engine.train.pretraining.setup import corpus_of, masking_of

TEXT_CHARACTERS = 300_000  # read from the beginning of the text
NOT_CHOSEN = -1


@dataclass(frozen=True, slots=True)
class PreviewExample:
    """One example. tokens, shown: (T,) what stands there, and what the model reads. segments: (T,) 0 or 1.

    actions: (T,) NOT_CHOSEN or masking's MASKED, RANDOM, KEPT. is_random: whether B comes from another
    document; None without a B.
    """

    tokens: tuple[str, ...]
    shown: tuple[str, ...]
    segments: tuple[int, ...]
    actions: tuple[int, ...]
    is_random: bool | None


@dataclass(frozen=True, slots=True)
class Preview:
    """Some examples, and how the text was read."""

    examples: tuple[PreviewExample, ...]
    layout: str
    notes: tuple[Sentence, ...]


def preview(config: PretrainConfig, count: int = 20) -> Generator[Event, None, Preview]:
    """Return the first examples of a run, from the beginning of its text. Raises: UserError."""
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    corpus = corpus_of(config, config.text.text)
    documents = _beginning(corpus)
    notes: list[Sentence] = []
    start = config.start
    if not start.model.startswith("new:"):
        tokenizer: Tokenizer = read_tokenizer(Path(start.model))
    elif start.vocab:
        tokenizer = vocabulary_named(start.vocab, start.lowercase)
    else:
        tokenizer = yield from _small_vocabulary(documents, start.vocab_size, start.lowercase != "no")
        note = marked("engine", "Split with a vocabulary made from only the beginning of the text.")
        notes.append(Sentence(note))
    yield Progress(stage=marked("engine", "Masking"), done=0, total=0)
    store = _store(documents, tokenizer, config.text.segmenter)
    examples, more = _examples(config, store, tokenizer, count)
    return Preview(examples, corpus.layout, (*notes, *more))


def _beginning(corpus: Corpus) -> list[Document]:
    documents: list[Document] = []
    size = 0
    for document in corpus.documents():
        documents.append(document)
        size += sum(len(sentence) for paragraph in document for sentence in paragraph)
        if size > TEXT_CHARACTERS:
            break
    return documents


def _small_vocabulary(
    documents: list[Document], size: int, lowercase: bool
) -> Generator[Event, None, WordPiece]:
    lines = "".join(sentence + "\n" for document in documents for part in document for sentence in part)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "beginning.txt"
        file.write_text(lines, encoding="utf-8")
        wordpiece = yield from train_vocabulary(
            Corpus((file,), "lines"), size=min(size, 4096), lowercase=lowercase
        )
    return wordpiece


def _store(documents: list[Document], tokenizer: Tokenizer, segmenter: str) -> TokenColumns:
    each = [list(sentences_of(document, tokenizer)) for document in documents]
    cut = cutter_for(tokenizer, segmenter).cut([sentence for sentences in each for sentence in sentences])
    filled = cut.sizes > 0  # a sentence of no pieces is none, and a document of none neither
    ends = np.cumsum(list(map(len, each)))
    bounds = np.unique(np.concatenate(([0], np.cumsum(filled)))[np.concatenate(([0], ends))])
    sentences = np.concatenate(([0], np.cumsum(cut.sizes[filled], dtype=np.int64)))
    return TokenColumns(cut.ids, sentences, bounds, cut.continues)


def _examples(
    config: PretrainConfig, store: TokenColumns, tokenizer: Tokenizer, count: int
) -> tuple[tuple[PreviewExample, ...], list[Sentence]]:
    objective, seed = config.objective, config.budget.seed
    documents = np.arange(len(store.documents) - 1)
    notes = []
    if objective.next_sentence and len(documents) > 1:
        made = paired(
            store, documents, max_length=objective.max_length, seed=seed, epoch=0, block=0, pool=documents
        )
    else:
        made = single(store, documents, max_length=objective.max_length, seed=seed, epoch=0)
        if objective.next_sentence:
            note = marked(
                "engine",
                "The beginning of the text is one document, so no pairs can be shown. Next "
                "sentences need a second document to draw wrong ones from.",
            )
            notes.append(Sentence(note))
    chosen = np.random.default_rng(seed).permutation(len(made))[:count]
    masker = Masker(masking_of(objective, tokenizer), tokenizer, seed)
    salt = int(objective.dynamic_masking)  # of the first epoch, as text_feed.py has it
    return tuple(_one(store, made, index, masker, tokenizer, salt) for index in chosen), notes


def _one(
    store: TokenColumns, made: Instances, index: int, masker: Masker, tokenizer: Tokenizer, salt: int
) -> PreviewExample:
    batch = collate_masked(store, made, np.array([index]), masker, tokenizer, salt)
    shown, places = batch.input_ids.numpy(), batch.masked.numpy()
    ids = shown.copy()
    ids[places] = batch.targets.numpy()
    actions = np.full(len(ids), NOT_CHOSEN)
    actions[places] = batch.actions
    kind = int(made.is_random[index])
    return PreviewExample(
        tokens=tuple(tokenizer.shown[number] for number in ids.tolist()),
        shown=tuple(tokenizer.shown[number] for number in shown.tolist()),
        segments=tuple(batch.token_type_ids.tolist()),
        actions=tuple(actions.tolist()),
        is_random=None if kind < 0 else bool(kind),
    )
