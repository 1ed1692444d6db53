"""What pretraining settles: text found and looked at, a vocabulary, the token store, what is kept apart."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import ConfigError, DataError, ModelError, Sentence, marked
from engine.events import Event, Noted
from engine.files import MOST_JSON, read_regular
from engine.model.config import PRESETS, BertConfig
from engine.model.kernels import ROW_MULTIPLE
from engine.model.trim import ids_to_keep, trimmed_config, trimmed_tokenizer
from engine.model.weights import check_weights, read_config
from engine.settings.pretrain import ObjectiveConfig, PretrainConfig, StartConfig
from engine.text.batch import split_by_tokens
from engine.text.corpus.corpus import Corpus, find_files
from engine.text.corpus.instances import (
    NONE_FOLLOWS,
    MaskedBatch,
    TokenColumns,
    collate_masked,
    paired,
    single,
)
from engine.text.corpus.masking import Masker, Masking
from engine.text.corpus.new_vocabulary import train_vocabulary
from engine.text.corpus.overlap import Overlap, overlap
from engine.text.corpus.token_writer import hash_of
from engine.text.corpus.tokens import TokenStore, counts, default_store_root, hold_out, open_store, store_key
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.prepare import vocabulary_named
from engine.train.pretraining.teacher import open_teacher
from engine.train.run.setup import RunSetup, read_setup

_KINDS = {"text": dict, "recipe": dict, "chain": tuple[dict, ...]}  # what has to stand in setup.json
TOKENS, VALIDATION_TOKENS = "tokens", "validation"  # folders in setup/
_TOLD_SHARE = 0.01  # of the text kept apart, in long sentences that are learned from too
_VALIDATION_SALT, _VALIDATION_SEED = 2**31, 7  # the same held-out examples and masks in every run


@dataclass(frozen=True)
class PretrainSetup(RunSetup):
    """What pretraining stands on.

    keep: ids of the base model's vocabulary that are kept, (V,), or None for all. stores: of training and
    held-out text, the same one when the latter is a share of the first.
    """

    keep: np.ndarray | None
    stores: tuple[TokenStore, TokenStore]

    def write_data(self, folder: Path) -> None:
        """Write which pieces are kept; the token stores are linked, not copied, where that can be."""
        if self.keep is not None:
            np.save(folder / "keep.npy", self.keep)
        _link(self.stores[0].path, folder / TOKENS)
        if self.stores[1] is not self.stores[0]:
            _link(self.stores[1].path, folder / VALIDATION_TOKENS)


def load(folder: Path, config: PretrainConfig) -> Generator[Event, None, PretrainSetup]:
    """Read what `save` wrote; a token store that was cut or lost is built again from the text.

    Raises: DataError if the text is needed and has changed; ModelError if the rest is damaged.
    """
    kinds = {**_KINDS, **({"validation_text": dict} if config.text.validation_text else {})}
    wordpiece, about = read_tokenizer(folder), read_setup(folder, kinds)
    keep = _read_keep(folder / "keep.npy") if os.path.lexists(folder / "keep.npy") else None
    train = yield from _reopened(folder / TOKENS, config, config.text.text, wordpiece, about, "text")
    held_out, places = train, config.text.validation_text
    if places:
        path = folder / VALIDATION_TOKENS
        held_out = yield from _reopened(path, config, places, wordpiece, about, "validation_text")
    return PretrainSetup(read_config(folder), wordpiece, about, keep, (train, held_out))


def _read_keep(path: Path) -> np.ndarray:
    """Return the ids that were kept of a vocabulary. Raises: RunError."""
    data = read_regular(path, most=MOST_JSON, kind=ModelError)
    try:
        keep: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
        if keep.ndim == 1 and keep.dtype.kind in "iu":
            return keep
    except (ValueError, EOFError, OSError, MemoryError, SyntaxError):
        pass
    raise ModelError(marked("engine", "{path} is damaged. Start the run again."), path=path)


def prepare(config: PretrainConfig) -> Generator[Event, None, PretrainSetup]:
    """Find the text, choose the vocabulary, cut the text into pieces, keep some of it apart.

    Raises: UserError in one sentence.
    """
    corpus = corpus_of(config, config.text.text)
    start, shape, keep = config.start, shape_of(config.start), None
    if not start.model.startswith("new:"):
        wordpiece: Tokenizer = read_tokenizer(Path(start.model))
    elif start.vocab:
        wordpiece = vocabulary_named(start.vocab, start.lowercase)
    else:
        lowercase = start.lowercase != "no"
        wordpiece = yield from train_vocabulary(corpus, size=start.vocab_size, lowercase=lowercase)
    yield from (Noted(sentence=note, level="fine") for note in wordpiece.notes)
    if start.trim_vocab and start.model.startswith("new:"):
        note_template = marked(
            "engine", "trim_vocab is for the vocabulary of a model, so it is ignored here."
        )
        yield Noted(sentence=Sentence(note_template))
    store = yield from _stored(corpus, wordpiece, config.text.segmenter)
    yield from (Noted(sentence=note) for note in store.notes)
    yield from _told_unknown(store, wordpiece)
    if start.trim_vocab and not start.model.startswith("new:"):
        keep = ids_to_keep(counts(store), start.trim_vocab, wordpiece)
        shape = trimmed_config(shape, wordpiece, keep)
        wordpiece = trimmed_tokenizer(wordpiece, keep)
        store = yield from _stored(corpus, wordpiece, config.text.segmenter)
    if start.model.startswith("new:"):  # else the model may have more rows than pieces
        shape = replace(shape, vocab_size=wordpiece.vocab_size, pad_token_id=wordpiece.pad_id)
    held_out = store
    facts: dict[str, Any] = {
        "text": corpus.fingerprint(),
        "num_tokens": store.num_tokens,
        "num_documents": store.num_documents,
        TOKENS: hash_of(store.header),
    }
    if config.text.validation_text:
        other = corpus_of(config, config.text.validation_text)
        held_out = yield from _stored(other, wordpiece, config.text.segmenter)
        yield from (Noted(sentence=note) for note in held_out.notes)
        facts |= {"validation_text": other.fingerprint(), VALIDATION_TOKENS: hash_of(held_out.header)}
    teacher = open_teacher(config.objective, wordpiece, torch.device("cpu"))
    if teacher is not None:
        facts["teacher"] = teacher.sha256
    setup = PretrainSetup(shape, wordpiece, facts, keep, (store, held_out))
    yield from _told_overlap(*split(setup, config))  # refuses what is too small, before anything is written
    return setup


def corpus_of(config: PretrainConfig, places: str) -> Corpus:
    """Return the corpus of some places, one a line. Raises: UserError."""
    named = [place.strip() for place in places.split("\n") if place.strip()]
    if not named:
        raise ConfigError(marked("engine", "No text was chosen. Give text files or folders."), field="text")
    text = config.text
    return Corpus(
        tuple(find_files(named, column=text.column)),
        text.layout,
        text.column,
        text.encoding,
        text.drop_repeated,
    )


def shape_of(start: StartConfig) -> BertConfig:
    """Return the shape of the model a run starts from; of a new one, the vocabulary is settled later.

    Raises: ConfigError, ModelError.
    """
    if not start.model:
        raise ConfigError(
            marked("engine", "No model was chosen. Give new:SIZE, or the folder of a model."), field="model"
        )
    if not start.model.startswith("new:"):
        check_weights(Path(start.model))
        return read_config(Path(start.model))
    name = start.model.removeprefix("new:")
    if name in PRESETS:
        return BertConfig.preset(name, max_position_embeddings=start.max_positions)
    numbers = name.split("x")
    if len(numbers) not in (2, 3) or not all(part.isdigit() and int(part) for part in numbers):
        raise ConfigError(
            marked(
                "engine",
                "{field} is {value}; after new: use one of {names}, or layers x width such as new:6x384.",
            ),
            field="model",
            value=start.model,
            names=list(PRESETS),
        )
    layers, width, *heads = map(int, numbers)
    return BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads[0] if heads else max(1, width // 64),
        intermediate_size=4 * width,
        max_position_embeddings=start.max_positions,
    )


def terms_of(objective: ObjectiveConfig) -> list[str]:
    """Return the terms to mask, none where other units are. Raises: ConfigError without a readable list."""
    if objective.mask_unit != "term":
        return []
    path = Path(objective.terms)
    if not objective.terms or not path.is_file():
        raise ConfigError(
            marked("engine", "There is no list of terms at {path}. Give a text file with one term per line."),
            field="terms",
            path=path if objective.terms else "-",
        )
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            marked("engine", "{path} cannot be read as a list of terms in UTF-8."), field="terms", path=path
        ) from error
    return [line for line in lines if line]


def masking_of(objective: ObjectiveConfig, wordpiece: Tokenizer) -> Masking:
    """Return how tokens are masked; terms are cut into pieces. Raises: ConfigError."""
    cut = map(wordpiece.ids_as_spelled, terms_of(objective))
    terms = tuple(tuple(ids) for ids in cut if ids)
    return Masking(
        objective.mask_rate,
        objective.mask_share,
        objective.random_share,
        objective.mask_unit,
        objective.max_ngram,
        terms,
    )


def split(
    setup: PretrainSetup, config: PretrainConfig
) -> tuple[TokenColumns, np.ndarray, TokenColumns, np.ndarray]:
    """Return the stores and documents to train on and to measure on.

    A text of one document is cut in two at a sentence. Raises: DataError: too little text, or none that
    next sentences can be asked of.
    """
    store, other = setup.stores
    train_store: TokenColumns = store
    held_store: TokenColumns = other
    if other is not store:
        train, held = np.arange(store.num_documents), np.arange(other.num_documents)
    elif not config.text.validation_share:
        train, held = np.arange(store.num_documents), np.zeros(0, np.int64)
    elif store.num_documents > 1:
        train, held = hold_out(store, config.text.validation_share, _VALIDATION_SEED)
    else:
        train_store = held_store = _in_two(store, config.text.validation_share)
        train, held = np.array([0]), np.array([1])
    if config.objective.next_sentence:
        check_pairs(store, train)
        if other is not store:
            check_pairs(other, held)
    tokens = int(np.diff(np.asarray(train_store.doc_tokens))[train].sum())
    if tokens < config.budget.batch_tokens:
        raise DataError(
            marked(
                "engine",
                "The text has {tokens} tokens to train on, fewer than one step takes ({batch}). Give more "
                "text, or lower batch_tokens.",
            ),
            tokens=tokens,
            batch=config.budget.batch_tokens,
        )
    return train_store, train, held_store, held


def check_pairs(store: TokenColumns, documents: np.ndarray) -> None:
    """Refuse documents of which no true and random pairs can be made. Raises: DataError."""
    if len(documents) < 2:
        raise DataError(
            marked(
                "engine",
                "Next sentences need a second document to draw wrong ones from, but there is "
                "{count} besides the held-out ones. Put blank lines between documents, or turn "
                "next_sentence off.",
            ),
            count=len(documents),
        )
    if np.diff(np.asarray(store.documents))[documents].max() < 2:
        raise DataError(NONE_FOLLOWS)


def validation_batches(
    setup: PretrainSetup, config: PretrainConfig, num_tokens: int, at_once: int, *, before: int = 2**62
) -> list[MaskedBatch]:
    """Return the held-out examples with fixed masks, in batches of `at_once` tokens; none if none is kept.

    Masks are by piece at BERT's shares whatever is trained, so that runs can be compared. Only documents
    numbered below `before` are measured, such as those of the first of two files.
    """
    _, train, store, documents = split(setup, config)
    documents = documents[documents < before]
    if not len(documents):
        return []
    kind = {"max_length": config.objective.max_length, "seed": _VALIDATION_SEED, "epoch": 0}
    if config.objective.next_sentence:
        own = len(documents) > 1 or config.text.validation_text != ""
        pool = documents if own else np.concatenate([documents, train])
        made = paired(store, documents, pool=pool, **kind)
    else:
        made = single(store, documents, **kind)
    keys = np.random.PCG64([_VALIDATION_SEED]).random_raw(len(made))
    order = np.argsort(keys, kind="stable")
    enough = max(1, int(np.searchsorted(np.cumsum(made.lengths[order]), num_tokens)))
    chosen = order[:enough]
    chosen = chosen[np.argsort(-made.lengths[chosen], kind="stable")]
    masker = Masker(Masking(), setup.wordpiece, _VALIDATION_SEED)
    return [
        collate_masked(store, made, part, masker, setup.wordpiece, _VALIDATION_SALT, multiple=ROW_MULTIPLE)
        for part in split_by_tokens(chosen, made.lengths, at_once)
    ]


def _in_two(store: TokenStore, share: float) -> TokenColumns:
    """Return a store of one document as two: what stands before a sentence, and what follows."""
    ends = np.asarray(store.sentences)
    cut = int(np.searchsorted(ends, ends[-1] * (1 - share)))
    cut = min(max(1, cut), max(1, len(ends) - 2))
    return TokenColumns(store.ids, store.sentences, np.array([0, cut, len(ends) - 1]), store.continues)


def _stored(corpus: Corpus, wordpiece: Tokenizer, segmenter: str) -> Generator[Event, None, TokenStore]:
    yield from corpus.hashed()
    place = default_store_root() / store_key(corpus, wordpiece, segmenter)
    return (yield from open_store(place, corpus, wordpiece, segmenter=segmenter))


def _told_unknown(store: TokenStore, wordpiece: Tokenizer) -> Iterator[Event]:
    """Say how much of a text is unknown to its vocabulary. Raises: DataError: all of it."""
    share = int(counts(store)[wordpiece.unk_id]) / store.num_tokens
    if share == 1.0:
        raise DataError(
            marked("engine", "The vocabulary knows nothing of the text. Choose another, or have one made.")
        )
    if share > 0.05:
        note = marked(
            "engine", "{percent:.0f} % of the text is unknown to the vocabulary and is not learned."
        )
        yield Noted(sentence=Sentence(note, {"percent": 100 * share}))


def _told_overlap(
    learned: TokenColumns, train: np.ndarray, kept: TokenColumns, held_out: np.ndarray
) -> Iterator[Event]:
    """Say how much of what is kept apart is no new text."""
    found = (yield from overlap(learned, train, kept, held_out)) if len(held_out) else Overlap(0, 0.0)
    if found.num_documents or found.share >= _TOLD_SHARE:
        note = marked(
            "engine",
            "{count:,} of the {total:,} held-out documents are also in the training text, "
            "word for word. So are long sentences that make up {percent:.1f} % of the "
            "held-out text. The held-out figures will look better than they are for new "
            "text. drop_repeated excludes lines that repeat.",
        )
        values = {"total": len(held_out), "count": found.num_documents, "percent": 100 * found.share}
        yield Noted(sentence=Sentence(note, values))


def _reopened(
    path: Path, config: PretrainConfig, places: str, wordpiece: Tokenizer, about: dict[str, Any], text: str
) -> Generator[Event, None, TokenStore]:
    """Open a run's own token store, or build it again where it is not whole, or another's."""
    try:
        store = TokenStore.open(path)
        if hash_of(store.header) == about.get(path.name, hash_of(store.header)):
            return store
        reason = Sentence(marked("engine", "{path} belongs to another run."), {"path": path})
    except DataError as error:
        reason = error.sentence
    corpus = corpus_of(config, places)
    yield from corpus.hashed()
    if corpus.fingerprint() != about[text]:
        raise DataError(
            marked(
                "engine",
                "The run’s tokens in {path} are not complete, and the text has changed since. "
                "The run cannot continue as it was. Start a new one.",
            ),
            path=path,
        )
    note = marked("engine", "The run’s tokens were not complete and are made again: {reason}")
    yield Noted(sentence=Sentence(note, {"reason": reason}))
    store = yield from open_store(path, corpus, wordpiece, segmenter=config.text.segmenter)
    return store


def _link(source: Path, target: Path) -> None:
    """Give a folder's files a second name, or copy them where the disk cannot do that."""
    target.mkdir()
    for file in sorted(source.iterdir()):
        try:
            os.link(file, target / file.name)
        except OSError:
            shutil.copyfile(file, target / file.name)
