"""Byte-level and scored pieces learned from some texts, by the trainers of `tokenizers`.

They are as large as asked for, special tokens included, and small ones take a second: made to be looked at
next to WordPieces of the same text. WordPieces are learned in new_vocabulary.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from engine.durable import replaced_folder
from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.byte_level import ROBERTA, ByteLevel
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.new_vocabulary import train_vocabulary
from engine.text.corpus.token_writer import hash_of
from engine.text.tokenizer import Tokenizer, without_halves
from engine.text.unigram import BLANK, XLM_R, Unigram

KINDS = ("wordpiece", "byte-level", "unigram")
_VERSION = 1
_TRAINING = marked("engine", "Training vocabularies")
_LONGEST = 16  # characters of a scored piece, as in SentencePiece


def train_byte_level(text: Path, size: int) -> ByteLevel:
    """Return bytes and the merges of their most frequent pairs in a file: at most `size` pieces in all.

    Source: Sennrich et al. 2016; Radford et al. 2019, section 2.2.
    """
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = ROBERTA.named.values()
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(names),
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learned = _learned(tokenizer, trainer, text)
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    merges = tuple((first, second) for first, second in learned["merges"])
    first = (ROBERTA.cls, ROBERTA.pad, ROBERTA.sep, ROBERTA.unk)
    return ByteLevel((*first, *pieces, ROBERTA.mask), merges)


def train_unigram(text: Path, size: int) -> Unigram:
    """Return the pieces that make the text of a file most likely, with their scores: about `size` in all.

    Source: Kudo 2018.
    """
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    blanks = pre_tokenizers.Metaspace(replacement=BLANK, prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), blanks])
    first = (XLM_R.cls, XLM_R.pad, XLM_R.sep, XLM_R.unk)
    trainer = trainers.UnigramTrainer(
        vocab_size=size - len(first) - 1,
        special_tokens=[XLM_R.unk],
        unk_token=XLM_R.unk,
        max_piece_length=_LONGEST,
        show_progress=False,
    )
    learned = [(piece, score) for piece, score in _learned(tokenizer, trainer, text)["vocab"]]
    scored = [(name, 0.0) for name in first]
    scored += [(piece, score) for piece, score in learned if piece != XLM_R.unk]
    scored.append((XLM_R.mask, 0.0))
    return Unigram(tuple(piece for piece, _ in scored), tuple(score for _, score in scored))


def _learned(tokenizer: tokenizers.Tokenizer, trainer: trainers.Trainer, text: Path) -> dict[str, Any]:
    """Return what tokenizer.json says of a trained model. A file is read without the GIL, texts are not."""
    tokenizer.train([str(text)], trainer)
    learned: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return learned


def three_kinds(texts: Sequence[str], size: int, root: Path) -> Steps[tuple[Path, ...]]:
    """Return the folders of three vocabularies of some texts, those of KINDS, all of about one size.

    They are trained where they are not below `root` yet. WordPieces are of lower case, as BERT's usual ones.
    Yields Progress. Raises: UserError of the disk.
    """
    place = root / hash_of([_VERSION, size, list(texts)])[:32]
    if not all((place / kind / "tokenizer.json").is_file() for kind in KINDS):
        with replaced_folder(place) as beside:
            text = beside / "texts.txt"
            text.write_text("".join(f"{one}\n" for one in map(without_halves, texts)), encoding="utf-8")
            for done, kind in enumerate(KINDS):
                yield Progress(stage=_TRAINING, done=done, total=len(KINDS))
                tokenizer = yield from _trained(kind, text, size)
                (beside / kind).mkdir()
                tokenizer.save(beside / kind)
            text.unlink()
    return tuple(place / kind for kind in KINDS)


def _trained(kind: str, text: Path, size: int) -> Steps[Tokenizer]:
    if kind == "wordpiece":
        return (yield from train_vocabulary(Corpus((text,), "lines"), size=size, lowercase=True))
    return train_byte_level(text, size) if kind == "byte-level" else train_unigram(text, size)
