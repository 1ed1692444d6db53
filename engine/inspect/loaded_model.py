"""A model folder opened for looking inside: the encoder, whichever trained heads it has, and its tokenizer.

Not to be broken: a head that the folder lacks is never answered for; `require` says what is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.device import check_device, computing, open_device, place_of, setting_of
from engine.errors import ModelError, Sentence, UserError, marked
from engine.events import Event, Progress, result_of
from engine.files import open_regular, reading
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.fastest import kernels_for
from engine.model.folder import open_weights
from engine.model.guess import too_long
from engine.model.heads import HeadedEncoder, PreTraining, SequenceClassifier
from engine.model.info import encoder_in, read_info
from engine.model.model_name import ModelName
from engine.model.own_encoder import encoder_of, open_encoder_weights
from engine.model.sentence_files import SentenceConfig, read_sentence_files
from engine.model.source import StoredModel
from engine.model.trim import check_vocabulary
from engine.model.weights import (
    NEW,
    LoadReport,
    check_weights,
    head_of,
    load_classifier,
    load_encoder,
    load_pretraining,
    read_config,
)
from engine.settings.shared import DeviceConfig
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Encoding, Tokenizer
from engine.text.words import Word, words_of
from engine.train.run.kept import name_of
from engine.train.tasks.kind import HeadedModel
from engine.train.tasks.known import CLASSIFICATION, TASKS, of_rows, task_of
from engine.train.tasks.rows.predict import RowModel

Stamps = list[tuple[str, int, int, int]]  # name, inode, bytes and time in ns of each file of a folder

FINGERPRINT_DIGITS = 12
_READ_BYTES = 8 * 2**20  # of weights between two steps
_TRIES = 3  # a training beside may put a new model in the place of an old one while it is read
_NO_TEXT = marked("engine", "There is no text to look at. Type one.")
_NO_PAIR = marked("engine", "The second text is empty. Type one, or omit it.")
_LACKS = {
    "masked_words": marked(
        "engine",
        "The model {name} has no trained masked-word head, so it cannot guess words. Choose a model that was "
        "pretrained on masked words, or pretrain this one further.",
    ),
    "next_sentence": marked(
        "engine",
        "The model {name} was not trained on next sentences, so it cannot say whether B "
        "follows A. Choose another model, or pretrain this one further with next "
        "sentences.",
    ),
    "labels": marked(
        "engine",
        "The model {name} is not a classifier, so it has no labels to choose from. "
        "Fine-tune it first, or choose a fine-tuned model.",
    ),
}


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What is known of a model without its weights.

    fingerprint: begins the sha256 of its files of weights, one after the other. sentence: how
    sentence-transformers pools its texts.
    """

    folder: Path
    name: str
    fingerprint: str
    config: BertConfig
    wordpiece: Tokenizer
    has_masked_words: bool
    has_next_sentence: bool
    has_pooler: bool
    labels: tuple[str, ...]
    info: dict[str, Any]  # cloze.json
    notes: tuple[Sentence, ...]
    num_parameters: int
    sentence: SentenceConfig | None = None

    @property
    def named(self) -> ModelName:
        """How a question names it."""
        return ModelName(self.folder, self.fingerprint)

    @property
    def encoder_name(self) -> str:
        """What the encoder is called that it has of its own for whole texts; "": one model does both."""
        return encoder_in(self.info)

    @property
    def max_length(self) -> int:
        """The most WordPieces it reads, special tokens included."""
        return self.config.max_position_embeddings

    def has(self, what: str) -> bool:
        """Whether it can answer for "masked_words", "next_sentence" or "labels"."""
        return bool(
            {
                "masked_words": self.has_masked_words,
                "next_sentence": self.has_next_sentence,
                "labels": self.labels,
            }[what]
        )

    def require(self, what: str) -> None:
        """Refuse what the model has no head for, and say the way. Raises: ModelError."""
        if not self.has(what):
            raise ModelError(self.config.family.lacks.get(what, _LACKS[what]), name=self.name)

    def encode(self, text: str, text_pair: str | None = None) -> Encoding:
        """Return the pieces of a text or pair. Raises: UserError: nothing to read, too long, no pairs."""
        if not text.strip():
            raise UserError(_NO_TEXT)
        if text_pair is not None and not text_pair.strip():
            raise UserError(_NO_PAIR)
        if text_pair is not None and not self.config.reads_pairs:
            raise UserError(
                marked("engine", "The model {name} knows only one segment, so it cannot read pairs."),
                name=self.name,
            )
        encoding = self._encoded(text, text_pair)
        read = set(zip(encoding.token_type_ids, encoding.special_tokens_mask, strict=True))
        if (0, 0) not in read:  # characters that cleaning removes, such as a zero-width space
            raise UserError(_NO_TEXT)
        if text_pair is not None and (1, 0) not in read:
            raise UserError(_NO_PAIR)
        if len(encoding.input_ids) > self.max_length:
            raise too_long(len(encoding.input_ids), self.max_length)
        return encoding

    def _encoded(self, text: str, text_pair: str | None) -> Encoding:
        """Return the pieces of what was typed: [MASK] is a mask, whatever the vocabulary calls its own."""
        tokenizer = self.wordpiece
        pair = None if text_pair is None else tokenizer.with_masks(text_pair)
        return tokenizer.encode(tokenizer.with_masks(text), pair)

    def beginning(self, text: str, text_pair: str | None = None) -> tuple[str, str | None]:
        """Return the words from the beginning that the model can read; the longer of a pair gives way."""
        encoding = self._encoded(text, text_pair)
        parts: tuple[list[Word], list[Word]] = ([], [])
        for word in words_of(encoding, text, text_pair):
            parts[word.segment].append(word)
        pieces = [sum(len(word.pieces) for word in part) for part in parts]
        left = len(encoding.input_ids)
        while left > self.max_length and any(parts):
            longer = int(pieces[1] > pieces[0])
            lost = len(parts[longer].pop().pieces)
            pieces[longer], left = pieces[longer] - lost, left - lost
        cut = [
            whole if not part or whole is None else whole[: part[-1].stop]
            for whole, part in zip((text, text_pair), parts, strict=True)
        ]
        return cut[0] or "", cut[1]


@dataclass(frozen=True, eq=False, slots=True)
class LoadedModel:
    """A model ready to be looked into, in float32 and `eval` mode, on the best device there is.

    language: where it has a trained masked-word or next-sentence head. classifier: where it has labels. The
    encoder of either is `bert` itself. own_encoder: where the folder has one of its own for whole texts.
    """

    about: ModelSummary
    bert: Bert
    language: PreTraining | None
    classifier: SequenceClassifier | None
    own_encoder: Bert | None = None

    @classmethod
    def open(cls, folder: Path | str, device: str = "auto", *, name: str = "") -> LoadedModel:
        """Load a model folder; takes seconds. Args: name: what it is called; else as `name_of` says.

        Raises: ModelError, DataError.
        """
        check_device(DeviceConfig(device=device))  # open_device would change the threads of a training beside
        folder = Path(folder)
        for _ in range(_TRIES):
            before = stamps(folder)
            subject = cls._read(folder, name or name_of(folder))
            if stamps(folder) == before:
                break
        else:
            template = marked("engine", "{folder} is being written to. Open it when that has ended.")
            raise ModelError(template, folder=folder)
        ready = place_of(device)
        for part in subject._parts:
            part.to(ready)
        return subject

    @classmethod
    def _read(cls, folder: Path, name: str) -> LoadedModel:
        """Return what a folder holds, on the CPU. Raises: ModelError, DataError."""
        read_config(folder)  # refuses what is no model folder
        info = read_info(folder)
        check_weights(folder)  # before a vocabulary of the size that config.json names is built
        wordpiece = read_tokenizer(folder)
        bert, language, classifier, report = _load(folder)
        own_encoder = _own_encoder(folder, language)
        lacking = {part for part in ("predictions", "seq_relationship", "pooler") if _lacks(report, part)}
        sentence, of_sentence = read_sentence_files(folder)
        has_next = language is not None and not lacking & {"seq_relationship", "pooler"}
        has_next = has_next and "next_sentence" not in bert.config.family.lacks
        if "pooler" in lacking:
            bert.pooler = None  # random weights answer nothing
        about = ModelSummary(
            folder=folder,
            name=name,
            fingerprint=fingerprint(folder),
            config=bert.config,
            wordpiece=wordpiece,
            has_masked_words=language is not None
            and "predictions" not in lacking
            and wordpiece.mask_id is not None,
            has_next_sentence=has_next and info.get("next_sentence") is not False,
            has_pooler=bert.pooler is not None,
            labels=() if classifier is None else tuple(classifier.config.id2label),
            info=info,
            notes=(
                *(note for note in report.notes if note.template not in NEW.values()),
                *wordpiece.notes,
                *of_sentence,
            ),
            num_parameters=sum(weight.numel() for weight in bert.parameters()),
            sentence=sentence,
        )
        check_vocabulary(bert, wordpiece)
        subject = cls(about, bert, language, classifier, own_encoder)
        for part in subject._parts:
            part.eval().requires_grad_(False)
        return subject

    @property
    def _parts(self) -> list[torch.nn.Module]:
        """What it consists of."""
        whole = self.language or self.classifier or self.bert
        return [whole] if self.own_encoder is None else [whole, self.own_encoder]

    @property
    def encoder(self) -> Bert:
        """What reads whole texts, for vectors of texts and of words in them."""
        return self.own_encoder or self.bert

    @property
    def wordpiece(self) -> Tokenizer:
        return self.about.wordpiece

    @property
    def config(self) -> BertConfig:
        return self.about.config

    @property
    def folder(self) -> Path:
        return self.about.folder

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def fingerprint(self) -> str:
        return self.about.fingerprint

    @property
    def labels(self) -> tuple[str, ...]:
        return self.about.labels

    @property
    def has_masked_words(self) -> bool:
        return self.about.has_masked_words

    @property
    def has_next_sentence(self) -> bool:
        return self.about.has_next_sentence

    @property
    def info(self) -> dict[str, Any]:
        return self.about.info

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return self.about.notes

    @property
    def max_length(self) -> int:
        return self.about.max_length

    @property
    def device(self) -> torch.device:
        return self.bert.embeddings.word.weight.device

    def computing(self) -> AbstractContextManager[None]:
        """Return the context in which this thread computes by what is fastest here, in float32."""
        if self.device.type != "cpu":
            return nullcontext()
        return computing(kernels_for(self.config), torch.float32)

    @property
    def num_bytes(self) -> int:
        """What its weights take."""
        weights = (weight for part in self._parts for weight in part.parameters())
        return sum(weight.numel() * weight.element_size() for weight in weights)

    def require(self, what: str) -> None:
        """Refuse what the model has no head for. Raises: ModelError, as `ModelSummary.require`."""
        self.about.require(what)

    def encode(self, text: str, text_pair: str | None = None) -> Encoding:
        """Return the pieces of a text or pair. Raises: UserError, as `ModelSummary.encode`."""
        return self.about.encode(text, text_pair)

    def masked_head(self) -> PreTraining:
        """Return the model with its masked-word head. Raises: ModelError if it has none."""
        self.require("masked_words")
        assert self.language is not None
        return self.language

    def next_sentence_head(self) -> PreTraining:
        """Return the model with its next-sentence head. Raises: ModelError if it has none."""
        self.require("next_sentence")
        assert self.language is not None
        return self.language

    def label_head(self) -> SequenceClassifier:
        """Return the model with its classifier. Raises: ModelError if it has none."""
        self.require("labels")
        assert self.classifier is not None
        return self.classifier

    def predictor(self) -> RowModel:
        """Return the model as it answers texts and files, of a classifier over the same weights.

        Raises: ModelError if it has no head for that.
        """
        if self.classifier is None:
            # labels side by side, or a number, are read from the folder again
            return of_rows(task_of(self.folder)).predictor(self.folder)
        device = open_device(DeviceConfig(device=setting_of(self.device)))
        found: HeadedModel[HeadedEncoder] = HeadedModel(
            self.folder, self.classifier, self.wordpiece, self.info, device
        )
        kind = TASKS.get(str(self.info.get("task", "")), CLASSIFICATION)  # another may share its head
        return RowModel.over(of_rows(kind).reading, found.ready())


@contextmanager
def looking(subject: LoadedModel) -> Iterator[torch.device]:
    """Switch gradients off and give the device of the model; never yield to a caller's caller inside."""
    with torch.inference_mode(), subject.computing():
        yield subject.device


def fingerprint(folder: Path) -> str:
    """Return the first hex digits of the sha256 of a folder's weights, all shards. Raises: ModelError."""
    return result_of(take_fingerprint(folder))


def take_fingerprint(folder: Path) -> Generator[Event, None, str]:
    """Return the fingerprint of a folder's weights, which may be large, step by step. Raises: ModelError."""
    with open_encoder_weights(folder) as stored:
        files = stored.files
    digest, done = hashlib.sha256(), 0
    for path in files:
        with reading(path), open_regular(path, kind=ModelError) as file:
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
                done += len(chunk)
                yield Progress(stage=marked("engine", "Reading"), done=done, total=0)
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


def stamps(folder: Path) -> Stamps:
    """Return what tells that a folder's files are others than before; nothing where it cannot be read."""
    try:
        files = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    except OSError:
        return []
    return [(name, at.st_ino, at.st_size, at.st_mtime_ns) for name, at in files]


def _load(folder: Path) -> tuple[Bert, PreTraining | None, SequenceClassifier | None, LoadReport]:
    config = read_config(folder)
    with open_weights(folder) as stored:
        source = StoredModel(stored, config)
        kinds = ("", SequenceClassifier.architecture)  # others' labels are no classes of a text
        has_head = all(source.has(part) for part in SequenceClassifier.parts_of(config))
        is_classifier = bool(source.labels(config)[0]) and has_head and head_of(config) in kinds
        is_classifier = is_classifier and config.problem == "single_label_classification"
        is_language = source.has("masked_word") or source.has("next_sentence")
    if is_classifier:
        classifier, report = load_classifier(folder)
        return classifier.bert, None, classifier, report
    if is_language:
        language, report = load_pretraining(folder)
        if any(not _lacks(report, part) for part in ("predictions", "seq_relationship")):
            return language.bert, language, None, report
    bert, report = load_encoder(folder)
    return bert, None, None, report


def _own_encoder(folder: Path, language: PreTraining | None) -> Bert | None:
    """Return the encoder that a folder with heads of pretraining has of its own."""
    return load_encoder(folder)[0] if language is not None and encoder_of(folder) else None


def _lacks(report: LoadReport, part: str) -> bool:
    return any(name.startswith((f"cls.{part}.", f"{part}.")) for name in report.missing)
